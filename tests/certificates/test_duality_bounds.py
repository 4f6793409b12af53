"""The error that is stated with each side of the soft margin is the one that the analysis gives: no less, and no more.

Numbers are chosen so that sums are exact, or so that one term of the error stands out; what is expected is written down
from the analysis alone. A bound that is too small is a false proof, one that is too large asks for work without need.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from error_analysis import LEAST, U, close, gamma

from maxmargin.certificates import duality, passes
from maxmargin.certificates.duality import dual_in, dual_value, primal_from, primal_value
from maxmargin.problems.losses import HINGE, SQUARED_HINGE
from maxmargin.problems.statement import SoftMargin

FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def sides(found):
    """A value and its error."""
    return found.value, found.error


def problem_of(X, signs, costs=1.0, loss=HINGE, bias=True):
    X = X if sparse.issparse(X) else np.asarray(X, dtype=float)
    signs = np.asarray(signs, dtype=float)
    return SoftMargin(X, signs, np.broadcast_to(np.asarray(costs, dtype=float), signs.shape).copy(), loss, bias)


# ----------------------------------------------------------------------------------------------------------- primal


def test_nothing_that_is_paid_is_known_up_to_the_least_numbers():
    problem = problem_of(np.zeros((3, 2)), [1, -1, 1])
    for w in (np.zeros(2), np.full(2, 1e-170)):
        found = primal_from(problem, w, np.full(3, -1.0), 0.5)
        assert (found.value, found.error, found.slack_error) == (0.0, 5 * LEAST, 0.5)


@pytest.mark.parametrize(
    ("n", "d", "additions"), [(2, 3, 1 + 3), (4, 3, 1 + 4), (2000, 3, 97), (3, 2000, 97), (2000, 40, 97)]
)
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
def test_relative_error_of_a_primal_value(n, d, additions, loss):
    """Both sums, the squares, products and halves: twice as many as any term went through, of half and of the loss."""
    problem = problem_of(np.zeros((n, d)), np.ones(n), 4.0, loss)
    w, missing = np.zeros(d), np.full(n, -1.0)
    w[0], missing[-1] = 2.0, 0.5
    paid = 2.0 if loss is HINGE else 1.0
    found = primal_from(problem, w, missing, 0.0)
    assert found.value == 2.0 + paid
    assert found.error == close(2.0 * gamma(additions + 8) * (2.0 + paid))
    assert found.slack_error == 0.0


def test_what_every_slack_may_be_off_is_paid():
    for loss, moved in ((HINGE, 2.0 * 0.75 + 3.0 * 0.125), (SQUARED_HINGE, 2.0 * 0.5625 + 3.0 * 0.015625)):
        problem = problem_of(np.zeros((4, 1)), np.ones(4), [2.0, 3.0, 5.0, 7.0], loss)
        missing, off = np.array([0.5, -0.125, -0.5, -1.0]), np.array([0.25, 0.25, 0.5, 0.25])
        found = primal_from(problem, np.array([1.0]), missing, off)
        paid = 1.0 if loss is HINGE else 0.5
        assert found.value == 0.5 + paid
        assert found.error == close(moved - paid, rel=1e-12)
        assert found.slack_error == 0.5
        assert found.missing.tolist() == missing.tolist()
        assert passes.loss_total(problem, missing)[0] == paid
        assert passes.loss_total(problem, missing, off) == (moved, 5)
        assert missing.tolist() == [0.5, -0.125, -0.5, -1.0]  # not written to


@pytest.mark.parametrize(
    ("w", "missing", "off"),
    [
        (1e200, [0.5, 0.5], 0.0),
        (1.0, [-math.inf, 0.5], 0.0),
        (1.0, [math.nan, 0.5], 0.0),
        (1.0, [0.5, 0.5], math.inf),
        (1.0, [1e308, 1e308], 0.0),
    ],
)
def test_a_primal_value_beyond_float64_is_infinite(w, missing, off):
    problem = problem_of(np.zeros((2, 1)), [1, -1], 10.0)
    with np.errstate(over="ignore", invalid="ignore"):
        found = primal_from(problem, np.array([w]), np.array(missing), off)
    assert (found.value, found.error, found.slack_error) == (math.inf,) * 3


@FORMS
def test_the_error_of_a_slack_first_for_all_rows_then_for_each(form, monkeypatch):
    """A product of a row has its d terms, and b, y, 1 and the subtraction follow: d + 4 roundings."""
    monkeypatch.setattr(duality, "LONGER", False)
    X = np.array([[1.0, 0.0], [-4.0, 2.0], [0.0, 0.5]])
    problem = problem_of(form(X), [1, -1, 1], 1.0)
    w, b = np.array([0.25, -0.5]), -2.0
    terms = 6
    coarse = primal_value(problem, w, b, matters=math.inf)
    missing = [1.0 - (0.25 - 2.0), 1.0 + (-1.0 - 1.0 - 2.0), 1.0 - (-0.25 - 2.0)]
    assert coarse.missing.tolist() == missing
    assert coarse.value == 0.5 * 0.3125 + missing[0] + missing[2]
    assert coarse.slack_error == close(1.01 * gamma(terms) * (0.75 * 4.0 + 2.0 + 1.0))
    fine = primal_value(problem, w, b)
    assert fine.slack_error == close(1.01 * gamma(terms) * (1.0 + 1.0 + 2.0 + 1.0))
    paid = 1.01 * gamma(terms) * ((0.25 + 3.0) + (0.25 + 3.0))
    assert fine.error == close(paid + 2.0 * gamma(1 + 3 + 8) * fine.value, rel=0.05)
    assert fine.error < coarse.error
    assert fine.value == coarse.value
    for given in ({"values": X @ w}, {"largest": 4.0}):
        assert sides(primal_value(problem, w, b, **given)) == sides(fine)
    assert primal_value(problem, w, b, largest=400.0, matters=math.inf).slack_error > 50.0 * coarse.slack_error
    assert primal_value(problem, w, b, values=X @ w + 1.0, matters=math.inf).missing[0] == missing[0] - 1.0


@pytest.mark.skipif(np.finfo(np.longdouble).nmant != 63, reason="another long double")
def test_the_error_of_a_slack_in_long_doubles():
    """Rounded once to a double in the end: what is left of it is u of what the row misses."""
    problem = problem_of([[2.0**20, -(2.0**20)], [1.0, 3.0]], [1, -1], 1.0)
    w, b = np.array([1.0, 1.0]), 0.0
    found = primal_value(problem, w, b)
    long = np.array([2.0**21 + 1.0, 5.0]) * gamma(6, 2.0**-64)
    assert found.slack_error == close(1.01 * max(long[0] + U * 1.0, long[1] + U * 5.0))
    assert found.missing.tolist() == [1.0, 5.0]
    assert found.error == close(1.01 * (long.sum() + 6.0 * U) + 2.0 * gamma(11) * 7.0, rel=0.05)
    coarse = primal_value(problem, w, b, matters=math.inf)
    assert coarse.slack_error == close(1.01 * gamma(6) * (2.0 * 2.0**20 + 1.0))
    found = primal_value(problem_of([[-8.0, 0.0], [0.0, 0.0]], [1, -1]), np.array([1.0, 0.0]), 0.0)
    assert found.slack_error == close(1.01 * (9.0 * gamma(6, 2.0**-64) + 9.0 * U))  # mostly the double


def test_finer_bounds_are_made_only_where_they_matter(monkeypatch):
    problem = problem_of([[1.0, 0.0], [-64.0, 64.0]], [1, -1], 1.0)
    w, b = np.array([0.25, -0.5]), 0.5
    monkeypatch.setattr(duality, "LONGER", False)
    coarse, fine = primal_value(problem, w, b, matters=math.inf), primal_value(problem, w, b)
    assert fine.error < 0.9 * coarse.error
    edge = 4.0 * coarse.error / (0.01 * coarse.value)
    assert sides(primal_value(problem, w, b, matters=1.001 * edge)) == sides(coarse)
    assert sides(primal_value(problem, w, b, matters=0.999 * edge)) == sides(fine)
    if np.finfo(np.longdouble).nmant == 63:
        monkeypatch.setattr(duality, "LONGER", True)
        long = primal_value(problem, w, b)
        assert long.error < 0.9 * fine.error
        edge = 4.0 * fine.error / (0.01 * fine.value)
        assert sides(primal_value(problem, w, b, matters=1.001 * edge)) == sides(fine)
        assert sides(primal_value(problem, w, b, matters=0.999 * edge)) == sides(long)


# ------------------------------------------------------------------------------------------------------------- dual


def weights_share(n, roundings, u=U):
    """How far the weights and the sums of the classes are off: 3 sums of them, n rows' products, and some more."""
    additions = 1 + n if n <= 32 else 65 if n <= 1055 else 97
    return 1.01 * gamma(roundings + 3 * additions + 8, u)


