"""Level lines of functions whose lines are known."""

import numpy as np
import pytest

from maxmargin.plots.contours import Grid
from maxmargin.plots.shapes import Box

BOX = Box(-2.0, 2.0, -2.0, 2.0)


@pytest.mark.parametrize("mesh", [8, 33])
def test_a_circle_is_one_closed_line(mesh):
    grid = Grid(lambda points: np.hypot(*points.T) ** 3, BOX, mesh)
    [circle] = grid.lines(1.0)
    assert np.allclose(np.hypot(*circle.T), 1.0, atol=1e-9)
    assert circle[0].tolist() == circle[-1].tolist()
    angles = np.unwrap(np.arctan2(circle[:, 1], circle[:, 0]))
    assert abs(angles[-1] - angles[0]) == pytest.approx(2.0 * np.pi)


def test_a_line_ends_at_the_border():
    [line] = Grid(lambda points: points[:, 0] - 0.3 * points[:, 1] - 0.1, BOX, 16).lines(0.0)
    assert sorted(np.abs(line[[0, -1], 1])) == [2.0, 2.0]
    assert np.allclose(line[:, 0] - 0.3 * line[:, 1], 0.1, atol=1e-12)


def test_two_branches_of_a_hyperbola():
    lines = Grid(lambda points: points[:, 0] * points[:, 1], BOX, 20).lines(0.5)
    assert len(lines) == 2
    for line in lines:
        assert np.allclose(line[:, 0] * line[:, 1], 0.5, atol=1e-9)


@pytest.mark.parametrize("level", [-0.3, 0.3])
def test_a_saddle_in_one_square_joins_by_its_middle(level):
    box = Box(-1.0, 1.0, -1.0, 1.0)
    lines = Grid(lambda points: points[:, 0] * points[:, 1], box, 1).lines(level)
    assert len(lines) == 2
    for line in lines:  # each branch stays in its quadrant
        assert len(np.unique(np.sign(line[:, 0]))) == 1


def test_a_level_that_is_not_reached():
    assert Grid(lambda points: np.ones(len(points)), BOX, 8).lines(2.0) == []


def test_a_level_that_the_nodes_have_exactly():
    [line] = Grid(lambda points: points[:, 0], BOX, 4).lines(0.0)
    assert np.allclose(line[:, 0], 0.0)
