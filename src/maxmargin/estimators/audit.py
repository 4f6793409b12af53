"""How far from the optimum is a model that somebody else fitted? A proof of the distance.

The model's objective is measured on the rows, and a bound is proven that no plane's objective is below:

    dual <= optimum <= objective,      excess = objective / optimum - 1,   proven to be at most objective / dual - 1

A model that promises a plane that separates, as a perceptron does, is measured by its margin, against proven bounds of
the best one. Nothing of the model is trusted: its planes are measured like any others, with rounding accounted for.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar

from maxmargin._loops import small_work
from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.duality import PrimalValue, primal_value
from maxmargin.certificates.kernel_duality import Direction, combined, soft_primal
from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.certificates.measure import plane_margin
from maxmargin.certificates.passes import rounding, total, values_of
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.data.executor import OutOfTime, Threads, check_interrupt, one_thread_for_blas
from maxmargin.data.table import Vector, is_source
from maxmargin.estimators.audit_result import Audit, MarginPart, ObjectivePart, against
from maxmargin.estimators.base import behind_the_steps, table_of
from maxmargin.estimators.declarations import HARD_MARGIN_SVM, KERNEL_SVM, TOL
from maxmargin.estimators.fitted_models import FittedModel, problem_of, read_model, with_column
from maxmargin.estimators.linear import LinearSVM
from maxmargin.problems.kernels import Points
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import (
    ClassWeight,
    KernelMargin,
    Norm,
    SoftMargin,
    TrainingSet,
    TwoClasses,
    best_bias,
    prices,
    slack,
    total_loss,
    two_class_problems,
)
from maxmargin.problems.statement import plain as plain_label
from maxmargin.run.control import Clock
from maxmargin.solve.answer import SoftQuestion
from maxmargin.solve.separation import SeparationQuestion, solve_separation, with_least_squares
from maxmargin.solve.soft_margin import half_gap, solve_soft_margin

if TYPE_CHECKING:
    from maxmargin.solve.kernel_margin import KernelQuestion, KernelWork


def audit(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    tol: float = 1e-5,
    max_time: float | None = None,
    verbose: int = 0,
) -> Audit:
    """How far a fitted model is from the optimum of its own problem, proven on the rows that it was fitted on.

    A Perceptron, and our estimators of the hard margin, are measured by their margin against the best one, the others
    by their objective.

    Parameters
    ----------
    estimator : a fitted classifier
        A LinearSVC, SVC, SGDClassifier (with a loss of the margin) or Perceptron of scikit-learn, an
        estimator of maxmargin, or a pipeline or search that ends with one of them.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        The samples of its `fit`. Of samples that are read by blocks (`scan_table`), the model is a linear
        one, measured by its objective, and no pipeline: X are the rows as they reach it.
    y : array-like of shape (n_samples,)
        The labels of its `fit`.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of its `fit`.
    tol : float, default=1e-5
        The relative gap to which the optimum is sought. The proof holds whatever the gap; a small one makes
        it sharp.
    max_time : float, default=None
        Seconds for that. The bounds are true then, too, but wide.
    verbose : int, default=0
        1 shows progress on stderr once a second, 2 every step.

    Returns
    -------
    Audit
        `excess` and `least_excess`, or `share`; `print` it.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from maxmargin.estimators.audit import audit
    >>> from maxmargin.data.synthetic import overlapping
    >>> X, y = overlapping(100)
    >>> answer = audit(SGDClassifier(random_state=0).fit(X, y), X, y)
    >>> answer.least_excess <= answer.excess
    True
    """
    TOL.check("tol", tol)
    if is_source(X) and getattr(X, "memory", None) is not None:
        from maxmargin.estimators.audit_by_blocks import audit_by_blocks

        return audit_by_blocks(estimator, X, y, sample_weight, tol, max_time, verbose)
    model, X = last_step(estimator, X)
    table = table_of(LinearSVM(max_time=max_time), X, y, sample_weight)
    fitted = read_model(model, table)
    if fitted.bias_column is not None:
        table = table._replace(X=with_column(table.X, fitted.bias_column))
        table = table._replace(largest=max(table.largest, abs(fitted.bias_column)))
        planes = np.hstack([fitted.planes, (fitted.biases / fitted.bias_column)[:, None]])
        fitted = dataclasses.replace(fitted, planes=planes, biases=np.zeros(len(planes)))
    clock = Clock(max_time, verbose, table.begun)
    questions = two_class_problems(table.X, table.labels, fitted.strategy, table.weights, table.largest)
    weighted = [with_class_weights(fitted, table, two) for two in questions]
    with clock.hears_ctrl_c(), small_work(*table.X.shape):
        parts = list(measured_parts(fitted, table, weighted, tol, clock))
    if clock.interrupted:
        raise KeyboardInterrupt
    return Audit(fitted.name, problem_of(fitted), fitted.notes, tuple(parts))


def last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The classifier at the end of a pipeline or a search, and the rows as they reach it."""
    from sklearn.pipeline import Pipeline

    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, Pipeline):
            X, estimator = behind_the_steps(estimator, X), estimator.steps[-1][1]
        else:
            return estimator, X


