"""Sparse files in the format of SVMlight and LIBSVM: one row a line, only what is not zero.

    <label> [qid:<number>] <index>:<value> <index>:<value> ... [# comment]

Indices ascend strictly and count from 1, or from 0 where an index 0 occurs (the format does not say; LIBSVM counts
from 1, others from 0). A row without entries is a label alone. Empty lines and comments are skipped. Nor does the
format say how many columns there are: give `n_features` where several files belong together.

A file is read in pieces, on every core, and every number to the last bit (svmlight_rows.py, decimals.py).
"""

from __future__ import annotations

import itertools
import math
import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.executor import cores
from maxmargin.reading.files import DataFileError, Source, decoded, name_of, pieces_of, shortened
from maxmargin.reading.svmlight_rows import MOST_INDEX_DIGITS, NO_QUERY, NUMBER, Rows, rows_of_piece

WORD = re.compile(r"\S+", re.ASCII)
QUERY = re.compile(r"qid:\d{1,18}", re.ASCII)
MOST_COLUMNS = 2**28  # of a file that was not said to have so many


class SparseTable(NamedTuple):
    """X and y of an SVMlight file: row i is line `lines[i]`; `zero_based` is how its indices were counted.

    `queries` are the numbers after qid, -1 in rows that have none, and None where no row has one. `notes` are
    sentences about what the file did not say and the reader decided.
    """

    X: sparse.csr_array
    y: NDArray[Any]
    lines: NDArray[np.int64]
    zero_based: bool
    queries: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()


def read_svmlight(
    source: Source,
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    any_order: bool = False,
) -> SparseTable:
    """Read rows of index:value pairs into a CSR matrix; `DataFileError` names the line of what is wrong.

    source     : a path (.gz too), or an open file
    n_features : the number of columns; None takes the largest index, up to 2^28: more must be given
    zero_based : whether indices count from 0; "auto" finds out, and says so in `notes`
    any_order  : whether the indices of a line may come in any order; the columns of X ascend, and an index that comes
                 twice is refused, in any case

    Labels are whole numbers if all of them are, otherwise floats.

    >>> import io
    >>> table = read_svmlight(io.StringIO("+1 1:0.5 3:2 # a comment\\n-1 2:1\\n"))
    >>> table.X.toarray().tolist(), table.y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1, -1])
    """
    file = name_of(source)
    check_counting(file, n_features, zero_based)
    entries = joined(file, checked_pieces(source, file, any_order))
    if not len(entries.lines):
        raise DataFileError(file, "the file is empty")
    return assemble(entries, n_features, zero_based)


def check_counting(file: str, n_features: int | None, zero_based: Any) -> None:
    """Whether the file can be read by what is said of it."""
    if zero_based not in (True, False, "auto"):
        raise DataFileError(file, f'zero_based must be True, False or "auto", not {zero_based!r}')
    if n_features is not None and n_features < 1:
        raise DataFileError(file, f"a table has 1 column or more, not n_features={n_features}")


def checked_pieces(source: Source, file: str, any_order: bool) -> Iterator[Rows]:
    """The rows of every piece, their lines counted through the file."""
    lines_before = 0
    for rows in rows_of_pieces(pieces_of(source), any_order):
        if rows.bad is not None:
            refuse_row(rows.bad.text, file, lines_before + rows.bad.line, any_order)
        np.add(rows.lines, lines_before, out=rows.lines)
        lines_before += rows.line_count
        yield rows


def rows_of_pieces(pieces: Iterator[bytes], any_order: bool) -> Iterator[Rows]:
    """In their order, read on as many threads as the process has cores, and no more pieces ahead than these need."""
    read = partial(rows_of_piece, any_order=any_order)
    first = list(itertools.islice(pieces, 2))
    threads = cores()
    if len(first) < 2 or threads == 1:
        for piece in itertools.chain(first, pieces):
            yield read(piece)
        return
    pool = ThreadPoolExecutor(threads)
    ahead: deque[Future[Rows]] = deque()
    try:
        for piece in itertools.chain(first, pieces):
            ahead.append(pool.submit(read, piece))
            if len(ahead) > threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


