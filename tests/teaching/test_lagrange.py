"""One multiplier: both cases, weak duality everywhere, and the saddle that SciPy finds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from maxmargin import ConstrainedParabola

BINDING, FREE = ConstrainedParabola(0.2, -1, 1, 5), ConstrainedParabola(0.2, -1, 1, -3)

numbers = st.floats(-10, 10)
parabolas = st.builds(ConstrainedParabola, st.floats(0.1, 10), numbers, numbers, numbers)


def test_a_constraint_that_binds_has_a_price():
    assert BINDING.saddle == (5.0, 1.0, 1.0)
    assert BINDING.binds
    assert BINDING.conditions(5, 1) == (0, 0, 0, 0)
    assert BINDING.dual(1.0) == pytest.approx(1.0)


def test_a_constraint_that_does_not_bind_has_none():
    assert FREE.saddle == (2.5, 0.0, -0.25)
    assert not FREE.binds
    assert FREE.conditions(2.5, 0) == (0, 0, 0, 0)
    assert FREE.dual(0.0) == pytest.approx(-0.25)


def test_each_condition_has_its_own_violation():
    assert BINDING.conditions(4, 0.6) == pytest.approx((0.0, 1.0, 0.0, 0.6))
    assert BINDING.conditions(7, 1.8) == pytest.approx((0.0, 0.0, 0.0, 3.6))
    assert FREE.conditions(1.0, -0.6) == pytest.approx((0.0, 0.0, 0.6, 2.4))


@given(parabolas, numbers, st.floats(0, 50))
def test_weak_duality(problem, x, a):
    """g(a) <= the optimum <= f(x), whatever the price and the point."""
    bounds, best = problem.bounds(max(x, problem.c), a), problem.saddle.value
    room = 1e-9 * (1.0 + abs(best) + abs(bounds.lower) + abs(bounds.upper))
    assert bounds.lower <= best + room
    assert best <= bounds.upper + room
    assert bounds.gap >= -2 * room


@given(parabolas)
def test_strong_duality_and_the_saddle(problem):
    x, a, value = problem.saddle
    room = 1e-8 * (1.0 + abs(value) + abs(a))
    assert problem.dual(a) == pytest.approx(value, abs=room)
    assert max(problem.conditions(x, a)) <= room
    for other in (x - 1.0, x + 0.5):
        assert problem.lagrangian(other, a) >= value - room
    for price in (0.0, 0.5 * a, a + 1.0):
        assert problem.lagrangian(x, price) <= value + room


@given(parabolas, st.floats(0, 50))
def test_the_dual_is_the_least_value_of_the_lagrangian(problem, a):
    x = np.linspace(problem.lowest(a) - 3, problem.lowest(a) + 3, 101)
    heights = problem.lagrangian(x, a)
    assert problem.dual(a) <= heights.min() + 1e-9 * (1.0 + np.abs(heights).max())
    assert problem.dual(a) == pytest.approx(problem.lagrangian(problem.lowest(a), a))


@pytest.mark.parametrize("problem", [BINDING, FREE, ConstrainedParabola(2, 3, -1, 0.25)])
def test_another_solver_finds_the_same_point(problem):
    found = minimize(lambda x: problem.value(x[0]), [20.0], bounds=[(problem.c, None)])
    assert found.x[0] == pytest.approx(problem.saddle.x, abs=1e-4)
    assert found.fun == pytest.approx(problem.saddle.value, abs=1e-8)


def test_the_price_is_what_a_unit_of_the_constraint_is_worth():
    small = 1e-6
    eased = ConstrainedParabola(0.2, -1, 1, 5 - small)
    assert (BINDING.saddle.value - eased.saddle.value) / small == pytest.approx(BINDING.saddle.a, rel=1e-5)


def test_what_proves_nothing_is_infinite():
    assert BINDING.bounds(4, 1).upper == math.inf
    assert BINDING.bounds(5, -0.1).lower == -math.inf
    assert BINDING.bounds(4, -1).gap == math.inf


@pytest.mark.parametrize("wrong", [{"p": 0}, {"p": -1}, {"q": math.nan}, {"c": math.inf}, {"r": "1"}, {"c": True}])
def test_what_is_no_parabola_is_a_sentence(wrong):
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))} must be"):
        ConstrainedParabola(**({"p": 1.0, "q": 0.0, "r": 0.0, "c": 0.0} | wrong))


def test_what_is_shown_holds_both_points():
    for problem in (BINDING, FREE):
        low, high = problem.x_range
        assert low < min(problem.c, problem.lowest(0.0))
        assert high > max(problem.c, problem.lowest(0.0))
        assert problem.a_range[0] <= problem.saddle.a < problem.a_range[1]
