"""Radii between the columns: within them, phi moves by at most what is said."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.estimators.halfspaces import radius_in_l2
from maxmargin.problems.kernels import Polynomial, Rbf

directions = st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=2).filter(lambda d: math.hypot(*d) > 0.1)


def moved(kernel, x, step):
    """|phi(x + step) - phi(x)|."""
    points = kernel.points(np.array([x, x + step]))
    values = kernel.values(points, points)
    return math.sqrt(max(0.0, values[0, 0] + values[1, 1] - 2.0 * values[0, 1]))


@settings(max_examples=60, deadline=None)
@given(
    kernel=st.one_of(
        st.builds(Rbf, st.floats(0.01, 10.0)),
        st.builds(Polynomial, st.floats(0.01, 10.0), st.sampled_from([0.0, 0.5, 2.0]), st.integers(1, 5)),
    ),
    x=st.lists(st.floats(-5.0, 5.0), min_size=2, max_size=2),
    t=st.floats(0.01, 10.0),
    direction=directions,
)
def test_within_the_radius_phi_moves_by_at_most_t(kernel, x, t, direction):
    x, step = np.array(x), np.array(direction) / math.hypot(*direction)
    radius = float(radius_in_l2(kernel, np.array([[t]]), np.array([[np.linalg.norm(x) * (1 + 1e-12)]]))[0, 0])
    assert radius > 0.0
    reach = math.sqrt(float(np.max(kernel.diagonal(kernel.points(np.array([x, x + min(radius, 1e3) * step]))))))
    assert moved(kernel, x, min(radius, 1e3) * step) <= t + 1e-6 * max(1.0, reach)


@pytest.mark.parametrize("t", [1e-9, 0.1, 1.0, 1.4])
def test_rbf_is_exact(t):
    kernel = Rbf(0.7)
    radius = float(radius_in_l2(kernel, np.array([[t]]), np.zeros((1, 1)))[0, 0])
    assert math.sqrt(-2.0 * math.expm1(-0.7 * radius * radius)) == pytest.approx(t, rel=1e-12)
    assert math.isinf(radius_in_l2(kernel, np.array([[1.5]]), np.zeros((1, 1)))[0, 0])


def test_poly_of_degree_one_is_exact():
    kernel = Polynomial(4.0, 1.0, 1)
    radius = radius_in_l2(kernel, np.array([[0.5]]), np.array([[3.0]]))[0, 0]
    assert radius == pytest.approx(0.25, rel=1e-12)
    assert radius <= 0.25


def test_constant_kernels_are_never_left():
    for kernel in (Polynomial(1.0, 1.0, 0), Polynomial(0.0, 1.0, 3)):
        assert math.isinf(radius_in_l2(kernel, np.array([[0.1]]), np.ones((1, 1)))[0, 0])
