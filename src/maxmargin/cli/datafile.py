"""A data file as the user names it: CSV or SVMlight, on disk or from standard input."""

from __future__ import annotations

import io
import re
import sys
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from maxmargin.cli.console import UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COMPRESSED = {".gz", ".bz2", ".xz"}
CSV_SUFFIXES = {".csv", ".tsv"}
SVMLIGHT_SUFFIXES = {".libsvm", ".svm", ".svml", ".svmlight"}
SVMLIGHT_ROW = re.compile(r"\s*[-+.\w]+(\s+qid:\d+)?(\s+\d+:\S+)+\s*(#.*)?")


class Format(StrEnum):
    """How a file is written."""

    AUTO = "auto"
    CSV = "csv"
    SVMLIGHT = "svmlight"


class DataFile(NamedTuple):
    """The rows of a file; row i begins in line lines[i]. The columns of a sparse file have no names, but indices."""

    name: str
    format: Format
    X: Any
    y: NDArray[Any]
    lines: NDArray[np.int64]
    label_name: str | None
    feature_names: tuple[str, ...] | None
    zero_based: bool = True


def read(file: str, format: Format, label: str | None, header: bool) -> DataFile:
    """Read a file, or standard input where its name is -; every problem becomes a `UserError`."""
    from maxmargin.data.files import DataFileError
    from maxmargin.data.svmlight import read_svmlight
    from maxmargin.data.tables import read_csv

    name = "standard input" if file == "-" else file
    try:
        source = standard_input() if file == "-" else file
        format = recognise(source) if format is Format.AUTO else format
        if format is Format.CSV:
            table = read_csv(source, index_or_name(label), header)
            return DataFile(name, format, table.X, table.y, table.lines, table.label_name, table.feature_names)
        if label is not None or not header:
            raise UserError(f"{name} is an SVMlight file: --label and --no-header are for CSV (--format csv)")
        rows = read_svmlight(source)
        return DataFile(name, format, rows.X, rows.y, rows.lines, None, None, rows.zero_based)
    except DataFileError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"{name} cannot be read: {(error.strerror or str(error)).lower()}") from None


def standard_input() -> IO[bytes]:
    """All of it, so that the format can be recognised before it is read."""
    stream = io.BytesIO(sys.stdin.buffer.read())
    stream.name = "<stdin>"
    return stream


def index_or_name(label: str | None) -> str | int | None:
    """A whole number is an index."""
    if label is None or not re.fullmatch(r"-?\d+", label, re.ASCII):
        return label
    return int(label)


def recognise(source: str | IO[bytes]) -> Format:
    """By the name; where that says nothing, by the first line that is not empty."""
    from maxmargin.data.files import lines_of

    if isinstance(source, str):
        suffixes = [suffix.lower() for suffix in Path(source).suffixes]
        while suffixes and suffixes[-1] in COMPRESSED:
            suffixes.pop()
        if suffixes and suffixes[-1] in CSV_SUFFIXES:
            return Format.CSV
        if suffixes and suffixes[-1] in SVMLIGHT_SUFFIXES:
            return Format.SVMLIGHT
    with closing(lines_of(source)) as lines:
        told = (line for line in lines if line.strip() and not line.startswith("#"))
        is_svmlight = SVMLIGHT_ROW.fullmatch(next(told, "").strip())
    if not isinstance(source, str):
        source.seek(0)
    return Format.SVMLIGHT if is_svmlight else Format.CSV
