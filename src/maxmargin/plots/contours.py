"""Level lines of a function of two columns: marching squares, and crossings made exact by the false position.

The function is evaluated on a grid. Where it passes the level between two neighbours of the grid, the line crosses the
edge between them; each square of the grid joins the crossings of its four edges in pairs, and pairs that share a
crossing are strung together [lorensen1987]. A square with four crossings is a saddle. The value where the two lines
between opposite crossings meet says which pairs belong together; where it is the level, the lines themselves cross, as
the boundary of XOR does. Such lines are often those of a symmetry, in the middle of the box: the inner lines of the
grid stand a little aside, so that no line runs along them, where every value would be rounding.

A crossing by linear interpolation is off by the square of the mesh. A few steps of the false position, with Illinois
weights [dowell1971] and for all crossings at once, put it on the line to ten digits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from maxmargin.plots.shapes import Box, Points

MESH = 64  # squares along each side
POLISH = 12  # the most evaluations of a crossing
NEAR = 1e-11  # of the largest value on the grid: near enough to the level
ASIDE = 0.137  # of a square: by how much the inner lines of the grid are off the places where symmetries are
CROSS = 0.02  # of the largest value at its corners: a saddle so near to the level has lines that cross, to the eye

# The edges of a square: bottom, right, top, left. Which pairs of them are joined, by the corners that are above the
# level: lower left 1, lower right 2, upper right 4, upper left 8. 5 and 10 are saddles, here with their middle above.
JOINED: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((3, 0),), 2: ((0, 1),), 3: ((3, 1),), 4: ((1, 2),), 5: ((3, 2), (1, 0)), 6: ((0, 2),), 7: ((3, 2),),
    8: ((2, 3),), 9: ((2, 0),), 10: ((0, 3), (2, 1)), 11: ((2, 1),), 12: ((1, 3),), 13: ((1, 0),), 14: ((0, 3),),
}  # fmt: skip
SADDLES_BELOW = {5: ((3, 0), (1, 2)), 10: ((0, 1), (2, 3))}
CROSSING = ((0, 2), (1, 3))
Edge = tuple[int, int, int]  # row and column of its lower left end, and 1 if it rises


class Grid:
    """A function on the crossings of a mesh over a box, from which level lines are drawn.

    >>> grid = Grid(lambda points: points[:, 0] ** 2 + points[:, 1] ** 2, Box(-2, 2, -2, 2), mesh=16)
    >>> [circle] = grid.lines(1.0)
    >>> bool(np.allclose(np.hypot(*circle.T), 1.0, atol=1e-9)), bool(np.all(circle[0] == circle[-1]))
    (True, True)
    """

    def __init__(self, function: Callable[[Points], NDArray[np.float64]], box: Box, mesh: int = MESH) -> None:
        self.function = function
        self.x, self.y = grid_lines(box.left, box.right, mesh), grid_lines(box.bottom, box.top, mesh)
        nodes = np.stack(np.meshgrid(self.x, self.y), axis=-1)
        self.values = np.asarray(function(nodes.reshape(-1, 2)), dtype=np.float64).reshape(nodes.shape[:2])

    def lines(self, level: float) -> list[Points]:
        """The lines on which the function has this value; a closed one ends where it began."""
        height = self.values - level
        above = height > 0.0
        code = above[:-1, :-1] + 2 * above[:-1, 1:] + 4 * above[1:, 1:] + 8 * above[1:, :-1]
        rows, columns = np.nonzero((code > 0) & (code < 15))
        neighbours: dict[Edge, list[Edge]] = {}
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
            kind = int(code[i, j])
            pairs = self.saddle(i, j, kind, level) if kind in SADDLES_BELOW else JOINED[kind]
            names = edges_of(i, j)
            for one, other in pairs:
                neighbours.setdefault(names[one], []).append(names[other])
                neighbours.setdefault(names[other], []).append(names[one])
        if not neighbours:
            return []
        place = {edge: at for at, edge in enumerate(neighbours)}
        crossings = self.crossings(np.array(list(neighbours)), level)
        return [crossings[[place[edge] for edge in chain]] for chain in strung(neighbours)]

    def saddle(self, i: int, j: int, kind: int, level: float) -> tuple[tuple[int, int], ...]:
        """Which of the four crossings of this square belong together."""
        bottom, right, top, left = self.crossings(np.array(edges_of(i, j)), level)
        up, across = top - bottom, left - right
        share = (across[1] * (right - bottom)[0] - across[0] * (right - bottom)[1]) / (
            across[1] * up[0] - across[0] * up[1]
        )
        value = float(self.function((bottom + share * up)[None])[0]) - level
        corners = self.values[i : i + 2, j : j + 2] - level
        if abs(value) <= CROSS * float(np.abs(corners).max()):
            return CROSSING
        return JOINED[kind] if value > 0.0 else SADDLES_BELOW[kind]

    def crossings(self, edges: NDArray[np.intp], level: float) -> Points:
        """Where the function has the level on these edges (row, column, rises)."""
        i, j, rises = edges.T
        start = np.column_stack([self.x[j], self.y[i]])
        end = np.column_stack([self.x[j + 1 - rises], self.y[i + rises]])
        low, high = np.zeros(len(edges)), np.ones(len(edges))
        at_low, at_high = self.values[i, j] - level, self.values[i + rises, j + 1 - rises] - level
        near = NEAR * float(np.abs(self.values).max())
        share = at_low / (at_low - at_high)
        moved = np.zeros(len(edges))  # which end was moved last: an end that stays twice counts half
        for _ in range(POLISH):
            at = np.asarray(self.function(start + share[:, None] * (end - start)), dtype=np.float64) - level
            if np.all(np.abs(at) <= near):
                break
            same = (at > 0.0) == (at_low > 0.0)
            at_high = np.where(same, np.where(moved > 0.0, 0.5 * at_high, at_high), at)
            at_low = np.where(same, at, np.where(moved < 0.0, 0.5 * at_low, at_low))
            moved = np.where(same, 1.0, -1.0)
            high, low = np.where(same, high, share), np.where(same, share, low)
            share = np.clip(low + at_low / np.where(at_low == at_high, 1.0, at_low - at_high) * (high - low), 0.0, 1.0)
        return np.asarray(start + share[:, None] * (end - start))


def even_nodes(box: Box, mesh: int) -> Points:
    """The crossings of an even mesh, row by row from the bottom: where a shade is asked for, and no line."""
    across, up = np.linspace(box.left, box.right, mesh + 1), np.linspace(box.bottom, box.top, mesh + 1)
    return np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)


def grid_lines(low: float, high: float, mesh: int) -> NDArray[np.float64]:
    """From one side of the box to the other."""
    places = np.linspace(low, high, mesh + 1)
    places[1:-1] += ASIDE * (high - low) / mesh
    return places


def edges_of(i: int, j: int) -> tuple[Edge, Edge, Edge, Edge]:
    """Bottom, right, top and left edge of a square; an edge belongs to two squares, and has one name."""
    return (i, j, 0), (i, j + 1, 1), (i + 1, j, 0), (i, j, 1)


def strung(neighbours: dict[Edge, list[Edge]]) -> list[list[Edge]]:
    """The pairs as chains: first those with ends, at the border of the box, then the closed ones."""
    chains = []
    ends_first = sorted(neighbours, key=lambda edge: len(neighbours[edge]))
    unseen = set(neighbours)
    for first in ends_first:
        if first not in unseen:
            continue
        chain = [first]
        unseen.discard(first)
        while following := [edge for edge in neighbours[chain[-1]] if edge in unseen]:
            chain.append(following[0])
            unseen.discard(following[0])
        if len(chain) > 2 and first in neighbours[chain[-1]]:
            chain.append(first)
        chains.append(chain)
    return chains
