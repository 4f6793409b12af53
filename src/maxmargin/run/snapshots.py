"""A run that is kept, so that another process can go on with it.

Whoever drives a solver opens the state of the run (`problems.protocol`), which holds all others within it, and says
where it is at rest: a copy is made there and, from time to time, kept. A run of many two-class problems has a record
for each:

    one after the other    turn_to, open, at_rest ..., end      of those that have ended, what lasts; a copy of this one
    side by side           take_up, at_rest_side_by_side ...    the last copy of each
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from maxmargin.problems.protocol import Record, State, restore, snapshot
from maxmargin.run.control import RunState

SHORTEST_REST = 0.05  # seconds between two copies: a copy costs less than the sweeps between


class Snapshots:
    """`keep` is called with the records every so many seconds."""

    def __init__(
        self, keep: Callable[[list[Record]], None], every: float = 60.0, earlier: list[Record] | None = None
    ) -> None:
        self.keep, self.every, self.earlier = keep, every, list(earlier or ())
        self.ended: list[Record] = []
        self.latest: list[Record] | None = None
        self.state: RunState | None = None  # of the problem at hand, once its run has begun
        self.resumed: Record = {}  # what an earlier process kept of it
        self.copies: dict[State, Record] = {}  # of states that advance side by side; of one not begun: nothing
        self.is_under_way = False  # a problem has begun, and not ended
        self.is_given_up = False  # no more is kept: a problem was left before its end
        self.copied = self.written = time.perf_counter()

    def turn_to(self, problem: int) -> None:
        """The next two-class problem begins."""
        self.is_given_up = self.is_given_up or self.is_under_way
        if not self.is_given_up:
            self.state, self.is_under_way = None, True
            self.resumed = self.earlier[problem] if problem < len(self.earlier) else {}

    def open(self, state: RunState) -> bool:
        """The run begins, from where an earlier process left it; whether it has ended there.

        A run within a run, such as the question whether a plane exists, is not kept.
        """
        if self.is_given_up or not self.is_under_way or self.state is not None:
            return False
        self.state = state
        if self.resumed:
            ended = self.resumed.get("status", "") != ""
            restore(state, self.resumed, state.n_rows, ended=ended)
            if ended:
                self.note_end()
                return True
        return False

    def at_rest(self, state: RunState) -> None:
        """Here, another process could go on from the state."""
        if state is not self.state or self.is_given_up:
            return
        now = time.perf_counter()
        if self.latest is not None and now - self.copied < SHORTEST_REST:
            return
        self.latest, self.copied = [*self.ended, snapshot(state)], now
        self.write_if_due()

    def take_up(self, states: Sequence[State], n_rows: int) -> None:
        """These advance side by side, from where an earlier process left them."""
        self.copies = {state: {} for state in states}
        for state, kept in zip(states, self.earlier, strict=False):
            if kept:
                restore(state, kept, n_rows)
                self.copies[state] = kept

    def at_rest_side_by_side(self, states: Sequence[State]) -> None:
        """Here, another process could go on from these, and from where the others last were at rest."""
        if not self.is_given_up:
            self.copies.update({state: snapshot(state) for state in states})
            self.latest = list(self.copies.values())
            self.write_if_due()

    def end(self, state: RunState, status: str) -> None:
        """This problem has ended by itself."""
        if state is self.state and not self.is_given_up:
            state.status = status
            self.note_end()
            self.write_if_due()

    def note_end(self) -> None:
        assert self.state is not None
        self.ended.append(snapshot(self.state, ended=True))
        self.latest, self.is_under_way = list(self.ended), False

    def write_if_due(self) -> None:
        if time.perf_counter() - self.written >= self.every:
            self.write()

    def write(self) -> None:
        """Keep the last copy, if there is a new one."""
        if self.latest is not None:
            self.keep(self.latest)
            self.latest, self.written = None, time.perf_counter()
