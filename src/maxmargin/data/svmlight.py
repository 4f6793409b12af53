"""Sparse files in the format of SVMlight and LIBSVM: one row a line, only what is not zero.

    <label> [qid:<number>] <index>:<value> <index>:<value> ... [# comment]

Indices ascend strictly and count from 1, or from 0 where an index 0 occurs (the format does not say; LIBSVM counts
from 1, others from 0). A row without entries is a label alone. Empty lines and comments are skipped. Nor does the
format say how many columns there are: give `n_features` where several files belong together.
"""

from __future__ import annotations

import math
import re
from array import array
from contextlib import closing
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.files import DataFileError, Source, lines_of, name_of, shortened

NUMBER = r"[-+.0-9a-zA-Z]+"  # whatever float() is to judge; no underscores, no digits of other scripts
ROW = re.compile(rf"\s*({NUMBER})(?:\s+qid:\d+)?((?:\s+\d{{1,18}}:{NUMBER})*)\s*", re.ASCII)
LARGEST_INDEX = 10**18


class SparseTable(NamedTuple):
    """X and y of an SVMlight file: row i is line `lines[i]`; `zero_based` is how its indices were counted."""

    X: sparse.csr_array
    y: NDArray[Any]
    lines: NDArray[np.int64]
    zero_based: bool


def read_svmlight(
    source: Source, *, n_features: int | None = None, zero_based: bool | Literal["auto"] = "auto"
) -> SparseTable:
    """Read rows of index:value pairs into a CSR matrix; `DataFileError` names the line of what is wrong.

    Labels are whole numbers if all of them are, otherwise floats.

    >>> import io
    >>> table = read_svmlight(io.StringIO("+1 1:0.5 3:2 # a comment\\n-1 2:1\\n"))
    >>> table.X.toarray().tolist(), table.y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1, -1])
    """
    file = name_of(source)
    labels, values, indices = array("d"), array("d"), array("q")
    starts, lines = array("q", [0]), array("q")
    with closing(lines_of(source)) as text_lines:
        for line, text in enumerate(text_lines, 1):
            row = text.partition("#")[0]
            if not row.strip():
                continue
            match = ROW.fullmatch(row)
            try:
                if match is None:
                    raise ValueError
                labels.append(float(match[1]))
                pairs = match[2].replace(":", " ").split()
                indices.extend(map(int, pairs[0::2]))
                values.extend(map(float, pairs[1::2]))
            except ValueError:
                refuse_row(row, file, line)
            starts.append(len(indices))
            lines.append(line)
    if not lines:
        raise DataFileError(file, "the file is empty")
    parts = Entries(file, np.array(values), np.array(indices), np.array(starts), np.array(lines))
    refuse_what_is_not_finite(np.array(labels), parts)
    refuse_what_does_not_ascend(parts)
    return assemble(parts, np.array(labels), n_features, zero_based)


class Entries(NamedTuple):
    """All entries of a file: those of row i are starts[i] to starts[i+1], read from line lines[i]."""

    file: str
    values: NDArray[np.float64]
    indices: NDArray[np.int64]
    starts: NDArray[np.int64]
    lines: NDArray[np.int64]

    def line_of(self, entry: int) -> int:
        return int(self.lines[np.searchsorted(self.starts, entry, side="right") - 1])


def refuse_row(row: str, file: str, line: int) -> NoReturn:
    """Say what keeps a line from being <label> <index>:<value> ..."""
    label, *pairs = row.split()
    if ":" in label:
        raise DataFileError(file, f"the line begins with {shortened(label)}: the label is missing", line)
    if "," in label:
        raise DataFileError(file, f"{shortened(label)}: a row can have one label only", line)
    if not is_number(label):
        raise DataFileError(file, f"the label {shortened(label)} is not a number", line)
    for pair in pairs:
        index, colon, value = pair.partition(":")
        if not colon:
            raise DataFileError(file, f"{shortened(pair)} is not index:value", line)
        if index == "qid" and value.isdecimal():
            raise DataFileError(file, "qid stands once, after the label", line)
        if not re.fullmatch(r"\d+", index, re.ASCII):
            raise DataFileError(file, f"the index {shortened(index)} in {shortened(pair)} is not a whole number", line)
        if int(index) >= LARGEST_INDEX:
            raise DataFileError(file, f"the index {shortened(index)} is too large", line)
        if not is_number(value):
            raise DataFileError(file, f"the value {shortened(value)} of index {index} is not a number", line)
    raise DataFileError(file, f"{shortened(row.strip())} is not <label> <index>:<value> ...", line)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return re.fullmatch(NUMBER, text) is not None


def refuse_what_is_not_finite(labels: NDArray[np.float64], entries: Entries) -> None:
    if not np.isfinite(labels).all():
        row = int(np.argmin(np.isfinite(labels)))
        raise DataFileError(entries.file, f"the label is {labels[row]}", int(entries.lines[row]))
    finite = np.isfinite(entries.values)
    if not finite.all():
        entry = int(np.argmin(finite))
        value = entries.values[entry]
        problem = "is NaN" if math.isnan(value) else "is infinite, or too large for 64 bits"
        raise DataFileError(
            entries.file, f"the value of index {entries.indices[entry]} {problem}", entries.line_of(entry)
        )


def refuse_what_does_not_ascend(entries: Entries) -> None:
    falls = np.diff(entries.indices, prepend=-1) <= 0
    falls[entries.starts[:-1][entries.starts[:-1] < len(falls)]] = False  # the first of a row follows nothing
    if falls.any():
        entry = int(np.argmax(falls))
        before, index = entries.indices[entry - 1], entries.indices[entry]
        problem = f"index {index} comes twice" if before == index else f"index {index} comes after {before}"
        raise DataFileError(entries.file, f"{problem}; the indices of a line must ascend", entries.line_of(entry))


def assemble(
    entries: Entries, labels: NDArray[np.float64], n_features: int | None, zero_based: bool | Literal["auto"]
) -> SparseTable:
    file, values, indices, starts, lines = entries
    has_zero = bool(len(indices)) and int(indices.min()) == 0
    if zero_based is False and has_zero:
        entry = int(np.argmin(indices))
        raise DataFileError(file, "there is an index 0, but they count from 1", entries.line_of(entry))
    counts_from_zero = has_zero if zero_based == "auto" else bool(zero_based)
    if not counts_from_zero:
        indices -= 1
    width = int(indices.max()) + 1 if len(indices) else 0
    if n_features is not None and width > n_features:
        entry = int(np.argmax(indices >= n_features))
        index = indices[entry] + (not counts_from_zero)
        raise DataFileError(file, f"index {index} is beyond the {n_features} columns", entries.line_of(entry))
    width = width if n_features is None else n_features
    if width == 0:
        raise DataFileError(file, "no row has an entry, so there is no column")
    kind = np.int32 if max(width, len(values)) < 2**31 else np.int64
    X = sparse.csr_array((values, indices.astype(kind), starts.astype(kind)), shape=(len(lines), width))
    y: NDArray[Any] = labels
    if np.all(labels == np.round(labels)) and np.all(np.abs(labels) < 2.0**53):
        y = labels.astype(np.int64)
    return SparseTable(X, y, lines, counts_from_zero)
