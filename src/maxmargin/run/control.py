"""A run while it goes on: how it is kept, how long it may take, and why it ended. Who observes it: `observation`.

Whoever drives a solver opens the state of the run (`problems.protocol`), which holds all others within it, and says
where it is at rest: a copy is made there and, from time to time, kept. A run of many two-class problems has a record
for each: the state of the one at hand and, of those that have ended, what lasts of theirs.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import compiled_by_now as compiled_by_now
from maxmargin.data.executor import Alarm, OutOfTime, interruptible
from maxmargin.problems.protocol import (
    AT_REST,
    Evaluation,
    Iterate,
    Iterates,
    Record,
    State,
    StateError,
    restore,
    snapshot,
    varying,
)
from maxmargin.problems.statement import SignedRows
from maxmargin.run.observation import NOBODY, OBSERVATION, Observer

SHORTEST_REST = 0.05  # seconds between two copies: a copy costs less than the sweeps between


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


class Snapshots:
    """`keep` is called with the records every so many seconds; without it, nothing is kept."""

    def __init__(
        self,
        keep: Callable[[list[Record]], None] | None = None,
        every: float = 60.0,
        earlier: list[Record] | None = None,
    ) -> None:
        self.keep, self.every, self.earlier = keep, every, list(earlier or ())
        self.ended: list[Record] = []
        self.latest: list[Record] | None = None
        self.state: RunState | None = None
        self.kept: Record = {}
        self.is_closed = keep is None  # no more is kept: a problem was left before its end
        self.is_open = False
        self.copied = self.written = time.perf_counter()

    def turn_to(self, problem: int) -> None:
        """The next two-class problem begins."""
        self.is_closed = self.is_closed or self.is_open
        if not self.is_closed:
            self.state, self.is_open = None, True
            self.kept = self.earlier[problem] if problem < len(self.earlier) else {}

    def open(self, state: RunState) -> bool:
        """The run begins, from where an earlier process left it; whether it has ended there.

        A run within a run, such as the question whether a plane exists, is not kept.
        """
        if self.is_closed or not self.is_open or self.state is not None:
            return False
        self.state, kept = state, self.kept
        if kept:
            ended = kept.get("status", "") != ""
            restore(state, kept, state.n_rows, ended=ended)
            if ended:
                self.note_end()
                return True
        return False

    def rest(self, state: RunState) -> None:
        """Here, another process could go on from the state."""
        if state is not self.state or self.is_closed:
            return
        now = time.perf_counter()
        if self.latest is not None and now - self.copied < SHORTEST_REST:
            return
        self.latest, self.copied = [*self.ended, snapshot(state)], now
        self.write_if_due()

    def together(self, records: list[Record]) -> None:
        """Here, another process could go on with problems that advance side by side; of one not begun: nothing."""
        if not self.is_closed:
            self.latest = records
            self.write_if_due()

    def end(self, state: RunState, status: str) -> None:
        """This problem has ended by itself."""
        if state is self.state and not self.is_closed:
            state.status = status
            self.note_end()
            self.write_if_due()

    def note_end(self) -> None:
        assert self.state is not None
        self.ended.append(snapshot(self.state, ended=True))
        self.latest, self.is_open = list(self.ended), False

    def write_if_due(self) -> None:
        if time.perf_counter() - self.written >= self.every:
            self.write()

    def write(self) -> None:
        """Keep the last copy, if there is a new one."""
        if self.keep is not None and self.latest is not None:
            self.keep(self.latest)
            self.latest, self.written = None, time.perf_counter()


NOTHING_KEPT = Snapshots()


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


def status_named(name: str) -> Status:
    """The status that an earlier process wrote down."""
    if name not in Status.__members__:
        raise StateError(f"it has an end that this version does not know: {name[:40]!r}")
    return Status[name]


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
        self.compiled_before = compiled_by_now()
        self.started = self.reported = now() if begun is None else begun
        self.deadline = np.inf if max_time is None else self.started + max_time
        self.reserve = 0.0
        self.verbose = verbose
        self.alarm = Alarm(self.is_limited or bool(verbose))  # Ctrl-C sets it, too
        self.interrupted = False
        self.stopped = False
        self.stage = "preparing"
        self.observation = OBSERVATION.get(NOBODY)
        self.snapshots = self.observation.snapshots or NOTHING_KEPT
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
        return bool(observed or self.is_limited or self.snapshots is not NOTHING_KEPT)

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
        while True:
            try:
                with np.errstate(all="ignore"):
                    iterate = iterates.send(answer)
            except StopIteration:  # of the solver: that of an observer or a kernel is an error of theirs
                return None
            if iterate is not AT_REST:
                return iterate
            if state is not None:
                self.snapshots.rest(state)
            answer = None

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
