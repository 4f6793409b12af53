"""Saving and loading models: one file, closed schema, nothing executed.

A document of version 3 has these fields, and no others:

    format, version        "maxmargin model", 3
    written_by             the version of maxmargin
    estimator              its name, one of a fixed table
    parameters             all of them, as the estimator declares them (`record`)
    labels                 the classes and their type (`parts`)
    fitted                 what the fit has left, with its arrays (`parts`), and what it has seen (`record`)
    certificate            what is proven, or null (`record`)
    preprocessing          steps before the estimator (`steps`), which may be for blocks of columns (`column_blocks`)
    data                   the fingerprint of the table, or null (`record`)
    columns_by             how the columns of the table were told apart (`COLUMNS_BY`); left out where nobody said
    roles                  which columns of the table were the label, the weight and the id; left out where nobody said
    calibration            Platt's curve from scores to probabilities; left out where there is none

A later version reads every earlier one: it raises VERSION, and makes of a document of version n one of version n + 1
before it is read. Version 2 has more kinds of steps than version 1, and is otherwise the same. Version 3 has the record
of the fit (`seen` in `fitted`, `sample` in `data`), and hard margins of kernels in canonical form.

A model that does not predict by the planes of its certificate is neither written nor read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from maxmargin._version import __version__
from maxmargin.estimators.agreement import sides_of_planes
from maxmargin.estimators.base import MarginClassifier
from maxmargin.estimators.hard_margin import HardMarginSVM
from maxmargin.estimators.kernel import KernelSVM
from maxmargin.estimators.kernel_perceptron import KernelPerceptron
from maxmargin.estimators.linear import LinearSVM
from maxmargin.estimators.linear_cv import LinearSVMCV
from maxmargin.estimators.perceptrons import MarginPerceptron, Perceptron
from maxmargin.estimators.probability import Calibration
from maxmargin.estimators.stochastic import StochasticSVM
from maxmargin.estimators.winnow import Winnow
from maxmargin.persistence import container
from maxmargin.persistence.column_blocks import KIND, Blocks, read_blocks, width_of_blocks, write_blocks
from maxmargin.persistence.errors import ModelFileError, Refusal
from maxmargin.persistence.parts import COMBINATIONS, PARTS, Labels, parts_of, put_back, refuse_other_parts
from maxmargin.persistence.record import (
    ColumnRoles,
    Counts,
    Fingerprint,
    Seen,
    bring_to_canonical_form,
    checked_calibration,
    fingerprint_of,
    read_certificate,
    read_parameters,
    refuse_another_plane,
    refuse_another_table,
    write_certificate,
    write_parameters,
)
from maxmargin.persistence.schema import Arrays, Between, Digest, Fields, OneOf, Reader, Rule, Size, later, written
from maxmargin.persistence.steps import Step, n_columns_of, read_step, width_of, write_step
from maxmargin.problems.choices import Strategy

FORMAT, VERSION = "maxmargin model", 3
MOST_STEPS = 8
CANONICAL = 3  # the first version with hard margins of kernels in canonical form, and with the record of the fit
SHORT = Rule("a text of at most 40 characters", lambda text: len(text) <= 40)
Version = Annotated[int, Between(1)]
COLUMNS_BY = ("name", "position", "index from 0", "index from 1")
ESTIMATORS: dict[str, type[MarginClassifier]] = {
    kind.__name__: kind
    for kind in (
        HardMarginSVM, KernelPerceptron, KernelSVM, LinearSVM, LinearSVMCV, MarginPerceptron, Perceptron, StochasticSVM,
        Winnow,
    )
}  # fmt: skip


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says of itself.

    `model` is what `load` gives; `fingerprint` is that of the table the model was fitted to, if it was given to `save`.
    `columns_by` says how the columns of that table were told apart: by name, position, or an index from 0 or 1.
    `roles` are the columns that were no features: "label", "weight" and "id", each by its name, or by its index where
    columns are told apart by position. `calibration` turns scores into probabilities, which are estimates.
    """

    model: Any
    estimator: str
    version: int
    written_by: str
    fingerprint: Fingerprint | None
    columns_by: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    calibration: Calibration | None = None


