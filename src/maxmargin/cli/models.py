"""Models as the commands keep and use them: what prepares the columns, and a classifier, in one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from maxmargin.cli.console import UserError, messages
from maxmargin.cli.options import ReadingOptions
from maxmargin.cli.preparation import UnknownWords, fills_in, numbers_of
from maxmargin.cli.tables import DataFile, Expected, read

if TYPE_CHECKING:
    from maxmargin.estimators.probability import Calibration
    from maxmargin.persistence import Fingerprint

TEXT_MODELS = (b"svm_type", b"solver_type")  # how the files of LIBSVM and LIBLINEAR begin
SKOPS = b"PK"  # a zip archive


class Model(NamedTuple):
    """What a file holds: `whole` predicts, `scaler` (or None) prepares the rows for `classifier`.

    `expected` are the columns that it was fitted on, and whether each is a number, a category or text; None where they
    have no names. `columns_by` is how the columns of its file were told apart, and `roles` which of them were the
    label, the weight and the id, if it says so.
    """

    whole: Any
    scaler: Any
    classifier: Any
    expected: Mapping[str, str] | None
    fingerprint: Fingerprint | None = None
    written_by: str | None = None
    is_text: bool = False
    columns_by: str | None = None
    roles: Mapping[str, str] = MappingProxyType({})
    calibration: Calibration | None = None

    @property
    def names(self) -> tuple[str, ...] | None:
        return None if self.expected is None else tuple(self.expected)

    def prepared(self, data: DataFile, unknown: UnknownWords | None = None) -> Any:
        """The rows as the classifier sees them, with the columns by their names where both have names.

        Words that the fit has not seen are told; of a block of a table they are left in `unknown`.
        """
        from maxmargin.estimators.base import behind_the_steps

        X = self.columns_of(data)
        if self.scaler is None:
            return X
        words = UnknownWords() if unknown is None else unknown
        words.look(self.scaler, X, self.names)
        for sentence in words.sentences() if unknown is None else ():
            messages.print(f"maxmargin: {data.name}: {sentence}")
        return numbers_of(behind_the_steps(self.whole, X))

    def expects(self, any_labels: bool = False, needs_weights: bool = True) -> Expected:
        """What it knows of its data, for whoever reads them."""
        classes = None if any_labels else getattr(self.classifier, "classes_", None)
        return Expected(
            self.expected,
            self.columns_by,
            None if classes is None else classes.tolist(),
            fills_in(self.scaler),
            self.roles,
            ("label", "weight") if needs_weights else ("label",),
        )

    def is_fitted_on(self, X: Any, y: Any) -> bool | None:
        """Whether these are the rows of the fit, by their fingerprint; None where the file has none."""
        return None if self.fingerprint is None else self.fingerprint.matches(X, y)

    def columns_of(self, data: DataFile) -> Any:
        """The columns of the file that the model was fitted on, in its order."""
        X, expected = data.X, self.whole.n_features_in_
        if self.names is not None:
            if data.feature_names is None:
                raise UserError(
                    f"{data.name} has no names of columns, and the model knows its columns by name: "
                    f"{', '.join(map(repr, self.names[:8]))}; give it a table with these"
                )
            return data.rows(self.names)  # the reader has seen to it that they are there
        if data.texts:
            raise UserError(f"{data.name}: column {next(iter(data.texts))!r} holds words; the model takes numbers only")
        if data.feature_names is not None and data.has_names and X.shape[1] == expected:
            messages.print(
                f"maxmargin: {data.name}: the model knows no names: its {expected:,} columns are those of the file, in "
                "their order"
            )
        if data.feature_names is None and X.shape[1] < expected:  # columns that are zero in all rows
            X = X.copy()
            X.resize((X.shape[0], expected))
        if X.shape[1] != expected:
            raise UserError(f"{data.name} has {X.shape[1]:,} columns, but the model was fitted on {expected:,}")
        return X

    def refuse_unknown_labels(self, data: DataFile) -> None:
        """A proof speaks of the labels of the model, and of no others."""
        known = self.classifier.classes_.tolist()
        counts = [True] * len(data.lines) if data.weights is None else (data.weights > 0.0).tolist()
        for row, (label, counts_here) in enumerate(zip(data.y.tolist(), counts, strict=True)):
            if counts_here and label not in known:
                shown = ", ".join(map(repr, known[:8])) + (" ..." if len(known) > 8 else "")
                where = {"file": data.name, **data.place_of(row)}
                raise UserError(
                    f"{where['file']}, line {where['line']}: the label {label!r} is none of the model's: {shown}"
                )


def load_model(path: str, n_columns: int | None = None, any_estimator: bool = False) -> Model:
    """Read a model; every problem becomes a `UserError`. A text model of LIBSVM has at least `n_columns`.

    What skops keeps is scikit-learn's to use: it can be measured (`any_estimator`), and not more.
    """
    from maxmargin.persistence import ModelFileError, read_skops

    try:
        with open(path, "rb") as file:
            start = file.read(11)
        if start.startswith(TEXT_MODELS):
            return load_text_model(path, start, n_columns)
        if start.startswith(SKOPS) and not any_estimator:
            raise UserError(f"{path} is a skops file: `maxmargin audit` can measure it, scikit-learn predicts with it")
        return model_of(read_skops(path), written_by="skops") if start.startswith(SKOPS) else load_own_model(path)
    except ModelFileError as error:
        raise UserError(str(error)) from None
    except ImportError as missing:
        raise UserError(f"{path} cannot be read: {missing}") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None


def load_and_read(
    model: str,
    data: str | Sequence[str],
    options: ReadingOptions,
    any_estimator: bool = False,
    needs_labels: bool = True,
    any_labels: bool = False,
    needs_weights: bool = True,
) -> tuple[Model, DataFile]:
    """A model, and a file as the model needs it: its columns, by their names; missing cells if it can fill them in.

    Where labels are needed, they are those of the model, unless any will do, which are left as they are. Where weights
    are not, those of the fit are taken if they are there.
    """
    loaded = load_model(model, any_estimator=any_estimator)
    expected = loaded.expects(any_labels, needs_weights)
    table = read(data, options, model=expected, needs_labels=needs_labels)
    if needs_labels and expected.classes is not None:
        loaded.refuse_unknown_labels(table)
    return (load_model(model, table.X.shape[1]) if loaded.is_text else loaded), table


def load_own_model(path: str) -> Model:
    from maxmargin.persistence import model_info

    found = model_info(path)
    read = model_of(found.model, f"maxmargin {found.written_by}", found.fingerprint)
    return read._replace(columns_by=found.columns_by, roles=found.roles, calibration=found.calibration)


def model_of(model: Any, written_by: str, fingerprint: Fingerprint | None = None) -> Model:
    """An estimator or a Pipeline, taken apart."""
    from sklearn.pipeline import Pipeline

    from maxmargin.persistence.column_blocks import kinds_of_columns

    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    names = getattr(steps[0], "feature_names_in_", None)
    forget_names(model)  # the commands give arrays, by these names
    kinds = [] if names is None else kinds_of_columns(steps[0], len(names))
    if names is not None and len(set(names)) < len(names):
        twin = next(name for place, name in enumerate(names.tolist()) if name in names[:place])
        raise UserError(f"the model was fitted on two columns that are called {twin!r}: no file can say which is which")
    return Model(
        whole=model,
        scaler=model[:-1] if len(steps) > 1 else None,
        classifier=steps[-1],
        expected=None if names is None else dict(zip(names, kinds, strict=True)),
        fingerprint=fingerprint,
        written_by=written_by,
    )


def forget_names(step: Any) -> None:
    """Of a step and of all that it consists of."""
    vars(step).pop("feature_names_in_", None)
    for entry in getattr(step, "transformers_", getattr(step, "steps", ())):
        if not isinstance(entry[1], str):
            forget_names(entry[1])


def load_text_model(path: str, start: bytes, n_columns: int | None) -> Model:
    from maxmargin.persistence import read_liblinear, read_libsvm

    if start.startswith(TEXT_MODELS[1]):
        linear = read_liblinear(path)
        return Model(linear, None, linear, None, written_by="LIBLINEAR", is_text=True, columns_by="index from 1")
    model = read_libsvm(path)
    if n_columns is not None and n_columns > model.n_features_in_:  # the last ones are zero in all its vectors
        model = read_libsvm(path, n_columns)
    return Model(model, None, model, None, written_by="LIBSVM", is_text=True, columns_by="index from 1")
