"""Saving and loading models: one file, closed schema, nothing executed.

A document of version 3 has these fields, and no others:

    format, version        "maxmargin model", 3
    written_by             the version of maxmargin
    estimator              its name, one of a fixed table
    parameters             all of them (`parameters`)
    labels                 the classes and their type (`labels`)
    fitted                 what the fit has left, with its arrays (`fitted`), and what it has seen (`record`)
    certificate            what is proven, or null (`certificates`)
    preprocessing          steps before the estimator (`preprocessing`)
    data                   the fingerprint of the table, or null (`fingerprint`)
    columns_by             how the columns of the table were told apart (`COLUMNS_BY`); left out where nobody said

A later version reads every earlier one: it raises VERSION, and makes of a document of version n one of version n + 1
before it is read. Version 2 has more kinds of steps than version 1, and is otherwise the same. Version 3 has the record
of the fit (`seen` in `fitted`, `sample` in `data`), and hard margins of kernels in canonical form.

A model that does not predict by the planes of its certificate is neither written nor read.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from maxmargin._version import __version__
from maxmargin.certificates.proof import spell_out
from maxmargin.data.table import checked_table
from maxmargin.estimators.agreement import sides_of_planes
from maxmargin.estimators.base import MarginClassifier, single
from maxmargin.estimators.hard_margin import HardMarginSVM
from maxmargin.estimators.kernel import KernelSVM
from maxmargin.estimators.kernel_perceptron import KernelPerceptron
from maxmargin.estimators.linear import LinearSVM
from maxmargin.estimators.linear_cv import LinearSVMCV
from maxmargin.estimators.perceptrons import MarginPerceptron, Perceptron
from maxmargin.estimators.pipelines import behind_the_steps
from maxmargin.estimators.seen import sample_of
from maxmargin.estimators.stochastic import StochasticSVM
from maxmargin.estimators.winnow import Winnow
from maxmargin.persistence import container
from maxmargin.persistence.atomic import read_whole, write_atomically
from maxmargin.persistence.certificates import read_certificate, write_certificate
from maxmargin.persistence.container import Arrays
from maxmargin.persistence.errors import ModelFileError, Refusal
from maxmargin.persistence.fields import Fields, Shelf, is_text, is_whole, number_in
from maxmargin.persistence.fingerprint import Fingerprint
from maxmargin.persistence.fitted import COMBINATIONS, READERS, WRITERS, Sizes, parts_of
from maxmargin.persistence.labels import read_labels, write_labels
from maxmargin.persistence.parameters import read_parameters, write_parameters
from maxmargin.persistence.preprocessing import read_steps, write_steps
from maxmargin.persistence.record import (
    bring_to_canonical_form,
    digest_in,
    read_seen,
    refuse_another_plane,
    refuse_another_table,
    write_seen,
)
from maxmargin.problems.multiclass import Strategy
from maxmargin.run.control import Status

FORMAT = "maxmargin model"
VERSION = 3
CANONICAL = 3  # the first version with hard margins of kernels in canonical form, and with the record of the fit
COLUMNS_BY = ("name", "position", "index from 0", "index from 1")
ESTIMATORS: dict[str, type[MarginClassifier]] = {
    kind.__name__: kind
    for kind in (
        HardMarginSVM,
        KernelPerceptron,
        KernelSVM,
        LinearSVM,
        LinearSVMCV,
        MarginPerceptron,
        Perceptron,
        StochasticSVM,
        Winnow,
    )
}


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says of itself.

    `model` is what `load` gives; `fingerprint` is that of the table the model was fitted to, if it was given to `save`.
    `columns_by` says how the columns of that table were told apart: by name, position, or an index from 0 or 1.
    """

    model: Any
    estimator: str
    version: int
    written_by: str
    fingerprint: Fingerprint | None
    columns_by: str | None = None


def save(
    estimator: Any, path: str | os.PathLike[str], X: Any = None, y: Any = None, *, columns_by: str | None = None
) -> None:
    """Write a fitted estimator to a file, atomically: a stop in between leaves the old file as it was.

    `estimator` is one of this library's, or a Pipeline of known scikit-learn steps that ends in one. With X and y, the
    data of the fit, a fingerprint goes into the file, so that `model_info(path).fingerprint.matches(X, y)` tells later
    whether a table is that one. A record of updates (`trace_`) is not kept. What a file cannot hold, such as a kernel
    that is a function, is a `ModelFileError`; so is a model whose planes are not those of its certificate. `columns_by`
    says how the columns of the file were told apart, "name", "position", "index from 0" or "index from 1", for whoever
    reads the next one.

    >>> import tempfile, os
    >>> from maxmargin import LinearSVM
    >>> from maxmargin.persistence import load, save
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], ["left", "left", "right", "right"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "street.safetensors")
    ...     save(LinearSVM().fit(X, y), path)
    ...     model = load(path)
    >>> model.predict([[4, 1]]).tolist(), bool(model.certificate_.verify(X, y))
    (['right'], True)
    """
    try:
        document, arrays = describe(estimator, X, y)
        if columns_by is not None:
            document["columns_by"] = columns_by
        data = container.pack(document, arrays)
        read_model(*container.unpack(data))
    except Refusal as problem:
        raise ModelFileError(os.fspath(path), f"this model cannot be saved: {problem}") from None
    write_atomically(path, data)