def with_class_weights(fitted: FittedModel, table: TrainingSet, two: TwoClasses) -> tuple[TwoClasses, ClassWeight]:
    """The rows' weights times those of their classes, as the model counts them; and these as pairs."""
    weights = fitted.class_weight.copy()
    if fitted.own_class_only and two.negative is None:
        weights[np.array([plain_label(label) != two.positive for label in fitted.classes])] = 1.0
    if np.all(weights == 1.0):
        return two, ()
    of_rows = weights[table.labels.codes[two.rows]]
    pairs = tuple((plain_label(label), float(weight)) for label, weight in zip(fitted.classes, weights, strict=True))
    return dataclasses.replace(two, weights=of_rows if two.weights is None else of_rows * two.weights), pairs


def measured_parts(
    fitted: FittedModel, table: TrainingSet, questions: list[tuple[TwoClasses, ClassWeight]], tol: float, clock: Clock
) -> Iterator[Any]:
    planes = zip(questions, fitted.planes, fitted.biases, strict=True)
    if fitted.kernel is not None:
        from maxmargin.solve.kernel_margin import KernelQuestion, KernelWork

        with Threads() as threads, one_thread_for_blas:
            work = KernelWork(fitted.kernel, table.X, threads, KERNEL_SVM["cache_size"].default)
            for (two, class_weight), coefficients, b in planes:
                loss, bias = fitted.loss or HINGE, fitted.fit_intercept
                asked = KernelQuestion(fitted.C, tol, class_weight=class_weight, loss=loss, fit_intercept=bias)
                yield kernel_part(fitted, asked, work, two, (coefficients, float(b)), clock)
        return
    for (two, class_weight), w, b in planes:
        if fitted.loss is None:
            yield margin_part(fitted, two, (w, float(b)), clock)
        else:
            yield linear_part(fitted, two, class_weight, (w, float(b)), tol, clock)


def linear_part(
    fitted: FittedModel, two: TwoClasses, class_weight: ClassWeight, plane: tuple[Vector, float], tol: float,
    clock: Clock,
) -> ObjectivePart:  # fmt: skip
    """A plane against the optimum of LinearSVM."""
    assert fitted.loss is not None
    asked = SoftQuestion(fitted.C, fitted.loss, fitted.fit_intercept, tol, class_weight=class_weight)
    certificate = solve_soft_margin(two, asked, clock).certificate
    assert isinstance(certificate, SoftMarginCertificate)
    problem = SoftMargin(two.X, two.signs, prices(fitted.C, two), fitted.loss, fitted.fit_intercept)
    w, _ = plane
    if fitted.bias_column is None:
        better = w, best_bias(problem, values_of(two.X, w))
    else:
        better = with_best_last(problem, w, fitted.bias_column), 0.0
    own, best = (primal_value(problem, *candidate, matters=tol) for candidate in (plane, better))
    return against(two, own, best, certificate)


def with_best_last(problem: SoftMargin, w: Vector, column: float) -> Vector:
    """w with the last entry v that is best, where the last column holds one value s: the minimum of a convex function.

    Beyond max |y_i - w.x_i| / s no loss can fall any more, and v^2 rises.
    """
    without = np.append(w[:-1], 0.0)
    values = values_of(problem.X, without)
    reach = float(np.max(np.abs(problem.signs - values), initial=1.0)) / abs(column)

    def objective(v: float) -> float:
        return 0.5 * v * v + total_loss(problem, slack(problem, values, column * v))

    found = minimize_scalar(objective, bounds=(-reach, reach), method="bounded", options={"xatol": 1e-12 * reach})
    return np.append(w[:-1], min(float(found.x), float(w[-1]), key=objective))


