"""What the peers of the linear benchmark did, and the cache that keeps it."""

import datetime
from pathlib import Path
from typing import NamedTuple

from isolation import Measurement
from peer_cache import PeerCache


class Run(NamedTuple):
    """One peer on one set: its time and objective; or, without seconds, why there are none."""

    seconds: float | None
    primal: float
    failure: str
    time_limit: float
    day: str

    def within(self, time_limit: float) -> "Run":
        """As it would have been with a smaller limit."""
        if self.seconds is None or self.seconds <= time_limit:
            return self
        return self._replace(seconds=None, primal=float("inf"), failure=f"more than {time_limit:g} s")


def run_of(measured: Measurement, time_limit: float) -> Run:
    primal = float("inf") if measured.seconds is None else measured.value
    return Run(measured.seconds, primal, measured.failure, time_limit, datetime.date.today().isoformat())


class Cache(PeerCache):
    """The runs for one loss."""

    def __init__(self, path: Path | None, loss: str, *, again: float) -> None:
        super().__init__(path, Run, again=again, question="" if loss == "hinge" else f"{loss}, ")
