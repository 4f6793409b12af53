"""Planes as LIBLINEAR's text models.

solver_type L2R_L1LOSS_SVC_DUAL         which does not matter for predictions
nr_class, label, nr_feature             the first of two labels is positive
bias                                    a further column of this value in every row; -1: none
w                                       a line for each column (the bias is the last), a number for each plane
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from maxmargin.estimators.linear import LinearSVM
from maxmargin.persistence.errors import ModelFileError, Refusal
from maxmargin.persistence.exchange.text_model import TextModel, check_is_ours, digits, whole_labels, write_lines
from maxmargin.problems.choices import Strategy
from maxmargin.problems.losses import HINGE, SQUARED_HINGE, loss_named

FIELDS = ("solver_type", "nr_class", "label", "nr_feature", "bias")
SOLVER_OF_LOSS = {HINGE: "L2R_L1LOSS_SVC_DUAL", SQUARED_HINGE: "L2R_L2LOSS_SVC_DUAL"}
LOSS_OF_SOLVER = {name: loss.name for loss, name in SOLVER_OF_LOSS.items()} | {"L2R_L2LOSS_SVC": SQUARED_HINGE.name}
SOLVERS = (
    *SOLVER_OF_LOSS.values(),
    "L2R_L2LOSS_SVC",
    "L1R_L2LOSS_SVC",
    "L2R_LR",
    "L2R_LR_DUAL",
    "L1R_LR",
)


def write_liblinear(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write the planes of a fitted linear estimator for LIBLINEAR's `predict`, with 17 digits.

    The labels must be whole numbers, and more than two classes one against the rest. The decision values are the same
    there, and so are the labels, but where the value between two classes is exactly 0: LIBLINEAR gives `classes_[0]`.
    """
    try:
        check_is_ours(estimator)
        if not hasattr(estimator, "coef_"):
            raise Refusal(f"a {type(estimator).__name__} with a kernel has no plane of numbers: write_libsvm is for it")
        loss = loss_named(getattr(estimator, "loss", HINGE.name), getattr(estimator, "huber_width", None))
        if loss not in SOLVER_OF_LOSS:
            known = " and ".join(one.title for one in SOLVER_OF_LOSS)
            raise Refusal(f"LIBLINEAR has no solver for the {loss.title}: it has the {known}")
        labels = whole_labels(estimator.classes_, "LIBLINEAR")
        if len(labels) > 2 and estimator._strategy is not Strategy.ONE_VERSUS_REST:
            raise Refusal(
                'LIBLINEAR knows one plane for each class, and these are of pairs: fit with multi_class="ovr"'
            )
    except Refusal as problem:
        raise ModelFileError(os.fspath(path), f"this model cannot be written for LIBLINEAR: {problem}") from None
    shown = labels[::-1] if len(labels) == 2 else labels
    has_bias = bool(np.any(estimator.intercept_))
    planes = np.column_stack([estimator.coef_, estimator.intercept_]) if has_bias else estimator.coef_
    header = [
        f"solver_type {SOLVER_OF_LOSS[loss]}",
        f"nr_class {len(labels)}",
        f"label {' '.join(map(str, shown))}",
        f"nr_feature {estimator.coef_.shape[1]}",
        f"bias {1 if has_bias else -1}",
        "w",
    ]
    write_lines(path, header + [f"{digits(column)} " for column in planes.T])


def read_liblinear(path: str | os.PathLike[str]) -> LinearSVM:
    """The planes of a LIBLINEAR model, as a `LinearSVM` that predicts.

    It has no certificate: nobody has proven anything about these planes. Of two classes, where the value
    is exactly 0, this `LinearSVM` gives the larger label, and LIBLINEAR the second one of the file.
    """
    text = TextModel(path)
    fields = text.header(FIELDS, "w")
    text.needed(fields, *FIELDS)
    solver = " ".join(fields["solver_type"])
    if solver not in SOLVERS:
        raise text.error(f"solver_type {solver[:40]!r} is not a linear classifier of {', '.join(SOLVERS)}")
    labels = text.labels(fields)
    (n_columns,) = text.whole(fields["nr_feature"], 1, "nr_feature", least=1)
    (bias,) = text.numbers(fields["bias"], 1, "bias")
    n_planes = 1 if len(labels) == 2 else len(labels)
    rows = text.rows(n_columns + (1 if bias >= 0.0 else 0))
    table = np.array([text.numbers(words, n_planes, "a line of w") for words in rows]).T
    order = np.argsort(labels)
    loss = next((loss for loss, name in SOLVER_OF_LOSS.items() if name == solver), SQUARED_HINGE)
    model = LinearSVM(loss=loss.name, fit_intercept=bias >= 0.0)
    model.classes_ = np.array(labels, dtype=np.int64)[order]
    planes = table[order] if n_planes > 1 else table if labels[0] > labels[1] else -table  # positive: the larger label
    model.coef_ = np.ascontiguousarray(planes[:, :n_columns])
    model.intercept_ = planes[:, n_columns] * bias if bias >= 0.0 else np.zeros(n_planes)
    model.n_features_in_, model._strategy = n_columns, Strategy.ONE_VERSUS_REST
    return model
