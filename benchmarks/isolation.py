"""Timing in a process of its own: a solver may hang, crash or eat the memory at no cost to the others."""

import multiprocessing
import resource
import time
from collections.abc import Callable
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


def _listen(connection, time_limit: float) -> Measurement:
    best = Measurement(None, failure="not ready in time")
    patience = UNTIMED_LIMIT
    while connection.poll(patience):
        try:
            message = connection.recv()
        except EOFError:
            return best if best.seconds is not None else Measurement(None, failure="crashed")
        if message == "ready":
            best, patience = Measurement(None, failure=f"more than {time_limit:g} s"), time_limit
        elif message == "ran":
            best, patience = Measurement(None, failure="not described in time"), UNTIMED_LIMIT
        elif message == "done":
            break
        else:
            best, patience = message, UNTIMED_LIMIT
    return best


def _measure_here(connection, prepare, arguments) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    try:
        run, describe = prepare(*arguments)
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
        connection.send(Measurement(min(times), value))
    except BaseException as error:  # a panic of a Rust extension is no Exception
        connection.send(Measurement(None, failure=f"{type(error).__name__}: {error}"[:80]))
    connection.send("done")


def _enough(times: list[float]) -> bool:
    if times and times[0] > SHORT:
        return True
    return len(times) >= REPEATS and (sum(times) > STEADY or len(times) >= MOST_REPEATS)
