"""Recorded runs in files: `maxmargin fit --record FILE` writes one, `maxmargin plot FILE` draws it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maxmargin.cli.console import UserError, refuse_to_write_over

if TYPE_CHECKING:
    from maxmargin.problems.trace import Trace

FORMS = (".html", ".json", ".csv")
LONGEST = 2**30  # bytes
RecordFile = Annotated[
    str | None,
    typer.Option(
        "--record",
        metavar="FILE",
        help="Where to write the steps of a perceptron, Winnow or stochastic fit: a page (.html), .json or .csv.",
    ),
]


def check_record(file: str, data: Sequence[str], sql: str | None, others: dict[str, str | None]) -> None:
    """One sentence before any work, where the record could not be written anyway."""
    path = Path(file)
    if path.suffix.lower() not in FORMS:
        raise UserError(f"--record {file}: the name must end in {', '.join(FORMS[:-1])} or {FORMS[-1]}")
    if not path.absolute().parent.is_dir():
        raise UserError(f"{file} cannot be written: there is no folder for it; make it first")
    if path.is_dir():
        raise UserError(f"{file} cannot be written: it is a folder; name a file in it")
    refuse_to_write_over(file, data, sql=sql)
    for what, other in others.items():
        if other is not None and path.resolve() == Path(other).resolve():
            raise UserError(f"{file} cannot be both {what} and the record: give each a file of its own")


def ask_for_record(classifier: Any, checkpoint: str | None) -> None:
    """Have the estimator record its run, if it goes row by row."""
    if "record" not in classifier.parameters:
        raise UserError(
            f"--record has no meaning for {type(classifier).__name__}, which does not go row by row: "
            "`maxmargin plot --kind convergence` shows its rounds"
        )
    if checkpoint is not None:
        raise UserError(
            "--record and --checkpoint do not go together: a run that is gone on with has lost its first steps"
        )
    if classifier.record is False:
        classifier.set_params(record=True)


def write_record(classifier: Any, file: str, names: tuple[str, ...] | None) -> list[str]:
    """Write the run; more than two labels have a run for each plane, and numbers in the names of the files."""
    from maxmargin.persistence.container import write_atomically

    traces: list[Trace] = classifier.trace_ if isinstance(classifier.trace_, list) else [classifier.trace_]
    path, files = Path(file), []
    for number, trace in enumerate(traces):
        about = trace.subject
        if about is not None and names is not None and len(names) == about.X.shape[1]:
            trace.subject = dataclasses.replace(about, columns=names)
        write = {".html": trace.to_html, ".json": trace.to_json, ".csv": trace.to_csv}[path.suffix.lower()]
        target = path if len(traces) == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        try:
            write_atomically(target, write().encode())
        except OSError as error:
            raise UserError(f"{target} cannot be written: {(error.strerror or str(error)).lower()}") from None
        files.append(str(target))
    return files


def is_recorded_run(path: str) -> bool:
    """Whether a file is JSON, which a model never is; what it is not, whoever reads it says."""
    try:
        with open(path, "rb") as file:
            return file.read(64).lstrip().startswith(b"{")
    except OSError:
        return False


def read_record(path: str) -> Trace:
    """The run in a file; every problem becomes a `UserError`."""
    from maxmargin.persistence.container import read_whole
    from maxmargin.persistence.errors import Refusal
    from maxmargin.problems.trace import Trace

    try:
        return Trace.from_json(read_whole(path, LONGEST))
    except (Refusal, ValueError) as error:
        raise UserError(f"{path}: {error}") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
