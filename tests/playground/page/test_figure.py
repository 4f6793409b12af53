"""The figure and the hand: what a point says, the numbers beside the picture, zoom and pan, steps that move."""

import re

import numpy as np
import pytest
from playground_visitor import FOUR_POINTS

from maxmargin import HardMarginSVM, LinearSVM
from maxmargin.plots.shapes import nearest_on_lines

OVERLAPPING = "points=0,0,-1;2,0,-1;1,0.4,1;1,2,1;3,2,1&view=1,1,2&a=linear_svm"
NOTE = "[data-panel=a] .note"
FIGURE = "[data-panel=a] .figure"


def numbers_in(text):
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", text.replace("\u2212", "-"))]


def hover(visitor, row):
    box = visitor.page.locator(f"[data-panel=a] .point[data-row='{row}']").bounding_box()
    visitor.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    return visitor.settle()


def note(visitor):
    return " ".join(visitor.page.locator(f"{NOTE} text > tspan").all_text_contents())


def view(visitor):
    return [float(value) for value in visitor.fields["view"].split(",")]


# What a point says.


def test_a_mouse_on_a_point_shows_what_it_has_to_do_with_the_answer(visit):
    visitor = visit().open(OVERLAPPING)
    X, y = visitor.points
    model = LinearSVM(C=1.0, tol=1e-6).fit(X, y)
    distance = y * model.decision_function(X) / np.linalg.norm(model.coef_[0])
    slack = np.maximum(0.0, 1.0 - y * model.decision_function(X))
    a = np.zeros(len(X))
    a[model.support_] = np.abs(model.dual_coef_[0])
    for row in range(len(X)):
        said = note(hover(visitor, row))
        assert f"Row {row}, {'positive' if y[row] > 0 else 'negative'}" in said
        told = {name: numbers_in(said.split(f"{name} ")[1])[0] for name in (" a", "slack ξ", "distance")}
        assert told[" a"] == pytest.approx(a[row], abs=1e-3)
        assert told["slack ξ"] == pytest.approx(slack[row], abs=1e-3)
        assert told["distance"] == pytest.approx(distance[row], abs=1e-4)
        assert ("No support vector" in said) == (a[row] == 0.0)
    visitor.page.mouse.move(5, 5)
    assert note(visitor) == ""


def test_the_focus_shows_and_says_the_same(visitor):
    visitor.page.focus("[data-panel=a] .point[tabindex='0']")
    visitor.press("n", "n")
    described = "document.activeElement.getAttribute('aria-description')"
    said = visitor.page.evaluate(described)
    assert "distance 0.5" in said
    assert "A support vector: it lies on its edge of the street" in said
    assert "Row 2, positive" in note(visitor)
    visitor.press("n")
    assert "No support vector" in visitor.page.evaluate(described)
    assert "distance 1.5" in visitor.page.evaluate(described)
    visitor.press("i")
    assert "Row 3, positive: at 1, 2, a 0, distance 1.5. No support vector" in visitor.said
    visitor.page.focus("#compare")
    visitor.settle()
    assert note(visitor) == ""


def test_a_finger_on_a_point_shows_its_note(visit):
    visitor = visit(has_touch=True, viewport={"width": 390, "height": 844}).open()
    visitor.page.touchscreen.tap(*visitor.on_screen(1, 1))
    visitor.settle()
    assert "Row 2, positive" in note(visitor)
    assert len(visitor.points[0]) == 4
    visitor.choose("#a-algorithm", "linear_svm")
    visitor.choose("#presets", "overlapping")
    for row in range(0, 60, 4):
        mark = visitor.page.locator(f"[data-panel=a] .point[data-row='{row}']")
        mark.focus()
        visitor.settle()
        point, frame = mark.locator(".shape").bounding_box(), visitor.page.locator(FIGURE).bounding_box()
        card = visitor.page.locator(f"{NOTE} .back").bounding_box()
        assert frame["x"] <= card["x"]
        assert card["x"] + card["width"] <= frame["x"] + frame["width"]
        beside = card["x"] > point["x"] + point["width"] or card["x"] + card["width"] < point["x"]
        above = card["y"] > point["y"] + point["height"] or card["y"] + card["height"] < point["y"]
        assert beside or above, row
        text = visitor.page.locator(f"{NOTE} text").bounding_box()
        assert text["x"] + text["width"] <= card["x"] + card["width"]


