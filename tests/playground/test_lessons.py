"""Each lesson's exercise, done on its own points by what answers the page: what the lesson says must come out."""

import itertools

import numpy as np
import pytest

from maxmargin import HardMarginSVM
from maxmargin.playground.challenge import challenge
from maxmargin.playground.exercises import GivenExercise, graded
from maxmargin.playground.lessons import lesson, lessons
from maxmargin.playground.messages import read_line, read_state, read_view
from maxmargin.playground.presets import points_named
from maxmargin.playground.shown import answer
from maxmargin.playground.steps import steps

LESSONS = {lesson["name"]: lesson for lesson in lessons()}
EXERCISES = {}


def exercise(name):
    """The test of this lesson."""

    def register(function):
        EXERCISES[name] = function
        return function

    return register


def test_every_lesson_has_its_exercise():
    assert set(EXERCISES) == set(LESSONS)


@pytest.mark.parametrize("name", LESSONS)
def test_the_exercise_shows_what_the_lesson_says(name):
    EXERCISES[name](LESSONS[name])


def test_lessons_are_complete():
    assert len({lesson["title"] for lesson in lessons()}) == len(lessons()) == len(LESSONS)
    for one in lessons():
        assert all(words.strip() == words and len(words) > 20 for words in one["sentences"])
        for panel in (one["state"], one["state"] | (one["b"] or {})):
            assert len(read_state(panel).points) >= 5


WRITTEN = {
    **dict.fromkeys(("title", "question", "answer"), "Some words."),
    "name": "mine",
    "sentences": ["One.", "Two.", "Three."],
    "points": "xor",
    "algorithm": "perceptron",
}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"tilte": "My own"}, "'mine' has a field 'tilte'"),
        ({"sentences": ["One.", "Two."]}, "three sentences"),
        ({"sentences": "One."}, "'sentences' of the lesson 'mine' is 'One.'"),
        ({"mode": "film"}, "a mode of"),
        ({"parameters": ["C"]}, "'parameters' of the lesson 'mine'"),
    ],
)
def test_who_writes_a_lesson_is_told_what_is_wrong(change, named):
    assert lesson(WRITTEN)["state"]["algorithm"] == "perceptron"
    with pytest.raises(ValueError, match=named):
        lesson({**WRITTEN, **change})
    for field in WRITTEN:
        with pytest.raises(ValueError, match=f"needs.*{field}|None.*needs"):
            lesson({name: value for name, value in WRITTEN.items() if name != field})


def asked(lesson, panel="a", question=answer, **changes):
    """What the page hears of a panel of the lesson, with other points or parameters."""
    state = read_state({**lesson["state"], **((panel == "b" and lesson["b"]) or {}), **changes})
    return question(state, read_view(None, state.points))


def line_of(told):
    """The line with |w| = 1."""
    w = np.array(told["plane"]["w"])
    return np.array([*w, told["plane"]["b"]]) / np.linalg.norm(w)


def verdict(told):
    return told["certificate"]["verdict"]


@exercise("margin")
def the_best_line_is_pinned_by_both_classes(lesson):
    state = read_state(lesson["state"])
    view = read_view(None, state.points)
    best = asked(lesson)
    w1, w2, b = line_of(best)
    assert {int(state.signs[one["row"]]) for one in best["support"]} == {1, -1}
    drawn = challenge(state, read_line({"w": [w1, w2], "b": b}), view)
    assert drawn["share"] > 0.9999
    assert drawn["yours"]["margin"] == pytest.approx(best["margin"], rel=1e-9)
    assert 2 * best["margin"] == best["street"]
    scaled = challenge(state, read_line({"w": [70 * w1, 70 * w2], "b": 70 * b}), view)
    assert scaled["yours"]["margin"] == pytest.approx(drawn["yours"]["margin"], rel=1e-12)
    for turn, shift in itertools.product((-0.1, 0.0, 0.1), repeat=2):
        other = {"w": [w1 - turn * w2, w2 + turn * w1], "b": b + shift}
        share = challenge(state, read_line(other), view)["share"]
        assert turn == shift == 0.0 or share is None or share < 0.9999


