"""Which question a fitted model answers, and what it answered: scikit-learn's classifiers and our own in one form.

The soft margin of all of them is 1/2 |w|^2 + sum_i C_i loss(1 - y_i (w.x_i + b)). Their differences are read here:

    LinearSVC        the bias is regularised: b = s v, with s = intercept_scaling, and v^2 / 2 is added. That is the
                     problem without a bias on rows that have one more column, s in every row
    SVC              one plane for each pair of classes; its rows of weights are unfolded
    SGDClassifier    alpha/2 |w|^2 + the mean of the losses: C = 1 / (alpha n)
    Perceptron       promises a plane that separates, and nothing more

Against the rest, scikit-learn gives the weight of a class to its own rows alone, and 1 to the rest; ours gives each row
the weight of its class.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from maxmargin.data.table import Matrix, Vector, is_sparse
from maxmargin.estimators.base import MarginClassifier
from maxmargin.estimators.scikit_learn_versions import class_weights_like_theirs
from maxmargin.problems.choices import Strategy
from maxmargin.problems.kernels import Kernel, KernelChoice, Points, rows_of
from maxmargin.problems.losses import HINGE, LOSSES, Loss, loss_named
from maxmargin.problems.statement import TrainingSet

AUDITED = (
    "LinearSVC, SVC, SGDClassifier, Perceptron, the estimators of maxmargin, and pipelines that end with one of them"
)


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fitted classifier as the auditor sees it.

    name                  as reports call it
    classes, strategy     which two-class problems it has answered
    planes, biases        one line for each: w, or with a kernel the coefficients of the support
    loss, C               the soft margin that it was to find; loss None: a plane that separates
    class_weight          one weight for each class; `own_class_only`: 1 for the rest that a class stands against
    fit_intercept         whether there is a bias that is not regularised
    bias_column           what the one more column holds that stands for the bias; None: there is no such column
    norm                  by which a margin is measured
    kernel, support       the kernel, and the rows of which its planes are made
    notes                 sentences for the report
    """

    name: str
    classes: NDArray[Any]
    strategy: Strategy
    planes: NDArray[np.float64]
    biases: Vector
    loss: Loss | None
    C: float
    class_weight: Vector
    fit_intercept: bool
    own_class_only: bool = False
    bias_column: float | None = None
    norm: str = "l2"
    kernel: Kernel | None = None
    support: Points | None = None
    notes: tuple[str, ...] = ()


def read_model(estimator: Any, table: TrainingSet) -> FittedModel:
    """The model in our form; a ValueError says why where that is not possible."""
    from sklearn.linear_model import Perceptron, SGDClassifier
    from sklearn.svm import SVC, LinearSVC

    readers = {
        LinearSVC: read_linear_svc,
        SVC: read_svc,
        SGDClassifier: read_sgd,
        Perceptron: read_perceptron,
        MarginClassifier: read_our_own,
    }
    for kind, reader in readers.items():
        if isinstance(estimator, kind):
            check_is_fitted(estimator)
            check_sizes(estimator, table)
            return reader(estimator, table)
    what = estimator.__name__ + " (the class; give an instance)" if isinstance(estimator, type) else repr(estimator)
    raise ValueError(f"{what} cannot be audited: {AUDITED} can")


def check_sizes(estimator: Any, table: TrainingSet) -> None:
    """The columns and the labels must be those that the model was fitted on."""
    expected, found = getattr(estimator, "n_features_in_", table.X.shape[1]), table.X.shape[1]
    if expected != found:
        raise ValueError(f"X has {found} columns, but the model was fitted on {expected}")
    known, given = np.asarray(estimator.classes_), table.labels.classes
    if not np.array_equal(known, given):
        strange, missing = np.setdiff1d(given, known).tolist(), np.setdiff1d(known, given).tolist()
        what = f"y holds {strange}, which the model does not know" if strange else f"y has no row of {missing}"
        raise ValueError(f"{what}: a model is audited on the rows that it was fitted on")


