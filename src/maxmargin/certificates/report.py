"""All of a certificate as a person reads it, by its fields, whatever its kind; and what a verification answers.

Numbers are rounded outwards, so that what is printed is still true. A report that was verified means every line,
but for those below `REPORTED`: what was asked for, why a run ended and what it counted can be known from the run alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.certificates.proof import KKT, FurtherLook
from maxmargin.certificates.words import between, bounds_of, counted, rounded_down, rounded_up, sides
from maxmargin.problems.kernels import KERNELS, Kernel
from maxmargin.problems.losses import HINGE

ROWS_SHOWN = 12
PARTS_SHOWN = 12  # of many planes; of more, what holds for all, and the worst
WORST_SHOWN = 3
DIGITS = 12  # of a bound
OPEN = "Not decided here: no plane is proven to separate the classes, nor that there is none. The bounds are true."
REPORTED = "  what the algorithm reported, which the data cannot prove:"
ON_TRUST = "  on the condition that the kernel is positive semidefinite, which was not checked"


def report(c: Any) -> str:
    """The verdict, the problem, the bounds, the witness or the support, the conditions; and what was reported."""
    lines = [OPEN if was_stopped(c) else c.verdict.value, problem(c), *statement(c), *bounds(c)]
    if c.is_separable is False:
        where = " in the space of the kernel" if hasattr(c, "kernel") else ""
        witness = counted(c.n_support, "rows whose hulls meet", "row, which is the origin")
        lines += [f"  witness: {witness}{where}: {heaviest(c)}", *rows_off_plane(c)]
    else:
        lines += [*heaviest_rows(c), *on_trust(c)]
    if c.kkt is not None:
        goal = "the optimum" if hasattr(c, "C") else "the widest street"
        lines += conditions(c.kkt, c.verdict.name == "OPTIMAL", goal)
    return "\n".join([*lines, *reported(c)])


def report_of_many(parts: Sequence[Any]) -> str:
    """Part by part; of very many, what holds for all of them, and those of which least is proven."""
    if len(parts) <= PARTS_SHOWN:
        return "\n".join(f"{name_of(part)}\n{part.report()}" for part in parts)
    verdicts = Counter(part.verdict.value for part in parts)
    lines = [f"{len(parts):,} problems, of which each has a certificate of its own"]
    lines += [f"  {counted(count, 'times', 'time')}: {words}" for words, count in verdicts.most_common()]
    found = [bounds_of(part) for part in parts if part.is_separable is not False]
    if found:
        lower, upper = min(one.lower for one in found), max(one.upper for one in found)
        lines.append(f"  each {found[0].best}: {between(lower, upper, DIGITS)}")
    gaps = [part.relative_gap for part in parts if not math.isnan(part.relative_gap)]
    if gaps:
        none = f"; {len(parts) - len(gaps):,} have none" if len(gaps) < len(parts) else ""
        lines.append(f"  relative gaps: at most {rounded_up(max(gaps), 2)}{none}")
    worst = from_the_worst(parts)[:WORST_SHOWN]
    lines.append(f"The {len(worst)} of which least is proven; print(certificate[k]) shows number k, from 0:")
    return "\n".join([*lines, *(f"{k}: {name_of(parts[k])}\n{parts[k].report()}" for k in worst)])


def from_the_worst(parts: Sequence[Any]) -> list[int]:
    """The places of the parts: what is not optimal first, then the largest gaps; no gap is larger than none at all."""

    def order(k: int) -> tuple[bool, float]:
        gap = parts[k].relative_gap
        return parts[k].verdict.name == "OPTIMAL", -math.inf if math.isnan(gap) else -gap

    return sorted(range(len(parts)), key=order)


def name_of(part: Any) -> str:
    return f"[{sides(part)}]"


def was_stopped(c: Any) -> bool:
    """Which is nothing that is proven."""
    return bool(c.verdict.name == "STOPPED")


def reported(c: Any) -> list[str]:
    lines = [c.verdict.value] if was_stopped(c) else []
    lines += further_look(c)
    if hasattr(c, "C"):
        lines.append(f"a relative gap of {number(c.tol)} was asked for")
    lines += [str(theorem) for theorem in c.theorems]
    return [REPORTED, *(f"    {line}" for line in lines)] if lines else []


def number(value: float) -> str:
    """A number to the last digit, as short as it can be.

    >>> number(0.5), number(1e-4), number(100.0), number(1 / 3)
    ('0.5', '0.0001', '100', '0.3333333333333333')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def problem(c: Any) -> str:
    has_bias = getattr(c, "fit_intercept", True)
    plane = ", with a bias" if has_bias else ", through the origin"
    if c.is_lifted:
        plane = ", rows lifted by a bias" if has_bias else ""
    return f"  problem: {sides(c)}, {c.n_rows:,} rows x {c.n_columns:,} columns{plane}"


