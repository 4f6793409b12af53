"""Why a fit ended, and how long it may take."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import StrEnum
from typing import Any

import numpy as np

from maxmargin.data.threads import OutOfTime, interruptible
from maxmargin.problems.protocol import AT_REST, Evaluation, Iterate, Iterates
from maxmargin.problems.state import StateError
from maxmargin.problems.statement import SignedRows
from maxmargin.run.observers import Observer, current_observation


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


def compiled_by_now() -> float:
    """How long the compiler has worked so far: not at all, before anybody has loaded it."""
    door = sys.modules.get("maxmargin._numba")
    return 0.0 if door is None else float(door.seconds_compiling())


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
        self.interrupted = False
        self.stopped = False
        self.stage = "preparing"
        self.observation = current_observation()
        self.observer: Observer | None = None  # the estimator's own: it sees every iterate as well

    @property
    def is_over(self) -> bool:
        return self.interrupted or self.stopped or (self.is_limited and now() >= self.deadline - self.reserve)

    @property
    def is_limited(self) -> bool:
        return bool(self.deadline < np.inf)

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
        self.interrupted = True
        self.deadline = min(self.deadline, now())

    def searching(self) -> AbstractContextManager[None]:
        """Within it, the work ends when the search is over."""
        return interruptible(self.check_search)

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

        with interruptible(check_judgement):
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
        self, iterates: Iterates, answer: Evaluation | None = None, at_rest: Callable[[], None] = lambda: None
    ) -> Iterate | None:
        """The next iterate of a solver, which is told the answer to its last proposal; None at its end.

        Whatever overflows on the way, what is proposed is judged.
        """
        while True:
            try:
                with np.errstate(all="ignore"), self.searching():
                    iterate = iterates.send(answer)
            except StopIteration:  # of the solver: that of an observer or a kernel is an error of theirs
                return None
            if iterate is not AT_REST:
                return iterate
            at_rest()
            answer = None

    def show(self, iterate: Iterate, problem: SignedRows) -> None:
        self.stage = "working"
        if self.observation.notify(iterate, problem) or (self.observer is not None and self.observer(iterate, problem)):
            self.stopped = True
        if self.verbose and (now() - self.reported >= 1.0 or self.verbose > 1):
            gap = f"  gap about {iterate.gap:.1e}" if iterate.gap_is_known else ""
            self.say(f"{iterate.sweeps} sweeps  {iterate.updates} updates{gap}")
