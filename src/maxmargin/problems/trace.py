"""A record of a run: one line per update, in bounded memory.

When more than `limit` updates have been kept, every second one is dropped and from then on only every second,
fourth, eighth ... update is kept: `stride` says which. The first update always stays, and the last one is added.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Vector


class UpdateObserver(Protocol):
    """Who looks at single updates of a run. The solver makes those in one go that nobody asks for."""

    @property
    def until_next(self) -> int:
        """How many updates may be made before the next one that is asked for."""

    def skip(self, updates: int) -> None:
        """So many were made."""

    def append(self, row: int, violation: float, before: Vector, after: Vector, bound: float, a: Vector) -> None:
        """The one that was asked for; `a` are the weights of the rows after it, the solver's own."""


class Trace:
    """The updates of a run. Made by `record=True`, or by you, to choose the limit: `record=Trace(limit=500)`.

    For each update that is kept: its number, the row, the violation (the functional margin y(w.x + b) before the
    update, or in a margin perceptron the distance that was too short), the weights before and after (a bias is
    their last entry), their norm, the cosine to the last plane, and the bound so far: the best margin is at most
    |w_t| / t, because the updates so far are a dual point.
    """

    def __init__(self, limit: int = 10_000) -> None:
        if isinstance(limit, bool | np.bool_) or limit < 2:
            raise ValueError(f"a trace keeps at least 2 updates, limit={limit} was given")
        self.limit = limit
        self.clear()

    def clear(self) -> None:
        """Forget everything: a new run starts."""
        self.stride = 1
        self.n_updates = 0
        self._kept: list[tuple[int, int, float, Vector, Vector, float]] = []
        self._last: tuple[int, int, float, Vector, Vector, float] | None = None

    @property
    def until_next(self) -> int:
        """None may be left out: each may be the last."""
        return 0

    def skip(self, updates: int) -> None:
        """So many were made."""
        self.n_updates += updates

    def append(self, row: int, violation: float, before: Vector, after: Vector, bound: float, a: Vector) -> None:
        """Add one update; `before` and `after` are copied, the weights `a` of the rows are not kept."""
        self.n_updates += 1
        entry = (self.n_updates, row, violation, before.copy(), after.copy(), bound)
        self._last = entry
        if (self.n_updates - 1) % self.stride:
            return
        self._kept.append(entry)
        if len(self._kept) >= self.limit:
            del self._kept[1::2]
            self.stride *= 2

    @property
    def is_thinned(self) -> bool:
        """Whether updates were left out."""
        return self.stride > 1

    def __len__(self) -> int:
        return len(self._entries())

    def _entries(self) -> list[tuple[int, int, float, Vector, Vector, float]]:
        if self._last is None or (self._kept and self._kept[-1][0] == self._last[0]):
            return self._kept
        return [*self._kept, self._last]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The columns by name; `pandas.DataFrame({k: list(v) for k, v in trace.to_arrays().items()})` is a frame."""
        entries = self._entries()
        width = len(entries[0][3]) if entries else 0
        before = np.array([entry[3] for entry in entries]).reshape(len(entries), width)
        after = np.array([entry[4] for entry in entries]).reshape(len(entries), width)
        norms = np.linalg.norm(after, axis=1)
        cosines = np.full(len(entries), np.nan)
        if entries and norms[-1] > 0.0:
            np.divide(after @ after[-1], norms * norms[-1], out=cosines, where=norms > 0.0)
        return {
            "update": np.array([entry[0] for entry in entries], dtype=np.int64),
            "row": np.array([entry[1] for entry in entries], dtype=np.int64),
            "violation": np.array([entry[2] for entry in entries], dtype=np.float64),
            "before": before,
            "after": after,
            "norm": norms,
            "cosine": cosines,
            "margin_bound": np.array([entry[5] for entry in entries], dtype=np.float64),
        }

    def __repr__(self) -> str:
        thinned = f", every {self.stride}th kept" if self.is_thinned else ""
        return f"Trace({self.n_updates} updates, {len(self)} kept{thinned})"
