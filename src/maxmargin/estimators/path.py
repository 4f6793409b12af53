"""The soft margin for many C: how the street narrows as mistakes become dearer, each point proven.

The path goes upwards in C, and each point starts from the dual variables of the last. It has two ends:

    low     While all rows are inside the street, a_i = C_i and w = C s with s = sum_i y_i x_i: only the length of w
            changes. That ends when a row reaches its edge: at C = 1 / max_i y_i s.x_i, or, with a bias and classes of
            equal weight, at C = 2 / (max_+ s.x_i - min_- s.x_i). (Classes of unequal weight: the heavier one is
            scaled down in s, and this is a good place to begin rather than an event.) With another loss
            a_i = slope C_i there, its slope at the plane, and C is divided by it: 2 for the squared hinge.
    high    If a plane separates the rows, let a* be the dual variables of the hard margin. Where a*_i <= C_i for all i
            they are feasible for the hinge, and so they are optimal: from C_max = max_i a*_i / (weight of row i) on,
            the soft margin is the hard margin. A loss that bends only comes near to it.

Reference: [hastie2004]. Differs: points with warm starts and proofs, not every breakpoint of the piecewise linear path.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.certificate import Certificate, Verdict
from maxmargin.certificates.passes import combination, length, values_of
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.data.table import Vector, in_safe_range, row_squares
from maxmargin.estimators.base import table_of
from maxmargin.estimators.convergence import End, Ending
from maxmargin.estimators.declarations import HARD_MARGIN_SVM, LINEAR_SVM_CV, LOSS
from maxmargin.estimators.hard_margin import canonical_plane, canonical_weights, hull_weights
from maxmargin.estimators.linear import LinearSVM
from maxmargin.estimators.margin_path import MarginPath, PathPoint
from maxmargin.problems.choices import Strategy
from maxmargin.problems.losses import Loss, loss_named
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import ClassWeight, Norm, TwoClasses, prices, two_class_problems
from maxmargin.run.control import Clock, Status, tell_of
from maxmargin.solve.answer import SoftQuestion
from maxmargin.solve.separation import SeparationQuestion, solve_separation
from maxmargin.solve.soft_margin import Judge, soft_certificate, soft_margin_of, solve_soft_margin

BEYOND = 100.0  # times max a*: a loss that bends is near to the hard margin, the squared hinge with slack below 0.005
DEAR = 1000.0  # divided by the rows' mean square from their centre: the highest C where no hard margin is known
NARROWEST = 10.0  # the least ratio of the two ends


def path(
    X: Any,
    y: Any,
    *,
    Cs: Any = 10,
    loss: str = LOSS.default,
    huber_width: float | None = None,
    fit_intercept: bool = True,
    tol: float = 1e-4,
    solver: str = "auto",
    class_weight: Any = None,
    sample_weight: Any = None,
    hard_margin: bool | None = None,
    max_time: float | None = None,
    verbose: int = 0,
) -> MarginPath:
    """The soft margin of two classes for many C, each point with its certificate.

    Parameters
    ----------
    X, y : the samples, and their labels
        Two classes.
    Cs : int or array-like, default=10
        The values of C, taken in rising order, each once. A number stands for that many, evenly spaced in their
        logarithm, from where all rows are inside the street up to C_max, beyond which nothing changes, or, if that is
        not known, to 1000 / (mean squared distance of the rows from their centre).
    loss, huber_width, fit_intercept, tol, solver, class_weight, sample_weight : as in `LinearSVM`
        Of every point.
    hard_margin : bool, default=None
        Whether to look for the hard margin, which gives C_max, or for the proof that there is none. None: where that
        is quick, with at most 3000 rows or at most 3000 columns.
    max_time : float, default=None
        Seconds for the whole path, of which the hard margin gets at most half; points that were not begun are left out.
    verbose : int, default=0
        1 shows progress on stderr once a second, 2 every step.

    Returns
    -------
    MarginPath
        `points`, `C_max`, and the numbers of all points as arrays.

    Examples
    --------
    >>> from maxmargin import path
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], ["left", "left", "right", "right"]
    >>> street = path(X, y, Cs=[0.01, 1, 100], tol=1e-6)
    >>> street.n_inside.tolist(), street.n_support.tolist()
    ([4, 0, 0], [4, 2, 2])
    >>> round(street.C_max, 6), round(float(street.margins[-1]), 6)
    (0.222222, 1.5)
    """
    svm = LinearSVM(
        loss=loss,
        huber_width=huber_width,
        fit_intercept=fit_intercept,
        tol=tol,
        solver=solver,
        class_weight=class_weight,
        max_time=max_time,
        verbose=verbose,
    )
    count, given = check_Cs(Cs)
    table = table_of(svm, X, y, sample_weight)
    if len(table.labels.classes) != 2:
        raise ValueError(f"a path is for two classes; y has {len(table.labels.classes)}: choose two, or one and a rest")
    clock = Clock(max_time, verbose, table.begun)
    weight_of_classes = table.class_weights(class_weight)
    table = table.weighted(weight_of_classes)
    [two] = two_class_problems(table.X, table.labels, Strategy.ONE_VERSUS_REST, table.weights, table.largest)
    with clock.hears_ctrl_c():
        made = points_of(svm, two, clock, weight_of_classes, count, given, hard_margin)
    if clock.interrupted:
        raise KeyboardInterrupt
    return made


def points_of(
    svm: LinearSVM,
    two: TwoClasses,
    clock: Clock,
    weight_of_classes: ClassWeight,
    count: int,
    given: Vector | None,
    hard_margin: bool | None,
) -> MarginPath:
    """The path, as far as the clock allows."""
    loss, fit_intercept = loss_named(svm.loss, svm.huber_width), svm.fit_intercept
    end = hard_end(two, fit_intercept, clock, hard_margin)
    grid = given if given is not None else even_grid(two, loss, fit_intercept, count, end)
    separable = end is not None and end.certificate.verdict is Verdict.OPTIMAL
    C_max = end.C_max / loss.box if end is not None and not loss.is_smooth else math.inf
    points: list[PathPoint] = []
    start = None
    for C in grid:
        svm.C = float(C)
        if end is not None and C_max <= C:
            certificate = hard_certificate(svm, two, end, weight_of_classes)
            status = Status.PROVEN if certificate.is_optimal else Status.STALLED
        else:
            asked = SoftQuestion(svm.C, loss, fit_intercept, svm.tol, svm.solver, class_weight=weight_of_classes)
            answer = solve_soft_margin(two, asked, clock, start)
            assert isinstance(answer.certificate, SoftMarginCertificate)
            certificate, status = answer.certificate, answer.status
        points.append(path_point(two, certificate, status))
        if clock.is_over:
            break
        start = np.zeros(int(two.rows[-1]) + 1)
        start[certificate.rows] = certificate.weights
    if not (clock.stopped or clock.interrupted):
        ends = [End(point.status, point.certificate) for point in points]
        tell_of(Ending("path", svm.get_params(deep=False), ends, "points", not_begun=len(grid) - len(points)))
    if clock.verbose:
        clock.say(f"ended with {len(points)} of {len(grid)} values of C")
    sides, verdict = (two.negative, two.positive), None if end is None else end.certificate
    return MarginPath(sides, tuple(points), C_max if separable else None, verdict)


def path_point(two: TwoClasses, certificate: SoftMarginCertificate, status: Status) -> PathPoint:
    """What the certificate's plane does with the rows."""
    w, b = certificate.w, certificate.b
    steepness = length(w, "l2")
    slack = 1.0 - two.signs * (values_of(two.X, w) + b)
    return PathPoint(
        C=certificate.C,
        coef=w,
        intercept=b,
        margin=1.0 / steepness if steepness > 0.0 else math.inf,
        n_support=certificate.n_support,
        n_inside=int(np.count_nonzero((slack > certificate.tol) & (slack <= 1.0))),
        n_mistakes=int(np.count_nonzero(slack > 1.0)),
        certificate=certificate,
        status=status,
    )


