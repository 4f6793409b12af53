"""An interior point by passes, one pass a step, without a number kept for a row: where a row is, is replayed.

    path       xi_i - s_i = f_i = 1 - y_i (w.x_i + b),   p_i s_i ~ m,   q_i xi_i ~ m,   p_i + q_i = 1,   m -> 0
    step       dp_i = t_i (r_i - c_i),   c_i = y_i (x_i.dw + db),   t_i = 1 / (s_i/p_i + xi_i/q_i),
               r_i = e_i/p_i - h_i/q_i,   ds_i = (e_i - s_i dp_i) / p_i,   dxi_i = (h_i + xi_i dp_i) / q_i
    plane      (I + X'utX) dw + X'ut1 db = sum u p y x - w + X'(u t r y)
                 1'utX dw + 1'ut1 db     = sum u p y + 1'(u t r y)

as in `interior_point`, with two differences. The first: a row that would leave its bounds is held back by itself,
p, q, s, xi each at HELD of what they were, and all others take the full step. A step that no row can shorten goes
farther, and 20 to 30 of them reach a gap of 1e-6. What a held row does not move, the next step sees in its residual.

The second: no state of rows is kept. A step of row i is a function of the two numbers c_i and m. So the history of
planes is the state: a pass begins at the first plane, and replays all steps for one row after the other. K steps cost
K d multiplications a row, beside d^2 / 2 for the matrix. Nothing has the length of the table, nothing is written, and
it does not matter who has which block. (To begin anew at the plane at hand, instead, loses the way: the p_i satisfy
w = sum u p y x only as they were moved.)

The centre is that of the rule of `problems.block_margin`: where f_i < 0, p_i s_i = m and xi_i = 2m, so that
p_i = m / (2m + |f_i|); where f_i > 0 the other way round. (e_i = m - p_i s_i and h_i = 2 m q_i - q_i xi_i, and so on.)
At the centre the plane and m say all: dual variables of n rows in d + 2 numbers. So the last steps stay at one m, until
the gap of the rule is small, too. That m is chosen so that this gap is AIM of the one that is asked for.

A pass looks at several lengths of the step: the centre is the minimum of

    M(w, b) = 1/2 |w|^2 + sum u_i (max(0, f_i) - m log(1 + |f_i| / 2m))

Where the full step raises M by more than what is left of the path, sum u_i m, the best length is taken in another pass.

Rows are counted by how near they are to the margin: so it is known how wide a band of them would fit into memory.

References: [mehrotra1992], [ferris2002]. Differs: rows are held back one by one; the path is replayed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit
from maxmargin.data.executor import check_interrupt
from maxmargin.data.rows import dot
from maxmargin.data.table import Vector, rows_of
from maxmargin.problems.block_margin import BlockMargin, Rule, SignedBlock
from maxmargin.problems.losses import Loss
from maxmargin.problems.protocol import State, varying
from maxmargin.solvers.by_passes.master import dual_value
from maxmargin.solvers.interior_point.normal_equations import CHUNK, Factor, add_outer_products, padded
from maxmargin.solvers.passes import Square, inner

HELD = 0.1  # of p, q, s, xi: what a row keeps of each in one step, at least
FALL, SLOWER_FALL = 0.15, 0.5  # of m in a step, and after a step that was not a full one
AIM = 0.4  # of the gap that is asked for: 2 sum u m
LENGTHS = np.array([1.0, 0.5, 0.25, 0.1, 0.03, 0.01, 0.003, 0.0])
EXTRAS = 7  # beside each row: 1; y r without and with the target; p and the rule's p of either class, over t
WIDTHS = 2.0 ** (-0.5 * np.arange(80))
MOST_STEPS = 120
SMALL = 0.05  # p or q of a row that is decided
CHUNKS = 64  # of rows, between two checks of the clock


@njit
def walk_and_weigh(
    rows: Any, signs: Any, costs: Any, plane: Any, m: float, planes: Any, targets: Any, taken: Any,
    start: int, stop: int, centre: Any, lengths: Any, widths: Any, held: float, buffer: Any,
    M: Any, sums: Any, merits: Any, within: Any,
) -> None:  # fmt: skip
    """Each row from the first plane, on its centre at m, along the history to where it is; then the sums there.

    plane, planes   w with b at its end; the steps dw with db, their targets m, and which part of them was taken
    sums            += sum u (p s + q xi), sum u max(0, f), sum u, rows that are undecided: neither p nor q is small
    merits          += sum u (max(0, f) - m log(1 + |f| / 2m)) at the lengths of the last step, m being its target
    """
    K, d = planes.shape[0], centre.shape[0]
    index = np.arange(start, stop)
    t, extra = np.empty(CHUNK), np.empty((CHUNK, EXTRAS))
    products, paid, weight, undecided = 0.0, 0.0, 0.0, 0
    last = targets[K - 1] if K > 0 else m
    for first in range(start, stop, CHUNK):
        count = min(CHUNK, stop - first)
        for here in range(count):
            i = first + here
            y, u = signs[i], costs[i]
            f = 1.0 - y * (dot(rows, i, plane) + plane[d])
            if f < 0.0:
                s, xi = 2.0 * m - f, 2.0 * m
                p = m / s
                q = 1.0 - p
            else:
                s, xi = 2.0 * m, 2.0 * m + f
                q = m / xi
                p = 1.0 - q
            for k in range(K):
                c = y * (dot(rows, i, planes[k]) + planes[k, d])
                goal, part = targets[k], taken[k]
                if k == K - 1:
                    for j in range(lengths.shape[0]):
                        at = f - lengths[j] * c
                        merits[j] += u * (max(0.0, at) - goal * np.log1p(abs(at) / (2.0 * goal)))
                e = (goal if f < 0.0 else 2.0 * goal * p) - p * s
                h = (2.0 * goal * q if f < 0.0 else goal) - q * xi
                dp = part * ((p * q / (s * q + xi * p)) * (e / p - h / q - c))
                ds, dxi = (part * e - s * dp) / p, (part * h + xi * dp) / q
                if p + dp < held * p:
                    p = held * p
                    q = 1.0 - p
                elif q - dp < held * q:
                    q = held * q
                    p = 1.0 - q
                else:
                    p, q = p + dp, q - dp
                more = max(0.0, max(held * s - (s + ds), held * xi - (xi + dxi)))
                s, xi = s + ds + more, xi + dxi + more
                f -= part * c
            products += u * (p * s + q * xi)
            paid += u * max(0.0, f)
            weight += u
            undecided += min(p, q) > SMALL
            for j in range(within.shape[0]):
                if abs(f) >= widths[j]:
                    break
                within[j] += 1
            inverse = s / p + xi / q
            t[here] = u / inverse
            less = last / (2.0 * last + abs(f))
            rule = (1.0 - less if f > 0.0 else less) * inverse
            target = 1.0 / p - 2.0 if f < 0.0 else 2.0 - 1.0 / q
            extra[here, 0], extra[here, 1], extra[here, 2] = 1.0, y * (xi - s), y * target
            extra[here, 3], extra[here, 4] = (p * inverse, 0.0) if y > 0.0 else (0.0, p * inverse)
            extra[here, 5], extra[here, 6] = (rule, 0.0) if y > 0.0 else (0.0, rule)
        add_outer_products(rows, index[first - start : first - start + count], centre, t, extra, buffer, M)
    sums[0] += products
    sums[1] += paid
    sums[2] += weight
    sums[3] += undecided


class Walked(NamedTuple):
    """What rows answer where they are: see `walk_and_weigh`."""

    matrix: Square
    sums: Vector
    merits: Vector
    within: NDArray[np.float64]  # rows with |f| below each of WIDTHS

    def and_of(self, other: Walked) -> Walked:
        return Walked(*(one + two for one, two in zip(self, other, strict=True)))


class Walk(NamedTuple):
    """The pass."""

    loss: Loss
    plane: Vector
    m: float
    planes: Square
    targets: Vector
    taken: Vector
    centre: Vector

    def __call__(self, block: SignedBlock) -> Walked:
        n, size = len(block.signs), padded(len(self.centre) + EXTRAS)
        costs, rows, buffer = self.loss.bounds(block.costs), rows_of(block.X), np.zeros((CHUNK, size))
        found = Walked(np.zeros((size, size)), np.zeros(4), np.zeros(len(LENGTHS)), np.zeros(len(WIDTHS)))
        for first in range(0, n, CHUNKS * CHUNK):
            check_interrupt()
            walk_and_weigh(
                rows, block.signs, costs, self.plane, self.m, self.planes, self.targets, self.taken,
                first, min(n, first + CHUNKS * CHUNK), self.centre, LENGTHS, WIDTHS, HELD, buffer, *found,
            )  # fmt: skip
        return found


@dataclass(eq=False)
class Path(State):
    """The first plane and m, and the history since; the last step of it is being tried."""

    plane: Vector = varying()
    centre: Vector = varying()
    m: float = varying()
    planes: Square = varying(grows=True)
    targets: Vector = varying(grows=True)
    taken: Vector = varying(grows=True)
    merit: float = varying(math.inf)  # what 2 sum u m of the path was before the last step

    @classmethod
    def at(cls, w: Vector, b: float, m: float, centre: Vector) -> Path:
        return cls(np.append(w, b), centre, m, np.zeros((0, len(w) + 1)), np.zeros(0), np.zeros(0))

    def here(self) -> tuple[Vector, float]:
        """The plane at hand."""
        plane = self.plane + self.taken @ self.planes if len(self.taken) else self.plane
        return plane[:-1].copy(), float(plane[-1])

    def part(self, loss: Loss) -> Walk:
        return Walk(loss, self.plane, self.m, self.planes, self.targets, self.taken, self.centre)


class Place(NamedTuple):
    """What a pass tells of the plane at hand: P, the rule there and its D, whether the step was
    too long; how many rows are how near the edge, and how many are undecided."""

    primal: float
    rule: Rule
    dual: float
    is_shortened: bool
    within: Vector
    undecided: float


def advance(problem: BlockMargin, path: Path, seen: Walked, primal: float, tol: float) -> Place:
    """Where the path is, and its next step; or, where the last one was too long, as much of it as is best.

    `primal` is the best objective so far.
    """
    d = len(path.centre)
    w, b = path.here()
    products, paid, weight, undecided = (float(total) for total in seen.sums)
    M, centre = seen.matrix, path.centre
    here = 0.5 * inner(w, w) + paid
    last = float(path.targets[-1]) if len(path.targets) else path.m
    by_rule = M[d + 5 : d + 7, : d + 1].copy()
    by_rule[:, :d] += by_rule[:, d:] * centre
    place = Place(here, Rule(w, b, last), dual_value(by_rule, problem.fit_intercept), False, seen.within, undecided)
    if len(path.taken) and path.taken[-1] == 1.0:
        before = path.plane + path.taken[:-1] @ path.planes[:-1]
        change = path.planes[-1]
        squares = [0.5 * inner(at[:d], at[:d]) for at in (before + length * change for length in LENGTHS)]
        merits = seen.merits + np.array(squares)
        if not merits[0] <= merits[-1] + path.merit:
            path.taken[-1] = LENGTHS[int(np.nanargmin(merits[1:-1])) + 1] if np.any(merits == merits) else 0.0
            return place._replace(is_shortened=True)
    mu = products / (2.0 * weight)
    is_full = not len(path.taken) or path.taken[-1] == 1.0
    least = AIM * tol * min(primal, here) / (2.0 * weight)
    target = max((FALL if is_full else SLOWER_FALL) * mu, least)
    signed = M[d + 3, : d + 1] - M[d + 4, : d + 1]
    right = signed + M[d + 1, : d + 1] + target * M[d + 2, : d + 1]
    right[:d] -= w
    matrix = M[: d + 1, : d + 1].copy()
    upper = np.triu_indices(d + 1, 1)
    matrix[upper] = matrix.T[upper]
    matrix[np.arange(d), np.arange(d)] += 1.0
    step = np.zeros(d + 1)
    if problem.fit_intercept:
        matrix[d, d] *= 1.0 + 1e-13
        step[:] = Factor(matrix).solve(right)
        step[d] -= inner(step[:d], centre)
    else:
        step[:d] = Factor(matrix[:d, :d]).solve(right[:d])
    path.planes = np.concatenate([path.planes, [step if np.all(np.isfinite(step)) else np.zeros(d + 1)]])
    path.targets, path.taken = np.append(path.targets, target), np.append(path.taken, 1.0)
    path.merit = weight * mu
    return place