def expected_error(gain, bend, reach, t, share, off, roundings_of_square):
    """How far D can be below its computed value, in fractions, from the errors of its parts."""
    relative = Fraction(2.0 * gamma(roundings_of_square))
    gain, bend, reach, t, share, off = map(Fraction, (gain, bend, reach, t, share, off))
    farther = reach * (1 + relative) + off
    square = (farther**2 + bend * (1 + 4 * share)) * (1 + relative)
    value = t * (gain - t * (reach**2 + bend) / 2)
    return float(value - t * (gain * (1 - 4 * share) - t * square * (1 + relative) / 2))


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
@pytest.mark.parametrize("bias", [True, False])
def test_the_error_of_a_dual_value(loss, bias):
    """Sums of integers, all exact: what is stated is the analysis alone."""
    n, d = 2048, 3
    X = np.zeros((n, d))
    X[0::4], X[1::4], X[2::4], X[3::4] = [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, -0.25]
    signs = np.where(np.arange(n) % 2, -1.0, 1.0)
    a = np.full(n, 2.0**-10)
    problem = problem_of(X, signs, 2.0**-7, loss, bias)
    found = dual_in(np.float64, problem, a, 1.0, math.inf)
    gain = 2.0
    w = np.array([1.0, 0.25, 0.125])
    bend = 0.0 if loss is HINGE else 0.5 * n * 2.0**-20 * 2.0**7
    reach = float(np.sqrt(np.sum(w * w)))
    t = gain / (reach**2 + bend)
    t = min(1.0, t) if loss is HINGE else t
    share = weights_share(n, n + 1 + 1)
    off = share * gain * 1.0 * math.sqrt(d)
    assert found.value == close(t * (gain - 0.5 * t * (reach**2 + bend)), rel=1e-14)
    assert found.w_error == close(t * (off + gamma(4) * reach))
    share += gamma(4)
    assert found.error == close(expected_error(gain, bend, reach, t, share, off + gamma(4) * reach, 4 + 8), rel=2e-4)
    assert found.factors == close((t, t), rel=1e-15)
    assert found.w == close(t * w, rel=1e-15)


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
def test_the_error_of_a_long_w(loss):
    """Many columns and two rows: now the roundings of |w|^2 stand out."""
    d = 1100
    X = np.zeros((2, d))
    X[0] = 2.0**-5
    problem = problem_of(X, [1, -1], 8.0, loss)
    found = dual_in(np.float64, problem, np.ones(2), 2.0**-5, math.inf)
    reach, bend = math.sqrt(d * 2.0**-10), 0.0 if loss is HINGE else 0.125
    t = 2.0 / (reach * reach + bend)
    t = min(1.0, t) if loss is HINGE else t
    share = weights_share(2, 2 + 1 + 1)
    off = share * 2.0 * 2.0**-5 * math.sqrt(d) + gamma(4) * reach
    assert found.w_error == close(t * off)
    share += gamma(4)
    assert found.error == close(expected_error(2.0, bend, reach, t, share, off, 97 + 8), rel=0.02)


