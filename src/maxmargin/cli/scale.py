"""`maxmargin scale DATA -o FILE`: the same rows with their columns brought to one size."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from maxmargin.cli import datafile
from maxmargin.cli.console import ExitCode, UserError, messages
from maxmargin.cli.datafile import Format
from maxmargin.cli.model import in_a_sentence, load_and_read
from maxmargin.cli.options import (
    Categorical,
    Data,
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
from maxmargin.cli.preparation import encoded, names_after
from maxmargin.cli.tablefile import check_table_output, write_table


def scale(
    data: Data,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is stdout.")] = "-",
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
    method: Annotated[
        Scaling, typer.Option(help="auto: standard (mean 0, variance 1), or maxabs for a sparse file.")
    ] = Scaling.AUTO,
    like: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Scale as this model scales, instead: for rows to be compared.")
    ] = None,
    to: Annotated[Format, typer.Option(help="How the result is written; auto: by its name.")] = Format.AUTO,
    no_header: NoHeader = False,
    format: FileFormat = Format.AUTO,
) -> int:
    """Write the rows of a file with scaled columns, and a column for each category.

    The columns of --id and --weight are carried along as they are.
    """
    columns: dict[str, Any] = {
        "weight": weight, "ignore": ignore, "id": id, "n_features": n_features, "zero_based": zero_based, "sql": sql,
    }  # fmt: skip
    refuse_to_write_over(output, data, like, sql=sql)
    check_table_output(output, to)
    if like is not None:
        if categorical or text or impute:
            raise UserError(f"{like} knows its columns: leave out --categorical, --text and --impute")
        loaded, table = load_and_read(like, data, format, label, not no_header, any_labels=True, **columns)
        if loaded.scaler is None:
            raise UserError(f"{like} does not scale its columns")
        with in_a_sentence(table.name):
            names = loaded.names and names_after(loaded.scaler, loaded.names)
            table = table._replace(X=loaded.prepared(table), texts={}, feature_names=names or table.feature_names)
    else:
        with messages.status(f"Reading {data}"):
            table = datafile.read(
                data, format, label, not no_header, **columns, categorical=categorical, text=text, impute=impute
            )
        with in_a_sentence(table.name):
            table = encoded(table, method, impute)
    write_table(output, to, table.X, table)
    return int(ExitCode.FINE)
