"""A certificate as a person reads it.

Numbers are rounded outwards, so that what is printed is still true. A certificate that was verified means every line,
but for those below `REPORTED`: what was asked for, why a run ended and what it counted can be known from the run alone.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.certificates.certificate import Certificate, FurtherLook, Verdict
from maxmargin.certificates.kernel_margin import KernelCertificate, KernelVerdict
from maxmargin.certificates.proof import KKT, TheoremBound
from maxmargin.certificates.rounding import rounded_down, rounded_up
from maxmargin.certificates.soft_margin import SoftMarginCertificate

if TYPE_CHECKING:
    from maxmargin.certificates.kernel_separation import KernelSeparationCertificate

ROWS_SHOWN = 12
DIGITS = 12  # of a bound
OPEN = "Not decided here: no plane is proven to separate the classes, nor that there is none. The bounds are true."
REPORTED = "  what the algorithm reported, which the data cannot prove:"
ON_TRUST = "  on the condition that the kernel is positive semidefinite, which was not checked"


def report(certificate: Certificate) -> str:
    """The verdict, the bounds, the witness or the support, the conditions; and what the algorithm reported."""
    lines = [verdict(certificate), *bounds(certificate), *rows(certificate)]
    if certificate.kkt is not None:
        lines += conditions(certificate.kkt, certificate.verdict is Verdict.OPTIMAL)
    run = [*why_it_ended(certificate), *further_look(certificate)]
    return "\n".join([*lines, *reported(*run, *beside_practice(certificate.theorems))])


def soft_report(certificate: SoftMarginCertificate) -> str:
    """The same of a soft margin."""
    c = certificate
    width = "" if c.huber_width is None else f" of width {number(c.huber_width)}"
    lines = [
        c.verdict.value,
        problem(c),
        f"  {c.loss.replace('_', ' ')}{width}, C = {number(c.C)}{class_weights(c)}",
        *objectives(c),
        *heaviest_rows(c),
    ]
    if c.kkt is not None:
        lines += conditions(c.kkt, c.is_optimal, "the optimum")
    return "\n".join([*lines, *reported(*asked_for(c), *beside_practice(c.theorems))])


def kernel_report(certificate: KernelCertificate) -> str:
    """The same of a margin in the space of a kernel."""
    c = certificate
    margin = "hard margin" if c.is_hard else f"hinge, C = {number(c.C)}{class_weights(c)}"
    lines = [c.verdict.value, problem(c), f"  {kernel(c)}, {margin}"]
    if c.verdict is KernelVerdict.NOT_SEPARABLE:
        lines += ["  best margin: 0, no plane has a positive one", *witness(c)]
        return "\n".join([*lines, *reported(*asked_for(c))])
    if c.is_hard:
        lines.append(f"  best margin: {between(c.margin_lower, c.margin_upper)}")
    lines += [*objectives(c), *heaviest_rows(c)]
    if c.kernel in ("function", "precomputed"):
        lines.append(ON_TRUST)
    if c.kkt is not None:
        lines += conditions(c.kkt, c.is_optimal, "the optimum")
    return "\n".join([*lines, *reported(*asked_for(c), *beside_practice(c.theorems))])


def kernel_separation_report(certificate: KernelSeparationCertificate) -> str:
    """The same of a plane that separates in the space of a kernel."""
    c = certificate
    lifted = ", rows lifted by a bias" if c.fit_intercept else ""
    lines = [
        verdict(c),
        f"  problem: {sides(c)}, {c.n_rows:,} rows x {c.n_columns:,} columns{lifted}",
        f"  {kernel(c)}",
        f"  best margin: {between(c.margin_lower, c.margin_upper)}",
        *heaviest_rows(c),
    ]
    if c.kernel in ("function", "precomputed"):
        lines.append(ON_TRUST)
    return "\n".join([*lines, *reported(*why_it_ended(c), *beside_practice(c.theorems))])


def verdict(c: Certificate | KernelSeparationCertificate) -> str:
    """What is proven. That a run was stopped is none of it."""
    return OPEN if c.verdict is Verdict.STOPPED else c.verdict.value


def why_it_ended(c: Certificate | KernelSeparationCertificate) -> list[str]:
    return [c.verdict.value] if c.verdict is Verdict.STOPPED else []


def asked_for(c: SoftMarginCertificate | KernelCertificate) -> list[str]:
    return [f"a relative gap of {number(c.tol)} was asked for"]


def reported(*lines: str) -> list[str]:
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


def objectives(c: SoftMarginCertificate | KernelCertificate) -> list[str]:
    return [f"  least objective: {between(c.dual, c.primal)}", f"  relative gap {rounded_up(c.relative_gap, 2)}"]


def class_weights(c: SoftMarginCertificate | KernelCertificate) -> str:
    if not c.class_weight:
        return ""
    return " times " + ", ".join(f"{number(weight)} for {label!r}" for label, weight in c.class_weight)


def kernel(c: KernelCertificate | KernelSeparationCertificate) -> str:
    kernels = {
        "poly": f"poly kernel ({number(c.gamma)} x.x' + {number(c.coef0)})^{c.degree}",
        "rbf": f"rbf kernel exp(-{number(c.gamma)} |x - x'|^2)",
        "function": "a function as the kernel",
    }
    return kernels.get(c.kernel, f"{c.kernel} kernel")


def sides(c: Any) -> str:
    return f"{c.positive!r} against {'the rest' if c.negative is None else repr(c.negative)}"


def problem(certificate: Certificate | SoftMarginCertificate | KernelCertificate) -> str:
    through_the_origin = not isinstance(certificate, KernelCertificate) and not certificate.fit_intercept
    plane = "through the origin" if through_the_origin else "with a bias"
    size = f"{certificate.n_rows:,} rows x {certificate.n_columns:,} columns"
    return f"  problem: {sides(certificate)}, {size}, {plane}"


def bounds(certificate: Certificate) -> list[str]:
    c = certificate
    if c.is_separable is False:
        return [problem(c), f"  best {c.norm} margin: 0, no plane has a positive one"]
    lines = [problem(c), f"  best {c.norm} margin: {between(c.margin_lower, c.margin_upper)}"]
    if c.margin_lower > 0.0:
        lines.append(f"  street (twice the margin): at least {rounded_down(2.0 * c.margin_lower, DIGITS)}")
        lines.append(
            f"  primal {rounded_up(c.primal, DIGITS)}, dual {rounded_down(c.dual, DIGITS)}, "
            f"relative gap of the margin {rounded_up(c.relative_gap, 2)}"
        )
    return lines


def rows(certificate: Certificate) -> list[str]:
    if certificate.is_separable is False:
        return [*witness(certificate), *rows_off_plane(certificate)]
    return heaviest_rows(certificate)


def rows_off_plane(c: Certificate) -> list[str]:
    """How many rows a weakly separating plane keeps off itself."""
    if c.rows_off_plane is None:
        return []
    return [f"  off the plane, on their own side: {c.rows_off_plane:,} of {c.n_rows:,} rows; all others lie on it"]


def further_look(c: Certificate) -> list[str]:
    """Why there is no weakly separating plane to speak of, which is no proof."""
    is_told = c.is_separable is False and c.further_look not in (FurtherLook.NOT_ASKED, FurtherLook.FOUND)
    return [c.further_look.value] if is_told else []


def witness(c: Certificate | KernelCertificate) -> list[str]:
    return [f"  witness: {c.n_support:,} rows whose hulls meet: {heaviest(c)}"]


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


def conditions(kkt: KKT, optimal: bool, goal: str = "the widest street") -> list[str]:
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
        lines.append(f"{theorem.name}: {theorem.measured:.6g} {promise}")
    return lines
