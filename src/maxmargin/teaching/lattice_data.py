"""Small tables in whole numbers, whose answers come out even.

A street by lattice points: for a whole normal n = (n1, n2) and the direction along it, t = (-n2, n1), the rows

    plus     o - j t,  o + k t        on one edge of the street
    minus    o - n                    on the other, between them

pin the plane: the nearest points of the hulls are o and o - n. So the street is |n| wide, the canonical plane is
w = 2 n / |n|^2, and the multipliers are 2 / |n|^2, shared by the two rows as k : j. All other rows lie
beyond the edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Signs = NDArray[np.float64]  # the labels -1 and +1

NORMALS = ((1, 1), (2, 1), (1, 2), (2, 0), (0, 2), (3, 1), (1, 3), (2, 2))
ENDS = ((1, 1), (1, 3), (3, 1))


def lattice_street(random: np.random.Generator, others: int = 4) -> tuple[Points, Signs]:
    """Rows and labels of a street that three rows pin, in an order and with sides drawn at random."""
    n = np.array(NORMALS[random.integers(len(NORMALS))]) * random.choice([-1, 1], 2)
    t = np.array([-n[1], n[0]])
    origin = random.integers(-2, 3, 2)
    back, ahead = ENDS[random.integers(len(ENDS))]
    rows, signs = [origin - back * t, origin + ahead * t, origin - n], [1, 1, -1]
    while len(rows) < 3 + others:
        sign, beside, beyond = (-1 if len(rows) % 2 else 1), random.integers(-1, 2), random.integers(1, 3)
        row = (origin if sign > 0 else origin - n) + beside * t + sign * beyond * n
        if not any(np.array_equal(row, other) for other in rows):
            rows.append(row)
            signs.append(sign)
    order = random.permutation(len(rows))
    side = int(random.choice([-1, 1]))
    return np.array(rows, dtype=np.float64)[order], side * np.array(signs, dtype=np.float64)[order]


def lattice_rows(random: np.random.Generator, w: NDArray[Any], n: int, reach: int = 4) -> tuple[Points, Signs]:
    """n different whole points off the plane w.x = 0, half of them on each side; each has |w.x| >= 1."""
    rows: list[NDArray[np.int64]] = []
    while len(rows) < n:
        row = random.integers(-reach, reach + 1, len(w))
        wanted = 1 if len(rows) % 2 else -1
        if np.sign(w @ row) == wanted and not any(np.array_equal(row, other) for other in rows):
            rows.append(row)
    X = np.array(rows, dtype=np.float64)
    return X, np.sign(X @ w)


def common_point(random: np.random.Generator) -> tuple[Points, Signs]:
    """A table that no plane separates: row o of one class is a combination of three rows of the other, in quarters.

    o = (p_1 + 2 p_2 + p_3) / 4 with p_3 = 4 o - p_1 - 2 p_2; two more rows of the class of o do not matter.
    """
    while True:
        o, first, second = random.integers(-2, 3, (3, 2))
        third = 4 * o - first - 2 * second
        rows = np.array([first, second, third, o, *random.integers(-6, 7, (2, 2))])
        corners = rows[1:3] - rows[0]
        area = corners[0, 0] * corners[1, 1] - corners[0, 1] * corners[1, 0]
        if area != 0 and np.abs(third).max() <= 8 and len(np.unique(rows, axis=0)) == len(rows):
            break
    order, side = random.permutation(len(rows)), int(random.choice([-1, 1]))
    return rows.astype(np.float64)[order], side * np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])[order]
