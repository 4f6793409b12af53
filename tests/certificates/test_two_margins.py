"""Two margins, l2 and l1: each bounds the other by a function of d alone.

    margin_p = max_{w,b} min_i y_i (w.x_i + b) / |w|_p

|w|_2 <= |w|_1 <= sqrt(d) |w|_2, so every plane's margins obey  margin_1 <= margin_2 <= sqrt(d) margin_1,  and with them
the largest ones. Rows scaled to length one, each in the norm dual to its margin's, |x|_2 and |x|_max, obey in the same
way  margin_1 / sqrt(d) <= margin_2 <= sqrt(d) margin_1.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles import NOT, SEPARABLE, best_margin_squared, linear_program_margin, truth
from strategies import inseparable, separable, tables, weakly_separable

from maxmargin import HardMarginSVM, NotSeparableError, Winnow, separability
from maxmargin.certificates.measure import plane_margin
from maxmargin.certificates.passes import length
from maxmargin.data import synthetic

with_and_without_bias = pytest.mark.parametrize("fit_intercept", [True, False])
ROUNDING = 1e-9


def certificate_of(norm, X, y, fit_intercept):
    try:
        return HardMarginSVM(norm, fit_intercept=fit_intercept).fit(X, y).certificate_
    except NotSeparableError as error:
        return error.certificate


@given(w=hnp.arrays(np.float64, st.integers(1, 6), elements=st.floats(-1e100, 1e100)))
def test_norms_bound_each_other(w):
    l1, l2 = length(w, "l1"), length(w, "l2")
    assert l2 <= l1 * (1.0 + 1e-15)
    assert l1 <= math.sqrt(len(w)) * l2 * (1.0 + 1e-15)


def test_both_ends_are_reached():
    """Along an axis the margins are equal; along the diagonal they differ by sqrt(d)."""
    d = 4
    diagonal = np.ones(d)
    X, signs = np.array([diagonal, -diagonal]), np.array([1.0, -1.0])
    l1, l2 = (plane_margin(X, signs, diagonal, 0.0, norm).value for norm in ("l1", "l2"))
    assert (l1, l2) == (1.0, 2.0)
    along = np.eye(d)[0]
    l1, l2 = (plane_margin(X, signs, along, 0.0, norm).value for norm in ("l1", "l2"))
    assert l1 == l2 == 1.0


@settings(max_examples=60)
@given(data=tables(), seed=st.integers(0, 1000))
def test_every_plane_obeys(data, seed):
    random = np.random.default_rng(seed)
    d = data.X.shape[1]
    w, b = random.standard_normal(d), float(random.standard_normal() * np.abs(data.X).max())
    l1, l2 = (plane_margin(data.X, data.y.astype(float), w, b, norm).value for norm in ("l1", "l2"))
    if l2 >= 0.0:
        assert l1 <= l2 * (1.0 + ROUNDING)
        assert l2 <= math.sqrt(d) * l1 * (1.0 + ROUNDING)
    else:
        assert l1 < 0.0


@with_and_without_bias
@settings(max_examples=40)
@given(data=st.data())
def test_the_proven_bounds_obey(fit_intercept, data):
    """Whoever finds them: a lower bound of one margin is never above the upper bound of the other."""
    known = data.draw(separable(fit_intercept))
    l2 = certificate_of("l2", known.X, known.y, fit_intercept)
    l1 = Winnow(fit_intercept=fit_intercept, max_updates=3000).fit(known.X, known.y).certificate_
    d = known.X.shape[1]
    assert (l1.norm, l2.norm) == ("l1", "l2")
    assert l1.margin_lower <= l2.margin_upper
    assert l2.margin_lower <= math.sqrt(d) * l1.margin_upper * (1.0 + ROUNDING)
    assert l1.margin_lower <= known.margin


@with_and_without_bias
@settings(max_examples=40)
@given(data=st.data())
def test_the_oracles_obey(fit_intercept, data):
    """The exact l2 margin by enumeration, the l1 margin by a linear program that is not ours."""
    known = data.draw(separable(fit_intercept, scales=st.just(0)))
    l2 = math.sqrt(best_margin_squared(known.X, known.y, fit_intercept=fit_intercept))
    l1 = linear_program_margin(known.X, known.y, fit_intercept=fit_intercept)
    assert l1 <= l2 * (1.0 + ROUNDING)
    assert l2 <= math.sqrt(known.X.shape[1]) * l1 * (1.0 + ROUNDING)


@with_and_without_bias
@settings(max_examples=50)
@given(data=st.data())
def test_the_exact_margins_bound_each_other(fit_intercept, data):
    known = data.draw(separable(fit_intercept))
    l1, l2 = (certificate_of(norm, known.X, known.y, fit_intercept) for norm in ("l1", "l2"))
    assert l1.is_separable
    assert l2.is_separable
    assert l1.margin_lower <= l2.margin_upper
    assert l2.margin_lower <= math.sqrt(known.X.shape[1]) * l1.margin_upper * (1.0 + ROUNDING)
    if known.axis:
        assert l1.margin_lower <= known.margin <= l1.margin_upper
        assert l1.margin_lower == pytest.approx(known.margin, rel=1e-8)
    for certificate in (l1, l2):
        assert certificate.verify(known.X, known.y)
        assert certificate.verify(known.X, known.y, exact=True)


@with_and_without_bias
@settings(max_examples=40)
@given(data=st.data())
def test_the_exact_l1_margin_is_the_linear_programs(fit_intercept, data):
    known = data.draw(separable(fit_intercept, scales=st.just(0)))
    certificate = certificate_of("l1", known.X, known.y, fit_intercept)
    expected = linear_program_margin(known.X, known.y, fit_intercept=fit_intercept)
    assert certificate.margin_lower <= expected * (1.0 + 1e-7)
    assert certificate.margin_upper >= expected * (1.0 - 1e-7)
    assert certificate.margin_lower == pytest.approx(expected, rel=1e-7)


@with_and_without_bias
@settings(max_examples=50)
@given(data=st.data())
def test_one_is_positive_exactly_when_the_other_is(fit_intercept, data):
    made = st.one_of(
        tables(scales=st.just(0)), weakly_separable(fit_intercept), inseparable(), separable(fit_intercept)
    )
    table = data.draw(made)
    known = truth(table.X, table.y, fit_intercept=fit_intercept)
    for norm in ("l1", "l2"):
        certificate = separability(table.X, table.y, norm=norm, fit_intercept=fit_intercept)
        assert certificate.is_separable in (known == SEPARABLE, None)
        answer = certificate.verify(table.X, table.y, exact=True)
        assert answer, answer


@settings(max_examples=40)
@given(rows=hnp.arrays(np.int64, (6, 3), elements=st.integers(-3, 3)))
def test_margins_of_rows_of_length_one(rows):
    """The two margins of the notes: every row divided by its own length, in the norm that is dual to the margin's."""
    side = rows @ np.array([2, -1, 3])
    assume(side.any())
    rows, y = rows[side != 0].astype(float), np.sign(side[side != 0])
    d = rows.shape[1]
    in_l2 = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    in_max = rows / np.abs(rows).max(axis=1, keepdims=True)
    l2 = math.sqrt(best_margin_squared(in_l2, y, fit_intercept=False))
    l1 = linear_program_margin(in_max, y, fit_intercept=False)
    assert l1 / math.sqrt(d) <= l2 * (1.0 + ROUNDING)
    assert l2 <= math.sqrt(d) * l1 * (1.0 + ROUNDING)


@with_and_without_bias
@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_cvxpy_agrees(norm, fit_intercept):
    """Off the shelf: an interior point method that knows nothing of ours, judged by the same judge."""
    pytest.importorskip("cvxpy", reason="the extra `reference` is not installed")
    for seed in range(3):
        X, y, plane = synthetic.separable_gaussians(n=30, d=4, margin=0.2, seed=seed)
        X += 0.0 if fit_intercept else plane.b * plane.w
        ours = certificate_of(norm, X, y, fit_intercept)
        theirs = HardMarginSVM(norm, fit_intercept=fit_intercept, solver="cvxpy", tol=1e-4).fit(X, y).certificate_
        assert theirs.verify(X, y, exact=True)
        assert ours.margin_lower <= theirs.margin_upper
        assert theirs.margin_lower <= ours.margin_upper
        assert theirs.margin_lower == pytest.approx(ours.margin_lower, rel=1e-4)


def test_neither_margin_is_positive_on_xor():
    X, y = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), [1, 1, -1, -1]
    assert truth(X, y) == NOT
    assert linear_program_margin(X, y) == pytest.approx(0.0, abs=1e-12)
    assert best_margin_squared(X, y) == 0