def test_the_error_where_all_numbers_are_the_least():
    """X = 0 and weights below the normal range: nothing is left but what vanishes."""
    problem = problem_of(np.zeros((4, 3)), [1, -1, 1, -1])
    found = dual_value(problem, np.full(4, 500 * LEAST))
    assert (found.value, found.error) == (2000 * LEAST, 10 * LEAST)
    assert found.w_error == LEAST * 6 * 5
    assert found.factors == (1.0, 1.0)
    found = dual_value(problem, np.full(4, 0.5))
    assert found.w_error == LEAST * 6 * 5 * 3  # gain = 2
    wide = problem_of(np.full((4, 3), 2.0**400), [1, -1, 1, -1])
    found = dual_value(wide, np.full(4, 500 * LEAST))
    assert found.w_error == close(LEAST * 6 * 5 * 2.0**400)


def test_weights_that_can_hardly_be_told_from_nothing_prove_nothing():
    """An error of more than half of the value."""
    problem = problem_of(np.zeros((2, 1)), [1, -1])
    for weight, known in ((10, True), (9, False), (1, False)):
        found = dual_in(np.float64, problem, np.full(2, weight * LEAST), 0.0, 0.0)
        assert math.isfinite(found.error) is known
        assert (found.value > 0.0) is known
        assert known or (found.factors, found.w_error) == ((0.0, 0.0), math.inf)


