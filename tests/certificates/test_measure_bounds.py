"""The bounds of margins in float64, pinned from both sides: closed forms where one term of the error stands out."""

import math
import sys

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.certificates import passes
from maxmargin.certificates.measure import hull_distance, measured_plane, objective, plane_margin
from maxmargin.certificates.passes import length, longest_row, margins_of, point_of, rounding
from maxmargin.data.table import as_table

U = 2.0**-53
LEAST = math.ulp(0.0)
SQRT2 = math.sqrt(2.0)


def near(value, rel=1e-6):
    return pytest.approx(value, rel=rel, abs=0.0)


# ------------------------------------------------------------------------------------------------------------- planes


def plane(X, w, b=0.0, norm="l2", signs=None, form=np.array):
    X = np.array(X, dtype=float)
    return plane_margin(form(X), np.ones(len(X)) if signs is None else np.array(signs), np.array(w), b, norm)


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, sparse.csr_array])
def test_what_products_lose(form):
    """Margin 0 of terms of 1: gamma of two terms and the bias, the magnitude, and 1 % more."""
    for norm, size in (("l2", SQRT2), ("l1", 2.0)):
        found = plane([[1.0, -1.0], [9.0, 9.0]], [1.0, 1.0], norm=norm, form=form)
        assert (found.value, found.row) == (0.0, 0)
        assert found.lower == near(-1.01 * 4 * U * 2.0 * 9.0 / size)
    found = plane([[1.0], [3.0]], [1.0], -1.0, form=form)
    assert (found.value, found.row) == (0.0, 0)
    assert found.lower == near(-1.01 * 3 * U * 4.0)
    found = plane([[-1.0], [-3.0]], [1.0], 1.0, signs=[-1.0, -1.0], form=form)
    assert found.lower == near(-1.01 * 3 * U * 4.0)
    assert found.distances.tolist() == [0.0, 2.0]
    assert (found.w.tolist(), found.b) == ([1.0], 1.0)


def test_sparse_rows_are_measured_by_their_entries():
    """Two entries of three columns; the magnitude is the smaller of |w|_2 |x|_2 and |w|_1 |x|_max."""
    found = plane([[1.0, -1.0, 0.0]], [1.0, 1.0, 0.0], form=sparse.csr_array)
    assert found.lower == near(-1.01 * 4 * U * 2.0 / SQRT2)
    found = plane([[1.0, -1.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0]], [1.0, 1.0, 1.0, 1.0], form=sparse.csr_array)
    assert found.lower == near(-1.01 * 4 * U * 6.0 / 2.0)  # 2 x 3 rather than 4 x 3
    found = plane([[1.0, -1.0, 1.0, 1.0]], [1.0, 1.0, 0.0, 0.0], form=sparse.csr_array)
    assert found.lower == near(-1.01 * 6 * U * 2.0 / SQRT2)  # 2 x 1 rather than sqrt 2 x 2
    found = plane([[0.0, 2.0], [0.0, 1.0]], [0.0, 1.0], -1.0, form=sparse.csr_array)
    assert found.lower == near(-1.01 * 3 * U * 3.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_the_norm_and_the_division_lose(sign):
    """A margin of 1 or -1 in a hundred columns, of which one counts: gamma of d + 2 and twice that of d + 4."""
    x = np.zeros((1, 100))
    x[0, 0] = sign
    found = plane(x, [1.0, *[0.0] * 99])
    assert found.value == sign
    steps = 2.0 if sign > 0.0 else 4.0  # two doubles further, of 2^-53 below 1 and 2^-52 below -1
    assert (found.value - found.lower) / U == pytest.approx(1.01 * 102 + 2 * 104 + steps, abs=2.1)


def test_what_underflow_loses():
    """w is scaled to 1/4: 3 least numbers are 12 of the margin, and two more."""
    for form in (np.array, sparse.csr_array):
        terms = 3 if form is np.array else 2
        assert plane([[0.0]], [1.0], form=form).lower == -(4 * terms + 2) * LEAST
    assert plane([[0.0, 0.0]], [0.5, 0.0]).lower == -(8 * 4 + 2) * LEAST
    assert plane([[0.0, 0.0, 0.0]], [0.5, 0.0, 0.0]).lower == -(8 * 5 + 2) * LEAST
    assert plane([[0.0] * 4], [0.5, 0.0, 0.0, 0.0]).lower == -(16 * 6 + 2) * LEAST
    assert plane([[0.0]], [2.0**900]).lower == -14 * LEAST


def test_the_plane_is_scaled_to_a_length_of_one():
    found = plane([[3.0, 4.0], [6.0, 8.0]], [30.0, 40.0], 50.0)
    assert found.value == near(6.0)
    assert found.row == 0
    assert found.w.tolist() == [0.6, 0.8]
    assert found.b == 1.0
    assert found.distances == near([6.0, 11.0], rel=1e-15)
    found = plane([[-6.0, -8.0], [-3.0, -4.0]], [3.0, 4.0], 0.0, norm="l1", signs=[-1.0, -1.0])
    assert (found.value, found.row) == (near(25.0 / 7.0, rel=1e-15), 1)
    assert found.w == near([3.0 / 7.0, 4.0 / 7.0], rel=1e-15)


def test_where_there_is_no_plane_all_is_nan():
    for w, b in (([0.0, 0.0], 1.0), ([math.inf, 0.0], 0.0), ([1.0, 0.0], math.nan), ([1.0, math.nan], 0.0)):
        found = plane([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]], w, b)
        assert (found.value, found.lower, found.row) == (-math.inf, -math.inf, -1)
        assert np.isnan(found.distances).all()
        assert np.isnan(found.w).all()
        assert (len(found.distances), len(found.w)) == (3, 2)
        assert math.isnan(found.b)
    with np.errstate(all="ignore"):
        assert plane([[1.0, math.inf]], [1.0, 1.0]).lower == -math.inf
    assert plane(np.zeros((0, 2)), [1.0, 1.0]).row == -1


