"""The address holds the whole state; files come in and go out; the code reproduces what is seen."""

import contextlib
import io
from urllib.parse import parse_qs
from xml.etree import ElementTree

import numpy as np
import pytest
from playground_visitor import FOUR_POINTS


def test_the_address_restores_everything(visitor, visit):
    visitor.drag((1, 1), (1.5, 1.25))
    visitor.click("#compare")
    visitor.choose("#b-algorithm", "linear_svm")
    visitor.page.focus("#b-C")
    visitor.press("Home")
    visitor.click("[data-panel=a] .zoom-out")
    visitor.click("[data-panel=b] .step-through")
    visitor.click("[data-panel=a] .legend [data-part=hulls]")
    fields = visitor.fields
    assert {"points", "view", "a", "b", "b.C", "b-step", "hidden"} == set(fields)
    other = visit().open().follow(visitor.page.url)
    assert other.fields == fields
    for panel in "ab":
        np.testing.assert_array_equal(other.drawn_points(panel)[0], visitor.drawn_points(panel)[0])
        for name in ("zero", "plus", "minus", "before"):
            ours, theirs = visitor.drawn(name, panel), other.drawn(name, panel)
            assert len(ours) == len(theirs)
            for one, same in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(one, same, atol=1e-9)


def test_a_challenge_and_a_lesson_are_in_the_address_too(visitor, visit):
    visitor.choose("#lessons", "1")
    visitor.click("#challenge")
    visitor.click(".reveal")
    assert visitor.fields
    other = visit().open().follow(visitor.page.url)
    assert other.fields == visitor.fields
    assert other.page.is_visible("#lesson")
    assert other.text(".scores") == visitor.text(".scores")


@pytest.mark.parametrize("meanwhile", ["", "history.replaceState(null, '', before)"], ids=["at rest", "being kept"])
def test_a_link_followed_on_the_page_is_loaded(visitor, meanwhile):
    link = "#points=0,0,1;1,1,-1&view=0,0,3&a=perceptron"
    visitor.page.evaluate(f"() => {{ const before = location.hash; location.hash = '{link}'; {meanwhile} }}")
    visitor.page.locator("[data-panel=a] .point").nth(2).wait_for(state="detached")  # the browser tells of it later
    visitor.settle()
    assert visitor.page.locator("[data-panel=a] .point").count() == 2


BROKEN = {
    "points=0,0,1;1,x,-1&a=perceptron": "a point in the address is 1,x,-1",
    "points=0,0,3&a=perceptron": "a label in the address is 3",
    "points=0,0,1&a=oracle": "oracle, which is not an algorithm",
    "points=0,0,1&a=linear_svm&a.C=<b>": "a.C the value <b>",
    "points=0,0,1;1,,-1&a=perceptron": "a point in the address is 1,,-1",
    "points=0,0,1;1,1,-1": "it has no “a=…”",
    "a=perceptron": "it has no “points=…”",
}


def test_a_broken_link_gets_a_sentence_and_an_example(visit):
    visitor = visit().open("points=1,2&a=perceptron")
    assert "it must be 3 numbers" in visitor.text("#notice")
    assert visitor.page.locator("[data-panel=a] .point").count() > 2
    assert visitor.fields == {"points": "1,2", "a": "perceptron"}  # and is not written over
    for fragment, words in BROKEN.items():
        visitor.page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
        visitor.page.wait_for_selector(f"#notice:has-text('{words}')")
        visitor.settle()
        assert visitor.page.locator("[data-panel=a] .point").count() > 2
        assert visitor.fields == {name: value[0] for name, value in parse_qs(fragment, keep_blank_values=True).items()}


def test_a_broken_link_is_one_step_back_once_something_was_changed(visit):
    visitor = visit().open("points=1,2&a=perceptron")
    visitor.choose("#presets", "xor")
    assert len(visitor.points[0]) == 32
    assert not visitor.page.is_visible("#notice")
    visitor.page.go_back()
    visitor.page.wait_for_selector("#notice:has-text('1,2; it must be 3 numbers')")
    assert visitor.fields["points"] == "1,2"
    assert visitor.page.locator("[data-panel=a] .point").count() == 32  # what was there stays


VIEWS = ["0,0,1e-300", "0,0,0", "0,0,-1", "0,0,1e300", "0,0,NaN", "1e300,0,1", "0,0,1e400", "0,0", ""]


def test_a_view_that_cannot_be_shown_is_replaced(visit):
    links = {view: FOUR_POINTS.replace("view=1,1,2", f"view={view}") for view in VIEWS}
    visitor = visit().open(links[VIEWS[0]])
    for view, link in links.items():
        visitor.page.evaluate("(link) => { location.hash = link; }", link)
        visitor.page.wait_for_selector(f"#notice:has-text('the view in the address is {view or 'empty'};')")
        visitor.settle()
        assert visitor.mark == "✓"
        assert visitor.drawn("zero")
        assert len(visitor.drawn_points()[0]) == 4
        assert visitor.fields["view"] == view


