"""What the peers of a race did, kept in a JSON file, so that ours can be measured again without them."""

import json
import math
from pathlib import Path
from typing import Any


class PeerCache:
    """The runs of the peers by set, C and peer; written to the file as they come, if there is one.

    A run is a NamedTuple with seconds, failure and time_limit, and `within` says what a smaller limit had made of it.
    Runs of less than `again` seconds are not found: noise in a short time matters, in a long one it does not.
    """

    def __init__(self, path: Path | None, run: Any, *, again: float, question: str = "") -> None:
        self.path, self.again, self.question = path, again, question
        kept = json.loads(path.read_text()) if path is not None and path.exists() else {}
        self.runs = {key: run(**fields) for key, fields in kept.items()}

    def find(self, set_name: str, C: float, peer: str, time_limit: float) -> Any:
        """The run, unless it is to be made again or was given up earlier than this limit would; else None."""
        run = self.runs.get(self._key(set_name, C, peer))
        if run is None or self.again == math.inf or (run.seconds is not None and run.seconds < self.again):
            return None
        if run.failure.startswith("more than") and run.time_limit < time_limit:
            return None
        return run.within(time_limit)

    def keep(self, set_name: str, C: float, peer: str, run: Any) -> None:
        self.runs[self._key(set_name, C, peer)] = run
        if self.path is not None:
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps({key: run._asdict() for key, run in self.runs.items()}, indent=0))
            new.replace(self.path)  # a reader never sees half a file

    def _key(self, set_name: str, C: float, peer: str) -> str:
        return f"{set_name}, C={C:g}, {self.question}{peer}"