class HardEnd(NamedTuple):
    """The hard margin's certificate; where it is optimal, its plane, its dual variables (of the problem's rows, in
    their order) and the C from which on it is the soft margin, too."""

    certificate: Certificate
    C_max: float = math.inf
    w: Vector = np.zeros(0)
    b: float = 0.0
    a: Vector = np.zeros(0)


def hard_end(two: TwoClasses, fit_intercept: bool, clock: Clock, asked: bool | None) -> HardEnd | None:
    """The hard margin, or the witness that there is none, or bounds, in half of the time; None if that is not asked."""
    from maxmargin.solvers.registry import LARGE

    n, d = two.X.shape
    if asked is False or (asked is None and min(n, d) > LARGE):
        return None
    with clock.with_half_of_the_time():
        question = SeparationQuestion(Norm.L2, fit_intercept, HARD_MARGIN_SVM["tol"].default)
        certificate = solve_separation(two, question, clock).certificate
    assert isinstance(certificate, Certificate)
    if certificate.verdict is not Verdict.OPTIMAL:
        return HardEnd(certificate)
    a = np.zeros(len(two.rows))
    own = canonical_weights(certificate, hull_weights(certificate, two)[0])
    a[np.searchsorted(two.rows, certificate.rows[certificate.weights > 0.0])] = own
    with np.errstate(over="ignore"):
        C_max = float(np.max(a if two.weights is None else a / two.weights))
    return HardEnd(certificate, C_max, *canonical_plane(certificate), a)


