"""The leave-one-out error of a margin, from its support vectors and a few fits.

Row i is an error when the best plane of all other rows has it on its wrong side. The share of errors is an unbiased
estimate of how often the best plane of n - 1 rows errs on a new one. It takes n fits, but most answers are known:

    a_i = 0           if the optimum has a dual point without weight on row i, the optimum of the others is the same
                      plane, and y_i f(x_i) >= 1 there: row i is right. So the error is at most the share of support
                      vectors [vapnik1998]
    y_i f(x_i) < 0    if the optimum has row i on its wrong side, so has the optimum of the others: left out, no row
                      has a smaller loss. So the error is at least the share of mistakes

Both speak of the optimum. A fit ends near it, and a weight that is 0 there need not be 0 at the optimum. What is used
here holds for what was computed: the gap bounds how far the optimum is away (`left_out`), and a row counts as right, or
wrong, if it is so for every plane that near. All other rows are left out by a fit each, whose gap is treated the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.certificates.words import counted, rounded_down, rounded_up
from maxmargin.data.table import Vector
from maxmargin.estimators.base import table_of
from maxmargin.estimators.declarations import MAX_TIME
from maxmargin.estimators.hard_margin import HardMarginSVM
from maxmargin.estimators.left_out import Flags, Interval, best_plane_near, centred
from maxmargin.estimators.linear import LinearSVM
from maxmargin.estimators.linear_cv import LinearSVMCV
from maxmargin.estimators.no_plane import no_plane
from maxmargin.problems.statement import TrainingSet, plain
from maxmargin.run.control import collected, now

TOLS = (1e-8, 1e-11)  # of the fits: the second one where the first leaves a row in doubt
NO_ROWS: NDArray[np.intp] = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """What is proven of the leave-one-out error. `print` it.

    Parameters
    ----------
    n_rows : int
        Rows that count.
    wrong, undecided : ndarray of int
        Rows that the others' optimum has on its wrong side, and rows of which that is not known; all others are
        right.
    n_support : int
        Rows that carry weight in the certificate of all rows.
    n_known : int
        Rows that the certificate of all rows decides: by no weight, or by being a mistake.
    n_refits : int
        Rows for which the others were fitted.
    cross_validated : float
        The error of the same estimator over some folds, which proves nothing; NaN if not asked for.
    certificate : certificate
        Of all rows.

    Examples
    --------
    >>> from maxmargin import LinearSVM, leave_one_out
    >>> answer = leave_one_out(LinearSVM(), [[0], [1], [4], [3], [6], [7]], [0, 0, 0, 1, 1, 1], cv=None)
    >>> answer.wrong.tolist(), answer.undecided.tolist(), round(answer.error_upper, 3)
    ([2, 3], [], 0.333)
    """

    n_rows: int
    wrong: NDArray[np.intp]
    undecided: NDArray[np.intp]
    n_support: int
    n_known: int
    n_refits: int
    cross_validated: float
    certificate: Certificate | SoftMarginCertificate

    @property
    def error_lower(self) -> float:
        """The leave-one-out error is at least this."""
        return len(self.wrong) / self.n_rows

    @property
    def error_upper(self) -> float:
        """The leave-one-out error is at most this."""
        return (len(self.wrong) + len(self.undecided)) / self.n_rows

    @property
    def is_exact(self) -> bool:
        """Whether every row is decided."""
        return len(self.undecided) == 0

    def report(self) -> str:
        """For a person.

        Returns
        -------
        str
            What `print` shows.
        """
        low, high = rounded_down(self.error_lower, 4), rounded_up(self.error_upper, 4)
        error = f"is {len(self.wrong):,} of {self.n_rows:,} rows" if self.is_exact else f"lies between {low} and {high}"
        lines = [f"The leave-one-out error {error}, which is proven."]
        lines.append(
            f"  {counted(self.n_support, 'rows carry', 'row carries')} weight; "
            f"{counted(self.n_known, 'rows are', 'row is')} decided by the fit of all rows, "
            f"{counted(self.n_refits, 'by a fit without them', 'by a fit without it')}"
        )
        if not self.is_exact:
            undecided = counted(len(self.undecided), "rows are", "row is")
            lines.append(f"  {undecided} undecided: no fit was made without, or none tells")
        if np.isfinite(self.cross_validated):
            lines.append(f"  cross-validated error {self.cross_validated:.4g}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        low, high = rounded_down(self.error_lower, 4), rounded_up(self.error_upper, 4)
        return f"LeaveOneOut(error in [{low}, {high}], {self.n_rows} rows, {self.n_refits} refits)"


def leave_one_out(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    refit: bool = True,
    cv: int | None = 5,
    max_time: float | None = None,
) -> LeaveOneOut:
    """The leave-one-out error of the optimum that the estimator seeks, exactly or between two bounds.

    Left out, a row is right if the best plane of all other rows has it on its own side. The rows that hold the street,
    and no others, can be wrong; of these, rows that are mistakes surely are. For what is in between, the other rows are
    fitted: few for a hard margin, many where many rows are inside the street.

    Parameters
    ----------
    estimator : LinearSVM, or HardMarginSVM with norm="l2"
        Fitted or not: its parameters are taken, and it is left as it is. Fits are made to a gap of 1e-8 at least.
        A class weight that is "balanced" is that of all rows.
    X, y, sample_weight : rows and two labels, as for `fit`
    refit : bool, default=True
        Whether to fit without the rows that are in doubt. False: the bounds that follow from one fit.
    cv : int or None, default=5
        Folds for the cross-validated error of the same estimator, which stands beside it: 2 or more. None: none.
    max_time : float, default=None
        Seconds for the fits. Rows that are not reached stay undecided.

    Returns
    -------
    LeaveOneOut
        `error_lower`, `error_upper`, `wrong`, `undecided`

    Notes
    -----
    The last row of a class is wrong: without it, nothing is known of its label. Where more than one bias is best, a row
    between two of them is undecided. Data without a hard margin raise `NotSeparableError`, as in `fit`.

    Examples
    --------
    Of six points on a line, the two that hold the street are wrong only if the street moves beyond them.

    >>> from maxmargin import HardMarginSVM, leave_one_out
    >>> X, y = [[0], [1], [2], [5], [6], [7]], ["a", "a", "a", "b", "b", "b"]
    >>> answer = leave_one_out(HardMarginSVM(), X, y, cv=3)
    >>> answer.error_lower, answer.error_upper, answer.n_refits
    (0.0, 0.0, 2)

    Where the classes overlap, rows on the wrong side are mistakes without being fitted again:

    >>> from maxmargin import LinearSVM
    >>> leave_one_out(LinearSVM(), [[0], [1], [4], [3], [6], [7]], y, cv=None).wrong.tolist()
    [2, 3]
    """
    refuse_what_has_no_optimum(estimator)
    MAX_TIME.check("max_time", max_time)
    if cv is not None and cv < 2:
        raise ValueError(f"cv={cv} is no number of folds: give 2 or more, or None for no cross-validated error")
    table = table_of(clone(estimator), X, y, sample_weight)
    if len(table.labels.classes) != 2:
        raise ValueError(f"leave_one_out takes two labels, and y has {len(table.labels.classes)}: {spelled(table)}")
    end = np.inf if max_time is None else now() + max_time
    question = Question(estimator, table)
    found = question.fitted(np.ones(len(question.counting), dtype=bool), TOLS[0])
    interval, weightless = question.interval(found, question.counting), question.weightless(found)
    right = weightless & interval.is_free & (interval.lower > 0.0) & question.counting
    wrong = (interval.upper < 0.0) & question.counting
    n_known = int(np.count_nonzero(right | wrong))
    refits, doubtful = 0, np.flatnonzero(question.counting & ~right & ~wrong)
    for row in doubtful if refit else NO_ROWS:
        if now() > end:
            break
        refits += 1
        decided = question.without(int(row))
        right[row], wrong[row] = decided is True, decided is False
    return LeaveOneOut(
        n_rows=int(np.count_nonzero(question.counting)),
        wrong=np.flatnonzero(wrong),
        undecided=np.flatnonzero(question.counting & ~right & ~wrong),
        n_support=int(np.count_nonzero(question.counting & ~weightless)),
        n_known=n_known,
        n_refits=refits,
        cross_validated=cross_validated(question, cv),
        certificate=found,
    )


def refuse_what_has_no_optimum(estimator: Any) -> None:
    if isinstance(estimator, LinearSVMCV):
        raise ValueError("LinearSVMCV chooses C by its rows: give LinearSVM with the C that it chose")
    if not isinstance(estimator, LinearSVM | HardMarginSVM):
        what = type(estimator).__name__
        raise ValueError(
            f"leave_one_out takes a LinearSVM or a HardMarginSVM, not {what}: one plane must be the best, and a proof "
            "must say how far it is. Of a pipeline, give the last step and the rows as they reach it"
        )
    if getattr(estimator, "norm", "l2") != "l2":
        raise ValueError('the widest street of norm="l1" need not be one plane: leave_one_out takes norm="l2"')


def spelled(table: TrainingSet) -> str:
    return ", ".join(repr(plain(label)) for label in table.labels.classes)


class Question:
    """The rows, and how the estimator is fitted to some of them."""

    def __init__(self, estimator: Any, table: TrainingSet) -> None:
        self.table, self.counting = table, table.labels.codes >= 0
        self.estimator = clone(estimator).set_params(verbose=0)
        self.y = table.labels.classes[np.maximum(table.labels.codes, 0)]
        self.signs = np.where(table.labels.codes == 1, 1.0, -1.0)
        self.weights = np.where(self.counting, 1.0, 0.0) if table.weights is None else table.weights
        self.rows = centred(table.X, bool(estimator.fit_intercept))
        class_weight = table.class_weights(getattr(estimator, "class_weight", None))
        if class_weight:
            self.estimator.set_params(class_weight=dict(class_weight))
        of_rows = table._replace(weights=self.weights).weighted(class_weight).weights
        assert of_rows is not None
        self.costs: Vector = getattr(estimator, "C", math.inf) * np.where(self.counting, of_rows, 1.0)

    def fitted(self, kept: Flags, tol: float) -> Certificate | SoftMarginCertificate:
        """The certificate of these rows."""
        model = clone(self.estimator)
        model.set_params(tol=min(tol, model.tol))
        with collected():  # the intervals say how it ended
            model.fit(self.table.X, self.y, np.where(kept, self.weights, 0.0))
        certificate: Certificate | SoftMarginCertificate = model.certificate_
        if certificate.is_separable is not True and isinstance(certificate, Certificate):
            raise no_plane(certificate)
        return certificate

    def interval(self, certificate: Any, counting: Flags) -> Interval:
        return best_plane_near(certificate, self.rows, self.signs, self.costs, counting)

    def weightless(self, certificate: Any) -> Flags:
        """The rows that carry no weight in its proof."""
        none = np.ones(len(self.signs), dtype=bool)
        none[certificate.rows[certificate.weights > 0.0]] = False
        return none

    def without(self, row: int) -> bool | None:
        """Whether the row is on its side of the best plane of all others; None where that is not known."""
        kept = self.counting.copy()
        kept[row] = False
        if not np.any(self.signs[kept] == self.signs[row]):
            return False
        for tol in TOLS:
            lower, upper, _ = self.interval(self.fitted(kept, tol), kept)
            if lower[row] > 0.0:
                return True
            if upper[row] < 0.0:
                return False
        return None


def cross_validated(question: Question, cv: int | None) -> float:
    """The share of mistakes over folds, each class spread evenly over them; NaN where a class has one row."""
    rows = np.flatnonzero(question.counting)
    smallest = int(np.min(np.bincount(question.table.labels.codes[rows])))
    if cv is None or smallest < 2:
        return float("nan")
    folds = StratifiedKFold(min(cv, smallest), shuffle=True, random_state=0)
    mistakes = 0
    for kept, left in folds.split(rows, question.y[rows]):
        model, chosen = clone(question.estimator), rows[kept]
        with collected():
            model.fit(question.table.X[chosen], question.y[chosen], question.weights[chosen])
        mistakes += int(np.count_nonzero(model.predict(question.table.X[rows[left]]) != question.y[rows[left]]))
    return mistakes / len(rows)
