"""The error that is stated with each side of the soft margin is the one that the analysis gives: no less, and no more.

Numbers are chosen so that sums are exact, or so that one term of the error stands out; what is expected is written down
from the analysis alone. A bound that is too small is a false proof, one that is too large asks for work without need.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from random_sparse import random_sparse

from maxmargin.certificates import duality
from maxmargin.certificates.duality import DualValue, PrimalValue, dual_in, dual_value, primal_from, primal_value
from maxmargin.data import matrix
from maxmargin.problems.losses import HINGE, SQUARED_HINGE
from maxmargin.problems.statement import SoftMargin

LEAST = 5e-324
U = 2.0**-53
FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def gamma(terms, u=U):
    """The relative error of `terms` roundings, to first order and a little more."""
    return terms * u * (1.0 + terms * u)


def close(value, rel=1e-6):
    return pytest.approx(value, rel=rel, abs=0.0)


def problem_of(X, signs, costs=1.0, loss=HINGE, bias=True):
    X = X if sparse.issparse(X) else np.asarray(X, dtype=float)
    signs = np.asarray(signs, dtype=float)
    return SoftMargin(X, signs, np.broadcast_to(np.asarray(costs, dtype=float), signs.shape).copy(), loss, bias)


# ----------------------------------------------------------------------------------------------------- the pieces


def test_roundings_of_both_types_of_numbers():
    for terms in (1, 4, 1000):
        share = Fraction(terms, 2**53)
        assert Fraction(duality.rounding(terms)) == pytest.approx(float(share / (1 - share)), rel=1e-15)
    assert duality.rounding(2**52) == 1.0  # k u = 1/2
    long = float(np.finfo(np.longdouble).eps) / 2.0
    assert duality.rounding(3, np.longdouble) == close(3.0 * long)


def test_long_doubles_are_used_where_they_are_longer():
    bits = np.finfo(np.longdouble).nmant
    assert duality.LONGER is (bits in (63, 112))


def test_bounds_are_four_errors_away():
    assert PrimalValue(1.0, 0.125, np.zeros(1), 0.0).upper == 1.5
    assert DualValue(1.0, 0.125, (1.0, 1.0), np.zeros(1), 0.0).lower == 0.5
    assert DualValue(1.0, 0.5, (1.0, 1.0), np.zeros(1), 0.0).lower == 0.0


def test_slack_is_what_a_row_misses_if_it_misses_something():
    assert PrimalValue(1.0, 0.0, np.array([-2.0, 0.0, 0.25]), 0.0).slack.tolist() == [0.0, 0.0, 0.25]


def test_the_edge_of_what_is_negligible():
    """Four errors against a hundredth of the gap that matters."""

    def found(error):
        return PrimalValue(100.0, error, np.zeros(1), 0.0)

    assert duality.negligible(found(0.25), 1.0)
    assert not duality.negligible(found(math.nextafter(0.25, 1.0)), 1.0)
    assert duality.negligible(found(0.125), 0.5)
    assert duality.negligible(found(0.0), 0.0)
    assert not duality.negligible(found(LEAST), 0.0)


@pytest.mark.parametrize("value", [1.0, 1.5, 1.9999999, 2.0, 3.0, 0.75, 0.5, 1e-300, 1e300, 2.0**1023, 5e-324, 1e-310])
def test_a_power_of_two_just_below(value):
    power = duality.power_below(value)
    assert Fraction(power) <= Fraction(value) < 2 * Fraction(power)
    assert math.frexp(power)[0] == 0.5


@pytest.mark.parametrize("value", [0.0, math.inf, math.nan])
def test_no_power_of_two_is_below(value):
    assert duality.power_below(value) == 1.0


def test_how_many_additions_a_sum_takes():
    """One after the other up to 32 terms; then 32 for each time that a 32nd of them is left, and for the last."""
    expected = {0: 1, 1: 2, 31: 32, 32: 33, 33: 65, 1024: 65, 1055: 65, 1056: 97, 32**3: 97, 32**3 + 32**2: 129}
    for n, additions in expected.items():
        values = np.arange(n, dtype=float)
        assert duality.total(values) == (n * (n - 1) // 2, additions)
    first, last = np.zeros(1000), np.zeros(1000)
    first[0] = last[-1] = 1.0
    assert duality.total(first)[0] == duality.total(last)[0] == 1.0
    assert duality.total(np.ones(3, dtype=np.longdouble))[0].dtype == np.longdouble


def test_the_longest_row():
    assert duality.terms_per_row(np.zeros((3, 7))) == 7
    assert duality.terms_per_row(sparse.csr_array([[0.0, 0.0], [1.0, 2.0], [0.0, 1.0]])) == 2
    assert duality.terms_per_row(sparse.csr_array((3, 7))) == 0
    assert duality.terms_per_row(sparse.csr_array((0, 7))) == 0


def test_blocks_of_a_sparse_table_are_as_large_as_they_may_be(monkeypatch):
    random = np.random.default_rng(0)
    X = random_sparse((60, 20), 0.3, random)
    X = sparse.vstack([sparse.csr_array((2, 20)), X, sparse.csr_array((3, 20)), X[:1]], format="csr")
    counts = np.diff(X.indptr)
    for most in (1, 5, 6, 17, 50, 10**5):
        monkeypatch.setattr(duality, "SPARSE_BLOCK", most)
        end = 0
        for rows, part in duality.row_blocks(X):
            assert rows.start == end
            end = rows.stop
            assert part.shape == (rows.stop - rows.start, 20)
            assert (part.toarray() == X[rows].toarray()).all()
            assert part.nnz <= most or rows.stop == rows.start + 1
            assert end == len(counts) or part.nnz + counts[end] > most  # the next row does not fit
        assert end == len(counts)
    assert np.shares_memory(part.data, X.data)  # all of it is one block, of the same numbers


def test_a_block_of_a_sparse_table_takes_some_megabytes():
    assert 2**18 <= duality.SPARSE_BLOCK <= 2**24


def test_blocks_of_a_dense_table_are_views():
    X = np.arange(300_000.0).reshape(-1, 3)
    found = list(duality.row_blocks(X))
    assert len(found) > 1
    assert [rows.start for rows, _ in found] == [0, *(rows.stop for rows, _ in found[:-1])]
    assert found[-1][0].stop == len(X)
    assert all(np.shares_memory(part, X) and (part == X[rows]).all() for rows, part in found)
    assert next(duality.row_blocks(X.astype(np.float32)))[1].dtype == np.float64


@FORMS
def test_products_with_a_table(form):
    X = form(np.array([[1.0, -2.0, 0.0], [0.0, 0.0, -3.0]]))
    w = np.array([4.0, 0.5, 2.0])
    for number in (np.float64, np.longdouble):
        values = duality.values_of(X, w.astype(number))
        assert values.tolist() == [3.0, -6.0]
        assert values.dtype == number
    assert duality.sizes_of(X, w).tolist() == [5.0, 6.0]
    assert duality.values_of(form(np.full((1, 1), 1e200)), np.array([1e200])).tolist() == [math.inf]


@FORMS
@pytest.mark.parametrize("number", [np.float64, np.longdouble])
def test_combinations_count_their_roundings(form, number, monkeypatch):
    """A term is one of the rows of its block, then its block's sum is one of the blocks; and it was a product."""
    random = np.random.default_rng(1)
    X = random.integers(-3, 4, size=(50, 4)).astype(float)
    weights = random.integers(0, 5, size=50).astype(number)
    expected = (X.T @ weights.astype(float)).tolist()
    for rows in (50, 30, 7):
        monkeypatch.setattr(matrix, "BLOCK", 4 * rows)
        table = form(X)
        longest, count = rows, -(-50 // rows)
        if form is sparse.csr_array:
            monkeypatch.setattr(duality, "SPARSE_BLOCK", 3 * rows)
            lengths = [part.shape[0] for _, part in duality.row_blocks(table)]
            longest, count = max(lengths), len(lengths)
        found, roundings = duality.combination(table, weights)
        assert found.tolist() == expected
        assert found.dtype == number
        assert roundings == longest + count + 1
    assert duality.combination(form(X)[:0], weights[:0])[1] == 1


@FORMS
def test_lengths_of_rows_and_what_vanishes_when_it_is_squared(form):
    for scale in (1.0, 2.0**-500, 2.0**500, 2.0**1000):
        X = np.array([[3.0, 4.0], [0.0, -0.5], [1e-170, 0.0], [0.0, 0.0]]) * scale
        lengths = duality.lengths_of(form(X), 4.0 * scale)
        assert lengths[:2] == pytest.approx([5.0 * scale, 0.5 * scale], rel=1e-14)
        assert lengths[2:] == pytest.approx(np.full(2, 4e-150 * scale), rel=1e-12, abs=0.0)


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
        assert duality.loss_of(problem, missing)[0] == paid
        assert duality.loss_of(problem, missing, off) == (moved, 5)
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
        assert primal_value(problem, w, b, **given)[:2] == fine[:2]
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
    assert primal_value(problem, w, b, matters=1.001 * edge)[:2] == coarse[:2]
    assert primal_value(problem, w, b, matters=0.999 * edge)[:2] == fine[:2]
    if np.finfo(np.longdouble).nmant == 63:
        monkeypatch.setattr(duality, "LONGER", True)
        long = primal_value(problem, w, b)
        assert long.error < 0.9 * fine.error
        edge = 4.0 * fine.error / (0.01 * fine.value)
        assert primal_value(problem, w, b, matters=1.001 * edge)[:2] == fine[:2]
        assert primal_value(problem, w, b, matters=0.999 * edge)[:2] == long[:2]


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
        assert known or (found.factors, found.w_error) == ((0.0, 0.0), 0.0)


def test_without_weights_nothing_is_off():
    nothing = duality.no_dual_value(3)
    assert nothing[:3] == (0.0, 0.0, (0.0, 0.0))
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
