"""Tables out: a CSV or an SVMlight file, as the name says, or standard output."""

from __future__ import annotations

import csv
import importlib
import io
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from maxmargin.cli.console import UserError, results
from maxmargin.cli.datafile import CSV_SUFFIXES, SVMLIGHT_SUFFIXES, DataFile, Format, suffix_of

COMPRESSORS = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}


def write_table(output: str, format: Format, X: Any, data: DataFile) -> None:
    """Rows and labels to a file, compressed if its name ends so."""
    format = format_of(output, data) if format is Format.AUTO else format
    try:
        if output == "-":
            stream = io.StringIO(newline="")
            write_rows(stream, format, X, data, ",")
            results.file.write(stream.getvalue())
        elif format is Format.CSV:
            with whole(output) as path, open_text(path) as file:
                write_rows(file, format, X, data, "\t" if suffix_of(output) == ".tsv" else ",")
        else:
            with whole(output) as path:
                write_rows(path, format, X, data, ",")
    except OSError as error:
        raise UserError(f"{output} cannot be written: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        raise UserError(f"{output}: {error}") from None


@contextmanager
def whole(output: str) -> Iterator[str]:
    """Where to write: beside the file, whose name it takes once it is whole, so that a full disk costs no old file.

    A pipe or a device is written to as it is.
    """
    target = Path(os.path.realpath(output))
    if target.exists() and not target.is_file():
        yield output
        return
    unfinished = target.with_name(f".{secrets.token_hex(4)}.{target.name}")  # the suffix says how it is compressed
    try:
        yield str(unfinished)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def format_of(output: str, data: DataFile) -> Format:
    """By the name; or else as the data came, if that can be written."""
    suffix = suffix_of(output)
    if suffix in CSV_SUFFIXES:
        return Format.CSV
    is_sparse = suffix in SVMLIGHT_SUFFIXES or data.format is Format.SVMLIGHT
    return Format.SVMLIGHT if is_sparse else Format.CSV


def open_text(path: str) -> Any:
    suffix = Path(path).suffix.lower()
    if suffix in COMPRESSORS:
        return importlib.import_module(COMPRESSORS[suffix]).open(path, "wt", encoding="utf-8", newline="")
    return open(path, "w", encoding="utf-8", newline="")


def write_rows(target: Any, format: Format, X: Any, data: DataFile, delimiter: str) -> None:
    if format is Format.SVMLIGHT:
        if data.ids is not None or data.weights is not None:
            raise UserError(
                "an SVMlight file has no place for --id and --weight: write CSV, or pass them over (--ignore)"
            )
        from maxmargin.data.svmlight_writer import write_svmlight

        write_svmlight(target, X, data.y)
        return
    if format is not Format.CSV:
        raise UserError(f"tables are written as csv or svmlight, not as {format.value}")
    dense = X.toarray() if hasattr(X, "toarray") else X
    names = data.feature_names or tuple(f"x{index}" for index in range(dense.shape[1]))
    columns = [("id", data.ids), *zip(names, dense.T, strict=True), ("weight", data.weights)]
    columns = [(name, values) for name, values in columns if values is not None]
    columns.append((data.label_name or "label", data.y))
    writer = csv.writer(target, delimiter=delimiter, lineterminator="\n")
    writer.writerow([name for name, _ in columns])
    writer.writerows(zip(*(values.tolist() for _, values in columns), strict=True))
