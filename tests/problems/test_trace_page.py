"""The page of a recorded run, driven in Chromium from a file: its steps, keys, touch, themes, size, foreign text."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from playground_visitor import CHROMIUM, NEEDS_CHROMIUM

from maxmargin import KernelPerceptron, MarginPerceptron, Perceptron, StochasticSVM, Trace, Winnow
from maxmargin.data import synthetic
from maxmargin.problems.trace_page import numbers_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

NASTY = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def narrow():
    X, y, _ = synthetic.separable_gaussians(40, 2, margin=0.15, seed=3)
    return X, y


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip(NEEDS_CHROMIUM)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, tmp_path):
    """A function that opens the page of a trace; nothing may be said on the console, nothing fetched."""
    pages, troubles = [], []

    def open_page(trace, **options):
        file = tmp_path / f"run{len(pages)}.html"
        trace.to_html(file)
        page = browser.new_context(**options).new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: None if request.url == file.as_uri() else troubles.append(request.url))
        page.goto(file.as_uri())
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.context.close()
    assert troubles == []


def numbers_in(text):
    return [float(one) for one in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text.replace("\N{MINUS SIGN}", "-"))]


def test_the_arithmetic_of_each_update_is_that_of_the_run(narrow, opened):
    X, y = narrow
    model = Perceptron(rate=0.5, record=True).fit(X, y)
    page, kept = opened(model.trace_), model.trace_.to_arrays()
    for t in range(len(kept["row"])):
        assert page.inner_text("#step") == f"Update {t + 1} of 8"
        row = int(kept["row"][t])
        assert page.inner_text("#rule").startswith(f"Row {row} is a mistake")
        product, w, b = page.inner_text("#lines").splitlines()
        assert numbers_in(product)[-2] == pytest.approx(
            y[row] * (X[row] @ kept["before"][t][:2] + kept["before"][t][2]), abs=1e-4
        )
        assert numbers_in(w)[-2:] == pytest.approx(kept["after"][t][:2], abs=1e-4)
        assert numbers_in(b)[-1] == pytest.approx(kept["after"][t][2], abs=1e-4)
        page.keyboard.press("ArrowRight")
    assert f"8 of at most {model.certificate_.theorems[0].bound:.0f}"[:14] in page.inner_text("#promise")
    assert "margin of at least" in page.inner_text("#words")


def test_the_line_and_the_ring_are_where_the_plane_and_the_row_are(narrow, opened):
    X, y = narrow
    trace = Perceptron(record=True).fit(X, y).trace_
    page, kept = opened(trace), trace.to_arrays()
    page.keyboard.press("End")
    *w, b = kept["after"][-1]
    x, height = page.evaluate(
        "() => { const r = document.querySelector('.ring'); return [+r.getAttribute('cx'), +r.getAttribute('cy')]; }"
    )
    marks = page.evaluate(
        "() => [...document.querySelectorAll('#picture circle.positive')].map((c) => [c.cx.baseVal.value, "
        "c.cy.baseVal.value])"
    )
    drawn = np.array(marks)
    own = X[y > 0]
    # Pixels are an affine map of the columns: two of its numbers for each axis, from the points.
    across, down = np.polyfit(own[:, 0], drawn[:, 0], 1), np.polyfit(own[:, 1], drawn[:, 1], 1)
    row = X[kept["row"][-1]]
    assert [x, height] == pytest.approx([np.polyval(across, row[0]), np.polyval(down, row[1])], abs=1e-3)
    [line] = page.evaluate("() => [...document.querySelectorAll('#picture .after')].map((p) => p.getAttribute('d'))")
    ends = np.array(numbers_in(line.replace("M", " ").replace("L", " ").replace(",", " "))).reshape(-1, 2)
    back = np.column_stack([(ends[:, 0] - across[1]) / across[0], (ends[:, 1] - down[1]) / down[0]])
    assert np.abs(back @ w + b) / np.hypot(*w) == pytest.approx(0.0, abs=0.01)
    assert page.locator("#picture .before").count() == 1


def test_keys_buttons_slider_play_and_touch(narrow, opened):
    page = opened(Perceptron(record=True).fit(*narrow).trace_, has_touch=True)
    step = lambda: int(re.search(r"\d+", page.inner_text("#step"))[0])  # noqa: E731
    assert page.is_disabled("#back")
    page.keyboard.press("End")
    assert (step(), page.is_disabled("#next")) == (8, True)
    page.keyboard.press("ArrowLeft")
    page.click("#back")
    assert step() == 6
    page.keyboard.press("Home")
    page.locator("#slider").fill("4")
    assert step() == 5
    box = page.locator("#picture").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 300, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, middle)
    page.mouse.up()
    assert step() == 6  # a swipe to the left goes on
    page.locator("body").press("Home")
    page.click("#play")
    page.wait_for_function("() => document.getElementById('step').textContent.startsWith('Update 3')")
    page.click("#play")
    assert page.get_attribute("#play", "aria-label") == "play"


def test_light_and_dark(narrow, opened):
    trace = Perceptron(record=True).fit(*narrow).trace_
    paper = {}
    for scheme in ("light", "dark"):
        page = opened(trace, color_scheme=scheme)
        paper[scheme] = page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
        page.click("#theme")
        assert page.evaluate("() => document.documentElement.dataset.theme") != scheme
    assert paper == {"light": "rgb(251, 251, 249)", "dark": "rgb(18, 20, 22)"}


def test_text_of_the_user_stays_text(narrow, opened):
    X, y = narrow
    frame = pd.DataFrame(X, columns=[f"a{NASTY}", "b<!--"])
    labels = np.where(y > 0, NASTY, "<b>&amp;__RUN__")
    page = opened(Perceptron(record=True).fit(frame, labels).trace_)
    assert page.inner_text("#name") == f"Perceptron: <b>&amp;__RUN__ against {NASTY}"
    assert page.locator("img").count() == 0
    assert page.locator("#picture text", has_text=f"a{NASTY}").count() == 1


@pytest.mark.parametrize(
    "learner",
    [
        Perceptron(),
        MarginPerceptron(),
        Winnow(),
        KernelPerceptron(),
        StochasticSVM(max_iter=50),
        StochasticSVM(max_iter=20, kernel="rbf"),
    ],
    ids=str,
)
def test_forty_points_take_less_than_fifty_kilobytes(learner, narrow, opened):
    trace = learner.set_params(record=True).fit(*narrow).trace_
    assert len(trace.to_html().encode()) < 50_000
    page = opened(trace)
    for key in ("ArrowRight", "ArrowRight", "End"):
        page.keyboard.press(key)
    assert page.locator("#picture .after").count() >= 1
    assert page.inner_text("#step").endswith(f"{trace.n_updates} of {trace.n_updates}")
    assert len(page.inner_text("#lines").splitlines()) >= 2


def test_more_columns_show_the_distances_from_the_plane(narrow, opened):
    X, y = narrow
    wide = np.column_stack([X, X[:, 0] ** 2, X[:, 1] * X[:, 0]])
    model = Perceptron(record=True).fit(wide, y)
    page = opened(model.trace_)
    page.keyboard.press("End")
    places = np.array(
        page.evaluate(
            "() => [...document.querySelectorAll('#picture circle.positive')].map((c) => +c.getAttribute('cx'))"
        )
    )
    *w, b = model.trace_.to_arrays()["after"][-1]
    distances = ((wide @ w + b) / np.linalg.norm(w))[y > 0]
    assert np.all(places > 320.0)  # the last plane is in the middle, and has every row on its side
    assert np.corrcoef(places, distances)[0, 1] == pytest.approx(1.0, abs=1e-9)


def test_a_kernel_without_a_formula_shows_its_numbers(narrow, opened):
    X, y = narrow
    page = opened(KernelPerceptron(kernel="precomputed", record=True).fit(X @ X.T, y).trace_)
    assert "Only the numbers" in page.locator("#picture").text_content()
    assert "c of row" in page.inner_text("#lines")


def test_long_runs_and_large_tables_are_shown_in_part_and_say_so():
    X, y, _ = synthetic.separable_gaussians(3000, 8, margin=0.05, seed=1)
    trace = StochasticSVM(max_iter=1, record=True).fit(X, y).trace_
    told = numbers_of(trace, trace.subject)
    assert len(told["X"]) == len(told["y"]) == 1000
    assert told["steps"][0]["update"] == 1
    assert told["steps"][-1]["update"] == 3000
    assert re.fullmatch(r"\d+ of 3,000 steps are in this file; 1,000 of 3,000 rows", told["note"])
    for one in told["steps"]:
        assert one["at"] == -1 or told["X"][one["at"]] == pytest.approx(X[one["row"]], rel=1e-6)
    assert len(trace.to_html().encode()) < 200_000


def test_a_page_from_a_file_is_the_same_page(narrow):
    trace = Winnow(record=True).fit(*narrow).trace_
    assert Trace.from_json(trace.to_json()).to_html() == trace.to_html()


def test_a_trace_that_has_not_ended_is_no_page():
    with pytest.raises(ValueError, match="once the fit has ended"):
        Trace().to_html()
    assert json.loads(Trace().to_json())["subject"] is None


def test_the_number_that_a_search_tries_is_in_the_arithmetic(narrow, opened):
    X, y = narrow
    trace = MarginPerceptron(record=True).fit(X, y).trace_
    page, tried = opened(trace), trace.to_arrays()["tried"]
    assert f"G = {tried[0]:.5g}" in page.inner_text("#lines")
    page.keyboard.press("End")
    assert f"< G/2 = {tried[-1] / 2:.5g}" in page.inner_text("#lines")
    trace = Winnow(record=True).fit(X, y).trace_
    page, kept = opened(trace), trace.to_arrays()
    page.keyboard.press("End")
    assert page.inner_text("#promise").endswith(
        f"no l1 margin of the rows (x/s, 1) is above {kept['margin_bound'][-1]:.5g}."
    )
    row, epsilon = kept["row"][-1], kept["tried"][-1]
    a = [*(y[row] * X[row] / np.abs(X).max()), y[row]]
    [line] = [one for one in page.inner_text("#lines").splitlines() if one.startswith("factors")]
    assert numbers_in(line)[-3:] == pytest.approx([(1.0 - epsilon) ** -one for one in a], rel=1e-4)


def test_lines_cross_at_the_saddle_of_xor(opened):
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "other", "other", "same"]
    page = opened(KernelPerceptron(gamma=5.0, record=True).fit(X, y).trace_)
    page.keyboard.press("End")
    pieces = page.evaluate("() => [...document.querySelectorAll('#picture .after')].map((p) => p.getAttribute('d'))")
    ends = np.array([numbers_in(re.sub("[ML,]", " ", piece)) for piece in pieces])  # x, y, x, y of each
    upright = np.abs(ends[:, 0] - ends[:, 2]) < 0.2
    level = np.abs(ends[:, 1] - ends[:, 3]) < 0.2
    assert np.all(upright | level)  # no piece turns around the corner
    assert upright.sum() == level.sum() == 56


def test_in_a_notebook_a_trace_is_its_page_in_a_frame_that_sees_nothing_else(narrow, browser):
    trace = Perceptron(record=True).fit(*narrow).trace_
    page = browser.new_context(viewport={"width": 700, "height": 900}).new_page()
    page.set_content(f"<p>around</p>{trace._repr_html_()}")
    frame = page.frames[1]
    frame.click("#next")
    assert frame.text_content("#step") == f"Update 2 of {trace.n_updates}"
    assert (
        frame.evaluate("(() => { try { return parent.document.title; } catch { return 'refused'; } })()") == "refused"
    )
    assert frame.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.context.close()
    assert Trace()._repr_html_() is None
