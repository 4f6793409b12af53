"""A state becomes a fitted estimator with its certificate; whoever asked can stop it on the way.

Compiled code is made when it is first called, which takes seconds: here it is called before anybody waits for it. What
is compiled depends on the algorithm and on the choices among its parameters, not on the points. A state whose choices
nobody has had yet is fitted once to a few points, within the time of an answer; then it counts as warm.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.data import synthetic
from maxmargin.data.table import Vector
from maxmargin.estimators.no_plane import NoPlaneError
from maxmargin.estimators.widgets import Widget
from maxmargin.persistence.errors import Refusal
from maxmargin.playground.catalogue import ALGORITHMS, Algorithm
from maxmargin.playground.messages import MOST_SECONDS, State
from maxmargin.problems.kernels import Kernel
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import SignedRows
from maxmargin.run.control import Status, collected
from maxmargin.run.observation import Recorder, observing

MOST_ITERATES = 400  # kept of a fit; then every second one is dropped, as in a `Trace`

STRATEGY = "multi_class"
KEY = tuple[Any, ...]
warm: set[KEY] = set()
guard = threading.Lock()


class Stopped(Exception):
    """Nobody waits for the answer any more."""


class Recording(Recorder):
    """The iterates that a solver came by; the fit is stopped when nobody waits for it."""

    def __init__(self, is_stopped: Callable[[], bool]) -> None:
        super().__init__(MOST_ITERATES)
        self.is_stopped = is_stopped
        self.phases: dict[float, int] = {}  # the guesses or steps of a search, and the updates until the end of each

    def __call__(self, iterate: Iterate, problem: SignedRows) -> bool:
        self.observe(iterate, problem)
        if not math.isnan(iterate.searched):
            self.phases[iterate.searched] = iterate.updates
        return self.is_stopped()

    def phase_of(self, update: int) -> float:
        """The guess or the step with which this update was made."""
        return next(searched for searched, last in self.phases.items() if update <= last)

    def number_of(self, searched: float) -> int:
        """Which guess or step of the search this is, from 1."""
        return 1 + list(self.phases).index(searched)


@dataclass(frozen=True, eq=False)
class Fit:
    """`model` has no planes where one must separate and none is proven to: the certificate has a witness or bounds."""

    state: State
    model: Any
    certificate: Any
    status: Status
    recording: Recording
    milliseconds: float

    @cached_property
    def has_plane(self) -> bool:
        """Whether there is something to predict with that the algorithm stands for."""
        return hasattr(self.model, "classes_") and not (
            self.state.algorithm.name == "hard_margin" and self.certificate.is_separable is False
        )

    @cached_property
    def plane(self) -> tuple[Vector, float] | None:
        """w and b, where the plane is one in the space of the points."""
        if not self.has_plane:
            return None
        if hasattr(self.model, "coef_"):
            return self.model.coef_[0], float(self.model.intercept_[0])
        if self.state.parameters["kernel"] == "linear":
            return (self.model.dual_coef_ @ self.model.support_vectors_)[0], float(self.model.intercept_[0])
        return None

    def quick_values(self, kernel: Kernel) -> Callable[[Any], Vector]:
        """w.phi(x) + b of many small sets of points: nothing is checked, and no thread begun."""
        support, weights = kernel.points(self.model.support_vectors_), self.model.dual_coef_[0]

        def values(points: Any) -> Vector:
            return np.asarray(kernel.values(kernel.points(points), support) @ weights + self.model.intercept_[0])

        return values


def fit_state(
    state: State, is_stopped: Callable[[], bool] = lambda: False, *, stepwise: bool = False, **more: Any
) -> Fit:
    """Fit the algorithm of a state to its points, within the time that an answer may take.

    `stepwise`: every step of the solver is recorded. `more` are parameters of the estimator that change nothing of the
    answer, such as `record`.
    """
    warm_up(state.algorithm, state.parameters)
    model = state.algorithm.make(state.parameters, max_time=MOST_SECONDS, **more)
    recording = Recording(is_stopped)
    begun = time.perf_counter()
    try:
        with observing(recording, stepwise=stepwise), collected():  # the page shows the status and the gap
            model.fit(state.points, state.labels)
        certificate, status = model.certificate_, model.status_
    except NoPlaneError as error:
        certificate = error.certificate
        status = Status.STALLED if certificate.is_separable is None else Status.WITNESS
    except ValueError as error:
        raise Refusal(str(error), "algorithm") from None
    finally:
        if is_stopped():
            raise Stopped
    return Fit(state, model, certificate, status, recording, 1e3 * (time.perf_counter() - begun))


def key_of(algorithm: Algorithm, parameters: dict[str, Any]) -> KEY:
    """The algorithm and those of its parameters that choose among loops: words, switches, an infinite price."""
    chosen = [
        (name, value if isinstance(value, str | bool) else repr(value))
        for name, value in parameters.items()
        if (name != STRATEGY and isinstance(value, str | bool)) or value is None or value == np.inf
    ]
    return (algorithm.name, *chosen)


def warm_up(algorithm: Algorithm, parameters: dict[str, Any]) -> None:
    """Have the loops of a state compiled, if they are not; whoever comes meanwhile waits."""
    key = key_of(algorithm, parameters)
    if key in warm:
        return
    with guard:
        if key in warm:
            return
        for X, y in (synthetic.street(12)[:2], synthetic.xor()):
            model = algorithm.make(parameters, max_time=MOST_SECONDS)  # without those of the compiler
            with suppress(ValueError), collected():  # no plane, or steps that are too long: not of interest here
                model.fit(X, y)
        warm.add(key)


def all_choices() -> Iterator[tuple[Algorithm, dict[str, Any]]]:
    """Every algorithm with its defaults first, then with every other choice."""
    rest = []
    for algorithm in ALGORITHMS.values():
        choices = [
            [(parameter.name, value) for value in values_that_choose(parameter)] for parameter in algorithm.parameters
        ]
        found = [algorithm.read(dict(combination)) for combination in itertools.product(*choices)]
        yield algorithm, algorithm.read({})
        rest += [(algorithm, parameters) for parameters in found]
    yield from rest


def values_that_choose(parameter: Widget) -> list[Any]:
    """All words; a number, and infinity where it may be; of the others the default."""
    if parameter.name == STRATEGY:  # which chooses among problems, not among loops
        return [parameter.default]
    infinite = ["inf"] if any(value == "inf" for value, _ in parameter.also) else []
    return [value for value, _ in parameter.choices] or [parameter.default, *infinite]


def warm_up_all(stop: threading.Event) -> None:
    """One after the other, until all are warm; a state that somebody waits for goes first."""
    for algorithm, parameters in all_choices():
        if stop.wait(0.01):
            return
        warm_up(algorithm, parameters)
