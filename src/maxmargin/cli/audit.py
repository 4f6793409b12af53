"""`maxmargin audit MODEL DATA`: how far from the optimum is a model, proven?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from maxmargin.cli import datafile
from maxmargin.cli.certified import IMPOSSIBLE
from maxmargin.cli.console import ExitCode, UserError, say, say_json
from maxmargin.cli.datafile import Format
from maxmargin.cli.model import Model, in_a_sentence, load_and_read
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
    Sql,
    TimeLimit,
    Tolerance,
    Weight,
    ZeroBased,
    check_time,
)
from maxmargin.cli.progress import gap_shown
from maxmargin.cli.textmodel import for_audit

if TYPE_CHECKING:
    from maxmargin.estimators.audit_result import Audit

SHARP = 1e-5  # the gap to which the optimum is sought


def audit(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model of maxmargin, a skops file, or a text model.")],
    data: Data,
    label: Label = None,
    weight: Weight = None,
    ignore: Ignore = None,
    id: Id = None,
    n_features: Features = None,
    zero_based: ZeroBased = None,
    sql: Sql = None,
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
        model, data, format, label, not no_header, any_estimator=True, weight=weight, ignore=ignore, id=id,
        n_features=n_features, zero_based=zero_based, sql=sql,
    )  # fmt: skip
    limit = TimeLimit(max_time)
    loaded = for_audit(loaded, model, C, class_weight)
    with in_a_sentence(table.name), as_a_fit_leaves_it(model, loaded):
        X = loaded.prepared(table)
        sharp = SHARP if tol is None else tol
        with gap_shown("Seeking the optimum", sharp):
            answer = audited(loaded.classifier, X, table.y, table.weights, tol=sharp, max_time=limit.left())
        same = loaded.is_fitted_on(X, table.y)
    if as_json:
        found = {"file": table.name, "is_the_data_of_the_fit": same, "exit_code": int(code_of(answer))}
        say_json({**found, **json.loads(answer.to_json())})
    else:
        say(datafile.headline(table))
        say(answer.report())
        if same is False:
            say("  These are not the data that the model was fitted on, by their fingerprint.")
    return int(code_of(answer))


@contextmanager
def as_a_fit_leaves_it(path: str, loaded: Model) -> Iterator[None]:
    """The attributes of a model of another program can be anything."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        if loaded.written_by != "skops":
            raise
        raise UserError(f"{path} is not as a fit leaves a model: {str(error).splitlines()[0]}") from None


def code_of(answer: Audit) -> ExitCode:
    """Whether the optimum of every plane is known."""
    verdicts = {part.certificate.verdict.name for part in answer}
    if verdicts & set(IMPOSSIBLE):
        return ExitCode.NOT_SEPARABLE
    return ExitCode.FINE if verdicts == {"OPTIMAL"} else ExitCode.UNPROVEN
