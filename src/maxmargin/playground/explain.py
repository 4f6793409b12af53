"""Each step in words: the rule by which it was made, its arithmetic with the numbers of the run, and what holds of its
plane, measured on the points: beside its picture nothing is said of another plane.

hard margin and mistakes    the margin min_i y_i f(x_i) / |w|, or how many rows are on the wrong side or the plane
soft margin                 the objective 1/2 |w|^2 + C sum_i loss(1 - y_i f(x_i)) as well
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.passes import length, soft_gap
from maxmargin.data.table import Vector
from maxmargin.playground.fits import Fit
from maxmargin.playground.messages import State
from maxmargin.plots.shapes import Points, hull_points
from maxmargin.problems.losses import HINGE, loss_named
from maxmargin.problems.step_lengths import DAMPED, PEGASOS, inverse_scaling
from maxmargin.run.observation import Update
from maxmargin.solvers.registry import SOLVERS

Words = tuple[str, list[str]]  # the rule, the lines of its arithmetic

PAIRS = "Pairs of dual variables that violate the conditions most go to their best values (SMO)."


def rule_of(solver: str) -> str:
    """What a round of the named solver does; in the space of a kernel there is only one."""
    known = (each[solver].sentence for each in SOLVERS.values() if solver in each)
    return next(known, PAIRS if solver == "pairs" else "One round of the solver.")


class Plane(NamedTuple):
    """w.x + b = 0; where a kernel bends it, w are the coefficients of the rows."""

    w: Vector
    b: float


def values_explained(fit: Fit, primal: float, dual: float) -> list[str]:
    """What is proven after a round."""
    hard = "C" not in fit.state.parameters or math.isinf(fit.state.parameters["C"])
    cost = "" if hard else " + C sum loss"
    l1 = fit.state.parameters.get("norm") == "l1"
    if math.isinf(dual):
        return ["dual: as large as one likes, so that no plane separates the classes"]
    if math.isinf(primal):
        return ["primal: no plane so far separates the classes", f"dual: {number(dual)}, below which no plane comes"]
    lines = [
        f"primal: {'|w|_1' if l1 else '1/2 |w|²'}{cost} = {number(primal)} of the best plane so far",
        f"dual: {number(dual)}, below which no plane comes",
        f"gap (P - D) / P = {number(soft_gap(primal, dual))}",
    ]
    if hard and fit.state.parameters.get("kernel", "linear") == "linear":
        margin = 1.0 / primal if l1 else 1.0 / math.sqrt(2.0 * primal)
        lines.append(f"so the margin is at least {number(margin)}")
    return lines


class Corral(NamedTuple):
    """The rows that span the nearest points of the hulls so far, their weights, and who came and went in this step.

    nearest   the two points p and q; through the origin, the point of the hull of all y x, and the origin
    """

    rows: list[int]
    weights: Vector
    nearest: Points
    entered: list[int]
    left: list[int]
    is_first: bool
    meets: bool

    @classmethod
    def of(cls, fit: Fit, a: Vector, meets: bool, before: Corral | None) -> Corral:
        points, signs, rows = fit.state.points, fit.state.signs, np.flatnonzero(a)
        if fit.state.parameters["fit_intercept"]:
            nearest = hull_points(points[rows], signs[rows], a[rows])
        else:
            nearest = np.array([(signs[rows] * a[rows]) @ points[rows] / a[rows].sum(), np.zeros(2)])
        old = [] if before is None else before.rows
        entered = [row for row in rows.tolist() if row not in old]
        left = [row for row in old if row not in rows]
        return cls(rows.tolist(), a[rows], nearest, entered, left, before is None, meets)


def by_entering(fit: Fit, corral: Corral) -> Words:
    """A major step of Wolfe's algorithm: a row enters the corral, and those leave whose weight vanishes."""
    (p, q), has_bias = corral.nearest, fit.state.parameters["fit_intercept"]
    distance = math.hypot(*(p - q))
    hulls = "the hulls" if has_bias else "the hull of all y x and the origin"
    if corral.is_first:
        begin = "a row of each class" if has_bias else "a row"
        rule = f"Wolfe's algorithm begins with {begin}, and seeks the nearest points of {hulls}."
    elif corral.entered or corral.left:
        inside = "it lies farther inside the street than any other row of its class"
        enters = [f"{rows_in_words(corral.entered)} enters the corral: {inside}"] if corral.entered else []
        leaves = [f"{rows_in_words(corral.left)} leaves: its weight came to 0"] if corral.left else []
        rule = f"{'. '.join(enters + leaves)}."
    else:
        rule = "All rows were looked at, and those inside the street join the rows that may enter."
    span = ", ".join(f"{row} with {number(weight)}" for row, weight in zip(corral.rows, corral.weights, strict=True))
    ends = f"p = {vector(p)} and q = {vector(q)}" if has_bias else f"p = {vector(p)}"
    bound = "no street is wider, and no margin above half of it" if has_bias else "no margin is larger"
    length_of = f"|p{' - q' if has_bias else ''}| = {number(distance)}"
    return rule, [f"corral: row {span}", ends, f"{length_of}: {'they meet' if corral.meets else bound}"]


