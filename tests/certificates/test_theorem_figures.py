"""What each theorem promises, to the last digit: margins rounded down and radii up, by so much and no more."""

import math

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.certificates import theorems
from maxmargin.certificates.measure import plane_margin

X, SIGNS, W = np.array([[2.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0]), np.array([3.0, 0.0])
GAMMA = 10 * 2.0**-53 / (1.0 - 10 * 2.0**-53)  # of two columns and eight more roundings
biased = pytest.mark.parametrize("b", [0.0, 1.0, -1.5])


def surely(b, norm="l2"):
    return plane_margin(X, SIGNS, W, b, norm).lower


@biased
def test_the_lifted_margin_is_rounded_down_and_no_further(b):
    expected = surely(b) / math.hypot(1.0, b / 3.0) * (1.0 - GAMMA)
    assert theorems.lifted_margin(X, SIGNS, W, b, True) == expected
    assert theorems.lifted_margin(X, SIGNS, W, b, False) == surely(b) * (1.0 - GAMMA)


@biased
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("scale", [2.0**-700, 0.125, 2.0**700])
def test_the_ratio_is_rounded_up_and_no_further(b, fit_intercept, scale):
    """A table out of the safe range is lifted after it has been brought there."""
    table = theorems.in_safe_range(X * scale)
    radius = math.hypot(2.0 * scale * table.scale, 1.0 if fit_intercept else 0.0)
    margin = theorems.lifted_margin(X * scale, SIGNS, W / scale, b, fit_intercept)
    true = min(2.0 + b / 3.0, 1.0 - b / 3.0) * scale * table.scale
    true /= math.hypot(1.0, b / 3.0 * scale * table.scale if fit_intercept else 0.0)
    assert true * (1.0 - 1e-14) < margin < true
    ratio = theorems.lifted_ratio(X * scale, SIGNS, W / scale, b, fit_intercept)
    assert ratio == pytest.approx(radius / margin * (1.0 + GAMMA), rel=6e-16, abs=0.0)
    assert theorems.novikov(X * scale, SIGNS, W / scale, b, fit_intercept, 3).bound == ratio * ratio


def test_a_plane_that_does_not_separate_has_no_margin():
    for w in (-W, 0.0 * W):
        assert theorems.lifted_margin(X, SIGNS, w, 0.0, True) == 0.0
        assert theorems.lifted_ratio(X, SIGNS, w, 0.0, True) == math.inf
        assert theorems.share_of_the_best(X, SIGNS, w, 0.0, True, np.ones(2)).measured == 0.0
        assert theorems.winnow_ratio(X, SIGNS, w, 0.0, True) == math.inf


def test_a_guess_is_good_up_to_the_margin_itself():
    """R^2 = 5 and g = (2/3) / |(1, 1/3)|."""
    margin = theorems.lifted_margin(X, SIGNS, W, 1.0, True)

    def bound(guess):
        return theorems.margin_perceptron_updates(X, SIGNS, W, 1.0, True, 7, guess=guess)

    ratio = theorems.lifted_ratio(X, SIGNS, W, 1.0, True)
    assert bound(margin).bound == 12.0 * ratio * ratio
    assert bound(math.nextafter(margin, 1.0)).bound == math.inf
    assert bound(None).bound == 64.0 * ratio * ratio
    assert [(bound(guess).name, bound(guess).measured) for guess in (margin, None)] == [
        (theorems.GUESSED, 7.0),
        (theorems.HALVING, 7.0),
    ]
    assert bound(0.1).at_most


def test_the_share_of_the_best_margin():
    """p = sum of y_i (x_i, 1) / 4, weighted 1 and 3: (5, -2) / 4."""
    counts, lower = np.array([1.0, 3.0]), theorems.lifted_margin(X, SIGNS, W, 0.0, True)
    share = theorems.share_of_the_best(X, SIGNS, W, 0.0, True, counts)
    assert (share.name, share.bound, share.at_most) == (theorems.SHARE, 0.25, False)
    assert share.measured == pytest.approx(lower / (math.sqrt(29.0) / 4.0), rel=1e-15, abs=0.0)
    through = theorems.share_of_the_best(X, SIGNS, W, 0.0, False, counts)
    assert through.measured == pytest.approx(lower / 1.25, rel=1e-15, abs=0.0)
    assert theorems.share_of_the_best(X, SIGNS, W, 0.0, True, counts, 1.25).measured == lower / 1.25
    assert theorems.share_of_the_best(X, SIGNS, W, 0.0, True, counts, 2.0).measured == share.measured


def test_the_share_has_no_unit():
    shares = [theorems.share_of_the_best(X * s, SIGNS, W / s, 0.0, False, np.ones(2)).measured for s in (0.125, 1.0)]
    assert shares == [pytest.approx(1.0 / 1.5)] * 2


def test_a_margin_of_exactly_0_is_none(monkeypatch):
    nearly = plane_margin(X, SIGNS, W, 0.0, "l1")._replace(lower=0.0)
    monkeypatch.setattr(theorems, "plane_margin", lambda *_: nearly)
    assert theorems.winnow_ratio(X, SIGNS, W, 0.0, True) == math.inf
    assert theorems.lifted_ratio(X, SIGNS, W, 0.0, True) == math.inf


def test_where_the_counts_cancel_nothing_is_shared():
    rows = np.array([[1.0], [1.0]])
    assert theorems.share_of_the_best(rows, SIGNS, np.array([1.0]), 0.0, True, np.ones(2)).measured == 0.0
    opposite = np.array([[1.0], [-1.0]])
    plus = np.ones(2)
    assert theorems.share_of_the_best(opposite, plus, np.array([0.1]), 1.0, False, np.ones(2)).measured == 0.0


PRICES = np.array([0.5, 2.0])  # C = 0.5: s = 1 and 4


def of_pegasos(radius, visits=6, broken=()):
    return theorems.pegasos(X, PRICES, 0.5, radius=radius, visits=visits, primal=3.0, loss=0.75, broken=list(broken))


def test_the_bound_of_pegasos_by_hand():
    """n C = 1, R = max(1 * 2, 4 * 1) = 4."""
    R = 4.0 * (1.0 + GAMMA)
    assert theorems.costliest_row(X, PRICES, 0.5) == R
    for radius, G in ((math.inf, 2.0 * R), (R, 2.0 * R), (1.0, R + 1.0)):
        theorem = of_pegasos(radius)
        assert theorem.bound == pytest.approx(3.0 + G * G * (1.0 + math.log(6)) / 2.0 / 6.0, rel=1e-15, abs=0.0)
        words = "4 R^2" if radius >= R else "(R + lambda r)^2"
        assert theorem.name == f"Pegasos: loss met per sweep <= P + {words} (1 + ln T)/(2 lambda^2 T)"
        assert theorem.measured == 0.75
        assert theorem.at_most


def test_lambda_is_one_over_n_c():
    """Four rows and C = 2: n C = 8."""
    rows, costs = np.array([[1.0], [2.0], [0.5], [0.0]]), np.full(4, 2.0)
    theorem = theorems.pegasos(rows, costs, 2.0, radius=4.0, visits=4, primal=1.0, loss=0.5, broken=[])
    assert theorem.bound == pytest.approx(1.0 + 0.5 * (2.5 * 8.0) ** 2 * (1.0 + math.log(4)) / 4.0)
    assert theorem.measured == 4.0


def test_conditions_that_are_broken_leave_no_bound():
    for broken in (theorems.BROKEN[:1], theorems.BROKEN[1:3]):
        theorem = of_pegasos(1.0, broken=broken)
        assert theorem.name == f"Pegasos, no theorem because {' and '.join(broken)}: loss met per sweep"
        assert (theorem.bound, theorem.measured) == (math.inf, 0.75)


@pytest.mark.parametrize("scale", [2.0**-700, 1.0, 2.0**700])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_costliest_row_is_found_out_of_range_too(scale, form):
    found = theorems.costliest_row(form(np.array([[3.0, 4.0], [0.0, 6.0]]) * scale), np.array([3.0, 2.0]), 2.0)
    assert found == 7.5 * scale * (1.0 + GAMMA)


def test_a_row_that_costs_more_than_any_number_is_infinite():
    assert theorems.costliest_row(X * 1e300, np.array([1e10, 1.0]), 1.0) == math.inf


@biased
def test_the_ratio_of_winnow(b):
    inverse = theorems.winnow_ratio(X, SIGNS, W, b, True)
    assert inverse == (2.0 + abs(b / 3.0)) / surely(b, "l1") * (1.0 + GAMMA)
    assert theorems.winnow_ratio(X, SIGNS, W, b, False) == 2.0 / surely(b, "l1") * (1.0 + GAMMA)


def test_rows_of_zeros_are_scaled_by_one():
    """Both on one side: g = b / |w|_1 = 1/3, over 1 + 1/3."""
    found = theorems.winnow_ratio(0.0 * X, np.ones(2), W, 1.0, True)
    assert found == pytest.approx(4.0, rel=1e-14)


def test_the_bounds_of_winnow():
    inverse = theorems.winnow_ratio(X, SIGNS, W, 0.0, True)
    for epsilon in (None, 0.25):
        proven, usual = theorems.winnow_mistakes(X, SIGNS, W, 0.0, True, 3, 6, epsilon=epsilon)
        assert (proven.measured, usual.measured, proven.at_most, usual.at_most) == (3.0, 3.0, True, True)
        assert usual.name == theorems.WINNOW_TO_LEADING_ORDER
        assert usual.bound == 16.0 / 3.0 * math.log(6) * inverse * inverse
        if epsilon is None:
            assert proven.name == theorems.WINNOW_HALVING
            assert proven.bound == 32.0 / 3.0 * math.log(6) * inverse * inverse
        else:
            eta = math.log(4.0 / 3.0)
            assert proven.name == theorems.WINNOW
            assert proven.bound == pytest.approx(math.log(6) / (eta * (1.0 / inverse - eta / 2.0)))


def test_a_step_that_leaves_no_room_promises_nothing(monkeypatch):
    def bound(inverse, epsilon):
        monkeypatch.setattr(theorems, "winnow_ratio", lambda *_: inverse)
        return theorems.winnow_mistakes(X, SIGNS, W, 0.0, True, 3, 6, epsilon=epsilon)[0].bound

    halves = {epsilon: -math.log1p(-epsilon) / 2.0 for epsilon in np.linspace(0.1, 0.9, 50).tolist()}
    epsilon, half = next((e, half) for e, half in halves.items() if 1.0 / (1.0 / half) == half)
    assert bound(1.0 / half, epsilon) == math.inf
    assert bound(2.0 / half, epsilon) == math.inf
    assert 0.0 < bound(0.999 / half, epsilon) < math.inf