def test_a_note_says_nothing_of_a_state_that_was_not_answered(visit):
    visitor, held = visit(), []

    def pass_on(socket):
        server = socket.connect_to_server()
        socket.on_message(lambda message: server.send(message) if not held else None)

    visitor.page.route_web_socket("**/ws", pass_on)
    visitor.open()
    hover(visitor, 2)
    assert "distance" in note(visitor)
    held.append(True)
    visitor.page.mouse.down()
    visitor.page.mouse.move(*visitor.on_screen(1.3, 1.2), steps=3)
    visitor.page.wait_for_selector(f"{NOTE}:has-text('checking')")
    assert "distance" not in note(visitor)
    assert "stale" in visitor.page.get_attribute("[data-panel=a] .readout", "class")


def test_a_step_and_a_line_of_ones_own_have_notes_too(visit):
    visitor = visit().open(f"{FOUR_POINTS.replace('hard_margin', 'perceptron')}&a-step=0")
    row = int(re.search(r"Row (\d+)", visitor.text(".rule"))[1])
    assert "This step is about this row." in note(hover(visitor, row))
    visitor = visit().open(f"{FOUR_POINTS}&line=0,0.6,2,0.6")
    said = note(hover(visitor, 2))
    assert "distance 0.4" in said
    assert "The nearest row" in said


# The numbers beside the picture.


def test_the_plane_and_both_values_stand_beside_the_picture(visitor):
    X, y = visitor.points
    for start, end in (((1, 1), (1.5, 1.25)), ((0, 0), (0.25, 0.3))):
        visitor.drag(start, end)
        X, y = visitor.points
        model = HardMarginSVM().fit(X, y)
        said = visitor.text("[data-panel=a] .readout").replace("\n", " ")
        w1, w2, b, primal, dual, margin = numbers_in(said.replace("w (", "").replace(")", ""))
        np.testing.assert_allclose([w1, w2, b], [*model.coef_[0], *model.intercept_], rtol=1e-3, atol=1e-3)
        assert dual <= 0.5 / model.margin_**2 <= primal <= dual * 1.0001
        low, high = model.certificate_.margin_lower, model.certificate_.margin_upper
        assert low * (1 - 1e-5) <= margin <= high * (1 + 1e-5)


# Zoom and pan.


def test_the_wheel_zooms_where_the_mouse_is_and_the_link_keeps_it(visit):
    visitor = visit().open()
    visitor.page.mouse.move(*visitor.on_screen(1, 2))
    visitor.page.mouse.wheel(0, -400)
    visitor.settle()
    x, y, reach = view(visitor)
    assert reach == pytest.approx(2 * np.exp(-0.6), rel=1e-3)
    np.testing.assert_allclose([x, y], [1, 2 + (1 - 2) * reach / 2], atol=0.01)
    before = visitor.on_screen(1, 2)
    visitor.page.mouse.wheel(0, 200)
    visitor.settle()
    np.testing.assert_allclose(visitor.on_screen(1, 2), before, atol=0.5)
    seen = view(visitor)
    other = visit().open(visitor.page.evaluate("location.hash").removeprefix("#"))
    assert view(other) == seen
    visitor.click(".fit")
    fitted = view(visitor)
    assert fitted[2] == pytest.approx(1.25)
    visitor.page.mouse.wheel(0, 100)
    visitor.page.focus(FIGURE)
    visitor.press("0")
    assert view(visitor) == fitted


def test_a_mouse_moves_the_plane_and_adds_no_point(visitor):
    places = [visitor.on_screen(*place) for place in ((0.2, 2.2), (0.5, 2.0), (0.7, 1.9))]  # before it moves
    visitor.page.mouse.move(*places[0])
    visitor.page.mouse.down()
    for place in places[1:]:
        visitor.page.mouse.move(*place)
    visitor.page.mouse.up()
    visitor.settle()
    np.testing.assert_allclose(view(visitor), [0.5, 1.3, 2], atol=0.01)
    assert len(visitor.points[0]) == 4
    visitor.click_at(0.2, 2.2)
    assert len(visitor.points[0]) == 5