class Entries(NamedTuple):
    """All rows of a file: the entries of row i are starts[i] to starts[i+1], read from line lines[i]."""

    file: str
    labels: NDArray[np.float64]
    queries: NDArray[np.int64]
    lines: NDArray[np.int64]
    starts: NDArray[Any]
    indices: NDArray[Any]
    values: NDArray[np.float64]
    smallest: int
    largest: int

    def line_of(self, entry: int) -> int:
        return int(self.lines[np.searchsorted(self.starts, entry, side="right") - 1])


class Growing:
    """An array that grows at its end. It is resized and not copied: where the system can move pages, it does."""

    def __init__(self, kind: type[np.generic]) -> None:
        self.items: NDArray[Any] = np.empty(0, kind)
        self.length = 0

    def widen(self, kind: type[np.generic]) -> None:
        self.items = self.items.astype(kind, copy=False)

    def extend(self, part: NDArray[Any]) -> None:
        end = self.length + len(part)
        if end > len(self.items):
            self.items.resize(max(end, len(self.items) * 5 // 4), refcheck=False)
        self.items[self.length : end] = part
        self.length = end

    def whole(self) -> NDArray[Any]:
        self.items.resize(self.length, refcheck=False)
        return self.items


def joined(file: str, pieces: Iterator[Rows]) -> Entries:
    """One after the other; a piece is let go once it is copied, so that no two copies of the file are held."""
    labels, queries, lines, starts = Growing(np.float64), Growing(np.int64), Growing(np.int64), Growing(np.int64)
    indices, values = Growing(np.int32), Growing(np.float64)
    starts.extend(np.zeros(1, np.int64))
    smallest, largest = 2**62, -1
    for rows in pieces:
        labels.extend(rows.labels)
        queries.extend(rows.queries)
        lines.extend(rows.lines)
        starts.extend(rows.ends + values.length)
        if rows.largest >= 2**31:
            indices.widen(np.int64)
        indices.extend(rows.indices)
        values.extend(rows.values)
        smallest, largest = min(smallest, rows.smallest), max(largest, rows.largest)
    kind = np.int32 if max(largest, values.length) < 2**31 else np.int64
    return Entries(
        file,
        labels.whole(),
        queries.whole(),
        lines.whole(),
        starts.whole().astype(kind),
        indices.whole().astype(kind, copy=False),
        values.whole(),
        smallest,
        largest,
    )


def assemble(entries: Entries, n_features: int | None, zero_based: bool | Literal["auto"]) -> SparseTable:
    indices, starts = entries.indices, entries.starts
    has_zero = bool(len(indices)) and entries.smallest == 0
    if zero_based is False and has_zero:
        entry = int(np.argmin(indices))
        raise DataFileError(entries.file, "there is an index 0, but they count from 1", entries.line_of(entry))
    counts_from_zero = has_zero if zero_based == "auto" else bool(zero_based)
    if not counts_from_zero:
        indices -= 1
    width = max(0, entries.largest + counts_from_zero)
    if n_features is not None and width > n_features:
        entry = int(np.argmax(indices >= n_features))
        index = indices[entry] + (not counts_from_zero)
        raise DataFileError(entries.file, f"index {index} is beyond the {n_features} columns", entries.line_of(entry))
    if n_features is None and width > MOST_COLUMNS:
        raise DataFileError(
            entries.file,
            f"the index {entries.largest} makes {width:,} columns, which is {width / 2**27:,.0f} GB for one plane; if "
            f"it is no slip, say n_features={width}",
            entries.line_of(int(np.argmax(indices))),
        )
    width = width if n_features is None else n_features
    if width == 0:
        raise DataFileError(entries.file, "no row has an entry, so there is no column")
    X = sparse.csr_array((entries.values, indices, starts), shape=(len(entries.lines), width))
    sort_rows(X, entries, counts_from_zero)
    return SparseTable(
        X,
        whole_numbers_or_floats(entries.labels),
        entries.lines,
        counts_from_zero,
        entries.queries if (entries.queries != NO_QUERY).any() else None,
        (how_counted(has_zero),) if zero_based == "auto" else (),
    )


def how_counted(has_zero: bool) -> str:
    if has_zero:
        return "the indices count from 0, because there is an index 0"
    return "the indices are taken to count from 1, because no index is 0; say so if they count from 0 (zero_based=True)"


def sort_rows(X: sparse.csr_array, entries: Entries, counts_from_zero: bool) -> None:
    """Columns that ascend, where indices could come in any order; one that comes twice is refused."""
    if X.has_sorted_indices and X.has_canonical_format:
        return
    X.sort_indices()
    twice = np.diff(X.indices, prepend=-1) == 0
    twice[X.indptr[:-1][X.indptr[:-1] < len(twice)]] = False  # the first of a row follows nothing
    if twice.any():
        entry = int(np.argmax(twice))
        index = X.indices[entry] + (not counts_from_zero)
        raise DataFileError(entries.file, f"index {index} comes twice", entries.line_of(entry))


def whole_numbers_or_floats(labels: NDArray[np.float64]) -> NDArray[Any]:
    if np.all(labels == np.round(labels)) and np.all(np.abs(labels) < 2.0**53):
        return labels.astype(np.int64)
    return labels


def refuse_row(raw: bytes, file: str, line: int, any_order: bool) -> NoReturn:
    """Say what keeps a line from being <label> <index>:<value> ..., and at which character."""
    row = decoded(raw, file, line).partition("#")[0]
    (place, label), *pairs = [(match.start() + 1, match[0]) for match in WORD.finditer(row)]
    if problem := problem_of_label(label):
        raise DataFileError(file, problem, line, character=place)
    if pairs and QUERY.fullmatch(pairs[0][1]):
        del pairs[0]
    before = -1
    for place, pair in pairs:
        if problem := problem_of_pair(pair):
            raise DataFileError(file, problem, line, character=place)
        index = int(pair.partition(":")[0])
        if index <= before and not any_order:
            problem = f"index {index} comes twice" if before == index else f"index {index} comes after {before}"
            raise DataFileError(file, f"{problem}; the indices of a line must ascend", line, character=place)
        before = index
    raise DataFileError(file, f"{shortened(row.strip())} is not <label> <index>:<value> ...", line)


def problem_of_label(label: str) -> str | None:
    if ":" in label:
        return f"the line begins with {shortened(label)}: the label is missing; put 0 where it is not known"
    if "," in label:
        return f"{shortened(label)}: a row can have one label only"
    number = number_in(label)
    if number is None:
        return f"the label {shortened(label)} is not a number"
    return None if math.isfinite(number) else f"the label is {number}"


def problem_of_pair(pair: str) -> str | None:
    index, colon, value = pair.partition(":")
    if not colon:
        return f"{shortened(pair)} is not index:value"
    if QUERY.fullmatch(pair):
        return "qid stands once, after the label"
    if not re.fullmatch(r"\d+", index, re.ASCII):
        return f"the index {shortened(index)} in {shortened(pair)} is not a whole number"
    if len(index) > MOST_INDEX_DIGITS:
        return f"the index {shortened(index)} is too large: it has more than {MOST_INDEX_DIGITS} digits"
    number = number_in(value)
    if number is None:
        return f"the value {shortened(value)} of index {index} is not a number"
    if math.isnan(number):
        return f"the value of index {index} is NaN"
    return f"the value of index {index} is infinite, or too large for 64 bits" if math.isinf(number) else None


def number_in(text: str) -> float | None:
    try:
        return float(text) if NUMBER.fullmatch(text.encode("utf-8")) else None
    except ValueError:
        return None
