"""Made data whose answer is known: for tests, for the demo, and for teaching.

    separable_gaussians   any number of columns; the best margin is at least the planted one
    street                two columns; the widest street is known, because three rows pin it
    touching              weakly separable: the hulls meet in one point
    xor, rings,
    overlapping           not separable, whatever the seed

Each returns X and y (labels -1 and +1); the separable ones a `Plane` too. `flowers` made the bundled table.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Signs = NDArray[np.int64]


class Plane(NamedTuple):
    """The plane w.x + b = 0 with |w| = 1, and how far the nearest row is from it."""

    w: NDArray[np.float64]
    b: float
    margin: float


def separable_gaussians(n: int = 100, d: int = 2, margin: float = 0.5, seed: int = 0) -> tuple[Points, Signs, Plane]:
    """n rows on both sides of a random plane, in turns, each pushed away from it by `margin`.

    The best margin is at least `margin`; it is larger wherever the plane can still be turned.
    """
    if n < 2 or d < 1 or not margin > 0.0:
        raise ValueError(f"n >= 2, d >= 1 and margin > 0 are needed, not n={n}, d={d}, margin={margin}")
    random = np.random.default_rng(seed)
    w = random.standard_normal(d)
    w /= np.linalg.norm(w)
    b = random.uniform(-1.0, 1.0)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    X = random.standard_normal((n, d))
    distance = X @ w + b
    wanted = y * (margin + np.abs(distance))
    X += np.outer(wanted - distance, w)
    return X, y, Plane(w, float(b), float(np.min(y * (X @ w + b))))


def street(n: int = 60, width: float = 1.0, angle: float = 30.0, seed: int = 0) -> tuple[Points, Signs, Plane]:
    """n points on both sides of a street of this width whose normal has this angle, in degrees.

    Rows 0 and 1 lie on one margin line and row 2 on the other, between them: the three pin the plane, so the best
    margin is width / 2, up to the rounding of the coordinates. All other rows lie beyond the lines.
    """
    if n < 3 or not width > 0.0:
        raise ValueError(f"n >= 3 and width > 0 are needed, not n={n}, width={width}")
    random = np.random.default_rng(seed)
    turn = math.radians(angle)
    w = np.array([math.cos(turn), math.sin(turn)])
    along = np.array([-w[1], w[0]])
    y = np.where(np.arange(n) % 2 == 0, -1, 1)
    y[:3] = 1, 1, -1
    across = width * (0.5 + 0.12 + random.gamma(2.0, 0.55, n))
    across[:3] = 0.5 * width
    beside = width * random.normal(0.0, 1.5, n)
    beside[:3] = width * np.array([-1.1, 1.3, 0.2])
    centre = width * w  # off the origin, so that the bias has work to do
    X = centre + np.outer(y * across, w) + np.outer(beside, along)
    return X, y, Plane(w, -width, 0.5 * width)


def touching() -> tuple[Points, Signs, Plane]:
    """Weakly separable: row 0 lies between rows 2 and 3 of the other class, on the plane; no margin is positive."""
    X = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [0.0, 2.0], [-1.0, 1.0]])
    return X, np.array([1, 1, -1, -1, -1]), Plane(np.array([1.0, 0.0]), 0.0, 0.0)


def xor() -> tuple[Points, Signs]:
    """The corners of a square, equal labels across: the two diagonals meet in its middle."""
    return np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1, 1, -1, -1])


def overlapping(n: int = 60, distance: float = 2.0, seed: int = 0) -> tuple[Points, Signs]:
    """Two clouds that overlap: normal points around centres this far apart, and the corners of `xor` among them."""
    if n < 4:
        raise ValueError(f"n >= 4 is needed, not n={n}")
    random = np.random.default_rng(seed)
    X, y = xor()
    signs = np.where(np.arange(n - 4) % 2 == 0, 1, -1)
    cloud = random.standard_normal((n - 4, 2)) + 0.5 * distance * np.outer(signs, [1.0, 0.0])
    return np.vstack([0.5 * X, cloud]), np.concatenate([y, signs])


def rings(n: int = 60, seed: int = 0) -> tuple[Points, Signs]:
    """A ring (-1) around a disc (+1): the disc lies in the hull of the ring."""
    if n < 12:
        raise ValueError(f"n >= 12 is needed, not n={n}")
    random = np.random.default_rng(seed)
    outer = n // 2
    angles = 2.0 * math.pi * (np.arange(outer) + random.uniform(0.0, 0.5, outer)) / outer
    ring = random.uniform(2.0, 2.5, outer)[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    inner = n - outer
    angles = random.uniform(0.0, 2.0 * math.pi, inner)
    disc = random.uniform(0.0, 1.0, inner)[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.vstack([disc, ring]), np.repeat([1, -1], [inner, outer])


SPECIES = {  # mean and spread, in centimetres, of the columns below
    "aster": ([1.6, 0.4, 4.8, 3.3], [0.2, 0.1, 0.35, 0.35]),
    "bellis": ([4.2, 1.3, 6.0, 2.7], [0.45, 0.2, 0.5, 0.3]),
    "crocus": ([5.3, 1.9, 6.6, 3.0], [0.5, 0.25, 0.6, 0.3]),
}
FLOWER_COLUMNS = ("petal_length", "petal_width", "leaf_length", "leaf_width")


def flowers(n: int = 150, seed: int = 7) -> tuple[Points, NDArray[np.str_]]:
    """Four measures of three invented species, to a millimetre: one stands apart, the other two overlap."""
    random = np.random.default_rng(seed)
    y = np.repeat(list(SPECIES), -(-n // 3))[:n]
    size = random.standard_normal((n, 1))  # what grows, grows in all directions
    own = random.standard_normal((n, 4))
    means = np.array([SPECIES[species][0] for species in y])
    spreads = np.array([SPECIES[species][1] for species in y])
    X: Points = means + spreads * (0.7 * size + 0.7 * own)
    return np.maximum(X, 0.1).round(1), y
