"""`maxmargin check FILE`: does a plane separate the labels of a file? With proof, either way."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maxmargin.cli import datafile
from maxmargin.cli.console import ExitCode, UserError, messages, say, say_json
from maxmargin.cli.datafile import DataFile, Format
from maxmargin.cli.proof import Proof, proof_for_machines, tell_proof
from maxmargin.cli.question import ask

if TYPE_CHECKING:
    from maxmargin import Certificate, MulticlassCertificate

LABELS_SHOWN = 8


class NormName(StrEnum):
    """The margins that can be asked for."""

    L2 = "l2"
    L1 = "l1"


def check(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A CSV or SVMlight file, .gz too; - reads standard input.")
    ],
    label: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|INDEX",
            help="The column of labels: its name, or its index from 0 (-1 is the last). "
            "Without it: the one column called label, y, target or class.",
        ),
    ] = None,
    no_header: Annotated[bool, typer.Option("--no-header", help="The first line is data.")] = False,
    format: Annotated[Format, typer.Option(help="How the file is written.")] = Format.AUTO,
    norm: Annotated[NormName, typer.Option(help="Which margin is measured.")] = NormName.L2,
    no_bias: Annotated[bool, typer.Option("--no-bias", help="Only planes through the origin.")] = False,
    positive: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Ask about this label against all others only.")
    ] = None,
    max_time: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Stop then, with the bounds that are proven so far.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole proof, for machines.")] = False,
) -> int:
    """Tell whether a plane separates the labels of a file, with proof.

    Exit codes: 0 separable, 3 proven not separable, 2 undecided, 1 an error.
    """
    if max_time is not None and not max_time > 0.0:
        raise UserError(f"--max-time must be a positive number of seconds, not {max_time:g}")
    with messages.status(f"Reading {file}"):
        data = datafile.read(file, format, label, header=not no_header)
    begun = time.perf_counter()
    with messages.status(f"Looking for a plane between {data.X.shape[0]:,} rows"):
        certificate = ask(data, norm.value, not no_bias, positive, max_time)
    with messages.status("Checking the proof"):
        proofs = [Proof(part, part.verify(data.X, data.y, exact=True)) for part in parts_of(certificate)]
    if as_json:
        say_json(summary(data, certificate.is_separable, proofs, time.perf_counter() - begun))
    else:
        tell(data, proofs)
    if certificate.is_separable is None or not all(proof.verification for proof in proofs):
        return ExitCode.UNPROVEN
    return ExitCode.FINE if certificate.is_separable else ExitCode.NOT_SEPARABLE


def parts_of(certificate: Certificate | MulticlassCertificate) -> tuple[Certificate, ...]:
    from maxmargin import Certificate, MulticlassCertificate

    parts = certificate.parts if isinstance(certificate, MulticlassCertificate) else (certificate,)
    return tuple(part for part in parts if isinstance(part, Certificate))


def tell(data: DataFile, proofs: list[Proof]) -> None:
    """The report of each question, and the rows of every witness."""
    rows, columns = data.X.shape
    counts = count_labels(data)
    shown = [f"{label!r} ({count:,})" for label, count in counts[:LABELS_SHOWN]]
    shown += [f"{len(counts) - LABELS_SHOWN} more"] if len(counts) > LABELS_SHOWN else []
    say(f"{data.name}: {rows:,} rows x {columns:,} columns, {len(counts)} labels: {', '.join(shown)}")
    for proof in proofs:
        say()
        tell_proof(data, proof)


def count_labels(data: DataFile) -> list[tuple[Any, int]]:
    import numpy as np

    labels, counts = np.unique(data.y, return_counts=True)
    return list(zip(labels.tolist(), counts.tolist(), strict=True))


def summary(data: DataFile, separable: bool | None, proofs: list[Proof], seconds: float) -> dict[str, Any]:
    """All of it as plain values."""
    return {
        "file": data.name,
        "format": data.format.value,
        "rows": data.X.shape[0],
        "columns": data.X.shape[1],
        "labels": [{"label": label, "count": count} for label, count in count_labels(data)],
        "separable": separable,
        "seconds": seconds,
        "problems": [proof_for_machines(data, proof) for proof in proofs],
    }
