"""Rows with their labels, read block by block: what is too large for a vector of one number a row.

    source     what brings the rows: block k as features, labels and weights, the same whenever they are asked for
    survey     one pass: every number is finite, how many rows each block has, which labels there are and how often
    table      the source after its survey: labels as codes of the classes
    row id     block * 2^32 + row in the block: no other block need be known, and blocks may be empty or uneven

`with_labels(X, y)` makes a source of what `fit` was given: labels that stay where X is, or an array beside it.

Nothing here has the length of the table: what is known of a block is one number, and of a class another one. A pass is
a pure function of a block; what the blocks give is joined by its own `and_of`, in the fixed tree of `executor.py`.
"""

from __future__ import annotations

import hashlib
import math
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from maxmargin.data.checking import (
    OF_A_BLOCK,
    canonical,
    cell_at,
    check_labels,
    check_weights,
    refuse_what_float64_cannot_hold,
    refuse_what_is_not_finite,
    refuse_what_is_not_numbers,
    require_two_classes,
)
from maxmargin.data.executor import check_interrupt, pass_over
from maxmargin.data.table import (
    Matrix,
    Vector,
    dask_rows,
    is_column,
    is_dask,
    is_sparse,
    largest_magnitude,
    terms_of,
)

ROW_BITS = 32
RowIds = NDArray[np.uint64]


def row_ids(block: int, rows: NDArray[Any]) -> RowIds:
    """Names of rows of a block that need no count of the blocks before it.

    >>> row_ids(2, np.array([0, 5])).tolist() == [2 * 2**32, 2 * 2**32 + 5]
    True
    """
    return (np.uint64(block) << np.uint64(ROW_BITS)) + rows.astype(np.uint64)


