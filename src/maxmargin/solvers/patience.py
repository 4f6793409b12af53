"""When a solver hands over: its gap is extrapolated, and compared with what the next one would cost.

Coordinate descent is unbeatable where C |x|^2 is small or the rows are long and sparse, and hopeless on
ill-conditioned columns at a large C; which of the two it is shows in how its gap falls, often in the first sweeps: from
1 to 1/2 in the one case, to 0.99 in the other. The interior point costs about as many steps on any data. So sweeps
begin, and hand over where the passes made and those needed are more than 3/2 of the patience, or what is needed after
that is more than half of it:

    needed = (p - p') log(gap / tol) / log(gap' / gap)  >  max(3/2 - p / patience, 1/2) * patience

p passes over the rows have been made, p' is a quarter of it, where the gap was gap'; `patience` are the passes that the
next solver would cost. A sweep over fewer rows costs less: p - p' counts as if as many rows had been active since then
as are now and, while they still become fewer fast, more than half of the patience is spent first.

The gap also stays near 1 where rows are about to leave, and falls when few are left. No row leaves before the third
sweep, but the objective tells: where after two sweeps it is small beside that of w = 0, the classes are nearly apart,
and where a class is rare, few rows of the other one can matter. There nothing is decided in the first five passes,
unless the gap is falling already; everywhere else one that does not fall is left after two.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import SoftMargin

LOOK_BACK = 0.25  # of the passes: the gap fell since then
TOGETHER, LEFT = 1.5, 0.5  # of the patience: passes made and needed; those needed, whatever was made
FALLING = 0.75  # of the rows that were active then: if fewer are now, sweeps are still gaining speed
DECIDED = 0.6  # of the patience: from there on that is not waited for
FIRST = 2.0  # passes: before, nothing is decided; the first one begins at w = 0
LATER, SOON = 5.0, 0.2  # passes, and of the patience at most: the same where many rows may leave
LITTLE = 0.25  # of the objective of w = 0
HARDLY_FALLEN = 0.65  # a gap: below, it may be extrapolated
RARE, LONGER = 0.08, 4.0  # of the costs; how much longer the path of a rare class becomes at most
NOTHING_SEEN = ((0.0, 1.0, 1.0),)  # passes, gap, share of active rows: an optimum is known not to be negative


class Patience(NamedTuple):
    """The work that the next solver would need, in passes over the rows; the objective below which it is likely that
    many rows leave; and how many times as much it would need there."""

    passes: float
    little: float = math.inf
    apart: float = 1.0


UNLIMITED = Patience(math.inf)


def patience_for(problem: SoftMargin, passes: float, apart: float = 1.0) -> Patience:
    """Of a path that costs so many passes where both classes are frequent and not nearly apart: a rare one makes it
    longer."""
    plus, total = float(problem.costs[problem.signs > 0.0].sum()), float(problem.costs.sum())
    least = min(plus, total - plus)
    if least <= RARE * total:
        return Patience(apart * passes * min(LONGER, math.sqrt(RARE * total / least) if least > 0.0 else LONGER))
    return Patience(passes, LITTLE * (2.0 * least if problem.fit_intercept else total), apart)


def has_run_out(patience: Patience, iterate: Iterate, tol: float, seen: list[tuple[float, float, float]]) -> bool:
    """Whether the solver should hand over now; its progress is added to `seen`."""
    if iterate.passes <= seen[-1][0] or not tol < iterate.gap < math.inf:
        return False
    share = iterate.active / len(iterate.a) if iterate.active > 0 else 1.0
    seen.append((iterate.passes, min(iterate.gap, seen[-1][1]), share))  # after a face step the gap may be larger
    return looks_hopeless(seen, tol, patience, objective(iterate.gap, iterate.dual))


def objective(gap: float, dual: float) -> float:
    """P, of the gap (P - D) / P and D: 0 where they are not known."""
    return dual / (1.0 - gap) if gap < 1.0 and dual > 0.0 else 0.0


def looks_hopeless(
    seen: list[tuple[float, float, float]], tol: float, patience: Patience, cost: float = 0.0
) -> bool:  # fmt: skip
    """Whether what was seen of the passes, the gap and the share of active rows asks for more than the next solver
    does; `cost` is the objective of the last planes."""
    (passes, gap, _), are_apart = seen[-1], cost <= patience.little
    most = patience.passes * (patience.apart if are_apart else 1.0)
    if passes < (min(LATER, SOON * most) if are_apart and gap > HARDLY_FALLEN else FIRST):
        return False
    return passes_needed(seen, tol, passes < DECIDED * most) > max(TOGETHER * most - passes, LEFT * most)


def passes_needed(seen: list[tuple[float, float, float]], tol: float, may_wait: bool = False) -> float:
    """How many more, if the gap goes on to fall as it did over the last three quarters of the passes; 0 if it is too
    early to say, where one may wait."""
    passes, gap, share = seen[-1]
    before, gap_before, share_before = max(entry for entry in seen if entry[0] <= LOOK_BACK * passes)
    if may_wait and share < FALLING * share_before:
        return 0.0
    if gap >= gap_before:
        return math.inf
    since = [entry[2] for entry in seen if entry[0] > before]
    made = (passes - before) * min(1.0, share * len(since) / sum(since))
    return made * math.log(gap / tol) / math.log(gap_before / gap)
