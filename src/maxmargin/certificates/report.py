"""A certificate as a person reads it."""

from __future__ import annotations

import math

import numpy as np

from maxmargin.certificates.certificate import Certificate, FurtherLook, Verdict
from maxmargin.certificates.kernel_margin import KernelCertificate, KernelVerdict
from maxmargin.certificates.proof import KKT, TheoremBound
from maxmargin.certificates.soft_margin import SoftMarginCertificate

ROWS_SHOWN = 12


def report(certificate: Certificate) -> str:
    """The verdict, the bounds, the witness or the support, the conditions, the theorems."""
    lines = [certificate.verdict.value, *bounds(certificate), *rows(certificate)]
    if certificate.kkt is not None:
        lines += conditions(certificate.kkt, certificate.verdict is Verdict.OPTIMAL)
    return "\n".join([*lines, *beside_practice(certificate.theorems)])


def soft_report(certificate: SoftMarginCertificate) -> str:
    """The verdict, the bounds, the support, the conditions, the theorems of a soft margin."""
    weighted = " with class weights" if certificate.class_weight else ""
    lines = [
        certificate.verdict.value,
        problem(certificate),
        f"  {certificate.loss.replace('_', ' ')}, C = {certificate.C:g}{weighted}",
        f"  least objective: between {certificate.dual:.12g} and {certificate.primal:.12g}",
        f"  relative gap {certificate.relative_gap:.1e}, asked for {certificate.tol:.1e}",
        *heaviest_rows(certificate),
    ]
    if certificate.kkt is not None:
        lines += conditions(certificate.kkt, certificate.is_optimal, "the optimum")
    return "\n".join([*lines, *beside_practice(certificate.theorems)])


def kernel_report(certificate: KernelCertificate) -> str:
    """The verdict, the bounds, the support or the witness, the conditions of a margin in the space of a kernel."""
    c = certificate
    lines = [c.verdict.value, problem(c), kernel_question(c)]
    if c.verdict is KernelVerdict.NOT_SEPARABLE:
        lines.append("  best margin: 0, no plane has a positive one")
        shown = heaviest_rows(c)[0].rsplit(": ", 1)[1] if c.n_support else "none"
        return "\n".join([*lines, f"  witness: {c.n_support} rows whose hulls meet: {shown}"])
    if c.is_hard:
        lines.append(f"  best margin: between {c.margin_lower:.12g} and {c.margin_upper:.12g}")
    lines += [
        f"  least objective: between {c.dual:.12g} and {c.primal:.12g}",
        f"  relative gap {c.relative_gap:.1e}, asked for {c.tol:.1e}",
        *heaviest_rows(c),
    ]
    if c.kernel in ("function", "precomputed"):
        lines.append("  on the condition that the kernel is positive semidefinite, which was not checked")
    if c.kkt is not None:
        lines += conditions(c.kkt, c.is_optimal, "the optimum")
    return "\n".join([*lines, *beside_practice(c.theorems)])


def kernel_question(c: KernelCertificate) -> str:
    kernels = {
        "poly": f"poly kernel ({c.gamma:g} x.x' + {c.coef0:g})^{c.degree}",
        "rbf": f"rbf kernel exp(-{c.gamma:g} |x - x'|^2)",
        "function": "a function as the kernel",
    }
    weighted = " with class weights" if c.class_weight else ""
    margin = "hard margin" if c.is_hard else f"hinge, C = {c.C:g}{weighted}"
    return f"  {kernels.get(c.kernel, f'{c.kernel} kernel')}, {margin}"


def problem(certificate: Certificate | SoftMarginCertificate | KernelCertificate) -> str:
    sides = (
        f"{certificate.positive!r} against {'the rest' if certificate.negative is None else repr(certificate.negative)}"
    )
    through_the_origin = not isinstance(certificate, KernelCertificate) and not certificate.fit_intercept
    plane = "through the origin" if through_the_origin else "with a bias"
    return f"  problem: {sides}, {certificate.n_rows:,} rows x {certificate.n_columns:,} columns, {plane}"


def bounds(certificate: Certificate) -> list[str]:
    lines = [problem(certificate), best_margin(certificate)]
    if certificate.margin_lower > 0.0:
        lines.append(f"  street (twice the margin): {2.0 * certificate.margin_lower:.12g}")
        lines.append(
            f"  primal {certificate.primal:.12g}, dual {certificate.dual:.12g}, "
            f"relative gap of the margin {certificate.relative_gap:.1e}"
        )
    return lines


def best_margin(certificate: Certificate) -> str:
    if certificate.is_separable is False:
        return f"  best {certificate.norm} margin: 0, no plane has a positive one"
    if certificate.margin_lower == -math.inf:
        return f"  best {certificate.norm} margin: at most {certificate.margin_upper:.12g}"
    lower, upper = certificate.margin_lower, certificate.margin_upper
    return f"  best {certificate.norm} margin: between {lower:.12g} and {upper:.12g}"


def rows(certificate: Certificate) -> list[str]:
    lines = heaviest_rows(certificate)
    if lines and certificate.verdict in (Verdict.NOT_SEPARABLE, Verdict.WEAKLY_SEPARABLE):
        shown = lines[0].rsplit(": ", 1)[1]
        return [f"  witness: {certificate.n_support} rows whose hulls meet: {shown}", *further_look(certificate)]
    return lines


def further_look(certificate: Certificate) -> list[str]:
    """How many rows a weakly separating plane keeps off itself; or why there is none to speak of, which is no proof."""
    look, off = certificate.further_look, certificate.rows_off_plane
    if off is not None:
        return [f"  off the plane, on their own side: {off:,} of {certificate.n_rows:,} rows; all others lie on it"]
    if look in (FurtherLook.NOT_ASKED, FurtherLook.FOUND):
        return []
    return [f"  as the algorithm reported: {look.value}"]


def heaviest_rows(certificate: Certificate | SoftMarginCertificate | KernelCertificate) -> list[str]:
    if certificate.n_support == 0:
        return []
    heaviest = certificate.rows[np.argsort(-certificate.weights, kind="stable")[:ROWS_SHOWN]]
    shown = ", ".join(str(row) for row in sorted(heaviest))
    more = certificate.n_support - len(heaviest)
    others = f" and {more:,} more" if more > 0 else ""
    return [f"  rows that carry weight: {certificate.n_support:,} of {certificate.n_rows:,}: {shown}{others}"]


def conditions(kkt: KKT, optimal: bool, goal: str = "the widest street") -> list[str]:
    claim = "conditions of optimality" if optimal else f"how far this plane is from the conditions of {goal}"
    lines = [f"  {claim}, largest violation (row):"]
    for name in ("stationarity", "primal", "dual", "slackness", "bias"):
        violation = getattr(kkt, name)
        where = f"  (row {violation.row})" if violation.row >= 0 and violation.value > 0.0 else ""
        value = f"{violation.value:.1e}" if math.isfinite(violation.value) else str(violation.value)
        lines.append(f"    {name:<13}{value}{where}")
    return lines


def beside_practice(theorems: tuple[TheoremBound, ...]) -> list[str]:
    lines = []
    for theorem in theorems:
        relation = "of at most" if theorem.at_most else "against at least"
        promise = "without a bound" if math.isinf(theorem.bound) else f"{relation} {theorem.bound:.6g}"
        lines.append(f"  {theorem.name}: {theorem.measured:.6g} {promise}")
    return lines
