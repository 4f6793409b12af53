"""`maxmargin check FILE`: does a plane separate the labels of a file? With proof, either way."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from maxmargin.cli.certified import Proof, proof_for_machines, tell_proof
from maxmargin.cli.console import ExitCode, Stopwatch, TimeLimit, UserError, check_time, messages, say, say_json
from maxmargin.cli.models import in_a_sentence
from maxmargin.cli.options import (
    AsJson,
    Data,
    MaxTime,
    NoBias,
    Positive,
    ReadingOptions,
    Scaling,
    Spelt,
    choice_of,
)
from maxmargin.cli.preparation import encoded
from maxmargin.cli.tables import DataFile, describe, headline, read
from maxmargin.estimators.declarations import NORM

if TYPE_CHECKING:
    from maxmargin import Certificate, MulticlassCertificate, TwoMargins

MOST_LABELS = 100
LABELS_SHOWN = 8


def check(
    data: Data,
    reading: Annotated[ReadingOptions, Spelt(in_one_place=True)],
    norm: Annotated[str, choice_of(NORM, "Which margin is measured.")] = NORM.default,
    no_bias: NoBias = False,
    positive: Positive = None,
    both_margins: Annotated[
        bool,
        typer.Option("--both-margins", help="Also the l2 and the l1 margin of the rows at length 1, and their tie."),
    ] = False,
    max_time: MaxTime = None,
    as_json: AsJson = False,
) -> int:
    """Tell whether a plane separates the labels of a file, with proof; a row of weight 0 does not count.

    Exit codes: 0 separable, 3 proven not separable, 2 undecided, 1 an error.
    """
    check_time(max_time)
    table = read(data, reading)
    limit = TimeLimit(max_time)
    if table.weights is not None:
        table = table.where(table.weights > 0.0)
    with in_a_sentence(table.name):
        table = encoded(table, Scaling.NONE, reading.impute)
    watch = Stopwatch()
    with messages.status(f"Looking for a plane between {table.X.shape[0]:,} rows"):
        certificate = ask(table, norm, not no_bias, positive, limit.left())
    margins = both(table, parts_of(certificate), not no_bias, limit) if both_margins else []
    with messages.status("Checking the proof"):
        proofs = [Proof(part, part.verify(table.X, table.y, exact=True)) for part in parts_of(certificate)]
    if as_json:
        say_json(summary(table, certificate.is_separable, proofs, margins, watch))
    else:
        print_answer(table, proofs, margins)
    verified = all(proof.verification for proof in proofs) and all(one.verified for one in margins)
    if certificate.is_separable is None or not verified:
        return ExitCode.UNPROVEN
    return ExitCode.FINE if certificate.is_separable else ExitCode.NOT_SEPARABLE


def ask(
    data: DataFile, norm: str, fit_intercept: bool, positive: str | None, max_time: float | None
) -> Certificate | MulticlassCertificate:
    """The library's answer; one label against the rest where one is named, otherwise all of them."""
    import numpy as np

    from maxmargin import MulticlassCertificate, separability

    labels = np.unique(data.y)
    if len(labels) < 2:
        raise UserError(f"{data.name}: every row has the label {labels[0].item()!r}; a plane separates two or more")
    if len(labels) > MOST_LABELS and positive is None:
        where = "" if data.label_name is None else f", column {data.label_name!r}"
        raise UserError(
            f"{data.name}{where}: {len(labels):,} different labels. Is it a measure and not a class? "
            "Choose another column with --label, or ask about one of them with --positive."
        )
    label = None if positive is None else find(positive, labels, data)
    asked = data.y if positive is None else (data.y == label).astype(int)
    try:
        certificate = separability(data.X, asked, norm=norm, fit_intercept=fit_intercept, max_time=max_time)
    except ValueError as error:
        raise UserError(f"{data.name}: {str(error).splitlines()[0]}") from None
    if positive is None or isinstance(certificate, MulticlassCertificate):
        return certificate
    # The question was put in numbers; the certificate speaks of the user's labels, and can be verified with them.
    others = [other for other in labels.tolist() if other != label]
    return dataclasses.replace(certificate, positive=label, negative=others[0] if len(others) == 1 else None)


def find(wanted: str, labels: Any, data: DataFile) -> Any:
    """The label that the user wrote, as it is in the data: 1, +1 and 1.0 are the same number."""
    known = labels.tolist()
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


def parts_of(certificate: Certificate | MulticlassCertificate) -> tuple[Certificate, ...]:
    from maxmargin import Certificate, MulticlassCertificate

    parts = certificate.parts if isinstance(certificate, MulticlassCertificate) else (certificate,)
    return tuple(part for part in parts if isinstance(part, Certificate))


def both(data: DataFile, parts: tuple[Certificate, ...], fit_intercept: bool, limit: TimeLimit) -> list[Margins]:
    """The two margins of each question, and whether they hold in exact arithmetic."""
    from maxmargin import two_margins

    found = []
    for part in parts:
        rows = data.where((data.y == part.positive) | ((data.y == part.negative) | (part.negative is None)))
        labels = rows.y == part.positive
        margins = two_margins(rows.X, labels, fit_intercept=fit_intercept, max_time=limit.left())
        found.append(Margins(margins, margins.verify(rows.X, labels, exact=True)))
    return found


class Margins(NamedTuple):
    """Two margins, and whether they were verified."""

    margins: TwoMargins
    verified: bool


def print_answer(data: DataFile, proofs: list[Proof], margins: list[Margins]) -> None:
    """The report of each question, the rows of every witness, and the two margins where they were asked for."""
    say(headline(data))
    for number, proof in enumerate(proofs):
        say()
        tell_proof(data, proof)
        if margins:
            say(str(margins[number].margins))
            say("  Verified in exact rational arithmetic." if margins[number].verified else "  NOT VERIFIED.")


def summary(
    data: DataFile, separable: bool | None, proofs: list[Proof], margins: list[Margins], watch: Stopwatch
) -> dict[str, Any]:
    """All of it as plain values."""
    told = [one.margins.to_dict() | {"verified": one.verified} for one in margins]
    return {
        **describe(data),
        "separable": separable,
        "seconds": watch.seconds,
        "seconds_compiling": watch.compiling,
        "problems": [proof_for_machines(data, proof) for proof in proofs],
        **({"both_margins": told} if margins else {}),
    }