def rows_in_words(rows: list[int]) -> str:
    return f"Row {rows[0]}" if len(rows) == 1 else f"Each of the rows {', '.join(map(str, rows))}"


def explained(fit: Fit, update: Update, before: Plane, after: Plane) -> Words:
    """An update, by the rule of its algorithm."""
    explain = {
        "perceptron": by_mistake,
        "margin_perceptron": by_distance,
        "winnow": by_multiplying,
        "kernel_perceptron": by_counting,
        "stochastic_svm": by_descending,
    }
    return explain[fit.state.algorithm.name](fit, update, before, after)


def by_mistake(fit: Fit, update: Update, before: Plane, after: Plane) -> Words:
    row, rate, size = update.row, fit.state.parameters["rate"], length_of(fit, update.row)
    over = f", divided by {number(size)}, the length of the row" if size != 1.0 else ""
    rule = f"Row {row} is a mistake, y (w.x + b) <= 0: w moves by rate y x{biased(fit, ', b by rate y')}{over}."
    product = product_line(fit, row, before, f"= {number(update.violation * size)} <= 0")
    return rule, [product, *addition(fit, row, before, after, rate / size)]


def by_distance(fit: Fit, update: Update, before: Plane, after: Plane) -> Words:
    row, guess, own = update.row, fit.recording.phase_of(update.number), length_of(fit, update.row)
    q = math.sqrt(fit.state.parameters["share"])
    part = "G/2" if q == 0.5 else f"{number(q)} G"
    lifted = "|(w, b)|" if fit.state.parameters["fit_intercept"] else "|w|"
    size = math.hypot(*before.w, before.b)
    over = f", divided by {number(own)}, the length of the row" if own != 1.0 else ""
    rule = f"Row {row} is nearer to the plane than {part}: w moves by y x{biased(fit, ', b by y')}{over}."
    lines = [f"G = {number(guess)}, {tried(fit, 'guess', guess)}"]
    if size == 0.0:
        lines.append("w = 0: a phase begins, and every row is a violation")
    else:
        lines += [
            product_line(fit, row, before, f"= {number(update.violation * size * own)}"),
            f"divided by {lifted} = {number(size)}{f' and {number(own)}' if own != 1.0 else ''}: "
            f"{number(update.violation)} < {part} = {number(q * guess)}",
        ]
    return rule, [*lines, *addition(fit, row, before, after, 1.0 / own)]