@exercise("mistakes")
def count_and_bound_grow_in_a_narrow_street(lesson):
    wide, narrow = asked(lesson), asked(lesson, points=[list(point) for point in points_named("narrow")])
    for told in (wide, narrow):
        (novikov,) = told["theorems"]
        assert novikov["count"] == told["updates"]
        assert 10 * novikov["count"] < novikov["bound"]
    assert narrow["updates"] > wide["updates"]
    assert narrow["theorems"][0]["bound"] > wide["theorems"][0]["bound"]
    for one in asked(lesson, question=steps)["steps"]:  # towards the point that was wrong
        x, y = lesson["state"]["points"][one["row"]][:2], one["sign"]
        before = y * (np.dot(one["before"]["w"], x) + one["before"]["b"])
        assert before <= 0 < y * (np.dot(one["w"], x) + one["b"]) - before


@exercise("guess")
def the_wider_street_takes_more_updates(lesson):
    wide, plain = asked(lesson), asked(lesson, "b")
    assert wide["margin"] > plain["margin"]
    assert wide["updates"] > plain["updates"]
    share = next(theorem for theorem in wide["theorems"] if not theorem["at_most"])
    assert share["bound"] == 0.25
    assert share["holds"]


@exercise("winnow")
def winnow_finds_out_which_column_is_noise(lesson):
    assert all(np.sign(x) == label for x, _, label in lesson["state"]["points"])
    ends = [asked(lesson, panel, steps)["steps"][-1]["w"] for panel in "ab"]
    winnow, perceptron = (abs(w2 / w1) for w1, w2 in ends)
    assert winnow < 0.1
    assert perceptron > 0.5
    for panel, w in zip("ab", ends, strict=True):  # the run ends with the line that is shown without steps
        np.testing.assert_allclose(line_of(asked(lesson, panel))[:2], np.array(w) / np.linalg.norm(w), rtol=1e-9)


@exercise("street")
def a_point_without_weight_moves_no_line(lesson):
    before = asked(lesson)
    points, line = lesson["state"]["points"], line_of(before)
    carrying = {one["row"] for one in before["support"]}
    rest = [row for row in range(len(points)) if row not in carrying]
    assert rest
    corners = [(x, y) for x in (-3.0, 2.0, 6.0) for y in (-4.0, 0.0, 5.0)]
    moved = 0
    for row, place in zip(itertools.cycle(rest), corners, strict=False):
        label = points[row][2]
        if label * (np.dot(line[:2], place) + line[2]) <= before["margin"]:
            continue  # it would enter the street, or cross it
        after = asked(lesson, points=[*points[:row], [*place, label], *points[row + 1 :]])
        np.testing.assert_allclose(line_of(after), line, atol=1e-6)
        moved += 1
    assert moved >= 3


@exercise("slack")
def the_outlier_wins_from_some_price_on(lesson):
    hard = asked(lesson, "b")
    streets = {price: asked(lesson, parameters={"C": price})["street"] for price in (0.1, 10, 30, 1e4)}
    assert lesson["state"]["parameters"] == {"C": 0.1}
    assert streets[0.1] > 10 * hard["street"]
    assert streets[10] > 2 * hard["street"]
    for price in (30, 1e4):
        assert streets[price] == pytest.approx(hard["street"], rel=1e-4)
    outlier = len(lesson["state"]["points"]) - 1
    slack = {one["row"]: one["xi"] for one in asked(lesson)["slack"]}
    assert slack[outlier] > 1
    assert outlier in asked(lesson)["mistakes"]


