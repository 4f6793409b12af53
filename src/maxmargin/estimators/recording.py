"""Learners that go row by row keep their updates: a trace for each plane, and what it was about."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates import words
from maxmargin.certificates.proof import promise
from maxmargin.data.table import Matrix, Table
from maxmargin.estimators.base import MarginClassifier, single
from maxmargin.problems.choices import Strategy
from maxmargin.problems.run_record import Subject
from maxmargin.problems.statement import TrainingSet, TwoClasses, plain
from maxmargin.problems.trace import Trace, UpdateObserver, dense, some_rows
from maxmargin.run.control import Clock
from maxmargin.solve.answer import Answer


class RecordsUpdates(MarginClassifier):
    """`record` asks for traces; `trace_` is the one of the last fit, or a list of them, one for each plane."""

    record: bool | Trace

    def _solve(self, table: TrainingSet, answer: Callable[[TwoClasses, Clock], Answer], *others: Any) -> Self:
        self._traces: list[Trace] = []
        try:
            return super()._solve(table, answer, *others)
        finally:
            self.__dict__.pop("_traces", None)

    def _observer(self, clock: Clock) -> UpdateObserver | None:
        """Who looks at the updates of the next two-class problem."""
        if self.record is False:
            return clock.observation.trace
        trace = Trace(self.record.limit) if isinstance(self.record, Trace) else Trace()
        self._traces.append(trace)
        return trace

    def _store(self, X: Matrix | Table, classes: NDArray[Any], strategy: Strategy, answers: list[Answer]) -> None:
        traces = self.__dict__.get("_traces", [])  # none, of a call of partial_fit
        super()._store(X, classes, strategy, answers)
        self.__dict__.pop("trace_", None)
        for number, (trace, answer) in enumerate(zip(traces, answers, strict=False)):
            trace.subject = self._subject(trace, answer, number)
        if traces:
            self.trace_ = single(traces)

    def _subject(self, trace: Trace, answer: Answer, plane: int) -> Subject:
        """What the run of this plane was about; learners add what is theirs."""
        two, certificate, kernel = answer.two, answer.certificate, answer.kernel
        of_updates = trace.to_arrays()["row"]
        rows: Any = two.X
        places = some_rows(rows, of_updates)
        parameters = {name: plain(value) for name, value in self.get_params(deep=False).items()}
        numbers = () if kernel is None else kernel.parameters
        return Subject(
            algorithm=type(self).__name__,
            parameters={name: value for name, value in parameters.items() if isinstance(value, str | int | float)},
            X=dense(rows, places),
            signs=two.signs[places],
            places=places,
            rows=two.rows[places],
            n_rows=len(two.signs),
            names=words.side_names(certificate),
            title=words.title(certificate),
            words=(*words.sentences(certificate), *map(promise, certificate.theorems)),
            theorems=tuple(
                {name: value for name, value in dataclasses.asdict(theorem).items() if name != "plane"}
                for theorem in certificate.theorems
            ),
            columns=tuple(map(str, getattr(self, "feature_names_in_", ()))),
            kernel={} if kernel is None else {"name": kernel.name, **{n: getattr(kernel, n) for n in numbers}},
            weights=np.zeros(0) if two.weights is None else two.weights[places],
            w=np.zeros(0) if kernel is not None else np.asarray(self.coef_[plane], dtype=np.float64),
            b=float(self.intercept_[plane]),
        )
