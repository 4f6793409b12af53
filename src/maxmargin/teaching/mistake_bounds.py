"""Exercises about the theorems of learning by mistakes.

    Novikov     at most R^2 / g^2 mistakes, for the margin g of any plane that separates; R = max |x_i|
    guess       a row nearer than G / 2 counts as a mistake too; a run with G <= g ends within 12 R^2 / G^2 updates
    halving     G = R, R / 2, R / 4, ...  until a run ends within its budget

Margins and radii are measured by the judge, with g rounded down and R up.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from maxmargin.certificates.measure import plane_margin
from maxmargin.certificates.passes import longest_row
from maxmargin.certificates.theorems import novikov
from maxmargin.certificates.words import rounded_down, rounded_up
from maxmargin.data.table import Vector
from maxmargin.teaching.answers import Field, differs, listed, number
from maxmargin.teaching.exercise import Task, Variant, register
from maxmargin.teaching.grade import Failure, Grade, graded
from maxmargin.teaching.lattice_data import lattice_rows


@register("mistake bound", "A bound for the mistakes of the perceptron")
def mistake_bound(variant: Variant) -> Task:
    random = variant.random
    while True:
        u = random.integers(-3, 4, 2)
        if not u.all():
            continue
        X, y = lattice_rows(random, u, 6)
        angles = np.linspace(0.0, 2.0 * np.pi, 721)
        widest = np.max(np.min(y[:, None] * (X @ [np.cos(angles), np.sin(angles)]), axis=0))
        most = math.ceil(1.1 * (longest_row(X) / widest) ** 2)
        if most < novikov(X, y, u.astype(np.float64), 0.0, False, 0).bound < np.inf:
            break

    def grade(w: Vector) -> Grade:
        if not w.any():
            return graded([Failure("plane", "w is 0, which makes no plane.")])
        plane, radius = plane_margin(X, y, w, 0.0, "l2"), longest_row(X)
        if not plane.lower > 0.0:
            value = number(y[plane.row] * (X[plane.row] @ w))
            return graded([Failure("side", f"row {plane.row}: y w.x = {value}, which is not above 0.", plane.row)])
        bound = novikov(X, y, w, 0.0, False, 0).bound
        count = math.floor(bound)
        proven = f"at most {count} mistakes, by R = {number(radius)} and g = {rounded_down(plane.lower)}."
        failures = []
        if not bound < most + 1:
            sentence = f"this plane proves {rounded_up(bound, 5)}, above {most}: row {plane.row} is too near to it."
            failures = [Failure("bound", sentence, plane.row)]
        return graded(failures, [proven], 0.0, bound)

    question = (
        f"Prove that the perceptron, through the origin, makes at most {most} mistakes on these rows, in "
        "whatever order they come: give a w whose margin g = min y w.x / |w| makes R^2 / g^2 small enough, "
        "where R is the length of the longest row."
    )
    return Task(question, {"X": X, "y": y, "mistakes": most}, (Field("w", (2,)),), grade)


@register("margin perceptron", "Violations of a guessed margin")
def margin_perceptron(variant: Variant) -> Task:
    random = variant.random
    while True:
        w = np.array([3.0, 4.0])[random.permutation(2)] * random.choice([-1.0, 1.0], 2)
        X, y = lattice_rows(random, w + random.integers(-2, 3, 2), 6)
        distances = plane_margin(X, y, w, 0.0, "l2").distances
        guess = float(random.choice([1.0, 2.0, 3.0]))
        short = distances < 0.5 * guess
        if np.any(distances < 0.0) and 2 <= np.count_nonzero(short) <= 4 and np.any(short & (distances > 0.0)):
            break

    def grade(rows: Vector, w_after: Vector) -> Grade:
        found = plane_margin(X, y, w, 0.0, "l2").distances
        claimed = set(rows.tolist())
        failures = [Failure("rows", f"there is no row {row}.") for row in sorted(claimed - set(range(len(y))))]
        for row in range(len(y)):
            is_short = found[row] < 0.5 * guess
            if is_short != (row in claimed):
                what = "is a violation" if is_short else "is none"
                than = "below" if is_short else "not below"
                sentence = (
                    f"row {row} {what}: y w.x / |w| = {number(found[row])} is {than} G / 2 = {number(0.5 * guess)}."
                )
                failures.append(Failure("violations", sentence, row))
        first = int(np.argmax(found < 0.5 * guess))
        if any(differs(*pair, 1.0) for pair in zip(w_after, w + y[first] * X[first], strict=True)):
            sentence = f"w + y x of row {first}, the first violation, is not {listed(w_after)}."
            failures.append(Failure("update", sentence, first))
        proven = (
            ""
            if failures
            else f"the plane returned would have a margin of at least G / 2 = {number(0.5 * guess)}: this one has not."
        )
        return graded(failures, [proven] if proven else [])

    question = (
        "A margin perceptron with the guess G has come to w, through the origin. A row is a violation when its "
        "distance y w.x / |w| (negative on the wrong side) is below G / 2. Give all rows that are violations, "
        "and the w after the update w + y x with the first of them."
    )
    fields = (Field("rows", (None,), whole=True), Field("w_after", (2,)))
    return Task(question, {"X": X, "y": y, "w": w, "guess": guess}, fields, grade)


@register("halving", "Guesses of the margin, halved")
def halving(variant: Variant) -> Task:
    random = variant.random
    w = np.array([3.0, 4.0])[random.permutation(2)] * random.choice([-1.0, 1.0], 2)
    X, y = lattice_rows(random, w, 5, reach=3)
    X[0] = y[0] * w * 2.0  # the longest row, of length 10
    plane, radius = plane_margin(X, y, w, 0.0, "l2"), longest_row(X)

    def grade(guesses: Vector, updates: float) -> Grade:
        failures: list[Failure] = []
        if not len(guesses) or differs(guesses[0], radius):
            failures.append(
                Failure("first guess", f"the first guess is R, the length of the longest row, {number(radius)}.")
            )
        for k, (before, after) in enumerate(itertools.pairwise(guesses)):
            if differs(after, 0.5 * before):
                failures.append(Failure("halving", f"guess {k + 2} is {number(after)}, not half of {number(before)}."))
        nearest = f"row {plane.row}, the nearest to this plane, has the distance {number(plane.value)}"
        if len(guesses) and guesses[-1] > plane.value:
            sentence = f"{number(guesses[-1])} is not yet a guess that must succeed: {nearest}."
            failures.append(Failure("last guess", sentence, plane.row))
        if len(guesses) > 1 and guesses[-2] <= plane.value:
            sentence = f"the run with {number(guesses[-2])} must have ended: {nearest}."
            failures.append(Failure("last guess", sentence, plane.row))
        if failures:
            return graded(failures)
        budget = float(np.sum(12.0 * (radius / guesses) ** 2))
        if differs(updates, budget):
            sentence = f"12 R^2 / G^2 updates for each of the {len(guesses)} guesses do not make {number(updates)}."
            return graded([Failure("updates", sentence)])
        share = f"and the plane it ends with has at least half of the last guess, {number(0.5 * guesses[-1])}."
        return graded([], [f"at most {number(budget)} updates, {share}"], 0.5 * guesses[-1])

    question = (
        "The incremental algorithm starts from the guess G = R, the length of the longest row. A run with a "
        "guess that is at most the best margin ends within 12 R^2 / G^2 updates; one that has not ended by then"
        " is given up, and G is halved. The plane w.x = 0 shows how large the best margin is at least. Give all"
        " guesses that may be needed, down to the first that must succeed, and the most updates that all these "
        "runs together can make."
    )
    fields = (Field("guesses", (None,)), Field("updates"))
    return Task(question, {"X": X, "y": y, "w": w}, fields, grade)