@dataclass
class Document:
    """The fields of a document that is of this version, or was made one."""

    format: str
    version: Version
    written_by: Annotated[str, SHORT]
    estimator: Annotated[str, OneOf(ESTIMATORS)]
    parameters: dict[str, Any]
    labels: Labels
    fitted: dict[str, Any]
    certificate: dict[str, Any] | None
    preprocessing: list[Any]
    data: dict[str, Any] | None
    columns_by: Annotated[str | None, OneOf(COLUMNS_BY)] = later(None)  # null is none of them
    roles: ColumnRoles | None = later(None)
    calibration: Calibration | None = later(None)


@dataclass
class Shape:
    """The first fields of `fitted`: on these depend the sizes of all others."""

    parts: list[str]
    n_columns: Annotated[int, Between(1, 2**40), Size("columns")]
    column_names: Annotated[list[str], Size("columns")] | None
    multi_class: Annotated[str, OneOf(tuple(Strategy))]

    @classmethod
    def of(cls, estimator: Any, parts: tuple[str, ...]) -> Self:
        names = getattr(estimator, "feature_names_in_", None)
        names = None if names is None else names.tolist()
        return cls(list(parts), int(estimator.n_features_in_), names, estimator._strategy.value)

    def put(self, estimator: Any) -> None:
        estimator.n_features_in_, estimator._strategy = self.n_columns, Strategy(self.multi_class)
        if self.column_names is not None:
            estimator.feature_names_in_ = np.array(self.column_names, dtype=object)


def save(
    estimator: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    columns_by: str | None = None,
    roles: Mapping[str, str] | None = None,
    calibration: Calibration | None = None,
) -> None:
    """Write a fitted estimator to a file, atomically: a stop in between leaves the old file as it was.

    A record of updates (`trace_`) is not kept. What a file cannot hold, such as a kernel that is a function, is a
    `ModelFileError`; so is a model whose planes are not those of its certificate.

    Parameters
    ----------
    estimator : estimator or Pipeline
        One of this library's, fitted, or a Pipeline of known scikit-learn steps that ends in one.
    path : str or path-like
        The file to write.
    X, y : array-like, default=None
        The data of the fit: `model_info(path).fingerprint.matches(X, y)` tells later whether a table is that one.
    columns_by : {"name", "position", "index from 0", "index from 1"}, default=None
        How the columns of the table were told apart, for whoever reads the next one.
    roles : mapping, default=None
        Which columns of the table were its "label", "weight" and "id".
    calibration : Calibration, default=None
        A curve from scores to probabilities.

    Examples
    --------
    >>> import os, tempfile
    >>> from maxmargin import LinearSVM, load, save
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], ["left", "left", "right", "right"]
    >>> path = os.path.join(tempfile.mkdtemp(), "street.safetensors")
    >>> save(LinearSVM().fit(X, y), path)
    >>> load(path).predict([[4, 1]]).tolist(), bool(load(path).certificate_.verify(X, y))
    (['right'], True)
    """
    try:
        data = container.pack(*describe(estimator, X, y, columns_by, roles, calibration))
        read_model(*container.unpack(data))
    except Refusal as problem:
        raise ModelFileError(os.fspath(path), f"this model cannot be saved: {problem}") from None
    container.write_atomically(path, data)


def load(path: str | os.PathLike[str]) -> Any:
    """The model in a file that `save` wrote: the estimator, or the Pipeline, fitted.

    It predicts what the saved one predicts, bit for bit on the same machine, and can be fitted again. Nothing in the
    file is executed or imported; a file that is not exactly as it must be is a `ModelFileError`.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator or Pipeline
        Fitted, with its certificate.

    Examples
    --------
    >>> model = load("street.safetensors")  # doctest: +SKIP
    """
    return model_info(path).model


def model_info(path: str | os.PathLike[str]) -> ModelInfo:
    """The model in a file with what the file says about it: who wrote it, and the fingerprint of its data.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    ModelInfo
        `model` is what `load` gives; `estimator`, `version`, `written_by` and the rest are what the file says.

    Examples
    --------
    >>> print(model_info("street.safetensors").written_by)  # doctest: +SKIP
    """
    try:
        return read_model(*container.unpack(container.read_whole(path, container.LONGEST_FILE)))
    except Refusal as problem:
        raise ModelFileError(os.fspath(path), f"this is not a model that can be loaded: {problem}") from None