@exercise("kernels")
def a_large_gamma_breaks_the_boundary_into_pieces(lesson):
    assert verdict(asked(lesson, "b", algorithm="hard_margin", parameters={})) == "NOT_SEPARABLE"
    smooth, broken = asked(lesson), asked(lesson, parameters={"C": 10.0, "gamma": 1000.0})
    assert len(smooth["mistakes"]) == len(broken["mistakes"]) == 0
    assert len(asked(lesson, "b")["mistakes"]) > 0
    assert len(smooth["lines"]["zero"]) == 1
    assert len(broken["lines"]["zero"]) > 5
    X = read_state(lesson["state"]).points
    between = np.exp(-1000.0 * np.sum((X[:, None] - X) ** 2, axis=2))[~np.eye(len(X), dtype=bool)]
    assert np.mean(between < 0.01) > 0.98


@exercise("multiplier")
def points_without_a_price_can_be_deleted(lesson):
    """min 0.2 x^2 - x + 1: the slope is 0.4 x - 1, so the price at x = 5 is 1, and the lowest point is 2.5."""
    sentences = " ".join(lesson["sentences"])
    assert f"the price a = {0.4 * 5 - 1:g} the lowest point is x = 5" in sentences
    assert f"x = {1 / 0.4:g} is allowed" in sentences
    before, points = asked(lesson), lesson["state"]["points"]
    prices = {one["row"]: one["a"] for one in before["support"]}
    assert all(price > 0 for price in prices.values())
    for row in range(len(points)):
        after = asked(lesson, points=points[:row] + points[row + 1 :])
        same = np.allclose(line_of(after), line_of(before), atol=1e-6) and np.isclose(after["margin"], before["margin"])
        assert same == (row not in prices)


@exercise("own numbers")
def own_numbers_are_graded_by_what_they_prove(lesson):
    """The line x1 + x2 = 3 of the answer is right; a line of half the margin proves half of it."""
    asked_for = {"name": lesson["exercise"], "seed": 0}
    told = graded(GivenExercise(**asked_for, answer=None))
    assert told["points"] == lesson["state"]["points"]
    right = graded(GivenExercise(**asked_for, answer={"w": "-1, -1", "b": "3"}))["grade"]
    assert right["right"]
    assert right["lower"] == pytest.approx(np.sqrt(0.5), rel=1e-6)
    narrow = graded(GivenExercise(**asked_for, answer={"w": "-1 -1", "b": "2.5"}))["grade"]
    assert not narrow["right"]
    assert narrow["lower"] == pytest.approx(np.sqrt(0.5) / 2, rel=1e-6)
    assert narrow["upper"] == pytest.approx(np.sqrt(0.5), rel=1e-3)
    wrong = graded(GivenExercise(**asked_for, answer={"w": "1, 1", "b": "-3"}))["grade"]
    assert wrong["failures"][0]["row"] >= 0


@exercise("proof")
def one_witness_row_can_be_moved(lesson):
    points = lesson["state"]["points"]
    witness = asked(lesson)["hulls"]["witness"]
    assert verdict(asked(lesson)) == "NOT_SEPARABLE"
    assert len(witness["rows"]) <= 4
    weights = np.array(witness["weights"]) * [points[row][2] for row in witness["rows"]]
    np.testing.assert_allclose(weights @ [[*points[row][:2], 1.0] for row in witness["rows"]], 0.0, atol=1e-9)
    stray = 0
    places = [*((x, y) for x in (-4.0, 0.0, 2.0, 5.0) for y in (-3.0, 0.7, 3.0))]
    for row, place in itertools.product(set(witness["rows"]) - {stray}, places):
        told = asked(lesson, points=[*points[:row], [*place, points[row][2]], *points[row + 1 :]])
        assert verdict(told) == "NOT_SEPARABLE"
    with_the_others = [[-2.2, 0.3, -1], *points[1:]]
    told = asked(lesson, points=with_the_others)
    assert stray in witness["rows"]
    assert verdict(told) == "OPTIMAL"
    assert told["street"] == pytest.approx(told["hulls"]["distance"], rel=1e-9)
    X, y = np.array(with_the_others)[:, :2], np.array(with_the_others)[:, 2]
    assert told["margin"] == pytest.approx(HardMarginSVM().fit(X, y).margin_, rel=1e-9)
