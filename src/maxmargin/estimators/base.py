"""What all estimators share: labels in, two-class problems, planes and certificates out; and w.x + b of other rows.

A subclass reads its table, says how one two-class problem is solved and certified, and hands that to `_solve`.

A certificate names rows by their numbers. Whose side they are on, and what stands in them, is in the table, which no
model keeps. So that a fitted estimator can be told from one that was changed, a fit notes what it has seen:

    n_rows     of the table
    sample     a digest of some rows of the table, evenly spread, as the estimator saw them: behind all steps before it;
               these rows themselves, until somebody asks: a digest takes part of the time of a small fit
    codes      the class of each row of `support_`, where there are such rows
    vectors    a digest of `support_vectors_`, with what the kernel subtracts from them, where predictions need them

A pickle has plain values, so that any program that keeps estimators keeps them too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin._loops import small_work
from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.data.checking import (
    ACCEPTED,
    canonical,
    check_weights,
    checked_table,
    encode_labels,
    opened,
    place_in,
    refuse_what_is_not_finite,
)
from maxmargin.data.executor import row_by_row
from maxmargin.data.table import (
    Block,
    Matrix,
    Table,
    Vector,
    as_table,
    is_dask,
    is_source,
    is_sparse,
    matrix_of,
    terms_of,
)
from maxmargin.estimators.convergence import End, Ending
from maxmargin.estimators.geometry import RowsAndPlanes
from maxmargin.estimators.parameters import Declarations, check_parameters
from maxmargin.estimators.predictions import accuracy, labels_by_blocks, stays, votes
from maxmargin.estimators.scikit_learn_versions import ShowsProof
from maxmargin.problems.choices import Strategy
from maxmargin.problems.statement import TrainingSet, TwoClasses, places_among, two_class_problems
from maxmargin.run.control import EARLY, LISTENER, Clock, Status, now, tell_of
from maxmargin.solve.answer import Answer

MOST_NUMBERS = 2**22  # of support vectors that are kept where nobody predicts by them


class MarginClassifier(RowsAndPlanes, ShowsProof, ClassifierMixin, BaseEstimator):
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

    def __getstate__(self) -> Any:
        """For a pickle or a copy: of the rows that the fit has seen, the digest alone."""
        if (seen := vars(self).get("_seen")) is not None:
            self._seen = seen | {"sample": digest_of(seen["sample"])}
        return super().__getstate__()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a file; some programs keep an enum as its text."""
        super().__setstate__(state)
        if "_strategy" in state:
            self._strategy = Strategy(state["_strategy"])
        if "status_" in state:
            status = state["status_"]
            self.status_ = [Status(one) for one in status] if isinstance(status, list) else Status(status)

    def _solve(
        self, table: TrainingSet, answer: Callable[[TwoClasses, Clock], Answer],
        together: Callable[[list[TwoClasses], Clock], Mapping[int, Answer]] = lambda problems, clock: {},
        fewest: int = 2,
    ) -> Self:  # fmt: skip
        """Answer each two-class problem within one time limit: some `together`, by their place, then the others.

        Whoever watches a run, keeps it or limits it sees each step of each problem; one problem has the same bits
        whether or not somebody looks. (Whoever does not promise that has `fewest` = 1 problem answered together.)
        """
        strategy = Strategy(self.multi_class)
        problems = two_class_problems(table.X, table.labels, strategy, table.weights, table.largest)
        clock = Clock(self.max_time, self.verbose, table.begun)
        with clock.hears_ctrl_c():
            known = together(problems, clock) if len(problems) >= fewest and not clock.is_watched else {}
            answers = []
            for number, two in enumerate(problems):
                if clock.snapshots is not None:
                    clock.snapshots.turn_to(number)
                with small_work(*two.X.shape):
                    answers.append(known[number] if number in known else answer(two, clock))
            self._store(table.X, table.labels.classes, strategy, answers)
            self._seen = seen_by(self, table.X, table.labels.codes)
            statuses = [answer.status for answer in answers]
        clock.report_end(statuses)
        if clock.interrupted:  # fitted as far as it got, with its true gap; but a search or pipeline must stop
            raise KeyboardInterrupt
        if clock.stopped:  # by somebody who knows that it is unfinished
            return self
        if LISTENER.get() is not None or not EARLY.isdisjoint(statuses):
            ends = [End(answer.status, answer.certificate) for answer in answers]
            tell_of(Ending(type(self).__name__, self.parameters, ends))
        return self

    def _store(self, X: Matrix | Table, classes: NDArray[Any], strategy: Strategy, answers: list[Answer]) -> None:
        """Set the fitted attributes, all at once: a fit that fails leaves those of the last one."""
        self.classes_ = classes
        self._strategy = strategy
        parts: list[Any] = [answer.certificate for answer in answers]
        self._store_planes(X, answers)
        self.certificate_: Any = parts[0] if len(parts) == 1 else MulticlassCertificate(tuple(parts))
        self.status_ = single([answer.status for answer in answers])
        self.n_updates_ = single([answer.iterate.updates for answer in answers])
        self.n_iter_ = max(1, *(answer.iterate.sweeps for answer in answers))
        margins = [self._margin(answer) for answer in answers]
        self.margin_ = single(margins)
        self.street_ = single([2.0 * margin for margin in margins])
        self.__dict__.pop("normalized_margin_", None)
        if answers[0].normalized is not None:
            self.normalized_margin_ = single([answer.normalized for answer in answers])

    def _store_planes(self, X: Matrix | Table, answers: list[Answer]) -> None:
        """What predictions are made of."""
        planes = [self.plane_of(answer.certificate) for answer in answers]
        self.coef_ = np.array([w for w, _ in planes])
        self.intercept_ = np.array([b for _, b in planes])

    def plane_of(self, certificate: Any) -> tuple[NDArray[np.float64], float]:
        """The plane as `coef_` and `intercept_` show it.

        Parameters
        ----------
        certificate : certificate
            Of one plane: one of `certificate_`.

        Returns
        -------
        tuple of (ndarray, float)
            w and b.
        """
        return certificate.w, certificate.b

    def _margin(self, answer: Answer) -> float:
        """The distance from the plane to an edge of its street."""
        assert isinstance(answer.certificate, Certificate)
        return answer.certificate.margin_lower

    def _keep_support_rows(self, X: Matrix | Table) -> None:
        """Those of a fit that has just been stored."""
        own = self.__dict__
        own.pop("support_vectors_", None)
        own.pop("_support_rows", None)
        if not isinstance(X, Table) and len(self.support_) * terms_of(X) <= MOST_NUMBERS:
            own["_support_rows"] = X[self.support_]

    def _store_support(
        self, answers: list[Answer], duals: list[Vector], supports: list[NDArray[np.intp]] | None = None
    ) -> None:
        """support_, n_support_, dual_coef_ from weights signed by their class: of each certificate's rows, or of those
        of `supports`."""
        if supports is None:
            supports = [answer.certificate.rows[answer.certificate.weights > 0.0] for answer in answers]
        self.support_ = supports[0] if len(supports) == 1 else np.unique(np.concatenate(supports))
        self.n_support_ = np.array([len(rows) for rows in supports])
        self.dual_coef_ = np.zeros((len(answers), len(self.support_)))
        for line, (dual, rows) in enumerate(zip(duals, supports, strict=True)):
            self.dual_coef_[line, places_among(self.support_, rows)] = dual

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        if is_dask(X):
            from maxmargin.estimators.dask_predictions import lazy

            return lazy(self, "decision_function", X)  # type: ignore[no-any-return]
        require_fit(self)
        scores = self.values_of_planes(X)
        n_classes = len(self.classes_)
        if n_classes == 2:
            return np.asarray(scores[:, 0])
        if self._strategy is Strategy.ONE_VERSUS_ONE:
            return votes(scores, n_classes)
        return np.asarray(scores)

    def values_of_planes(self, X: Any) -> NDArray[np.float64]:
        require_fit(self)
        return row_by_row(PlaneValues(self.coef_, self.intercept_), as_table(rows_to_multiply(self, X)))

    def predict(self, X: Any) -> NDArray[Any]:
        require_fit(self)
        if is_source(X):
            if not is_dask(X):
                return labels_by_blocks(self, X)
            from maxmargin.estimators.dask_predictions import lazy

            return lazy(self, "predict", X)  # type: ignore[no-any-return]
        scores = self._scores_for_labels(X)
        codes = (scores >= 0.0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return np.asarray(self.classes_[codes])

    def _scores_for_labels(self, X: Any) -> NDArray[np.float64]:
        """Numbers that decide as those of `decision_function` do."""
        return self.decision_function(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the rows that are predicted right; labels that stay with the blocks of X are read with them.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            A sample of weight k counts as k equal ones.

        Returns
        -------
        float
            Between 0 and 1.
        """
        if is_source(X) and stays(X, y):
            return accuracy(self, X, y, sample_weight)
        return float(super().score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def require_fit(estimator: Any) -> None:
    """scikit-learn's error, where there was none."""
    if "classes_" not in vars(estimator):
        check_is_fitted(estimator, "classes_")


def table_of(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> TrainingSet:
    """The checked input; a wrong parameter of the estimator or a wrong cell raises a ValueError that names it."""
    check_parameters(estimator)
    return training_set(estimator, X, y, sample_weight)


def training_set(estimator: Any, X: Any, y: Any, sample_weight: Any, *, by_blocks: bool = False) -> TrainingSet:
    """The same of an estimator whose parameters are checked.

    A table that is read by blocks stays one where the estimator can do with it (`by_blocks`); for all others its rows
    are put together in memory.
    """
    begun = now()
    X, y, largest = checked_table(estimator, X, y)
    X = X if by_blocks else matrix_of(X)
    weights = None if sample_weight is None else check_weights(sample_weight, X.shape[0])
    return TrainingSet(X, encode_labels(y, weights), weights, largest, begun)


def rows_to_multiply(estimator: Any, X: Any) -> Matrix | Table:
    """X with all that `fit` checks of a table, but in the order of memory that it has: a product needs no other."""
    if is_source(X):
        return checked_table(estimator, X, reset=False).X
    X, names = opened(X)
    X = canonical(validate_data(estimator, X, reset=False, **(ACCEPTED | {"order": None})))
    with np.errstate(over="ignore", invalid="ignore"):
        total = (X.data if is_sparse(X) else X).sum()
    if not np.isfinite(total):  # or else every number is
        refuse_what_is_not_finite(X, place_in(names))
    return X


@np.errstate(over="ignore", invalid="ignore")
def plane_values(X: Matrix, coef: NDArray[Any], intercept: Any) -> NDArray[np.float64]:
    """w.x + b: one column for each plane. A sum that overflows on its way is made anew in smaller units, so that it has
    its sign, and is infinite only where it is beyond float64."""
    values = np.asarray(X @ coef.T + intercept, dtype=np.float64)
    if not np.isfinite(values.sum()):  # or else all of them are
        beyond = np.flatnonzero(~np.all(np.isfinite(values), axis=1))
        few = sparse.csr_array(X[beyond], dtype=np.float64)
        largest = abs(few).max(axis=1).toarray().ravel(), np.max(np.abs(coef), axis=1)
        of_rows, of_planes = (np.frexp(sizes)[1] for sizes in largest)
        few.data = np.ldexp(few.data, -np.repeat(of_rows, np.diff(few.indptr)))
        sums = few @ np.ldexp(coef, -of_planes[:, None]).T
        again = np.ldexp(sums, of_rows[:, None] + of_planes) + intercept
        values[beyond] = np.where(np.isfinite(values[beyond]), values[beyond], again)
    return values


class PlaneValues(NamedTuple):
    """The same, of a block of rows."""

    coef: NDArray[Any]
    intercept: Any

    def __call__(self, block: Block) -> NDArray[np.float64]:
        return plane_values(block.X, self.coef, self.intercept)


def single(values: list[Any]) -> Any:
    """The value of the only problem, or the values of all."""
    return values[0] if len(values) == 1 else values


ROWS = 64  # of the sample, at most
NUMBERS = 2**14  # of the sample, at most, if one row has not more


def seen_by(estimator: Any, X: Matrix | Table, codes: NDArray[Any]) -> dict[str, Any]:
    """The record of a fit that has just been stored in the estimator; `codes` are the classes of the rows of X."""
    support = getattr(estimator, "support_", None)
    return {
        "n_rows": int(X.shape[0]),
        "sample": sample_of(X),
        "codes": None if support is None else codes[support].astype(np.intp),
        "vectors": vectors_of(estimator),
    }


def sample_of(X: Matrix | Table) -> tuple[int, int, Matrix]:
    """Some rows, evenly spread: how many rows and columns the table has, and a copy of these."""
    n_rows, n_columns = X.shape
    count = min(n_rows, ROWS, max(1, NUMBERS // max(1, n_columns)))
    return n_rows, n_columns, X[np.linspace(0, n_rows - 1, count).astype(np.intp)]


def digest_of(sample: tuple[int, int, Matrix] | str) -> str:
    """The same for the same numbers, dense or sparse, in float32 or float64; of a digest, itself."""
    if isinstance(sample, str):
        return sample
    n_rows, n_columns, rows = sample
    digest = hashlib.sha256(f"{n_rows} {n_columns}\n".encode())
    for numbers, kind in zip(entries_of(rows), ("<i8", "<i8", "<f8"), strict=True):
        digest.update(np.ascontiguousarray(numbers, dtype=kind).data)
    return digest.hexdigest()


def entries_of(rows: Matrix) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """What is not zero, as CSR has it: where each row begins, the columns, the numbers."""
    if is_sparse(rows):
        entries = sparse.csr_array(rows, dtype=np.float64)
        entries.sum_duplicates()
        entries.eliminate_zeros()
        return entries.indptr, entries.indices, entries.data
    is_entry = rows != 0.0
    begins = np.concatenate([[0], np.cumsum(np.count_nonzero(is_entry, axis=1))])
    return begins, np.nonzero(is_entry)[1], rows[is_entry]


def vectors_of(estimator: Any) -> str | None:
    """A digest of the support vectors, to the last bit, and of what the kernel subtracts from every row."""
    vectors = vars(estimator).get("support_vectors_")  # those that predict, or are in a file
    if vectors is None or not hasattr(vectors, "dtype") or vectors.dtype.kind not in "biuf":
        return None  # there are none, or only the kernel can tell them apart
    digest = hashlib.sha256(f"{vectors.dtype.name} {vectors.shape}\n".encode())
    shift = getattr(getattr(estimator, "_kernel", None), "shift", None)
    own = [vectors.indptr, vectors.indices, vectors.data] if is_sparse(vectors) else [vectors]
    for numbers in (*own, np.zeros(0) if shift is None else shift):
        kind = "<i8" if numbers.dtype.kind == "i" else numbers.dtype.newbyteorder("<")
        digest.update(np.ascontiguousarray(numbers, dtype=kind).data if numbers.size else b"")
    return digest.hexdigest()


def refuse_too_long_steps(values: Vector, rows: NDArray[np.intp]) -> None:
    """A sentence where w.x + b of one of these rows is beyond float64."""
    if len(beyond := rows[~np.isfinite(values)]):
        why = f"w.x + b of row {beyond[0]} is beyond what float64 can hold"
        raise ValueError(f"the steps are too long: {why}. Scale the columns of X.")


def behind_the_steps(pipeline: Pipeline, X: Any) -> Any:
    """X after all steps but the last. One by one: a shorter Pipeline of steps that learn nothing is one that
    scikit-learn 1.6 and 1.7 take for not fitted."""
    for _, step in pipeline.steps[:-1]:
        X = X if step in (None, "passthrough") else step.transform(X)
    return X
