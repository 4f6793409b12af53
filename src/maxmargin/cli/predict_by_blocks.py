"""`maxmargin predict MODEL DATA --memory SIZE`: labels are written as the blocks are read; no row is kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.cli.blocks import PreparedBlocks, of_a_model
from maxmargin.cli.console import ExitCode, in_a_sentence, messages, pieces_of_json, write_text
from maxmargin.cli.models import Model
from maxmargin.cli.options import ReadingOptions
from maxmargin.cli.predictions import lines_of, measured, refuse_labels_of_many_lines, tell_unknown
from maxmargin.cli.preparation import UnknownWords
from maxmargin.cli.tables import DataFile


class Compared(NamedTuple):
    """How much the rows weigh whose labels are those of the file, and all; rows of unknown labels, and one of these."""

    right: float = 0.0
    total: float = 0.0
    rows: int = 0
    unknown: int = 0
    example: Any = None


def predict_by_blocks(
    loaded: Model,
    data: Sequence[str],
    reading: ReadingOptions,
    memory: str,
    asked: Sequence[str],
    output: str,
    as_json: bool,
) -> int:
    """The command, from where the model is loaded; `asked` are the measures beside the label."""
    X = of_a_model(loaded, data, reading, memory, needs_labels=False)
    name = X.files.name
    if not (as_json or asked or X.files.head.ids is not None):
        refuse_labels_of_many_lines(loaded.classifier.classes_.tolist())
    compared = Compared()

    def compare(block: DataFile, labels: list[Any]) -> None:
        nonlocal compared
        compared = with_block(compared, X, block, labels)

    with in_a_sentence(name):
        if as_json:
            write_text(pieces_of_json(for_machines(loaded, X, asked, compare, lambda: accuracy_of(compared))), output)
        else:
            X.unknown = UnknownWords()
            write_text(text_of(loaded, X, asked, compare), output)
            for sentence in X.unknown.sentences():
                messages.print(f"maxmargin: {name}: {sentence}")
    accuracy = accuracy_of(compared)
    tell_unknown(name, compared.unknown, compared.rows, compared.example)
    if accuracy is not None and not as_json:
        messages.print(f"{accuracy:.2%} of {compared.rows:,} labels are those of the file")
    return ExitCode.FINE


def text_of(loaded: Model, X: PreparedBlocks, asked: Sequence[str], compare: Any) -> Iterator[str]:
    for block, rows in X.blocks():
        if not len(block.lines):
            continue
        labels = loaded.classifier.predict(rows).tolist()
        compare(block, labels)
        values = [measured(loaded, name, rows) for name in asked]
        yield from lines_of(None if block.ids is None else block.ids.tolist(), labels, values)


def for_machines(loaded: Model, X: PreparedBlocks, asked: Sequence[str], compare: Any, accuracy: Any) -> dict[str, Any]:
    """As lists that are made while they are written: a pass for each."""

    def labels() -> Iterator[Any]:
        for block, rows in X.blocks():
            if len(block.lines):
                found = loaded.classifier.predict(rows).tolist()
                compare(block, found)
                yield from found

    def values(name: str) -> Iterator[Any]:
        return (value for block, rows in X.blocks() if len(block.lines) for value in measured(loaded, name, rows))

    def ids() -> Iterator[Any]:
        return (one for k in range(X.n_blocks) for one in np.asarray(X.files.block(k).ids).tolist())

    return {
        "file": X.files.name,
        "ids": None if X.files.head.ids is None else ids(),
        "labels": labels(),
        **{name: values(name) for name in asked},
        "accuracy": accuracy,
        **({"classes": loaded.classifier.classes_.tolist()} if "probabilities" in asked else {}),
    }


def with_block(sofar: Compared, X: PreparedBlocks, block: DataFile, labels: list[Any]) -> Compared:
    """The rows of a block beside those before it."""
    if block.y is None:
        return sofar
    written, places = np.unique(block.y, return_inverse=True)
    given = X.meant(written)
    classes = [] if X.known is None else X.known.tolist()
    weights = np.ones(len(places)) if block.weights is None else block.weights
    same = np.array([one == found for one, found in zip(given[places].tolist(), labels, strict=True)], dtype=np.bool_)
    unknown = np.array([label not in classes for label in given.tolist()], dtype=np.bool_)[places]
    example = sofar.example if sofar.unknown or not unknown.any() else given.tolist()[places[np.argmax(unknown)]]
    return Compared(
        sofar.right + math.fsum(weights[same].tolist()),
        sofar.total + math.fsum(weights.tolist()),
        sofar.rows + len(places),
        sofar.unknown + int(unknown.sum()),
        example,
    )


def accuracy_of(found: Compared) -> float | None:
    if not found.rows or found.unknown == found.rows or not found.total:
        return None
    return found.right / found.total
