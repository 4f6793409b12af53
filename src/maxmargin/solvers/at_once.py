"""Loops of `passes`, `copies` and Newton's method in whole arrays: what runs while nothing is compiled.

Each function is named after its loop, and computes the same. Sums come from `einsum`, which adds on one core and in one
order, whatever BLAS would do. `interior_point.at_once` has those of the path of centres.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.data.rows import chosen_rows

ODD, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
HALF = np.uint64(32)


def values_of_rows(rows: Any, index: Any, w: Any, start: int, stop: int, values: Any) -> None:
    X = chosen_rows(rows, index[start:stop], len(w))
    values[start:stop] = np.einsum("ij,j->i", X, w[: X.shape[1]])  # a lifted w has an entry more


def values_of_block(rows: Any, w: Any, start: int, stop: int, h: Any) -> None:
    values_of_rows(rows, np.arange(stop), w, start, stop, h)


def sum_by_class(rows: Any, index: Any, cost: Any, weights: Any, start: int, stop: int, total: Any) -> None:
    own, d = slice(start, stop), total.shape[1] - 1
    X, is_positive = chosen_rows(rows, index[own], d), cost[own] > 0.0
    for side, members in enumerate((is_positive, ~is_positive)):
        of_side = np.where(members, weights[own], 0.0)
        total[side, :d] += np.einsum("i,ij->j", of_side, X)
        total[side, d] += of_side.sum()


def combine_block(rows: Any, chosen: Any, c: Any, start: int, stop: int, total: Any) -> None:
    X = chosen_rows(rows, chosen[start:stop], len(total))
    total[: X.shape[1]] += np.einsum("i,ij->j", c[start:stop], X)


def outer_block(
    rows: Any, chosen: Any, c: Any, centre: Any, start: int, stop: int, _: Any, buffer: Any, M: Any
) -> None:
    k = len(centre) + 1
    z = np.ones((stop - start, k))
    z[:, :-1] = chosen_rows(rows, chosen[start:stop], k - 1) - (centre if hasattr(rows, "values") else 0.0)
    M[:k, :k] += np.einsum("ki,kj->ij", z * c[start:stop, None], z)


def inner(x: Any, y: Any) -> float:
    return float(np.einsum("i,i->", x, y))


def slope_block(r: Any, e: Any, costs: Any, steepness: float, knee: float, t: float, start: int, stop: int) -> Any:
    r, e, costs = r[start:stop], e[start:stop], costs[start:stop]
    missing = r - t * e
    pays = np.where(missing > 0.0, steepness * costs * e, 0.0)
    least = np.minimum(missing, knee)
    curvature = np.sum(np.where(missing < knee, pays, 0.0) * e)
    return -float(np.sum(pays * least)), float(curvature), float(np.sum(np.abs(pays) * least))


def move_block(r: Any, e: Any, costs: Any, bend: float, box: float, t: float, a: Any, start: int, stop: int) -> float:
    own = slice(start, stop)
    r[own] -= t * e[own]
    share = np.minimum(box, np.maximum(0.0, r[own]) / bend)
    a[own] = costs[own] * share
    return float(np.sum(a[own] * (r[own] - 0.5 * bend * share)))


def mixed(hashes: Any, words: Any) -> Any:
    found = (hashes ^ words.astype(np.uint64)) * MIX
    return found ^ (found >> HALF)


def hash_dense(words: Any, signs: Any, hashes: Any) -> None:
    hashes[:] = np.where(signs > 0.0, np.uint64(1), ODD)
    for column in words.T:
        hashes[:] = mixed(hashes, column)


def hash_sparse(words: Any, indices: Any, indptr: Any, signs: Any, hashes: Any) -> None:
    hashes[:] = np.where(signs > 0.0, np.uint64(1), ODD)
    sizes = np.diff(indptr)
    for k in range(int(sizes.max(initial=0))):
        some = np.flatnonzero(sizes > k)
        entries = indptr[some] + k
        hashes[some] = mixed(mixed(hashes[some], indices[entries]), words[entries])


def find_owners(hashes: Any, _: Any, owner: Any, first: Any) -> int:
    _, places, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(places)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    owner[:], first[: len(order)] = rank[inverse], places[order]
    return len(order)


def all_equal_dense(words: Any, signs: Any, owner: Any, first: Any) -> bool:
    other = first[owner]
    return bool(np.array_equal(signs, signs[other]) and np.array_equal(words, words[other]))


def all_equal_sparse(words: Any, indices: Any, indptr: Any, signs: Any, owner: Any, first: Any) -> bool:
    other, sizes = first[owner], np.diff(indptr)
    if not (np.array_equal(signs, signs[other]) and np.array_equal(sizes, sizes[other])):
        return False
    there = np.arange(len(indices)) + np.repeat(indptr[:-1][other] - indptr[:-1], sizes)
    return bool(np.array_equal(indices, indices[there]) and np.array_equal(words, words[there]))
