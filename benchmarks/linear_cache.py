"""What the peers did, kept in a JSON file, so that ours can be measured again without them."""

import datetime
import json
import math
from pathlib import Path
from typing import NamedTuple

from isolation import Measurement


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


class Cache:
    """The runs of the peers for one loss, by set, C and peer; written to the file as they come, if there is one.

    Runs of less than `again` seconds are not found: noise in a short time matters, in a long one it does not.
    """

    def __init__(self, path: Path | None, loss: str, *, again: float) -> None:
        self.path, self.loss, self.again = path, loss, again
        kept = json.loads(path.read_text()) if path is not None and path.exists() else {}
        self.runs = {key: Run(**fields) for key, fields in kept.items()}

    def find(self, set_name: str, C: float, peer: str, time_limit: float) -> Run | None:
        """The run, unless it is to be made again or was given up earlier than this limit would."""
        run = self.runs.get(self._key(set_name, C, peer))
        if run is None or self.again == math.inf or (run.seconds is not None and run.seconds < self.again):
            return None
        if run.failure.startswith("more than") and run.time_limit < time_limit:
            return None
        return run.within(time_limit)

    def keep(self, set_name: str, C: float, peer: str, run: Run) -> None:
        self.runs[self._key(set_name, C, peer)] = run
        if self.path is not None:
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps({key: run._asdict() for key, run in self.runs.items()}, indent=0))
            new.replace(self.path)  # a reader never sees half a file

    def _key(self, set_name: str, C: float, peer: str) -> str:
        loss = "" if self.loss == "hinge" else f"{self.loss}, "
        return f"{set_name}, C={C:g}, {loss}{peer}"