def read_linear_svc(estimator: Any, table: TrainingSet) -> FittedModel:
    require_l2(estimator)
    if estimator.multi_class != "ovr":
        raise ValueError(
            f'multi_class="{estimator.multi_class}" solves one problem over all classes, not several of two: '
            'it cannot be audited; multi_class="ovr" can'
        )
    scaling = float(estimator.intercept_scaling)
    regularised = bool(estimator.fit_intercept)
    note = (
        f"LinearSVC regularises its bias: it is measured by its own objective, which is that of the problem without a "
        f"bias on rows with one more column of {scaling:g} (intercept_scaling)"
    )
    return FittedModel(
        name=f"LinearSVC(C={estimator.C:g})",
        classes=estimator.classes_,
        strategy=Strategy.ONE_VERSUS_REST,
        **planes_of(estimator),
        loss=LOSSES[estimator.loss],
        C=float(estimator.C),
        class_weight=weights_like_theirs(estimator, table, table.weights),
        fit_intercept=False,
        own_class_only=True,
        bias_column=scaling if regularised else None,
        notes=(note,) if regularised else (),
    )


def read_svc(estimator: Any, table: TrainingSet) -> FittedModel:
    if estimator.kernel == "sigmoid" or (estimator.kernel == "poly" and estimator.coef0 < 0.0):
        raise ValueError(
            f"SVC(kernel={estimator.kernel!r}, coef0={estimator.coef0:g}) cannot be audited: this kernel is not "
            "positive semidefinite, so that there is no space in which it has a margin, and no bound of an optimum"
        )
    shared: dict[str, Any] = {
        "classes": estimator.classes_,
        "strategy": Strategy.ONE_VERSUS_ONE,
        "loss": HINGE,
        "C": float(estimator.C),
        "class_weight": np.asarray(estimator.class_weight_, dtype=np.float64),
        "fit_intercept": True,
    }
    kernel_name = "a function" if callable(estimator.kernel) else estimator.kernel
    name = f"SVC(C={estimator.C:g}, kernel={kernel_name!r})"
    if estimator.kernel == "linear":
        return FittedModel(name=name, **planes_of(estimator), **shared)
    kernel = KernelChoice(estimator.kernel, estimator._gamma, estimator.coef0, estimator.degree).on(table.X)
    return FittedModel(
        name=name,
        planes=unfolded(dense(estimator.dual_coef_), estimator.n_support_),
        biases=np.ravel(estimator.intercept_).astype(np.float64),
        kernel=kernel,
        support=support_of(estimator, kernel, table, estimator.shape_fit_[0]),
        **shared,
    )


def unfolded(dual_coef: NDArray[np.float64], n_support: NDArray[Any]) -> NDArray[np.float64]:
    """One line of coefficients for each pair of classes, from libsvm's table.

    It has a line less than there are classes: a support vector of class i has in line j - 1 (j > i) or j (j < i) its
    coefficient against class j.
    """
    if len(dual_coef) == 1:
        return dual_coef
    ends = np.concatenate([[0], np.cumsum(n_support)])
    pairs = list(itertools.combinations(range(len(n_support)), 2))
    lines = np.zeros((len(pairs), dual_coef.shape[1]))
    for line, (i, j) in zip(lines, pairs, strict=True):
        first, second = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        line[first], line[second] = dual_coef[j - 1, first], dual_coef[i, second]
    return lines


def support_of(estimator: Any, kernel: Kernel, table: TrainingSet, n_fitted: int | None) -> Points:
    """The rows of which the planes are made. Of a table of kernel values and of a function, rows of X itself."""
    if not (kernel.is_table or kernel.is_code):
        return kernel.points(estimator.support_vectors_)
    if n_fitted is not None and n_fitted != table.X.shape[0]:
        raise ValueError(
            f"the model was fitted on {n_fitted} rows and X has {table.X.shape[0]}: with this kernel it is known by "
            "the places of its support vectors, so that X must be the table of its fit"
        )
    return rows_of(kernel.points(table.X), np.asarray(estimator.support_, dtype=np.intp))


def read_sgd(estimator: Any, table: TrainingSet) -> FittedModel:
    if estimator.loss == "perceptron":
        return read_perceptron(estimator, table)
    if estimator.loss not in LOSSES:
        raise ValueError(f'SGDClassifier(loss="{estimator.loss}") cannot be audited: {", ".join(LOSSES)} can')
    require_l2(estimator)
    n = table.X.shape[0]
    return FittedModel(
        name=f"SGDClassifier(alpha={estimator.alpha:g})",
        classes=estimator.classes_,
        strategy=Strategy.ONE_VERSUS_REST,
        **planes_of(estimator),
        loss=LOSSES[estimator.loss],
        C=1.0 / (float(estimator.alpha) * n),
        class_weight=weights_like_theirs(estimator, table, None),
        fit_intercept=bool(estimator.fit_intercept),
        own_class_only=True,
        notes=(
            f"SGDClassifier minimises alpha/2 |w|^2 and a mean over {n:,} rows; times 1 / alpha that is this "
            "objective, with C = 1 / (alpha n)",
        ),
    )


