"""What the reader opens or asks for: exact verification, cards, a line by two clicks, the multiplier, exercises."""

import re

import numpy as np
import pytest
from playground_visitor import FOUR_POINTS

from maxmargin import HardMarginSVM, LinearSVM

SOFT = FOUR_POINTS.replace("a=hard_margin", "a=linear_svm&a.C=0.5")
CARDS = ["weights", "hulls", "loss", "path"]


def opened(visitor, name, panel="a"):
    card = f"[data-panel={panel}] [data-extra={name}]"
    visitor.page.click(f"{card} summary")
    visitor.page.wait_for_selector(f"{card}[open][aria-busy=false]")
    return visitor.settle()


def figure_named(visitor, name, place):
    """The number beside these words."""
    row = visitor.page.locator(f"{place} div:has(> dt:text-is('{name}')) dd")
    return float(row.inner_text().split()[0])


def test_a_proof_is_verified_exactly_and_belongs_to_its_state(visitor):
    visitor.click(".verify")
    visitor.page.wait_for_selector(".verified")
    said = visitor.text(".verification")
    assert said.startswith("Verified in exact rational arithmetic")
    low, high = map(float, re.findall(r"between (\d+\.\d+) and (\d+\.\d+)", said)[0])
    X, y = visitor.points
    assert low <= HardMarginSVM().fit(X, y).margin_ <= high
    visitor.drag((1, 1), (1, 1.5))
    assert visitor.text(".verification") == ""
    assert visitor.page.locator(".verified").count() == 0


def test_verification_by_key_and_of_a_kernel(visit):
    visitor = visit().open(FOUR_POINTS.replace("a=hard_margin", "a=kernel_svm"))
    visitor.page.focus(".verify")
    visitor.press("Enter")
    visitor.page.wait_for_selector(".verification:has-text('float64')")
    assert "exp of a rational number is none" in visitor.text(".verification")
    assert visitor.page.locator(".verified").count() == 0


def test_cards_open_and_are_in_the_address(visit):
    visitor = visit().open(SOFT)
    for name in CARDS:
        opened(visitor, name)
    assert visitor.fields["open"] == ",".join(CARDS)
    other = visit().open(visitor.page.evaluate("location.hash").removeprefix("#"))
    other.page.wait_for_selector("[data-extra=path][open][aria-busy=false]")
    assert other.page.locator("[data-extra][open]").count() == len(CARDS)


def test_the_weights_are_the_dual_variables(visit):
    visitor = opened(visit().open(SOFT), "weights")
    X, y = visitor.points
    svm = LinearSVM(C=0.5, tol=1e-6).fit(X, y)
    listed = {}
    for row in visitor.page.locator("[data-extra=weights] tbody tr").all():
        name, value = row.locator("th").inner_text(), row.locator("td").last.inner_text()
        listed[int(name.split()[1])] = float(value.split()[0])
    own = dict(zip(svm.support_.tolist(), np.abs(svm.dual_coef_[0]), strict=True))
    assert listed == pytest.approx(own, rel=1e-3)


def test_the_loss_draws_a_stroke_for_each_row(visit):
    visitor = opened(visit().open(SOFT), "loss")
    assert visitor.page.locator("[data-extra=loss] .rug").count() == 4
    assert "rows are inside the street" in visitor.text("[data-extra=loss]")


def test_a_card_follows_the_points_and_says_so_meanwhile(visit):
    visitor = opened(visit().open(SOFT), "path")
    before = visitor.page.locator("[data-extra=path] .loss.own").get_attribute("points")
    visitor.drag((1, 1), (1, 0.6))
    visitor.page.wait_for_selector("[data-extra=path][aria-busy=false]")
    after = visitor.page.locator("[data-extra=path] .loss.own").get_attribute("points")
    assert after != before
    visitor.drag((1, 0.6), (1, 0.7), drop=False)
    assert "checking" in visitor.text("[data-extra=path] .mark")
    visitor.page.mouse.up()
    visitor.page.wait_for_selector("[data-extra=path][aria-busy=false]")
    assert visitor.text("[data-extra=path] .mark") == ""


