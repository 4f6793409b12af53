"""Points are added, moved, relabelled and deleted, by mouse, by finger and by key; everything is said aloud."""

import numpy as np
from playground_visitor import FOUR_POINTS

X = [[0, 0], [2, 0], [1, 1], [1, 2]]
y = [-1, -1, 1, 1]


def assert_points(visitor, X, y, within=1e-9):
    """In the address and in the picture."""
    found, labels = visitor.points
    np.testing.assert_allclose(found, X, atol=within)
    assert labels.tolist() == list(y)
    drawn, shapes = visitor.drawn_points()
    np.testing.assert_allclose(drawn, found, atol=1e-6)
    assert shapes == labels.tolist()


def test_a_click_adds_a_point_of_the_chosen_class(visitor):
    visitor.click_at(0.5, 2.5)
    visitor.page.check("input[value='-1']")
    visitor.click_at(2.2, 0.4)
    assert_points(visitor, [*X, [0.5, 2.5], [2.2, 0.4]], [*y, 1, -1], within=0.005)
    assert "Added row 5, negative" in visitor.said


def test_a_drag_moves_a_point(visitor):
    visitor.drag((1, 1), (1.5, 1.25))
    assert_points(visitor, [X[0], X[1], [1.5, 1.25], X[3]], y, within=0.01)
    assert "Moved to row 2" in visitor.said


def test_a_click_with_the_tools_relabels_and_deletes(visitor):
    visitor.page.check("input[value=relabel]")
    visitor.click_at(1, 1)
    assert_points(visitor, X, [-1, -1, -1, 1])
    visitor.page.check("input[value=delete]")
    visitor.click_at(0, 0)
    assert_points(visitor, X[1:], [-1, -1, 1])
    assert "Deleted row 0, negative, at 0, 0" in visitor.said


def test_keys_move_relabel_add_and_delete(visitor):
    visitor.page.focus("[data-panel=a] .point[tabindex='0']")
    visitor.press("End")
    before = visitor.points[0][3]
    visitor.press("ArrowRight", "Shift+ArrowUp")
    after = visitor.points[0][3]
    assert after[0] > before[0]
    assert after[1] - before[1] > 5 * (after[0] - before[0])
    visitor.press("l")
    assert visitor.points[1].tolist() == [-1, -1, 1, -1]
    assert "Row 3 is now negative" in visitor.said
    visitor.press("Enter")
    assert visitor.points[1].tolist() == [-1, -1, 1, -1, -1]
    assert visitor.page.evaluate("document.activeElement.dataset.row") == "4"
    visitor.press("Delete", "n", "n", "Backspace")
    found, labels = visitor.points
    np.testing.assert_allclose(found, [X[0], X[2], after])
    assert labels.tolist() == [-1, 1, -1]


def test_the_points_are_one_stop_of_the_tab_key(visitor):
    visitor.page.focus("[data-panel=a] .point[tabindex='0']")
    visitor.press("n", "Tab")
    assert visitor.page.evaluate("document.activeElement.closest('.points')") is None
    visitor.press("Shift+Tab")
    assert visitor.page.evaluate("document.activeElement.dataset.row") == "1"


def test_an_empty_plane_is_filled_by_keys(visitor):
    visitor.click("#clear")
    assert visitor.page.locator(".point").count() == 0
    assert "point" in visitor.text(".proof .verdict")
    visitor.page.focus("[data-panel=a] .figure")
    visitor.press("Enter", "Shift+ArrowLeft")
    assert len(visitor.points[0]) == 1


def test_changes_are_taken_back_and_done_again(visitor):
    visitor.drag((1, 1), (1.5, 1.25))
    moved = visitor.points[0]
    visitor.press("Control+z")
    assert_points(visitor, X, y)
    visitor.press("Control+Shift+z")
    assert_points(visitor, moved, y)


def test_parameters_are_taken_back_too(visit):
    visitor = visit().open(FOUR_POINTS.replace("hard_margin", "linear_svm"))
    visitor.page.focus("#a-C")
    visitor.press("ArrowRight", "ArrowRight", "ArrowRight")  # one movement of the slider
    price = visitor.fields["a.C"]
    visitor.choose("#a-loss", '"squared_hinge"')
    visitor.click("#a-fit_intercept")
    visitor.choose("#a-algorithm", "perceptron")
    seen = []
    for _ in range(4):
        visitor.click("#undo")
        seen.append({name: value for name, value in visitor.fields.items() if name.startswith("a")})
    squared = {"a": "linear_svm", "a.C": price, "a.loss": '"squared_hinge"'}
    assert seen[0] == {**squared, "a.fit_intercept": "false"}
    assert seen[1] == squared
    assert seen[2] == {"a": "linear_svm", "a.C": price}
    assert seen[3] == {"a": "linear_svm"}
    assert visitor.page.is_disabled("#undo")
    visitor.click("#redo")
    assert visitor.fields["a.C"] == price


def test_a_finger_taps_and_drags(visit):
    visitor = visit(has_touch=True).open()
    visitor.page.touchscreen.tap(*visitor.on_screen(0.5, 2.5))
    visitor.settle()
    touch = visitor.page.context.new_cdp_session(visitor.page)
    for kind, place in (("Start", (1, 1)), ("Move", (1.2, 1.1)), ("Move", (1.5, 1.25)), ("End", None)):
        at = [] if place is None else [dict(zip("xy", visitor.on_screen(*place), strict=True))]
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": at})
    visitor.settle()
    assert_points(visitor, [X[0], X[1], [1.5, 1.25], X[3], [0.5, 2.5]], [*y, 1], within=0.01)


def test_ready_made_points_are_loaded_and_shown(visitor):
    for name in ("xor", "rings"):
        visitor.choose("#presets", name)
        drawn, labels = visitor.drawn_points()
        _, shown, _ = visitor.frame()
        assert set(labels) == {1, -1}
        assert (drawn[:, 0] > shown["left"]).all()
        assert (drawn[:, 1] < shown["top"]).all()


def test_no_more_points_than_the_server_takes(visit):
    rows = ";".join(f"{i % 25},{i // 25},{1 if i < 250 else -1}" for i in range(500))
    visitor = visit().open(f"points={rows}&view=12,10,14&a=perceptron")
    visitor.click_at(-1, -1)
    assert "no more can be added" in visitor.said
    assert len(visitor.points[0]) == 500
