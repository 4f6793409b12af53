"""`maxmargin verify MODEL DATA`: does what a model claims still hold on its data?"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from maxmargin.cli.blocks import of_a_model
from maxmargin.cli.certified import (
    certificate_for_machines,
    exit_code,
    normalized_for_machines,
    tell_certificate,
    tell_normalized,
)
from maxmargin.cli.console import UserError, in_a_sentence, messages, refuse_to_write_over, say, say_json
from maxmargin.cli.models import Model, load_and_read, load_model
from maxmargin.cli.options import AsJson, Data, Exact, Memory, ModelFile, ReadingForAModel
from maxmargin.cli.preparation import inner_steps, names_after
from maxmargin.cli.tables import DataFile, headline


def verify(
    model: ModelFile,
    data: Data,
    reading: ReadingForAModel,
    memory: Memory = None,
    exact: Exact = False,
    export: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Write the certificate as JSON, and the table as the planes saw it, for a check without this library.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Check the proof in a model against the data that it was fitted on, with code that imports no solver; and that the
    model predicts by the planes that are proven.

    --export FOLDER writes certificate.json and table.csv (table.svm of a sparse file): checker/check.py, which needs
    nothing but Python, checks them again.

    Exit codes: 0 proven, 2 the proof does not hold on these data or left a gap, 3 proven not separable, 1 an error; a
    model that predicts by other planes than those of its certificate is one.
    """
    from maxmargin.estimators.model_verification import predictions_of, verify_model

    if memory is not None:
        if export is not None:
            raise UserError("--export writes the table as the planes saw it, from memory: leave it out, or --memory")
        loaded = load_model(model)
        certificate = certificate_in(loaded, model)
        blocks = of_a_model(loaded, data, reading, memory)
        name = first_line = blocks.files.name
        with in_a_sentence(name), messages.status("Checking the proof"):
            verification = verify_model(
                loaded.classifier, blocks, blocks.labels, exact=exact, sample_weight=blocks.weights
            )
        same, files = None, None
    else:
        loaded, table = load_and_read(model, data, reading)
        name, certificate, first_line = table.name, certificate_in(loaded, model), headline(table)
        with in_a_sentence(name), messages.status("Checking the proof"):
            X = loaded.prepared(table)
            verification = verify_model(loaded.classifier, X, table.y, exact=exact, sample_weight=table.weights)
            same, files = loaded.is_fitted_on(X, table.y), None
            if export is not None:
                files = exported(export, loaded, table, X, certificate, model, data, reading.sql)
    if as_json:
        found = {"model": model, "file": name, "holds": bool(verification), "is_the_data_of_the_fit": same}
        found["predictions"] = predictions_of(loaded.classifier) if verification else None
        found |= {"exported": files, **(normalized_for_machines(loaded.classifier) if verification else {})}
        say_json({**found, **certificate_for_machines(certificate, verification)})
    else:
        say(first_line)
        tell_certificate(certificate, verification)
        if verification:
            tell_normalized(loaded.classifier)
            say(f"  {predictions_of(loaded.classifier)}")
        if loaded.calibration is not None:
            say("  Its probabilities are estimates: nothing is proven of them.")
        if same is not None:
            say(f"  These are {'' if same else 'not '}the data that the model was fitted on, by their fingerprint.")
        if files is not None:
            say(f"  Written to be checked without this library: python checker/check.py {shlex.join(files)}")
    return int(exit_code(certificate, verification))


def certificate_in(loaded: Model, model: str) -> Any:
    certificate = getattr(loaded.classifier, "certificate_", None)
    if certificate is None:
        raise UserError(f"{model} holds no certificate: it was learnt from a stream, or comes from another program")
    return certificate


def exported(
    folder: str,
    loaded: Model,
    table: DataFile,
    X: Any,
    certificate: Any,
    model: str,
    data: Sequence[str],
    sql: str | None,
) -> list[str]:
    """Write the proof as files of its own; none of them is one that was read."""
    from maxmargin.persistence import ModelFileError, write_proof
    from maxmargin.persistence.exchange.proof_files import CERTIFICATE, table_name

    for name in (CERTIFICATE, table_name(X)):
        refuse_to_write_over(str(Path(folder) / name), data, model, sql=sql)
    names = None if loaded.names is None else names_after(loaded.scaler, loaded.names)
    prepared = [type(step).__name__ for step, _ in inner_steps(loaded.scaler)]
    try:
        files = write_proof(
            certificate, X, table.y, folder, sample_weight=table.weights, names=names, prepared=prepared
        )
    except ModelFileError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"{folder} cannot be written into: {(error.strerror or str(error)).lower()}") from None
    return [str(file) for file in files]
