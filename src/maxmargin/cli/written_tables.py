"""Tables as the commands write them: CSV or SVMlight, compressed if the name ends so."""

from __future__ import annotations

import csv
import io
from typing import Any

from maxmargin.cli.console import UserError, messages, name_of_output, results
from maxmargin.cli.tables import DataFile
from maxmargin.reading.files import SUFFIXES, Format, opener_of, suffix_of

OTHER_SUFFIXES = {
    ".7z", ".arff", ".arrow", ".arrows", ".db", ".duckdb", ".feather", ".h5", ".hdf5", ".json", ".jsonl", ".lz4",
    ".mat", ".npy", ".npz", ".ods", ".onnx", ".orc", ".parquet", ".pickle", ".pkl", ".rds", ".skops", ".sqlite", ".tar",
    ".tgz", ".xls", ".xlsx", ".zip", ".zst",
}  # fmt: skip
WRITTEN = "tables are written as CSV (.csv, .tsv) or SVMlight (.svm, .libsvm), and these as .gz, .bz2 or .xz"


def check_table_output(output: str, to: Format) -> None:
    """One sentence before any work, where the name says that the file would be something else."""
    suffix = suffix_of(output)
    if to not in (Format.AUTO, Format.CSV, Format.SVMLIGHT):
        raise UserError(f"tables are written as csv or svmlight, not as {to.value}")
    if output != "-" and suffix in OTHER_SUFFIXES:
        raise UserError(f"{output} cannot be written: {WRITTEN}, not as {suffix}")
    if to is not Format.AUTO and SUFFIXES.get(suffix, to) is not to:
        raise UserError(f"{output} cannot be written: its name says {suffix}, and --to says {to.value}")


def write_table(output: str, format: Format, X: Any, data: DataFile) -> None:
    """Rows and labels to a file, compressed if its name ends so."""
    from maxmargin.persistence.container import replaced

    check_table_output(output, format)
    format = format_of(output, data) if format is Format.AUTO else format
    try:
        if output == "-":
            stream = io.StringIO(newline="")
            write_rows(stream, format, X, data, ",")
            results.file.write(stream.getvalue())
        elif format is Format.CSV:
            with replaced(output) as path, opener_of(path)(path, "wt", encoding="utf-8", newline="") as file:
                write_rows(file, format, X, data, "\t" if suffix_of(output) == ".tsv" else ",")
        else:
            with replaced(output) as path:
                write_rows(path, format, X, data, ",")
    except OSError as error:
        raise UserError(
            f"{name_of_output(output)} cannot be written: {(error.strerror or str(error)).lower()}"
        ) from None
    except ValueError as error:
        raise UserError(f"{name_of_output(output)}: {error}") from None


def format_of(output: str, data: DataFile) -> Format:
    """By the name; or else as the data came, if that can be written."""
    as_it_came = Format.SVMLIGHT if data.format is Format.SVMLIGHT else Format.CSV
    return SUFFIXES.get(suffix_of(output), as_it_came)


def write_rows(target: Any, format: Format, X: Any, data: DataFile, delimiter: str) -> None:
    if format is Format.SVMLIGHT:
        write_sparse(target, X, data)
        return
    if data.queries is not None:
        messages.print(f"maxmargin: {data.name}: a CSV file has no place for the qid of the rows, which is left out")
    dense = X.toarray() if hasattr(X, "toarray") else X
    names = data.feature_names or tuple(f"x{index}" for index in range(dense.shape[1]))
    id_name, weight_name = (data.id_name, data.weight_name) if data.has_names else ("id", "weight")
    columns = [(id_name, data.ids), *zip(names, dense.T, strict=True), (weight_name, data.weights)]
    columns = [(name, values) for name, values in columns if values is not None]
    columns.append((data.label_name or "label", data.y))
    titles = [name for name, _ in columns]
    if len(set(titles)) < len(titles):
        twin = next(name for place, name in enumerate(titles) if name in titles[:place])
        raise UserError(f"two columns would be called {twin!r}: rename one of those that they come from, or ignore it")
    writer = csv.writer(target, delimiter=delimiter, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows(zip(*(values.tolist() for _, values in columns), strict=True))


def write_sparse(target: Any, X: Any, data: DataFile) -> None:
    """Indices count from 1, or as they did in the file that they come from."""
    from maxmargin.reading.svmlight_writer import write_svmlight

    if data.ids is not None or data.weights is not None:
        raise UserError("an SVMlight file has no place for --id and --weight: write CSV, or pass them over (--ignore)")
    if data.y.dtype.kind not in "biuf":
        raise UserError(
            f"an SVMlight file has numbers for labels, and {data.name} has words such as {data.y[0].item()!r}: put a "
            "number in the place of each, or write CSV"
        )
    is_zero_based = data.format is Format.SVMLIGHT and data.zero_based
    write_svmlight(target, X, data.y, zero_based=is_zero_based, queries=data.queries)
    used = X.indices if hasattr(X, "indices") else X.any(axis=0).nonzero()[0]
    if not len(used) or int(used.max()) + 1 < X.shape[1]:
        messages.print(
            f"maxmargin: {data.name}: the last columns are zero in all rows, which an SVMlight file does not tell: "
            f"read it with --n-features {X.shape[1]}"
        )
