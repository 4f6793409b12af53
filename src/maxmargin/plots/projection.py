"""A table of many columns, or of a kernel, seen from the side of its plane: across the plane, and along it.

Across is the distance to the plane, (w.x + b) / |w|. Along is the first principal direction of what is left of the
rows when their part along w is taken away: of all directions in the plane, the one in which the rows spread most.

    G_ij = x_i.x_j - (w.x_i)(w.x_j) / |w|^2,          centred;          z = its first eigenvector, of eigenvalue s^2
    along_j = sum_i z_i G_ij / s

So inner products are all it takes, and the same few lines serve a kernel. z comes from the power method: where the two
largest eigenvalues are nearly equal, any direction between theirs is as good as the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.data.table import Matrix, Vector
from maxmargin.problems.kernels import Kernel, rows_of

MOST_ROWS = 1000  # that choose the direction, evenly spread over the table; all rows are then seen in it
MOST_STEPS = 200
STILL = 1e-9  # a step that turns z by less is the last


def along_the_plane(X: Matrix, values: Vector, square: float) -> Vector:
    """Of the rows of a table, whose w.x are `values`; |w|^2 is `square`."""
    few = chosen(X.shape[0])
    rows = X[few].astype(np.float64)
    centre = np.asarray(rows.mean(axis=0)).ravel()  # products of rows far from the origin would cancel
    across = values - values[few].mean()

    def products(table: Any, z: Vector) -> Vector:
        direction = rows.T @ z - centre * z.sum()
        return np.asarray(table @ direction - centre @ direction)

    z = principal(lambda z: products(rows, z), across[few], square)
    return seen(products(X, z), across, across[few] @ z, square)


def along_the_kernel_plane(kernel: Kernel, X: Matrix, values: Vector, square: float) -> Vector:
    """The same in the space of a kernel: `values` are w.phi(x)."""
    points, few = kernel.points(X), chosen(X.shape[0])
    some = rows_of(points, few)
    gram = kernel.values(some, some)
    across = values - values[few].mean()
    z = principal(lambda z: gram @ z, across[few], square)
    return seen(kernel.combine(points, some, z[:, None])[:, 0], across, across[few] @ z, square)


def chosen(n: int) -> Any:
    return np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(np.intp))


def principal(times: Callable[[Vector], Vector], across: Vector, square: float) -> Vector:
    """z / s, or zeros where nothing is left of the rows; `times` multiplies by their inner products."""
    start = z = unit(centred(np.random.default_rng(0).standard_normal(len(across))))
    size = largest = 0.0
    for _ in range(MOST_STEPS):
        image = times(z)
        size = float(np.linalg.norm(image))
        largest = max(largest, size)
        image = centred(image - across * (across @ z / square) if square > 0.0 else image)
        size = float(np.linalg.norm(image))
        last, z = z, unit(image)
        if size == 0.0 or float(np.linalg.norm(z - last)) <= STILL:
            break
    if not size > 1e-12 * largest:  # what is left is rounding
        return np.zeros(len(start))
    z = z * np.sign(z[np.argmax(np.abs(z))])  # the same side up, always
    return np.asarray(z / np.sqrt(size))


def seen(products: Vector, across: Vector, part: float, square: float) -> Vector:
    """The place of each row along the direction, around zero."""
    along = products - across * (part / square) if square > 0.0 else products
    return centred(along)


def centred(values: Vector) -> Vector:
    return np.asarray(values - values.mean())


def unit(z: Vector) -> Vector:
    size = float(np.linalg.norm(z))
    return z / size if size > 0.0 else z