def hard_certificate(
    svm: LinearSVM, two: TwoClasses, end: HardEnd, class_weight: tuple[tuple[Any, float], ...]
) -> SoftMarginCertificate:
    """The hard margin as a soft one, proven anew: nobody has to solve it. A huge C times rounding errors may exceed
    `tol`, for every plane; that is stated.

    A street that is narrower by a tenth of `tol` keeps the rows on its edges from being paid for.
    """
    costs = np.full(len(two.rows), svm.C) if two.weights is None else prices(svm.C, two)
    loss = loss_named(svm.loss, svm.huber_width)
    problem, scale = soft_margin_of(two, costs, loss, svm.fit_intercept)
    judge = Judge(problem, svm.tol, two.largest if scale == 1.0 else None)
    w = end.w * (1.0 + 0.1 * svm.tol) / scale
    judge.evaluate(Iterate(w, end.b, end.a / scale / scale, True))
    return soft_certificate(two, judge, costs, scale, svm.C, class_weight)[0]


def check_Cs(Cs: Any) -> tuple[int, Vector | None]:
    """How many, and which if they were given."""
    LINEAR_SVM_CV["Cs"].check("Cs", Cs)
    if isinstance(Cs, int | np.integer):
        return int(Cs), None
    values = np.unique(np.asarray(Cs, dtype=np.float64).ravel())
    return len(values), values


def even_grid(two: TwoClasses, loss: Loss, fit_intercept: bool, count: int, end: HardEnd | None) -> Vector:
    """That many values of C between the two ends of the path."""
    X, scale = in_safe_range(two.X, two.largest)
    if end is not None and 0.0 < end.C_max < math.inf:
        high = end.C_max * (BEYOND if loss.is_smooth else 1.0 / loss.box)
    else:
        spread = mean_square(X, fit_intercept)
        high = (DEAR / spread if spread > 0.0 else 1.0) * scale * scale
    low = lowest(X, two, loss, fit_intercept) * scale * scale
    least, most = 2.0**-1000, 2.0**1000
    high = min(max(high, least), most)
    return np.geomspace(max(least, min(low, high / NARROWEST)), high, count) if count > 1 else np.array([high])


def lowest(X: Any, two: TwoClasses, loss: Loss, fit_intercept: bool) -> float:
    """The C at which the first row reaches its edge of the street."""
    shares = np.ones(len(two.signs)) if two.weights is None else two.weights
    plus, minus = two.signs > 0, two.signs < 0
    if fit_intercept:
        lighter = min(shares[plus].sum(), shares[minus].sum())
        shares = shares * np.where(plus, lighter / shares[plus].sum(), lighter / shares[minus].sum())
    towards = two.signs * values_of(X, combination(X, shares * two.signs)[0])
    reach = 0.5 * (towards[plus].max() + towards[minus].max()) if fit_intercept else towards.max()
    if not reach > 0.0:
        return math.inf
    return float(1.0 / (float(loss.share(1.0)) * reach))


def mean_square(X: Any, from_centre: bool) -> float:
    """The rows' mean squared distance from their centre, or from the origin."""
    n = X.shape[0]
    squares = float(row_squares(X).mean())
    if not from_centre:
        return squares
    centre = combination(X, np.full(n, 1.0 / n))[0]
    centred = squares - float(centre @ centre)
    return centred if centred > 1e-9 * squares else squares