def test_a_line_by_two_clicks_is_measured_and_compared(visit):
    visitor = visit().open(SOFT)
    visitor.click("#challenge").click(".place")
    visitor.click_at(-0.5, 0.2).click_at(2.5, 0.4)
    assert visitor.page.get_attribute(".place", "aria-pressed") == "false"
    ends = np.array(visitor.fields["line"].split(","), dtype=float).reshape(2, 2)
    np.testing.assert_allclose(ends, [[-0.5, 0.2], [2.5, 0.4]], atol=0.02)
    X, y = visitor.points
    assert len(X) == 4  # the clicks placed the line, and no point
    across = ends[1] - ends[0]
    w = np.array([-across[1], across[0]]) / np.hypot(*across)
    values = y * (X @ w - ends[0] @ w)
    assert figure_named(visitor, "Your margin", ".scores") == pytest.approx(values.min(), rel=1e-3)
    visitor.click(".reveal")
    least = LinearSVM(C=0.5, tol=1e-9).fit(X, y).certificate_.primal
    assert figure_named(visitor, "Proven least objective", ".scores") == pytest.approx(least, rel=1e-3)
    scales = np.linspace(0.0, 5.0, 50_001)
    costs = 0.5 * scales**2 + 0.5 * np.maximum(0.0, 1.0 - scales[:, None] * values).sum(axis=1)
    assert figure_named(visitor, "Your objective at C = 0.5", ".scores") == pytest.approx(costs.min(), rel=1e-3)
    above = figure_named(visitor, "Yours is above it by", ".scores")
    assert above == pytest.approx(100 * (costs.min() / least - 1), abs=0.2)


def test_two_touches_place_the_line_on_a_phone(visit):
    visitor = visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).open(SOFT)
    visitor.page.tap("#challenge")
    visitor.page.tap(".place")
    for place in ((0.0, 0.3), (2.0, 0.6)):
        visitor.page.touchscreen.tap(*visitor.on_screen(*place))
        visitor.settle()
    ends = np.array(visitor.fields["line"].split(","), dtype=float).reshape(2, 2)
    np.testing.assert_allclose(ends, [[0.0, 0.3], [2.0, 0.6]], atol=0.03)
    assert len(visitor.points[0]) == 4


def test_the_multiplier_is_touched_by_slider_button_and_picture(visitor):
    visitor.click("#touch")
    visitor.page.wait_for_selector("#multiplier .touchable")
    assert "between g(a) = 0.6875 and f(x) = 2.95" in visitor.text("#multiplier-words")
    visitor.page.focus("#multiplier-x")
    visitor.press("ArrowLeft")
    assert visitor.fields["multiplier"] == "5,6.4,0.5"
    visitor.click("#multiplier-hands button:text-is('To the saddle')")
    assert visitor.fields["multiplier"] == "5,5,1"
    assert visitor.page.locator("#multiplier-words .holds").count() == 4
    visitor.click("#multiplier-hands button >> nth=1")
    visitor.click("#multiplier-hands button:text-is('To the saddle')")
    assert visitor.fields["multiplier"] == "-3,2.5,0"
    assert "costs nothing" in visitor.text("#multiplier-words")
    box = visitor.page.locator("#multiplier .touchable").bounding_box()
    visitor.page.mouse.click(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.1)
    visitor.settle()
    _, x, a = map(float, visitor.fields["multiplier"].split(","))
    assert x > 7
    assert a > 2
    visitor.press("Control+z")
    visitor.click("#multiplier-close")
    assert not visitor.page.is_visible("#multiplier")


def test_an_exercise_is_graded_by_what_the_numbers_prove(visitor):
    visitor.choose("#exercises", "widest street")
    visitor.page.wait_for_selector("#exercise-w")
    visitor.settle()
    assert len(visitor.points[0]) == 7
    assert visitor.page.evaluate("getComputedStyle(document.querySelector('.side')).visibility") == "hidden"
    visitor.page.fill("#exercise-w", "-1, 0")
    visitor.page.fill("#exercise-b", "1/2")
    visitor.press("Enter")
    visitor.page.wait_for_selector("#exercise-grade.not-yet")
    assert "row 0" in visitor.text("#exercise-grade")
    visitor.page.click("#exercise-grade button:text-is('Show row 0')")
    assert visitor.page.evaluate("document.activeElement.dataset.row") == "0"
    visitor.page.fill("#exercise-w", "-1, -1")
    assert visitor.text("#exercise-grade") == ""  # the grade was of other numbers
    visitor.page.fill("#exercise-b", "3")
    visitor.click("#exercise-check")
    visitor.page.wait_for_selector("#exercise-grade.right")
    assert "0.707106" in visitor.text("#exercise-grade")
    assert visitor.page.evaluate("getComputedStyle(document.querySelector('.side')).visibility") == "visible"
    visitor.click("#exercise-next")
    visitor.page.wait_for_selector("#exercise-count:has-text('variant 1')")
    assert visitor.fields["exercise"] == "widest street,1"
    visitor.click("#exercise-close")
    assert "exercise" not in visitor.fields


def test_the_programs_of_the_textbook_are_in_the_code(visit):
    visitor = visit().open(SOFT).click("#code")
    visitor.page.wait_for_selector("#code-parts pre")
    listings = visitor.page.locator("#code-parts pre").all_inner_texts()
    programs = [text for text in listings if "cvxpy" in text]
    assert len(programs) == 2
    assert all("C = 0.5" in text for text in programs)
    assert "cp.Maximize" in programs[1]
