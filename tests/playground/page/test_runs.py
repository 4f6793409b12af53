"""A run step by step, two algorithms side by side, the challenge, and the lessons."""

import numpy as np
import pytest
from playground_visitor import FOUR_POINTS

from maxmargin import HardMarginSVM, Perceptron

BESIDE = FOUR_POINTS.replace("a=hard_margin", "a=perceptron")


@pytest.fixture
def stepping(visit):
    visitor = visit().open(BESIDE)
    return visitor.click(".step-through")


def assert_line(visitor, w, b, panel="a"):
    lines = visitor.drawn("zero", panel)
    for line in lines:
        np.testing.assert_allclose((line @ w + b) / np.linalg.norm(w), 0.0, atol=1e-6)
    return len(lines)


def run_of(visitor):
    """The rows of the updates, and w and b after each: a mistaken row, times its sign, is added."""
    X, y = visitor.points
    model = Perceptron(record=True).fit(X, y)
    rows = model.trace_.to_arrays()["row"]
    planes = np.cumsum(y[rows, None] * np.column_stack([X, np.ones(len(X))])[rows], axis=0)
    np.testing.assert_allclose(planes[-1], [*model.coef_[0], *model.intercept_])
    return rows.tolist(), planes[:, :2], planes[:, 2]


def test_every_update_is_drawn_and_explained(stepping):
    rows, w, b = run_of(stepping)
    drawn = 0
    for t, row in enumerate(rows):
        assert f"Update {t + 1} of {len(rows)}" in stepping.text(".position")
        assert f"Row {row} is a mistake" in stepping.text(".rule")
        assert stepping.page.locator(".arithmetic li").count() >= 2
        drawn += assert_line(stepping, w[t], b[t])
        halo = stepping.page.locator(".halo")
        place = [[float(halo.get_attribute("cx")), float(halo.get_attribute("cy"))]]
        np.testing.assert_allclose(stepping.in_data(place)[0], stepping.points[0][row], atol=1e-6)
        if t + 1 < len(rows):
            stepping.click(".forward")
    assert drawn > 0
    assert stepping.page.is_disabled(".forward")


def test_a_run_is_scrubbed_and_played(stepping):
    rows, w, b = run_of(stepping)
    stepping.page.focus(".scrub")
    stepping.press("ArrowRight", "ArrowRight")
    assert stepping.fields["a-step"] == "2"
    assert_line(stepping, w[2], b[2])
    stepping.click(".first")
    stepping.page.click(".play")
    stepping.page.wait_for_selector(".forward:disabled")
    assert f"Update {len(rows)} of" in stepping.text(".position")
    stepping.page.wait_for_selector(".play:has-text('Play')")
    stepping.click(".step-through")
    assert not stepping.page.is_visible(".player")


def test_rounds_of_a_solver_are_steps_too(visitor):
    visitor.click(".step-through")
    assert "Round 1 of" in visitor.text(".position")
    assert visitor.text(".rule")


def test_every_algorithm_answers_and_shows_its_steps(visit):
    visitor = visit().open(f"{FOUR_POINTS}&a-step=0")
    names = visitor.page.eval_on_selector_all("#a-algorithm option", "(options) => options.map(({ value }) => value)")
    assert len(names) == 8
    for name in names:
        visitor.choose("#a-algorithm", name)
        assert visitor.text(".proof .verdict").endswith(".")
        assert visitor.text(".rule").strip(), name
        visitor.page.focus(".scrub")
        visitor.press("End")
        assert visitor.page.is_disabled(".forward")
        assert visitor.page.locator("[data-line=zero]").count() == 1, name


def test_two_algorithms_side_by_side(visitor):
    visitor.click("#compare")
    visitor.choose("#b-algorithm", "perceptron")
    X, y = visitor.points
    for panel, model in (("a", HardMarginSVM()), ("b", Perceptron())):
        model.fit(X, y)
        assert assert_line(visitor, model.coef_[0], float(model.intercept_[0]), panel) == 1
    visitor.drag((1, 2), (0.6, 1.5))  # in the first picture, and both follow
    X, y = visitor.points
    model = Perceptron().fit(X, y)
    assert assert_line(visitor, model.coef_[0], float(model.intercept_[0]), "b") == 1
    np.testing.assert_allclose(visitor.drawn_points("b")[0], X, atol=1e-6)
    visitor.click("#compare")
    assert not visitor.page.is_visible("[data-panel=b]")


def test_a_line_of_ones_own_against_the_proven_best(visitor):
    visitor.click("#challenge")
    assert visitor.drawn("zero") == []
    for end, place in ((0, (0, 0.6)), (1, (2, 0.7))):
        start = visitor.page.locator(f"[data-end='{end}']").bounding_box()
        visitor.page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
        visitor.page.mouse.down()
        visitor.page.mouse.move(*visitor.on_screen(*place))
        visitor.page.mouse.up()
        visitor.settle()
    x0, y0, x1, y1 = map(float, visitor.fields["line"].split(","))
    w = np.array([y0 - y1, x1 - x0])
    X, y = visitor.points
    margin = float(np.min(y * ((X - [x0, y0]) @ w)) / np.linalg.norm(w))
    assert 0 < margin < 0.5
    assert f"{margin:.4g}" in visitor.text(".scores")
    visitor.click(".reveal")
    assert "Proven best margin\n0.5" in visitor.text(".scores")
    assert f"{100 * margin / 0.5:.1f} %" in visitor.text(".scores")
    model = HardMarginSVM().fit(X, y)
    assert assert_line(visitor, model.coef_[0], float(model.intercept_[0])) == 1
    visitor.page.focus("[data-end='1']")
    visitor.press("Shift+ArrowDown")
    assert float(visitor.fields["line"].split(",")[3]) < y1
    visitor.click("#clear")
    assert "point" in visitor.text(".challenge-card .words")


def test_all_lessons_load(visitor):
    titles = set()
    visitor.choose("#lessons", "0")
    count = visitor.page.locator("#lessons option").count() - 1
    assert count >= 9
    for number in range(count):
        assert f"Lesson {number + 1} of {count}" in visitor.text("#lesson-count")
        titles.add(visitor.text("#lesson-title"))
        assert visitor.text("#lesson-sentences").count(". ") >= 2
        assert visitor.text("#lesson-question").endswith("?")
        visitor.page.click("#lesson-details summary")
        assert visitor.text("#lesson-answer")
        assert visitor.page.locator("[data-panel=a] .point").count() > 1
        assert any(words.strip("… ") for words in visitor.page.locator(".scores, .verdict").all_inner_texts())
        if number + 1 < count:
            visitor.click("#lesson-next")
    assert len(titles) == count
    assert visitor.page.is_disabled("#lesson-next")
    visitor.click("#lesson-close")
    assert not visitor.page.is_visible("#lesson")
