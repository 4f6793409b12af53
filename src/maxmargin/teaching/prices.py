"""Exercises about slack and its price.

objective    P(w, b) = 1/2 |w|^2 + C sum_i xi_i,       xi_i = max(0, 1 - y_i (w.x_i + b))
rows         0 < xi <= 1: inside the street; xi > 1: a mistake
dual         D(a) = sum_i a_i - 1/2 |sum_i a_i y_i x_i|^2,   0 <= a_i <= C,   sum_i a_i y_i = 0,      D <= P
conditions   a_i = 0 where y_i (w.x_i + b) > 1,   a_i = C where it is < 1,   anything between where it is 1
spellings    p |w|^2 + q sum_i xi_i has the planes of C = q / (2 p)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from maxmargin.certificates.duality import dual_value, primal_value
from maxmargin.certificates.passes import proves_gap
from maxmargin.certificates.words import rounded_down, rounded_up
from maxmargin.data.table import Vector
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import SoftMargin
from maxmargin.teaching.answers import GAP, NEAR, Field, differs, listed, number
from maxmargin.teaching.exercise import Task, Variant, register
from maxmargin.teaching.grade import Failure, Grade, graded
from maxmargin.teaching.lattice_data import Points, Signs


def soft_margin(X: Points, y: Signs, C: float) -> SoftMargin:
    return SoftMargin(X, y, np.full(len(y), C), HINGE, True)


@register("slack", "Slack, margin violations and mistakes")
def slack(variant: Variant) -> Task:
    random = variant.random
    C = float(random.choice([0.5, 1.0, 2.0, 10.0]))
    while True:
        w, b = random.choice([-1.0, -0.5, 0.5, 1.0], 2), float(random.integers(-1, 2))
        X, y = random.integers(-3, 4, (6, 2)).astype(np.float64), random.choice([-1.0, 1.0], 6)
        xi = np.maximum(0.0, 1.0 - y * (X @ w + b))
        kinds = [np.count_nonzero(xi == 0.0), np.count_nonzero((xi > 0.0) & (xi <= 1.0)), np.count_nonzero(xi > 1.0)]
        if min(kinds) >= 1 and kinds[0] >= 2 and len(np.unique(X, axis=0)) == 6 and len(np.unique(y)) == 2:
            break
    measured = primal_value(soft_margin(X, y, C), w, b)

    def grade(xi: Vector, inside: Vector, mistakes: Vector, objective: float) -> Grade:
        failures, real = [], measured.slack
        for row in range(len(y)):
            if differs(xi[row], real[row], 1.0):
                value = number(y[row] * (X[row] @ w + b))
                sentence = (
                    f"row {row}: y (w.x + b) = {value}, so that xi = max(0, 1 - {value}) is not {number(xi[row])}."
                )
                failures.append(Failure("slack", sentence, row))
        kinds = (("inside", inside, (real > 0.0) & (real <= 1.0)), ("mistakes", mistakes, real > 1.0))
        for name, given, truth in kinds:
            for row in sorted(set(given.tolist()) ^ set(np.flatnonzero(truth).tolist())):
                if not 0 <= row < len(y):
                    failures.append(Failure(name, f"there is no row {row}."))
                    continue
                belongs = "is one of these" if truth[row] else "is none of these"
                failures.append(Failure(name, f"row {row} {belongs}: xi = {number(real[row])}.", row))
        if differs(objective, measured.value):
            half = number(0.5 * float(w @ w))
            sentence = (
                f"1/2 |w|^2 = {half} and C = {number(C)} times the sum of the slacks do not make {number(objective)}."
            )
            failures.append(Failure("objective", sentence))
        proven = [] if failures else [f"the least objective of any plane is at most {rounded_up(measured.upper)}."]
        return graded(failures, proven, *(() if failures else (0.0, measured.upper)))

    question = (
        "For the plane w.x + b = 0 give the slack xi = max(0, 1 - y (w.x + b)) of each row, the rows inside the"
        " street (0 < xi <= 1), the mistakes (xi > 1), and the objective 1/2 |w|^2 + C sum xi."
    )
    fields = (
        Field("xi", (6,)), Field("inside", (None,), whole=True), Field("mistakes", (None,), whole=True),
        Field("objective"),
    )  # fmt: skip
    return Task(question, {"X": X, "y": y, "w": w, "b": b, "C": C}, fields, grade)


@register("spellings", "One problem, three spellings")
def spellings(variant: Variant) -> Task:
    random = variant.random
    factor = float(random.choice([0.05, 0.1, 0.25, 2.0]))
    price = float(random.choice([3.0, 4.0, 6.0, 20.0]))
    X = np.array([[-2.0], [-1.0], [1.0], [3.0]])
    y = np.sign(X[:, 0])
    planes = ((np.zeros(1), 0.0), (np.ones(1), 0.0))  # at the first one only the slack costs, at the second only |w|^2
    written = (
        ("C_1", f"{factor:g} |w|^2 + sum xi", factor, 1.0),
        ("C_2", f"|w|^2 + {price:g} sum xi", 1.0, price),
        ("C_3", f"{factor:g}/2 |w|^2 + {price:g} sum xi", 0.5 * factor, price),
    )

    def ratio(plane: tuple[Vector, float], p: float, q: float, C: float) -> float:
        """The other objective of a plane, in units of ours: the same for all planes exactly if C is right."""
        w, b = plane
        ours = primal_value(soft_margin(X, y, C), w, b)
        return (p * float(w @ w) + q * float(ours.slack.sum())) / ours.value

    def grade(C_1: float, C_2: float, C_3: float) -> Grade:
        failures = []
        for (name, words, p, q), C in zip(written, (C_1, C_2, C_3), strict=True):
            if not C > 0.0:
                failures.append(Failure(name, f"a price is positive, not {number(C)}."))
                continue
            one, other = (ratio(plane, p, q, C) for plane in planes)
            if differs(one, other):
                sentence = f"{words} is {number(one)} times 1/2 |w|^2 + {number(C)} sum xi at one plane, "
                failures.append(Failure(name, f"{sentence}and {number(other)} times at another."))
        proven = [] if failures else ["each is a multiple of ours at every plane, and has its planes."]
        return graded(failures, proven)

    question = (
        f"Our soft margin is 1/2 |w|^2 + C sum xi. Give the C that has the same planes as (1) {written[0][1]}, "
        f"(2) {written[1][1]}, (3) {written[2][1]}."
    )
    fields = tuple(Field(name) for name, *_ in written)
    return Task(question, {"norm_factor": factor, "loss_factor": price}, fields, grade)


@register("soft margin", "Multipliers of a soft margin")
def best_soft_margin(variant: Variant) -> Task:
    random = variant.random
    C = float(random.choice([0.125, 0.25, 0.5]))
    places = np.sort(random.choice(np.arange(-4.0, 5.0), 5, replace=False))
    y = np.array([[-1, -1, 1, 1, 1], [-1, 1, -1, 1, 1], [-1, -1, 1, -1, 1]][random.integers(3)], dtype=np.float64)
    order = random.permutation(5)
    X, y = places[order][:, None], y[order]
    problem = soft_margin(X, y, C)

    def grade(a: Vector, b: float) -> Grade:
        w = (a * y) @ X
        failures = list(conditions_violated(problem, a, w, b))
        primal, lower = primal_value(problem, w, b), 0.0
        proven = [f"the least objective is at most {rounded_up(primal.upper)}, that of w = {listed(w)} and your b."]
        if not any(failure.condition == "dual feasibility" for failure in failures):
            lower = dual_value(problem, np.clip(a, 0.0, C)).lower
            proven.append(f"it is at least {rounded_down(lower)}, by your multipliers.")
        if not failures and not proves_gap(lower, primal.upper, GAP):
            failures.append(Failure("gap", f"the two bounds are {number(primal.upper - lower)} apart."))
        return graded(failures, proven, lower, primal.upper)

    question = (
        "One column. Find the multipliers a_i of the soft margin 1/2 w^2 + C sum xi, and b, so that w = sum a_i"
        " y_i x_i and the conditions hold: 0 <= a_i <= C, sum a_i y_i = 0; a_i = 0 where y_i (w x_i + b) > 1, "
        "a_i = C where it is below 1, and anything between where it is 1."
    )
    return Task(question, {"X": X, "y": y, "C": C}, (Field("a", (5,)), Field("b")), grade)


def conditions_violated(problem: SoftMargin, a: Vector, w: Vector, b: float) -> Iterator[Failure]:
    """Each condition that fails, with the row where it does so most."""
    X, y, C = problem.X, problem.signs, problem.costs
    outside = np.maximum(-a, a - C)
    row = int(np.argmax(outside))
    if outside[row] > NEAR * C[row]:
        yield Failure(
            "dual feasibility", f"row {row}: a = {number(a[row])} is not between 0 and C = {number(C[row])}.", row
        )
    balance = float(a @ y)
    if abs(balance) > NEAR * max(float(np.abs(a).sum()), float(C[0])):
        yield Failure("balance", f"sum a y = {number(balance)}, not 0: the classes do not weigh the same.")
    functional = y * (X @ w + b)
    off = np.zeros(len(a))
    off = np.where((a > NEAR * C) & (functional > 1.0), functional - 1.0, off)
    off = np.where((a < (1.0 - NEAR) * C) & (functional < 1.0), 1.0 - functional, off)
    row = int(np.argmax(off))
    scale = 1.0 + abs(b) + float((np.abs(X) @ (np.abs(a) @ np.abs(X))).max())  # of what three digits leave open
    if off[row] > NEAR * scale:
        wanted = "0, beyond its edge" if functional[row] > 1.0 else f"C = {number(C[row])}, inside the street"
        sentence = (
            f"row {row}: y (w x + b) = {number(functional[row])}, so that a must be {wanted}, not {number(a[row])}."
        )
        yield Failure("complementary slackness", sentence, row)
