"""Exercises about the widest street: the plane, its multipliers, and the street in another norm.

    primal       max_{w,b} min_i y_i (w.x_i + b) / |w|               any plane bounds the best margin from below
    dual         two points of the hulls, by weights a_i >= 0        any weights bound it from above
    conditions   w = sum_i a_i y_i x_i,  sum_i a_i y_i = 0,  a_i >= 0,  y_i (w.x_i + b) >= 1,
                 a_i (y_i (w.x_i + b) - 1) = 0

A plane alone is measured against the hull points that `HardMarginSVM` finds when the answer is checked; multipliers
prove both sides themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from maxmargin.certificates import exact
from maxmargin.certificates.measure import hull_distance, plane_margin
from maxmargin.certificates.passes import proves_gap
from maxmargin.certificates.words import rounded_down, rounded_up
from maxmargin.data.table import Vector
from maxmargin.estimators.hard_margin import HardMarginSVM
from maxmargin.teaching.answers import GAP, NEAR, Field, listed, number, without_dust
from maxmargin.teaching.exercise import Task, Variant, register
from maxmargin.teaching.grade import Failure, Grade, graded
from maxmargin.teaching.lattice_data import Points, Signs, lattice_street
from maxmargin.teaching.planes import NO_PLANE, wrong_sides

WIDEST = 0.01  # relative: a plane in three digits is as near as that to the best margin


def margin_from_below(X: Points, y: Signs, w: Vector, b: float, norm: str) -> float:
    """What the plane proves: the even number nearby, where exact arithmetic confirms it, or else with rounding."""
    plane = plane_margin(X, y, w, b, norm)
    even = float(f"{plane.value:.9g}")
    return even if plane.lower > 0.0 and exact.exact_margin_at_least(X, y, w, b, even, norm) else plane.lower


def margin_from_above(X: Points, y: Signs, weights: Vector, norm: str) -> float:
    """What the weights prove, likewise; infinite where a class has none."""
    hulls = hull_distance(X, y, weights, norm, True)
    even = float(f"{hulls.value:.9g}")
    return even if exact.exact_upper_bound_holds(X, y, weights, even, True, norm) else hulls.upper


def graded_street(X: Points, y: Signs, w: Vector, b: float, norm: str) -> Grade:
    """The margin of the plane, against what the best one can be at most."""
    if not w.any():
        return graded([NO_PLANE])
    wrong = list(wrong_sides(X, y, w, b))
    if wrong:
        return graded(wrong, [f"{len(y) - len(wrong)} of {len(y)} rows are on their side of the plane."])
    plane = plane_margin(X, y, w, b, norm)
    certificate = HardMarginSVM(norm).fit(X, y).certificate_
    weights = np.zeros(len(y))
    weights[certificate.rows] = certificate.weights
    lower, upper = margin_from_below(X, y, w, b, norm), margin_from_above(X, y, weights, norm)
    proven = f"the best margin lies between {rounded_down(lower)}, that of your plane, and {rounded_up(upper)}."
    if lower == upper:
        proven = f"the best margin is {number(lower)}, exactly, and your plane has it."
    if proves_gap(lower, upper, WIDEST):
        return graded([], [proven], lower, upper)
    share = rounded_down(100.0 * lower / upper, 3)
    sentence = f"row {plane.row} is the nearest: your plane has {share} % of the best margin; a wider street exists."
    return graded([Failure("widest", sentence, plane.row)], [proven], lower, upper)


@register("widest street", "The widest street")
def widest_street(variant: Variant) -> Task:
    X, y = lattice_street(variant.random)

    def grade(w: Vector, b: float) -> Grade:
        return graded_street(X, y, w, b, "l2")

    question = (
        "Find the plane w.x + b = 0 with the widest street: the largest margin min y (w.x + b) / |w|. Any "
        "multiple of (w, b) is the same plane."
    )
    return Task(question, {"X": X, "y": y}, (Field("w", (2,)), Field("b")), grade)


@register("multipliers", "The multipliers of the widest street")
def multipliers(variant: Variant) -> Task:
    X, y = lattice_street(variant.random)

    def grade(a: Vector, b: float) -> Grade:
        a = without_dust(a)
        w = (a * y) @ X
        failures = list(conditions_violated(X, y, a, w, b))
        lower, upper, proven = -math.inf, math.inf, []
        if np.all(a >= 0.0) and np.any(a > 0.0):
            upper = margin_from_above(X, y, a, "l2")
            if math.isfinite(upper):
                proven.append(
                    f"no plane has a margin above {rounded_up(upper)}, by the hull points of your multipliers."
                )
        plane = margin_from_below(X, y, w, b, "l2")
        if plane > 0.0:
            lower = plane
            proven.append(f"w = sum a y x = {listed(w)} has a margin of at least {rounded_down(lower)}.")
        if not failures and not proves_gap(lower, upper, GAP):
            failures = [Failure("gap", f"the bounds {rounded_down(lower)} and {rounded_up(upper)} do not meet.")]
        total, square = float(a.sum()), float(w @ w)
        if not failures and abs(square - total) > GAP * square:  # the right points of the hulls in the wrong scale
            sentence = (
                f"P - D = |w|^2 - sum a is 0 at the optimum; here |w|^2 = {number(square)}, sum a = {number(total)}."
            )
            failures = [Failure("gap", sentence)]
        return graded(failures, proven, lower, upper)

    question = (
        "Find the multipliers a_i of the widest street, one for each row, and b, so that w = sum a_i y_i x_i "
        "and the conditions of Karush, Kuhn and Tucker hold: a_i >= 0, sum a_i y_i = 0, y_i (w.x_i + b) >= 1, "
        "and a_i > 0 only where y_i (w.x_i + b) = 1."
    )
    return Task(question, {"X": X, "y": y}, (Field("a", (len(y),)), Field("b")), grade)


def conditions_violated(X: Points, y: Signs, a: Vector, w: Vector, b: float) -> Iterator[Failure]:
    """Each condition that fails, with the row where it does so most."""
    if not np.any(a):
        yield Failure("stationarity", "all multipliers are 0, and so is w = sum a y x: that is no plane.")
        return
    row = int(np.argmin(a))
    if a[row] < -NEAR * np.abs(a).max():
        yield Failure("dual feasibility", f"row {row}: a = {number(a[row])} is negative.", row)
    balance, total = float(a @ y), float(np.abs(a).sum())
    if abs(balance) > NEAR * total:
        yield Failure("balance", f"sum a y = {number(balance)}, not 0: the classes do not weigh the same.")
    functional = y * (X @ w + b)
    scale = 1.0 + abs(b) + float(np.abs(X * w).sum(axis=1).max())  # of what three digits of a and b leave open
    row = int(np.argmin(functional))
    if functional[row] < 1.0 - NEAR * scale:
        yield Failure("primal feasibility", f"row {row}: y (w.x + b) = {number(functional[row])} is below 1.", row)
    slack = np.where(a > NEAR * a.max(), functional - 1.0, 0.0)
    row = int(np.argmax(slack))
    if slack[row] > NEAR * scale:
        sentence = f"row {row}: a = {number(a[row])} is not 0, and y (w.x + b) = {number(functional[row])} is beyond 1."
        yield Failure("complementary slackness", sentence, row)


@register("one column", "The widest street in the largest-coordinate distance")
def one_column(variant: Variant) -> Task:
    """Two rows are near each other in the first column, and nearer in the second: w = (1, 0) is best, or (0, 1)."""
    random = variant.random
    o, wide, narrow = random.integers(-2, 3, 2), int(random.integers(2, 5)), int(random.choice([-1, 1]))
    rows, signs = [o, o - np.array([wide, narrow])], [1, -1]
    while len(rows) < 6:
        sign = -1 if len(rows) % 2 else 1
        row = rows[0 if sign > 0 else 1] + sign * np.array([random.integers(1, 4), random.integers(-4, 5)])
        if not any(np.array_equal(row, other) for other in rows):
            rows.append(row)
            signs.append(sign)
    order, column, side = random.permutation(6), random.permutation(2), int(random.choice([-1, 1]))
    X, y = np.array(rows, dtype=np.float64)[order][:, column], side * np.array(signs, dtype=np.float64)[order]

    def grade(w: Vector, b: float) -> Grade:
        return graded_street(X, y, w, b, "l1")

    question = (
        "Measure distances by the largest coordinate: the margin is min y (w.x + b) / |w|_1, with |w|_1 = |w_1|"
        " + |w_2|. Find the plane with the largest one. (To find it is a linear program; look whether one "
        "column is enough.)"
    )
    return Task(question, {"X": X, "y": y}, (Field("w", (2,)), Field("b")), grade)