def test_zooming_and_far_away_points_end_where_numbers_do(visit):
    visitor = visit(viewport={"width": 2400, "height": 500}).open()
    for button, reach in (("in", 1e-6), ("out", 4e6)):
        visitor.page.evaluate(
            "(name) => { for (let i = 0; i < 180; i++) document.querySelector(name).click(); }", f".zoom-{button}"
        )
        visitor.settle()
        assert float(visitor.fields["view"].split(",")[2]) == reach
        assert visitor.mark == "✓"
    visitor.open("points=-1e6,1e6,1;1e6,-1e6,-1&a=hard_margin")
    assert visitor.mark == "✓"
    visitor.open("points=123456.7,0,1;123458.7,1,-1&a=hard_margin")
    assert len(visitor.drawn("zero")) == 1
    visitor.open("points=999999.9999999999,0,1;1000000,0,-1&a=perceptron")
    assert visitor.page.locator(".point").count() == 2


def test_a_page_without_a_token_says_what_to_do(visit, playground):
    visitor = visit()
    link = f"{visitor.origin}/#{FOUR_POINTS}"
    visitor.page.goto(link)
    visitor.page.wait_for_selector("#notice:has-text('Open the address that maxmargin play has printed')")
    assert not visitor.page.is_visible("#starting")
    visitor.page.fill("#notice input", "no token here")
    visitor.page.click("#notice button")
    assert not visitor.page.evaluate("document.querySelector('#notice input').checkValidity()")
    visitor.page.fill("#notice input", playground.address)
    visitor.page.click("#notice button")
    visitor.settle()
    assert visitor.mark == "✓"
    assert len(visitor.points[0]) == 4
    assert playground.token not in visitor.page.url
    visitor.follow(link)  # from now on it works by itself
    assert visitor.mark == "✓"


def test_to_the_picture_is_no_link_to_another_state(visitor):
    visitor.page.focus(".skip")
    visitor.press("Enter")
    assert visitor.page.evaluate("document.activeElement.id") == "panels"
    assert len(visitor.points[0]) == 4


def test_a_parameter_that_the_server_refuses_gets_its_sentence(visit):
    visitor = visit().open(FOUR_POINTS.replace("hard_margin", "linear_svm&a.C=-3"))
    assert "C must be a number between" in visitor.text(".proof .verdict")


def test_ones_own_table_is_read(visitor, tmp_path):
    table = tmp_path / "own.csv"
    table.write_text("width,height,kind\n1,2,cat\n3,4,dog\n5,6.5,cat\n")
    visitor.open_file(table)
    X, y = visitor.points
    assert X.tolist() == [[1, 2], [3, 4], [5, 6.5]]
    assert y[0] == y[2] == -y[1]
    assert (
        visitor.text("#notice p")
        == "own.csv: 3 rows. 'width' is across, 'height' up. 'dog' is positive, 'cat' negative."
    )
    table.write_text("width,height,kind\n1,2,cat\n3,?,dog\n")
    visitor.open_file(table)
    assert "line 3" in visitor.text("#notice")
    assert len(visitor.points[0]) == 3  # nothing is lost
    assert visitor.page.locator("#notice p").count() == 2


def test_what_is_left_out_of_a_table_is_said_where_eyes_are(visitor, tmp_path):
    rows = "\n".join(f"{i},red,{i % 7},{i % 5},{'uvwx'[i % 4]}" for i in range(600))
    table = tmp_path / "long.csv"
    table.write_text(f"a,colour,b,c,kind\n{rows}\n")
    visitor.open_file(table)
    said = visitor.text("#notice")
    for words in ("500 of 600 rows", "100 are left out", "left out: 'colour', 'c'", "negative together: 'v', 'w', 'x'"):
        assert words in said
    visitor.press("Control+z")
    assert not visitor.page.is_visible("#notice")  # it belongs to those points
    visitor.press("Control+Shift+z")
    assert visitor.text("#notice") == said
    visitor.click("#notice button")
    assert not visitor.page.is_visible("#notice")


def saved(visitor, kind, path):
    with visitor.page.expect_download() as download:
        visitor.page.click(f"#save-{kind}")
    download.value.save_as(path)
    return path.read_bytes()


def test_what_is_seen_is_saved(visitor, tmp_path):
    rows = saved(visitor, "csv", tmp_path / "points.csv").decode().splitlines()
    assert rows == ["x1,x2,label", "0,0,-1", "2,0,-1", "1,1,1", "1,2,1"]
    picture = ElementTree.fromstring(saved(visitor, "svg", tmp_path / "picture.svg"))
    lines = [element for element in picture.iter() if element.get("data-line") == "zero"]
    assert len(lines) == 1
    assert lines[0].get("points") == visitor.page.get_attribute("[data-line=zero]", "points")
    assert lines[0].get("stroke").startswith("rgb")  # the style sheet is not needed
    assert saved(visitor, "png", tmp_path / "picture.png").startswith(b"\x89PNG")


def test_the_code_reproduces_the_proof(visitor):
    visitor.click("#code")
    program = visitor.text("#code-parts pre >> nth=0")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(program, {"__name__": "__main__"})
    assert visitor.text(".proof .verdict >> nth=0") in printed.getvalue()
    assert "maxmargin" in visitor.text("#code-parts pre >> nth=1")
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.page.click("#code-parts button >> nth=0")
    visitor.page.wait_for_selector("#code-parts button:has-text('Copied')")
    assert visitor.page.evaluate("navigator.clipboard.readText()").strip() == program.strip()
    visitor.press("Escape")
    assert not visitor.page.is_visible("#code-dialog")
