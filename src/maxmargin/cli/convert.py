"""`maxmargin convert DATA FILE`: the same table, or the same model, in another format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from maxmargin.cli.console import ExitCode, UserError, in_a_sentence, messages, refuse_to_write_over
from maxmargin.cli.models import TEXT_MODELS
from maxmargin.cli.options import ReadingOptions, Scaling, TableFormat
from maxmargin.cli.preparation import encoded
from maxmargin.cli.tables import read
from maxmargin.cli.written_tables import check_table_output, write_table
from maxmargin.reading.files import Format

KINDS = ".onnx (a graph), .skops, .libsvm, .liblinear (text models), .csv or .json (coefficients)"


def convert(
    *,
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA|MODEL [FILE]",
            help="A table (several files are one), - for standard input; or a model. Without -o, the last is where to "
            "write.",
        ),
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is stdout.")
    ] = None,
    reading: ReadingOptions,
    to: TableFormat = Format.AUTO,
) -> int:
    """Write a table as CSV or SVMlight, every number exactly as it was; or a model as another program reads it.

    A column of categories becomes a column of 0 and 1 for each of them. The name of the file says how a model is
    written: .onnx, .skops, .libsvm, .liblinear, or .csv and .json for its coefficients.
    """
    if output is None:
        *data, output = data
        if not data:
            raise UserError("say where to write: maxmargin convert DATA FILE, or maxmargin convert DATA... -o FILE")
    refuse_to_write_over(output, data, sql=reading.sql)
    models = [] if reading.sql is not None else [file for file in data if is_model(file)]
    if models:
        if len(data) > 1:
            raise UserError(f"{models[0]} is a model: it is converted alone, and to one file")
        write_model(models[0], output)
        return int(ExitCode.FINE)
    check_table_output(output, to)
    table = read(data, reading)
    with in_a_sentence(table.name):
        table = encoded(table, Scaling.NONE, reading.impute)
    write_table(output, to, table.X, table)
    return int(ExitCode.FINE)


def is_model(file: str) -> bool:
    """Whether a file is a model and no table: by its first bytes."""
    if file == "-" or not Path(file).is_file():
        return False
    with open(file, "rb") as opened:
        start = opened.read(16)
    return start.startswith(TEXT_MODELS) or start[8:9] == b"{"  # the header of a safetensors file, behind its length


def write_model(path: str, output: str) -> None:
    """Write a model as the name says; every problem becomes a `UserError`."""
    from maxmargin import persistence

    writers: dict[str, Callable[[Any, str], None]] = {
        ".onnx": persistence.write_onnx,
        ".skops": persistence.write_skops,
        ".libsvm": persistence.write_libsvm,
        ".liblinear": persistence.write_liblinear,
        ".csv": persistence.write_coefficients,
        ".json": persistence.write_coefficients,
    }
    write = writers.get(Path(output).suffix.lower())
    if write is None:
        raise UserError(f"{path} is a model, and {output} does not say how to write it: its name can end in {KINDS}")
    try:
        model = read_model(path)
        if output.lower().endswith((".libsvm", ".liblinear")) and not is_text_model(path):
            tell_how_indices_count(path, output)
        if write not in (persistence.write_onnx, persistence.write_skops):
            check_is_bare(model, path, output)
        write(model, output)
        if not is_text_model(path) and persistence.model_info(path).calibration is not None:
            messages.print(f"maxmargin: {output} has no place for the probabilities of {path}: it tells scores alone")
    except persistence.ModelFileError as error:
        raise UserError(str(error)) from None
    except ImportError as missing:
        raise UserError(f"{output} cannot be written: {missing}") from None
    except OSError as error:
        raise UserError(f"{output} cannot be written: {(error.strerror or str(error)).lower()}") from None


def is_text_model(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(16).startswith(TEXT_MODELS)


def tell_how_indices_count(path: str, output: str) -> None:
    """The programs that read a text model count columns from 1, whatever the file did that it was fitted on."""
    from maxmargin import persistence

    if persistence.model_info(path).columns_by == "index from 0":
        messages.print(
            f"maxmargin: {output} counts its columns from 1, and {path} was fitted on a file that counts from 0: give "
            "its readers files that count from 1"
        )


def check_is_bare(model: Any, path: str, output: str) -> None:
    """Text models and coefficients are about the columns that the planes saw, and have no place for what was before."""
    steps = getattr(model, "steps", None)
    if steps is not None:
        raise UserError(
            f"{output} cannot hold what {path} does to the columns before its planes "
            f"({', '.join(type(step).__name__ for _, step in steps[:-1])}): write it as .onnx or .skops, which can; or "
            "prepare the file by `maxmargin scale`, and fit that with --scale none"
        )


def read_model(path: str) -> Any:
    """The estimator, or the Pipeline, with the names of its columns."""
    from maxmargin import persistence

    with open(path, "rb") as file:
        start = file.read(16)
    if start.startswith(TEXT_MODELS[0]):
        return persistence.read_libsvm(path)
    return persistence.read_liblinear(path) if start.startswith(TEXT_MODELS[1]) else persistence.load(path)
