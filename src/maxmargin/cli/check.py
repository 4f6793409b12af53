"""`maxmargin check FILE`: does a plane separate the labels of a file? With proof, either way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin.cli import datafile
from maxmargin.cli.console import ExitCode, messages, say, say_json
from maxmargin.cli.datafile import DataFile, Format, describe, headline
from maxmargin.cli.model import in_a_sentence
from maxmargin.cli.options import (
    AsJson,
    Categorical,
    Data,
    Features,
    FileFormat,
    Id,
    Ignore,
    Impute,
    Label,
    MaxTime,
    NoBias,
    NoHeader,
    Norm,
    Positive,
    Scaling,
    Sql,
    Text,
    TimeLimit,
    Weight,
    ZeroBased,
    check_time,
)
from maxmargin.cli.preparation import encoded
from maxmargin.cli.proof import Proof, proof_for_machines, tell_proof
from maxmargin.cli.question import ask
from maxmargin.cli.stopwatch import Stopwatch
from maxmargin.estimators.declarations import NORM

if TYPE_CHECKING:
    from maxmargin import Certificate, MulticlassCertificate


def check(
    file: Data,
    label: Label = None,
    weight: Weight = None,
    ignore: Ignore = None,
    id: Id = None,
    categorical: Categorical = None,
    text: Text = None,
    impute: Impute = False,
    n_features: Features = None,
    zero_based: ZeroBased = None,
    sql: Sql = None,
    no_header: NoHeader = False,
    format: FileFormat = Format.AUTO,
    norm: Norm = NORM.default,
    no_bias: NoBias = False,
    positive: Positive = None,
    max_time: MaxTime = None,
    as_json: AsJson = False,
) -> int:
    """Tell whether a plane separates the labels of a file, with proof; a row of weight 0 does not count.

    Exit codes: 0 separable, 3 proven not separable, 2 undecided, 1 an error.
    """
    check_time(max_time)
    with messages.status(f"Reading {file}"):
        data = datafile.read(
            file, format, label, not no_header, weight=weight, ignore=ignore, id=id, categorical=categorical, text=text,
            impute=impute, n_features=n_features, zero_based=zero_based, sql=sql,
        )  # fmt: skip
    limit = TimeLimit(max_time)
    if data.weights is not None:
        data = data.where(data.weights > 0.0)
    with in_a_sentence(data.name):
        data = encoded(data, Scaling.NONE, impute)
    watch = Stopwatch()
    with messages.status(f"Looking for a plane between {data.X.shape[0]:,} rows"):
        certificate = ask(data, norm, not no_bias, positive, limit.left())
    with messages.status("Checking the proof"):
        proofs = [Proof(part, part.verify(data.X, data.y, exact=True)) for part in parts_of(certificate)]
    if as_json:
        say_json(summary(data, certificate.is_separable, proofs, watch))
    else:
        print_answer(data, proofs)
    if certificate.is_separable is None or not all(proof.verification for proof in proofs):
        return ExitCode.UNPROVEN
    return ExitCode.FINE if certificate.is_separable else ExitCode.NOT_SEPARABLE


def parts_of(certificate: Certificate | MulticlassCertificate) -> tuple[Certificate, ...]:
    from maxmargin import Certificate, MulticlassCertificate

    parts = certificate.parts if isinstance(certificate, MulticlassCertificate) else (certificate,)
    return tuple(part for part in parts if isinstance(part, Certificate))


def print_answer(data: DataFile, proofs: list[Proof]) -> None:
    """The report of each question, and the rows of every witness."""
    say(headline(data))
    for proof in proofs:
        say()
        tell_proof(data, proof)


def summary(data: DataFile, separable: bool | None, proofs: list[Proof], watch: Stopwatch) -> dict[str, Any]:
    """All of it as plain values."""
    return {
        **describe(data),
        "separable": separable,
        "seconds": watch.seconds,
        "seconds_compiling": watch.compiling,
        "problems": [proof_for_machines(data, proof) for proof in proofs],
    }
