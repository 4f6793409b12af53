"""Rows that come by `partial_fit`, and what their planes are worth on rows that one chooses.

A stream has no table and so no objective: its planes are those at which the run stands, and nothing is proven of them
until somebody names the rows. What a run starts from is the same for a stream and for a table.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.certificates.passes import length
from maxmargin.data.checking import Labels, check_weights, checked_table, labels_of_a_batch
from maxmargin.data.table import matrix_of
from maxmargin.estimators.base import plane_values, refuse_too_long_steps, single
from maxmargin.estimators.parameters import check_parameters
from maxmargin.problems.choices import Strategy
from maxmargin.problems.descent import Descent
from maxmargin.problems.kernels import Kernel
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin, SoftMargin, TrainingSet, TwoClasses, prices, two_class_problems
from maxmargin.problems.step_lengths import DAMPED, PEGASOS
from maxmargin.run.control import Clock
from maxmargin.solve.kernel_points import points_in_time, values_in_time
from maxmargin.solve.soft_margin import soft_certificate
from maxmargin.solve.stochastic import measured_against_the_best

# Of the table of the last fit:
ABOUT_ROWS = ("support_", "dual_coef_", "n_support_", "support_vectors_", "_support_rows", "status_", "trace_")

SWEEPS = 100  # of a fit, where nobody says how many


def seed_of(svm: Any) -> int | None:
    """Of the orders of visits; None: as the rows lie."""
    return int(check_random_state(svm.random_state).randint(2**31 - 1)) if svm.shuffle else None


def most_sweeps(svm: Any) -> int:
    """Of a fit."""
    return SWEEPS if svm.max_iter is None else int(svm.max_iter)


def problem_of(svm: Any, two: TwoClasses, kernel: Kernel | None = None, clock: Clock | None = None) -> SoftMargin:
    costs, bias = prices(float(svm.C), two), bool(svm.fit_intercept)
    if kernel is None or clock is None:
        return SoftMargin(two.X, two.signs, costs, HINGE, bias)
    points = points_in_time(kernel, two, clock)
    return KernelMargin(two.X, two.signs, costs, HINGE, bias, kernel, points)


def run_of(svm: Any, problem: SoftMargin, n_rows: int, earlier: Descent | None, clock: Clock | None = None) -> Descent:
    """A new run, or the earlier one as far as it fits these rows; where the clock ends that, it does not begin."""
    n, d = problem.X.shape
    has_kernel = isinstance(problem, KernelMargin)
    run = Descent(
        float(svm.C), n_rows, has_kernel, bool(svm.average), np.zeros(n if has_kernel else d), np.zeros(n)
    ).taken_up(earlier)
    if isinstance(problem, KernelMargin) and np.any(run.a):  # on the rows as they are now
        run.v = values_in_time(problem, run.a, clock)
    if svm.project:
        run.radius = math.sqrt(float(problem.costs.sum()) * (n_rows / max(1, n)))
    return run


def learn(svm: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
    """One visit to each of these rows."""
    from maxmargin.solvers.stochastic_subgradient import stochastic_subgradient

    check_parameters(svm)
    if svm.class_weight == "balanced":
        raise ValueError('class_weight="balanced" counts the rows of a table, and a stream has none: give a dict')
    strategy = Strategy(svm.multi_class)
    first = not hasattr(svm, "classes_")
    table = rows_of_stream(svm, X, y, classes, sample_weight, first)
    table = table.weighted(table.class_weights(svm.class_weight))
    seed = seed_of(svm) if table.X.shape[0] > 1 else None
    step = DAMPED if svm.step == PEGASOS else svm.step
    runs = []
    for k, two in enumerate(two_class_problems(table.X, table.labels, strategy, table.weights)):
        problem, earlier = problem_of(svm, two), None if first else svm._runs[k]
        length = length_of_stream(svm, earlier)
        so_far = problem.n_rows + (0 if earlier is None else earlier.visits)
        run = run_of(svm, problem, length or max(1, so_far), earlier)
        going_on = stochastic_subgradient(problem, run, step=step, seed=seed, max_sweeps=1, grows=length is None)
        for _ in going_on.iterates:
            pass
        refuse_too_long_steps(plane_values(two.X, run.w[None], run.b)[:, 0], two.rows)
        run.a = np.zeros(0)
        runs.append(run)
    show(svm, table.labels.classes, strategy, runs)


def length_of_stream(svm: Any, earlier: Descent | None) -> int | None:
    """The n of lambda, from the first rows on or from an earlier fit; None: those that have come so far."""
    if earlier is None or earlier.visits == 0 or (earlier.grows and svm.stream_rows is None):
        return None if svm.stream_rows is None else int(svm.stream_rows)
    return earlier.n_rows


def rows_of_stream(svm: Any, X: Any, y: Any, classes: Any, sample_weight: Any, first: bool) -> TrainingSet:
    """Rows whose labels are known already, or listed in the first call."""
    X, y, largest = checked_table(svm, X, y, reset=first)
    X = matrix_of(X)
    known, codes = labels_of_a_batch(y, classes, None if first else svm.classes_)
    weights = None if sample_weight is None else check_weights(sample_weight, X.shape[0])
    if weights is not None:
        codes = np.where(weights > 0.0, codes, -1)
    return TrainingSet(X, Labels(known, codes), weights, largest)


def show(svm: Any, classes: NDArray[Any], strategy: Strategy, runs: list[Descent]) -> None:
    """The planes of a stream, and nothing that speaks of the rows of a table."""
    for name in (*ABOUT_ROWS, "_certificate", "_seen"):
        svm.__dict__.pop(name, None)
    svm.classes_, svm._strategy, svm._runs, svm._kernel = classes, strategy, runs, None
    svm.coef_ = np.array([run.w for run in runs])
    svm.intercept_ = np.array([run.b for run in runs])
    svm.n_iter_ = max(run.sweeps for run in runs)
    svm.n_updates_ = single([run.violations for run in runs])
    steepness = [length(w, "l2") for w in svm.coef_]
    svm.margin_ = single([1.0 / size if size > 0.0 else math.inf for size in steepness])
    svm.street_ = single([2.0 / size if size > 0.0 else math.inf for size in steepness])


def certificate_on(svm: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """What the planes are worth on these rows."""
    check_is_fitted(svm, "classes_")
    if svm._kernel is not None:
        raise ValueError("with a kernel, certificate_ speaks of the rows of fit, from which the plane is made")
    table = rows_of_stream(svm, X, y, None, sample_weight, first=False)
    absent = np.setdiff1d(np.arange(len(svm.classes_)), table.labels.codes)
    if len(absent):
        raise ValueError(f"no row has the label {svm.classes_.tolist()[absent[0]]!r}: certify needs all classes")
    class_weight = table.class_weights(svm.class_weight)
    table, clock = table.weighted(class_weight), Clock(svm.max_time, svm.verbose)
    certificates = []
    problems = two_class_problems(table.X, table.labels, svm._strategy, table.weights, table.largest)
    for two, w, b in zip(problems, svm.coef_, svm.intercept_, strict=True):
        problem = problem_of(svm, two)
        judge = measured_against_the_best(two, problem, (w, float(b)), svm.tol, clock)
        certificates.append(soft_certificate(two, judge, problem.costs, 1.0, float(svm.C), class_weight)[0])
    if clock.interrupted:
        raise KeyboardInterrupt
    return certificates[0] if len(certificates) == 1 else MulticlassCertificate(tuple(certificates))
