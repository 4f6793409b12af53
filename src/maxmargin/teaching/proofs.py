"""Exercises about proof: a multiplier on one variable, and a witness that no plane exists.

one variable   min f(x) subject to x >= c:   f'(x) = a,   x >= c,   a >= 0,   a (x - c) = 0
witness        l_i >= 0, not all 0,   sum_i l_i y_i x_i = 0,   sum_i l_i y_i = 0:   a point of both hulls
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.certificates.exact import proves_intersection
from maxmargin.certificates.measure import hull_distance
from maxmargin.certificates.words import rounded_up
from maxmargin.data.table import Vector
from maxmargin.teaching.answers import NEAR, Field, listed, number, without_dust
from maxmargin.teaching.exercise import Task, Variant, register
from maxmargin.teaching.grade import Failure, Grade, graded
from maxmargin.teaching.lagrange import ConstrainedParabola
from maxmargin.teaching.lattice_data import common_point

FIRST = (ConstrainedParabola(0.2, -1, 1, 5), ConstrainedParabola(0.2, -1, 1, -3))  # seeds 0 and 1: both cases


@register("one variable", "A multiplier on one variable")
def one_variable(variant: Variant) -> Task:
    random = variant.random
    if variant.seed < len(FIRST):
        problem = FIRST[variant.seed]
    else:
        p, q = float(random.choice([0.25, 0.5, 1.0, 2.0])), float(random.integers(-4, 5))
        problem = ConstrainedParabola(p, q, float(random.integers(-2, 3)), float(random.integers(-6, 7)))

    def grade(x: float, a: float) -> Grade:
        violated, scale = problem.conditions(x, a), max(1.0, abs(problem.q), abs(problem.saddle.a))
        sentences = {
            "stationarity": f"f'(x) = {number(problem.slope(x))} at x = {number(x)}, and a = {number(a)}: "
            f"they differ by {number(violated.stationarity)}.",
            "primal": f"x = {number(x)} is below {number(problem.c)}, by {number(violated.primal)}.",
            "dual": f"a = {number(a)} is negative.",
            "slackness": f"a (x - c) = {number(a * (x - problem.c))}, not 0: a price is paid for nothing.",
        }
        failures = [
            Failure(name, sentence) for name, sentence in sentences.items() if getattr(violated, name) > NEAR * scale
        ]
        bounds, proven = problem.bounds(max(x, problem.c) if violated.primal <= NEAR * scale else x, a), []
        low = f"{number(bounds.lower)}, the dual function at a = {number(a)}"
        high = f"{number(bounds.upper)}, f at x = {number(x)}"
        if math.isfinite(bounds.lower) and math.isfinite(bounds.upper):
            proven = [f"the optimum lies between {low}, and {high}."]
        elif math.isfinite(bounds.gap) or math.isfinite(bounds.lower) or math.isfinite(bounds.upper):
            proven = [f"the optimum is at {f'least {low}' if math.isfinite(bounds.lower) else f'most {high}'}."]
        return graded(failures, proven, *bounds)

    f = formula(problem)
    question = (
        f"Minimise {f} subject to x >= {problem.c:g}. Give the best x and the multiplier a of the constraint: "
        "with the Lagrangian L(x, a) = f(x) - a (x - c), the slope f'(x) is a, x >= c, a >= 0 and a (x - c) = "
        "0."
    )
    data = {name: float(getattr(problem, name)) for name in ("p", "q", "r", "c")}
    return Task(question, data, (Field("x"), Field("a")), grade)


def formula(problem: ConstrainedParabola) -> str:
    """As it is written.

    >>> formula(ConstrainedParabola(0.2, -1, 1, 5)), formula(ConstrainedParabola(1, 3, 0, 5))
    ('0.2 x^2 - x + 1', 'x^2 + 3 x')
    """
    text = ""
    for factor, power in ((problem.p, "x^2"), (problem.q, "x"), (problem.r, "")):
        if factor == 0:
            continue
        size = f"{abs(factor):g}" if abs(factor) != 1 or not power else ""
        sign = (" - " if factor < 0 else " + ") if text else ""
        text += sign + " ".join(part for part in (size, power) if part)
    return text


@register("no plane", "A witness that no plane exists")
def no_plane(variant: Variant) -> Task:
    X, y = common_point(variant.random)

    def grade(weights: Vector) -> Grade:
        weights = without_dust(weights)
        if not np.any(weights):
            return graded([Failure("weights", "all weights are 0, which proves nothing.")])
        row = int(np.argmin(weights))
        if weights[row] < 0.0:
            return graded([Failure("weights", f"row {row}: the weight {number(weights[row])} is negative.", row)])
        failures, total = [], float(weights.sum())
        balance, point = float(weights @ y), (weights * y) @ X
        if abs(balance) > NEAR * total:
            sentence = f"sum l y = {number(balance)}, not 0: both points of the hulls need the same weight."
            failures.append(Failure("balance", sentence))
        if np.abs(point).max() > NEAR * float(weights @ np.abs(X).max(axis=1)):
            column = int(np.argmax(np.abs(point)))
            sentence = f"sum l y x = {listed(point)}, not 0: column {column} is {number(point[column])} off."
            failures.append(Failure("common point", sentence))
        meeting = proves_intersection(X, y, weights, True)
        if meeting.weights is not None and not failures:
            exact = ", ".join(f"{weight} of row {row}" for row, weight in enumerate(meeting.weights) if weight)
            proven = [f"no plane separates the classes: in whole numbers, {exact} make one point of both hulls."]
            return graded([], proven, 0.0, 0.0)
        rows = ", ".join(str(row) for row in np.flatnonzero(weights))
        if meeting.separable:
            failures.append(Failure("rows", f"no weights of the rows {rows} alone can do it: a plane separates these."))
        upper = hull_distance(X, y, weights, "l2", True).upper
        proven = [f"no plane has a margin above {rounded_up(upper)}."] if math.isfinite(upper) else []
        if meeting.weights is not None:
            proven.append(f"other weights of the rows {rows} would do it.")
        return graded(failures, proven, 0.0, upper)

    question = (
        "No plane separates these classes. Prove it: give weights l_i >= 0 of the rows, not all 0, with sum l_i"
        " y_i x_i = 0 and sum l_i y_i = 0. Scaled, they are a point that lies in the hulls of both classes."
    )
    return Task(question, {"X": X, "y": y}, (Field("weights", (len(y),)),), grade)