def load(path: str | os.PathLike[str]) -> Any:
    """The model in a file that `save` wrote: the estimator, or the Pipeline, fitted.

    It predicts what the saved one predicts, bit for bit on the same machine, and can be fitted again. Nothing in the
    file is executed or imported; a file that is not exactly as it must be is a `ModelFileError`.
    """
    return model_info(path).model


def model_info(path: str | os.PathLike[str]) -> ModelInfo:
    """The model in a file with what the file says about it: who wrote it, and the fingerprint of its data."""
    try:
        return read_model(*container.unpack(read_whole(path, container.LONGEST_FILE)))
    except Refusal as problem:
        raise ModelFileError(os.fspath(path), f"this is not a model that can be loaded: {problem}") from None


def describe(model: Any, X: Any, y: Any) -> tuple[dict[str, Any], Arrays]:
    """The document and the arrays of a model."""
    estimator = model.steps[-1][1] if isinstance(model, Pipeline) else model
    kind = type(estimator).__name__
    if ESTIMATORS.get(kind) is not type(estimator):
        raise Refusal(f"a {kind} is none of {', '.join(sorted(ESTIMATORS))}, nor a Pipeline that ends in one")
    check_is_fitted(estimator, "classes_")
    if not hasattr(estimator, "n_iter_"):
        raise Refusal("it was not fitted here, but read from the file of another program: fit it, or keep that file")
    arrays: Arrays = {}
    steps = write_steps(model, arrays) if isinstance(model, Pipeline) else []
    certificate = getattr(estimator, "certificate_", None)
    return {
        "format": FORMAT,
        "version": VERSION,
        "written_by": __version__,
        "estimator": kind,
        "parameters": write_parameters(estimator.parameters, estimator.get_params(deep=False)),
        "labels": write_labels(estimator.classes_),
        "fitted": write_fitted(estimator, arrays),
        "certificate": None if certificate is None else write_certificate(certificate, arrays),
        "preprocessing": steps,
        "data": None if X is None else fingerprint_of(model, estimator, X, y),
    }, arrays


def fingerprint_of(model: Any, estimator: Any, X: Any, y: Any) -> dict[str, Any]:
    """The fingerprint of the data, as the estimator saw them, behind the steps before it."""
    if y is None:
        raise Refusal("a fingerprint is of X and y: give both or neither")
    prepared = behind_the_steps(model, X) if isinstance(model, Pipeline) else X
    made = Fingerprint.of(prepared, y)
    if made.n_columns != estimator.n_features_in_:
        raise Refusal(f"X has {made.n_columns} columns, and the model was fitted to {estimator.n_features_in_}")
    return {**made.to_dict(), "sample": sample_of(checked_table(LinearSVM(), prepared).X)}


def write_fitted(estimator: Any, arrays: Arrays) -> dict[str, Any]:
    """What all estimators have after a fit, and the parts of this one."""
    n_planes, parts = len(estimator.intercept_), parts_of(estimator)
    names = getattr(estimator, "feature_names_in_", None)
    status = getattr(estimator, "status_", None)
    fields: dict[str, Any] = {
        "parts": list(parts),
        "n_columns": int(estimator.n_features_in_),
        "column_names": None if names is None else names.tolist(),
        "multi_class": estimator._strategy.value,
        "n_iter": int(estimator.n_iter_),
        "n_updates": [int(count) for count in listed(estimator.n_updates_, n_planes)],
        "margins": spell_out([float(margin) for margin in listed(estimator.margin_, n_planes)]),
        "status": None if status is None else [one.name for one in listed(status, n_planes)],
    }
    for part in parts:
        WRITERS[part](estimator, fields, arrays)
    fields["seen"] = write_seen(estimator, parts, arrays)
    return fields


def listed(value: Any, n_planes: int) -> list[Any]:
    return [value] if n_planes == 1 else list(value)


