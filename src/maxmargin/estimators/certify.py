"""A plane from anywhere, a paper, another program, a line drawn by hand: what is proven of it, and how far it is from
the best.

    a hard margin    margin of the plane <= best margin <= margin_upper
    a soft margin    dual <= least objective <= objective of the plane

The left of the first line and the right of the second are this plane's own, measured on the rows as it is: no better
plane takes its place. The other side comes from weights of the rows that a solver found, and that prove their bound
whatever the plane is. So plane and weights together are a certificate like any other.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import small_work
from maxmargin.certificates.certificate import Certificate, Verdict
from maxmargin.certificates.certificate import certify as certified_separation
from maxmargin.certificates.duality import dual_value, primal_value, soft_conditions
from maxmargin.certificates.measure import Claim
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.certificates.passes import proves_gap, values_of
from maxmargin.certificates.soft_margin import SoftMarginCertificate, SoftVerdict
from maxmargin.data.checking import refuse_what_float64_cannot_hold
from maxmargin.data.table import Vector
from maxmargin.estimators.audit import measured_parts, with_class_weights
from maxmargin.estimators.audit_result import Audit, MarginPart
from maxmargin.estimators.base import table_of
from maxmargin.estimators.certified_plane import NAME, CertifiedPlane
from maxmargin.estimators.declarations import HARD_MARGIN_SVM, LINEAR_SVM, LOSS
from maxmargin.estimators.fitted_models import FittedModel, dense, problem_of
from maxmargin.estimators.linear import LinearSVM
from maxmargin.problems.choices import Strategy
from maxmargin.problems.losses import Loss, loss_named
from maxmargin.problems.statement import Norm, SoftMargin, TwoClasses, prices, two_class_problems
from maxmargin.run.control import Clock

SHARPER = 0.1  # of tol: so near the optimum is sought, so that a plane within tol of it can be proven to be


def certify(
    X: Any,
    y: Any,
    w: Any,
    b: Any = 0.0,
    C: float | None = math.inf,
    *,
    loss: str = LOSS.default,
    huber_width: float | None = None,
    norm: str = "l2",
    fit_intercept: bool = True,
    multi_class: str = "ovr",
    sample_weight: Any = None,
    class_weight: Any = None,
    tol: float = 1e-5,
    max_time: float | None = None,
    verbose: int = 0,
) -> CertifiedPlane:
    """What is proven of the plane w.x + b = 0, and how far it is from the best plane of these rows.

    C infinite   its margin min_i y_i (w.x_i + b) / |w|, and a bound that no plane's margin exceeds; where no plane
                 separates the classes, a witness of that
    C finite     its objective 1/2 |w|^2 + sum_i C_i loss(1 - y_i (w.x_i + b)), and a bound that no plane's is below

    A margin is the same for every positive multiple of (w, b). An objective is not: its edges are where w.x + b is
    1 and -1, so that a plane that is known by its direction alone has to be scaled first.

    Parameters
    ----------
    X, y : rows and labels
        Of two labels, the later one in sorted order is on the positive side, w.x + b > 0.
    w, b : the plane
        d numbers, and one. For k > 2 labels one line for each class against the rest, of shape (k, d) and (k,); with
        multi_class="ovo", one for each pair, of which the earlier label is on the positive side.
    C : float or None, default=inf
        Weighs the losses. Infinite or None: the margin.
    loss, huber_width : as in `LinearSVM`, of a finite C
    norm : {"l2", "l1"}, default="l2"
        By which w is measured, of an infinite C.
    fit_intercept : bool, default=True
        Whether the best plane may have a bias. If not, b must be 0.
    multi_class : {"ovr", "ovo"}, default="ovr"
        Of more than two labels: each class against the rest, or each pair.
    sample_weight, class_weight : as in `LinearSVM`
        A margin has no class weights; rows of weight 0 do not count.
    tol : float, default=1e-5
        The relative gap within which the plane counts as optimal. The bounds are true whatever the gap.
    max_time : float, default=None
        Seconds for the bound of the best plane. It is true then, too, but may be wide.
    verbose : int, default=0
        1 shows progress on stderr once a second, 2 every step.

    Returns
    -------
    CertifiedPlane
        `certificate`, `margin` and `share`, or `objective`, `least_excess` and `excess`; `verify(X, y, exact=True)`.

    Examples
    --------
    A line drawn by hand between two pairs of points; the widest street is 3 wide.

    >>> from maxmargin import certify
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], ["left", "left", "right", "right"]
    >>> drawn = certify(X, y, w=[1, 0], b=-2)
    >>> round(drawn.margin, 9), round(drawn.share, 6)
    (1.0, 0.666667)
    >>> drawn.certificate.is_separable, bool(drawn.verify(X, y, exact=True))
    (True, True)

    By its objective, for C = 1, the same line costs 5/4 more than the best one:

    >>> soft = certify(X, y, w=[1, 0], b=-2, C=1)
    >>> round(soft.objective, 9), round(soft.excess, 4)
    (0.5, 1.25)
    """
    for name, value in {"tol": tol, "norm": norm}.items():
        HARD_MARGIN_SVM[name].check(name, value)
    price = math.inf if C is None else C
    LINEAR_SVM["C"].check("C", price)
    asked = refuse_what_does_not_go_together(price, loss, huber_width, norm, class_weight)
    options: dict[str, Any] = {"fit_intercept": fit_intercept, "multi_class": multi_class}
    asker = LinearSVM(class_weight=class_weight, max_time=max_time, verbose=verbose, **options)
    table = table_of(asker, X, y, sample_weight)
    strategy = Strategy(multi_class)
    questions = two_class_problems(table.X, table.labels, strategy, table.weights, table.largest)
    planes, biases = checked_planes(w, b, questions, table.X.shape[1])
    if not fit_intercept and np.any(biases != 0.0):
        raise ValueError("without a bias (fit_intercept=False) the plane passes through the origin: b must be 0")
    weights = table.class_weights(class_weight)
    fitted = FittedModel(
        name=NAME,
        classes=table.labels.classes,
        strategy=strategy,
        planes=planes,
        biases=biases,
        loss=asked,
        C=float(price),
        class_weight=np.array([weight for _, weight in weights]) if weights else np.ones(len(table.labels.classes)),
        fit_intercept=bool(fit_intercept),
        norm=norm,
    )
    if asked is None and not np.all(np.any(planes != 0.0, axis=1)):
        raise ValueError("w is zero, which is no plane: it has no margin")
    clock = Clock(max_time, verbose, table.begun)
    weighted = [with_class_weights(fitted, table, two) for two in questions]
    with clock.hears_ctrl_c(), small_work(*table.X.shape):
        parts = list(measured_parts(fitted, table, weighted, SHARPER * tol, clock))
    if clock.interrupted:
        raise KeyboardInterrupt
    given = zip(weighted, planes, biases, parts, strict=True)
    own = [own_certificate(fitted, two, (line, float(bias)), part, tol) for (two, _), line, bias, part in given]
    certificate: Any = own[0] if len(own) == 1 else MulticlassCertificate(tuple(own))
    return CertifiedPlane(certificate, Audit(NAME.capitalize(), problem_of(fitted), (), tuple(parts)))


def refuse_what_does_not_go_together(
    C: float, loss: str, huber_width: float | None, norm: str, class_weight: Any
) -> Loss | None:
    """The loss that is asked for; None for a margin."""
    asked = loss_named(loss, huber_width)
    if math.isfinite(C):
        if norm != Norm.L2:
            raise ValueError(f'norm="{norm}" is of a margin: the objective of a finite C has 1/2 |w|^2, the l2 norm')
        return asked
    if class_weight is not None:
        raise ValueError(
            "class_weight has a meaning for a finite C only: a margin is that of the nearest row, of any class"
        )
    return None


def checked_planes(w: Any, b: Any, questions: list[TwoClasses], n_columns: int) -> tuple[NDArray[np.float64], Vector]:
    """One line and one bias for each question, in float64; or a sentence."""
    planes, biases = numbers("w", w), numbers("b", b)
    n_planes = len(questions)
    if n_planes == 1 and planes.ndim == 1:
        planes = planes[None, :]
    if planes.ndim == 2 and planes.shape[1] != n_columns:
        raise ValueError(f"w has {planes.shape[1]} numbers for a plane, and the rows have {n_columns} columns")
    if planes.shape != (n_planes, n_columns):
        expected = f"({n_columns},)" if n_planes == 1 else f"({n_planes}, {n_columns})"
        sides = "" if n_planes == 1 else f", a line for each of {n_planes} planes"
        raise ValueError(f"w has the shape {np.shape(planes)}; these rows and labels need {expected}{sides}")
    if biases.size not in (1, n_planes) or biases.ndim > 1:
        raise ValueError(
            f"b has the shape {biases.shape}; there must be one number{' for each plane' * (n_planes > 1)}"
        )
    return planes, np.zeros(n_planes) + biases.ravel()


def numbers(name: str, given: Any) -> NDArray[np.float64]:
    """As float64, which must hold them; tensors of other libraries come without their gradients."""
    given = given.detach().cpu() if hasattr(given, "detach") else given
    given = dense(given) if hasattr(given, "toarray") else np.asarray(given)
    if given.dtype.kind not in "iuf":
        raise ValueError(f"{name} must hold numbers, not {given.dtype}")
    refuse_what_float64_cannot_hold(given)
    values = np.ascontiguousarray(given, dtype=np.float64)
    if not np.all(np.isfinite(values)):
        place = tuple(int(index) for index in np.argwhere(~np.isfinite(values))[0])
        where = "" if given.ndim == 0 else f"[{', '.join(map(str, place))}]"
        raise ValueError(f"{name}{where} is {values[place]}: a plane is made of finite numbers")
    return values if given.ndim else values.reshape(())


def own_certificate(
    fitted: FittedModel, two: TwoClasses, plane: tuple[Vector, float], part: Any, tol: float
) -> Certificate | SoftMarginCertificate:
    """The certificate of exactly this plane, beside the weights that bound the best one."""
    if isinstance(part, MarginPart):
        return separation_of_plane(fitted, two, plane, part.certificate, tol)
    return objective_of_plane(fitted, two, plane, part.certificate, tol)


def separation_of_plane(
    fitted: FittedModel, two: TwoClasses, plane: tuple[Vector, float], best: Certificate, tol: float
) -> Certificate:
    rows = np.searchsorted(two.rows, best.rows)
    claim = Claim(
        *plane, rows, best.weights,
        hulls_meet=best.is_separable is False, stopped=best.verdict is not Verdict.UNDECIDED,
    )  # fmt: skip
    certificate = certified_separation(
        two.X,
        two.signs,
        claim,
        norm=fitted.norm,
        fit_intercept=fitted.fit_intercept,
        tol=tol,
        positive=two.positive,
        negative=two.negative,
    )
    return two.in_rows_of_the_user(certificate)


def objective_of_plane(
    fitted: FittedModel, two: TwoClasses, plane: tuple[Vector, float], best: Any, tol: float
) -> SoftMarginCertificate:
    assert isinstance(best, SoftMarginCertificate)
    assert fitted.loss is not None
    problem = SoftMargin(two.X, two.signs, prices(fitted.C, two), fitted.loss, fitted.fit_intercept)
    (w, b), a = plane, np.zeros(problem.n_rows)
    a[np.searchsorted(two.rows, best.rows)] = best.weights
    values = values_of(two.X, w)
    primal, dual = primal_value(problem, w, b, values=values, matters=tol), dual_value(problem, a, matters=tol)
    if not math.isfinite(primal.value):
        raise ValueError(
            "the objective of this plane is beyond what float64 can hold: |w|^2, or w.x + b of a row, is too large"
        )
    certificate = dataclasses.replace(
        best,
        verdict=SoftVerdict.OPTIMAL if proves_gap(dual.lower, primal.upper, tol) else SoftVerdict.BOUNDED,
        w=w,
        b=b,
        rows=np.searchsorted(two.rows, best.rows),
        primal=primal.upper,
        dual=dual.lower,
        tol=float(tol),
        kkt=soft_conditions(problem, plane, a, primal, dual, values),
    )
    return two.in_rows_of_the_user(certificate)
