"""`maxmargin fit DATA --memory SIZE`: a fit of a table that is read by blocks, and may be larger than memory.

One pass tells what the columns hold: from it scalers, imputers and encoders are made, and applied to each block as it
is read. The fit makes its own passes over these rows; then the proof is checked, and the predictions are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.cli.blocks import PreparedBlocks, SurveyedFile, scanned
from maxmargin.cli.certified import Fitted, Found, Told, conclude, sought
from maxmargin.cli.checkpoints import CheckpointOptions
from maxmargin.cli.column_survey import fitted
from maxmargin.cli.console import Stopwatch, TimeLimit, UserError, in_a_sentence, messages
from maxmargin.cli.options import FitOptions, ReadingOptions, kind_of, make_classifier
from maxmargin.cli.preparation import left_out_of, preparation_of, report_of
from maxmargin.cli.tables import refuse_a_measure


def fit_by_blocks(
    data: Sequence[str],
    reading: ReadingOptions,
    memory: str,
    output: str | None,
    asked: FitOptions,
    settings: list[str] | None,
    kept: CheckpointOptions,
    exact: bool,
    as_json: bool,
) -> int:
    """The command, from where its options are checked."""
    refuse_what_needs_rows(asked)
    blocks = scanned(data, reading, memory)
    limit = TimeLimit(asked.max_time)
    table = blocks.surveyed()
    labels = [label for label, _ in table.label_counts]
    refuse_a_measure(table.told, labels, table.seen.rows)
    classifier = make_classifier(asked, labels, settings).set_params(memory=memory)
    preparation = preparation_of(table.told, asked.scale, reading.impute)
    preparation = fitted(preparation, table.seen, table.told.names or ())
    found = run(classifier, preparation, table, exact, limit, kept)
    model = Fitted(classifier, preparation, blocks.head, found)
    return conclude(model, told_of(table, preparation), output, None, as_json)


def refuse_what_needs_rows(asked: FitOptions) -> None:
    """Before the table is read: an estimator that cannot do with blocks."""
    kind = kind_of(asked)
    if "memory" not in kind.parameters:
        raise UserError(
            f"--memory is for the linear svm and the hard margin: {kind.__name__} has its rows in memory; leave it out"
        )


def run(
    classifier: Any, preparation: Any, table: SurveyedFile, exact: bool, limit: TimeLimit, kept: CheckpointOptions
) -> Found:
    """Fit, and check what is found."""
    watch = Stopwatch()
    with in_a_sentence(table.name):
        X = PreparedBlocks(table.blocks, preparation)
        weights = {} if X.weights is None else {"sample_weight": X.weights}
        planes = sought(classifier, X, X.labels, weights, limit, kept, 1.0)
        seconds, compiling = watch.seconds, watch.compiling
        with messages.status("Checking the proof"):
            verification = planes.certificate.verify(X, X.labels, exact=exact, **weights)
            accuracy = share_of_right(classifier, X) if hasattr(classifier, "classes_") else None
    return Found(planes.certificate, verification, accuracy, None, seconds, compiling, *planes[1:])


class Right(NamedTuple):
    """Of how many rows the predictions are the labels."""

    right: int
    rows: int

    def and_of(self, other: Right) -> Right:
        return Right(self.right + other.right, self.rows + other.rows)


def share_of_right(classifier: Any, X: PreparedBlocks) -> float:
    """The accuracy, in one pass."""
    found = Right(0, 0)
    for block, rows in X.blocks():
        if len(block.lines):
            same = classifier.predict(rows) == X.meant_each(block.y)
            found = found.and_of(Right(int(np.sum(same)), len(same)))
    return found.right / found.rows


def told_of(table: SurveyedFile, preparation: Any) -> Told:
    """As a fit in memory tells it; rows that weigh nothing are counted, and not listed."""
    seen = table.seen
    missing = dict(zip(table.told.feature_names or (), seen.numbers.missing.astype(int).tolist(), strict=False))
    missing |= {name: words[None] for name, words in seen.words.items()}
    left_out = left_out_of(table.blocks.head, [])
    left_out |= {"weightless": seen.weightless}
    if unused := [label for label in seen.labels if label not in seen.counting]:
        left_out["labels"] = table.blocks.meant(np.array(unused)).tolist()
    return Told(table.headline, table.description, report_of(table.told, preparation, missing), left_out)
