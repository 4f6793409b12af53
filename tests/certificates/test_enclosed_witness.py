"""A common point of two hulls by bounds: whatever is accepted, integers confirm; what is nearly so, is not accepted."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import separability
from maxmargin.certificates import enclosed_witness
from maxmargin.certificates.certificate import Verdict
from maxmargin.certificates.enclosed_witness import common_point, enclosed_solution, enclosed_weights
from maxmargin.certificates.exact import proves_intersection


def circuit(random, k, with_bias, lightest=1e-3):
    """k rows in general position that carry a common point, one row more than there are lines; and its weights."""
    d = k - 2 if with_bias else k - 1
    signs = np.where(np.arange(k) % 2 == 0, 1.0, -1.0)
    weights = 10.0 ** random.uniform(np.log10(lightest), 0.0, k)
    weights[signs < 0] *= weights[signs > 0].sum() / weights[signs < 0].sum()
    X = random.standard_normal((k, d))
    X[-1] = -signs[-1] * ((weights * signs)[:-1] @ X[:-1]) / weights[-1]  # rounded: the exact weights are others
    return X, signs, weights


@pytest.mark.parametrize("with_bias", [True, False])
def test_the_weights_are_those_of_integers(with_bias):
    random = np.random.default_rng(0)
    accepted = 0
    for k in [3, 5, 8, 13] * 8:
        X, signs, weights = circuit(random, k, with_bias)
        found = enclosed_weights(X, signs, weights, with_bias)
        if found is None:
            continue
        accepted += 1
        exact = proves_intersection(X, signs, weights, with_bias).weights
        assert exact is not None
        shares = [float(Fraction(weight, sum(exact))) for weight in exact]
        np.testing.assert_allclose(found, shares, rtol=1e-13)
    assert accepted >= 24


@pytest.mark.parametrize("with_bias", [True, False])
def test_nothing_is_accepted_that_integers_refute(with_bias):
    """Weights near 0, on both sides of it: a negative one makes the rows separable."""
    random = np.random.default_rng(1)
    said = {True: 0, False: 0}
    for _ in range(200):
        k = int(random.integers(3, 9))
        X, signs, weights = circuit(random, k, with_bias)
        row = X[:-1].mean(axis=0) if with_bias else np.zeros(X.shape[1])
        X[1] = X[1] + random.choice([0.0, 1e-15, 1e-8, 1e-2, 1.0]) * (row - X[1])
        lightest = random.choice([1e-17, 1e-12, 1e-6, 1.0]) * random.choice([-1.0, 1.0])
        X[-1] = X[-1] * lightest + (1.0 - lightest) * X[-3] if k > 3 else X[-1]
        found = enclosed_weights(X, signs, weights, with_bias)
        meets = bool(proves_intersection(X, signs, weights, with_bias, exchanges=0))
        assert meets or found is None
        said[found is not None] += 1
    assert min(said.values()) > 20


def test_an_exact_zero_weight_is_left_to_integers():
    """Rows 2 and 3 have weight 0 exactly, next to a common point of rows 0 and 1, and no column says so."""
    X, signs = np.array([[1.0, 2.0], [1.0, 2.0], [4.0, 1.0], [3.0, 1.5]]), np.array([1.0, -1.0, 1.0, -1.0])
    assert enclosed_weights(X, signs, np.array([1.0, 1.0, 1e-3, 1e-3]), True) is None
    assert common_point(X, signs, np.ones(4), True).weights.tolist() == [0.5, 0.5, 0.0, 0.0]


def test_lines_that_follow_from_others_are_left_out():
    random = np.random.default_rng(2)
    X, signs, weights = circuit(random, 8, True)
    more = np.column_stack([X, np.full(8, 0.1), X[:, 2], np.zeros(8)])
    expected = enclosed_weights(X, signs, weights, True)
    assert expected is not None
    np.testing.assert_allclose(enclosed_weights(more, signs, weights, True), expected, rtol=1e-14)
    np.testing.assert_allclose(
        enclosed_weights(sparse.csr_array(more), signs, weights, True), expected, rtol=1e-14
    )  # fmt: skip
    more[3, -1] = 1e-300  # a line of its own
    assert enclosed_weights(more, signs, weights, True) is None


@pytest.mark.parametrize("with_bias", [True, False])
def test_rows_that_a_column_leaves_out_have_no_weight(with_bias):
    """A column of the first class alone: its rows are out, and with them a line; what is left is proven as before."""
    X, signs, weights = circuit(np.random.default_rng(6), 8, with_bias)
    expected = enclosed_weights(X, signs, weights, with_bias)
    more = np.vstack([X, np.random.default_rng(7).standard_normal((2, X.shape[1]))])
    more = np.column_stack([more, [0.0] * 8 + [2.0, 0.0], [3.0] * 8 + [3.0, 1.0]])
    if not with_bias:
        more[:8, -1], more[9, -1] = 0.0, 1e-30
    signs, weights = np.append(signs, [1.0, -1.0]), np.append(weights, [1e-9, 1e-9])
    found = enclosed_weights(more, signs, weights, with_bias)
    np.testing.assert_allclose(found, [*expected, 0.0, 0.0], rtol=1e-13)
    exact = proves_intersection(more, signs, weights, with_bias).weights
    np.testing.assert_allclose([float(Fraction(weight, sum(exact))) for weight in exact], found, rtol=1e-13)
    assert enclosed_weights(np.array([[1.0], [2.0]]), np.array([1.0, -1.0]), np.ones(2), True) is None  # nobody is left


@pytest.mark.parametrize("bad", [np.inf, np.nan, 1e200, 1e-200])
def test_numbers_beyond_the_span_are_left_to_integers(bad):
    X, signs, weights = circuit(np.random.default_rng(3), 6, True)
    assert enclosed_weights(X, signs, weights, True) is not None
    X[2, 1] = bad
    assert enclosed_weights(X, signs, weights, True) is None


def test_integers_that_float64_rounds_are_left_to_integers():
    X, signs = np.array([[2**62], [2**62 + 1]]), np.array([1.0, -1.0])
    assert enclosed_weights(X, signs, np.ones(2), True) is None
    assert enclosed_weights(np.array([[5], [-3]]), np.array([1.0, 1.0]), np.ones(2), False).tolist() == [0.375, 0.625]


def test_the_bound_holds_for_an_ill_conditioned_system():
    """The solution in fractions is within the bound, which is not much larger than what a change of A can do."""
    accepted = 0
    for n in range(2, 9):
        A = 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1.0)
        c = A.sum(axis=1)
        found = enclosed_solution(A, c)
        if found is None:
            continue
        accepted += 1
        x, bound = found
        exact = solved_in_fractions(A, c)
        distance = [abs(float(value - Fraction(float(number)))) for value, number in zip(exact, x, strict=True)]
        assert np.all(distance <= bound + 2.0**-52 * np.abs(x).astype(float))
        assert float(bound.max()) < 1e-4
    assert accepted >= 6
    assert enclosed_solution(np.ones((2, 2)), np.ones(2)) is None
    assert enclosed_solution(np.array([[1.0, 1.0], [1.0, 1.0 + 2**-52]]), np.ones(2)) is None


def solved_in_fractions(A, c):
    lines = [[Fraction(float(v)) for v in (*line, right)] for line, right in zip(A, c, strict=True)]
    for j in range(len(lines)):
        lines[j] = [v / lines[j][j] for v in lines[j]]
        for i in range(len(lines)):
            if i != j:
                lines[i] = [v - lines[i][j] * w for v, w in zip(lines[i], lines[j], strict=True)]
    return [line[-1] for line in lines]


def test_a_large_witness_is_proven_by_bounds_and_verified_both_ways(monkeypatch):
    random = np.random.default_rng(4)
    X, y = random.standard_normal((600, 110)), np.where(random.random(600) < 0.5, 1, -1)
    certificate = separability(X, y)
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert len(certificate.rows) == 112
    calls = []
    by_integers = enclosed_witness.exact.proves_intersection
    monkeypatch.setattr(
        enclosed_witness.exact, "proves_intersection", lambda *args: calls.append(1) or by_integers(*args)
    )
    assert certificate.verify(X, y)
    assert not calls
    assert certificate.verify(X, y, exact=True)
    assert calls
    X[certificate.rows[0]] += 5.0  # other rows: the same weights prove nothing
    assert not certificate.verify(X, y)