def describe(
    model: Any, X: Any, y: Any, columns_by: Any = None, roles: Any = None, calibration: Calibration | None = None
) -> tuple[dict[str, Any], Arrays]:
    """The document and the arrays of a model."""
    estimator = model.steps[-1][1] if isinstance(model, Pipeline) else model
    kind = type(estimator).__name__
    if ESTIMATORS.get(kind) is not type(estimator):
        raise Refusal(f"a {kind} is none of {', '.join(sorted(ESTIMATORS))}, nor a Pipeline that ends in one")
    check_is_fitted(estimator, "classes_")
    if not hasattr(estimator, "n_iter_"):
        raise Refusal("it was not fitted here, but read from the file of another program: fit it, or keep that file")
    arrays: Arrays = {}
    certificate = getattr(estimator, "certificate_", None)
    document = Document(
        FORMAT,
        VERSION,
        __version__,
        kind,
        parameters=write_parameters(estimator.parameters, estimator.get_params(deep=False)),
        labels=Labels.of(estimator.classes_),
        fitted=write_fitted(estimator, arrays),
        certificate=None if certificate is None else write_certificate(certificate, arrays),
        preprocessing=write_steps(model, arrays) if isinstance(model, Pipeline) else [],
        data=None if X is None else fingerprint_of(model, estimator, X, y),
        columns_by=columns_by,
        roles=ColumnRoles.of(roles, columns_by),
        calibration=calibration,
    )
    return written(document, arrays), arrays


def write_fitted(estimator: Any, arrays: Arrays) -> dict[str, Any]:
    """What all estimators have after a fit, and the parts of this one, side by side."""
    parts = parts_of(estimator)
    fields: dict[str, Any] = {}
    for part in (Shape.of(estimator, parts), Counts.of(estimator), *[PARTS[name].of(estimator) for name in parts]):
        fields |= written(part, arrays)
    return {**fields, "seen": written(Seen.of(estimator, parts), arrays)}


def read_model(document: dict[str, Any], arrays: Arrays) -> ModelInfo:
    """The model that a document and its arrays describe, or a `Refusal`."""
    reader = Reader(dict(arrays))
    said: Document = reader.value(Document, as_of_now(document), "")
    made: Any = ESTIMATORS[said.estimator]
    with reader.fields(said.parameters, "parameters") as fields:
        estimator = made(**read_parameters(made.parameters, fields))
    estimator.classes_ = said.labels.classes()
    with reader.fields(said.fitted, "fitted") as fields:
        read_fitted(estimator, fields, said.certificate)
    model = read_steps(said.preprocessing, reader, estimator)
    fingerprint = read_data(estimator, said, reader)
    reader.close()
    if said.version < CANONICAL and isinstance(estimator, KernelSVM):
        bring_to_canonical_form(estimator)
    refuse_another_plane(estimator)
    features = getattr(model[0] if isinstance(model, Pipeline) else model, "feature_names_in_", ())
    roles = {} if said.roles is None else said.roles.beside(features, said.columns_by)
    told = (said.estimator, said.version, said.written_by, fingerprint, said.columns_by, roles)
    return ModelInfo(model, *told, checked_calibration(said.calibration, len(estimator.classes_)))


@dataclass
class Last:
    """The last step, the estimator itself."""

    kind: Literal["estimator"]
    name: str


def write_steps(pipeline: Pipeline, arrays: Arrays) -> list[Any]:
    """What the document says of a Pipeline; the last entry is the name of the estimator's own step."""
    if len(pipeline.steps) > MOST_STEPS:
        raise Refusal(f"a Pipeline of more than {MOST_STEPS} steps cannot be kept")
    if any(getattr(step, "_sklearn_output_config", None) for _, step in pipeline.steps):
        raise Refusal("the steps of the Pipeline hand on data frames (set_output), which cannot be kept")
    entries: list[Any] = []
    for index, (name, step) in enumerate(pipeline.steps[:-1]):
        write = write_blocks if isinstance(step, ColumnTransformer) else write_step
        entries.append(write(name, step, f"step {index}", arrays))
    return [*entries, Last("estimator", pipeline.steps[-1][0])]


