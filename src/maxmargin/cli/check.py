"""`maxmargin check FILE`: does a plane separate the labels of a file? With proof, either way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from maxmargin.cli.checked import Margins, Proof, find, in_words, print_answer, refuse_labels, summary
from maxmargin.cli.console import (
    ExitCode,
    Stopwatch,
    TimeLimit,
    UserError,
    check_time,
    in_a_sentence,
    messages,
    say_json,
)
from maxmargin.cli.options import (
    AsJson,
    Data,
    MaxTime,
    Memory,
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
    from maxmargin import Certificate, MulticlassCertificate


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
    memory: Memory = None,
    as_json: AsJson = False,
) -> int:
    """Tell whether a plane separates the labels of a file, with proof; a row of weight 0 does not count.

    Exit codes: 0 separable, 3 proven not separable, 2 undecided, 1 an error.
    """
    check_time(max_time)
    if memory is not None:
        from maxmargin.cli.check_by_blocks import check_by_blocks

        if both_margins:
            raise UserError("--both-margins has the rows in memory: leave it out, or --memory")
        return check_by_blocks(data, reading, memory, norm, not no_bias, positive, max_time, as_json)
    table = read(data, reading)
    limit = TimeLimit(max_time)
    if table.weights is not None:
        table = table.where(table.weights > 0.0)
    with in_a_sentence(table.name):
        table = encoded(table, Scaling.NONE, reading.impute)
    watch = Stopwatch()
    with messages.status(f"Looking for a plane between {table.X.shape[0]:,} rows"):
        certificate = ask(table, norm, not no_bias, positive, limit.left())
    parts: tuple[Any, ...] = certificate.parts
    margins = both(table, parts, not no_bias, limit) if both_margins else []
    with messages.status("Checking the proof"):
        proofs = [Proof(part, part.verify(table.X, table.y, exact=True)) for part in parts]
    if as_json:
        say_json(summary(table, describe(table), certificate.is_separable, proofs, margins, watch))
    else:
        print_answer(table, headline(table), proofs, margins)
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

    labels = np.unique(data.y).tolist()
    refuse_labels(data, labels, positive)
    label = None if positive is None else find(positive, labels, data)
    asked = data.y if positive is None else (data.y == label).astype(int)
    try:
        certificate = separability(data.X, asked, norm=norm, fit_intercept=fit_intercept, max_time=max_time)
    except ValueError as error:
        raise UserError(f"{data.name}: {str(error).splitlines()[0]}") from None
    if positive is None or isinstance(certificate, MulticlassCertificate):
        return certificate
    return in_words(certificate, label, labels)


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
