"""Both sides of the soft margin of rows that are read block by block, each with its error, in one pass.

    primal    P(w, b) = 1/2 |w|^2 + sum_i C_i loss(1 - y_i (w.x_i + b))
    dual      D = t 2l - t^2 / 2 (|V|^2 + B),   V = r+ U+ - r- U-,   l = min(A+, A-),   r = l / A
              A = sum a_i,  U = sum a_i x_i,  B = sum q_i (r a_i)^2  over the rows of each class; t is the best factor

(without a bias r = 1, and A+ + A- stands for 2l). The weights a are told by a rule and a list (`problems.block_margin`)
and are meant as real numbers: a_i = C_i slope(f_i) of the real f_i. A block answers with two vectors and a few sums,
and no vector has the length of the table. With every rounding error against us, as in `duality`:

    sums           k roundings move them by gamma_k of the sum of magnitudes; each join of two blocks is one more
    f_i            within off_i = gamma (|w|.|x_i| + |b| + 1): what a row pays is summed up at f_i, and at f_i + off_i
    a_i            within C_i |slope(f_i +- off_i) - slope(f_i)| <= C_i off_i times the steepest slope of the slope
                   nearby; that of a rule without width jumps: a row within off_i of the jump may have any weight
    V              within r (of U) + |U| (of r), where r lies between quotients of the largest and the least sums

So another machine, whose sums run in another order, confirms bounds that are four errors outwards. A rule without width
should list the rows at its jump: else they cost what they could weigh. Where large numbers cancel, a second pass takes
everything in long doubles, with |w|.|x_i| of each row instead of its bound. All sums run in NumPy's and SciPy's loops.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates import fingerprint
from maxmargin.certificates.duality import (
    LEAST,
    LIGHTEST,
    LONG,
    LONGER,
    OUTWARDS,
    SMALLEST_BEND,
    DualValue,
    no_dual_value,
)
from maxmargin.certificates.passes import (
    length,
    power_below,
    product,
    rounding,
    row_blocks,
    row_lengths,
    total,
    weighted_sum,
)
from maxmargin.data.executor import check_interrupt, join, join_two
from maxmargin.data.table import Matrix, Vector, is_sparse, largest_of, terms_of
from maxmargin.problems.block_margin import Ask, BlockMargin, Facts, OwnRows, PassRun, Rule, SignedBlock, Weights
from maxmargin.problems.losses import Loss

NEARLY = 1.0 + 2.0**-50
WIDEST = 1e100  # a rule, so that no sum with its width leaves float64


class ClassSums(NamedTuple):
    """Sums over the rows of one class: how many carry weight, or might; a_i, a_i x_i, a_i |x_i| and a_i^2 / C_i; and
    what rounding of f_i can do to a_i, a_i x_i and a_i^2 / C_i."""

    rows: int
    weight: Any
    point: NDArray[Any]
    moment: Any
    square: Any
    weight_off: Any
    moment_off: Any
    square_off: Any

    @classmethod
    def nothing(cls, n_columns: int, number: Any) -> ClassSums:
        zero = number(0.0)
        return cls(0, zero, np.zeros(n_columns, dtype=number), zero, zero, zero, zero, zero)

    def and_of(self, other: ClassSums) -> ClassSums:
        return ClassSums(*(one + two for one, two in zip(self, other, strict=True)))


class BothSums(NamedTuple):
    """What some rows say: how many they are, what they pay, and at most; the sums of both classes; the most roundings
    that any term of these went through; the largest number, and which rows they are (`fingerprint`)."""

    rows: int
    loss: float
    moved: float
    in_loss: int
    plus: ClassSums
    minus: ClassSums
    in_classes: int
    largest: float
    digest: int

    def and_of(self, other: BothSums) -> BothSums:
        return BothSums(
            self.rows + other.rows,
            self.loss + other.loss,
            self.moved + other.moved,
            max(self.in_loss, other.in_loss) + 1,
            self.plus.and_of(other.plus),
            self.minus.and_of(other.minus),
            max(self.in_classes, other.in_classes) + 1,
            max(self.largest, other.largest),
            (self.digest + other.digest) % fingerprint.MODULUS,
        )


class Measurement(NamedTuple):
    """A part of the pass. rule None: the plane alone; `closely`: in long doubles, where the machine has them."""

    loss: Loss
    w: Vector
    b: float
    rule: Rule | None
    closely: bool = False

    @property
    def number(self) -> Any:
        return LONG if self.closely and LONGER else np.float64

    def __call__(self, block: SignedBlock, own: OwnRows | None = None) -> BothSums:
        listed = None if own is None else listed_in(block, own, self.loss)
        parts, columns = [], fingerprint.odd(np.arange(block.X.shape[1]))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for rows, part in row_blocks(block.X):
                check_interrupt()
                here = None
                if listed is not None:
                    first, last = np.searchsorted(listed[0], (rows.start, rows.stop))
                    here = listed[0][first:last] - rows.start, listed[1][first:last]
                signs, costs = block.signs[rows], block.costs[rows]
                digest = fingerprint.sum_of_rows(part, block.rows[rows], signs, costs, columns)
                parts.append(self.of_rows(part, signs, costs, here)._replace(digest=digest))
            if not parts:
                nothing = ClassSums.nothing(block.X.shape[1], self.number)
                return BothSums(0, 0.0, 0.0, 0, nothing, nothing, 0, 0.0, 0)
            found: BothSums = join(parts, join_two)
            return found._replace(digest=fingerprint.of_block(block.number, found.digest))

    def of_rows(self, part: Matrix, signs: Vector, costs: Vector, listed: Any) -> BothSums:
        largest = largest_of(part.data if is_sparse(part) else part)
        missing, off = self.missing(part, signs, largest, self.w, self.b)
        plain = missing.astype(np.float64, copy=False)
        off_plain = off + (rounding(1) * np.abs(plain) if self.closely else 0.0)
        loss, in_loss = total(costs * losses_at(self.loss, plain))
        moved, _ = total(costs * losses_at(self.loss, plain + off_plain))
        plus, minus, in_classes = *[ClassSums.nothing(part.shape[1], self.number)] * 2, 0
        if self.rule is not None:
            if self.rule.used and not (self.rule.b == self.b and np.array_equal(self.rule.w, self.w)):
                missing, off = self.missing(part, signs, largest, self.rule.w, self.rule.b)
            slopes, slopes_off = slopes_of(self.rule, self.loss, missing, off)
            if listed is not None:
                slopes[listed[0]], slopes_off[listed[0]] = self.loss.box * listed[1].astype(self.number), 0.0
            plus, in_plus = self.sums(part, signs > 0, slopes, slopes_off, costs, largest)
            minus, in_minus = self.sums(part, signs < 0, slopes, slopes_off, costs, largest)
            in_classes = max(in_plus, in_minus)
        return BothSums(len(signs), float(loss), float(moved), in_loss, plus, minus, in_classes, largest, 0)

    def missing(self, part: Matrix, signs: Vector, largest: float, w: Vector, b: float) -> tuple[Any, Any]:
        """f_i = 1 - y_i (w.x_i + b), and off_i."""
        terms = terms_of(part) + 4
        sizes = product(abs(part), np.abs(w)) if self.closely else length(w, "l1") * largest
        values = product(part, w.astype(self.number, copy=False))
        values += b
        values *= signs
        off = 1.01 * rounding(terms, self.number) * (sizes + abs(b) + 1.0)
        return np.subtract(1.0, values, out=values), np.broadcast_to(off, values.shape)

    def sums(
        self, part: Matrix, members: NDArray[Any], slopes: Any, slopes_off: Any, costs: Vector, largest: float
    ) -> tuple[ClassSums, int]:
        """Of the rows of a class that carry weight, or might, and the roundings."""
        carrying = np.flatnonzero(members & ((slopes > 0.0) | (slopes_off > 0.0) | np.isnan(slopes)))
        chosen, slopes, slopes_off, costs = part[carrying], slopes[carrying], slopes_off[carrying], costs[carrying]
        a, a_off = costs * slopes, costs * slopes_off
        lengths = row_lengths(chosen, power_below(largest))
        weight, roundings = total(a)
        found = ClassSums(
            len(carrying),
            weight,
            weighted_sum(chosen, a),
            total(a * lengths)[0],
            total(a * slopes)[0],
            total(a_off)[0],
            total(a_off * lengths)[0],
            total(a_off * (2.0 * slopes + slopes_off))[0],
        )
        return found, max(roundings, len(carrying) + 1)


def listed_in(block: SignedBlock, own: OwnRows, loss: Loss) -> tuple[NDArray[np.intp], Vector]:
    """Where the listed rows are, and their shares: a ValueError where one is not there, or not in its box."""
    if not loss.is_bounded:
        raise ValueError(f"rows are listed, and the {loss.title} has no largest weight that they could have a share of")
    places, shares = own.places_in(block), own.shares
    outside = ~((shares >= 0.0) & (shares <= 1.0))
    if np.any(outside):
        row = int(np.argmax(outside))
        raise ValueError(
            f"block {block.number}, row {own.rows[row]} has the share {shares[row]:.9g} of its largest weight: "
            "not between 0 and 1"
        )
    return places, shares


def losses_at(loss: Loss, missing: Vector) -> Vector:
    """loss(max(0, missing_i)) of each row."""
    t = np.maximum(0.0, missing)
    if not loss.is_smooth:
        return np.asarray(loss.box * t)
    share = np.minimum(t / loss.bend, loss.box)
    return np.asarray(share * (t - 0.5 * loss.bend * share))


def slopes_of(rule: Rule, loss: Loss, f: NDArray[Any], off: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """a_i / C_i by the rule, and how far the real one may be from it, if the real f_i is within off_i of f_i."""
    zeros = np.zeros_like(f)
    if not rule.used:
        return zeros, zeros.copy()
    if loss.is_smooth:
        near = (f > -off) & (f < NEARLY * loss.knee + off)
        slopes = np.minimum(loss.box, np.maximum(0.0, f) / loss.bend)
        return slopes, np.where(near, np.minimum(loss.box, NEARLY * off / loss.bend), zeros)
    if rule.width == 0.0:
        slopes = np.where(f > 0.0, zeros + loss.box, zeros)
        slopes[np.isnan(f)] = np.nan
        return slopes, np.where(np.abs(f) <= off, loss.box, zeros)
    width = f.dtype.type(rule.width)
    less = width / (2.0 * width + np.abs(f))
    slopes = loss.box * np.where(f > 0.0, 1.0 - less, less)
    nearest = 2.0 * width + np.maximum(0.0, np.abs(f) - off)
    moved = NEARLY * NEARLY * (width / nearest) * (off / nearest)  # off times the steepest slope within off of f
    of_sums = rounding(8, f.dtype) * np.where(f > 0.0, 1.0, less) + LEAST
    return slopes, loss.box * np.minimum(1.0, moved + of_sums)


class ObjectiveValue(NamedTuple):
    """P(w, b) is within `error` of `value`; both are infinite where float64 overflows."""

    value: float
    error: float

    @property
    def upper(self) -> float:
        """Surely at least P(w, b), and confirmed by whoever measures again."""
        return self.value + OUTWARDS * self.error


class BothSides(NamedTuple):
    """What is proven: P of the plane, D of the weights; and of which rows."""

    primal: ObjectiveValue
    dual: DualValue
    n_rows: int
    fingerprint: str

    def finer_of(self, other: BothSides) -> BothSides:
        """Of each side that of the smaller error."""
        primal = min(self.primal, other.primal, key=lambda found: found.error)
        return self._replace(primal=primal, dual=min(self.dual, other.dual, key=lambda found: found.error))

    def could_close(self, tol: float) -> bool:
        """Whether rounding errors alone keep the gap above tol."""
        primal, dual = self.primal, self.dual
        close = primal.value - dual.value <= tol * primal.value
        return close and not primal.upper - dual.lower <= tol * primal.upper


def both_sides(
    problem: BlockMargin, facts: Facts, w: Vector, b: float, weights: Weights | None, *, matters: float = 0.0
) -> PassRun:
    """A run of one pass, or of two if the gap `matters` is missed by rounding errors alone; its result: `BothSides`.

    weights None: the plane alone is measured. A ValueError says what is wrong with the listed rows.
    """
    found = judged(problem, w, (yield measurement(problem, facts.n_blocks, w, b, weights)))
    if found.could_close(matters):
        closer = yield measurement(problem, facts.n_blocks, w, b, weights, closely=True)
        found = found.finer_of(judged(problem, w, closer))
    return found._replace(dual=sure(found.dual))


def measurement(
    problem: BlockMargin, n_blocks: int, w: Vector, b: float, weights: Weights | None, *, closely: bool = False
) -> Ask:
    """The pass that measures the plane and the weights."""
    if weights is not None and not 0.0 <= weights.rule.width <= WIDEST:
        raise ValueError(f"the width of the rule must be from 0 to {WIDEST:g}, not {weights.rule.width}")
    own = {} if weights is None else weights.listed.by_block()
    beyond = [block for block in own if block >= n_blocks]
    if beyond:
        raise ValueError(f"a row of block {beyond[0]} is listed, and there are {n_blocks} blocks")
    return Ask(Measurement(problem.loss, w, b, None if weights is None else weights.rule, closely), own)


def judged(problem: BlockMargin, w: Vector, found: BothSums) -> BothSides:
    """What the sums over all rows prove."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        dual = dual_from(problem.loss, problem.fit_intercept, found)
        return BothSides(objective_from(w, found), dual, found.rows, fingerprint.written(found.digest))


