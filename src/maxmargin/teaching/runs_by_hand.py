"""Exercises about learning by mistakes: runs by hand, which are replayed in whole numbers.

    perceptron   a row with y w.x <= 0 is a mistake:  w <- w + y x
    Winnow       w = v / sum v;  a mistake multiplies v_j by (1 - epsilon)^(-y x_j)

Rows are visited in turn, from row 0 on, round and round, until every row has been visited since the last mistake.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from maxmargin.certificates.measure import plane_margin
from maxmargin.certificates.theorems import novikov
from maxmargin.certificates.words import rounded_down
from maxmargin.data.table import Vector
from maxmargin.teaching.answers import Field, differs, listed, number
from maxmargin.teaching.exercise import Task, Variant, register
from maxmargin.teaching.grade import Failure, Grade, graded
from maxmargin.teaching.lattice_data import Points, Signs, lattice_rows

Update = Callable[[Vector, Vector], Vector]  # of the weights, by a row times its sign
FEWEST, MOST = 3, 7  # mistakes of a run that is done by hand
SETTLED = 10  # sweeps without an end: another table is drawn
IN_TURN = (
    "Visit the rows in turn, from row 0 on, round and round, until every row has been visited since the last mistake."
)


def add(w: Vector, row: Vector) -> Vector:
    return w + row


def double(v: Vector, row: Vector) -> Vector:
    """epsilon = 1/2: v_j (1/2)^(-y x_j)."""
    return v * 2.0**row


def run(rows: Points, start: Vector, update: Update) -> tuple[list[int], Vector] | None:
    """The mistakes of a run in turn over rows y_i x_i, and the last weights; None where it takes too long.

    >>> run(np.array([[1.0, 0.0], [0.0, 2.0]]), np.zeros(2), add)
    ([0, 1], array([1., 2.]))
    """
    w, mistakes, last = start, [], -1
    for visit in range(SETTLED * len(rows)):
        row = visit % len(rows)
        if rows[row] @ w <= 0.0:
            w, last = update(w, rows[row]), visit
            mistakes.append(row)
        elif visit - last >= len(rows):
            return mistakes, w
    return None


def replayed(rows: Points, start: Vector, update: Update, claimed: Vector, word: str) -> tuple[Vector, list[Failure]]:
    """Follow the claimed mistakes until one is none, or one was passed over; the weights there."""
    w, place = start, 0
    for turn, row in enumerate(claimed):
        if not 0 <= row < len(rows):
            return w, [Failure("rows", f"mistake {turn + 1}: there is no row {row}.")]
        for other in visited(place, int(row), len(rows)):
            if rows[other] @ w <= 0.0:
                return w, [missed(rows, w, other, f"mistake {turn + 1} comes earlier", word)]
        if rows[row] @ w > 0.0:
            value = number(rows[row] @ w)
            sentence = f"mistake {turn + 1}: row {row} is none, because y w.x = {value} > 0 with {word} = {listed(w)}."
            return w, [Failure("mistakes", sentence, int(row))]
        w, place = update(w, rows[row]), int(row) + 1
    for other in visited(place, place, len(rows), whole=True):
        if rows[other] @ w <= 0.0:
            return w, [missed(rows, w, other, f"after {len(claimed)} mistakes the run goes on", word)]
    return w, []


def missed(rows: Points, w: Vector, row: int, why: str, word: str) -> Failure:
    value = number(rows[row] @ w)
    return Failure(
        "mistakes", f"{why}: row {row} has y w.x = {value}, which is not above 0, with {word} = {listed(w)}.", row
    )


def visited(place: int, row: int, n: int, whole: bool = False) -> Iterator[int]:
    """The rows from this place on, in turn, until `row` comes; or all of them."""
    count = n if whole else (row - place) % n
    return ((place + step) % n for step in range(count))


def by_hand(
    variant: Variant, columns: int, reach: int, start: Vector, update: Update, positive: bool
) -> tuple[Points, Signs]:
    """A table on which the run ends after a few mistakes."""
    random = variant.random
    while True:
        w = random.integers(1, 4, columns) if positive else random.integers(-3, 4, columns)
        if not w.any():
            continue
        X, y = lattice_rows(random, w, 5, reach)
        found = run(y[:, None] * X, start, update)
        if found is not None and FEWEST <= len(found[0]) <= MOST:
            return X, y


@register("perceptron", "A run of the perceptron by hand")
def perceptron(variant: Variant) -> Task:
    start = np.zeros(2)
    X, y = by_hand(variant, 2, 3, start, add, positive=False)
    rows = y[:, None] * X

    def grade(mistakes: Vector, w: Vector) -> Grade:
        reached, failures = replayed(rows, start, add, mistakes, "w")
        if not failures and any(differs(*pair, 1.0) for pair in zip(w, reached, strict=True)):
            failures = [
                Failure("weights", f"w = {listed(w)} is not the sum of y x over these {len(mistakes)} mistakes.")
            ]
        if failures:
            return graded(failures)
        bound = novikov(X, y, reached, 0.0, False, len(mistakes)).bound
        allowed = f"Novikov allows at most {math.floor(bound)} mistakes, by the margin of this w"
        return graded([], [f"w separates every row; {allowed}."], len(mistakes), bound)

    question = (
        "Run the perceptron through the origin from w = 0: a row with y w.x <= 0 is a mistake (0 counts), and "
        f"adds y x to w. {IN_TURN} Give the rows of the mistakes in their order, and the last w."
    )
    return Task(question, {"X": X, "y": y}, (Field("mistakes", (None,), whole=True), Field("w", (2,))), grade)


@register("winnow", "A run of Winnow by hand")
def winnow(variant: Variant) -> Task:
    start = np.ones(3)
    X, y = by_hand(variant, 3, 1, start, double, positive=True)
    rows = y[:, None] * X

    def grade(mistakes: Vector, v: Vector) -> Grade:
        reached, failures = replayed(rows, start, double, mistakes, "v")
        for j in range(3):
            if not failures and differs(v[j], reached[j]):
                sentence = (
                    f"v_{j + 1} = {number(v[j])}: the exponents y x_{j + 1} of the mistakes do not multiply 1 to that."
                )
                failures = [Failure("weights", sentence)]
        if failures:
            return graded(failures)
        found = plane_margin(X, y, reached, 0.0, "l1")
        margin = f"its l1 margin is at least {rounded_down(found.lower)}, at row {found.row}"
        return graded([], [f"w = v / sum v separates every row; {margin}."], found.lower)

    question = (
        "Run Winnow with epsilon = 1/2 from v = (1, 1, 1): w = v / sum v, a row with y w.x <= 0 is a mistake, "
        f"and multiplies each v_j by (1 - epsilon)^(-y x_j) = 2^(y x_j). {IN_TURN} Give the rows of the mistakes"
        " in their order, and the last v."
    )
    return Task(question, {"X": X, "y": y}, (Field("mistakes", (None,), whole=True), Field("v", (3,))), grade)
