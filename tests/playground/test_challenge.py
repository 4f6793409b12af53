"""A line that somebody drew is measured as it is, and never wins."""

import numpy as np
import pytest
from play_states import state_of, view_of

from maxmargin import HardMarginSVM
from maxmargin.playground.challenge import challenge
from maxmargin.playground.messages import Line, read_line

SEPARABLE = state_of(("hard_margin", {}))
BEST = HardMarginSVM().fit(SEPARABLE.points, SEPARABLE.signs)


def judged(line, state=SEPARABLE):
    return challenge(state, line, view_of(state))


def test_the_best_line_has_all_of_the_best_margin():
    size = np.linalg.norm(BEST.coef_[0])
    told = judged(Line(BEST.coef_[0] / size, BEST.intercept_[0] / size))
    assert told["yours"]["separates"]
    assert told["share"] == pytest.approx(1.0, abs=1e-9)
    assert told["share"] <= 1.0
    assert told["best"]["lower"] <= told["best"]["upper"]
    assert told["best"]["lower"] == BEST.certificate_.margin_lower
    np.testing.assert_allclose(told["best"]["plane"]["w"], BEST.coef_[0])


def test_which_side_is_which_does_not_matter():
    w, b = BEST.coef_[0], float(BEST.intercept_[0])
    one, other = (judged(read_line({"w": (sign * w).tolist(), "b": sign * b})) for sign in (1.0, -1.0))
    assert one["yours"]["margin"] == pytest.approx(other["yours"]["margin"], rel=1e-12)


def test_a_line_by_two_points_is_that_line():
    told = judged(read_line({"points": [[0.0, 3.0], [3.0, 0.0]]}))
    w = np.array([1.0, 1.0]) / np.sqrt(2.0)
    distances = SEPARABLE.signs * (SEPARABLE.points @ w - 3.0 / np.sqrt(2.0))
    expected = max(distances.min(), (-distances).min())
    assert told["yours"]["margin"] == pytest.approx(expected, rel=1e-12)
    assert told["yours"]["nearest"] == int(np.argmin(distances))


def test_a_line_that_does_not_separate_has_mistakes_and_no_share():
    told = judged(read_line({"points": [[0.0, 0.0], [1.0, 1.0]]}))
    assert not told["yours"]["separates"]
    assert told["yours"]["margin"] < 0.0
    assert len(told["yours"]["mistakes"]) > 0
    assert told["share"] is None
    assert "wrong side" in told["yours"]["words"][0]


def test_where_no_line_separates_there_is_a_witness():
    told = judged(read_line({"points": [[0.0, 0.0], [1.0, 1.0]]}), state_of(("hard_margin", {}), "xor"))
    assert told["best"]["plane"] is None
    assert told["best"]["lower"] is None
    assert told["best"]["hulls"]["witness"]["rows"].size
    assert told["share"] is None


def test_no_random_line_beats_the_best():
    random = np.random.default_rng(0)
    for _ in range(50):
        w = random.standard_normal(2)
        told = judged(read_line({"w": w.tolist(), "b": float(random.standard_normal())}))
        assert told["yours"]["margin"] <= told["best"]["upper"]
