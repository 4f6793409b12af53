"""A run while it goes on: the turns of solver and judge, how long it may take, why it ended, and who is told.

The solver proposes when it believes that it is there; the judge measures, and tells it what it saw (`prove`). Neither
knows of the clock. Who observes a run: `observation`; how it is kept for another process: `snapshots`.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import compiled_by_now as compiled_by_now
from maxmargin.data.executor import Alarm, OutOfTime, interruptible
from maxmargin.problems.protocol import Evaluation, Iterate, Iterates, Run, State, StateError, varying
from maxmargin.problems.statement import SignedRows, SoftMargin
from maxmargin.run.observation import NOBODY, OBSERVATION, Observer


@dataclass(eq=False)
class RunState(State):
    """A two-class problem while it is solved.

    solver     the solver's own state
    judge      what is proven so far
    iterate    the last one that was shown
    judged     whether it has been evaluated
    given_up_w, given_up_a   the planes and the weights of algorithms that handed over to another
    next_look  of stochastic steps: the sweep at which they are evaluated unasked
    asked      of perceptrons: whether somebody else was asked for a witness
    status     how it ended; empty while it goes on
    """

    n_rows: int
    solver: State = varying(lasting=True)
    judge: State | None = varying(None, lasting=True)
    iterate: Iterate = varying(factory=lambda: Iterate(np.zeros(0), 0.0, np.zeros(0)), grows=True, lasting=True)
    judged: bool = varying(True)
    given_up_w: NDArray[np.float64] = varying(factory=lambda: np.zeros((0, 0)), grows=True)
    given_up_a: NDArray[np.float64] = varying(factory=lambda: np.zeros((0, 0)), grows=True)
    next_look: float = varying(0.0)
    asked: bool = varying(False)
    status: str = varying("", lasting=True)


class Status(StrEnum):
    """Why a fit ended."""

    SETTLED = "settled: the algorithm ended by its own rule"
    BUDGET = "budget: as many sweeps or updates were made as are allowed"
    TIME = "time: max_time was reached"
    INTERRUPTED = "interrupted by the user"
    WITNESS = "witness: a proof that no plane exists ended it"
    PROVEN = "proven: the gap that was asked for is reached"
    STALLED = "stalled: no solver came further, most often because rounding errors leave no way to a smaller gap"
    STOPPED = "stopped by a callback"

    @classmethod
    def _missing_(cls, value: object) -> Status | None:
        """By its first word, too: pickles of earlier versions say the rest in other words."""
        word = str(value).partition(":")[0]
        return next((status for status in cls if ":" in status.value and status.value.partition(":")[0] == word), None)


EARLY = {Status.TIME, Status.BUDGET, Status.STALLED}  # perhaps before what was asked for is proven
BY_THE_CLOCK = (Status.TIME, Status.INTERRUPTED, Status.STOPPED)  # or by whoever watches it: it could have gone on


class Ending(Protocol):
    """How a fit ended in all its parts: `estimators.convergence`."""

    @property
    def ends(self) -> Sequence[Any]: ...

    def warn(self) -> None: ...


LISTENER: ContextVar[Callable[[Any], Any] | None] = ContextVar("LISTENER", default=None)


@contextmanager
def told_of_ends(listener: Callable[[Any], Any]) -> Iterator[None]:
    """Within it, fits of this thread do not warn: the listener is told how each one ended, the good ends too."""
    token = LISTENER.set(listener)
    try:
        yield
    finally:
        LISTENER.reset(token)


@contextmanager
def collected() -> Iterator[list[Any]]:
    """The same; the ends of their parts are in the list."""
    ends: list[Any] = []
    with told_of_ends(lambda ending: ends.extend(ending.ends)):
        yield ends


def tell_of(ending: Ending) -> None:
    """Whoever listens; where nobody does it warns, if it was early."""
    if (listener := LISTENER.get()) is not None:
        listener(ending)
    else:
        ending.warn()


def status_named(name: str) -> Status:
    """The status that an earlier process wrote down."""
    if name not in Status.__members__:
        raise StateError(f"it has an end that this version does not know: {name[:40]!r}")
    return Status[name]


HOPELESS = 0.5  # a gap from which nothing is kept
GRACE = 0.3  # seconds after the limit, or after Ctrl-C, for the evaluation of what was found


def now() -> float:
    """What every clock of a fit is read from: the seconds of this process without those of the compiler, which works
    once and cannot be stopped. They would leave nothing of a short limit to the first fit."""
    return time.perf_counter() - compiled_by_now()


class Clock:
    """The time limit of one fit, over all its two-class problems, and its progress on stderr.

    It is read between the steps of a solver, which show an iterate, and at the checks inside of them. What was found
    is judged at the end: a search ends `reserve` seconds early, so that the limit covers its last evaluation, and that
    may take a little longer, or is given up.
    """

    def __init__(self, max_time: float | None, verbose: int, begun: float | None = None) -> None:
        self.compiled_before = compiled_by_now() if verbose else 0.0
        self.started = self.reported = now() if begun is None else begun
        self.deadline = np.inf if max_time is None else self.started + max_time
        self.reserve = 0.0
        self.verbose = verbose
        self.alarm = Alarm(self.is_limited or bool(verbose))  # Ctrl-C sets it, too
        self.interrupted = False
        self.stopped = False
        self.stage = "preparing"
        self.observation = OBSERVATION.get(NOBODY)
        self.snapshots = self.observation.snapshots  # whoever keeps the run
        self.observer: Observer | None = None  # the estimator's own: it sees every iterate as well

    @property
    def is_over(self) -> bool:
        return self.interrupted or self.stopped or (self.is_limited and now() >= self.deadline - self.reserve)

    @property
    def is_limited(self) -> bool:
        return bool(self.deadline < np.inf)

    @property
    def is_watched(self) -> bool:
        """Whether somebody wants to see, to keep or to end the search between two steps."""
        observed = self.observation.observers or self.observer is not None or self.verbose
        return bool(observed or self.is_limited or self.snapshots is not None)

    @property
    def left_to_judge(self) -> float:
        """Seconds."""
        return self.deadline + GRACE - now()

    @property
    def elapsed(self) -> float:
        return now() - self.started

    @property
    def reason(self) -> Status:
        """Why it is over."""
        return Status.INTERRUPTED if self.interrupted else Status.STOPPED if self.stopped else Status.TIME

    @contextmanager
    def hears_ctrl_c(self) -> Iterator[None]:
        """Within it, the first Ctrl-C only says that it is over: the search ends at its next check, what it found is
        certified, and whoever owns the clock raises the KeyboardInterrupt. The second one is raised where it comes.

        Only the main thread can listen, and it does not take the place of somebody else who does.
        """
        in_main_thread = threading.current_thread() is threading.main_thread()
        if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return

        def interrupt_once(number: int, frame: Any) -> None:
            if self.interrupted:
                signal.default_int_handler(number, frame)
            self.interrupt()

        signal.signal(signal.SIGINT, interrupt_once)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def with_half_of_the_time(self) -> Iterator[None]:
        """Within it, the limit comes when half of the time is over."""
        whole = self.deadline
        self.deadline = self.started + 0.5 * (whole - self.started)
        try:
            yield
        finally:
            if not self.interrupted:
                self.deadline = whole

    def interrupt(self) -> None:
        """The user wants it to end: what is still to be judged has no more than its grace."""
        self.interrupted = self.alarm.is_set = True
        self.deadline = min(self.deadline, now())

    def searching(self) -> AbstractContextManager[None]:
        """Within it, the work ends when the search is over."""
        return interruptible(self.check_search, self.alarm)

    def check_search(self) -> None:
        if self.is_over:
            raise OutOfTime
        if self.verbose:
            self.report()

    @contextmanager
    def judging(self, *, from_now: bool = False) -> Iterator[None]:
        """Within it, the work ends when the evaluation of what was found has had its time as well: a little
        after the limit, or `from_now` on if that is over."""
        begun = now() if from_now else -np.inf

        def check_judgement() -> None:
            if now() >= max(self.deadline, begun) + GRACE:  # the deadline moves when the user interrupts
                raise OutOfTime
            self.report("judging")

        with interruptible(check_judgement, self.alarm):
            yield

    def report(self, stage: str | None = None) -> None:
        """A sign of life, once a second: what is being done where no iterate can be shown."""
        if self.verbose and now() - self.reported >= 1.0:
            self.say(stage or self.stage)

    def report_end(self, statuses: list[Status]) -> None:
        """The last line of a verbose fit: how it ended."""
        if not self.verbose:
            return
        ends, several = Counter(statuses), len(statuses) > 1
        said = "; ".join(f"{count} x {status.value}" if several else status.value for status, count in ends.items())
        self.say(f"ended, {said}")

    def say(self, words: str) -> None:
        self.reported = now()
        compiling = compiled_by_now() - self.compiled_before
        apart = f"  (compiled once in {compiling:.1f} s)" if compiling >= 0.05 else ""
        print(f"maxmargin {self.elapsed:7.1f} s  {words}{apart}", file=sys.stderr, flush=True)

    def next_of(
        self, iterates: Iterates, answer: Evaluation | None = None, state: RunState | None = None
    ) -> Iterate | None:
        """The next iterate of a solver, which is told the answer to its last proposal; None at its end.

        Whatever overflows on the way, what is proposed is judged. Where it is at rest, its state may be kept.
        """
        with np.errstate(all="ignore"):
            while True:
                try:
                    iterate = iterates.send(answer)
                except StopIteration:  # of the solver: that of an observer or a kernel is an error of theirs
                    return None
                if iterate is not None:
                    return iterate
                if state is not None and self.snapshots is not None:
                    self.snapshots.at_rest(state)
                answer = None

    def at_rest(self, states: Sequence[State]) -> None:
        """Of problems that advance side by side, these are at rest."""
        if self.snapshots is not None:
            self.snapshots.at_rest_side_by_side(states)

    def ended_before(self, state: RunState) -> Status | None:
        """The run begins, from where an earlier process left it; how it ended there, if it did."""
        if self.snapshots is None or not self.snapshots.open(state):
            return None
        return status_named(state.status)

    def note_end(self, state: RunState, status: Status) -> None:
        """The run has ended by itself, and nobody need go on with it."""
        if self.snapshots is not None and status not in BY_THE_CLOCK and not self.is_over:
            self.snapshots.end(state, status.name)

    def tell(self, iterate: Iterate, problem: SignedRows) -> None:
        """Show it to everybody who observes: one of them may want it to stop."""
        observers = (*self.observation.observers, *filter(None, [self.observer]))
        if observers:
            with interruptible(None):  # what they do with it, the clock does not end
                wishes = [observer(iterate, problem) for observer in observers]
            if any(wishes):
                self.stopped = self.alarm.is_set = True

    def show(self, iterate: Iterate, problem: SignedRows) -> None:
        self.stage = "working"
        self.tell(iterate, problem)
        if self.verbose and (now() - self.reported >= 1.0 or self.verbose > 1):
            gap = f"  gap about {iterate.gap:.1e}" if iterate.gap_is_known else ""
            self.say(f"{iterate.sweeps} sweeps  {iterate.updates} updates{gap}")


class Judge(Protocol):
    """Who evaluates proposals and knows what is proven so far, of planes or in the space of a kernel."""

    tol: float

    @property
    def problem(self) -> SoftMargin: ...
    @property
    def gap(self) -> float: ...
    def evaluate(self, iterate: Iterate, *, thorough: bool = True) -> Evaluation: ...
    def seconds_for(self, iterate: Iterate) -> float: ...
    def shown(self, iterate: Iterate) -> tuple[Iterate, SignedRows]: ...
    def tidy(self) -> None: ...


def prove(
    run: Run, judge: Judge, clock: Clock, max_iter: int | None, most_updates: float = math.inf
) -> tuple[Iterate, Status]:
    """Solver and judge in turn, until the gap is proven or somebody says stop; after more than so many updates it has
    stalled."""
    n, d = judge.problem.n_rows, judge.problem.n_columns
    nothing = Iterate(np.zeros(d), 0.0, np.broadcast_to(np.zeros(1), n))
    kept = judge if isinstance(judge, State) else None
    state = RunState(n, run.state, kept, nothing, given_up_w=np.zeros((0, d)), given_up_a=np.zeros((0, n)))
    if (ended := clock.ended_before(state)) is not None:
        return state.iterate, ended
    if judge.gap <= judge.tol:  # the start was good enough
        return state.iterate, Status.PROVEN
    answer: Evaluation | None = None
    status = Status.STALLED
    affordable = state.iterate  # the last one that could be judged in the time that was left
    try:
        with clock.searching():
            while (iterate := clock.next_of(run.iterates, answer, state)) is not None:
                last, state.iterate = state.iterate, iterate
                if iterate.solver != last.solver and not state.judged and last.gap < HOPELESS:
                    state.given_up_w = np.vstack([state.given_up_w, last.w])
                    state.given_up_a = np.vstack([state.given_up_a, last.a])
                state.judged, answer = False, None
                if iterate.proposes:
                    with clock.judging():
                        answer = judge.evaluate(iterate, thorough=False)
                    state.judged = (gap := judge.gap) <= answer.gap
                    iterate.gap = answer.gap
                    if gap <= judge.tol:
                        status = Status.PROVEN
                        break
                if clock.is_watched:
                    clock.show(*judge.shown(iterate))
                    clock.reserve = judge.seconds_for(iterate) if clock.is_limited and not state.judged else 0.0
                if clock.is_over:
                    status = clock.reason
                    break
                affordable = iterate
                if max_iter is not None and iterate.sweeps >= max_iter:
                    status = Status.BUDGET
                    break
                if iterate.updates > most_updates:
                    break
    except OutOfTime:
        status = clock.reason
    except KeyboardInterrupt:
        clock.interrupt()
        status = Status.INTERRUPTED
    finally:
        run.iterates.close()
    clock.reserve = 0.0
    if status is not Status.PROVEN:
        with clock.judging(), contextlib.suppress(OutOfTime):  # then what was judged before stands
            shown = state.iterate
            last = affordable if judge.seconds_for(shown) > max(0.0, clock.left_to_judge) else shown
            given_up = (Iterate(w, 0.0, a) for w, a in zip(state.given_up_w, state.given_up_a, strict=True))
            left = itertools.chain([] if state.judged else [last], given_up)
            if any(judge.evaluate(other).gap <= judge.tol for other in left):
                status = Status.PROVEN
    if status is Status.PROVEN:
        judge.tidy()
    clock.note_end(state, status)
    return state.iterate, status
