"""A certificate as a person reads it: by its fields, whatever its kind.

Numbers are rounded outwards, so that what is printed is still true. A certificate that was verified means every line,
but for those below `REPORTED`: what was asked for, why a run ended and what it counted can be known from the run alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.certificates.proof import KKT, FurtherLook, TheoremBound
from maxmargin.certificates.rounding import rounded_down, rounded_up

ROWS_SHOWN = 12
DIGITS = 12  # of a bound
OPEN = "Not decided here: no plane is proven to separate the classes, nor that there is none. The bounds are true."
REPORTED = "  what the algorithm reported, which the data cannot prove:"
ON_TRUST = "  on the condition that the kernel is positive semidefinite, which was not checked"


def report(c: Any) -> str:
    """The verdict, the problem, the bounds, the witness or the support, the conditions; and what was reported."""
    lines = [OPEN if was_stopped(c) else c.verdict.value, problem(c), *statement(c), *bounds(c)]
    if c.is_separable is False:
        lines += [f"  witness: {c.n_support:,} rows whose hulls meet: {heaviest(c)}", *rows_off_plane(c)]
    else:
        lines += [*heaviest_rows(c), *on_trust(c)]
    if c.kkt is not None:
        lines += conditions(c.kkt, c.verdict.name == "OPTIMAL", "the optimum" if has(c, "C") else "the widest street")
    return "\n".join([*lines, *reported(c)])


def has(c: Any, name: str) -> bool:
    """Whether it is a field of its kind."""
    return name in vars(c)


def was_stopped(c: Any) -> bool:
    """Which is nothing that is proven."""
    return bool(c.verdict.name == "STOPPED")


def reported(c: Any) -> list[str]:
    lines = [c.verdict.value] if was_stopped(c) else []
    lines += further_look(c)
    if has(c, "C"):
        lines.append(f"a relative gap of {number(c.tol)} was asked for")
    lines += beside_practice(c.theorems)
    return [REPORTED, *(f"    {line}" for line in lines)] if lines else []


def number(value: float) -> str:
    """A number to the last digit, as short as it can be.

    >>> number(0.5), number(1e-4), number(100.0), number(1 / 3)
    ('0.5', '0.0001', '100', '0.3333333333333333')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def between(lower: float, upper: float) -> str:
    if lower == -math.inf:
        return f"at most {rounded_up(upper, DIGITS)}"
    return f"between {rounded_down(lower, DIGITS)} and {rounded_up(upper, DIGITS)}"


def sides(c: Any) -> str:
    return f"{c.positive!r} against {'the rest' if c.negative is None else repr(c.negative)}"


def problem(c: Any) -> str:
    has_bias = getattr(c, "fit_intercept", True)
    plane = ", with a bias" if has_bias else ", through the origin"
    if c.is_lifted:
        plane = ", rows lifted by a bias" if has_bias else ""
    return f"  problem: {sides(c)}, {c.n_rows:,} rows x {c.n_columns:,} columns{plane}"


def statement(c: Any) -> list[str]:
    """The kernel and the loss, where it has them."""
    words = [kernel(c)] if has(c, "kernel") else []
    if has(c, "C"):
        width = "" if getattr(c, "huber_width", None) is None else f" of width {number(c.huber_width)}"
        loss = getattr(c, "loss", "hinge").replace("_", " ")
        words.append("hard margin" if c.is_about_margin else f"{loss}{width}, C = {number(c.C)}{class_weights(c)}")
    return [f"  {', '.join(words)}"] if words else []


def class_weights(c: Any) -> str:
    if not c.class_weight:
        return ""
    return " times " + ", ".join(f"{number(weight)} for {label!r}" for label, weight in c.class_weight)


def kernel(c: Any) -> str:
    kernels = {
        "poly": f"poly kernel ({number(c.gamma)} x.x' + {number(c.coef0)})^{c.degree}",
        "rbf": f"rbf kernel exp(-{number(c.gamma)} |x - x'|^2)",
        "function": "a function as the kernel",
    }
    return kernels.get(c.kernel, f"{c.kernel} kernel")


def bounds(c: Any) -> list[str]:
    margin = f"  best {c.norm} margin" if has(c, "norm") else "  best margin"
    if c.is_separable is False:
        return [f"{margin}: 0, no plane has a positive one"]
    lines = [f"{margin}: {between(c.margin_lower, c.margin_upper)}"] if c.is_about_margin else []
    if has(c, "norm") and c.margin_lower > 0.0:
        lines.append(f"  street (twice the margin): at least {rounded_down(2.0 * c.margin_lower, DIGITS)}")
        lines.append(
            f"  primal {rounded_up(c.primal, DIGITS)}, dual {rounded_down(c.dual, DIGITS)}, "
            f"relative gap of the margin {rounded_up(c.relative_gap, 2)}"
        )
    if has(c, "C"):
        lines += [f"  least objective: {between(c.dual, c.primal)}", f"  relative gap {rounded_up(c.relative_gap, 2)}"]
    return lines


def rows_off_plane(c: Any) -> list[str]:
    """How many rows a weakly separating plane keeps off itself."""
    if getattr(c, "rows_off_plane", None) is None:
        return []
    return [f"  off the plane, on their own side: {c.rows_off_plane:,} of {c.n_rows:,} rows; all others lie on it"]


def further_look(c: Any) -> list[str]:
    """Why there is no weakly separating plane to speak of, which is no proof."""
    look = getattr(c, "further_look", FurtherLook.NOT_ASKED)
    is_told = c.is_separable is False and look not in (FurtherLook.NOT_ASKED, FurtherLook.FOUND)
    return [look.value] if is_told else []


def on_trust(c: Any) -> list[str]:
    return [ON_TRUST] if getattr(c, "kernel", None) in ("function", "precomputed") else []


def heaviest_rows(c: Any) -> list[str]:
    if c.n_support == 0:
        return []
    return [f"  rows that carry weight: {c.n_support:,} of {c.n_rows:,}: {heaviest(c)}"]


def heaviest(c: Any) -> str:
    """The rows that carry most weight, in the order of the table."""
    carrying = np.flatnonzero(c.weights)
    order = carrying[np.argsort(-c.weights[carrying], kind="stable")][:ROWS_SHOWN]
    shown = ", ".join(str(row) for row in sorted(c.rows[order]))
    more = len(carrying) - len(order)
    return shown + (f" and {more:,} more" if more > 0 else "")


def conditions(kkt: KKT, optimal: bool, goal: str) -> list[str]:
    claim = "conditions of optimality" if optimal else f"how far this plane is from the conditions of {goal}"
    lines = [f"  {claim}, largest violation as float64 computes it (row):"]
    for name in ("stationarity", "primal", "dual", "slackness", "bias"):
        violation = getattr(kkt, name)
        where = f"  (row {violation.row})" if violation.row >= 0 and violation.value > 0.0 else ""
        value = f"{violation.value:.1e}" if math.isfinite(violation.value) else str(violation.value)
        lines.append(f"    {name:<13}{value}{where}")
    return lines


def beside_practice(theorems: tuple[TheoremBound, ...]) -> list[str]:
    lines = []
    for theorem in theorems:
        relation, shown = ("of at most", rounded_up) if theorem.at_most else ("against at least", rounded_down)
        promise = "without a bound" if math.isinf(theorem.bound) else f"{relation} {shown(theorem.bound, 6)}"
        best = ", g of the best plane known" if theorem.plane else ""
        lines.append(f"{theorem.name}{best}: {theorem.measured:.6g} {promise}")
    return lines