def by_multiplying(fit: Fit, update: Update, before: Plane, after: Plane) -> Words:
    row, eta = update.row, fit.recording.phase_of(update.number)
    has_bias, own = fit.state.parameters["fit_intercept"], fit.state.parameters.get("normalize_rows", False)
    epsilon, s = -math.expm1(-eta), float(np.abs(fit.state.points[row] if own else fit.state.points).max())
    s = max(s, 1.0) if own and has_bias else s or 1.0
    lifted = [*(fit.state.signs[row] * fit.state.points[row] / s)]
    lifted += [float(fit.state.signs[row]) / (s if own else 1.0)] if has_bias else []
    factors = [(1.0 - epsilon) ** -a for a in lifted]
    rule = f"Row {row} is a mistake, w.a <= 0: each weight is multiplied by (1 - epsilon)^(-a_j)."
    inside = ("(x, 1)/s" if own else "(x/s, 1)") if has_bias else "x/s"
    balanced = ", the opposite ones divided by them" if fit.state.parameters["balanced"] else ""
    bias = biased(fit, f"; b: {number(before.b)} becomes {number(after.b)}")
    return rule, [
        f"epsilon = {number(epsilon)}, {tried(fit, 'epsilon', eta)}",
        f"a = y {inside} = {vector(lifted)}, s = {number(s)} the largest coordinate{' of the row' if own else ''}",
        f"w.a = {number(update.violation)} <= 0, with the weights divided by their sum",
        f"factors (1 - {number(epsilon)})^(-a) = {vector(factors)}{balanced}",
        f"w: {vector(before.w)} becomes {vector(after.w)}{bias}",
    ]


def tried(fit: Fit, name: str, searched: float) -> str:
    """Where the guess or the step of an update comes from."""
    if fit.state.parameters[name] is not None:
        return "as it was given"
    return f"number {fit.recording.number_of(searched)} of {len(fit.recording.phases)} that the search tried"


def by_counting(fit: Fit, update: Update, before: Plane, after: Plane) -> Words:
    row, counts = update.row, update.a
    kernel = "k(x_j, x) + 1" if fit.state.parameters["fit_intercept"] else "k(x_j, x)"
    return f"Row {row} is a mistake, y w.phi(x) <= 0: its count c grows by one, so that w moves by y phi(x).", [
        f"y sum_j c_j y_j ({kernel}) = {number(update.violation)} <= 0",
        f"c of row {row}: {counts[row] - 1:.0f} + 1 = {counts[row]:.0f}",
        f"rows that have been wrong so far: {np.count_nonzero(counts)}; mistakes in all: {update.number}",
    ]


def step_length(fit: Fit, row: int, t: int, lam: float) -> tuple[float, str]:
    """eta_t of visit t to this row, and how it comes about."""
    step, x = fit.state.parameters["step"], fit.state.points[row]
    if step == PEGASOS:
        return 1.0 / (lam * t), f"1 / (lambda t) = 1 / ({number(lam)} · {t}) = "
    if step == DAMPED:
        kernel = getattr(fit.model, "_kernel", None)
        square = float(x @ x)
        if kernel is not None:
            [[square]] = kernel.values(kernel.points(x[None]), kernel.points(x[None])).tolist()
        size = "|x|²" if kernel is None else "k(x, x)"
        return 1.0 / (lam * t + square), f"1 / (lambda t + {size}) = 1 / ({number(lam)} · {t} + {number(square)}) = "
    if isinstance(step, str):
        scaling = inverse_scaling(step)
        assert scaling is not None
        return scaling.first / t**scaling.power, f"{number(scaling.first)} / {t}^{number(scaling.power)} = "
    return float(step), ""


def by_descending(fit: Fit, update: Update, before: Plane, after: Plane) -> Words:
    """A visit of the stochastic subgradient: shrink w, and add the row if it is inside."""
    parameters, row, value, t = fit.state.parameters, update.row, update.violation, update.number
    n, sign, violated = len(fit.state.points), int(fit.state.signs[row]), value < 1.0
    lam = 1.0 / (n * parameters["C"])
    eta, derived = step_length(fit, row, t, lam)
    moves = f"y f(x) = {number(value)} < 1: w shrinks, and moves by eta y x"
    rule = f"Row {row} is visited. {moves if violated else f'y f(x) = {number(value)} >= 1: w only shrinks'}."
    lines = [
        f"lambda = 1 / (rows C) = 1 / ({n} · {number(parameters['C'])}) = {number(lam)}",
        f"eta = {derived}{number(eta)}",
    ]
    shrink = number(1.0 - eta * lam)
    if parameters["kernel"] == "linear":
        moved = f" + {number(eta)} ({sign:+d}) {vector(fit.state.points[row])}" if violated else ""
        lines.append(f"w: (1 - eta lambda) w = {shrink} {vector(before.w)}{moved} = {vector(after.w)}")
    else:
        moved = f"; then a of row {row} grows by eta = {number(eta)}" if violated else ""
        lines.append(f"all a times 1 - eta lambda = {shrink}{moved}")
    if violated and after.b != before.b:
        lines.append(f"b: {number(before.b)} + min(eta, 1) ({sign:+d}) = {number(after.b)}")
    if parameters["project"]:
        lines.append("then w is moved back into the ball |w|² <= sum C, if it has left it")
    return rule, lines


