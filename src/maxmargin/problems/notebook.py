"""The state of a run, written down from time to time, so that another process can go on where one was killed.

Whoever holds state that the rest of a run depends on (a judge, a plan, an algorithm) opens a page: it says how to write
that state down, and gets back what an earlier process wrote there, if one did. The innermost of them says rest() where
all of them could go on from their pages; a copy of the pages is made there, and from time to time it is kept.

    kept = notebook.page("pace", pace.state)      None: from the beginning
    notebook.rest()                               changes nothing in the run

Pages lie on each other: whoever opens one again, as a plan does for its next algorithm, tears out those above it.
A run of many two-class problems has a record for each: all pages of the one at hand and, of those that have ended, the
pages that last and how they ended.

A state has names and values: numbers, flags, texts, and arrays. Arrays of int64 are numbers of rows (-1: none).
What an earlier process wrote is compared with what this one would write: other names, types or shapes are refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.problems.protocol import Iterate

State = dict[str, Any]
Record = dict[str, State]

SHORTEST_REST = 0.05  # seconds between two copies: a copy costs less than the sweeps between
DETAIL = "details."  # how names begin that need not be there
END = "end"


class NotebookError(ValueError):
    """What an earlier process wrote does not fit this run."""


class Notebook:
    """`keep` is called with the records every so many seconds; without it, nothing is written."""

    def __init__(
        self,
        keep: Callable[[list[Record]], None] | None = None,
        every: float = 60.0,
        earlier: list[Record] | None = None,
    ) -> None:
        self.keep, self.every, self.earlier = keep, every, list(earlier or ())
        self.ended: list[Record] = []
        self.latest: list[Record] | None = None
        self.pages: dict[str, tuple[Callable[[], State], bool]] = {}
        self.kept: Record = {}
        self.is_closed = keep is None  # no more is written: a problem was left before its end
        self.is_open = False
        self.copied = self.written = time.perf_counter()

    def turn_to(self, problem: int, n_rows: int) -> None:
        """The next two-class problem begins."""
        self.is_closed = self.is_closed or self.is_open
        if self.is_closed:
            return
        self.pages, self.n_rows, self.is_open = {}, n_rows, True
        self.kept = self.earlier[problem] if problem < len(self.earlier) else {}

    def page(
        self, name: str, state: Callable[[], State], *, lasting: bool = False, growing: tuple[str, ...] = ()
    ) -> State | None:
        """What an earlier process wrote on this page. `growing` are arrays that may have any length."""
        if self.is_closed:
            return None
        names = list(self.pages)
        if name in self.pages:
            for above in names[names.index(name) :]:
                del self.pages[above]
        self.pages[name] = state, lasting
        kept = self.kept.pop(name, None)
        if kept is not None:
            compare(name, kept, state(), growing, self.n_rows)
        return kept

    def rest(self, *, innermost: bool = True) -> None:
        """Here, everybody could go on from their pages. Not innermost: and others, by pages that they are to open."""
        if self.is_closed or (self.kept and not innermost):
            return
        self.check_all_read()
        now = time.perf_counter()
        if self.latest is not None and now - self.copied < SHORTEST_REST:
            return
        self.latest = [*self.ended, {name: copied(state()) for name, (state, _) in self.pages.items()}]
        self.copied = now
        self.write_if_due()

    def check_all_read(self) -> None:
        if self.kept:
            raise NotebookError(f"it has a page {next(iter(self.kept))[:40]!r}, which this run does not have")

    def write_if_due(self) -> None:
        if time.perf_counter() - self.written >= self.every:
            self.write()

    def write(self) -> None:
        """Keep the last copy, if there is a new one."""
        if self.keep is not None and self.latest is not None:
            self.keep(self.latest)
            self.latest, self.written = None, time.perf_counter()

    def end_of(self, n_columns: int) -> tuple[Iterate, str] | None:
        """How this problem ended in an earlier process, if it did; its lasting pages have been opened by now."""
        kept = None if self.is_closed else self.kept.pop(END, None)
        if kept is None:
            return None
        nothing = Iterate(np.zeros(n_columns), 0.0, np.zeros(self.n_rows), False, 0, 0, {})
        compare(END, kept, state_of_end(nothing, ""), ("w", "a"), self.n_rows)
        iterate = iterate_in(kept)
        self.note_end(iterate, kept["status"])
        return iterate, kept["status"]

    def end(self, iterate: Iterate, status: str) -> None:
        """This problem has ended by itself."""
        if not self.is_closed:
            self.note_end(iterate, status)
            self.write_if_due()

    def note_end(self, iterate: Iterate, status: str) -> None:
        self.check_all_read()
        record = {name: copied(state()) for name, (state, lasting) in self.pages.items() if lasting}
        self.ended.append({**record, END: copied(state_of_end(iterate, status))})
        self.latest, self.is_open = list(self.ended), False


def state_of(iterate: Iterate) -> State:
    """A iterate on a page; of its details the plain ones."""
    plain = (bool, int, float, str, np.floating, np.ndarray)
    details = {DETAIL + name: value for name, value in iterate.details.items() if isinstance(value, plain)}
    return {
        "w": iterate.w,
        "b": float(iterate.b),
        "a": iterate.a,
        "proposes": bool(iterate.proposes),
        "updates": int(iterate.updates),
        "sweeps": int(iterate.sweeps),
        **details,
    }


def state_of_end(iterate: Iterate, status: str) -> State:
    return {**state_of(iterate), "status": status}


def iterate_in(state: State) -> Iterate:
    """The way back."""
    details = {name.removeprefix(DETAIL): value for name, value in state.items() if name.startswith(DETAIL)}
    w, b, a, proposes, updates, sweeps = (state[name] for name in ("w", "b", "a", "proposes", "updates", "sweeps"))
    return Iterate(w, b, a, proposes, updates, sweeps, details)


def state_of_random(random: np.random.Generator) -> State:
    """The state of a generator of the usual kind, PCG64."""
    own: Any = random.bit_generator.state
    return {
        "random": own["state"]["state"],
        "stream": own["state"]["inc"],
        "has_half": bool(own["has_uint32"]),
        "half": own["uinteger"],
    }


def put_random(random: np.random.Generator, kept: State) -> None:
    """The way back; `inc` is odd in every generator."""
    words = {"state": kept["random"] % 2**128, "inc": kept["stream"] % 2**128 | 1}
    half = {"has_uint32": int(kept["has_half"]), "uinteger": kept["half"] % 2**32}
    random.bit_generator.state = {"bit_generator": "PCG64", "state": words, **half}


def copied(state: State) -> State:
    """Values that no longer change, as Python's own numbers or arrays."""
    return {name: plain(value) for name, value in state.items()}


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    return value.item() if isinstance(value, np.generic) else value