def test_a_point_is_dragged_while_zoomed(visitor):
    visitor.page.mouse.move(*visitor.on_screen(1, 1))
    visitor.page.mouse.wheel(0, -900)
    visitor.settle()
    assert view(visitor)[2] < 0.6
    visitor.drag((1, 1), (1.1, 1.05))
    np.testing.assert_allclose(visitor.points[0][2], [1.1, 1.05], atol=0.002)
    np.testing.assert_allclose(visitor.drawn_points()[0][2], visitor.points[0][2], atol=1e-6)


def test_two_fingers_zoom_and_move_and_one_adds_a_point(visit):
    visitor = visit(has_touch=True).open()
    touch = visitor.page.context.new_cdp_session(visitor.page)
    frames = (
        ("touchStart", [(0.5, 1.5)]),
        ("touchStart", [(0.5, 1.5), (1.5, 1.5)]),
        ("touchMove", [(0.3, 1.5), (1.7, 1.5)]),
        ("touchMove", [(0.0, 1.5), (2.0, 1.5)]),
        ("touchEnd", []),
    )
    places = {place: visitor.on_screen(*place) for _, fingers in frames for place in fingers}
    for kind, fingers in frames:
        at = [{"x": places[place][0], "y": places[place][1], "id": i} for i, place in enumerate(fingers)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
    visitor.settle()
    np.testing.assert_allclose(view(visitor), [1, 1.25, 1], atol=0.02)  # twice as large around (1, 1.5)
    assert len(visitor.points[0]) == 4
    visitor.page.touchscreen.tap(*visitor.on_screen(0.5, 1.8))
    visitor.settle()
    assert len(visitor.points[0]) == 5


def test_keys_zoom_and_move_the_picture(visitor):
    visitor.page.focus(FIGURE)
    visitor.press("+")
    assert view(visitor) == [1, 1, 1.6]
    visitor.press("-", "ArrowRight", "ArrowUp")
    assert view(visitor) == pytest.approx([1.4, 1.4, 2])
    visitor.press("Enter")
    assert visitor.page.evaluate("document.activeElement.dataset.row") == "0"
    visitor.press("-")
    assert view(visitor)[2] == pytest.approx(2.5)


# Steps.


def direction(line):
    step = np.diff(line, axis=0)[0]
    return np.degrees(np.arctan2(step[1], step[0])) % 180


def test_the_line_moves_from_step_to_step(visit):
    visitor = visit().open(f"{FOUR_POINTS.replace('1,1,1;1,2,1', '1,1,1;0,2,1')}&a-step=0")
    first = direction(visitor.drawn("zero")[0])
    seen = visitor.page.evaluate(
        """async () => {
          const lines = [];
          document.querySelector(".forward").click();
          for (let i = 0; i < 60; i++) {
            await new Promise(requestAnimationFrame);
            const line = document.querySelector("[data-line=moving]");
            if (line) lines.push(["x1", "y1", "x2", "y2"].map((name) => Number(line.getAttribute(name))));
            else if (lines.length > 0) break;
          }
          return lines;
        }"""
    )
    visitor.settle()
    last = direction(visitor.drawn("zero")[0])
    assert last != pytest.approx(first, abs=1.0)
    angles = [direction(visitor.in_data([[x1, y1], [x2, y2]])) for x1, y1, x2, y2 in seen]
    assert len(angles) >= 3
    away = [abs((angle - last + 90) % 180 - 90) for angle in angles]
    assert away == sorted(away, reverse=True)
    assert away[0] > away[-1]
    assert visitor.page.locator("[data-line=moving]").count() == 0


def test_whoever_wants_less_motion_sees_none(visit):
    visitor = visit(reduced_motion="reduce").open(f"{FOUR_POINTS.replace('1,1,1;1,2,1', '1,1,1;0,2,1')}&a-step=0")
    moved = visitor.page.evaluate(
        """async () => {
          document.querySelector(".forward").click();
          for (let i = 0; i < 20; i++) {
            await new Promise(requestAnimationFrame);
            if (document.querySelector("[data-line=moving]")) return true;
          }
          return false;
        }"""
    )
    assert not moved
    assert "Round 2 of" in visitor.text(".position")


def test_a_hard_margin_shows_the_nearest_points_of_its_corral(visit):
    visitor = visit().open(f"{FOUR_POINTS.replace('1,1,1;1,2,1', '1,1,1;0,2,1')}&a-step=0")
    X, y = visitor.points
    lengths = []
    while True:
        ends = visitor.page.locator("[data-panel=a] .nearest-end").all()
        places = [[float(end.get_attribute("cx")), float(end.get_attribute("cy"))] for end in ends]
        lengths.append(float(np.hypot(*np.subtract(*visitor.in_data(places)))))
        assert "corral: row" in visitor.text(".arithmetic")
        if visitor.page.is_disabled(".forward"):
            break
        visitor.click(".forward")
    assert len(lengths) >= 2
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] == pytest.approx(HardMarginSVM().fit(X, y).street_, rel=1e-6)