def statement(c: Any) -> list[str]:
    """The kernel and the loss, where it has them."""
    words = [kernel(c)] if hasattr(c, "kernel") else []
    if hasattr(c, "C"):
        width = "" if getattr(c, "huber_width", None) is None else f" of width {number(c.huber_width)}"
        loss = getattr(c, "loss", HINGE.name).replace("_", " ")
        words.append("hard margin" if c.is_about_margin else f"{loss}{width}, C = {number(c.C)}{class_weights(c)}")
    return [f"  {', '.join(words)}"] if words else []


def class_weights(c: Any) -> str:
    if not c.class_weight:
        return ""
    return " times " + ", ".join(f"{number(weight)} for {label!r}" for label, weight in c.class_weight)


def kernel(c: Any) -> str:
    """By its name and its formula, as far as this process knows it."""
    kind = KERNELS.get(c.kernel, Kernel)
    numbers = {"gamma": number(c.gamma), "coef0": number(c.coef0), "degree": str(c.degree)}
    formula = f" {kind.formula.format(**numbers)}" if kind.formula else ""
    return "a function as the kernel" if kind.is_code else f"{c.kernel} kernel{formula}"


def bounds(c: Any) -> list[str]:
    margin = f"  best {c.norm} margin" if hasattr(c, "norm") else "  best margin"
    if c.is_separable is False:
        return [f"{margin}: 0, no plane has a positive one"]
    lines = [f"{margin}: {between(c.margin_lower, c.margin_upper, DIGITS)}"] if c.is_about_margin else []
    if hasattr(c, "norm") and c.margin_lower > 0.0:
        lines.append(f"  street (twice the margin): at least {rounded_down(2.0 * c.margin_lower, DIGITS)}")
        lines.append(
            f"  primal {rounded_up(c.primal, DIGITS)}, dual {rounded_down(c.dual, DIGITS)}, "
            f"relative gap of the margin {rounded_up(c.relative_gap, 2)}"
        )
    if hasattr(c, "C"):
        lines += [
            f"  least objective: {between(c.dual, c.primal, DIGITS)}",
            f"  relative gap {rounded_up(c.relative_gap, 2)}",
        ]
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
    is_proven = not hasattr(c, "kernel") or KERNELS.get(c.kernel, Kernel).is_semidefinite
    return [] if is_proven else [ON_TRUST]


def heaviest_rows(c: Any) -> list[str]:
    if hasattr(c, "shares"):
        return [
            f"  table: {counted(len(c.heights), 'blocks', 'block')} of rows, fingerprint {c.fingerprint}",
            by_rule(c),
        ]
    if c.n_support == 0:
        return []
    return [f"  rows that carry weight: {c.n_support:,} of {c.n_rows:,}: {heaviest(c)}"]


def by_rule(c: Any) -> str:
    """Where the weights of rows by blocks are from."""
    listed = f"{counted(len(c.rows), 'rows are', 'row is')} listed"
    if not c.rule_used:
        return f"  weights: {listed}, all others have none"
    width = f" of width {number(c.rule_width)}" if c.rule_width else ""
    return f"  weights: by a rule{width} at a plane of its own; {listed}"


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


@dataclass(frozen=True)
class Verification:
    """True or False in an `if`; the reasons when printed.

    Parameters
    ----------
    holds : bool
        Whether every claim follows from the data.
    exact : bool
        Whether that was decided in fractions.
    reasons : tuple of str
        What is proven, or what does not hold.

    Examples
    --------
    >>> from maxmargin import separability
    >>> X = [[0], [3]]
    >>> print(separability(X, [0, 1]).verify(X, [0, 1], exact=True))
    Verified in exact rational arithmetic: the best margin lies between 1.49999999 and 1.50000001.
    """

    holds: bool
    exact: bool
    reasons: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        how = "in exact rational arithmetic" if self.exact else "in float64, rounding included"
        more = len(self.reasons) - PARTS_SHOWN
        reasons = "; ".join(self.reasons[:PARTS_SHOWN]) + (f"; and {more:,} more in `reasons`" if more > 0 else "")
        return f"Verified {how}: {reasons}." if self.holds else f"Refused ({how}): {reasons}."
