"""What a certificate may say of theorems: each bound at its two edges, each count, and each condition in words."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin.certificates import theorem_verification as judge
from maxmargin.certificates import theorems
from maxmargin.certificates.measure import plane_margin
from maxmargin.certificates.proof import TheoremBound
from maxmargin.certificates.theorem_verification import Interval
from maxmargin.problems.losses import HINGE, SQUARED_HINGE
from maxmargin.problems.statement import SoftMargin

X, SIGNS, W = np.array([[2.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0]), np.array([3.0, 0.0])
SLACK = 1e-9


def test_an_interval_holds_its_edges_and_a_little_more():
    one = Interval(2.0, 4.0)
    low, high = 2.0 * (1.0 - SLACK), 4.0 * (1.0 + SLACK)
    for value in (low, 2.0, 3.0, 4.0, high):
        assert one.holds(value)
    for value in (math.nextafter(low, 0.0), math.nextafter(high, 9.0), math.inf, math.nan, -3.0):
        assert not one.holds(value)
    assert Interval(math.nan, 4.0).holds(4.0)
    assert not Interval(math.nan, 4.0).holds(3.0)
    assert Interval(2.0, math.inf).holds(math.inf)
    assert one.times(3.0) == (6.0, 12.0)
    assert one.squared() == (4.0, 16.0)


def test_a_radius_over_a_margin():
    assert judge.over(6.0, 2.0, 3.0) == (2.0, 3.0)
    assert judge.over(6.0, 0.5, 0.75) == (8.0, 12.0)
    assert judge.over(6.0, 0.0, 3.0) == (2.0, math.inf)
    assert judge.over(6.0, -1.0, 3.0) == (2.0, math.inf)
    assert judge.over(6.0, 0.0, 0.0) == (math.inf, math.inf)
    assert judge.over(6.0, -2.0, -1.0) == (math.inf, math.inf)
    assert judge.most_of(3.0, 2.5) == 4.0
    assert judge.most_of(3.0, -math.inf) == 0.0


@pytest.mark.parametrize("b", [0.0, 1.0, -1.5])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_ratios_that_rounding_leaves_possible(b, fit_intercept):
    for scale in (0.125, 1.0):
        plane = plane_margin(X * scale, SIGNS, W, b, "l2")
        most = plane.value + 2.0 * (plane.value - plane.lower)
        lift = math.hypot(1.0, plane.b) if fit_intercept else 1.0
        size = math.sqrt((2.0 * scale) ** 2 + (1.0 if fit_intercept else 0.0)) * lift
        expected = judge.over(size, plane.lower, most)
        assert judge.lifted_ratio(X * scale, SIGNS, W, b, fit_intercept) == expected
        plane = plane_margin(X * scale, SIGNS, W, b, "l1")
        most = plane.value + 2.0 * (plane.value - plane.lower)
        size = 2.0 * scale + (abs(plane.b) if fit_intercept else 0.0)
        assert judge.winnow_ratio(X * scale, SIGNS, W, b, fit_intercept) == judge.over(size, plane.lower, most)


def test_ratios_have_no_unit_and_rows_of_zeros_none_at_all():
    huge = judge.lifted_ratio(X * 2.0**700, SIGNS, W / 2.0**700, 0.0, False)
    assert huge.high == pytest.approx(2.0)
    assert judge.winnow_ratio(0.0 * X, np.ones(2), W, 1.0, True).high == pytest.approx(4.0)
    nothing = judge.lifted_ratio(0.0 * X, np.ones(2), W, 1.0, True)
    assert nothing.high == pytest.approx(math.hypot(1.0, 1.0 / 3.0) * 3.0)


def claim(*told, fit_intercept=True, b=0.0, weights=(1.0, 3.0)):
    return SimpleNamespace(w=W, b=b, fit_intercept=fit_intercept, weights=np.array(weights), theorems=told)


def refused(*told, **changes):
    c = claim(*told, **changes)
    rows = np.arange(2)[: len(c.weights)]
    return list(judge.separation_theorems_refused(c, X, SIGNS, rows))


LIFTED = judge.lifted_ratio(X, SIGNS, W, 0.0, True).squared()
WINNOW = judge.winnow_ratio(X, SIGNS, W, 0.0, True).squared()
LOGARITHMS = (math.log(4), math.log(6))  # of two columns and the bias: a weight each, or one for either sign


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        (theorems.NOVIKOV, [LIFTED]),
        (theorems.HALVING, [LIFTED.times(64.0)]),
        (theorems.GUESSED, [LIFTED.times(12.0)]),
        (theorems.SHARE, [Interval(0.25, 0.25)]),
        (theorems.WINNOW_HALVING, [WINNOW.times(32.0 / 3.0 * logarithm) for logarithm in LOGARITHMS]),
        (theorems.WINNOW_TO_LEADING_ORDER, [WINNOW.times(16.0 / 3.0 * logarithm) for logarithm in LOGARITHMS]),
        (theorems.WINNOW, [Interval(2.0 * LOGARITHMS[0] * WINNOW.low, math.inf)]),
    ],
)
def test_each_bound_is_held_to_its_edges(name, bounds):
    at_most = name != theorems.SHARE
    measured = 1.0

    def told(bound, at_most=at_most):
        return refused(TheoremBound(name, bound, measured, at_most))

    for low, high in bounds:
        assert told(low * (1.0 - 0.99 * SLACK)) == []
        assert told(high * (1.0 + 0.99 * SLACK)) == []
        for beyond in (low * (1.0 - 1.01 * SLACK), high * (1.0 + 1.01 * SLACK)):
            if beyond < math.inf:
                (words,) = told(beyond)
                promised = " or ".join(f"{bound.high:.6g}" for bound in bounds)
                assert words.startswith(f"the theorem promises {promised}") or name == theorems.GUESSED
        assert told(low, not at_most) == [f"the theorem promises the opposite ({name})"]
    assert (told(math.inf) == []) == (name in (theorems.GUESSED, theorems.WINNOW))


def test_through_the_origin_the_bias_has_no_weights():
    winnow = judge.winnow_ratio(X, SIGNS, W, 0.0, False).squared()
    for logarithm in (math.log(2), math.log(4)):
        bound = winnow.times(32.0 / 3.0 * logarithm).high
        assert refused(TheoremBound(theorems.WINNOW_HALVING, bound, 1.0), fit_intercept=False) == []
    least = 2.0 * math.log(2) * winnow.low
    assert refused(TheoremBound(theorems.WINNOW, least, 1.0), fit_intercept=False) == []
    assert refused(TheoremBound(theorems.WINNOW, 0.999 * least, 1.0), fit_intercept=False) != []


def test_without_columns_there_is_nothing_to_take_a_logarithm_of():
    nothing = np.zeros((2, 0))
    told = TheoremBound(theorems.WINNOW_HALVING, math.inf, 1.0)
    c = SimpleNamespace(w=np.zeros(0), b=0.0, fit_intercept=False, weights=np.ones(2), theorems=(told,))
    (words,) = judge.separation_theorems_refused(c, nothing, SIGNS, np.arange(2))
    assert words.startswith("the theorem promises nan or nan, not inf")


def test_what_is_invented_or_no_count():
    assert refused() == []
    assert refused(TheoremBound("Murphy", 1.0, 1.0)) == ["there is no theorem 'Murphy' about this problem"]
    right = TheoremBound(theorems.NOVIKOV, LIFTED.high, 2.0)
    (words,) = refused(right, TheoremBound("Murphy", 1.0, 1.0))
    assert "Murphy" in words
    for count in (0.0, 1.0, 1e300):
        assert refused(TheoremBound(theorems.NOVIKOV, LIFTED.high, count)) == []
    for count in (-1.0, 0.5, math.inf):
        words = f"what was counted is no count: {count} ({theorems.NOVIKOV})"
        assert refused(TheoremBound(theorems.NOVIKOV, LIFTED.high, count)) == [words]


def share(measured, **changes):
    return refused(TheoremBound(theorems.SHARE, 0.25, measured, False), **changes)


def test_a_share_lies_between_what_is_proven_and_one():
    proven = theorems.share_of_the_best(X, SIGNS, W, 0.0, True, np.array([1.0, 3.0])).measured
    surely = proven * (LIFTED.low / LIFTED.high)
    for measured in (surely * (1.0 - 0.99 * SLACK), proven, 1.0, 1.0 + SLACK):
        assert share(measured) == []
    for measured in (surely * (1.0 - 1.01 * SLACK), 1.0 + 1.01 * SLACK, 0.0):
        words = f"the share of the best lifted margin is at least {proven:.6g} and at most 1, not {measured:.6g}"
        assert share(measured) == [words]


def test_a_share_of_which_nothing_is_proven_is_any_share():
    assert share(0.0, weights=(0.0, 0.0)) == []
    assert share(0.0, weights=(1.0, 1.0), b=9.0) == []  # the plane separates nothing
    assert share(0.9, weights=(1.0,)) == []
    assert share(0.1, weights=(1.0,)) != []
    assert share(1.5, weights=(0.0, 0.0)) != []
    assert share(-0.1, weights=(0.0, 0.0)) != []


def test_a_share_of_a_margin_that_is_too_small_to_be_squared():
    rows, w = np.array([[1.0, 1e-200], [1.0, -1e-200]]), np.array([0.0, 1.0])
    told = TheoremBound(theorems.SHARE, 0.25, 0.5, False)
    c = SimpleNamespace(w=w, b=0.0, fit_intercept=True, weights=np.ones(2), theorems=(told,))
    assert list(judge.separation_theorems_refused(c, rows, SIGNS, np.arange(2))) == []


def test_a_share_of_a_margin_that_may_be_nothing_is_any_share():
    """The plane surely separates, and squares of the margin are lost: no share of the best margin is sure."""
    c = SimpleNamespace(w=W, b=0.0, fit_intercept=True, weights=np.ones(2))

    def said(measured, lifted):
        told = TheoremBound(theorems.SHARE, 0.25, measured, False)
        return list(judge.share_refused(c, X, SIGNS, np.arange(2), told, lifted, False))

    assert said(0.0, Interval(1.0, math.inf)) == []
    assert len(said(0.0, Interval(1.0, 1.0))) == 1


COSTS = np.array([0.5, 2.0])


def of_pegasos(*told, fit_intercept=False, loss=HINGE):
    problem = SoftMargin(X, SIGNS, COSTS, loss, fit_intercept)
    return list(judge.pegasos_refused(SimpleNamespace(theorems=told, C=0.5, primal=3.0), problem))


def test_pegasos_is_above_the_objective_by_what_one_sweep_leaves_open():
    reach = 2.0 * theorems.costliest_row(X, COSTS, 0.5)  # n C = 1
    most = 3.0 + 0.5 * reach * reach * (1.0 + math.log(2)) / 2.0
    for radius in (theorems.FULL_RADIUS, theorems.SHORT_RADIUS):
        name = theorems.PEGASOS.format(radius)
        for bound in (3.0 * (1.0 - 0.99 * SLACK), 3.0, most, most * (1.0 + 0.99 * SLACK)):
            assert of_pegasos(TheoremBound(name, bound, 0.5)) == []
            for wrong in ({"fit_intercept": True}, {"loss": SQUARED_HINGE}):
                (words,) = of_pegasos(TheoremBound(name, bound, 0.5), **wrong)
                assert words.startswith("there is no theorem")
        for bound in (3.0 * (1.0 - 1.01 * SLACK), most * (1.0 + 1.01 * SLACK)):
            assert len(of_pegasos(TheoremBound(name, bound, 0.5))) == 1
        assert of_pegasos(TheoremBound(name, 3.0, 0.5, False)) == [f"the theorem promises the opposite ({name})"]
        for measured in (-0.5, math.inf):
            assert len(of_pegasos(TheoremBound(name, 3.0, measured))) == 1
    assert of_pegasos() == []


def test_a_sweep_of_four_rows_at_another_price():
    """n C = 8 and R = 2."""
    rows, costs = np.array([[1.0], [2.0], [0.5], [0.0]]), np.full(4, 2.0)
    problem = SoftMargin(rows, np.array([1.0, -1.0, 1.0, -1.0]), costs, HINGE, False)
    most = 1.0 + 0.5 * 32.0**2 * (1.0 + math.log(4)) / 4.0
    name = theorems.PEGASOS.format(theorems.FULL_RADIUS)
    for bound, wrong in ((most, 0), (most * (1.0 + 1e-8), 1)):
        c = SimpleNamespace(theorems=(TheoremBound(name, bound, 0.5),), C=2.0, primal=1.0)
        assert len(list(judge.pegasos_refused(c, problem))) == wrong


@pytest.mark.parametrize("broken", [some for k in range(5) for some in itertools.combinations(theorems.BROKEN, k)])
def test_conditions_may_be_broken_in_every_combination_that_fits_the_problem(broken):
    name = f"{theorems.NO_PEGASOS}{' and '.join(broken)}{theorems.LOSS_MET}"
    for fit_intercept in (False, True):
        possible = bool(broken) and (theorems.WITH_A_BIAS in broken) == fit_intercept
        said = of_pegasos(TheoremBound(name, math.inf, 0.5), fit_intercept=fit_intercept)
        assert said == ([] if possible else [f"there is no theorem {name!r} about this problem"])
        if possible:
            assert len(of_pegasos(TheoremBound(name, 1e300, 0.5), fit_intercept=fit_intercept)) == 1


def test_novikov_in_the_space_of_a_kernel():
    def said(bound, count=2.0, margin=0.5, at_most=True):
        told = TheoremBound(theorems.NOVIKOV, bound, count, at_most)
        return list(judge.kernel_novikov_refused(SimpleNamespace(theorems=(told,), margin_lower=margin), 4.0))

    bound = 16.0 * (1.0 + 8 * 2.0**-53 / (1.0 - 8 * 2.0**-53))
    low, high = bound * (1.0 - SLACK), bound * (1.0 + SLACK)
    for right in (low, bound, high):
        assert said(right) == []
    for wrong in (math.nextafter(low, 0.0), math.nextafter(high, 99.0), math.inf):
        assert len(said(wrong)) == 1
    for wrong in (said(bound, 0.5), said(bound, -1.0), said(bound, math.inf), said(bound, at_most=False)):
        assert len(wrong) == 1
    assert said(bound, 0.0) == []
    for margin in (0.0, -1.0, math.nan):
        assert said(math.inf, margin=margin) == []
        assert said(16.0, margin=margin) != []
