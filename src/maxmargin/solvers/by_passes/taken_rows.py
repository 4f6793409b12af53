"""Rows that were taken out of the blocks, with their names: a sample, a band, the worst, the lowest, or those named.

Which rows are taken is a function of the rows and of their ids alone, so that it does not matter who reads which block,
or when: a sample has the rows whose hashed id is below a rate; of too many rows, or of too many of a class, those with
the smallest keys survive a join, and of equal keys those with the smaller ids.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.labelled import RowIds
from maxmargin.data.table import Matrix, Vector, rows_of, stacked
from maxmargin.problems.block_margin import OwnRows, SignedBlock
from maxmargin.solvers.passes import sum_by_class, values_of_block

Places = NDArray[np.intp]
Square = NDArray[np.float64]

SPARE = 6.0  # standard deviations: so many more rows than are wanted are looked at, for chance may leave some out
EVERYONE = 2**62
NUMBERS = ("signs", "costs", "ids", "shares", "keys")  # beside the rows


class TakenRows(NamedTuple):
    """Rows, y_i, the most that a_i can be, their names, a share of that each, and keys: the smallest survive.

    most    so many of all, or, `by_class`, of either class
    """

    X: Matrix
    signs: Vector
    costs: Vector
    ids: RowIds
    shares: Vector
    keys: Vector
    most: int
    by_class: bool = False

    @property
    def n_rows(self) -> int:
        return len(self.signs)

    @property
    def groups(self) -> Places:
        return groups_of(self.signs, self.by_class)

    def and_of(self, other: TakenRows) -> TakenRows:
        if not other.n_rows:
            return self
        if not self.n_rows:
            return other
        joined: dict[str, Any] = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in NUMBERS}
        most = max(self.most, other.most)
        return self._replace(X=stacked([self.X, other.X]), most=most, **joined).first(most)

    def first(self, most: int) -> TakenRows:
        """The `most` rows with the smallest keys, in the order in which they stand."""
        return self if self.n_rows <= most else self.of(lowest_of_each(self.keys, self.ids, self.groups, most))

    def of(self, places: Places) -> TakenRows:
        return self._replace(X=self.X[places], **{name: getattr(self, name)[places] for name in NUMBERS})

    def without(self, places: Places) -> TakenRows:
        stays = np.ones(self.n_rows, dtype=bool)
        stays[places] = False
        return self.of(np.flatnonzero(stays))

    def with_those(self, other: TakenRows) -> TakenRows:
        """And the rows of the other that are not here already; however many."""
        new = np.flatnonzero(~np.isin(other.ids, self.ids))
        return self._replace(most=EVERYONE).and_of(other.of(new))

    def missing(self, w: Vector, b: float) -> Vector:
        """f = 1 - y (w.x + b)."""
        return missing_of(self.X, self.signs, w, b)

    def sums(self, weights: Vector) -> Square:
        return sums_of(self.X, self.signs, weights)

    def raised(self, weights: Vector) -> Vector:
        """Costs of a sample that sum to those of all rows of either class."""
        of_class = np.where(self.signs > 0.0, 0, 1)
        own = np.bincount(of_class, self.costs, minlength=2)
        return np.asarray(self.costs * (weights / np.where(own > 0.0, own, 1.0))[of_class])

    @classmethod
    def of_record(cls, kept: Any, n_columns: int, most: int) -> TakenRows:
        """Those that an earlier process had; a ValueError, LookupError or TypeError where these are no rows."""
        n, X = len(kept["signs"]), kept["X"]
        if isinstance(X, dict):
            X = sparse.csr_array((X["data"], X["indices"], X["indptr"]), (n, n_columns))
        if X.shape != (n, n_columns) or any(len(kept[name]) != n for name in NUMBERS):
            raise ValueError("rows of a working set do not fit each other")
        return cls(X, most=most, by_class=bool(kept["by_class"]), **{name: kept[name] for name in NUMBERS})


def taken(
    block: SignedBlock,
    costs: Vector,
    places: Places,
    most: int,
    keys: Vector | None = None,
    shares: Vector | None = None,
    by_class: bool = False,
) -> TakenRows:
    """Rows of a block: of more than `most` those with the smallest keys; without keys, with the smallest hashes."""
    ids = block.ids(places)
    keys = hashed(ids) if keys is None else keys
    shares = np.zeros(len(places)) if shares is None else shares
    if len(places) > most:
        best = lowest_of_each(keys, ids, groups_of(block.signs[places], by_class), most)
        places, ids, keys, shares = places[best], ids[best], keys[best], shares[best]
    return TakenRows(block.X[places], block.signs[places], costs[places], ids, shares, keys, most, by_class)


def lowest_of_each(keys: Vector, ids: RowIds, groups: Places, most: int) -> Places:
    """Where the `most` lowest keys of each group are, in increasing order of place; of equal keys the smaller ids."""
    kept = []
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        if len(members) > most:
            members = members[np.lexsort((ids[members], keys[members]))[:most]]
        kept.append(members)
    return np.sort(np.concatenate(kept)) if kept else np.zeros(0, dtype=np.intp)


def groups_of(signs: Vector, by_class: bool) -> Places:
    """Both classes apart, 0 for the positive one; or all rows as one group."""
    return np.where(signs > 0.0, 0, 1).astype(np.intp) if by_class else np.zeros(len(signs), dtype=np.intp)


def missing_of(X: Matrix, signs: Vector, w: Vector, b: float) -> Vector:
    """f = 1 - y (w.x + b)."""
    f = np.empty(len(signs))
    values_of_block(rows_of(X), w, 0, len(f), f)
    f += b
    f *= signs
    return np.subtract(1.0, f, out=f)


def sums_of(X: Matrix, signs: Vector, weights: Any) -> Square:
    """sum of weights (x, 1), for each class."""
    chosen = np.flatnonzero(weights)
    totals = np.zeros((2, X.shape[1] + 1))
    sum_by_class(
        rows_of(X), chosen, signs[chosen], np.asarray(weights, dtype=np.float64)[chosen], 0, len(chosen), totals
    )
    return totals


def hashed(ids: RowIds, seed: int = 0) -> Vector:
    """Numbers in [0, 1) that look drawn, one for each id [steele2014].

    >>> hashed(np.arange(3, dtype=np.uint64)).round(3).tolist()
    [0.883, 0.567, 0.591]
    """
    with np.errstate(over="ignore"):
        z = ids + np.uint64(seed + 1) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


class OfEachClass(NamedTuple):
    """A part of a pass: `most` rows of each class, of which there are so many; each with the same chance."""

    most: int
    sides: tuple[int, int]
    seed: int = 0

    def __call__(self, block: SignedBlock) -> TakenRows:
        keys = hashed(block.ids(np.arange(len(block.signs))), self.seed)
        wanted = self.most + SPARE * np.sqrt(self.most) + SPARE
        rates = np.array([wanted / max(1, side) for side in self.sides])
        chosen = np.flatnonzero(keys < rates[groups_of(block.signs, by_class=True)])
        return taken(block, block.costs, chosen, self.most, keys[chosen], by_class=True)


class Named(NamedTuple):
    """A part of a pass: the rows that are listed."""

    def __call__(self, block: SignedBlock, own: OwnRows | None = None) -> TakenRows:
        places = np.zeros(0, dtype=np.intp) if own is None else own.places_in(block)
        return taken(block, block.costs, places, EVERYONE, np.zeros(len(places)), by_class=True)
