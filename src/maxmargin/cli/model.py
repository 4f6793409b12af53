"""Models as the commands make, keep and use them: a scaler and a classifier in one file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from maxmargin.cli.console import UserError
from maxmargin.cli.datafile import DataFile
from maxmargin.cli.options import Scaling

if TYPE_CHECKING:
    from maxmargin.persistence import Fingerprint

TEXT_MODELS = (b"svm_type", b"solver_type")  # how the files of LIBSVM and LIBLINEAR begin


class Model(NamedTuple):
    """What a file holds: `whole` predicts, `scaler` (or None) prepares the rows for `classifier`."""

    whole: Any
    scaler: Any
    classifier: Any
    names: tuple[str, ...] | None
    fingerprint: Fingerprint | None = None
    written_by: str | None = None
    is_text: bool = False

    def prepared(self, data: DataFile) -> Any:
        """The rows as the classifier sees them, with the columns by their names where both have names."""
        X = self.columns_of(data)
        return X if self.scaler is None else self.scaler.transform(X)

    def columns_of(self, data: DataFile) -> Any:
        """The columns of the file that the model was fitted on, in its order."""
        X, expected = data.X, self.whole.n_features_in_
        if self.names is not None and data.feature_names is not None:
            missing = [name for name in self.names if name not in data.feature_names]
            if missing:
                shown = ", ".join(repr(name) for name in missing[:8])
                raise UserError(f"{data.name} has no column {shown}, which the model was fitted on")
            return X[:, [data.feature_names.index(name) for name in self.names]]
        if data.feature_names is None and X.shape[1] < expected:  # columns that are zero in all rows
            X = X.copy()
            X.resize((X.shape[0], expected))
        if X.shape[1] != expected:
            raise UserError(f"{data.name} has {X.shape[1]:,} columns, but the model was fitted on {expected:,}")
        return X


@contextmanager
def in_a_sentence(name: str) -> Iterator[None]:
    """What an estimator says against the data or its parameters, as the user's error."""
    from maxmargin import NotSeparableError

    try:
        yield
    except NotSeparableError:
        raise
    except ValueError as error:
        raise UserError(f"{name}: {str(error).splitlines()[0]}") from None


def load_model(path: str, n_columns: int | None = None) -> Model:
    """Read a model; every problem becomes a `UserError`. A text model of LIBSVM has at least `n_columns`."""
    from maxmargin.persistence import ModelFileError

    try:
        with open(path, "rb") as file:
            start = file.read(11)
        if start.startswith(TEXT_MODELS):
            return load_text_model(path, start, n_columns)
        return load_own_model(path)
    except ModelFileError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None


def load_own_model(path: str) -> Model:
    from sklearn.pipeline import Pipeline

    from maxmargin.persistence import model_info

    found = model_info(path)
    model = found.model
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    names = [vars(step).pop("feature_names_in_", None) for step in steps]  # the commands give arrays, by these names
    return Model(
        whole=model,
        scaler=model[:-1] if len(steps) > 1 else None,
        classifier=steps[-1],
        names=None if names[0] is None else tuple(names[0]),
        fingerprint=found.fingerprint,
        written_by=f"maxmargin {found.written_by}",
    )


def load_text_model(path: str, start: bytes, n_columns: int | None) -> Model:
    from maxmargin.persistence import read_liblinear, read_libsvm

    if start.startswith(TEXT_MODELS[1]):
        linear = read_liblinear(path)
        return Model(linear, None, linear, None, written_by="LIBLINEAR", is_text=True)
    model = read_libsvm(path)
    if n_columns is not None and n_columns > model.n_features_in_:  # the last ones are zero in all its vectors
        model = read_libsvm(path, n_columns)
    return Model(model, None, model, None, written_by="LIBSVM", is_text=True)


def save_model(scaler: Any, classifier: Any, data: DataFile, path: str) -> None:
    """Write a model with the names of its columns and the fingerprint of its data."""
    import numpy as np
    from sklearn.pipeline import Pipeline

    from maxmargin.persistence import ModelFileError, save

    model = classifier if scaler is None else Pipeline([("scale", scaler), ("classify", classifier)])
    first = classifier if scaler is None else scaler
    if data.feature_names is not None and len(set(data.feature_names)) == len(data.feature_names):
        first.feature_names_in_ = np.array(data.feature_names, dtype=object)
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # of arrays that have no names
            save(model, path, data.X, data.y)
    except ModelFileError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from None


def make_scaler(scaling: Scaling, X: Any) -> Any:
    """The scaler for these rows, not fitted; None where there is none."""
    from scipy.sparse import issparse
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    if scaling is Scaling.AUTO:
        scaling = Scaling.MAXABS if issparse(X) else Scaling.STANDARD
    if scaling is Scaling.MINMAX and issparse(X):
        raise UserError("minmax would turn the zeros of a sparse file into other numbers; maxabs keeps them")
    if scaling is Scaling.STANDARD:
        return StandardScaler(with_mean=not issparse(X))
    if scaling is Scaling.NONE:
        return None
    return MinMaxScaler() if scaling is Scaling.MINMAX else MaxAbsScaler()


def read_class_weight(given: list[str] | None, labels: list[Any]) -> Any:
    """None, "balanced", or a dict, from LABEL=WEIGHT."""
    if not given:
        return None
    if given == ["balanced"]:
        return "balanced"
    weights: dict[Any, float] = dict.fromkeys(labels, 1.0)
    known = {str(label): label for label in labels}
    for entry in given:
        label, _, weight = entry.rpartition("=")
        if label not in known:
            shown = ", ".join(known)
            raise UserError(f"--class-weight {entry!r} must be LABEL=WEIGHT, with one of {shown}; or balanced")
        try:
            weights[known[label]] = float(weight)
        except ValueError:
            raise UserError(f"--class-weight {entry!r}: {weight!r} is not a number") from None
    return weights
