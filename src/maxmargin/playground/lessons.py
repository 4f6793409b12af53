"""Nine short lessons: each a state to look at, three sentences and a question.

What a lesson says, and what its question asks for, is so on its own points: the tests do each exercise.
"""

from __future__ import annotations

from typing import Any

from maxmargin.playground.presets import Point, points_named

FEW: list[Point] = [
    (-2.0, 0.0, -1),
    (-3.0, 1.0, -1),
    (-2.5, -1.5, -1),
    (2.0, 1.0, 1),
    (2.0, -1.0, 1),
    (3.5, 0.0, 1),
    (3.0, 2.0, 1),
]
ONE_COLUMN: list[Point] = [  # the sign of the first column is the label, the second is noise
    (-0.4, 0.8, -1),
    (-0.5, -0.4, -1),
    (0.4, -0.1, 1),
    (0.6, 0.1, 1),
    (-0.7, 0.2, -1),
    (0.6, 0.6, 1),
    (0.7, -0.3, 1),
    (0.5, -0.4, 1),
    (0.6, 0.0, 1),
    (-0.9, -0.1, -1),
    (-0.5, 0.9, -1),
    (-0.4, -0.1, -1),
]
STRAY: list[Point] = [  # the first lies within the other class, and would if any one of that class were away
    (2.4, 0.1, -1),
    (-2.0, 0.0, -1),
    (-3.0, 1.0, -1),
    (-2.5, -1.5, -1),
    (-1.2, 1.4, -1),
    (-1.5, -0.6, -1),
    (1.2, 0.2, 1),
    (1.8, 1.6, 1),
    (3.2, 1.4, 1),
    (3.6, -0.4, 1),
    (2.4, -1.6, 1),
    (1.4, -1.0, 1),
]


