"""What the peers of the kernel benchmark did, and the cache that keeps it."""

import datetime
import math
from pathlib import Path
from typing import NamedTuple

from isolation import Measurement
from kernel_judge import Verdict
from peer_cache import PeerCache


class KernelRun(NamedTuple):
    """One peer on one set: its time and what the judge says; or, without seconds, why there are none."""

    seconds: float | None
    primal: float
    dual: float
    n_support: int
    failure: str
    time_limit: float
    day: str

    @property
    def gap(self) -> float:
        return Verdict(self.primal, self.dual).gap

    def within(self, time_limit: float) -> "KernelRun":
        """As it would have been with a smaller limit."""
        if self.seconds is None or self.seconds <= time_limit:
            return self
        return run_of(Measurement(None, failure=f"more than {time_limit:g} s"), time_limit)._replace(day=self.day)


def run_of(measured: Measurement, time_limit: float) -> KernelRun:
    nothing = {"primal": math.inf, "dual": -math.inf, "n_support": 0}
    described = nothing if measured.seconds is None else measured.value
    day = datetime.date.today().isoformat()
    return KernelRun(measured.seconds, **described, failure=measured.failure, time_limit=time_limit, day=day)


class KernelCache(PeerCache):
    """The runs, of the one loss that there is."""

    def __init__(self, path: Path | None, *, again: float) -> None:
        super().__init__(path, KernelRun, again=again)
