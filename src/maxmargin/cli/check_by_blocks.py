"""`maxmargin check DATA --memory SIZE`: does a plane separate the labels of a table that is read by blocks?

The certificates are those of rows in memory. The rows that carry a proof are few: they are looked up in their blocks,
to be told with their file and line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.cli.blocks import PreparedBlocks, scanned
from maxmargin.cli.checked import Proof, find, heaviest, in_words, print_answer, refuse_labels, summary
from maxmargin.cli.column_survey import fitted
from maxmargin.cli.console import ExitCode, Stopwatch, TimeLimit, gap_shown, in_a_sentence, messages, say_json
from maxmargin.cli.options import ReadingOptions, Scaling
from maxmargin.cli.preparation import names_after, preparation_of


def check_by_blocks(
    data: Sequence[str],
    reading: ReadingOptions,
    memory: str,
    norm: str,
    fit_intercept: bool,
    positive: str | None,
    max_time: float | None,
    as_json: bool,
) -> int:
    """The command, from where its options are checked."""
    from maxmargin import MulticlassCertificate, separability

    table = scanned(data, reading, memory).surveyed()
    limit, watch = TimeLimit(max_time), Stopwatch()
    counting = table.blocks.meant(np.array(list(table.seen.counting)))
    labels = np.unique(counting).tolist()
    refuse_labels(table.told, labels, positive)
    label = None if positive is None else find(positive, labels, table.told)
    preparation = preparation_of(table.told, Scaling.NONE, reading.impute)
    preparation = fitted(preparation, table.seen, table.told.names or ())
    with in_a_sentence(table.name):
        X = PreparedBlocks(table.blocks, preparation, positive=label, counting=True)
        with gap_shown("Looking for a plane"):
            certificate = separability(
                X, X.labels, norm=norm, fit_intercept=fit_intercept, max_time=limit.left(), memory=memory
            )
        if label is not None and not isinstance(certificate, MulticlassCertificate):
            certificate = in_words(certificate, label, labels)
            X = PreparedBlocks(table.blocks, preparation, counting=True)
        with messages.status("Checking the proof"):
            parts: tuple[Any, ...] = certificate.parts
            proofs = [Proof(part, part.verify(X, X.labels, exact=True)) for part in parts]
    names = None if table.told.names is None else names_after(preparation, table.told.names)
    rows = FewRows(X, names, sorted({row for proof in proofs for row, _ in heaviest(proof.certificate, None)}))
    if as_json:
        say_json(summary(rows, table.description, certificate.is_separable, proofs, [], watch))
    else:
        print_answer(rows, table.headline, proofs, [])
    if certificate.is_separable is None or not all(proof.verification for proof in proofs):
        return ExitCode.UNPROVEN
    return ExitCode.FINE if certificate.is_separable else ExitCode.NOT_SEPARABLE


class FewRows:
    """Some rows of a table by blocks, by their numbers in all of it, as a `DataFile` tells them."""

    def __init__(self, X: PreparedBlocks, names: tuple[str, ...] | None, rows: list[int]) -> None:
        self.feature_names, self.label_name, self.name = names, X.files.head.label_name, X.files.name
        self.X: Any = Looked({})
        self.y: dict[int, Any] = {}
        self.places: dict[int, dict[str, Any]] = {}
        reader, start = X.files.rows.reader, 0
        for k in range(X.n_blocks if rows else 0):
            if X.heights is not None and not any(start <= row < start + X.heights[k] for row in rows):
                start += X.heights[k]
                continue
            block = X.rows_of(k)
            here = [row for row in rows if start <= row < start + len(block.lines)]
            if here:
                found, labels = X.prepared(block), X.meant_each(block.y)
                whole = X.files.block(k).lines
            for row in here:
                at = row - start
                self.X.rows[row], self.y[row] = found[[at]], labels[at]
                line = reader.line_of(k, int(np.searchsorted(whole, block.lines[at])))
                self.places[row] = {"file": reader.file_of(k), "line": line}
            start += len(block.lines)
        if len(X.files.rows.stamps) == 1:
            self.places = {row: {"line": place["line"]} for row, place in self.places.items()}

    def place_of(self, row: int) -> dict[str, Any]:
        return self.places[row]

    def place_told(self, row: int) -> str:
        return ":".join(map(str, self.places[row].values()))


class Looked:
    """X[row] and X[[row]] of rows that were looked up."""

    def __init__(self, rows: dict[int, Any]) -> None:
        self.rows = rows

    def __getitem__(self, row: int | list[int]) -> Any:
        return self.rows[row[0]] if isinstance(row, list) else self.rows[row][0]