def lessons() -> list[dict[str, Any]]:
    """In the order in which they build on each other."""
    return [
        lesson(
            "margin",
            "What a margin is",
            (
                "A line w.x + b = 0 separates two classes when every point lies on its own side.",
                "Its margin is the distance from the line to the nearest point, |w.x + b| / |w|; multiplying w and b "
                "by the same number changes neither the line nor the margin.",
                "The street between the two edges is twice as wide as the margin.",
            ),
            "Draw a line with as large a margin as you can: how near do you come to the best one?",
            "The best line is pinned by points of both classes: any other one comes nearer to one of these.",
            points_named("separable"),
            "hard_margin",
            mode="challenge",
        ),
        lesson(
            "mistakes",
            "Learning by mistakes",
            (
                "The perceptron starts from w = 0, and whenever a point is on the wrong side (or on the line) it adds "
                "y x to w and y to b.",
                "Novikov's theorem: if any line has the margin g, and R is the length of the longest row (x, 1), it "
                "makes at most R² / g² mistakes, whatever the order of the points.",
                "Step through the run: each update turns the line towards the point that was wrong.",
            ),
            "Take the points of “Narrow street” instead: what happens to the count, and what to the bound?",
            "Both grow, and the count stays below the bound, here far below: g is the margin of the line that it ended "
            "with, because the best one is not known to it.",
            points_named("separable"),
            "perceptron",
            mode="steps",
        ),
        lesson(
            "guess",
            "Guessing the margin",
            (
                "A perceptron stops at the first line that separates, however narrow its escape.",
                "With a guess G of the margin, a point nearer to the line than G / 2 counts as a mistake too; a guess "
                "that is too large never ends, so it starts from R and halves whenever 12 R² / G² updates were not "
                "enough.",
                "The line that it ends with has at least a quarter of the best margin (of the lifted rows), without "
                "knowing the best one.",
            ),
            "Compare the two panels: how much wider is the street, and how many more updates did it take?",
            "The street of the margin perceptron is proven to be a good part of the best; the price is more updates.",
            points_named("separable"),
            "margin_perceptron",
            b={"algorithm": "perceptron", "parameters": {}},
        ),
        lesson(
            "winnow",
            "Multiplying instead of adding",
            (
                "Winnow keeps positive weights, and on a mistake multiplies each by (1 - epsilon)^(-a): weights that "
                "point the right way grow, the others wither.",
                "Its margin is measured by the largest coordinate, min y (w.x + b) / |w|_1, and it makes at most about "
                "(16/3) ln(m) / g² mistakes with m weights: columns that do not matter cost only a logarithm.",
                "Here only the first column matters.",
            ),
            "Go to the last step in both panels and look at w: which algorithm has found out that the second column is "
            "noise?",
            "Winnow: its weight of the second column is less than a tenth of the first, while that of the perceptron, "
            "which is whatever its mistakes left, is more than half of it. With two columns other points can have it "
            "the other way round; the theorem is about many.",
            ONE_COLUMN,
            "winnow",
            b={"algorithm": "perceptron", "parameters": {}},
            mode="steps",
        ),
        lesson(
            "street",
            "The widest street",
            (
                "The hard margin minimises |w|² / 2 while every point keeps y (w.x + b) >= 1; then the margin is 1 / "
                "|w|.",
                "Its dual looks for the two nearest points of the hulls of the classes: the line is halfway between "
                "them, at a right angle.",
                "Only the points that span these two carry weight: the support vectors.",
            ),
            "Drag a point that carries no weight, without entering the street: does the line move?",
            "No: with no weight it is no part of w = sum a y x, and the two nearest points stay where they are.",
            points_named("separable"),
            "hard_margin",
        ),
        lesson(
            "slack",
            "Slack and its price",
            (
                "One point can make the widest street very narrow.",
                "The soft margin lets a point be short of its edge by xi = max(0, 1 - y (w.x + b)), and pays C for "
                "each unit: |w|² / 2 + C sum xi is the least.",
                "0 < xi <= 1 is a point inside the street, xi > 1 a mistake; C = infinity is the hard margin.",
            ),
            "Move C in the first panel: at which C does the outlier win, and the street become narrow?",
            "Between 10 and 30, where its slack costs more than the steeper w: the street is then that of the hard "
            "margin, and from there on nothing changes any more.",
            points_named("outlier"),
            "linear_svm",
            parameters={"C": 0.1},
            b={"algorithm": "hard_margin", "parameters": {}},
        ),
        lesson(
            "kernels",
            "Kernels",
            (
                "No line separates a disc from a ring around it.",
                "A kernel k(x, x') is the inner product of phi(x) and phi(x') in a space that is never entered: the "
                "plane there is sum a y k(x_i, x) + b = 0 here, and it bends.",
                "Both bounds hold in that space, so the proof is the same as before.",
            ),
            "Make gamma of the rbf kernel large: why does the boundary close around single points?",
            "exp(-gamma |x - x'|²) then is almost zero between all but the nearest points: each knows only about "
            "itself, and the boundary falls into pieces.",
            points_named("rings"),
            "kernel_svm",
            parameters={"C": 10.0},
            b={"algorithm": "linear_svm", "parameters": {}},
        ),
        lesson(
            "multiplier",
            "A multiplier on one variable",
            (
                "To minimise 0.2 x² - x + 1 under x >= 5, put a price on what is missing: 0.2 x² - x + 1 + a (5 - x); "
                "at the price a = 1 the lowest point is x = 5, and nobody needs to forbid anything.",
                "Under x >= -3 the price is a = 0, because the lowest point x = 2.5 is allowed anyway: a multiplier is "
                "positive only where its constraint holds the answer back.",
                "Here every point is such a constraint, y (w.x + b) >= 1, and a is what it would pay to be moved.",
            ),
            "Which points can you delete without moving the street, and what are their multipliers?",
            "All but those with a > 0: a multiplier of zero means that the constraint does not bind.",
            FEW,
            "hard_margin",
        ),
        lesson(
            "proof",
            "Proof",
            (
                "A line proves that the classes are separable, and its margin bounds the best one from below; two "
                "points of the hulls bound it from above, since no street is wider than their distance.",
                "Where the hulls meet there is no line: weights l >= 0 with sum l y x = 0 and sum l y = 0 are a point "
                "in both, on at most four rows that you can look at.",
                "Both are checked by code that imports no solver, from the points alone.",
            ),
            "Only one of the witness rows can be moved so that the verdict changes: which one, and what is the proof "
            "then?",
            "The square among the circles. Once it is with the other squares the hulls are apart: a line is the proof, "
            "and their two nearest points say that no line does better.",
            STRAY,
            "hard_margin",
        ),
    ]


def lesson(
    name: str,
    title: str,
    sentences: tuple[str, str, str],
    question: str,
    answer: str,
    points: list[Point],
    algorithm: str,
    *,
    parameters: dict[str, Any] | None = None,
    b: dict[str, Any] | None = None,
    mode: str = "answer",
) -> dict[str, Any]:
    state = {"points": [list(point) for point in points], "algorithm": algorithm, "parameters": parameters or {}}
    return {
        "name": name,
        "title": title,
        "sentences": list(sentences),
        "question": question,
        "answer": answer,
        "state": state,
        "b": b,
        "mode": mode,
    }
