"""The numbers of a picture."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maxmargin import separability
from maxmargin.data import synthetic
from maxmargin.plots.shapes import (
    Box,
    between,
    hull,
    hull_points,
    line_in_box,
    square_around,
)

BOX = Box(-1.0, 2.0, 0.0, 3.0)
coordinates = st.floats(-5.0, 5.0)
directions = st.tuples(coordinates, coordinates).filter(lambda w: abs(w[0]) + abs(w[1]) > 0.1).map(np.array)


def inside(points, box=BOX, tolerance=1e-9):
    left, right, bottom, top = box
    x, y = points.T
    return np.all(
        (x >= left - tolerance) & (x <= right + tolerance) & (y >= bottom - tolerance) & (y <= top + tolerance)
    )


@given(directions, coordinates)
def test_a_line_is_cut_to_the_box(w, b):
    ends = line_in_box(w, b, BOX)
    assert len(ends) in (0, 2)
    assert np.allclose(ends @ w + b, 0.0, atol=1e-9)
    assert inside(ends)


def test_a_line_that_misses_the_box():
    assert line_in_box(np.array([1.0, 0.0]), 10.0, BOX).shape == (0, 2)


@given(directions, coordinates, st.floats(0.01, 4.0))
def test_the_part_between_two_lines(w, b, reach):
    part = between(w, b, -reach, reach, BOX)
    assert inside(part)
    heights = part @ w + b
    assert np.all(np.abs(heights) <= reach + 1e-9)
    if len(line_in_box(w, b, BOX)):
        assert len(part) >= 3


@given(arrays(np.float64, st.tuples(st.integers(1, 12), st.just(2)), elements=st.integers(-4, 4).map(float)))
def test_a_hull_holds_all_points_and_turns_left(points):
    corners = hull(points)
    assert {tuple(corner) for corner in corners} <= {tuple(point) for point in points}
    if len(corners) >= 3:
        for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            along, away = end - start, points - start
            assert np.all(along[0] * away[:, 1] - along[1] * away[:, 0] >= 0.0)


def test_hulls_of_few_points():
    assert hull(np.array([[1.0, 2.0]])).tolist() == [[1.0, 2.0]]
    assert hull(np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]])).tolist() == [[0.0, 0.0], [1.0, 2.0]]
    assert len(hull(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))) == 2


def test_a_square_around_one_point_has_a_size():
    box = square_around(np.array([[3.0, 4.0]]))
    assert box.right - box.left == pytest.approx(box.top - box.bottom)
    assert box.right > 3.0 > box.left


def test_the_points_of_a_witness_are_one_point():
    X, y = synthetic.overlapping(seed=2)
    certificate = separability(X, y)
    rows = certificate.rows
    plus, minus = hull_points(X[rows], y[rows], certificate.weights)
    assert plus == pytest.approx(minus, abs=1e-9)