def test_without_weights_nothing_is_off():
    nothing = duality.no_dual_value(3)
    assert (nothing.value, nothing.error, nothing.factors) == (0.0, 0.0, (0.0, 0.0))
    assert nothing.w.tolist() == [0.0] * 3
    assert nothing.w_error == 0.0
    for a in ([0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [-1.0, 1.0], [math.nan, 1.0]):
        assert dual_value(problem_of([[0.0], [1.0]], [1, -1]), np.array(a)).error == 0.0
    unbounded = problem_of([[0.0], [1.0]], [1, -1], loss=SQUARED_HINGE)
    for a in ([1.0, math.inf], [math.inf, 1.0], [math.inf, math.inf]):
        assert dual_value(unbounded, np.array(a)).error == 0.0
    alone = problem_of([[0.0], [1.0]], [1, -1], bias=False)
    assert dual_value(alone, np.zeros(2)).error == 0.0
    assert dual_value(alone, np.array([0.0, 1.0])).value == 0.5
    assert dual_value(alone, np.array([1.0, 0.0])).value == 1.0  # at the edge of its box


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
def test_sums_of_weights_beyond_float64_prove_nothing(loss):
    for bias in (True, False):
        problem = problem_of([[0.0], [1.0], [2.0]], [1, -1, 1], 1e308, loss, bias)
        for a in (np.full(3, 1e308), np.array([1e308, 1e308, 0.0])):  # a class, or both together
            with np.errstate(over="ignore", invalid="ignore"):
                found = dual_in(np.float64, problem, a, 2.0, 0.0)
            assert (found.value, found.error) == (0.0, math.inf)


def test_the_edge_of_the_lighter_class():
    problem = problem_of([[0.0], [2.0**-800]], [1, -1], 1.0)
    for lighter, known in ((2.0**-900, False), (math.nextafter(2.0**-900, 1.0), True)):
        for a in ((1.0, lighter), (lighter, 1.0)):
            found = dual_in(np.float64, problem, np.array(a), 2.0**-800, 0.0)
            assert math.isfinite(found.error) is known


def test_the_edge_of_a_bend_that_vanishes():
    problem = problem_of(np.zeros((2, 1)), [1, -1], 1.0, SQUARED_HINGE)
    for a, known in ((2.0**-500, True), (math.nextafter(2.0**-500, 0.0), False)):
        assert math.isfinite(dual_in(np.float64, problem, np.full(2, a), 0.0, 0.0).error) is known


def test_heavier_classes_are_scaled_down_on_either_side():
    for signs, factors in (([1, -1, -1], (1.0, 0.5)), ([-1, 1, 1], (0.5, 1.0))):
        problem = problem_of([[1.0], [0.0], [-1.0]], signs, 1.0)
        found = dual_value(problem, np.full(3, 0.25))
        assert found.factors == factors
        assert found.value == 0.5 - 0.5 * 0.375**2
        assert found.w.tolist() == [0.375 * signs[0]]


def test_rows_of_their_own_length_instead_of_the_longest(monkeypatch):
    """One long row without weight: the bound for all rows is far off, and is replaced where that matters."""
    monkeypatch.setattr(duality, "LONGER", False)
    X = np.array([[3.0, 4.0], [0.0, 0.0], [2.0**14, 0.0]])
    problem = problem_of(X, [1, -1, -1], 1.0)
    a = np.array([2.0**-6, 2.0**-6, 0.0])
    coarse, fine = dual_value(problem, a, matters=math.inf), dual_value(problem, a)
    share, reach, gain = weights_share(3, 3 + 1 + 1), 5.0 * 2.0**-6, 2.0**-5
    far = share * gain * 2.0**14 * math.sqrt(2.0)
    assert coarse.w_error == close(far + gamma(4) * reach)
    assert fine.w_error == close(share * 2.0**-6 * 5.0 + gamma(4) * reach)
    edge = reach * far / (0.01 * coarse.value)
    assert dual_value(problem, a, matters=1.001 * edge).w_error == coarse.w_error
    assert dual_value(problem, a, matters=0.999 * edge).w_error == fine.w_error
    twice = 2.0 * problem.costs * 64.0  # t < 1 in it, too
    problem = problem_of(X, [1, -1, -1], twice)
    coarse = dual_value(problem, twice, matters=math.inf)
    t = coarse.factors[0]
    assert t < 0.5
    gain = 2.0 * float(twice[0])
    w = float(np.linalg.norm(coarse.w)) / t
    far = share * gain * 2.0**14 * math.sqrt(2.0)
    edge = t * t * w * far / (0.01 * coarse.value)
    assert dual_value(problem, twice, matters=1.001 * edge).w_error == coarse.w_error
    assert dual_value(problem, twice, matters=0.999 * edge).w_error < coarse.w_error
    assert dual_value(problem, a, largest=2.0**20, matters=math.inf).w_error > 50.0 * far * a[0] / twice[0]


@pytest.mark.skipif(np.finfo(np.longdouble).nmant != 63, reason="another long double")
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
def test_a_dual_value_in_long_doubles(loss):
    """The sums over rows are 2048 times as exact; what is left are the roundings of w, |w|^2 and D to doubles."""
    n = 2048
    X = np.where(np.arange(n)[:, None] % 2, -1.0, 1.0)
    problem = problem_of(X, X[:, 0], 1.0, loss)
    a = np.full(n, 2.0**-12)
    share = weights_share(n, n + 2, 2.0**-64)
    found = dual_value(problem, a)
    bend = 0.0 if loss is HINGE else 0.5 * n * 2.0**-24
    t = 0.5 / (0.25 + bend)
    t = min(1.0, t) if loss is HINGE else t
    off = share * 0.5 + gamma(4) * 0.5
    assert found.w_error == close(t * off)
    assert found.error == close(expected_error(0.5, bend, 0.5, t, share + gamma(4), off, 2 + 8), rel=0.05)
    short = dual_in(np.float64, problem, a, 1.0, 0.0)
    assert found.error < 0.1 * short.error
    edge = 4.0 * short.error / (0.01 * short.value)
    assert dual_value(problem, a, matters=1.001 * edge).error == short.error
    assert dual_value(problem, a, matters=0.999 * edge).error == found.error
