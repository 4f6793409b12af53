"""Rounding is accounted for: bounds that hold in fractions, whatever the numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles import best_margin_squared, functional_margin, is_lower_bound, is_upper_bound
from strategies import Data, labels, separable, tables, uneven, wild

from maxmargin.certificates.measure import dual_norm, hull_distance, objective, plane_margin
from maxmargin.certificates.passes import length, longest_row, rounding, values_of

both_norms = pytest.mark.parametrize("norm", ["l2", "l1"])
with_and_without_bias = pytest.mark.parametrize("fit_intercept", [True, False])
layouts = pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sparse.csr_array])
numbers = st.floats(-1e150, 1e150)
any_double = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def cancelling(draw):
    """Rows whose products with (1, 1, ..., 1) are tiny beside their terms."""
    n = draw(st.integers(2, 5))
    big = draw(hnp.arrays(np.float64, (n, 2), elements=st.floats(1.0, 1e16)))
    tiny = draw(hnp.arrays(np.float64, (n, 1), elements=st.floats(-1.0, 1.0)))
    return np.hstack([big, tiny, -big])


@st.composite
def planes(draw, rows):
    """A table, signs, and a plane that has nothing to do with them, or nearly cancels on them."""
    data = draw(tables(rows=rows, scales=st.just(0)))
    d = data.X.shape[1]
    w = draw(st.one_of(st.just(np.ones(d)), hnp.arrays(np.float64, d, elements=st.floats(-2.0, 2.0))))
    exponent = draw(st.sampled_from([0, 0, -500, 500]))
    return data, np.ldexp(w, exponent), float(np.ldexp(draw(st.floats(-1e3, 1e3)), exponent))


any_rows = st.one_of(cancelling(), wild(1e150), uneven(), wild(1e300, denormals=True), wild(1e-300, denormals=True))


@both_norms
@layouts
@settings(max_examples=60)
@given(claim=planes(any_rows))
def test_the_margin_of_a_plane_is_bounded_from_below(norm, layout, claim):
    data, w, b = claim
    assume(w.any())
    signs = data.y.astype(float)
    plane = plane_margin(layout(data.X), signs, w, b, norm)
    assert plane.lower <= plane.value
    assert is_lower_bound(plane.lower, data.X, signs, w, b, norm)
    if math.isfinite(plane.value):  # and from above, by as much on the other side of the computed value
        beyond = Fraction(plane.value) * 2 - Fraction(plane.lower)
        exact = functional_margin(data.X, signs, w, b)
        size = sum(abs(Fraction(v)) for v in w) if norm == "l1" else None
        if size is not None:
            assert exact <= beyond * size


@both_norms
@settings(max_examples=60)
@given(rows=hnp.arrays(np.float32, (4, 3), elements=st.floats(-(2.0**100), 2.0**100, width=32)), y=labels(4))
def test_float32_is_measured_in_float64(norm, rows, y):
    signs, w = y.astype(float), np.array([1.0, -3.0, 0.1])
    for X in (rows, sparse.csr_array(rows), np.asfortranarray(rows)):
        plane = plane_margin(X, signs, w, 0.5, norm)
        assert is_lower_bound(plane.lower, rows, signs, w, 0.5, norm)
        weights = np.array([1.0, 2.0, 0.25, 1e-3])
        hulls = hull_distance(X, signs, weights, norm, fit_intercept=True)
        assert is_upper_bound(hulls.upper, rows, signs, weights, norm, fit_intercept=True)
    assert np.allclose(values_of(rows, w), rows.astype(float) @ w, rtol=1e-12, atol=0.0) or not np.isfinite(rows).all()


@both_norms
@with_and_without_bias
@layouts
@settings(max_examples=40)
@given(data=tables(rows=any_rows, scales=st.just(0)), seed=st.integers(0, 2**32 - 1))
def test_any_weights_bound_the_margin_from_above(norm, fit_intercept, layout, data, seed):
    random = np.random.default_rng(seed)
    weights = random.choice([0.0, 1.0, 0.1, 1e-9, 5e-324, 1e300], len(data.y)) * random.uniform(0.5, 1.0, len(data.y))
    signs = data.y.astype(float)
    hulls = hull_distance(layout(data.X), signs, weights, norm, fit_intercept)
    assert is_upper_bound(hulls.upper, data.X, signs, weights, norm, fit_intercept)
    assert hulls.value <= hulls.upper
    if math.isfinite(hulls.upper):
        assert np.all(hulls.weights >= 0.0)
        assert hulls.weights.sum() == pytest.approx(2.0 if fit_intercept else 1.0)


@with_and_without_bias
@settings(max_examples=60)
@given(data=st.data())
def test_the_best_margin_lies_between_any_plane_and_any_weights(fit_intercept, data):
    known = data.draw(separable(fit_intercept, scales=st.sampled_from([0, 498, -498, 1000, -1000])))
    n, d = known.X.shape
    signs = known.y.astype(float)
    weights = data.draw(hnp.arrays(np.float64, n, elements=st.floats(0.0, 1.0)))
    assert hull_distance(known.X, signs, weights, "l2", fit_intercept).upper >= known.margin
    if known.axis:
        assert hull_distance(known.X, signs, weights, "l1", fit_intercept).upper >= known.margin
    w = data.draw(hnp.arrays(np.float64, d, elements=st.floats(-1.0, 1.0)))
    b = data.draw(st.floats(-10.0, 10.0)) if fit_intercept else 0.0
    assert plane_margin(known.X, signs, w, b, "l2").lower <= known.margin
    assert plane_margin(known.X, signs, w, b, "l1").lower <= known.margin


@with_and_without_bias
@settings(max_examples=25)
@given(table=tables(rows=st.one_of(cancelling(), wild(10.0)), scales=st.just(0)))
def test_bounds_enclose_the_exact_best_margin(fit_intercept, table):
    square = best_margin_squared(table.X, table.y, fit_intercept=fit_intercept)
    signs = table.y.astype(float)
    random = np.random.default_rng(0)
    for _ in range(3):
        upper = hull_distance(table.X, signs, random.random(len(signs)), "l2", fit_intercept).upper
        assert Fraction(upper) ** 2 >= square
        w, b = random.standard_normal(table.X.shape[1]), random.standard_normal() if fit_intercept else 0.0
        lower = plane_margin(table.X, signs, w, b, "l2").lower
        assert lower <= 0.0 or Fraction(lower) ** 2 <= square


def test_tame_data_lose_almost_nothing():
    random = np.random.default_rng(0)
    X = random.standard_normal((50, 4))
    signs = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    for rows in (X, sparse.csr_array(X)):
        plane = plane_margin(rows, signs, np.array([3.0, 0.0, 0.0, 0.0]), 0.0, "l2")
        assert plane.value == pytest.approx(np.abs(X[:, 0]).min(), rel=1e-15)
        assert plane.value - plane.lower < 1e-13
        assert plane.row == np.argmin(np.abs(X[:, 0]))
        assert np.allclose(plane.distances, np.abs(X[:, 0]), rtol=1e-14)
        assert (plane.w.tolist(), plane.b) == ([1.0, 0.0, 0.0, 0.0], 0.0)
        hulls = hull_distance(rows, signs, np.ones(50), "l2", fit_intercept=True)
        centres = X[signs > 0].mean(axis=0) - X[signs < 0].mean(axis=0)
        assert hulls.value == pytest.approx(np.linalg.norm(centres) / 2.0, rel=1e-14)
        assert hulls.upper - hulls.value < 1e-13
        assert np.allclose(hulls.p, centres)


@both_norms
@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e-150, 1e-20, 1.0, 1e20, 1e150, 1e200, 1e300])
def test_scaling_the_rows_scales_the_bounds(norm, scale):
    X = np.array([[1.0, 2.0], [3.0, 1.0], [-1.0, -1.0], [-2.0, 0.5]]) * scale
    signs, w, b = np.array([1.0, 1.0, -1.0, -1.0]), np.array([2.0, 1.0]), -0.5 * scale
    exact = functional_margin(X, signs, w, b) / Fraction(3 if norm == "l1" else math.sqrt(5.0))
    for rows in (X, sparse.csr_array(X)):
        plane = plane_margin(rows, signs, w, b, norm)
        assert plane.value == pytest.approx(float(exact), rel=1e-12, abs=1e-322)
        assert plane.value - plane.lower <= 1e-13 * scale + 1e-321
        assert longest_row(rows) == pytest.approx(math.sqrt(10.0) * scale, rel=1e-12, abs=1e-322)
        upper = hull_distance(rows, signs, np.ones(4), norm, fit_intercept=True).upper
        assert plane.lower <= upper < 3.0 * scale


@both_norms
@given(w=hnp.arrays(np.float64, 3, elements=any_double))
@example(w=np.full(3, 1.7e308))
@example(w=np.array([5e-324, 0.0, -5e-324]))
def test_length_is_right_for_all_doubles(norm, w):
    exact = [Fraction(v) for v in w]
    size = length(w, norm)
    if norm == "l1":
        expected = sum(abs(v) for v in exact)
        assert size == math.inf or abs(Fraction(size) - expected) <= Fraction(4, 2**53) * expected
        assert (size == math.inf) <= (expected > Fraction(1.79e308))
    elif size != math.inf:
        square = sum(v * v for v in exact)
        away = 1 + Fraction(8, 2**53)
        tiny = Fraction(math.ulp(0.0))
        assert max(Fraction(0), Fraction(size) - tiny) ** 2 <= square * away
        assert square <= (Fraction(size) * away + tiny) ** 2


def test_length_of_nothing_and_of_what_is_not_finite():
    assert length(np.zeros(0), "l2") == length(np.zeros(3), "l1") == 0.0
    assert length(np.array([1.0, -np.inf]), "l2") == math.inf
    assert math.isnan(length(np.array([1.0, np.nan]), "l1"))
    assert length(np.array([1.0, -3.0]), "max") == 3.0
    assert (dual_norm("l2"), dual_norm("l1")) == ("l2", "max")


@pytest.mark.parametrize(
    "plane", [(0.0, 0.0, 1.0), (np.nan, 1.0, 0.0), (np.inf, 1.0, 0.0), (1.0, 0.0, np.inf), (1.0, 0.0, np.nan)]
)
def test_no_plane_has_no_margin(plane):
    plane = plane_margin(np.eye(2), np.array([1.0, -1.0]), np.array(plane[:2]), plane[2], "l2")
    assert (plane.value, plane.lower, plane.row) == (-math.inf, -math.inf, -1)
    assert np.isnan(plane.distances).all()


def test_no_rows_prove_nothing():
    plane = plane_margin(np.zeros((0, 2)), np.zeros(0), np.ones(2), 0.0, "l2")
    assert plane.lower == -math.inf
    assert hull_distance(np.zeros((0, 2)), np.zeros(0), np.zeros(0), "l2", fit_intercept=False).upper == math.inf


def test_a_plane_far_beyond_the_numbers_is_no_plane():
    """w and b are doubles, but b / |w| is not."""
    plane = plane_margin(np.eye(2), np.array([1.0, -1.0]), np.array([5e-324, 0.0]), 1e300, "l2")
    assert plane.lower == -math.inf


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0, 0.0], [np.inf, 1.0], [np.nan, 1.0]])
def test_a_class_without_weight_bounds_nothing(weights):
    hulls = hull_distance(np.eye(2), np.array([1.0, -1.0]), np.array(weights), "l2", fit_intercept=True)
    assert hulls.upper == math.inf


@both_norms
def test_the_largest_doubles_do_not_overflow(norm):
    X = np.array([[1.7e308, 1.7e308], [-1.7e308, -1.7e308]])
    signs, w = np.array([1.0, -1.0]), np.array([1.7e308, 1.7e308])
    for rows in (X, sparse.csr_array(X)):
        plane = plane_margin(rows, signs, w, 0.0, norm)
        assert 1.6e308 < plane.lower <= plane.value
        assert is_lower_bound(plane.lower, X, signs, w, 0.0, norm)
        assert hull_distance(rows, signs, np.ones(2), norm, fit_intercept=False).upper >= plane.lower


@both_norms
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_products_that_vanish_or_double(norm, layout):
    """In denormals 0.1275 times 4 units is 1 unit: both products are twice too large, and the bound knows."""
    X, signs = np.full((2, 2), 4 * math.ulp(0.0)), np.array([1.0, 1.0])
    for w in (np.full(2, 0.51), np.full(2, 0.49), np.array([1.0, 1e-300])):
        plane = plane_margin(layout(X), signs, w, 0.0, norm)
        assert is_lower_bound(plane.lower, X, signs, w, 0.0, norm)
        hulls = hull_distance(layout(X), signs, np.array([0.51, 0.49]), norm, fit_intercept=False)
        assert is_upper_bound(hulls.upper, X, signs, np.array([0.51, 0.49]), norm, fit_intercept=False)


def test_objective():
    assert objective(0.5, "l2") == 2.0
    assert objective(0.5, "l1") == 2.0
    assert objective(0.25, "l1") == 4.0
    assert objective(0.0, "l2") == objective(-1.0, "l1") == objective(math.nan, "l2") == math.inf
    assert objective(math.inf, "l2") == objective(math.inf, "l1") == 0.0
    assert objective(1e-200, "l2") == math.inf


def test_rounding_is_highams_gamma():
    assert rounding(1) == 2.0**-53 / (1.0 - 2.0**-53)
    assert rounding(1000) == pytest.approx(1000 * 2.0**-53)


def test_rows_of_many_sizes_in_sparse_form():
    """The longest row decides how far rounding can reach, even where its square vanishes or overflows."""
    for scale in (1e-200, 1e200):
        data = Data(np.array([[1.0, 0.1], [0.3, -1.0]]) * scale, np.array([1, -1]))
        w = np.array([0.1, 1.0])
        plane = plane_margin(sparse.csr_array(data.X), data.y.astype(float), w, 0.0, "l2")
        assert is_lower_bound(plane.lower, data.X, data.y, w, 0.0, "l2")
        assert plane.lower > 0.0
        assert plane.value > plane.lower
