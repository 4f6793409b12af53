"""Timing in a process of its own: a solver may hang, crash or eat the memory at no cost to the others."""

import functools
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

UNTIMED_LIMIT = 600.0  # seconds, for loading and warming up, and for describing
MEMORY_LIMIT = 12 * 2**30  # bytes of address space
SHORT = 10.0  # seconds: a run below this is repeated
REPEATS = 3
STEADY = 0.3  # seconds: runs of microseconds are repeated until they add up to this
MOST_REPEATS = 100


class Measurement(NamedTuple):
    """The best time of the repeats and the first value; or, without seconds, why there are none."""

    seconds: float | None
    value: Any = None
    failure: str = ""


def measure(prepare: Callable, *arguments, time_limit: float) -> Measurement:
    """Run `prepare(*arguments)` in a new process; time `run` of the pair (run, describe) that it returns.

    The value is `describe(run())`, and only `run` is timed. `prepare` and its arguments must be picklable.
    """
    return measure_each(functools.partial(_alone, prepare), *arguments, time_limit=time_limit)[0]


def measure_jobs(prepare: Callable, jobs: Sequence, *arguments, time_limit: float) -> list[Measurement]:
    """One measurement for each job; `prepare(jobs, *arguments)` yields their pairs.

    One process does all of them in order. Where it fails at a job, a new one goes on with those after it.
    """
    measured: list[Measurement] = []
    while len(measured) < len(jobs):
        measured += measure_each(prepare, jobs[len(measured) :], *arguments, time_limit=time_limit)
    return measured


def measure_each(prepare: Callable, *arguments, time_limit: float) -> list[Measurement]:
    """The same for a `prepare` that yields pairs, one after the other in one process. A failure ends it."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_measure_here, args=(theirs, prepare, arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        return _listen(ours, time_limit)
    finally:
        process.kill()
        process.join()


def _alone(prepare: Callable, *arguments) -> Iterator[tuple[Callable, Callable]]:
    yield prepare(*arguments)


def _listen(connection, time_limit: float) -> list[Measurement]:
    measured, best, patience = [], Measurement(None, failure="not ready in time"), UNTIMED_LIMIT
    while connection.poll(patience):
        try:
            message = connection.recv()
        except EOFError:
            return [*measured, best if best.seconds is not None else Measurement(None, failure="crashed")]
        if message == "ready":
            best, patience = Measurement(None, failure=f"more than {time_limit:g} s"), time_limit
        elif message == "ran":
            best, patience = Measurement(None, failure="not described in time"), UNTIMED_LIMIT
        elif message == "next":
            measured.append(best)
            best, patience = Measurement(None, failure="not ready in time"), UNTIMED_LIMIT
        elif message == "done":
            return measured
        else:
            best, patience = message, UNTIMED_LIMIT
    return [*measured, best]


def _measure_here(connection, prepare, arguments) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    try:
        for run, describe in prepare(*arguments):
            connection.send("ready")
            value, times = None, []
            while not _enough(times):
                start = time.perf_counter()
                result = run()
                times.append(time.perf_counter() - start)
                if len(times) == 1:
                    connection.send("ran")
                    value = describe(result)
                    connection.send(Measurement(times[0], value))
                del result
            connection.send(Measurement(min(times), value))
            connection.send("next")
    except BaseException as error:  # a panic of a Rust extension is no Exception
        connection.send(Measurement(None, failure=f"{type(error).__name__}: {error}"[:80]))
        connection.send("next")
    connection.send("done")


def _enough(times: list[float]) -> bool:
    if times and times[0] > SHORT:
        return True
    return len(times) >= REPEATS and (sum(times) > STEADY or len(times) >= MOST_REPEATS)
