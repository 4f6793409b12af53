"""Exercises about planes: which side, how far, and what lifting does to a margin.

side        y_i (w.x_i + b) > 0 on every row
distance    y_i (w.x_i + b) / |w|, the same for every multiple of (w, b); the canonical one has min y_i (w.x_i + b) = 1
lifted      a_i = y_i (x_i, 1), v = (w, b):   l2  min v.a_i / (|v|_2 |a_i|_2)     l1  min v.a_i / (|v|_1 |a_i|_inf)
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from maxmargin.certificates.exact import exact_margins_positive
from maxmargin.certificates.measure import plane_margin
from maxmargin.certificates.passes import length
from maxmargin.certificates.words import rounded_down
from maxmargin.data.table import Vector
from maxmargin.teaching.answers import Field, differs, listed, number
from maxmargin.teaching.exercise import Task, Variant, register
from maxmargin.teaching.grade import Failure, Grade, graded
from maxmargin.teaching.lattice_data import Points, Signs, lattice_rows, lattice_street

WITH_RATIONAL_LENGTH = ((3, 4), (4, 3), (6, 8), (8, 6))
NO_PLANE = Failure("plane", "w is 0, which makes no plane.")


def wrong_sides(X: Points, y: Signs, w: Vector, b: float) -> Iterator[Failure]:
    """The rows that are not strictly on their side; decided exactly."""
    for row in range(len(y)):
        if not exact_margins_positive(X[row : row + 1], y[row : row + 1], w, b):
            value = number(y[row] * (X[row] @ w + b))
            yield Failure("side", f"row {row}: y (w.x + b) = {value}, which is not above 0.", row)


@register("separate", "A plane between two classes")
def separate(variant: Variant) -> Task:
    X, y = lattice_street(variant.random, others=5)

    def grade(w: Vector, b: float) -> Grade:
        if not w.any():
            return graded([NO_PLANE])
        wrong, plane = list(wrong_sides(X, y, w, b)), plane_margin(X, y, w, b, "l2")
        if wrong:
            return graded(wrong, [f"{len(y) - len(wrong)} of {len(y)} rows are on their side of the plane."])
        margin = rounded_down(plane.lower)
        proven = f"the classes are separable: row {plane.row} is the nearest to your plane, at least {margin} away."
        return graded([], [proven], lower=plane.lower)

    question = (
        "Find a plane w.x + b = 0 that separates the classes: y (w.x + b) > 0 on every row. Any one will do; "
        "how wide its street is, you will be told."
    )
    return Task(question, {"X": X, "y": y}, (Field("w", (2,)), Field("b")), grade)


@register("distance", "Distances, and the canonical form")
def distance(variant: Variant) -> Task:
    random = variant.random
    w = np.array(WITH_RATIONAL_LENGTH[random.integers(len(WITH_RATIONAL_LENGTH))]) * random.choice([-1.0, 1.0], 2)
    moved = random.integers(-2, 3, 2)
    X, y = lattice_rows(random, w, 5)
    X, b = X + moved, float(-w @ moved)
    found = plane_margin(X, y, w, b, "l2")

    def grade(distances: Vector, canonical_w: Vector, canonical_b: float) -> Grade:
        failures = []
        for row in range(len(y)):
            if differs(distances[row], found.distances[row]):
                reached, size = number(w @ X[row] + b), number(length(w, "l2"))
                sentence = (
                    f"row {row}: w.x + b = {reached} and |w| = {size} make no distance of {number(distances[row])}."
                )
                failures.append(Failure("distance", sentence, row))
        failures += not_canonical(X, y, (w, b), (canonical_w, canonical_b))
        if failures:
            return graded(failures)
        margin = number(found.value)
        return graded([], [f"the margin is 1 / |w| = {margin} in canonical form; row {found.row} has it."], found.lower)

    question = (
        "The plane w.x + b = 0 separates these rows. Give the distance of each row to it, and the plane in "
        "canonical form: the same plane, scaled so that the nearest row has y (w.x + b) = 1."
    )
    fields = (Field("distances", (len(y),)), Field("canonical_w", (2,)), Field("canonical_b"))
    return Task(question, {"X": X, "y": y, "w": w, "b": b}, fields, grade)


def not_canonical(X: Points, y: Signs, plane: tuple[Vector, float], given: tuple[Vector, float]) -> Iterator[Failure]:
    """Why a plane is not the canonical form of another."""
    real, claimed = np.append(*plane), np.append(*given)
    factor = float(claimed @ real / (real @ real))
    if not factor > 0.0 or any(
        differs(*pair, factor * np.abs(real).max()) for pair in zip(claimed, factor * real, strict=True)
    ):
        yield Failure("the same plane", f"{listed(claimed)} is no positive multiple of (w, b) = {listed(real)}.")
        return
    functional = y * (X @ given[0] + given[1])
    row = int(np.argmin(functional))
    if differs(functional[row], 1.0, float(np.abs(X[row] * given[0]).sum() + abs(given[1]))):
        sentence = f"row {row} is the nearest, and has y (w.x + b) = {number(functional[row])}, not 1."
        yield Failure("canonical form", sentence, row)


@register("lifting", "Lifted rows, and two margins")
def lifting(variant: Variant) -> Task:
    random = variant.random
    w = random.choice([-1.0, 1.0], 2) * (random.permutation([1.0, 2.0]))
    moved = random.integers(-1, 2, 2)
    X, y = lattice_rows(random, w, 4, reach=3)
    X, b = X + moved, float(-w @ moved)
    rows, plane = y[:, None] * np.column_stack([X, np.ones(len(y))]), np.append(w, b)

    def measured(norm: str, largest: str) -> tuple[float, int]:
        """The margin of the plane among the lifted rows, each brought to length 1, and the row that has it."""
        unit = rows / np.array([length(row, largest) for row in rows])[:, None]
        found = plane_margin(unit, np.ones(len(y)), plane, 0.0, norm)
        return found.value, found.row

    def grade(lifted: Points, l2: float, l1: float) -> Grade:
        failures = []
        for row in range(len(y)):
            if any(differs(*pair, 1.0) for pair in zip(lifted[row], rows[row], strict=True)):
                product = f"{y[row]:g} times {listed(np.append(X[row], 1.0))}"
                sentence = f"row {row}: y (x, 1) is {product}, not {listed(lifted[row])}."
                failures.append(Failure("lifted rows", sentence, row))
        for name, given, largest in (("l2", l2, "l2"), ("l1", l1, "max")):
            value, row = measured(name, largest)
            if differs(given, value):
                top, size = number(rows[row] @ plane), number(length(plane, name))
                over = f"v.a = {top}, |v| = {size} and |a| = {number(length(rows[row], largest))}"
                failures.append(
                    Failure(f"{name} margin", f"row {row} is the nearest: {over} do not make {number(given)}.", row)
                )
        own = plane_margin(X, y, w, b, "l2")
        proven = (
            f"in the space of the rows the same plane has the margin {number(own.value)}: lifting measures another one."
        )
        tied = f"neither margin is more than sqrt(3) = {number(math.sqrt(3.0))} times the other, whatever the plane."
        return graded(failures, [] if failures else [proven, tied])

    question = (
        "Lift the rows: a_i = y_i (x_i, 1), so that the plane v = (w, b) goes through the origin and v.a_i > 0 "
        "on every row. Give the lifted rows and the two margins of v, both without units: l2 = min v.a_i / "
        "(|v|_2 |a_i|_2), a cosine, and l1 = min v.a_i / (|v|_1 |a_i|_inf), where |a|_inf is the largest "
        "coordinate."
    )
    fields = (Field("lifted", (len(y), 3)), Field("l2"), Field("l1"))
    return Task(question, {"X": X, "y": y, "w": w, "b": b}, fields, grade)
