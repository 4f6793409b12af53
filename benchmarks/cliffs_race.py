"""Two sides of a cliff, and the least time of each: CPU time, where the race does not measure otherwise."""

import importlib.util
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from maxmargin._loops import compiled_by_now

ENOUGH = 3.0  # CPU seconds of both sides together: below that, they run again
MOST = 7  # times
LONG = 20.0  # CPU seconds of both sides, without the compiler: they run once
HAS_INTELEX = importlib.util.find_spec("sklearnex") is not None


def cpu(run: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    result = run()
    return time.process_time() - begun, result


class Race(NamedTuple):
    """Ours and the peer's side of one problem. `note(ours)` says what else is to be known of our last run.

    `measure` runs a side and says how long it took; each side runs so many `times` at least.
    """

    on: str
    peer: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    note: Callable[[Any], str] = lambda _: ""
    measure: Callable[[Callable[[], Any]], tuple[float, Any]] = cpu
    times: int = 2


class Cliff(NamedTuple):
    """What is asked of the ratio, and the races of a case, given the sets."""

    asked: str
    races: Callable[[Any], Iterable[Race]]


class Row(NamedTuple):
    """The least CPU seconds of each side."""

    race: Race
    ours: float
    theirs: float
    note: str


def timed(race: Race, *, once: bool) -> Row:
    """In turn, until it is enough; `once`: as often as they must, and no more. The first run may compile."""
    ours, theirs, last, begun = [], [], None, compiled_by_now()
    while len(ours) < race.times or (not once and len(ours) < MOST and sum(ours) + sum(theirs) < ENOUGH):
        if ours and ours[0] + theirs[0] - (compiled_by_now() - begun) > LONG:
            break
        seconds, last = race.measure(race.ours)
        ours.append(seconds)
        theirs.append(race.measure(race.theirs)[0])
    return Row(race, min(ours), min(theirs), race.note(last))


def status(model) -> str:
    """How a fit ended, in a word."""
    return str(model.status_).split(":")[0]
