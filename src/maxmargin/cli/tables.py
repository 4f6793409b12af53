"""Tables as the commands read and write them: a file of any format that the library knows, a query, or a stream."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from maxmargin.cli.console import UserError, messages, name_of_output, results
from maxmargin.cli.options import ReadingOptions
from maxmargin.reading.files import SUFFIXES, Format, opener_of, suffix_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from maxmargin.reading.columns import LabelledTable

LABELS_SHOWN = 8
MANY_LABELS = 20
OTHER_SUFFIXES = {
    ".7z", ".arff", ".arrow", ".arrows", ".db", ".duckdb", ".feather", ".h5", ".hdf5", ".json", ".jsonl", ".lz4",
    ".mat", ".npy", ".npz", ".ods", ".onnx", ".orc", ".parquet", ".pickle", ".pkl", ".rds", ".skops", ".sqlite", ".tar",
    ".tgz", ".xls", ".xlsx", ".zip", ".zst",
}  # fmt: skip
WRITTEN = "tables are written as CSV (.csv, .tsv) or SVMlight (.svm, .libsvm), and these as .gz, .bz2 or .xz"


class DataFile(NamedTuple):
    """The rows of a file: a `LabelledTable`, whose docstring explains the fields, with its name and format.

    The columns of a sparse file have no names, but indices. A cell that is missing is NaN.
    """

    name: str
    format: Format
    X: Any
    y: Any
    feature_names: tuple[str, ...] | None
    label_name: str | None
    lines: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    ids: NDArray[Any] | None = None
    texts: Mapping[str, NDArray[Any]] = MappingProxyType({})
    asked: Mapping[str, str] = MappingProxyType({})
    queries: NDArray[np.int64] | None = None
    zero_based: bool = True
    notes: tuple[str, ...] = ()
    weight_name: str | None = None
    id_name: str | None = None
    has_names: bool = True
    ignored: tuple[str, ...] = ()

    @property
    def roles(self) -> dict[str, str]:
        """The columns that are no features, for a model to remember: by name, or by index where they have no names."""
        titles = {"label": self.label_name, "weight": self.weight_name, "id": self.id_name}
        kept = {part: title for part, title in titles.items() if title is not None}
        return kept if self.has_names else {part: title.removeprefix("column ") for part, title in kept.items()}

    @property
    def columns_by(self) -> str | None:
        """How the columns are told apart, for a model to remember; None where indices are of no file."""
        if self.feature_names is not None:
            return "name" if self.has_names else "position"
        return f"index from {0 if self.zero_based else 1}" if self.format is Format.SVMLIGHT else None

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of all features, those of numbers first; None in a sparse file."""
        return None if self.feature_names is None else (*self.feature_names, *self.texts)

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1]) + len(self.texts)

    def where(self, counts: NDArray[np.bool_]) -> DataFile:
        """Some of the rows."""
        return self._replace(
            X=self.X[counts],
            y=None if self.y is None else self.y[counts],
            lines=self.lines[counts],
            weights=None if self.weights is None else self.weights[counts],
            ids=None if self.ids is None else self.ids[counts],
            texts={name: words[counts] for name, words in self.texts.items()},
            queries=None if self.queries is None else self.queries[counts],
        )

    def rows(self, names: Sequence[str] | None = None) -> Any:
        """The features, or those that are named: an array of numbers, or of objects where some are text."""
        import numpy as np

        if self.feature_names is None or (names is None and not self.texts):
            return self.X
        chosen = (self.names or ()) if names is None else names
        places = {name: place for place, name in enumerate(self.feature_names)}
        if all(name in places for name in chosen):
            return self.X[:, [places[name] for name in chosen]]
        table = np.empty((len(self.lines), len(chosen)), dtype=object)
        for index, name in enumerate(chosen):
            table[:, index] = self.X[:, places[name]] if name in places else self.texts[name]
        return table


class Expected(NamedTuple):
    """What a model knows of its data: which columns, and whether each is a number, a category or text; how they are
    told apart; what its labels are; whether it fills in missing cells; and which columns were label, weight and id, of
    which a table with labels must have those that are `needed`."""

    columns: Mapping[str, str] | None = None
    columns_by: str | None = None
    classes: Sequence[Any] | None = None
    fills_in: bool = False
    roles: Mapping[str, str] = MappingProxyType({})
    needed: tuple[str, ...] = ("label", "weight")


ANYTHING = Expected()


