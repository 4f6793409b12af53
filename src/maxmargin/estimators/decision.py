"""How a fitted classifier decides: planes between the columns or in the space of a kernel, and who wins by them.

    two classes    the sign of w.x + b
    against rest   the largest of the w_c.x + b_c
    in pairs       votes; between equal votes the summed scores, or for scikit-learn's SVC the order of the classes

Scalers before the classifier are part of it: x' = g x + h, column by column, so that what is said is said of the rows
as the user has them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, RidgeClassifierCV, SGDClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.data.checking import check_rows, checked_rows, opened
from maxmargin.data.table import Matrix, Vector, is_source, matrix_of
from maxmargin.estimators.base import MarginClassifier
from maxmargin.estimators.fitted_models import dense, planes_of, unfolded
from maxmargin.problems.choices import Strategy
from maxmargin.problems.kernels import Function, Kernel, KernelChoice, Linear, Points, Polynomial, Precomputed, Rbf

LINEAR = (
    LinearSVC,
    LogisticRegression,
    SGDClassifier,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    LinearDiscriminantAnalysis,
)
READ = (
    "the estimators of maxmargin, scikit-learn's linear classifiers and its SVC can, and pipelines of scalers that end "
    "with one of them"
)


class Rule(StrEnum):
    """Who wins."""

    SIGN = "the sign of one plane"
    LARGEST = "the largest value"
    VOTES = "votes of pairs"


@dataclass(frozen=True)
class Scaling:
    """x' = g x + h, column by column: `roundings` of each number, and what went into h as magnitudes."""

    g: Vector
    h: Vector
    magnitude: Vector
    roundings: int = 0

    def then(self, factor: Any, offset: Any) -> Scaling:
        """x'' = factor x' + offset; both may have been rounded once."""
        magnitude = self.magnitude * np.abs(factor) + np.abs(offset)
        return Scaling(self.g * factor, self.h * factor + offset, magnitude, self.roundings + 4)


@dataclass(frozen=True, eq=False)
class Decision:
    """A fitted classifier as it decides.

    name, classes     as reports call them
    rule              who wins; `ties_by_scores`: whether equal votes are told apart by the summed scores
    planes, biases    one line for each plane: w, or with a kernel the coefficients of the support
    kernel, support   of planes in the space of a kernel
    scaling           of the columns before all that
    """

    name: str
    classes: NDArray[Any]
    rule: Rule
    planes: NDArray[np.float64]
    biases: Vector
    scaling: Scaling
    ties_by_scores: bool = True
    kernel: Kernel | None = None
    support: Points | None = None


def read_decision(estimator: Any, X: Any) -> tuple[Decision, Matrix]:
    """The classifier in our form, and the rows as the first of its steps gets them; or a sentence."""
    while hasattr(estimator, "best_estimator_"):
        estimator = estimator.best_estimator_
    steps = [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else [estimator]
    *before, model = [step for step in steps if step not in (None, "passthrough")]
    first = before[0] if before else model
    check_is_fitted(model)
    X = matrix_of(checked_rows(X)) if is_source(X) else opened(X)[0]
    if hasattr(first, "n_features_in_"):
        validate_data(first, X=X, reset=False, skip_check_array=True)
    X = check_rows(X)
    scaling = Scaling(np.ones(X.shape[1]), np.zeros(X.shape[1]), np.zeros(X.shape[1]))
    for step in before:
        scaling = scaling.then(*factor_and_offset(step))
    return dataclasses.replace(read_classifier(model), scaling=scaling), X


def factor_and_offset(step: Any) -> tuple[Any, Any]:
    """Of a scaler, x' = factor x + offset; a ValueError where the step is none."""
    check_is_fitted(step)
    if isinstance(step, MinMaxScaler | MaxAbsScaler) and getattr(step, "clip", False):
        raise ValueError(f"{step!r} clips what is beyond its range: distances behind it say nothing of those before it")
    if isinstance(step, MinMaxScaler):
        return step.scale_, step.min_
    if isinstance(step, MaxAbsScaler):
        return 1.0 / step.scale_, 0.0
    if isinstance(step, StandardScaler | RobustScaler):
        center = step.mean_ if isinstance(step, StandardScaler) else step.center_
        centred = step.with_mean if isinstance(step, StandardScaler) else step.with_centering
        divisor = 1.0 if step.scale_ is None else step.scale_
        return 1.0 / np.asarray(divisor), -center / divisor if centred else 0.0
    raise ValueError(
        f"{type(step).__name__} is no scaling of columns: it is not known what a perturbation before it is behind it. "
        "Give the last step, and the rows as they reach it: model[-1], model[:-1].transform(X)"
    )


def read_classifier(model: Any) -> Decision:
    nothing = Scaling(np.zeros(0), np.zeros(0), np.zeros(0))  # the steps are read elsewhere
    classes = np.asarray(getattr(model, "classes_", ()))
    shared: dict[str, Any] = {"name": type(model).__name__, "classes": classes, "scaling": nothing}
    if isinstance(model, MarginClassifier):
        in_pairs = model._strategy is Strategy.ONE_VERSUS_ONE
        kernel = getattr(model, "_kernel", None)
        if kernel is None:
            return Decision(rule=rule_of(classes, in_pairs), **planes_of(model), **shared)
        refuse_kernel(type(kernel))
        return Decision(
            rule=rule_of(classes, in_pairs),
            planes=np.asarray(model.dual_coef_, dtype=np.float64),
            biases=np.asarray(model.intercept_, dtype=np.float64),
            kernel=kernel,
            support=kernel.points(model.support_vectors_),
            **shared,
        )
    if isinstance(model, SVC | NuSVC):
        return read_svc(model, shared)
    if isinstance(model, LINEAR):
        return Decision(rule=rule_of(classes, in_pairs=False), **planes_of(model), **shared)
    raise ValueError(f"the boundary of {model!r} is not known: {READ}")


def rule_of(classes: NDArray[Any], in_pairs: bool) -> Rule:
    return Rule.SIGN if len(classes) == 2 else Rule.VOTES if in_pairs else Rule.LARGEST


def read_svc(model: Any, shared: dict[str, Any]) -> Decision:
    shared |= {"rule": rule_of(shared["classes"], in_pairs=True), "ties_by_scores": bool(model.break_ties)}
    if model.kernel == "linear":
        return Decision(**planes_of(model), **shared)
    if callable(model.kernel) or model.kernel == "precomputed":
        refuse_kernel(Function if callable(model.kernel) else Precomputed)
    if model.kernel not in ("rbf", "poly") or model.coef0 < 0.0:
        raise ValueError(
            f"the kernel of {model!r} is not positive semidefinite, so that there is no space in which its planes "
            "have a distance"
        )
    rows = check_rows(model.support_vectors_)
    kernel = KernelChoice(model.kernel, model._gamma, model.coef0, model.degree).on(rows)
    return Decision(
        planes=unfolded(dense(model.dual_coef_), model.n_support_),
        biases=np.ravel(model.intercept_).astype(np.float64),
        kernel=kernel,
        support=kernel.points(rows),
        **shared,
    )


def refuse_kernel(kind: type[Kernel]) -> None:
    """Where no bound of the way in the columns is known; `halfspaces.radius_in_l2` has those that are."""
    if kind.is_table:
        raise ValueError("with a precomputed kernel there are no columns in which a row could be perturbed")
    if not issubclass(kind, Linear | Polynomial | Rbf):
        which = "a function of the user" if kind.is_code else kind.name
        raise ValueError(
            "how far a row must move to move by so much in the space of a kernel is not known where the kernel is "
            f"{which}: linear, poly and rbf have a bound"
        )