def read_perceptron(estimator: Any, table: TrainingSet) -> FittedModel:
    return FittedModel(
        name=type(estimator).__name__,
        classes=estimator.classes_,
        strategy=Strategy.ONE_VERSUS_REST,
        **planes_of(estimator),
        loss=None,
        C=math.inf,
        class_weight=np.ones(len(estimator.classes_)),
        fit_intercept=bool(estimator.fit_intercept),
    )


def read_our_own(estimator: Any, table: TrainingSet) -> FittedModel:
    """LinearSVM, KernelSVM and StochasticSVM by their objective; all others by their margin."""
    name, kernel = type(estimator).__name__, getattr(estimator, "_kernel", None)
    C = float(getattr(estimator, "C_", getattr(estimator, "C", math.inf)))
    if kernel is not None and math.inf == C:
        raise ValueError(
            f"the margin of a {name} in the space of a kernel is not audited; its own proof can be checked anew: "
            "model.certificate_.verify(X, y)"
        )
    given: dict[str, Any] = planes_of(estimator)
    if kernel is not None:
        planes = np.asarray(estimator.dual_coef_, dtype=np.float64)
        given |= {"planes": planes, "kernel": kernel, "support": support_of(estimator, kernel, table, None)}
    weights = table.class_weights(getattr(estimator, "class_weight", None))
    loss = loss_named(getattr(estimator, "loss", HINGE.name), getattr(estimator, "huber_width", None))
    return FittedModel(
        name=name if math.inf == C else f"{name}(C={C:g})",
        classes=estimator.classes_,
        strategy=Strategy(estimator._strategy),
        loss=None if math.inf == C else loss,
        C=C,
        class_weight=np.array([weight for _, weight in weights]) if weights else np.ones(len(estimator.classes_)),
        fit_intercept=bool(getattr(estimator, "fit_intercept", True)),
        norm=getattr(estimator, "norm", "l1" if name == "Winnow" else "l2"),
        **given,
    )


def planes_of(estimator: Any) -> dict[str, Any]:
    """`planes` and `biases` of a model that has them."""
    coef = getattr(estimator, "coef_", None)
    planes = np.zeros((1, 0)) if coef is None else np.atleast_2d(dense(coef))
    biases = np.zeros(len(planes)) + np.ravel(estimator.intercept_)
    return {"planes": planes.astype(np.float64), "biases": biases.astype(np.float64)}


def weights_like_theirs(estimator: Any, table: TrainingSet, sample_weight: Vector | None) -> Vector:
    """The weights of the classes as scikit-learn computes them."""
    classes, codes = table.labels
    counting = codes >= 0
    weights = None if sample_weight is None else sample_weight[counting]
    return class_weights_like_theirs(estimator.class_weight, classes, classes[codes[counting]], weights)


def require_l2(estimator: Any) -> None:
    if estimator.penalty != "l2":
        raise ValueError(
            f"{type(estimator).__name__}(penalty={estimator.penalty!r}) cannot be audited: penalty='l2' can, which is "
            "the 1/2 |w|^2 of a margin"
        )


def dense(values: Any) -> NDArray[np.float64]:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)


def problem_of(fitted: FittedModel) -> str:
    """The question in a line."""
    many = {Strategy.ONE_VERSUS_REST: "each class against the rest", Strategy.ONE_VERSUS_ONE: "each pair of classes"}
    parts = [f"the widest street, {fitted.norm}" if fitted.loss is None else f"{fitted.loss.title}, C = {fitted.C:g}"]
    if fitted.kernel is not None:
        parts.append(f"{fitted.kernel.name} kernel")
    parts.append(
        "a regularised bias" if fitted.bias_column is not None else "a bias" if fitted.fit_intercept else "no bias"
    )
    if not np.all(fitted.class_weight == 1.0):
        parts.append("class weights")
    return ", ".join(parts + ([many[fitted.strategy]] if len(fitted.classes) > 2 else []))


def with_column(X: Matrix, value: float) -> Matrix:
    """X with one more column, which holds this value in every row."""
    column = np.full((X.shape[0], 1), value, dtype=X.dtype if X.dtype.type(value) == value else np.float64)
    return sparse.hstack([X, sparse.csr_array(column)], format="csr") if is_sparse(X) else np.hstack([X, column])
