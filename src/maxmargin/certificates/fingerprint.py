"""Which rows a certificate speaks of: 64 bits that tell its table, cut into its blocks, from another one.

    sum over the blocks k of  m(k) (sum_ij bits(x_ij) m(j) + sum_i mix(bits(C_i), row in the block, side))     mod 2^64

bits(x) is the double x as a whole number, m(j) is an odd number that looks like chance. So any one number, price or
label that is changed is noticed, whether the rows are kept as float32 or float64, dense or sparse, and whoever adds
them up in which order. It proves nothing, and is not meant to: what a certificate claims is measured. It says *why* a
claim fails.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Matrix, Vector, is_sparse

Bits = NDArray[np.uint64]
MODULUS = 2**64


def mixed(values: Any) -> Bits:
    """Whole numbers that look like chance, and differ where the given ones do (splitmix64)."""
    x = np.asarray(values).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def odd(values: Any) -> Bits:
    return mixed(values) | np.uint64(1)


def bits_of(values: Vector) -> Bits:
    """0 of both zeros."""
    return np.asarray(values + 0.0).view(np.uint64)


def sum_of_rows(part: Matrix, rows: NDArray[Any], signs: Vector, costs: Vector, columns: Bits) -> int:
    """Of rows in float64, which are these of their block; columns = odd(0, 1, ...)."""
    if is_sparse(part):
        cells = np.sum(bits_of(part.data) * columns[part.indices], dtype=np.uint64)
    else:
        cells = np.sum(bits_of(part).sum(axis=0, dtype=np.uint64) * columns, dtype=np.uint64)
    places = mixed(2 * rows.astype(np.uint64) + (signs > 0).astype(np.uint64))
    return (int(cells) + int(np.sum(mixed(bits_of(costs) ^ places), dtype=np.uint64))) % MODULUS


def of_block(number: int, sums: int) -> int:
    return sums * int(odd([number])[0]) % MODULUS


def written(digest: int) -> str:
    """As certificates have it: 16 digits."""
    return f"{digest:016x}"
