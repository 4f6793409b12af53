"""`maxmargin audit MODEL DATA`: how far from the optimum is a model, proven?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from maxmargin.cli import datafile
from maxmargin.cli.console import ExitCode, messages, say, say_json
from maxmargin.cli.datafile import Format
from maxmargin.cli.model import in_a_sentence, load_and_read
from maxmargin.cli.options import (
    AsJson,
    ClassWeight,
    Data,
    Features,
    FileFormat,
    Id,
    Ignore,
    Label,
    MaxTime,
    NoHeader,
    Tolerance,
    Weight,
    check_time,
)
from maxmargin.cli.textmodel import for_audit

if TYPE_CHECKING:
    from maxmargin.estimators.audit_result import Audit

SHARP = 1e-5  # the gap to which the optimum is sought


def audit(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model of maxmargin, or a text model of LIBSVM or LIBLINEAR.")
    ],
    data: Data,
    label: Label = None,
    weight: Weight = None,
    ignore: Ignore = None,
    id: Id = None,
    n_features: Features = None,
    C: Annotated[
        float | None,
        typer.Option("--C", "-c", metavar="NUMBER", help="The C of a text model, which its file does not tell."),
    ] = None,
    class_weight: ClassWeight = None,
    tol: Tolerance = None,
    max_time: MaxTime = None,
    no_header: NoHeader = False,
    format: FileFormat = Format.AUTO,
    as_json: AsJson = False,
) -> int:
    """Measure a model on the data that it was fitted on, against a proven bound of the best.

    Exit codes: 0 the optimum is known, 2 stopped before it was, 3 proven not separable, 1 an error.
    """
    from maxmargin.estimators.audit import audit as audited

    check_time(max_time)
    loaded, table = load_and_read(
        model, data, format, label, not no_header, weight=weight, ignore=ignore, id=id, n_features=n_features
    )
    loaded = for_audit(loaded, model, C, class_weight)
    with in_a_sentence(table.name):
        X = loaded.prepared(table)
        verbose = int(messages.is_terminal)
        answer = audited(
            loaded.classifier,
            X,
            table.y,
            table.weights,
            tol=SHARP if tol is None else tol,
            max_time=max_time,
            verbose=verbose,
        )
    if as_json:
        say_json({"file": table.name, "exit_code": int(code_of(answer)), **json.loads(answer.to_json())})
    else:
        say(datafile.headline(table))
        say(answer.report())
    return int(code_of(answer))


def code_of(answer: Audit) -> ExitCode:
    """Whether the optimum of every plane is known."""
    verdicts = {part.certificate.verdict.name for part in answer}
    if verdicts & {"NOT_SEPARABLE", "WEAKLY_SEPARABLE"}:
        return ExitCode.NOT_SEPARABLE
    return ExitCode.FINE if verdicts == {"OPTIMAL"} else ExitCode.UNPROVEN
