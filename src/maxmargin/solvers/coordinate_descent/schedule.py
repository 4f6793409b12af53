"""The schedule of coordinate descent: in which order rows are visited, when to ask the judge, when a subspace step
pays, when to give up.

A sweep in a fixed order can be slow for ever, one in random order is not [hsieh2008]. But a table that is larger than
the processor's own memory is read at random at the price of its latency, row by row. So there the active rows are cut
into groups of neighbours, and the groups are visited in random order: a sweep over 5,000,000 rows of 18 numbers takes
half the time. As many sweeps are needed where the rows come in no order, and more of them where like rows lie together.

The sweeps leave a stale gap each. At the end of a sweep the true one is smaller, by about the progress of that
sweep; every evaluation corrects this guess, and the judge is asked when the guess says that tol is reached. It is
also asked on the way, whenever the gap has fallen a hundred times: rows were left out wrongly, and it sees all of them.

A subspace step is made when the sweeps that are left at the present decay cost more than it does:

    log(tol / gap) / log(decay)  *  active rows   >   k  *  iterations  *  free rows  *  cost of an iteration

with k small where nearly all active rows are free, because the face is found, and large elsewhere. Three sweeps later
it is compared with what sweeps of the same cost would have done; if it was no better, the next one waits twice as long.

All of it counts work, not seconds: the same input gives the same steps on every machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin._loops import njit
from maxmargin.problems.protocol import State, varying

TINY = 1e-300
PROGRESS_WITHIN_A_SWEEP = (0.15, 0.7)
CORRECTION = (0.5, 10.0)
ON_THE_WAY = 0.01
SWEEPS_PER_ITERATION = 1.2  # an iteration reads a row twice, one after the other; a sweep reads it once, at random
FIRST_STEP, SHORTEST_WAIT, LONGEST_WAIT = 6, 4, 256
ITERATIONS, MOST_ITERATIONS = 20, 200
NEARLY_ALL = 0.85
FACE_IS_FOUND, FACE_IS_NOT_FOUND = 2.0, 10.0  # k above
FEW_CROSSED = 0.02
JUDGED_AFTER = 3  # sweeps after a subspace step
IDLE_UNTIL_WIDER, IDLE_UNTIL_END = 3, 8  # evaluations in a row that brought nothing
SOMETHING = 0.9


@dataclass(eq=False)
class Schedule(State):
    """What has been seen so far: the gaps of the sweeps, the evaluations, the fate of the last subspace step."""

    tol: float
    gaps: list[float] = varying(factory=lambda: [1.0], grows=True)
    guess: float = varying(1.0)
    correction: float = varying(1.0)
    judged: float = varying(1.0)
    idle: int = varying(0)
    wait: int = varying(SHORTEST_WAIT)
    next_step: int = varying(FIRST_STEP)
    iterations: int = varying(ITERATIONS)
    stepped_at: int = varying(-1)
    expected: float = varying(0.0)

    @property
    def swept(self) -> int:
        return len(self.gaps) - 1

    def see(self, gap: float) -> None:
        """After a sweep: its stale gap."""
        low, high = PROGRESS_WITHIN_A_SWEEP
        progress = min(high, max(low, gap / max(self.gaps[-1], TINY)))
        self.gaps.append(gap)
        self.guess = self.correction * gap * progress
        if self.stepped_at >= 0 and self.swept >= self.stepped_at + JUDGED_AFTER:
            self.wait = SHORTEST_WAIT if gap < self.expected else min(2 * self.wait, LONGEST_WAIT)
            self.next_step, self.stepped_at = self.stepped_at + self.wait, -1

    @property
    def should_ask(self) -> bool:
        return self.guess <= max(self.tol, ON_THE_WAY * self.judged)

    def learn(self, gap: float) -> None:
        """After an evaluation."""
        low, high = CORRECTION
        self.correction = min(high, max(low, self.correction * gap / max(self.guess, TINY)))
        self.idle = 0 if gap < SOMETHING * self.judged else self.idle + 1
        self.judged = min(gap, self.judged)

    @property
    def should_look_wider(self) -> bool:
        return self.idle >= IDLE_UNTIL_WIDER

    @property
    def is_at_its_end(self) -> bool:
        """Asking brings nothing any more: what is left is rounding."""
        return self.idle >= IDLE_UNTIL_END

    @property
    def decay(self) -> float:
        """The factor by which one sweep lowers the gap, of late."""
        return min(0.999, math.pow(max(TINY, self.gaps[-1] / max(self.gaps[-5], TINY)), 0.25))

    @property
    def may_step(self) -> bool:
        """Whether it is time to think of a subspace step."""
        return self.swept >= self.next_step and self.stepped_at < 0 and self.gaps[-1] > self.tol

    def subspace_iterations(self, active: int, free: int) -> int:
        """How many iterations a subspace step may make now; 0: none."""
        if not self.may_step or free < 2:
            return 0
        left = math.log(self.tol / self.gaps[-1]) / math.log(self.decay)
        k = FACE_IS_FOUND if free >= NEARLY_ALL * active else FACE_IS_NOT_FOUND
        return self.iterations if left * active > k * SWEEPS_PER_ITERATION * self.iterations * free else 0

    def stepped(self, iterations: int, crossed: int, active: int, free: int) -> None:
        """After a subspace step: what sweeps at its cost would have reached, and whether the next one may be longer."""
        sweeps = SWEEPS_PER_ITERATION * iterations * free / max(1, active) + JUDGED_AFTER
        self.stepped_at, self.expected = self.swept, self.gaps[-1] * self.decay**sweeps
        if crossed < FEW_CROSSED * free and iterations >= self.iterations:
            self.iterations = min(MOST_ITERATIONS, self.iterations * 3 // 2)


FAST_MEMORY = 12_000_000  # bytes: up to here a random order costs nothing
ROW = 10  # numbers: what a row costs a sweep beside its own numbers
NUMBERS_OF_A_ROW = 6  # that a sweep reads beside the row: a, y, u, q, the curvature, its place in the order
TOGETHER = 16  # rows: more of them gain little, and sweeps are wasted on rows that are alike


def rows_together(n_rows: int, n_bytes: int) -> int:
    """How many neighbours to visit together in a table of so many bytes."""
    return TOGETHER if n_bytes + 8 * NUMBERS_OF_A_ROW * n_rows > FAST_MEMORY else 1


@njit
def shuffle(order: Any, random: Any) -> None:
    """Fisher and Yates, with the xorshift generator whose state is random[0]."""
    state = random[0]
    for k in range(order.shape[0] - 1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        left = np.uint64(order.shape[0] - k)
        other = k + np.int64(((state >> np.uint64(32)) * left) >> np.uint64(32))
        order[k], order[other] = order[other], order[k]
    random[0] = state


@njit
def shuffled_groups(rows: Any, together: int, random: Any) -> Any:
    """The rows, given in ascending order, in groups of neighbours that follow each other at random."""
    groups = np.arange((rows.shape[0] + together - 1) // together)
    shuffle(groups, random)
    order = np.empty_like(rows)
    filled = 0
    for group in groups:
        for k in range(group * together, min(rows.shape[0], (group + 1) * together)):
            order[filled] = rows[k]
            filled += 1
    return order


@njit
def in_ascending_order(rows: Any, n_rows: int) -> Any:
    """The same rows; faster than sorting where they are a large part of the table."""
    is_here = np.zeros(n_rows, np.bool_)
    for i in rows:
        is_here[i] = True
    ascending = np.empty_like(rows)
    filled = 0
    for i in range(n_rows):
        if is_here[i]:
            ascending[filled] = i
            filled += 1
    return ascending
