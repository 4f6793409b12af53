"""What all estimators share: labels in, two-class problems, planes and certificates out.

A subclass reads its table, says how one two-class problem is solved and certified, and hands that to `_solve`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.data.checking import Labels, check_weights, checked_table, encode_labels
from maxmargin.data.executor import row_by_row
from maxmargin.data.table import Matrix, Table, Vector, as_table, matrix_of
from maxmargin.estimators.convergence import End, Ending, warn_of
from maxmargin.estimators.declarations import CLASS_WEIGHT
from maxmargin.estimators.geometry import RowsAndPlanes
from maxmargin.estimators.parameters import Declarations, check_parameters
from maxmargin.estimators.plane_values import PlaneValues
from maxmargin.estimators.seen import seen_by
from maxmargin.problems.choices import Strategy
from maxmargin.problems.statement import ClassWeight, TwoClasses, plain, two_class_problems, votes
from maxmargin.run.control import Clock, Status, now
from maxmargin.solve.answer import Answer


class TrainingSet(NamedTuple):
    """Checked input: rows, labels, the rows' weights if they have any, max |x_ij|, and when its reading began."""

    X: Matrix | Table
    labels: Labels
    weights: Vector | None
    largest: float
    begun: float | None = None


class MarginClassifier(RowsAndPlanes, ClassifierMixin, BaseEstimator):
    """A classifier whose every fit ends with a certificate.

    A subclass declares its parameters, each once, and has rules for those that can be at odds with each other: a
    ValueError says so.
    """

    parameters: ClassVar[Declarations]
    rules: ClassVar[tuple[Callable[[Any], None], ...]] = ()
    max_time: float | None
    multi_class: str
    verbose: bool | int
    status_: Status | list[Status]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a file; some programs keep an enum as its text."""
        super().__setstate__(state)
        if "_strategy" in state:
            self._strategy = Strategy(state["_strategy"])
        if "status_" in state:
            status = state["status_"]
            self.status_ = [Status(one) for one in status] if isinstance(status, list) else Status(status)

    def _solve(self, table: TrainingSet, answer: Callable[[TwoClasses, Clock], Answer]) -> Self:
        """Answer each two-class problem within one time limit."""
        strategy, clock = Strategy(self.multi_class), Clock(self.max_time, self.verbose, table.begun)
        problems = two_class_problems(table.X, table.labels, strategy, table.weights, table.largest)
        with clock.hears_ctrl_c():
            answers = []
            for number, two in enumerate(problems):
                clock.observation.snapshots.turn_to(number)
                answers.append(answer(two, clock))
            self._store(table.X, table.labels.classes, strategy, answers)
            self._seen = seen_by(self, table.X, table.labels.codes)
        clock.report_end([answer.status for answer in answers])
        if clock.interrupted:  # fitted as far as it got, with its true gap; but a search or pipeline must stop
            raise KeyboardInterrupt
        if not clock.stopped:  # by somebody who knows that it is unfinished
            ends = [End(answer.status, answer.certificate) for answer in answers]
            warn_of(Ending(type(self).__name__, self.get_params(deep=False), ends))
        return self

    def _store(self, X: Matrix | Table, classes: NDArray[Any], strategy: Strategy, answers: list[Answer]) -> None:
        """Set the fitted attributes, all at once: a fit that fails leaves those of the last one."""
        self.classes_ = classes
        self._strategy = strategy
        certificates: list[Any] = [answer.certificate for answer in answers]
        self._store_planes(X, answers)
        self.certificate_: Any = (
            certificates[0] if len(certificates) == 1 else MulticlassCertificate(tuple(certificates))
        )
        self.status_ = single([answer.status for answer in answers])
        self.n_updates_ = single([answer.iterate.updates for answer in answers])
        self.n_iter_ = max(1, *(answer.iterate.sweeps for answer in answers))
        margins = [self._margin(answer) for answer in answers]
        self.margin_ = single(margins)
        self.street_ = single([2.0 * margin for margin in margins])

    def _store_planes(self, X: Matrix | Table, answers: list[Answer]) -> None:
        """What predictions are made of."""
        planes = [self.plane_of(answer.certificate) for answer in answers]
        self.coef_ = np.array([w for w, _ in planes])
        self.intercept_ = np.array([b for _, b in planes])

    def plane_of(self, certificate: Any) -> tuple[NDArray[np.float64], float]:
        """The plane as `coef_` and `intercept_` show it."""
        return certificate.w, certificate.b

    def _margin(self, answer: Answer) -> float:
        """The distance from the plane to an edge of its street."""
        assert isinstance(answer.certificate, Certificate)
        return answer.certificate.margin_lower

    def _store_support(self, answers: list[Answer], duals: list[Vector]) -> None:
        """support_, n_support_, dual_coef_ from the weights of each certificate's rows, signed by their class."""
        supports = [answer.certificate.rows[answer.certificate.weights > 0.0] for answer in answers]
        self.support_ = supports[0] if len(supports) == 1 else np.unique(np.concatenate(supports))
        self.n_support_ = np.array([len(rows) for rows in supports])
        self.dual_coef_ = np.zeros((len(answers), len(self.support_)))
        for line, (dual, rows) in enumerate(zip(duals, supports, strict=True)):
            self.dual_coef_[line, np.searchsorted(self.support_, rows)] = dual

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """w.x + b: one number per row for two classes, otherwise one per row and class."""
        check_is_fitted(self, "classes_")
        scores = self.values_of_planes(X)
        n_classes = len(self.classes_)
        if n_classes == 2:
            return np.asarray(scores[:, 0])
        if self._strategy is Strategy.ONE_VERSUS_ONE:
            return votes(scores, n_classes)
        return np.asarray(scores)

    def values_of_planes(self, X: Any) -> NDArray[np.float64]:
        """w.x + b: one column for each plane."""
        check_is_fitted(self, "classes_")
        table = as_table(checked_table(self, X, reset=False).X)
        return row_by_row(PlaneValues(self.coef_, self.intercept_), table)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row. Where w.x + b is exactly 0, of two classes it is classes_[1]: f(x) >= 0 is +1."""
        scores = self.decision_function(X)
        codes = (scores >= 0.0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return np.asarray(self.classes_[codes])

    def _html_repr(self) -> str:
        """What a notebook shows: scikit-learn's diagram and, once it is fitted, what is proven."""
        certificate = getattr(self, "certificate_", None)
        proof = "" if certificate is None else certificate._repr_html_()
        return str(estimator_html_repr(self)) + proof

    def _repr_html_inner(self) -> str:
        return self._html_repr()  # which scikit-learn 1.6 does not ask for, neither here nor below

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        shown = super()._repr_mimebundle_(**kwargs)
        return {form: self._html_repr() if form == "text/html" else content for form, content in shown.items()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def table_of(estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, by_blocks: bool = False) -> TrainingSet:
    """The checked input; a wrong parameter of the estimator or a wrong cell raises a ValueError that names it.

    A table that is read by blocks stays one where the estimator can do with it (`by_blocks`); for all others its rows
    are put together in memory.
    """
    check_parameters(estimator)
    begun = now()
    X, y, largest = checked_table(estimator, X, y)
    X = X if by_blocks else matrix_of(X)
    weights = None if sample_weight is None else check_weights(sample_weight, X.shape[0])
    return TrainingSet(X, encode_labels(y, weights), weights, largest, begun)


def class_weights(class_weight: Any, table: TrainingSet) -> ClassWeight:
    """The weights of the classes, from None, a dict or "balanced"."""
    if class_weight is None:
        return ()
    CLASS_WEIGHT.check("class_weight", class_weight)
    classes, codes = table.labels
    counting = codes >= 0
    if isinstance(class_weight, str) and class_weight == "balanced":
        # Weighted rows are counted by their weight, whichever release of scikit-learn is installed.
        totals = np.bincount(codes[counting], None if table.weights is None else table.weights[counting], len(classes))
        weights = totals.sum() / (len(classes) * totals)
    else:
        weights = compute_class_weight(class_weight, classes=classes, y=classes[codes[counting]])
    if not np.all((weights > 0.0) & (weights < math.inf)):
        wrong = int(np.argmin((weights > 0.0) & (weights < math.inf)))
        raise ValueError(
            f"class_weight must be positive and finite; class {plain(classes[wrong])!r} has {weights[wrong]}. "
            "To leave a class out, leave its rows out."
        )
    return tuple((plain(label), float(weight)) for label, weight in zip(classes, weights, strict=True))


def weights_of_rows(table: TrainingSet, class_weight: ClassWeight) -> Vector | None:
    """The weight of each row: its class's times its own; None if all are 1."""
    if not class_weight:
        return table.weights
    of_class = np.array([weight for _, weight in class_weight])
    weights = of_class[np.maximum(table.labels.codes, 0)]
    return weights if table.weights is None else weights * table.weights


def single(values: list[Any]) -> Any:
    """The value of the only problem, or the values of all."""
    return values[0] if len(values) == 1 else values
