"""What a fit has proven, on one screen and as plain values; and the exit code that says it."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from rich import box
from rich.table import Table

from maxmargin.certificates.report import bounds_of, sides
from maxmargin.certificates.rounding import rounded_down, rounded_gap, rounded_up
from maxmargin.cli.console import ExitCode, say, show

FULL_REPORTS = 2  # of so many planes; of more, a line for each
PROVEN = ("OPTIMAL", "SEPARABLE")
IMPOSSIBLE = ("NOT_SEPARABLE", "WEAKLY_SEPARABLE")


def parts_of(certificate: Any) -> tuple[Any, ...]:
    """The certificates of the planes."""
    return tuple(getattr(certificate, "parts", (certificate,)))


def exit_code(certificate: Any, verification: Any) -> ExitCode:
    """Proven, proven not to be possible, or neither."""
    verdicts = [part.verdict.name for part in parts_of(certificate)]
    if not verification:
        return ExitCode.UNPROVEN
    if any(verdict in IMPOSSIBLE for verdict in verdicts):
        return ExitCode.NOT_SEPARABLE
    return ExitCode.FINE if all(verdict in PROVEN for verdict in verdicts) else ExitCode.UNPROVEN


def tell_certificate(certificate: Any, verification: Any) -> None:
    """The report of a plane or two; of many, a table. What does not hold is no headline: why not comes first."""
    parts, checked = parts_of(certificate), str(verification)
    if not verification:
        say(checked)
        say("What the certificate claims, and what these data do not confirm:")
    if len(parts) <= FULL_REPORTS:
        say(certificate.report())
    else:
        show(table_of(parts))
        checked = f"{checked.partition(':')[0]}: all {len(parts)} planes." if verification else checked
    if verification:
        say(f"  {checked}")


def table_of(parts: tuple[Any, ...]) -> Table:
    """A line for each plane."""
    table = Table(header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("plane", "verdict", "optimum between", "and", "gap", "rows with weight"):
        table.add_column(heading, justify="left" if heading in ("plane", "verdict") else "right", no_wrap=True)
    for part in parts:
        _, low, high = bounds_of(part)
        bounds = (rounded_down(low), rounded_up(high), rounded_gap(part.relative_gap))
        table.add_row(sides(part), part.verdict.name.lower().replace("_", " "), *bounds, f"{part.n_support:,}")
    return table


def certificate_for_machines(certificate: Any, verification: Any) -> dict[str, Any]:
    """The same as plain values; the certificate is what `from_json` reads."""
    return {
        "verdicts": [part.verdict.name for part in parts_of(certificate)],
        "relative_gap": certificate.relative_gap,
        "certificate": json.loads(certificate.to_json()),
        "verification": dataclasses.asdict(verification),
    }
