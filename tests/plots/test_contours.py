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


@pytest.mark.parametrize("mesh", [8, 24, 33, 64])
@pytest.mark.parametrize("centre", [(0.0, 0.0), (0.3, -0.71)])
def test_lines_that_cross_are_two_lines(mesh, centre):
    """As the boundary of XOR; in the middle of the box, where a grid would have its own lines, and elsewhere."""
    across = lambda points: np.sin(points[:, 0] - centre[0]) * np.sin(points[:, 1] - centre[1])  # noqa: E731
    lines = Grid(lambda points: across(points) + 1e-17, BOX, mesh).lines(0.0)
    assert len(lines) == 2
    for line in lines:
        fixed = int(np.ptp(line[:, 0]) > np.ptp(line[:, 1]))
        assert line[:, fixed] == pytest.approx(centre[fixed], abs=1e-9)
        assert sorted(line[[0, -1], 1 - fixed]) == [-2.0, 2.0]


@pytest.mark.parametrize("level", [1e-2, -1e-2])
def test_lines_that_nearly_cross_turn_away_on_the_right_side(level):
    """Of a saddle that is off the mean of the corners, the value in the middle decides, not the mean."""
    lines = Grid(lambda points: points[:, 0] * points[:, 1] * np.exp(points[:, 0]), BOX, 8).lines(level)
    assert len(lines) == 2
    for line in lines:
        assert len(np.unique(np.sign(line[:, 0] * level))) == 1


def test_a_level_that_is_not_reached():
    assert Grid(lambda points: np.ones(len(points)), BOX, 8).lines(2.0) == []


def test_a_level_that_the_nodes_have_exactly():
    [line] = Grid(lambda points: points[:, 0], BOX, 4).lines(0.0)
    assert np.allclose(line[:, 0], 0.0)
