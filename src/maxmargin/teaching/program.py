"""The margin problems as programs of a few lines, in the notation of the textbooks, for CVXPY.

    hard, primal   min 1/2 |w|^2                       subject to  y_i (w.x_i + b) >= 1
    hard, dual     max sum_i a_i - 1/2 |w|^2           subject to  a_i >= 0,   sum_i a_i y_i = 0
    soft, primal   min 1/2 |w|^2 + C sum_i xi_i        subject to  y_i (w.x_i + b) >= 1 - xi_i,   xi_i >= 0
    soft, dual     max sum_i a_i - 1/2 |w|^2           subject to  0 <= a_i <= C,   sum_i a_i y_i = 0

    link           w = sum_i a_i y_i x_i;   b is the mean of y_i - w.x_i over the rows on the edge of the street

The squared hinge has C sum_i xi_i^2 in the primal; in the dual no a_i <= C, and - sum_i a_i^2 / (4 C). Without a bias
the equality falls away. In the space of a kernel |w|^2 = sum_ij a_i a_j y_i y_j k(x_i, x_j), and only the dual can be
written down. l1 (hard margin): |w|_1 in place of 1/2 |w|^2, and in the dual |sum_i a_i y_i x_ij| <= 1 in its place.

Text, and nothing else: nothing here imports CVXPY. The programs leave w, b, a and `optimum` behind.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

HARD, SOFT = "hard margin", "soft margin"
FORMS = ("primal", "dual")
KERNELS = ("linear", "poly", "rbf", "precomputed")
LOSSES = ("hinge", "squared_hinge")
DUST = 1e-5  # of C, or of the largest a: what an interior point leaves on rows that have no weight
USUAL: dict[str, Any] = {
    "loss": "hinge", "fit_intercept": True, "kernel": None, "gamma": 1.0, "coef0": 0.0, "degree": 3, "norm": "l2",
}  # fmt: skip
SOLVED = "optimum = problem.solve(solver=cp.CLARABEL)"


class Asked(NamedTuple):
    """The problem that is written down."""

    form: str
    C: float
    loss: str
    fit_intercept: bool
    kernel: str | None
    gamma: float
    coef0: float
    degree: int
    norm: str

    @property
    def hard(self) -> bool:
        return math.isinf(self.C)

    @property
    def squared(self) -> bool:
        return not self.hard and self.loss == "squared_hinge"

    @property
    def boxed(self) -> bool:
        """Whether no multiplier is above C."""
        return not self.hard and not self.squared


def program(
    problem: Any = HARD,
    form: str = "primal",
    *,
    C: float | None = None,
    loss: str | None = None,
    fit_intercept: bool | None = None,
    kernel: str | None = None,
    gamma: float | None = None,
    coef0: float | None = None,
    degree: int | None = None,
    norm: str | None = None,
) -> str:
    """A margin problem as a program for CVXPY, to read and to run.

        min 1/2 |w|^2 + C sum_i xi_i   subject to   y_i (w.x_i + b) >= 1 - xi_i,   xi_i >= 0

    It runs as it stands where X is an array of n rows and y an array of n labels -1 and +1, and leaves `w`, `b`, the
    multipliers `a` and the `optimum` behind; the dual leaves a function `f` too, which predicts from the dual alone.
    CVXPY comes with the extra `reference`.

    Parameters
    ----------
    problem : {"hard margin", "soft margin"} or an estimator, default="hard margin"
        A `HardMarginSVM`, `LinearSVM` or `KernelSVM`, fitted or not, brings its own parameters: only `form` can be
        given beside it. None is the usual value of each of the others.
    form : {"primal", "dual"}, default="primal"
        Which side of the duality. Kernels have the dual only.
    C, loss : float, default=1; {"hinge", "squared_hinge"}, default="hinge"
        The price of the soft margin; C = inf is the hard one, which has no other.
    fit_intercept : bool, default=True
        Whether there is a b.
    kernel, gamma, coef0, degree : default=None
        "linear", "poly", "rbf", or "precomputed", where X is the table of kernel values; the numbers are those of
        `KernelSVM`.
    norm : {"l2", "l1"}, default="l2"
        Of the hard margin.

    Returns
    -------
    str
        The program, with the problem in its first lines.

    Examples
    --------
    >>> from maxmargin import program
    >>> print(program("hard margin", "dual", fit_intercept=False))
    # The hard margin, dual
    #     max sum_i a_i - 1/2 |w|^2                       w = sum_i a_i y_i x_i
    #     subject to  a_i >= 0
    import cvxpy as cp
    import numpy as np
    <BLANKLINE>
    n, d = X.shape
    a = cp.Variable(n)
    w = X.T @ cp.multiply(a, y)
    constraints = [a >= 0]
    objective = cp.sum(a) - cp.sum_squares(w) / 2
    problem = cp.Problem(cp.Maximize(objective), constraints)
    optimum = problem.solve(solver=cp.CLARABEL)
    <BLANKLINE>
    a = np.maximum(a.value, 0)
    w = X.T @ (a * y)
    b = 0.0
    <BLANKLINE>
    def f(x):  # from the dual alone: +1 where it is not negative
        return (a * y) @ (X @ x)
    """
    given = {
        "C": C, "loss": loss, "fit_intercept": fit_intercept, "kernel": kernel, "gamma": gamma, "coef0": coef0,
        "degree": degree, "norm": norm,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    if isinstance(problem, str):
        if problem not in (HARD, SOFT):
            raise ValueError(f"problem={problem!r} is not known; it can be {HARD!r}, {SOFT!r}, or an estimator")
        if problem == HARD and given.get("C", math.inf) != math.inf:
            raise ValueError(f"the hard margin has no price: C={C!r} is of the {SOFT!r}")
        asked = Asked(form, **USUAL | {"C": math.inf if problem == HARD else 1.0} | given)
    else:
        asked = asked_by(problem, form)
        if given:
            name, value = next(iter(given.items()))
            what = type(problem).__name__
            raise ValueError(f"a {what} brings its own {name}: make one with {name}={value!r}, or leave it out here")
    asked = checked(asked)
    lines = [*heading(asked), "import cvxpy as cp", "import numpy as np", ""]
    lines += [] if asked.hard else [f"C = {asked.C!r}"]
    return "\n".join([*lines, *(primal(asked) if asked.form == "primal" else dual(asked))])


def asked_by(estimator: Any, form: str) -> Asked:
    """The problem of an estimator, by its own parameters."""
    name = type(estimator).__name__
    if name not in ("HardMarginSVM", "LinearSVM", "KernelSVM"):
        raise ValueError(f"{name} does not solve a program; HardMarginSVM, LinearSVM and KernelSVM do")
    own = USUAL | {"C": math.inf} | estimator.get_params(deep=False)
    if own.get("class_weight") is not None:
        raise ValueError("with class_weight each row has its own C: these programs have one for all")
    if getattr(estimator, "_kernel", None) is not None:
        own["gamma"] = float(estimator._kernel.gamma)  # the number that a word such as "scale" stands for
    if callable(own["kernel"]):
        raise ValueError("a function cannot be written down: give the table of its values, kernel='precomputed'")
    if isinstance(own["gamma"], str):
        raise ValueError(f"gamma={own['gamma']!r} is a number only once the estimator is fitted: fit it first")
    return Asked(form, **{name: own[name] for name in Asked._fields if name != "form"})


def checked(asked: Asked) -> Asked:
    """With plain numbers; a sentence for what cannot be written down."""
    known = {"form": FORMS, "loss": LOSSES, "kernel": (None, *KERNELS), "norm": ("l2", "l1")}
    for name, words in known.items():
        given = getattr(asked, name)
        if given not in words:
            raise ValueError(f"{name}={given!r} is not known here; it can be {', '.join(map(repr, words))}")
    numbers: dict[str, Any] = {}
    for name, least in (("C", 0.0), ("gamma", 0.0), ("coef0", -math.inf), ("degree", 0.0)):
        value = getattr(asked, name)
        is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
        if not is_number or not least < value or (name != "C" and not math.isfinite(value)):
            raise ValueError(f"{name} must be a {'' if name == 'coef0' else 'positive '}number, not {value!r}")
        if name == "degree" and value != int(value):
            raise ValueError(f"degree must be a whole number, not {value!r}: of a half power there may be no value")
        numbers[name] = int(value) if isinstance(value, Integral) else float(value)
    if asked.kernel is not None and asked.form == "primal":
        raise ValueError(
            "with a kernel the primal has one unknown for each coordinate of phi(x), of which there may be infinitely "
            'many: ask for form="dual"'
        )
    if asked.norm == "l1" and not (asked.hard and asked.kernel is None):
        raise ValueError('norm="l1" is for the hard margin without a kernel')
    return asked._replace(**numbers)


def heading(asked: Asked) -> list[str]:
    """The mathematics, in comments."""
    name = "The hard margin" if asked.hard else f"The soft margin, {asked.loss.replace('_', ' ')}"
    if asked.form == "primal":
        size = "|w|_1" if asked.norm == "l1" else "1/2 |w|^2"
        paid = "" if asked.hard else f" + C sum_i xi_i{'^2' if asked.squared else ''}"
        plane, slack = "w.x_i + b" if asked.fit_intercept else "w.x_i", "" if asked.hard else " - xi_i,  xi_i >= 0"
        goal, limits = f"min {size}{paid}", f"y_i ({plane}) >= 1{slack}"
    else:
        goal = "max sum_i a_i" + ("" if asked.norm == "l1" else " - 1/2 |w|^2")
        goal += " - sum_i a_i^2 / (4 C)" if asked.squared else ""
        link = "|w|^2 = sum_ij a_i a_j y_i y_j k(x_i, x_j)" if asked.kernel else "w = sum_i a_i y_i x_i"
        goal = f"{goal:<47} {'p' + link[1:] if asked.norm == 'l1' else link}"
        limits = "0 <= a_i <= C" if asked.boxed else "a_i >= 0"
        limits += ",  sum_i a_i y_i = 0" if asked.fit_intercept else ""
        limits += ",  |p_j| <= 1" if asked.norm == "l1" else ""
    return [f"# {name}, {asked.form}", f"#     {goal}", f"#     subject to  {limits}"]


def primal(asked: Asked) -> list[str]:
    size = "cp.norm1(w)" if asked.norm == "l1" else "cp.sum_squares(w) / 2"
    paid = "" if asked.hard else f" + C * cp.sum{'_squares' if asked.squared else ''}(xi)"
    plane = "X @ w + b" if asked.fit_intercept else "X @ w"
    limits = f"cp.multiply(y, {plane}) >= 1" + ("" if asked.hard else " - xi, xi >= 0")
    return [
        "n, d = X.shape",
        "w, b = cp.Variable(d), cp.Variable()" if asked.fit_intercept else "w = cp.Variable(d)",
        *([] if asked.hard else ["xi = cp.Variable(n)"]),
        f"constraints = [{limits}]",
        f"objective = {size}{paid}",
        "problem = cp.Problem(cp.Minimize(objective), constraints)",
        SOLVED,
        "",
        "w, b = w.value, float(b.value)" if asked.fit_intercept else "w, b = w.value, 0.0",
        "a = np.maximum(constraints[0].dual_value, 0)  # the multipliers, one for each row",
    ]


def dual(asked: Asked) -> list[str]:
    limits = ["a >= 0", *(["a <= C"] if asked.boxed else []), *(["y @ a == 0"] if asked.fit_intercept else [])]
    bent = " - cp.sum_squares(a) / (4 * C)" if asked.squared else ""
    if asked.kernel is not None:
        given = [*kernel_lines(asked), "n = len(y)", "a = cp.Variable(n)"]
        given += ["size = cp.quad_form(cp.multiply(a, y), cp.psd_wrap(K))  # |w|^2"]
        goal = "cp.sum(a) - size / 2"
    else:
        given = ["n, d = X.shape", "a = cp.Variable(n)"]
        given += [f"{'p' if asked.norm == 'l1' else 'w'} = X.T @ cp.multiply(a, y)"]
        goal = "cp.sum(a)" if asked.norm == "l1" else "cp.sum(a) - cp.sum_squares(w) / 2"
        limits = ["p <= 1", "p >= -1", *limits] if asked.norm == "l1" else limits
    return [
        *given,
        f"constraints = [{', '.join(limits)}]",
        f"objective = {goal}{bent}",
        "problem = cp.Problem(cp.Maximize(objective), constraints)",
        SOLVED,
        "",
        "a = np.maximum(a.value, 0)",
        *plane_lines(asked),
        *([] if asked.norm == "l1" else prediction_lines(asked)),
    ]


def plane_lines(asked: Asked) -> list[str]:
    """w and b, from the multipliers: b is the mean over the rows on the edge of the street, if there are any."""
    lines = [] if asked.kernel else ["w = X.T @ (a * y)"]
    if asked.norm == "l1":
        lines = ["w = constraints[0].dual_value - constraints[1].dual_value  # the prices of |p_j| <= 1"]
    values = "K @ (a * y)" if asked.kernel else "X @ w"
    if not asked.fit_intercept:
        return [*lines, "b = 0.0"]
    if asked.boxed:
        mean = f"np.mean((y - {values})[edge]) if edge.any() else float(constraints[-1].dual_value)"
        return [*lines, f"edge = (a > {DUST} * C) & (a < (1 - {DUST}) * C)", f"b = {mean}"]
    own = "y * (1 - a / (2 * C))" if asked.squared else "y"
    return [*lines, f"edge = a > {DUST} * a.max()", f"b = np.mean(({own} - {values})[edge])"]


def prediction_lines(asked: Asked) -> list[str]:
    plus = " + b" if asked.fit_intercept else ""
    if asked.kernel == "precomputed":
        return [
            "",
            "def f(k):  # from the dual alone; k holds k(x_i, x) of the n rows",
            f"    return (a * y) @ k{plus}",
        ]
    inner = "k(X, x[None])[:, 0]" if asked.kernel else "(X @ x)"
    return ["", "def f(x):  # from the dual alone: +1 where it is not negative", f"    return (a * y) @ {inner}{plus}"]


def kernel_lines(asked: Asked) -> list[str]:
    """The kernel, and the table K of its values."""
    if asked.kernel == "precomputed":
        return ["K = X  # row i: k(x_i, x_j) for every j"]
    formula = {
        "linear": "A @ B.T",
        "poly": f"({asked.gamma!r} * A @ B.T + {asked.coef0!r}) ** {asked.degree!r}",
        "rbf": f"np.exp(-{asked.gamma!r} * ((A[:, None] - B[None]) ** 2).sum(axis=2))",
    }[str(asked.kernel)]
    return ["", "def k(A, B):", f"    return {formula}", "", "K = k(X, X)"]
