"""What `maxmargin check` is asked and tells, of rows in memory and by blocks: labels, certificates, the two margins."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

from maxmargin.cli.certified import Proof, proof_for_machines, tell_proof
from maxmargin.cli.console import Stopwatch, UserError, say
from maxmargin.cli.tables import DataFile

if TYPE_CHECKING:
    from maxmargin import Certificate, MulticlassCertificate, TwoMargins

MOST_LABELS = 100
LABELS_SHOWN = 8


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


def parts_of(certificate: Certificate | MulticlassCertificate) -> tuple[Certificate, ...]:
    from maxmargin import Certificate, MulticlassCertificate

    parts = certificate.parts if isinstance(certificate, MulticlassCertificate) else (certificate,)
    return tuple(part for part in parts if isinstance(part, Certificate))


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
