"""Planes on rows that are read block by block: their margins, and the rows that a proof names.

plane       one pass: the least y w.x of each side, with its row; the bias comes in afterwards, for
            min_i fl(fl(w.x_i) + b) = fl(min_i fl(w.x_i) + b) on each side: rounding keeps the order
rows        those that are listed come with the same pass, as they stand in the table
exactly     another pass: the first row whose margin is below a bound, in integers
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates import exact
from maxmargin.certificates.measure import PlaneMargin, ScaledPlane, magnitude_of
from maxmargin.certificates.passes import product, row_blocks
from maxmargin.data.labelled import LabelledBlock, LabelledTable, RowIds
from maxmargin.data.table import Matrix, Vector, in_safe_range, is_sparse, largest_of, row_squares, stacked, terms_of
from maxmargin.problems.block_margin import BlockMargin, OwnRows, SignedBlock
from maxmargin.problems.statement import plain


class RawRows(NamedTuple):
    """Rows as they stand in the table, with their ids and signs."""

    ids: RowIds
    X: Matrix
    signs: Vector

    @classmethod
    def of(cls, block: SignedBlock, places: Any) -> RawRows:
        return cls(block.ids(places), block.X[places], block.signs[places])

    def and_of(self, other: RawRows) -> RawRows:
        X = stacked([self.X, other.X])
        return RawRows(np.concatenate([self.ids, other.ids]), X, np.concatenate([self.signs, other.signs]))


class Least(NamedTuple):
    """The least y w.x of one side, and the row that has it; infinite, and no row, where there is none."""

    value: float
    row: RawRows

    def and_of(self, other: Least) -> Least:
        return self if self.value <= other.value else other


class Seen(NamedTuple):
    """What a pass sees of a plane through the origin, on either side, and of the rows that are listed.

    largest    max |x_ij|; `longest`: max |x_i|, of sparse rows; `terms`: the most entries of a row
    """

    plus: Least
    minus: Least
    largest: float
    longest: float
    terms: int
    listed: RawRows

    def and_of(self, other: Seen) -> Seen:
        return Seen(
            self.plus.and_of(other.plus),
            self.minus.and_of(other.minus),
            max(self.largest, other.largest),
            max(self.longest, other.longest),
            max(self.terms, other.terms),
            self.listed.and_of(other.listed),
        )


class Nearest(NamedTuple):
    """A part of a pass: y w.x of all rows, and the rows that are listed. |w|_1 < 1, so that nothing overflows."""

    w: Vector

    def __call__(self, block: SignedBlock, own: OwnRows | None = None) -> Seen:
        values, largest = np.empty(block.X.shape[0]), 0.0
        for rows, part in row_blocks(block.X):
            values[rows] = product(part, self.w)
            largest = max(largest, largest_of(part.data if is_sparse(part) else part))
        values *= block.signs
        sides = [least_of(block, values, np.flatnonzero(block.signs == sign)) for sign in (1.0, -1.0)]
        listed = RawRows.of(block, listed_in(block, own))
        return Seen(sides[0], sides[1], largest, longest_of(block.X, largest), terms_of(block.X), listed)


def least_of(block: SignedBlock, values: Vector, side: Any) -> Least:
    if not len(side):
        return Least(math.inf, RawRows.of(block, side))
    nearest = side[np.argmin(values[side])]
    return Least(float(values[nearest]), RawRows.of(block, nearest[None]))


def longest_of(X: Matrix, largest: float) -> float:
    """max |x_i| of sparse rows; of others it is not needed."""
    if not is_sparse(X):
        return 0.0
    safe, scale = in_safe_range(X, largest)
    return math.sqrt(float(row_squares(safe).max(initial=0.0))) / scale


def listed_in(block: SignedBlock, own: OwnRows | None) -> Any:
    """The places of those listed rows that are there: who claims others is refused later."""
    if own is None or not len(block.rows):
        return np.zeros(0, dtype=np.intp)
    places = np.searchsorted(block.rows, own.rows).clip(0, len(block.rows) - 1)
    return places[block.rows[places] == own.rows]


class BlockPlane(NamedTuple):
    """A plane that a pass has seen, with its margin."""

    plane: ScaledPlane
    value: float
    lower: float
    nearest: RawRows

    def distances(self, rows: RawRows) -> Vector:
        values = rows.signs * (product(rows.X.astype(np.float64, copy=False), self.plane.w) + self.plane.b)
        with np.errstate(over="ignore"):
            return np.asarray(values / self.plane.size)

    def on(self, rows: RawRows) -> PlaneMargin:
        """As if it had been measured on these rows, which have the nearest one among them."""
        w, b, size = self.plane
        at = np.flatnonzero(rows.ids == self.nearest.ids[0]) if len(self.nearest.ids) else np.array([-1])
        return PlaneMargin(self.value, self.lower, int(at[0]), self.distances(rows), w / size, b / size)


def halfway_bias(seen: Seen) -> float:
    """The b that has both sides equally far, for the w that was seen."""
    apart = seen.minus.value - seen.plus.value
    return 0.5 * apart if math.isfinite(apart) else 0.0


def seen_plane(seen: Seen, plane: ScaledPlane, sparse: bool) -> BlockPlane | None:
    """The margin of the plane whose w was seen; None where it has none."""
    magnitude = magnitude_of(plane.w, seen.largest, seen.longest if sparse else None)
    plus, minus = Least(seen.plus.value + plane.b, seen.plus.row), Least(seen.minus.value - plane.b, seen.minus.row)
    least, nearest = plus.and_of(minus)
    if not (math.isfinite(magnitude + abs(plane.b)) and math.isfinite(least)):
        return None
    lower = plane.lower(least, seen.terms, magnitude)
    return BlockPlane(plane, least / plane.size, lower, nearest)


def once(rows: RawRows) -> RawRows:
    """In the order of their ids, each once."""
    ids, places = np.unique(rows.ids, return_index=True)
    return RawRows(ids, rows.X[places], rows.signs[places])


def no_margin(rows: RawRows, n_columns: int) -> PlaneMargin:
    nowhere = np.full(len(rows.ids), np.nan), np.full(n_columns, np.nan)
    return PlaneMargin(-math.inf, -math.inf, -1, *nowhere, math.nan)


class Asked(NamedTuple):
    """A part of one problem, for blocks as the table has them."""

    problem: BlockMargin
    part: Any

    def __call__(self, block: LabelledBlock, own: OwnRows | None = None) -> Any:
        signed = self.problem.of(block)
        return self.part(signed) if own is None else self.part(signed, own)


class FirstBelow(NamedTuple):
    """A part: the first row whose margin is exactly below the bound, if there is one."""

    w: Vector
    b: float | None
    bound: float
    norm: str

    def __call__(self, block: SignedBlock) -> Below:
        answer = exact.exact_margin_at_least(block.X, block.signs, self.w, self.b, self.bound, self.norm)
        return Below(None if answer or answer.row is None else int(block.ids(np.array([answer.row]))[0]), bool(answer))


class Below(NamedTuple):
    row: int | None
    holds: bool

    def and_of(self, other: Below) -> Below:
        return self if not self.holds else other


def code_of(table: LabelledTable, label: Any) -> int | None:
    found = [code for code, known in enumerate(table.classes) if plain(known) == label]
    return found[0] if found else None