def test_keys_step_and_play(visit):
    visitor = visit().open(f"{FOUR_POINTS.replace('hard_margin', 'perceptron')}&a-step=0")
    visitor.press("ArrowRight", "ArrowRight", "ArrowLeft")
    assert visitor.fields["a-step"] == "1"
    visitor.press("End")
    assert visitor.page.is_disabled(".forward")
    visitor.press("Home")
    assert visitor.fields["a-step"] == "0"
    visitor.page.keyboard.press("Space")
    assert visitor.text(".play") == "Pause"
    visitor.page.wait_for_selector(".position:has-text('Update 2 ')")
    visitor.page.keyboard.press("Space")
    assert visitor.text(".play") == "Play"
    visitor.page.focus("[data-panel=a] .point[tabindex='0']")
    before, step = visitor.points[0], int(visitor.fields["a-step"])
    visitor.press(".")
    assert int(visitor.fields["a-step"]) == step + 1
    np.testing.assert_array_equal(visitor.points[0], before)


# Work.


def test_a_drag_draws_once_a_frame(visit):
    """However often the pointer moves, and whenever answers come: no frame is drawn twice."""
    visitor = visit().open()
    visitor.page.mouse.move(*visitor.on_screen(1, 1))
    visitor.page.mouse.down()
    visitor.page.evaluate(
        """() => {
          const figure = document.querySelector("[data-panel=a] .figure");
          window.drawn = [];
          let last = Number(figure.dataset.draws);
          const look = () => {
            const now = Number(figure.dataset.draws);
            window.drawn.push(now - last);
            last = now;
            window.looking = requestAnimationFrame(look);
          };
          window.looking = requestAnimationFrame(look);
        }"""
    )
    for share in np.linspace(0.0, 1.0, 60):
        visitor.page.mouse.move(*visitor.on_screen(1 + 0.5 * share, 1 + 0.25 * share))
    visitor.page.mouse.up()
    visitor.settle()
    drawn = visitor.page.evaluate("(cancelAnimationFrame(window.looking), window.drawn)")
    assert sum(drawn) >= 10
    assert max(drawn) == 1


def test_comparing_keeps_the_controls_in_view(visit):
    visitor = visit().open(f"{OVERLAPPING}&b=kernel_svm")
    for panel in "ab":
        visitor.page.locator(f"[data-panel={panel}] .theorems, [data-panel={panel}] .proof .status").last.evaluate(
            "(element) => element.scrollIntoView({ block: 'end' })"
        )
        for part in (".algorithm", ".figure", ".step-through"):
            box = visitor.page.locator(f"[data-panel={panel}] {part}").bounding_box()
            assert box["y"] >= 0, part
            assert box["y"] + box["height"] <= 900, part


def test_the_lines_of_xor_cross_at_the_saddle(visit):
    kernel = 'a=kernel_svm&a.kernel="poly"&a.degree=2&a.coef0=1&a.C=10'
    for view_of_it in ("0,0,2", "0.13,-0.07,1.9"):
        visitor = visit().open(f"points=1,1,1;-1,-1,1;1,-1,-1;-1,1,-1&view={view_of_it}&{kernel}")
        for stepping in (False, True):
            if stepping:
                visitor.click(".step-through")
                visitor.press("End")
            lines = visitor.drawn("zero")
            assert len(lines) == 2
            for line in lines:
                assert np.ptp(line, axis=0).max() > 3.5  # from one side of the picture to the other
                assert stepping or np.hypot(*nearest_on_lines(np.zeros(2), [line])) < 1e-3
