"""What is proven, on one screen and as plain values; the rows of the file that carry it; the exit code that says it."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from maxmargin.certificates.rounding import rounded_down, rounded_gap, rounded_up
from maxmargin.cli.console import ExitCode, say, show
from maxmargin.cli.tables import DataFile

if TYPE_CHECKING:
    from maxmargin import Certificate, Verification

ROWS_SHOWN = 12
COLUMNS_SHOWN = 8
MOST_VALUES = 2**24  # of a kernel, to predict from the dual: fractions of a second
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


def tell_normalized(model: Any) -> None:
    """What is proven of the rows at length 1, beside the margin of the rows as they are."""
    if not hasattr(model, "normalized_margin_"):
        return
    from maxmargin.certificates.report import between, sides
    from maxmargin.estimators.model_verification import normalized_margins

    found = normalized_margins(model)
    for part, margin in zip(parts_of(model.certificate_), found, strict=True):
        which = f" ({sides(part)})" if len(found) > 1 else ""
        kind = "cosine" if part.norm == "l2" else "l1 margin"
        says = "no plane separates them" if margin.upper == 0.0 else between(margin.lower, margin.upper, 9)
        say(f"  rows at length 1{which}: best {kind} {says}")


def normalized_for_machines(model: Any) -> dict[str, Any]:
    """The same as plain values, where it was asked for."""
    from maxmargin.estimators.model_verification import normalized_margins

    found = [margin._asdict() for margin in normalized_margins(model)]
    return {"normalized_margin": found} if found else {}


def table_of(parts: tuple[Any, ...]) -> Table:
    """A line for each plane."""
    from maxmargin.certificates.report import bounds_of, sides

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


class Proof(NamedTuple):
    """A certificate of separability, and whether it holds on the data."""

    certificate: Certificate
    verification: Verification


def tell_proof(data: DataFile, proof: Proof) -> None:
    """The report; where it is a witness, its rows; and what the check of it said."""
    say(proof.certificate.report())
    if proof.certificate.is_separable is False and proof.certificate.n_support:
        show(table_of_rows(data, proof.certificate))
    say(f"  {proof.verification}")


def proof_for_machines(data: DataFile, proof: Proof) -> dict[str, Any]:
    """The same as plain values; the certificate is what `Certificate.from_json` reads."""
    return {
        "certificate": json.loads(proof.certificate.to_json()),
        "verification": dataclasses.asdict(proof.verification),
        "carrying_rows": rows_for_machines(data, proof.certificate),
    }


def heaviest(certificate: Certificate, most: int | None = ROWS_SHOWN) -> list[tuple[int, float]]:
    """The rows that carry weight and their weights, in the order of the table; the heaviest where they are many."""
    pairs = zip(certificate.rows.tolist(), certificate.weights.tolist(), strict=True)
    carrying = sorted((pair for pair in pairs if pair[1] > 0.0), key=lambda pair: -pair[1])
    return sorted(carrying[:most])


def table_of_rows(data: DataFile, certificate: Certificate) -> Table:
    """The rows that carry the proof, with the lines where they stand in the file."""
    rows = heaviest(certificate)
    more = certificate.n_support - len(rows)
    table = Table(
        caption=f"and {more:,} more" if more > 0 else None, header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
    )
    names = [name for name, _ in contents(data, rows[0][0])] if data.feature_names is not None else []
    for heading in ("line", "weight", data.label_name or "label", *(names or ["contents"])):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for row, weight in rows:
        values = [f"{value:g}" for _, value in contents(data, row)]
        if data.feature_names is None:
            values = ["  ".join(f"{name}:{value:g}" for name, value in contents(data, row))]
        cells = [data.place_told(row), f"{weight:.4g}", str(data.y[row]), *values]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def contents(data: DataFile, row: int, most: int | None = COLUMNS_SHOWN) -> list[tuple[str, float]]:
    """The first columns of a row by name; of a sparse row the first entries, by index."""
    if data.feature_names is not None:
        return list(zip(data.feature_names[:most], data.X[row].tolist()[:most], strict=True))
    entries = data.X[[row]].tocoo()
    pairs = zip(entries.col.tolist(), entries.data.tolist(), strict=True)
    first = 0 if data.zero_based else 1
    return [(str(index + first), value) for index, value in sorted(pairs)[:most]]


def rows_for_machines(data: DataFile, certificate: Certificate) -> list[dict[str, Any]]:
    """All rows that carry weight as plain values; the contents too where they are a witness, which is small."""
    is_witness = certificate.is_separable is False
    return [
        {
            "row": row,
            **data.place_of(row),
            "weight": weight,
            "label": data.y[row].item(),
            **({"contents": contents(data, row, most=None)} if is_witness else {}),
        }
        for row, weight in heaviest(certificate, most=None)
    ]


def dual_answer(classifier: Any, X: Any, y: Any, weights: Any) -> Any:
    """What the multipliers say by themselves (`from_dual`); None of a classifier without them, or of very many."""
    by_its_dual = type(classifier).__name__ in ("HardMarginSVM", "LinearSVM", "LinearSVMCV", "KernelSVM")
    by_its_dual = by_its_dual and not getattr(classifier, "normalize_rows", False)  # then of other rows
    if not by_its_dual or not 0 < len(getattr(classifier, "support_", ())) * len(y) <= MOST_VALUES:
        return None
    from maxmargin.teaching.dual_answer import from_dual

    try:
        return from_dual(classifier, X, y, sample_weight=weights)
    except ValueError:  # many classes, or multipliers that make no plane
        return None