def test_a_margin_beyond_all_doubles_is_bounded_by_one():
    found = plane([[1.7e308, 1.7e308]], [1.0, 1.0])
    assert found.value == math.inf
    assert found.lower == near(sys.float_info.max, rel=1e-14)
    assert found.lower < sys.float_info.max


@pytest.mark.parametrize(("rows", "decided"), [(100_000, True), (100_001, False)])
def test_how_large_a_table_is_read_as_integers(rows, decided):
    """Two rows as near to the plane x = 1 as doubles can be: float64 is in doubt, and integers are not."""
    X = np.tile([[-2.0], [4.0]], (rows // 2 + 1, 1))[:rows]
    X[:2] = [[math.nextafter(1.0, 0.0)], [math.nextafter(1.0, 2.0)]]
    found = measured_plane(X, np.sign(X[:, 0] - 1.0), np.ones(1), -1.0, "l2")
    assert (found.lower > 0.0) == decided
    assert (found.value, found.row) == (U, 0)


# -------------------------------------------------------------------------------------------------------------- hulls


def hulls(X, signs, weights, norm="l2", fit_intercept=True, form=np.array):
    X, signs, weights = np.array(X, dtype=float), np.array(signs), np.array(weights)
    return hull_distance(form(X), signs, weights, norm, fit_intercept)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_what_the_sum_of_the_rows_loses(form):
    """Points that meet: gamma of n + 3, half of the spread of both, or the spread of one."""
    X, signs = [[1.0, 1.0], [1.0, 1.0]], [1.0, -1.0]
    for norm, size in (("l2", SQRT2), ("l1", 1.0)):
        found = hulls(X, signs, [1.0, 1.0], norm, form=form)
        assert found.value == 0.0
        assert found.upper == near(1.01 * 5 * U * size)
        found = hulls(X, signs, [1.0, 1.0], norm, fit_intercept=False, form=form)
        assert found.value == 0.0
        assert found.upper == near(1.01 * 5 * U * size)
    found = hulls([[3.0], [3.0], [1.0]], [1.0, -1.0, 1.0], [2.0, 8.0, 0.0], form=form)
    assert found.upper == near(1.01 * 6 * U * 3.0)
    assert found.weights.tolist() == [1.0, 1.0, 0.0]


def test_what_the_norm_loses():
    x = np.zeros((2, 100))
    x[:, 0] = [1.0, -1.0]
    for norm in ("l2", "l1"):
        found = hulls(x, [1.0, -1.0], [1.0, 1.0], norm)
        assert found.value == 1.0
        assert (found.upper - 1.0) / U == near(1.01 * 5 + 2 * 104, rel=3 / 200)
        assert found.p.tolist() == [2.0, *[0.0] * 99]


def test_what_vanishes_in_the_hulls():
    """Rows of zeros: a least number for each row, two more, in every column; half of it with a bias."""
    for rows, columns in ((2, 1), (2, 3), (5, 2)):
        X, signs = np.zeros((rows, columns)), [1.0, *[-1.0] * (rows - 1)]
        assert hulls(X, signs, np.ones(rows), fit_intercept=False).upper == (rows + 2) * columns * LEAST
        both = hulls(X, signs, np.ones(rows)).upper
        assert both / LEAST == pytest.approx((rows + 2) * columns / 2, abs=0.5)


def test_weights_are_shares_of_their_class():
    found = hulls([[1.0], [2.0], [5.0]], [-1.0, -1.0, 1.0], [1.0, 3.0, 7.0])
    assert found.weights.tolist() == [0.25, 0.75, 1.0]
    assert found.p.tolist() == [3.25]
    assert found.value == 1.625
    found = hulls([[1.0], [2.0], [5.0]], [-1.0, -1.0, 1.0], [1.0, 3.0, 4.0], fit_intercept=False)
    assert found.weights.tolist() == [0.125, 0.375, 0.5]
    assert found.p.tolist() == [1.625]
    huge = hulls([[1.0], [2.0], [5.0]], [-1.0, -1.0, 1.0], [1e308, 1.7e308, 4.0])
    assert huge.weights == near([10 / 27, 17 / 27, 1.0], rel=1e-14)
    tiny = hulls([[1.0], [2.0], [5.0]], [-1.0, -1.0, 1.0], [LEAST, 3 * LEAST, LEAST])
    assert tiny.weights.tolist() == [0.25, 0.75, 1.0]


@pytest.mark.parametrize("weights", [[0.0, 1.0], [1.0, 0.0], [math.nan, 1.0]])
def test_a_class_without_weight_has_no_point(weights):
    found = hulls([[1.0, 2.0], [3.0, 4.0]], [1.0, -1.0], weights)
    assert (found.value, found.upper) == (math.inf, math.inf)
    assert np.isnan(found.p).all()
    assert len(found.p) == 2
    assert hulls([[1.0, 2.0]], [1.0], [1.0], fit_intercept=False).value == near(math.sqrt(5.0), rel=1e-15)


# -------------------------------------------------------------------------------------------------------------- parts


def test_lengths_at_the_ends_of_the_range():
    assert length(np.array([3.0, -4.0]), "l2") == 5.0
    assert length(np.array([3.0, -4.0]), "l1") == 7.0
    assert length(np.array([3.0, -4.0]), "max") == 4.0
    assert length(np.array([3.0, 4.0]) * 2.0**1000, "l2") == 5.0 * 2.0**1000
    assert length(np.array([3.0, 4.0]) * 2.0**-1072, "l2") == 5.0 * 2.0**-1072
    largest = np.full(4, sys.float_info.max / 2)
    assert length(largest, "l2") == sys.float_info.max
    assert length(np.array([-math.inf, 1.0]), "l1") == math.inf
    assert length(np.array([1.0, -1.0]), "l1") == 2.0
    for end in (LEAST, sys.float_info.max):
        assert length(np.array([end]), "l2") == length(np.array([-end]), "l1") == end
    with np.errstate(all="raise"):  # nothing is squared or divided that is not finite or zero
        assert length(np.array([math.inf, -math.inf]), "l2") == math.inf
        assert length(np.zeros(2), "l2") == 0.0


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_the_longest_row(form):
    for scale in (1.0, 2.0**600, 2.0**-600):
        X = form(np.array([[0.0, 1.0], [3.0, -4.0], [2.0, 2.0]]) * scale)
        assert longest_row(X) == near(5.0 * scale, rel=1e-15)
    assert longest_row(form(np.zeros((2, 2)))) == 0.0


def test_tables_of_any_precision_are_multiplied_in_float64(monkeypatch):
    w = np.array([1.0, 2.0**-30])
    for X in (np.ones((3, 2)), np.ones((3, 2), np.float32), sparse.csr_array(np.ones((3, 2), np.float32))):
        assert margins_of(as_table(X), w)[0].tolist() == [1.0 + 2.0**-30] * 3
        assert point_of(X[:2], w).tolist() == [1.0 + 2.0**-30] * 2

    def margins(rows):
        return margins_of(as_table(np.array(rows)), w)

    values, largest = margins([[1.0, -5.0], [2.0, 3.0]])
    assert largest == 5.0
    assert values.tolist() == [1.0 - 5.0 * 2.0**-30, 2.0 + 3.0 * 2.0**-30]
    monkeypatch.setattr(passes, "blocks", lambda X: [slice(0, 1), slice(1, 2)])
    assert margins([[1.0, -5.0], [2.0, 3.0]])[1] == 5.0
    assert margins([[1.0, -2.0], [2.0, 3.0]])[1] == 3.0
    assert margins([[0.0, 0.0], [-0.5, 0.0]])[1] == 0.5


def test_gamma_and_objective():
    assert rounding(2**52) == 1.0  # 1/2 over 1/2
    assert rounding(1) / U == 1.0 + 2.0**-52
    assert objective(4.0, "l2") == 1.0 / 32.0
    assert objective(4.0, "l1") == 0.25
    assert objective(0.0, "l2") == objective(-0.0, "l1") == math.inf
    assert objective(LEAST, "l1") == math.inf
    assert objective(math.inf, "l2") == 0.0
