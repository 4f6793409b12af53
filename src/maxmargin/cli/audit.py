"""`maxmargin audit MODEL DATA`: how far from the optimum is a model, proven?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maxmargin.cli.blocks import of_a_model
from maxmargin.cli.certified import IMPOSSIBLE
from maxmargin.cli.console import ExitCode, TimeLimit, UserError, check_time, gap_shown, in_a_sentence, say, say_json
from maxmargin.cli.models import Model, load_and_read, load_model
from maxmargin.cli.options import (
    AsJson,
    ClassWeight,
    Data,
    MaxTime,
    Memory,
    ReadingForAModel,
    Tolerance,
    read_class_weight,
)
from maxmargin.cli.tables import headline

if TYPE_CHECKING:
    from maxmargin.estimators.audit_result import Audit

SHARP = 1e-5  # the gap to which the optimum is sought


def audit(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model of maxmargin, a skops file, or a text model.")],
    data: Data,
    reading: ReadingForAModel,
    C: Annotated[
        float | None,
        typer.Option("--C", "-c", metavar="NUMBER", help="The C of a text model, which its file does not tell."),
    ] = None,
    class_weight: ClassWeight = None,
    tol: Tolerance = None,
    max_time: MaxTime = None,
    memory: Memory = None,
    as_json: AsJson = False,
) -> int:
    """Measure a model on the data that it was fitted on, against a proven bound of the best.

    Exit codes: 0 the optimum is known, 2 stopped before it was, 3 proven not separable, 1 an error.
    """
    from maxmargin.estimators.audit import audit as audited

    check_time(max_time)
    X: Any
    if memory is not None:
        loaded = for_audit(load_model(model, any_estimator=True), model, C, class_weight)
        X = of_a_model(loaded, data, reading, memory)
        name = first_line = X.files.name
        y, weights = X.labels, X.weights
    else:
        loaded, table = load_and_read(model, data, reading, any_estimator=True)
        loaded = for_audit(loaded, model, C, class_weight)
        name, first_line, y, weights = table.name, headline(table), table.y, table.weights
    limit = TimeLimit(max_time)
    with in_a_sentence(name), as_a_fit_leaves_it(model, loaded):
        X = loaded.prepared(table) if memory is None else X
        sharp = SHARP if tol is None else tol
        with gap_shown("Seeking the optimum", sharp):
            answer = audited(loaded.classifier, X, y, weights, tol=sharp, max_time=limit.left())
        same = loaded.is_fitted_on(X, y) if memory is None else None
    if as_json:
        found = {"file": name, "is_the_data_of_the_fit": same, "exit_code": int(code_of(answer))}
        say_json({**found, **json.loads(answer.to_json())})
    else:
        say(first_line)
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


def for_audit(loaded: Model, path: str, C: float | None, class_weight: list[str] | None) -> Model:
    """A model of ours as it is; a text model with the C and the weights that are given, which it does not tell."""
    if not loaded.is_text:
        if C is not None or class_weight:
            raise UserError(f"{path} knows its C and its class weights: --C and --class-weight are for text models")
        return loaded
    if C is None:
        raise UserError(f"{path} is a text model, which does not tell its C: give it with --C")
    if not 0.0 < C < float("inf"):
        raise UserError(f"--C must be a positive number, not {C:g}")
    asked = {"C": C, "class_weight": read_class_weight(class_weight, loaded.classifier.classes_.tolist())}
    header = header_of(path)
    if "svm_type" in header:
        if header["svm_type"] != "c_svc":
            raise UserError(f"{path} is of the type {header['svm_type']}; an audit is for c_svc")
        loaded.classifier.set_params(**asked)
        return loaded
    classifier = as_linear_svc(path, header, loaded.classifier, asked)
    return loaded._replace(whole=classifier, classifier=classifier)


def as_linear_svc(path: str, header: dict[str, str], planes: Any, asked: dict[str, Any]) -> Any:
    """LIBLINEAR's question is that of scikit-learn's LinearSVC: a bias is one more column, and regularised."""
    from sklearn.svm import LinearSVC

    from maxmargin.persistence.exchange.liblinear import LOSS_OF_SOLVER

    if header["solver_type"] not in LOSS_OF_SOLVER:
        raise UserError(f"{path} is of the type {header['solver_type']}; an audit is for {', '.join(LOSS_OF_SOLVER)}")
    bias = float(header["bias"])
    model = LinearSVC(loss=LOSS_OF_SOLVER[header["solver_type"]], fit_intercept=bias > 0.0, **asked)
    if bias > 0.0:
        model.set_params(intercept_scaling=bias)
    model.classes_, model.n_features_in_ = planes.classes_, planes.n_features_in_
    model.coef_, model.intercept_ = planes.coef_, planes.intercept_
    return model


def header_of(path: str) -> dict[str, str]:
    """The names and values above the numbers; the file was read before, so that they are as they should be."""
    fields = {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            name, _, value = line.strip().partition(" ")
            if name in ("SV", "w"):
                break
            fields[name] = value
    return fields
