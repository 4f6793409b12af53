"""What `maxmargin check` is asked and tells, of rows in memory and by blocks: labels, certificates, the rows of a file
that carry a proof, the two margins."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from maxmargin.cli.console import Stopwatch, UserError, say, show
from maxmargin.cli.tables import DataFile

if TYPE_CHECKING:
    from maxmargin import Certificate, TwoMargins, Verification

MOST_LABELS = 100
LABELS_SHOWN = 8
ROWS_SHOWN = 12
COLUMNS_SHOWN = 8


def refuse_labels(data: DataFile, labels: list[Any], positive: str | None) -> None:
    """One label, or as many as a measure has."""
    if len(labels) < 2:
        raise UserError(f"{data.name}: every row has the label {labels[0]!r}; a plane separates two or more")
    if len(labels) > MOST_LABELS and positive is None:
        where = "" if data.label_name is None else f", column {data.label_name!r}"
        raise UserError(
            f"{data.name}{where}: {len(labels):,} different labels. Is it a measure and not a class? "
            "Choose another column with --label, or ask about one of them with --positive."
        )


def find(wanted: str, known: list[Any], data: DataFile) -> Any:
    """The label that the user wrote, as it is in the data: 1, +1 and 1.0 are the same number."""
    for label in known:
        if str(label) == wanted:
            return label
    for label in known:
        try:
            if not isinstance(label, str) and float(wanted) == label:
                return label
        except ValueError:
            break
    shown = ", ".join(repr(label) for label in known[:LABELS_SHOWN]) + (" ..." if len(known) > LABELS_SHOWN else "")
    raise UserError(f"{data.name} has no label {wanted!r} for --positive; it has {shown}")


def in_words(certificate: Certificate, label: Any, labels: list[Any]) -> Certificate:
    """The question was put in numbers; the certificate speaks of the user's labels, and can be verified with them."""
    others = [other for other in labels if other != label]
    return dataclasses.replace(certificate, positive=label, negative=others[0] if len(others) == 1 else None)


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


class Margins(NamedTuple):
    """Two margins, and whether they were verified."""

    margins: TwoMargins
    verified: bool


def print_answer(data: Any, first_line: str, proofs: list[Proof], margins: list[Margins]) -> None:
    """The report of each question, the rows of every witness, and the two margins where they were asked for."""
    say(first_line)
    for number, proof in enumerate(proofs):
        say()
        tell_proof(data, proof)
        if margins:
            say(str(margins[number].margins))
            say("  Verified in exact rational arithmetic." if margins[number].verified else "  NOT VERIFIED.")


def summary(
    data: Any,
    description: dict[str, Any],
    separable: bool | None,
    proofs: list[Proof],
    margins: list[Margins],
    watch: Stopwatch,
) -> dict[str, Any]:
    """All of it as plain values."""
    told = [one.margins.to_dict() | {"verified": one.verified} for one in margins]
    return {
        **description,
        "separable": separable,
        "seconds": watch.seconds,
        "seconds_compiling": watch.compiling,
        "problems": [proof_for_machines(data, proof) for proof in proofs],
        **({"both_margins": told} if margins else {}),
    }
