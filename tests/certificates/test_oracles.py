"""Judge the oracles: data built from their answer, and closed forms."""

from fractions import Fraction

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import NOT, SEPARABLE, WEAKLY, best_margin_squared, linear_program_margin, touches, truth
from strategies import inseparable, separable, tables, weakly_separable

from maxmargin.data import synthetic

with_and_without_bias = pytest.mark.parametrize("fit_intercept", [True, False])
few = settings(max_examples=40)


def test_classics():
    assert truth(*synthetic.xor()) == NOT
    assert truth(*synthetic.touching()[:2]) == WEAKLY
    assert truth([[0.0], [1.0]], [-1, 1]) == SEPARABLE
    assert truth([[0.0], [1.0]], [-1, 1], fit_intercept=False) == WEAKLY  # the zero row is on every plane
    assert truth([[1.0], [2.0]], [-1, 1], fit_intercept=False) == NOT
    assert truth([[1.0], [1.0]], [-1, 1]) == NOT


def test_planes_that_touch():
    X, signs, w = [[0.0, 0.0], [0.0, 2.0], [0.0, 1.0], [1.0, 0.0], [-1.0, 3.0]], np.array([1, 1, -1, 1, -1]), [1.0, 0.0]
    assert [touches(X, signs, w, 0.0, off, True) for off in range(6)] == [False, False, True, False, False, False]
    assert not touches(X, signs, [-1.0, 0.0], 0.0, 2, True)  # the two rows of the other side
    assert touches(X[:1] + X[3:], signs[[0, 3, 4]], w, 0.0, 2, False)
    assert not touches([[1.0], [-1.0], [1.0], [3.0]], np.array([1, 1, -1, 1]), [1.0], 1e-17, 2, True)


@with_and_without_bias
@few
@given(data=st.data())
def test_made_data_are_what_they_say(fit_intercept, data):
    known = data.draw(separable(fit_intercept))
    assert truth(known.X, known.y, fit_intercept=fit_intercept) == SEPARABLE
    assert best_margin_squared(known.X, known.y, fit_intercept=fit_intercept) == Fraction(known.margin) ** 2
    weak = data.draw(weakly_separable(fit_intercept))
    assert truth(weak.X, weak.y, fit_intercept=fit_intercept) == WEAKLY
    never = data.draw(inseparable())
    assert truth(never.X, never.y, fit_intercept=fit_intercept) == NOT


@with_and_without_bias
@few
@given(table=tables(scales=st.just(0)))
def test_a_positive_margin_is_separability(fit_intercept, table):
    square = best_margin_squared(table.X, table.y, fit_intercept=fit_intercept)
    assert (square > 0) == (truth(table.X, table.y, fit_intercept=fit_intercept) == SEPARABLE)


def test_linear_program():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 3.0]]), [-1, -1, 1]
    assert linear_program_margin(X, y) == pytest.approx(2.0)  # across the first column, which is the widest
    assert linear_program_margin([[2.0, 0.0], [0.0, 2.0]], [1, 1], fit_intercept=False) == pytest.approx(1.0)


def test_fractions_decide_where_floats_cannot():
    assert oracles.at_most_ratio(1.0, Fraction(1), Fraction(1))
    assert not oracles.at_most_ratio(np.nextafter(1.0, 2.0), Fraction(1), Fraction(1))
    assert oracles.at_most_ratio(-1.0, Fraction(-1), Fraction(1))
    assert not oracles.at_most_ratio(np.nextafter(-1.0, 0.0), Fraction(-1), Fraction(1))
    assert oracles.at_most_ratio(0.0, Fraction(0), Fraction(1))
    assert not oracles.at_most_ratio(0.0, Fraction(-1), Fraction(1))
    assert oracles.at_most_ratio(-float("inf"), Fraction(-1), Fraction(1))