def compare(page: str, kept: State, own: State, growing: tuple[str, ...], n_rows: int) -> None:
    """Whether what was kept can be a state of this run."""
    for name in own:
        if name not in kept and not name.startswith(DETAIL):
            raise NotebookError(f"its page {page!r} says nothing of {name!r}")
    for name, value in kept.items():
        if name not in own and not name.startswith(DETAIL):
            raise NotebookError(f"its page {page!r} has {name[:40]!r}, which this run does not know")
        is_right = fits(value, plain(own[name]), name in growing, n_rows) if name in own else fits_a_detail(value)
        if not is_right:
            raise NotebookError(f"{name!r} of its page {page!r} cannot be of this run")


def fits(value: Any, own: Any, may_grow: bool, n_rows: int) -> bool:
    if not isinstance(own, np.ndarray):
        return type(value) is type(own)
    if not isinstance(value, np.ndarray) or value.dtype != own.dtype or value.ndim != own.ndim:
        return False
    if own.dtype == np.int64:
        return are_rows(value, n_rows)
    skipped = 1 if may_grow else 0
    return bool(value.shape[skipped:] == own.shape[skipped:])


def are_rows(numbers: NDArray[Any], n_rows: int) -> bool:
    return bool(numbers.size == 0 or (numbers.min() >= -1 and numbers.max() < n_rows))


def fits_a_detail(value: Any) -> bool:
    return isinstance(value, bool | int | float | str) or (isinstance(value, np.ndarray) and value.dtype == np.float64)


BLANK = Notebook()