def read_steps(entries: list[Any], reader: Reader, estimator: Any) -> Any:
    """The estimator itself, or the Pipeline that ends in it."""
    if not entries:
        return estimator
    if len(entries) > MOST_STEPS:
        raise Refusal(f"a model has at most {MOST_STEPS} steps")
    last: Last = reader.value(Last, entries[-1], f"preprocessing[{len(entries) - 1}]")
    steps: list[tuple[str, Any]] = []
    width = None
    for index, entry in enumerate(entries[:-1]):
        place = f"step {index}"
        has_blocks = isinstance(entry, dict) and entry.get("kind") == KIND
        said = reader.value(Blocks if has_blocks else Step, entry, f"preprocessing[{index}]")
        step = (read_blocks if has_blocks else read_step)(said, place, reader)
        if width not in (None, n_columns_of(step)):
            raise Refusal(f"{place} takes {n_columns_of(step)} columns, and the one before makes {width}")
        steps.append((said.name, step))
        width = width_of_blocks(step) if has_blocks else width_of(step)
    if width not in (None, estimator.n_features_in_):
        raise Refusal(f"the estimator takes {estimator.n_features_in_} columns, and the step before makes {width}")
    names = [name for name, _ in steps] + [last.name]
    if len(set(names)) != len(names) or not all(name and "__" not in name for name in names):
        raise Refusal("the names of the steps must differ and have no '__' in them")
    return Pipeline([*steps, (last.name, estimator)])


def as_of_now(document: dict[str, Any]) -> dict[str, Any]:
    """A document of this format, with what earlier ones lack: the record of the fit, and the name of the order."""
    if document.get("format") != FORMAT:
        raise Refusal("it is not a model of maxmargin")
    version = Reader().value(Version, document.get("version"), "version")
    if version > VERSION:
        raise Refusal(
            f"it is of version {version} of the format, and this maxmargin ({__version__}) knows up to "
            f"{VERSION}: install a newer one"
        )
    changed = dict(document)
    for name, lacking in (("fitted", "seen"), ("data", "sample")):
        if version < CANONICAL and isinstance(document.get(name), dict):
            changed[name] = {**document[name], lacking: None}
    match document:
        case {"estimator": "KernelPerceptron", "parameters": {"shuffle": bool(shuffle), **others}}:
            changed["parameters"] = others | {"order": "shuffled" if shuffle else "cyclic"}
    return changed


def read_data(estimator: Any, said: Document, reader: Reader) -> Fingerprint | None:
    """The fingerprint of the data, if the table is the one that the fit has seen."""
    if said.data is None:
        return None
    with reader.fields(said.data, "data") as fields:
        fingerprint = fields.read(Fingerprint)
        sample = fields.take("sample", Digest | None if said.version < CANONICAL else Digest)
    refuse_another_table(estimator, sample)
    return fingerprint


def read_fitted(estimator: Any, fields: Fields, certificate: dict[str, Any] | None) -> None:
    """What a fit has left, with its certificate."""
    shape, kind, sizes = fields.read(Shape), type(estimator).__name__, fields.reader.sizes
    parts = tuple(shape.parts)
    if parts not in COMBINATIONS[kind]:
        raise Refusal(f"a fitted {kind} does not consist of the parts that it lists")
    shape.put(estimator)
    sides = sides_of_planes(estimator.classes_, estimator._strategy)
    sizes.update(planes=len(sides), classes=len(estimator.classes_))
    if certificate is not None:
        estimator.certificate_ = read_certificate(fields.reader, certificate, sides, shape.n_columns)
        refuse_other_parts(certificate["kind"], parts)
    elif "runs" not in parts or "support" in parts:
        raise Refusal(f"a fitted {kind} has a certificate, and there is none")
    fields.read(Counts).put(estimator)
    put_back(estimator, parts, fields)
    seen = fields.take("seen", Seen | None)
    if seen is not None:
        seen.put(estimator, parts)
