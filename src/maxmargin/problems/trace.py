"""A record of a run: one line per update, in bounded memory.

When more than `limit` updates have been kept, or more than `MOST_NUMBERS` numbers, every second update is dropped and
from then on only every second, fourth, eighth ... one is kept: `stride` says which. The first update always stays, and
the last one is added.

What the run was about, and how it ended, is its `Subject`: with it the record can be drawn, written and read back by
somebody who has neither the data nor the estimator (`trace_files`).
"""

from __future__ import annotations

import os
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Matrix, Vector, is_sparse
from maxmargin.problems.run_record import Entry, Phase, Subject

MOST_NUMBERS = 2**24  # of planes: 128 MB
MOST_NUMBERS_OF_ROWS = 2**21  # of the table: 16 MB; of a larger one, some rows


class UpdateObserver(Protocol):
    """Who looks at single updates of a run. The solver makes those in one go that nobody asks for."""

    @property
    def until_next(self) -> int:
        """How many updates may be made before the next one that is asked for."""

    def begin_phase(self, tried: float) -> None:
        """A search begins a run with this number: the guess of a margin, or Winnow's epsilon."""

    def skip(self, updates: int) -> None:
        """So many were made."""

    def append(self, row: int, violation: float, before: Vector, after: Vector, bound: float, a: Vector) -> None:
        """The one that was asked for; `a` are the weights of the rows after it, the solver's own."""


