"""What the peers did, kept in a JSON file, so that ours can be measured again without them."""

import datetime
import json
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
    """The runs of the peers, by set, C and peer; written to the file as they come, if there is one."""

    def __init__(self, path: Path | None, *, fresh: bool) -> None:
        self.path = path
        kept = json.loads(path.read_text()) if path is not None and path.exists() else {}
        self.runs = {key: Run(**fields) for key, fields in kept.items()}
        self.fresh = fresh

    def find(self, set_name: str, C: float, peer: str, time_limit: float) -> Run | None:
        """The run, unless it was given up earlier than this limit would."""
        run = None if self.fresh else self.runs.get(self._key(set_name, C, peer))
        if run is None or (run.failure.startswith("more than") and run.time_limit < time_limit):
            return None
        return run.within(time_limit)

    def keep(self, set_name: str, C: float, peer: str, run: Run) -> None:
        self.runs[self._key(set_name, C, peer)] = run
        if self.path is not None:
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps({key: run._asdict() for key, run in self.runs.items()}, indent=0))
            new.replace(self.path)  # a reader never sees half a file

    @staticmethod
    def _key(set_name: str, C: float, peer: str) -> str:
        return f"{set_name}, C={C:g}, {peer}"