def read_model(document: dict[str, Any], arrays: Arrays) -> ModelInfo:
    """The model that a document and its arrays describe, or a `Refusal`."""
    shelf = Shelf(arrays)
    with Fields(document, "the document") as fields:
        if fields.take("format") != FORMAT:
            raise Refusal("it is not a model of maxmargin")
        version = fields.whole("version", 1)
        if version > VERSION:
            raise Refusal(
                f"it is of version {version} of the format, and this maxmargin ({__version__}) knows up to "
                f"{VERSION}: install a newer one"
            )
        fields.left.update(as_of_now(fields.left, version))
        written_by = fields.text("written_by", 40)
        kind = fields.one_of("estimator", ESTIMATORS)
        made: Any = ESTIMATORS[kind]
        estimator = made(**read_parameters(made.parameters, fields.fields("parameters")))
        estimator.classes_ = read_labels(fields.fields("labels"))
        read_fitted(estimator, fields.fields("fitted"), fields.take("certificate"), shelf)
        model = read_steps(fields.list("preprocessing"), shelf, estimator)
        fingerprint = read_data(estimator, fields.take("data"), version)
        columns_by = fields.one_of("columns_by", COLUMNS_BY) if "columns_by" in document else None
    shelf.close()
    if version < CANONICAL and isinstance(estimator, KernelSVM):
        bring_to_canonical_form(estimator)
    refuse_another_plane(estimator)
    return ModelInfo(model, kind, version, written_by, fingerprint, columns_by)


def as_of_now(document: dict[str, Any], version: int) -> dict[str, Any]:
    """What a document of an earlier version lacks: the record of the fit."""
    changed = {}
    for field, lacking in (("fitted", "seen"), ("data", "sample")):
        if version < CANONICAL and isinstance(document.get(field), dict):
            changed[field] = {**document[field], lacking: None}
    return changed


def read_data(estimator: Any, data: Any, version: int) -> Fingerprint | None:
    """The fingerprint of the data, if the table is the one that the fit has seen."""
    if data is None:
        return None
    fields = Fields(data, "'data' of the document")
    sample = digest_in(fields, "sample", optional=version < CANONICAL)
    fingerprint = Fingerprint.from_fields(fields)
    refuse_another_table(estimator, sample)
    return fingerprint


def read_fitted(estimator: Any, fields: Fields, certificate: Any, shelf: Shelf) -> None:
    """What a fit has left, with its certificate."""
    with fields:
        parts = tuple(fields.list("parts"))
        if parts not in COMBINATIONS[type(estimator).__name__]:
            raise Refusal(f"a fitted {type(estimator).__name__} does not consist of the parts that it lists")
        n_columns = fields.whole("n_columns", 1, 2**40)
        read_column_names(estimator, fields.take("column_names"), n_columns)
        estimator.n_features_in_ = n_columns
        estimator._strategy = Strategy(fields.one_of("multi_class", [one.value for one in Strategy]))
        sides = sides_of_planes(estimator.classes_, estimator._strategy)
        sizes = Sizes(len(sides), n_columns, len(estimator.classes_))
        if certificate is not None:
            place = "'certificate' of the document"
            estimator.certificate_ = read_certificate(Fields(certificate, place), shelf, sides, n_columns)
        elif "runs" not in parts or "support" in parts:
            raise Refusal(f"a fitted {type(estimator).__name__} has a certificate, and there is none")
        read_counts(estimator, fields, sizes.planes)
        for part in parts:
            READERS[part](estimator, fields, shelf, sizes)
        read_seen(estimator, fields.take("seen"), parts, shelf)


def read_column_names(estimator: Any, names: Any, n_columns: int) -> None:
    if names is None:
        return
    if not isinstance(names, list) or len(names) != n_columns or not all(map(is_text, names)):
        raise Refusal(f"'column_names' must be {n_columns} short texts")
    estimator.feature_names_in_ = np.array(names, dtype=object)


def read_counts(estimator: Any, fields: Fields, n_planes: int) -> None:
    """How long the fit took, how it ended, and how wide its streets are."""
    estimator.n_iter_ = fields.whole("n_iter")
    updates, margins, status = fields.list("n_updates"), fields.list("margins"), fields.take("status")
    if len(updates) != n_planes or not all(is_whole(count) and count >= 0 for count in updates):
        raise Refusal("'n_updates' must be a whole number for each plane")
    estimator.n_updates_ = single(updates)
    if len(margins) != n_planes:
        raise Refusal("'margins' must be a number for each plane")
    widths = [number_in(margin, "a margin") for margin in margins]
    estimator.margin_ = single(widths)
    estimator.street_ = single([2.0 * width for width in widths])
    if status is None and hasattr(estimator, "certificate_"):
        raise Refusal("'status' must say for each plane why the fit ended")
    if status is not None:
        known = Status.__members__
        if not isinstance(status, list) or len(status) != n_planes or any(str(one) not in known for one in status):
            raise Refusal("'status' must say for each plane why the fit ended")
        estimator.status_ = single([Status[one] for one in status])
