"""An exercise about kernels: the corners of a square, equal labels across, in the space of (x.x' + 1)^2.

    plane        f(x) = sum_i a_i y_i k(x_i, x) + b
    street       y_i f(x_i) >= 1 on every row, |w|^2 = sum_ij a_i a_j y_i y_j k(x_i, x_j): the margin is 1 / |w|

phi(x) = (x_1^2, x_2^2, sqrt(2) x_1 x_2, sqrt(2) x_1, sqrt(2) x_2, 1): the product x_1 x_2 tells the corners apart.
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.certificates.kernel_duality import measure
from maxmargin.certificates.passes import proves_gap
from maxmargin.certificates.words import rounded_down, rounded_up
from maxmargin.data.synthetic import xor
from maxmargin.data.table import Vector
from maxmargin.problems.kernels import Polynomial
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin
from maxmargin.teaching.answers import GAP, NEAR, Field, number, without_dust
from maxmargin.teaching.exercise import Task, Variant, register
from maxmargin.teaching.grade import Failure, Grade, graded


@register("xor", "A kernel expansion of XOR")
def xor_expansion(variant: Variant) -> Task:
    random = variant.random
    corners, labels = xor()
    order = random.permutation(4)
    X, y = random.choice([1.0, 2.0]) * corners[order], random.choice([-1.0, 1.0]) * labels[order]
    kernel = Polynomial(gamma=1.0, coef0=1.0, degree=2)
    points = kernel.points(X)
    problem = KernelMargin(X, y, np.full(4, math.inf), HINGE, True, kernel, points)

    def grade(a: Vector, b: float) -> Grade:
        a = without_dust(a)
        if not np.any(a):
            return graded([Failure("plane", "all multipliers are 0: that is no plane.")])
        row = int(np.argmin(a))
        if a[row] < 0.0:
            return graded([Failure("dual feasibility", f"row {row}: a = {number(a[row])} is negative.", row)])
        failures, balance = [], float(a @ y)
        if abs(balance) > NEAR * float(a.sum()):
            failures.append(
                Failure("balance", f"sum a y = {number(balance)}, not 0: the classes do not weigh the same.")
            )
        functional = y * (kernel.values(points, points) @ (a * y) + b)
        row = int(np.argmin(functional))
        if abs(functional[row] - 1.0) > NEAR:
            sentence = f"row {row}: y f(x) = {number(functional[row])}, not 1; f(x) = sum a y k(x_i, x) + b."
            failures.append(Failure("primal feasibility", sentence, row))
        found = measure(problem, a, b=b)
        lower, upper = (math.sqrt(0.5 / value) if value > 0.0 else math.inf for value in (found.upper, found.lower))
        proven = []
        if found.upper < math.inf:
            between = f"between {rounded_down(lower)} and {rounded_up(upper)}"
            proven.append(f"your f separates the four corners; the best margin is {between}.")
        if not failures and not proves_gap(found.lower, found.upper, GAP):
            beyond = int(np.argmax(a * (functional - 1.0)))
            sentence = f"row {beyond}: a = {number(a[beyond])} and y f(x) = {number(functional[beyond])}"
            failures.append(Failure("complementary slackness", f"{sentence}; a wider street exists.", beyond))
        return graded(failures, proven, lower if proven else -math.inf, upper)

    question = (
        "No line separates these corners. With the kernel k(x, x') = (x.x' + 1)^2 find multipliers a_i >= 0 "
        "with sum a_i y_i = 0, and b, so that f(x) = sum a_i y_i k(x_i, x) + b has the widest street in the "
        "space of the kernel: y_i f(x_i) = 1 on every row with a_i > 0, and at least 1 on all."
    )
    return Task(question, {"X": X, "y": y}, (Field("a", (4,)), Field("b")), grade)