def length_of(fit: Fit, row: int) -> float:
    """By which a row is divided: the length of (x, 1), or of x without a bias, where rows are at length 1."""
    if not fit.state.parameters.get("normalize_rows", False):
        return 1.0
    return math.hypot(*fit.state.points[row], 1.0 if fit.state.parameters["fit_intercept"] else 0.0) or 1.0


def product_line(fit: Fit, row: int, plane: Plane, end: str) -> str:
    (w, b), x, sign = plane, fit.state.points[row], int(fit.state.signs[row])
    return f"y (w.x + b) = {sign:+d} ({vector(w)}.{vector(x)}{biased(fit, signed(b))}) {end}"


def addition(fit: Fit, row: int, before: Plane, after: Plane, rate: float) -> list[str]:
    x, sign = fit.state.points[row], int(fit.state.signs[row])
    factor = f"{number(rate)} ({sign:+d})" if rate != 1.0 else f"({sign:+d})"
    lines = [f"w: {vector(before.w)} + {factor} {vector(x)} = {vector(after.w)}"]
    if fit.state.parameters["fit_intercept"]:
        lines.append(f"b: {number(before.b)} + {factor} = {number(after.b)}")
    return lines


def signed(value: float) -> str:
    """As it is added in a line of arithmetic."""
    return f" - {number(-value)}" if value < 0.0 else f" + {number(value)}"


def biased(fit: Fit, text: str) -> str:
    """The text where there is a bias; nothing through the origin."""
    return text if fit.state.parameters["fit_intercept"] else ""


def vector(values: Iterable[float]) -> str:
    return f"({', '.join(map(number, values))})"


# The plane of a step.


def measured_plane(state: State, w: Vector, b: float) -> dict[str, Any]:
    """Of the plane w.x + b = 0 in the space of the points."""
    return measured(state, state.points @ w + b, length(w, norm_of(state)), "line")


def measured(state: State, values: Vector, size: float, noun: str) -> dict[str, Any]:
    """From f(x_i) of all points and |w|: a verdict, figures to read, and the mistakes."""
    own = state.signs * values
    mistakes = np.flatnonzero(own <= 0.0)
    if not size > 0.0:
        return {"verdict": f"There is no {noun} yet: w = 0.", "figures": [], "mistakes": []}
    figures = []
    if len(mistakes):
        rows = "1 row is" if len(mistakes) == 1 else f"{len(mistakes)} rows are"
        on_it = " or on it" if np.any(own == 0.0) else ""
        verdict = f"This {noun} does not separate the classes: {rows} on the wrong side of it{on_it}."
    else:
        nearest = int(np.argmin(own))
        space = " (in the kernel's space)" if noun == "boundary" else " (l1)" if norm_of(state) == "l1" else ""
        verdict = f"This {noun} separates the classes: row {nearest} is nearest."
        figures.append([f"Margin{space}", number(own[nearest] / size)])
    price = state.parameters.get("C", math.inf)
    if price < math.inf:
        chosen = state.parameters
        paid = loss_named(chosen.get("loss", HINGE.name), chosen.get("huber_width")).value(1.0 - own)
        figures.append(["Objective", number(0.5 * size * size + price * float(paid.sum()))])
    return {"verdict": verdict, "figures": figures, "mistakes": mistakes}


def norm_of(state: State) -> str:
    """How the margin of the algorithm is measured."""
    return "l1" if state.algorithm.name == "winnow" else str(state.parameters.get("norm", "l2"))


def number(value: float) -> str:
    """As it stands in a line of arithmetic."""
    return f"{value:.5g}"