class Trace:
    """The updates of a run. Made by `record=True`, or by you, to choose the limit: `record=Trace(limit=500)`.

    For each update that is kept: its number, the row, the violation (the functional margin y(w.x + b) before the
    update, or in a margin perceptron the distance that was too short), the weights before and after (a bias is
    their last entry), their norm, the cosine to the last plane, and the bound so far: the best margin is at most
    |w_t| / t, because the updates so far are a dual point. Stochastic steps are visits, whether they found a violation
    or not, and bound nothing. In the space of a kernel the weights are the coefficients of the rows. Where a number is
    searched, `phases` has the runs of the search, each with the number that it tried.

    `to_html` writes a page that steps through the run, which is also what a notebook shows; `to_json` writes all of it,
    to be read back by `from_json`, and `to_csv` a table with a line for each update.

    Parameters
    ----------
    limit : int, default=10000
        How many updates are kept, at least 2: a longer run is thinned out.

    Examples
    --------
    >>> from maxmargin import Perceptron, Trace
    >>> trace = Perceptron(record=True).fit([[1, 2], [2, 1], [-1, -1]], [1, 1, 0]).trace_
    >>> Trace.from_json(trace.to_json()).to_arrays()["after"].tolist() == trace.to_arrays()["after"].tolist()
    True
    """

    subject: Subject | None = None  # what the run was about, once it has ended

    def __init__(self, limit: int = 10_000) -> None:
        if isinstance(limit, bool | np.bool_) or limit < 2:
            raise ValueError(f"a trace keeps at least 2 updates, limit={limit} was given")
        self.limit = limit
        self.clear()

    def clear(self) -> None:
        """Forget everything: a new run starts."""
        self.stride = 1
        self.n_updates = 0
        self.subject = None
        self.phases: list[Phase] = []
        self._kept: list[Entry] = []
        self._last: Entry | None = None

    def begin_phase(self, tried: float) -> None:
        """A search tries another number from here on.

        Parameters
        ----------
        tried : float
            The number: in a margin perceptron the guess of the margin.
        """
        self.phases.append(Phase(tried, self.n_updates + 1))

    @property
    def until_next(self) -> int:
        """None may be left out: each may be the last."""
        return 0

    def skip(self, updates: int) -> None:
        """Count updates that are not kept.

        Parameters
        ----------
        updates : int
            How many were made.
        """
        self.n_updates += updates

    def append(self, row: int, violation: float, before: Vector, after: Vector, bound: float, a: Vector) -> None:
        """Add one update.

        Parameters
        ----------
        row : int
            The row that it learnt from.
        violation : float
            Its functional margin before the update.
        before, after : ndarray
            The weights before and after, with the bias as their last entry; they are copied.
        bound : float
            What the updates so far prove: the best margin is at most this.
        a : ndarray
            The weights of the rows; they are not kept.
        """
        self.n_updates += 1
        entry = (self.n_updates, row, violation, before.copy(), after.copy(), bound)
        self._last = entry
        if self.phases:
            phase = self.phases[-1]
            phase.updates, phase.payoff, phase.bound = phase.updates + 1, phase.payoff + violation, bound
        if (self.n_updates - 1) % self.stride:
            return
        self._kept.append(entry)
        if len(self._kept) >= max(2, min(self.limit, MOST_NUMBERS // (2 * len(after) + 1))):
            del self._kept[1::2]
            self.stride *= 2

    @property
    def is_thinned(self) -> bool:
        """Whether updates were left out."""
        return self.stride > 1

    def __len__(self) -> int:
        return len(self._entries())

    def _entries(self) -> list[Entry]:
        if self._last is None or (self._kept and self._kept[-1][0] == self._last[0]):
            return self._kept
        return [*self._kept, self._last]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The columns by name; where a number is searched, "tried" has that of each update.

        `pandas.DataFrame({k: list(v) for k, v in trace.to_arrays().items()})` is a frame.

        Returns
        -------
        dict of ndarray
            Each has an entry for each update that is kept.
        """
        entries = self._entries()
        width = len(entries[0][3]) if entries else 0
        before = np.array([entry[3] for entry in entries]).reshape(len(entries), width)
        after = np.array([entry[4] for entry in entries]).reshape(len(entries), width)
        norms = np.linalg.norm(after, axis=1)
        cosines = np.full(len(entries), np.nan)
        if entries and norms[-1] > 0.0:
            np.divide(after @ after[-1], norms * norms[-1], out=cosines, where=norms > 0.0)
        numbers = np.array([entry[0] for entry in entries], dtype=np.int64)
        phases = np.searchsorted([phase.first for phase in self.phases], numbers, side="right") - 1
        tried = {"tried": np.array([phase.tried for phase in self.phases])[phases]} if self.phases else {}
        return {
            "update": numbers,
            "row": np.array([entry[1] for entry in entries], dtype=np.int64),
            "violation": np.array([entry[2] for entry in entries], dtype=np.float64),
            "before": before,
            "after": after,
            "norm": norms,
            "cosine": cosines,
            "margin_bound": np.array([entry[5] for entry in entries], dtype=np.float64),
            **tried,
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """All of it as JSON, to the last digit; written to `path` where one is given.

        Parameters
        ----------
        path : str or path-like, default=None
            The file to write; None: none is written.

        Returns
        -------
        str
            The document.
        """
        from maxmargin.problems.trace_files import json_of, written

        return written(json_of(self), path)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """A line for each update that is kept, with the weights after it; written to `path` where one is given.

        Parameters
        ----------
        path : str or path-like, default=None
            The file to write; None: none is written.

        Returns
        -------
        str
            The table.
        """
        from maxmargin.problems.trace_files import csv_of, written

        return written(csv_of(self), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """One page that steps through the run, and needs nothing but itself; written to `path` where one is given.

        Parameters
        ----------
        path : str or path-like, default=None
            The file to write; None: none is written.

        Returns
        -------
        str
            The page.
        """
        from maxmargin.problems.trace_files import written
        from maxmargin.problems.trace_page import page_of

        return written(page_of(self), path)

    def _repr_html_(self) -> str | None:
        """In a notebook a record is its page; before the fit has ended there is none."""
        from maxmargin.problems.trace_page import frame_of

        return None if self.subject is None else frame_of(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Trace:
        """The record that `to_json` wrote. What is none raises a ValueError that says why.

        Parameters
        ----------
        text : str or bytes
            What `to_json` wrote.

        Returns
        -------
        Trace
            With its subject, so that it can be drawn.
        """
        from maxmargin.problems.trace_files import record_in

        read = record_in(text)
        trace = cls.of_entries(read.entries, read.n_updates, read.stride, read.limit)
        trace.phases, trace.subject = read.phases, read.subject
        return trace

    @classmethod
    def of_entries(cls, entries: list[Entry], n_updates: int, stride: int, limit: int) -> Self:
        """The record with these updates.

        Parameters
        ----------
        entries : list of tuple
            For each update that was kept: its number, the row, the violation, the weights before and after, the bound.
        n_updates : int
            How many there were.
        stride : int
            Every how many updates one was kept.
        limit : int
            How many are kept at most.

        Returns
        -------
        Trace
            Without a subject.
        """
        trace = cls(limit)
        trace.n_updates, trace.stride, trace._kept = n_updates, stride, entries
        trace._last = entries[-1] if entries else None
        return trace

    def __repr__(self) -> str:
        thinned = f", every {self.stride}th kept" if self.is_thinned else ""
        return f"Trace({self.n_updates} updates, {len(self)} kept{thinned})"


def some_rows(X: Matrix, of_updates: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of the rows that a record keeps: all, or some, evenly spread, and those of the updates."""
    n, most = X.shape[0], MOST_NUMBERS_OF_ROWS // max(1, X.shape[1])
    if n <= most:
        return np.arange(n)
    own = np.unique(of_updates)[:most]
    spread = np.linspace(0, n - 1, max(0, most - len(own))).astype(np.int64)
    return np.union1d(own, spread)


def dense(X: Matrix, places: NDArray[np.int64]) -> NDArray[np.float64]:
    """These rows, in a matrix of their own."""
    rows = X[places]
    return np.array(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