def sure(dual: DualValue) -> DualValue:
    """Nothing, if these numbers can hardly tell it from 0."""
    return (
        dual if dual.error <= 0.5 * dual.value < math.inf or dual.error == 0.0 else no_dual_value(len(dual.w), math.inf)
    )


def objective_from(w: Vector, found: BothSums) -> ObjectiveValue:
    square, in_square = total(w * w)
    half, relative = 0.5 * float(square), 2.0 * rounding(max(in_square, found.in_loss) + 8)
    value = half + found.loss
    error = (found.moved - found.loss) + relative * (found.moved + half) + LEAST * (found.rows + len(w))
    return ObjectiveValue(value, error) if math.isfinite(value + error) else ObjectiveValue(math.inf, math.inf)


class Between(NamedTuple):
    """A real number that is not negative: computed, at least, at most."""

    value: Any
    least: Any
    most: Any

    def over(self, other: Between) -> Between:
        """min(1, this / other)."""
        one = type(self.value)(1.0)
        return Between(
            min(one, self.value / other.value), min(one, self.least / other.most), min(one, self.most / other.least)
        )


def dual_from(loss: Loss, fit_intercept: bool, found: BothSums) -> DualValue:
    """D, with an error that may be larger than itself; see the head of this file."""
    plus, minus = found.plus, found.minus
    number, d = plus.point.dtype.type, len(plus.point)
    share = 1.01 * rounding(found.in_classes + 8, number)
    vanished = LEAST * (found.rows + 2)
    sums = [
        Between(own.weight, own.weight * (1.0 - share) - 1.01 * own.weight_off - vanished,
                own.weight * (1.0 + share) + 1.01 * own.weight_off + vanished)
        for own in (plus, minus)
    ]  # fmt: skip
    one = number(1.0)
    gain, gain_least = (float(sums[0][k] + sums[1][k]) for k in (0, 1))
    scales = [Between(one, one, one)] * 2
    if fit_intercept:
        lighter, heavier = min(sums), max(sums)
        if not LIGHTEST * heavier.value < lighter.value < math.inf or not lighter.least > 0.0:
            return no_dual_value(d, math.inf if plus.rows and minus.rows else 0.0)
        gain, gain_least = float(2.0 * lighter.value), float(2.0 * min(own.least for own in sums))
        scales = [sums[1].over(sums[0]), sums[0].over(sums[1])]
    if not 0.0 < gain < math.inf:
        return no_dual_value(d, math.inf if plus.rows or minus.rows else 0.0)
    w = (scales[0].value * plus.point - scales[1].value * minus.point).astype(np.float64)
    unit = power_below(length(w, "max"))
    parts, in_square = total(np.square(w / unit))
    reach = unit * math.sqrt(parts)
    bend = bend_most = 0.0
    off = LEAST * (found.rows + 2) * (d + 2) * (1.0 + found.largest + gain) + rounding(4) * reach
    for scale, own in zip(scales, (plus, minus), strict=True):
        of_scale = scale.most - scale.least + 4.0 * rounding(1, number)
        off += 1.01 * float(scale.most * (share * own.moment + own.moment_off) + of_scale * own.moment)
        bend += loss.bend * float(scale.value**2 * own.square)
        most = own.square * (1.0 + 4.0 * share) + 1.01 * own.square_off
        bend_most += loss.bend * float(scale.most**2 * (1.0 + share) * most) + 4.0 * LEAST * (found.rows + gain + 1.0)
    if loss.is_smooth and bend < SMALLEST_BEND:
        return no_dual_value(d, math.inf)
    square = reach * reach + bend
    t = gain / square if square > 0.0 else 1.0
    t = min(1.0, t) if loss.is_bounded else t
    value = t * (gain - 0.5 * t * square)
    relative = 2.0 * rounding(in_square + 8)
    farther = reach * (1.0 + relative) + off
    square_most = (farther * farther + bend_most * (1.0 + relative)) * (1.0 + relative) + 4.0 * LEAST
    least = t * (gain_least * (1.0 - relative) - 0.5 * t * square_most * (1.0 + relative) - 4.0 * LEAST)
    error = (value - least) * (1.0 + relative) + relative * value + 4.0 * LEAST
    if not math.isfinite(value + error):
        return no_dual_value(d, math.inf)
    return DualValue(value, error, (t * float(scales[0].value), t * float(scales[1].value)), t * w, t * off)