def block_and_row(ids: RowIds) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The way back."""
    return (ids >> np.uint64(ROW_BITS)).astype(np.int64), (ids & np.uint64(2**ROW_BITS - 1)).astype(np.int64)


class RowsAndLabels(NamedTuple):
    """A block as its source has it: the features, one label a row, one weight a row or None."""

    X: Any
    labels: Any
    weights: Any = None


class LabelledSource(Protocol):
    """Rows that somebody else holds, with their labels. It is small and can be sent to other processes.

    n_rows is None where it is not known before the blocks are read. The fingerprint tells this table, cut into these
    blocks, from another: plain values that JSON can hold. A source whose blocks do not know what their labels mean (is
    "1" a word or a number?) has `meant(labels)`, too: it is given all different ones, after the survey.
    """

    n_rows: int | None
    n_columns: int
    n_blocks: int

    def labelled_block(self, k: int) -> RowsAndLabels: ...
    def fingerprint(self) -> dict[str, Any]: ...


def with_labels(X: Any, y: Any, sample_weight: Any = None) -> LabelledSource:
    """The blocks of X with their labels, and weights if there are any.

    y is one of three, and so are weights:
      a column that stays with the blocks: it has `rows`, the X that it belongs to, and `block(k)`. If that is this X,
        a block is read once for all of it (`X.labelled_block`)
      the name of a column, if X knows names (`X.labelled_by`)
      one label for each row, in memory, in the order of the blocks (of Dask, see `dask_rows.py`)
    """
    if is_dask(X):
        found: LabelledSource = dask_rows().DaskRows(X, y, sample_weight)
        return found
    if isinstance(y, str):
        if not hasattr(X, "labelled_by"):
            raise TypeError(f"y = {y!r} names a column, but a {type(X).__name__} knows no columns by name: give labels")
        X = X.labelled_by(y, sample_weight if isinstance(sample_weight, str) else None)
        y = X.labels
        sample_weight = X.weights if isinstance(sample_weight, str) else sample_weight
    own_weights = sample_weight is None or is_column_of(X, sample_weight)
    if is_column_of(X, y) and own_weights:
        return OneRead(X, sample_weight is not None)
    if not (is_column(y) and (sample_weight is None or is_column(sample_weight))):
        heights = heights_of(X)
        y = y if is_column(y) else cut(check_labels(y, sum(heights)), heights)
        if sample_weight is not None and not is_column(sample_weight):
            sample_weight = cut(check_weights(sample_weight, sum(heights)), heights)
    for name, column in (("y", y), ("sample_weight", sample_weight)):
        if is_dask(column):
            raise TypeError(f"{name} is computed by Dask, and X is not: give both alike")
        if column is not None and column.rows is not None and column.rows.n_blocks != X.n_blocks:
            raise ValueError(f"X has {X.n_blocks} blocks, and the table that {name} belongs to {column.rows.n_blocks}")
    return SideBySide(X, y, sample_weight)


def is_column_of(X: Any, y: Any) -> bool:
    return is_column(y) and y.rows is X and hasattr(X, "labelled_block")


class OneRead:
    """Labels and weights that stay in the files of X: a block is read once for all of them."""

    def __init__(self, X: Any, weighted: bool) -> None:
        self.X, self.weighted = X, weighted
        self.n_rows, self.n_columns, self.n_blocks = X.n_rows, X.n_columns, X.n_blocks

    def labelled_block(self, k: int) -> RowsAndLabels:
        rows: RowsAndLabels = self.X.labelled_block(k)
        return rows if self.weighted else rows._replace(weights=None)

    def meant(self, labels: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.X.meant(labels)) if hasattr(self.X, "meant") else labels

    def fingerprint(self) -> dict[str, Any]:
        return {**self.X.fingerprint(), "weighted": self.weighted}


class Cut(NamedTuple):
    """A vector in memory, cut where the blocks of a table end."""

    values: NDArray[Any]
    edges: NDArray[np.int64]
    rows: None = None

    def block(self, k: int) -> NDArray[Any]:
        return self.values[self.edges[k] : self.edges[k + 1]]


class SideBySide:
    """Rows from one place, labels and weights from others, block by block."""

    def __init__(self, X: Any, y: Any, sample_weight: Any) -> None:
        self.X, self.y, self.sample_weight = X, y, sample_weight
        self.n_rows, self.n_columns, self.n_blocks = X.n_rows, X.n_columns, X.n_blocks

    def labelled_block(self, k: int) -> RowsAndLabels:
        weights = None if self.sample_weight is None else self.sample_weight.block(k)
        return RowsAndLabels(self.X.block(k), self.y.block(k), weights)

    def meant(self, labels: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.y.meant(labels)) if hasattr(self.y, "meant") else labels

    def fingerprint(self) -> dict[str, Any]:
        columns = {"labels": self.y, "weights": self.sample_weight}
        of_rows = self.X.fingerprint() if hasattr(self.X, "fingerprint") else shape_of(self.X)
        return {**of_rows, **{name: fingerprint_of(column) for name, column in columns.items() if column is not None}}


def cut(values: NDArray[Any], heights: list[int]) -> Cut:
    return Cut(values, np.concatenate([[0], np.cumsum(heights)]).astype(np.int64))


def heights_of(X: Any) -> list[int]:
    """How many rows each block has: X knows (`heights`), or they are read once to count them."""
    known = getattr(X, "heights", None)
    return [int(height) for height in (known if known is not None else pass_over(Height(), X).heights)]


class Height(NamedTuple):
    """A pass that counts."""

    heights: tuple[int, ...] = ()

    def __call__(self, X: Any) -> Height:
        return Height((int(X.shape[0]),))

    def and_of(self, other: Height) -> Height:
        return Height(self.heights + other.heights)


def shape_of(X: Any) -> dict[str, Any]:
    return {"kind": type(X).__name__, "n_rows": X.n_rows, "n_columns": int(X.n_columns), "n_blocks": int(X.n_blocks)}


def fingerprint_of(column: Any) -> Any:
    """Of labels or weights."""
    if isinstance(column, Cut):
        content = "\n".join(map(repr, column.values.tolist())).encode()
        return hashlib.sha256(content + column.edges.tobytes()).hexdigest()
    return column.fingerprint()


class LabelledBlock(NamedTuple):
    """Rows in memory, an array in C order or CSR; the codes of their classes (-1: it does not count), their weights."""

    number: int
    X: Matrix
    codes: NDArray[np.intp]
    weights: Vector | None


class Survey(NamedTuple):
    """What one look at a block tells, and at several together."""

    heights: NDArray[np.int64]  # rows of each block
    labels: NDArray[Any]  # sorted, each once; of rows that count
    counts: NDArray[np.int64]  # rows of each label
    totals: Vector  # and what they weigh
    largest: float  # max |x_ij|
    terms: int  # the most entries of a row
    numbers: int  # stored ones
    is_sparse: bool
    dtype: str
    weighted: bool

    def and_of(self, other: Survey) -> Survey:
        if self.is_sparse is not other.is_sparse:
            raise ValueError("some blocks of X are sparse, and others are not")
        if (
            len(self.labels)
            and len(other.labels)
            and (self.labels.dtype.kind == "U") != (other.labels.dtype.kind == "U")
        ):
            raise ValueError("the labels of some blocks are text, and of others numbers: write them alike")
        if not (len(self.labels) and len(other.labels)):
            labelled = self if len(self.labels) else other
            labels, counts, totals = labelled.labels, labelled.counts, labelled.totals
        else:
            labels, places = np.unique(np.concatenate([self.labels, other.labels]), return_inverse=True)
            counts = np.bincount(places, np.concatenate([self.counts, other.counts])).astype(np.int64)
            totals = np.bincount(places, np.concatenate([self.totals, other.totals])).astype(np.float64)
        return Survey(
            np.concatenate([self.heights, other.heights]),
            labels,
            counts,
            totals,
            max(self.largest, other.largest),
            max(self.terms, other.terms),
            self.numbers + other.numbers,
            self.is_sparse,
            np.result_type(self.dtype, other.dtype).str,
            self.weighted or other.weighted,
        )


class RawBlock(NamedTuple):
    """A block before it is known which labels there are."""

    number: int
    X: Matrix
    labels: NDArray[Any]
    weights: Vector | None


class Unsurveyed(NamedTuple):
    """A source whose blocks are checked as they are read."""

    source: LabelledSource

    @property
    def n_blocks(self) -> int:
        return self.source.n_blocks

    def block(self, k: int) -> RawBlock:
        check_interrupt()
        X, labels, weights = self.source.labelled_block(k)
        where = partial(cell_of_block, k)
        refuse_what_is_not_numbers(X, where)
        refuse_what_float64_cannot_hold(X, where)
        X = canonical(check_array(X, **OF_A_BLOCK))
        if X.shape[1] != self.source.n_columns:
            raise ValueError(f"block {k} of X has {X.shape[1]} columns, not {self.source.n_columns}")
        refuse_what_is_not_finite(X, where)
        try:
            labels = check_labels(labels, X.shape[0])
            weights = None if weights is None or not X.shape[0] else weights_of(weights, X.shape[0])
        except ValueError as error:
            raise ValueError(f"block {k}: {error}") from None
        return RawBlock(k, X, labels, weights)


def weights_of(weights: Any, n_rows: int) -> Vector:
    """As `check_weights`, but all of one block may be zero."""
    found = np.asarray(weights, dtype=np.float64)
    return check_weights(weights, n_rows) if found.shape != (n_rows,) or np.any(found != 0.0) else found


def cell_of_block(k: int, place: tuple[int, ...]) -> str:
    return f"block {k}, {cell_at(place)}"


def survey_of(block: RawBlock) -> Survey:
    counting = slice(None) if block.weights is None else block.weights > 0.0
    labels = np.unique(block.labels[counting])
    places = np.searchsorted(labels, block.labels[counting])
    weights = None if block.weights is None else block.weights[counting]
    X = block.X
    return Survey(
        np.array([X.shape[0]]),
        labels,
        np.bincount(places, minlength=len(labels)),
        np.bincount(places, weights, minlength=len(labels)).astype(np.float64),
        largest_magnitude(X),
        terms_of(X),
        int(X.data.size if is_sparse(X) else X.size),
        is_sparse(X),
        X.dtype.str,
        block.weights is not None,
    )


class LabelledTable:
    """A source after its survey: what passes run over. It can be sent to other processes."""

    def __init__(self, source: LabelledSource, seen: Survey) -> None:
        self.source, self.written = source, seen.labels  # as the blocks have them
        meant = source.meant(seen.labels) if hasattr(source, "meant") else seen.labels
        self.classes, self.codes = np.unique(meant, return_inverse=True)  # "1" and "1.0" may be one class
        counts = np.bincount(self.codes, seen.counts, len(self.classes)).astype(np.int64)
        totals = np.bincount(self.codes, seen.totals, len(self.classes)).astype(np.float64)
        self.seen = seen._replace(labels=self.classes, counts=counts, totals=totals)
        require_two_classes(self.classes)
        self.n_columns, self.n_blocks = int(source.n_columns), int(source.n_blocks)
        self.n_rows = int(seen.heights.sum())

    @property
    def row_bytes(self) -> float:
        """Of a row in memory, on average."""
        size = np.dtype(self.seen.dtype).itemsize
        return self.seen.numbers * (size + 4 if self.seen.is_sparse else size) / self.n_rows

    def sides(self, positive: int, negative: int | None) -> tuple[int, int]:
        """How many rows a class has, and another one, or all others."""
        counts = self.seen.counts
        others = counts.sum() - counts[positive] if negative is None else counts[negative]
        return int(counts[positive]), int(others)

    def rows_of(self, ids: RowIds) -> NDArray[np.intp]:
        """The numbers of these rows in the whole table, as if its blocks stood one below the other."""
        blocks, rows = block_and_row(ids)
        return np.asarray((np.cumsum(self.seen.heights) - self.seen.heights)[blocks] + rows, dtype=np.intp)

    def ids_of(self, rows: NDArray[Any]) -> RowIds:
        """The ids of the rows with these numbers; of those that the table has."""
        rows = rows[(rows >= 0) & (rows < self.n_rows)]
        ends = np.cumsum(self.seen.heights)
        blocks = np.searchsorted(ends, rows, side="right")
        first = (ends - self.seen.heights)[blocks]
        return np.asarray((blocks.astype(np.uint64) << np.uint64(ROW_BITS)) + (rows - first).astype(np.uint64))

    def block(self, k: int) -> LabelledBlock:
        number, X, labels, weights = Unsurveyed(self.source).block(k)
        places = np.searchsorted(self.written, labels).clip(0, len(self.written) - 1)
        known = self.written[places] == labels
        codes = self.codes[places]
        if weights is not None:
            known |= weights == 0.0
            codes = np.where(weights > 0.0, codes, -1)
        unchanged = len(labels) == self.seen.heights[k] and terms_of(X) <= self.seen.terms and np.all(known)
        if not (unchanged and largest_magnitude(X) <= self.seen.largest):
            raise ValueError(f"block {k} of X has changed: it had other rows or numbers when it was first read")
        return LabelledBlock(number, X, codes, weights)


def surveyed(source: LabelledSource) -> LabelledTable:
    """The table, after one pass over it; an error that names the block, the row and the column of what is wrong."""
    if not source.n_blocks:
        raise ValueError("Found array with 0 sample(s) in 0 blocks: there is nothing to fit")
    seen = pass_over(survey_of, Unsurveyed(source))
    n_rows = int(seen.heights.sum())
    if n_rows and not len(seen.labels):
        raise ValueError("sample_weight is zero for every row: nothing is left to separate")
    if not n_rows:
        raise ValueError(f"Found array with 0 sample(s) in {source.n_blocks} blocks: there is nothing to fit")
    if source.n_rows is not None and source.n_rows != n_rows:
        raise ValueError(f"X has n_rows = {source.n_rows}, but its {source.n_blocks} blocks have {n_rows} rows")
    if not math.isfinite(seen.largest):
        raise ValueError("X holds numbers that are not finite")
    return LabelledTable(source, seen)
