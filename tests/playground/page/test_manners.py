"""The page behaves: both themes, every width, names for all that can be used, and calm when the server goes away."""

import pytest
from playground_visitor import CONTROLS, FOUR_POINTS

BACKGROUND = "getComputedStyle(document.documentElement).backgroundColor"
# What a screen reader would say: enough of the standard's rules for the elements of this page.
NAMELESS = """(selector) => [...document.querySelectorAll(selector)]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }) || element.closest("dialog"))
  .filter((element) => {
    const labelled = element.getAttribute("aria-labelledby");
    const name = element.getAttribute("aria-label") || (labelled && document.getElementById(labelled)?.textContent)
      || [...(element.labels ?? [])].map((label) => label.textContent).join(" ")
      || (element.matches("select, input") ? "" : element.textContent);
    return name.trim() === "";
  })
  .map((element) => element.outerHTML)"""
MODES = {
    "answer": FOUR_POINTS,
    "two": f"{FOUR_POINTS}&b=kernel_svm",
    "steps": f"{FOUR_POINTS}&a-step=0&lesson=1",
    "challenge": f"{FOUR_POINTS}&line=0,0.6,2,0.7&revealed=1",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_system_chooses_the_theme_until_the_reader_does(visit, scheme):
    visitor = visit(color_scheme=scheme).open()
    paper = {"light": "rgb(251, 251, 249)", "dark": "rgb(18, 20, 22)"}
    assert visitor.page.evaluate(BACKGROUND) == paper[scheme]
    visitor.click("#theme")
    other = "dark" if scheme == "light" else "light"
    assert visitor.page.evaluate(BACKGROUND) == paper[other]
    visitor.page.reload()
    visitor.settle()
    assert visitor.page.evaluate(BACKGROUND) == paper[other]


@pytest.mark.parametrize("mode", MODES)
def test_every_width_holds_the_page_and_everything_has_a_name(visit, mode):
    visitor = visit().open(MODES[mode])
    for width in (2560, 1280, 700, 360):
        visitor.page.set_viewport_size({"width": width, "height": 740})
        visitor.settle()
        overflow = visitor.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, f"{overflow} pixels too wide for {width}"
        box = visitor.page.locator("[data-panel=a] .figure").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    assert visitor.page.evaluate(NAMELESS, CONTROLS) == []
    ids = visitor.page.evaluate("[...document.querySelectorAll('[id]')].map((element) => element.id)")
    assert len(ids) == len(set(ids))


def test_focus_can_be_seen(visitor):
    visitor.page.focus("#compare")
    visitor.press("Tab")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert visitor.page.evaluate(outline) == "solid"


def test_nothing_is_inline(visitor, playground):
    answer = visitor.page.request.get(playground.address)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert " style=" not in answer.text()
    assert " onclick=" not in answer.text()


def test_data_is_text_and_never_markup(visitor, tmp_path):
    table = tmp_path / "own.csv"
    table.write_text("a,b,c\n1,2,<img src=x onerror=alert(1)>\n3,4,dog\n5,6,cat\n")
    visitor.open_file(table)
    assert visitor.page.locator("img").count() == 0


def test_a_server_that_goes_away_is_waited_for(visit):
    visitor = visit()
    sockets = []

    def pass_on(socket):
        sockets.append((socket, socket.connect_to_server()))

    visitor.page.route_web_socket("**/ws", pass_on)
    visitor.open()
    opened = len(sockets)
    for socket in sockets[-1]:
        socket.close()
    visitor.page.wait_for_selector("#notice:not([hidden])")
    assert "does not answer. Your points are safe" in visitor.text("#notice")
    visitor.page.wait_for_selector("#notice", state="hidden")
    visitor.drag((1, 1), (1.5, 1.25))
    assert len(sockets) > opened
    assert visitor.drawn("zero")