def read(data: str, options: ReadingOptions, *, model: Expected = ANYTHING, needs_labels: bool = True) -> DataFile:
    """Read a file, standard input where its name is -, or a query; every problem becomes a `UserError`.

    Where no labels are needed, they are read if their column is named, here or in the model, and there may be no row.
    Where there is no model that expects something, the file and the options tell.
    """
    from maxmargin.reading.files import DataFileError, MissingValueError, recognise

    name = "the query" if options.sql is not None else "standard input" if data == "-" else data
    impute = options.impute or model.fills_in
    try:
        with messages.status(f"Reading {data}"):
            source: Any = standard_input() if data == "-" and options.sql is None else data
            format = options.format
            if options.sql is not None:
                format = Format.ARROW
            elif format is Format.AUTO:
                format = recognise(source)
            if format is not Format.CSV and options.no_header:
                raise UserError(f"{name} is no CSV file: --no-header is for CSV (--format csv)")
            try:
                table = read_as(source, format, name, options, model, needs_labels)
            except DataFileError as error:  # labels that nobody asked for need not be whole
                if needs_labels or options.label is not None or str(error.column) != model.roles.get("label"):
                    raise
                where = "" if error.line is None else f" (line {error.line})"
                messages.print(f"maxmargin: {name}: not every row has a label{where}, so that they are not compared")
                if data == "-":
                    source.seek(0)
                others = {part: column for part, column in model.roles.items() if part != "label"}
                table = read_as(source, format, name, options, model._replace(roles=others), needs_labels)
    except MissingValueError as error:
        filled = "--impute fills such cells in" if model.columns is None else "the model was fitted without --impute"
        raise UserError(str(error) if impute else f"{error} ({filled})") from None
    except DataFileError as error:
        raise UserError(str(error).replace("say n_features=", "say --n-features ")) from None
    except ImportError as missing:
        raise UserError(f"{name} cannot be read: {missing}") from None
    except OSError as error:
        raise UserError(f"{name} cannot be read: {(error.strerror or str(error)).lower()}") from None
    for note in table.notes:
        messages.print(f"maxmargin: {name}: {note.replace('zero_based=True', '--zero-based')}")
    if format is Format.SVMLIGHT and model.classes is not None:
        from maxmargin.reading.notations import labels_like

        table = table._replace(y=labels_like(table.y.tolist(), model.classes))
    if needs_labels and table.y is None:
        names = ", ".join(map(repr, (*(table.feature_names or ()), *table.texts)))
        raise UserError(f"{name}: say with --label which column holds the labels; there are {names}")
    if model.columns is None:
        refuse_what_cannot_be_used(table, name, impute)
    return DataFile(name, format, *table)


def read_as(
    source: Any, format: Format, name: str, options: ReadingOptions, model: Expected, needs_labels: bool
) -> LabelledTable:
    """The table, by the library's own reader."""
    from maxmargin.reading.columns import Roles
    from maxmargin.reading.read import read_roles

    roles = Roles(
        label=options.label,
        weight=options.weight,
        id=options.id,
        ignore=tuple(options.ignore or ()),
        categorical=tuple(options.categorical or ()),
        prose=tuple(options.text or ()),
        usual_label=needs_labels and format is Format.CSV,
        missing=options.impute or model.fills_in,
        expected=model.columns,
        written=True,
        may_be_empty=not needs_labels,
        by_position=None if model.columns_by is None else model.columns_by == "position",
        classes=model.classes,
        remembered=model.roles,
        needed=model.needed if needs_labels else (),
    )
    return read_roles(
        source,
        roles,
        n_features=options.n_features,
        format=format,
        header=not options.no_header,
        zero_based=counting_of(format, name, options.zero_based, model.columns_by),
        database=options.sql,
    )


def refuse_what_cannot_be_used(table: LabelledTable, name: str, impute: bool) -> None:
    if not table.X.shape[1] and not table.texts:
        raise UserError(f"{name}: there is no column but those of labels, weights and ids: nothing to learn from")
    if impute and table.feature_names is None:
        raise UserError(f"{name}: in a sparse file no cell is missing, what is not written is 0: leave out --impute")


def counting_of(format: Format, name: str, zero_based: bool | None, columns_by: str | None) -> Any:
    """How the indices of an SVMlight file count: as the user says, or as in the file of the model."""
    if zero_based is not None:
        if format is not Format.SVMLIGHT:
            raise UserError(f"{name} is no SVMlight file: --zero-based and --one-based are for these")
        return zero_based
    return {"index from 0": True, "index from 1": False}.get(columns_by or "", "auto")


def count_labels(data: DataFile) -> list[tuple[Any, int]]:
    """The labels, sorted, and how many rows have each."""
    import numpy as np

    labels, counts = np.unique(data.y, return_counts=True)
    return list(zip(labels.tolist(), counts.tolist(), strict=True))


def refuse_a_measure(data: DataFile, labels: Sequence[Any]) -> None:
    """Labels that are nearly as many as the rows are no classes, but what a regression predicts."""
    if len(labels) > MANY_LABELS and 2 * len(labels) > len(data.lines):
        where = "" if data.label_name is None else f", column {data.label_name!r}"
        raise UserError(
            f"{data.name}{where}: {len(labels):,} different labels in {len(data.lines):,} rows. Is it a measure and "
            "not a class? Choose another column with --label."
        )


def headline(data: DataFile) -> str:
    """A line about the file."""
    rows, columns = data.X.shape[0], data.n_columns
    counts = count_labels(data)
    shown = [f"{label!r} ({count:,})" for label, count in counts[:LABELS_SHOWN]]
    shown += [f"{len(counts) - LABELS_SHOWN} more"] if len(counts) > LABELS_SHOWN else []
    return f"{data.name}: {rows:,} rows x {columns:,} columns, {len(counts)} labels: {', '.join(shown)}"


def describe(data: DataFile) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "file": data.name,
        "format": data.format.value,
        "rows": data.X.shape[0],
        "columns": data.n_columns,
        "labels": [{"label": label, "count": count} for label, count in count_labels(data)],
    }


def standard_input() -> IO[bytes]:
    """All of it, so that the format can be recognised before it is read."""
    stream = io.BytesIO(sys.stdin.buffer.read())
    stream.name = "<stdin>"
    return stream


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
