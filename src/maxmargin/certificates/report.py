"""A certificate as a person reads it."""

from __future__ import annotations

import math

from maxmargin.certificates.certificate import KKT, Certificate, Verdict

ROWS_SHOWN = 12


def report(certificate: Certificate) -> str:
    """The verdict, the bounds, the witness or the support, the conditions, the theorems."""
    lines = [certificate.verdict.value, *bounds(certificate), *rows(certificate)]
    if certificate.kkt is not None:
        lines += conditions(certificate.kkt, certificate.verdict is Verdict.OPTIMAL)
    for theorem in certificate.theorems:
        relation = "of at most" if theorem.at_most else "against at least"
        lines.append(f"  {theorem.name}: {theorem.measured:.6g} {relation} {theorem.bound:.6g}")
    return "\n".join(lines)


def bounds(certificate: Certificate) -> list[str]:
    sides = (
        f"{certificate.positive!r} against {'the rest' if certificate.negative is None else repr(certificate.negative)}"
    )
    plane = "with a bias" if certificate.fit_intercept else "through the origin"
    lines = [
        f"  problem: {sides}, {certificate.n_rows:,} rows x {certificate.n_columns:,} columns, {plane}",
        best_margin(certificate),
    ]
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
    if certificate.n_support == 0:
        return []
    heaviest = sorted(zip(certificate.weights, certificate.rows, strict=True), reverse=True)[:ROWS_SHOWN]
    shown = ", ".join(str(row) for row in sorted(row for _, row in heaviest))
    more = certificate.n_support - len(heaviest)
    others = f" and {more:,} more" if more > 0 else ""
    if certificate.verdict in (Verdict.NOT_SEPARABLE, Verdict.WEAKLY_SEPARABLE):
        return [f"  witness: {certificate.n_support} rows whose hulls meet: {shown}{others}"]
    return [f"  rows that carry weight: {certificate.n_support:,} of {certificate.n_rows:,}: {shown}{others}"]


def conditions(kkt: KKT, optimal: bool) -> list[str]:
    claim = "conditions of optimality" if optimal else "how far this plane is from the conditions of the widest street"
    lines = [f"  {claim}, largest violation (row):"]
    for name in ("stationarity", "primal", "dual", "slackness", "bias"):
        violation = getattr(kkt, name)
        where = f"  (row {violation.row})" if violation.row >= 0 and violation.value > 0.0 else ""
        value = f"{violation.value:.1e}" if math.isfinite(violation.value) else str(violation.value)
        lines.append(f"    {name:<13}{value}{where}")
    return lines
