"""Theory against practice: closed forms of the bounds, and data on which they hold."""

import math

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import separable

from maxmargin import MarginPerceptron, Perceptron, Winnow
from maxmargin.certificates import theorems
from maxmargin.certificates.proof import TheoremBound

# Two rows on either side of zero, and the plane x = 0.
X, SIGNS, W = np.array([[2.0], [-1.0]]), np.array([1.0, -1.0]), np.array([3.0])


def test_holds_says_which_way():
    assert TheoremBound("at most", 3.0, 3.0).holds
    assert not TheoremBound("at most", 3.0, 4.0).holds
    assert TheoremBound("at least", 0.25, 0.5, at_most=False).holds
    assert not TheoremBound("at least", 0.25, 0.2, at_most=False).holds


def test_novikov_through_the_origin():
    """R = 2, g = 1: four mistakes at most."""
    theorem = theorems.novikov(X, SIGNS, W, 0.0, False, 2)
    assert theorem.bound == pytest.approx(4.0)
    assert (theorem.measured, theorem.holds) == (2.0, True)


def test_novikov_lifted():
    """R^2 = 2^2 + 1, g = 3 / |(3, 0)| = 1."""
    assert theorems.novikov(X, SIGNS, W, 0.0, True, 2).bound == pytest.approx(5.0)
    with_bias = theorems.novikov(X, SIGNS, W, 1.0, True, 2)
    assert with_bias.bound == pytest.approx(5.0 * 10.0 / 4.0)  # g = 2 / |(3, 1)|


def test_margin_perceptron():
    guessed = theorems.margin_perceptron_updates(X, SIGNS, W, 0.0, False, 7, guess=0.1)
    halved = theorems.margin_perceptron_updates(X, SIGNS, W, 0.0, False, 7, guess=None)
    assert (guessed.bound, halved.bound) == (pytest.approx(48.0), pytest.approx(256.0))


def test_quarter():
    """Equal counts: p = (2 + 1) / 2 through the origin, and the plane has margin 1."""
    theorem = theorems.share_of_the_best(X, SIGNS, W, 0.0, False, np.array([1.0, 1.0]))
    assert theorem.measured == pytest.approx(1.0 / 1.5)
    assert theorem.holds
    exact = theorems.share_of_the_best(X, SIGNS, W, 0.0, False, np.array([0.0, 1.0]))
    assert exact.measured == pytest.approx(1.0)
    capped = theorems.share_of_the_best(X, SIGNS, W, 0.0, False, np.array([1.0, 0.0]), ceiling=1.25)
    assert capped.measured == pytest.approx(1.0 / 1.25)


def test_winnow():
    """Rows over 2: the least is 1/2 of |w|_1, so g = 1/2."""
    proven, notes = theorems.winnow_mistakes(X, SIGNS, W, 0.0, False, 3, 2, epsilon=None)
    assert proven.bound == pytest.approx(32.0 / 3.0 * math.log(2) * 4.0)
    assert notes.bound == pytest.approx(16.0 / 3.0 * math.log(2) * 4.0)
    eta = -math.log1p(-0.25)
    chosen, _ = theorems.winnow_mistakes(X, SIGNS, W, 0.0, False, 3, 2, epsilon=0.25)
    assert chosen.bound == pytest.approx(math.log(2) / (eta * (0.5 - eta / 2.0)))
    hopeless, _ = theorems.winnow_mistakes(X, SIGNS, np.array([3.0]), 2.9, True, 3, 4, epsilon=0.5)
    assert hopeless.bound == math.inf


@pytest.mark.parametrize("d", range(2, 12))
def test_a_bound_that_is_reached_is_not_broken_by_rounding(d):
    """d orthogonal rows of one length: R^2/g^2 = d exactly, and the perceptron makes d mistakes."""
    for length in (1.0, 0.1, 1.1, 1e-7 / 3):
        fitted = Perceptron(fit_intercept=False).fit(length * np.eye(d), np.arange(d) % 2)
        (theorem,) = fitted.certificate_.theorems
        assert theorem.bound == pytest.approx(d)
        assert (theorem.measured, theorem.holds) == (d, True)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-160, 1.0, 1e160, 1e300])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_bounds_have_no_unit(scale, form):
    rows, w = form(X * scale), W / scale
    assert theorems.novikov(rows, SIGNS, w, 0.0, False, 2).bound == pytest.approx(4.0)
    assert theorems.share_of_the_best(rows, SIGNS, w, 0.0, False, np.ones(2)).measured == pytest.approx(1.0 / 1.5)
    assert theorems.winnow_mistakes(rows, SIGNS, w, 0.0, False, 3, 2, epsilon=None)[1].holds


def test_a_plane_that_separates_nothing_bounds_nothing():
    for w in (-W, 0.0 * W):
        assert theorems.novikov(X, SIGNS, w, 0.0, False, 9).bound == math.inf
        assert theorems.winnow_mistakes(X, SIGNS, w, 0.0, False, 9, 2, epsilon=0.5)[0].bound == math.inf


def test_a_bound_beyond_the_doubles_is_infinite():
    rows = np.array([[1.0, 1e-200], [1.0, -1e-200]])
    theorem = theorems.novikov(rows, SIGNS, np.array([0.0, 1.0]), 0.0, True, 2)
    assert theorem.bound == math.inf


@pytest.mark.parametrize("learner", [Perceptron, MarginPerceptron, Winnow])
@pytest.mark.parametrize("order", ["cyclic", "shuffled", "worst_first"])
@settings(max_examples=25)
@given(data=st.data(), fit_intercept=st.booleans())
def test_mistakes_stay_below_the_bounds(learner, order, data, fit_intercept):
    known = data.draw(separable(fit_intercept, scales=st.sampled_from([0, 3, -3])))
    fitted = learner(fit_intercept=fit_intercept, order=order, max_updates=100_000).fit(known.X, known.y)
    assert fitted.certificate_.is_separable
    counted = [theorem for theorem in fitted.certificate_.theorems if theorem.at_most and "notes" not in theorem.name]
    assert counted
    for theorem in counted:
        assert theorem.holds, theorem
        assert theorem.measured == fitted.n_updates_
