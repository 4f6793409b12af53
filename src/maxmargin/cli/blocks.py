"""Tables that commands read block by block: --memory says how much of one may be in memory at a time.

TableByBlocks      files as blocks: block k is a `DataFile` of some rows
PreparedBlocks     the same rows behind the steps of a model: what `fit`, `verify` and the others take as X; its
                   labels and weights stay with it
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from maxmargin.cli.console import UserError, files_of, in_a_sentence, messages
from maxmargin.cli.models import Model
from maxmargin.cli.options import ReadingOptions
from maxmargin.cli.preparation import UnknownWords, inner_steps, transformed
from maxmargin.cli.several_files import name_of_all
from maxmargin.cli.tables import (
    ANYTHING,
    DataFile,
    Expected,
    as_user_errors,
    counting_of,
    refuse_what_cannot_be_used,
    roles_for,
)
from maxmargin.reading.files import Format

if TYPE_CHECKING:
    from maxmargin.cli.column_survey import ColumnSurvey
    from maxmargin.data.labelled import RowsAndLabels
    from maxmargin.reading.scan import ScannedColumn, ScannedRows


class TableByBlocks:
    """Files as blocks of rows; `head` has their columns, and no row. What is wrong with a block is a `UserError`."""

    def __init__(self, name: str, format: Format, rows: ScannedRows, model: Expected, options: ReadingOptions) -> None:
        self.name, self.format, self.rows, self.model, self.options = name, format, rows, model, options
        self.head = DataFile(name, format, *rows.reader.head)
        self.n_blocks = rows.n_blocks

    def block(self, k: int) -> DataFile:
        with as_user_errors(self.rows.reader.file_of(k), self.model, self.options):
            return DataFile(self.name, self.format, *self.rows.table(k))

    def meant(self, labels: Any) -> Any:
        """The labels of the blocks, of which these are all the different ones, as they are meant."""
        if self.format is Format.SVMLIGHT and self.model.classes is not None:
            from maxmargin.reading.cells import labels_like

            return labels_like(labels.tolist(), self.model.classes)
        return self.rows.meant(labels)

    def surveyed(self) -> SurveyedFile:
        """After one pass, in which every cell is looked at."""
        from maxmargin.cli.column_survey import surveyed

        with in_a_sentence(self.name), messages.status(f"Reading {self.name}"):
            seen = surveyed(self)
        if not seen.rows:
            raise UserError(f"{self.name}: there is no row")
        lacking = [*zip(self.head.feature_names or (), seen.numbers.counts.tolist(), strict=False)]
        lacking += [(name, len(words.keys() - {None})) for name, words in seen.words.items()]
        for name, count in lacking:
            if not count:
                raise UserError(f"{self.name}, column {name!r}: the value is missing in every row; ignore the column")
        return SurveyedFile(self, seen)


class SurveyedFile:
    """A table by blocks and what its columns hold; it is described as a `DataFile` is."""

    def __init__(self, table: TableByBlocks, seen: ColumnSurvey) -> None:
        import numpy as np

        self.blocks, self.seen, self.name = table, seen, table.name
        written = np.array(list(seen.labels))
        labels, places = np.unique(table.meant(written), return_inverse=True)
        counts = np.bincount(places, list(seen.labels.values())).astype(int)
        self.label_counts = list(zip(labels.tolist(), counts.tolist(), strict=True))
        words = {name: np.array([word for word in known if word is not None]) for name, known in seen.words.items()}
        self.told = table.head._replace(texts={**table.head.texts, **words})  # all words, for `preparation_of`

    @property
    def headline(self) -> str:
        from maxmargin.cli.tables import headline_of

        return headline_of(self.name, self.seen.rows, self.told.n_columns, self.label_counts)

    @property
    def description(self) -> dict[str, Any]:
        return {
            "file": self.name,
            "format": self.blocks.format.value,
            "rows": self.seen.rows,
            "columns": self.told.n_columns,
            "labels": [{"label": label, "count": count} for label, count in self.label_counts],
            "memory": self.blocks.rows.memory,
            "blocks": self.blocks.n_blocks,
        }


class PreparedBlocks:
    """The rows behind the steps of a model, or as they are: a source with its labels, as fit and verify take it.

    Words that the steps of a model do not know are left in `unknown`, where somebody wants to tell them. With
    `positive`, the labels are 1 for that one and 0 for all others; `counting`: rows of weight 0 are left out.
    """

    def __init__(
        self,
        table: TableByBlocks,
        steps: Any,
        model: Model | None = None,
        positive: Any = None,
        counting: bool = False,
    ) -> None:
        self.files, self.steps, self.model, self.positive = table, steps, model, positive
        self.counting = counting and table.rows.weighted
        self.unknown: UnknownWords | None = None
        rows = table.rows
        self.n_blocks, self.memory = rows.n_blocks, rows.memory
        self.n_rows, self.heights = (None, None) if self.counting else (rows.n_rows, rows.heights)
        self.n_columns = width_behind(steps, int(rows.n_columns if model is None else model.whole.n_features_in_))
        self.known = None if model is None else getattr(model.classifier, "classes_", None)

    def table(self, k: int) -> DataFile:
        return self.rows_of(k)

    def rows_of(self, k: int) -> DataFile:
        """Those of block k that are taken, as the files have them."""
        block = self.files.block(k)
        return block.where(block.weights > 0.0) if self.counting and block.weights is not None else block

    def block(self, k: int) -> Any:
        return self.prepared(self.rows_of(k))

    def labelled_block(self, k: int) -> RowsAndLabels:
        from maxmargin.data.labelled import RowsAndLabels

        block = self.rows_of(k)
        self.refuse_unknown_labels(k, block)
        return RowsAndLabels(self.prepared(block), block.y, block.weights)

    def prepared(self, block: DataFile) -> Any:
        import numpy as np
        import scipy.sparse as sparse

        if not len(block.lines):
            thin = makes_sparse(self.steps, self.files.format is Format.SVMLIGHT)
            return sparse.csr_array((0, self.n_columns)) if thin else np.empty((0, self.n_columns))
        if self.model is not None:
            return self.model.prepared(block, UnknownWords() if self.unknown is None else self.unknown)
        return block.X if self.steps is None else transformed(block, self.steps)

    def refuse_unknown_labels(self, k: int, block: DataFile) -> None:
        """A proof speaks of the labels of the model, and of no others."""
        if self.known is None or block.y is None:
            return
        import numpy as np

        counting = np.arange(len(block.y)) if block.weights is None else np.flatnonzero(block.weights > 0.0)
        written, first = np.unique(block.y[counting], return_index=True)
        for label, row in zip(self.files.meant(written).tolist(), first.tolist(), strict=True):
            if label not in self.known.tolist():
                shown = ", ".join(map(repr, self.known.tolist()[:8])) + (" ..." if len(self.known) > 8 else "")
                reader = self.files.rows.reader
                place = f"{reader.file_of(k)}, line {reader.line_of(k, int(counting[row]))}"
                raise UserError(f"{place}: the label {label!r} is none of the model's: {shown}")

    def meant(self, labels: Any) -> Any:
        found = self.files.meant(labels)
        return found if self.positive is None else (found == self.positive).astype(int)

    def meant_each(self, labels: Any) -> Any:
        """Of each row what its label means."""
        import numpy as np

        written, places = np.unique(labels, return_inverse=True)
        return self.meant(written)[places]

    def fingerprint(self) -> dict[str, Any]:
        """Of the files, and of what the steps have learnt."""
        return {**self.files.rows.fingerprint(), "prepared": learnt(self.steps)}

    @property
    def labels(self) -> ScannedColumn:
        from maxmargin.reading.scan import ScannedColumn

        return ScannedColumn(self, "labels")  # type: ignore[arg-type]

    @property
    def weights(self) -> ScannedColumn | None:
        from maxmargin.reading.scan import ScannedColumn

        return ScannedColumn(self, "weights") if self.files.rows.weighted else None  # type: ignore[arg-type]

    def blocks(self) -> Iterator[tuple[DataFile, Any]]:
        """The rows of the files, and behind the steps, block by block."""
        for k in range(self.n_blocks):
            block = self.rows_of(k)
            yield block, self.prepared(block)


def scanned(
    data: Sequence[str], options: ReadingOptions, memory: str, model: Expected = ANYTHING, needs_labels: bool = True
) -> TableByBlocks:
    """The files as blocks; every problem becomes a `UserError`."""
    from maxmargin.reading.paths import SpooledWarning, format_of, plain_files
    from maxmargin.reading.scan import bytes_of, scanned_rows

    files = files_of(data, options.sql)
    name = name_of_all(files)
    if options.sql is not None or files == ["-"]:
        raise UserError("--memory reads files, again and again: write a query or standard input to one first")
    with in_a_sentence("--memory"):
        allowed = bytes_of(memory)
    with in_a_sentence("--memory"), as_user_errors(name, model, options), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", SpooledWarning)
        paths, scratch = plain_files(files, None)
        format = format_of(paths, options.format)
        if format is not Format.CSV and options.no_header:
            raise UserError(f"{name} is no CSV file: --no-header is for CSV (--format csv)")
        roles = roles_for(options, model, format, needs_labels, is_part=True)
        rows = scanned_rows(
            paths, format, roles, allowed, scratch,
            header=not options.no_header,
            n_features=options.n_features,
            zero_based=counting_of(format, name, options.zero_based, model.columns_by),
        )  # fmt: skip
    for sentence in (*(str(one.message) for one in told), *rows.reader.head.notes):
        messages.print(f"maxmargin: {name}: {sentence}")
    refuse_what_cannot_be_used(rows.reader.head, name, options, model, needs_labels)
    return TableByBlocks(name, format, rows, model, options)


def of_a_model(
    loaded: Model, data: Sequence[str], options: ReadingOptions, memory: str, needs_labels: bool = True
) -> PreparedBlocks:
    """The rows of files as the classifier of a model sees them."""
    if loaded.is_text:
        raise UserError("--memory is for models of maxmargin: a text model does not tell how many columns it has")
    table = scanned(data, options, memory, loaded.expects(), needs_labels)
    return PreparedBlocks(table, loaded.scaler, loaded)


def makes_sparse(steps: Any, is_sparse: bool) -> bool:
    """Whether rows are sparse behind these steps."""
    first: Any = None if steps is None else steps.steps[0][1]
    return bool(first.sparse_output_) if hasattr(first, "sparse_output_") else is_sparse


def width_behind(steps: Any, width: int) -> int:
    """How many columns the steps make."""
    from maxmargin.persistence.column_blocks import width_of_blocks

    first: Any = None if steps is None else steps.steps[0][1]
    return width_of_blocks(first) if hasattr(first, "output_indices_") else width


def learnt(steps: Any) -> str:
    """A digest of what fitted steps hold."""
    import hashlib

    digest = hashlib.sha256()
    for step, chosen in inner_steps(steps):
        digest.update(f"{type(step).__name__} {chosen}\n".encode())
        for name in ("mean_", "scale_", "min_", "statistics_", "categories_"):
            value = getattr(step, name, None)
            for part in [] if value is None else value if isinstance(value, list) else [value]:
                digest.update(f"{name} {part.tolist()}\n".encode())
    return digest.hexdigest()
