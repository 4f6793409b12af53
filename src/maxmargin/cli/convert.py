"""`maxmargin convert DATA FILE`: the same table, or the same model, in another format."""

from __future__ import annotations

from typing import Annotated

import typer

from maxmargin.cli import datafile
from maxmargin.cli.console import ExitCode, UserError, messages
from maxmargin.cli.datafile import Format
from maxmargin.cli.model import in_a_sentence
from maxmargin.cli.modelfile import is_model, write_model
from maxmargin.cli.options import (
    Categorical,
    Features,
    FileFormat,
    Id,
    Ignore,
    Impute,
    Label,
    NoHeader,
    Scaling,
    Sql,
    Text,
    Weight,
    ZeroBased,
)
from maxmargin.cli.outputs import refuse_to_write_over
from maxmargin.cli.preparation import encoded
from maxmargin.cli.tablefile import check_table_output, write_table


def convert(
    data: Annotated[str, typer.Argument(metavar="DATA|MODEL", help="A table, - for standard input; or a model.")],
    target: Annotated[str | None, typer.Argument(metavar="FILE", help="Where to write.")] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is stdout.")
    ] = None,
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
    to: Annotated[Format, typer.Option(help="How the result is written; auto: by its name.")] = Format.AUTO,
    no_header: NoHeader = False,
    format: FileFormat = Format.AUTO,
) -> int:
    """Write a table as CSV or SVMlight, every number exactly as it was; or a model as another program reads it.

    A column of categories becomes a column of 0 and 1 for each of them. The name of the file says how a model is
    written: .onnx, .skops, .libsvm, .liblinear, or .csv and .json for its coefficients.
    """
    if (target is None) == (output is None):
        raise UserError("say where to write, once: maxmargin convert DATA FILE")
    output = output or target or ""
    refuse_to_write_over(output, data, sql=sql)
    if sql is None and is_model(data):
        write_model(data, output)
        return int(ExitCode.FINE)
    check_table_output(output, to)
    with messages.status(f"Reading {data}"):
        table = datafile.read(
            data, format, label, not no_header, weight=weight, ignore=ignore, id=id, categorical=categorical, text=text,
            impute=impute, n_features=n_features, zero_based=zero_based, sql=sql,
        )  # fmt: skip
    with in_a_sentence(table.name):
        table = encoded(table, Scaling.NONE, impute)
    write_table(output, to, table.X, table)
    return int(ExitCode.FINE)
