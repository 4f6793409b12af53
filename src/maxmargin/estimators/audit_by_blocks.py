"""An audit of rows that are read by blocks: P of the model's planes by one pass of the judge, D from a fit by passes.

    dual <= optimum <= objective,      excess = objective / optimum - 1,   proven to be at most objective / dual - 1

The best bias for a plane is not sought: that would take a pass for each look. Models that promise to separate, and
kernels, have their rows in memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.block_duality import both_sides
from maxmargin.data.checking import Labels
from maxmargin.data.labelled import LabelledSource, LabelledTable, RowsAndLabels, surveyed, with_labels
from maxmargin.estimators.audit_result import Audit, against
from maxmargin.estimators.base import MarginClassifier
from maxmargin.estimators.by_blocks import pairs_of
from maxmargin.estimators.fitted_models import FittedModel, problem_of, read_model, with_column
from maxmargin.estimators.linear import LinearSVM
from maxmargin.problems.block_margin import BlockMargin, Facts
from maxmargin.problems.losses import width_of
from maxmargin.problems.statement import TrainingSet, plain
from maxmargin.run.control import collected
from maxmargin.solve.by_blocks import side_by_side

IN_MEMORY = "the rows in memory; leave the memory budget out"
NOTE = "the rows were read by blocks: the best bias for its plane was not sought"


class Sides(NamedTuple):
    positive: Any
    negative: Any


class Size(NamedTuple):
    """All that a reader of models asks of X."""

    shape: tuple[int, int]


def audit_by_blocks(
    model: Any, X: Any, y: Any, sample_weight: Any, tol: float, max_time: float | None, verbose: int
) -> Audit:
    """As `audit`, of a classifier: X are the rows as they reach it."""
    if hasattr(model, "kernel") or getattr(model, "_kernel", None) is not None:
        raise ValueError(f"{type(model).__name__} has a kernel: its audit needs {IN_MEMORY}")
    source = with_labels(X, y, sample_weight)
    table = surveyed(source)
    fitted = read_model(model, condensed(model, table))
    refuse_what_needs_rows(fitted)
    assert fitted.loss is not None
    planes, biases, column = fitted.planes, fitted.biases, fitted.bias_column
    rows = Rows(source, column)
    if column is not None:
        planes, biases = np.hstack([planes, (biases / column)[:, None]]), np.zeros(len(planes))
        table = surveyed(rows)
    weights = {plain(label): float(weight) for label, weight in zip(fitted.classes, fitted.class_weight, strict=True)}
    svm = LinearSVM(
        fitted.C,
        loss=fitted.loss.name,
        huber_width=width_of(fitted.loss),
        fit_intercept=fitted.fit_intercept,
        tol=tol,
        multi_class=fitted.strategy.value,
        class_weight=None if set(weights.values()) == {1.0} else weights,
        max_time=max_time,
        memory=X.memory,
        verbose=verbose,
    )
    with collected():  # the verdict says how it ended
        svm.fit(rows, Column(rows, 1), Column(rows, 2) if table.seen.weighted else None)
    certificates = [svm.certificate_] if len(planes) == 1 else list(svm.certificate_)
    problems = [
        BlockMargin(positive, negative, fitted.C * fitted.class_weight, fitted.loss, fitted.fit_intercept)
        for positive, negative in pairs_of(len(table.classes), fitted.strategy)
    ]
    runs = [
        both_sides(problem, Facts.of(table, problem), w, float(b), None)
        for problem, w, b in zip(problems, planes, biases, strict=True)
    ]
    parts = []
    for measured, certificate in zip(side_by_side(table, problems, runs), certificates, strict=True):
        sides: Any = Sides(certificate.positive, certificate.negative)
        parts.append(against(sides, measured.primal, measured.primal, certificate))
    return Audit(fitted.name, problem_of(fitted), (*fitted.notes, NOTE), tuple(parts))


def condensed(model: Any, table: LabelledTable) -> TrainingSet:
    """What a reader of models asks of a training set, one row for each class: it weighs what all its rows weigh."""
    if getattr(model, "class_weight", None) == "balanced" and not isinstance(model, MarginClassifier):
        raise ValueError(
            f"{type(model).__name__}(class_weight='balanced') counts rows as its release of scikit-learn does: by "
            "blocks an audit needs the weights themselves, as a dict"
        )
    labels = Labels(table.classes, np.arange(len(table.classes)))
    size: Any = Size((table.n_rows, table.n_columns))
    return TrainingSet(size, labels, table.seen.totals, table.seen.largest)


def refuse_what_needs_rows(fitted: FittedModel) -> None:
    weighted = not np.all(fitted.class_weight == 1.0)
    if fitted.loss is None:
        what = "is measured by its margin"
    elif fitted.own_class_only and weighted and len(fitted.classes) > 2:
        what = "weighs a class by itself only, against each of the others"
    else:
        return
    raise ValueError(f"{fitted.name} {what}: its audit needs {IN_MEMORY}")


class Rows:
    """A labelled source as the X of a fit, with one more column where a bias is regularised."""

    def __init__(self, source: LabelledSource, column: float | None) -> None:
        self.source, self.column = source, column
        self.n_rows, self.n_blocks = source.n_rows, source.n_blocks
        self.n_columns = source.n_columns + (column is not None)

    def block(self, k: int) -> Any:
        return self.labelled_block(k).X

    def labelled_block(self, k: int) -> RowsAndLabels:
        found = self.source.labelled_block(k)
        return found if self.column is None else found._replace(X=with_column(found.X, self.column))

    def meant(self, labels: Any) -> Any:
        return self.source.meant(labels) if hasattr(self.source, "meant") else labels

    def fingerprint(self) -> dict[str, Any]:
        return {**self.source.fingerprint(), "column": self.column}


class Column(NamedTuple):
    """The labels or the weights of such rows, which stay with them."""

    rows: Rows
    place: int

    def block(self, k: int) -> Any:
        return self.rows.labelled_block(k)[self.place]