def kernel_part(
    fitted: FittedModel, asked: KernelQuestion, work: KernelWork, two: TwoClasses, plane: tuple[Vector, float],
    clock: Clock,
) -> ObjectivePart:  # fmt: skip
    """A plane in the space of a kernel against the optimum of KernelSVM."""
    from maxmargin.solve.kernel_margin import solve_kernel_margin

    assert fitted.kernel is not None
    assert fitted.support is not None
    points, costs = work.points_of(two, clock), prices(fitted.C, two)
    problem = KernelMargin(two.X, two.signs, costs, asked.loss, asked.fit_intercept, fitted.kernel, points)
    coefficients, own_bias = plane
    w = None
    with clock.judging(), contextlib.suppress(OutOfTime):  # then nothing is known of this plane but what bounds all
        check_interrupt()
        w = direction_of(problem, fitted.support, coefficients, work.threads)
    certificate = solve_kernel_margin(two, asked, work, clock).certificate
    assert isinstance(certificate, KernelCertificate)
    if w is None:
        unknown = PrimalValue(math.inf, math.inf, np.zeros(len(two.signs)), math.inf)
        return against(two, unknown, unknown, certificate)

    def objective(b: float) -> PrimalValue:
        missing = 1.0 - two.signs * (w.values + b)
        off = w.off + rounding(4) * (np.abs(w.values) + abs(b) + 1.0)
        return PrimalValue(*soft_primal(problem, w, missing, off), missing, float(off.max()))

    return against(two, objective(own_bias), objective(best_bias(problem, w.values)), certificate)


def direction_of(problem: KernelMargin, support: Points, coefficients: Vector, threads: Threads) -> Direction:
    """w = sum_j c_j phi(x_j) for any coefficients: its values on the rows and |w|^2, with their errors."""
    points = problem.points
    if points.X.shape[1] != support.X.shape[1]:  # without columns in which all rows are equal: the support has them
        points = problem.kernel.points(problem.X, points.places)
    sides = np.stack([np.maximum(coefficients, 0.0), np.maximum(-coefficients, 0.0)], axis=1)

    def values_on(points: Points) -> tuple[Vector, Vector]:
        sums, sizes, error = combined(problem.kernel, points, support, sides, threads)
        return sums[:, 0] - sums[:, 1], error + rounding(2) * sizes

    (values, off), (own, own_off) = values_on(points), values_on(support)
    square, additions = total(coefficients * own)
    sizes = float(total(np.abs(coefficients * own))[0])
    square_error = 1.01 * (float(total(np.abs(coefficients) * own_off)[0]) + rounding(additions + 4) * sizes)
    return Direction(values, off, float(square), square_error, 0.0, 0.0, (1.0, 1.0))


def margin_part(fitted: FittedModel, two: TwoClasses, plane: tuple[Vector, float], clock: Clock) -> MarginPart:
    """A plane against the widest street."""
    asked = SeparationQuestion(Norm(fitted.norm), fitted.fit_intercept, HARD_MARGIN_SVM["tol"].default)
    certificate = solve_separation(two, asked, clock, with_least_squares).certificate
    assert isinstance(certificate, Certificate)
    (w, b), values = plane, values_of(two.X, plane[0])
    unit_costs = SoftMargin(two.X, two.signs, np.ones(len(two.signs)), HINGE, fitted.fit_intercept)
    middle = half_gap(unit_costs, values)[1]
    own, best = (plane_margin(two.X, two.signs, w, bias, fitted.norm) for bias in (b, middle))
    share = own.lower / certificate.margin_upper if own.lower > 0.0 and certificate.margin_upper > 0.0 else 0.0
    return MarginPart(
        positive=two.positive,
        negative=two.negative,
        margin=own.lower,
        margin_best_bias=max(own.lower, best.lower),
        mistakes=int(np.count_nonzero(~(two.signs * (values + b) > 0.0))),
        best_lower=certificate.margin_lower,
        best_upper=certificate.margin_upper,
        share=min(1.0, share),
        is_separable=certificate.is_separable,
        certificate=certificate,
    )
