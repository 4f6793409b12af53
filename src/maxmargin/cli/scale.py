"""`maxmargin scale DATA -o FILE`: the same rows with their columns brought to one size."""

from __future__ import annotations

from typing import Annotated

import typer

from maxmargin.cli.console import ExitCode, UserError, in_a_sentence, refuse_to_write_over
from maxmargin.cli.models import load_and_read
from maxmargin.cli.options import Data, ReadingOptions, Scaling, TableFormat
from maxmargin.cli.preparation import encoded, names_after
from maxmargin.cli.tables import read
from maxmargin.cli.written_tables import check_table_output, write_table
from maxmargin.reading.files import Format


def scale(
    *,
    data: Data,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is stdout.")] = "-",
    reading: ReadingOptions,
    method: Annotated[
        Scaling, typer.Option(help="auto: standard (mean 0, variance 1), or maxabs for a sparse file.")
    ] = Scaling.AUTO,
    like: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Scale as this model scales, instead: for rows to be compared.")
    ] = None,
    to: TableFormat = Format.AUTO,
) -> int:
    """Write the rows of a file with scaled columns, and a column for each category.

    The columns of --id and --weight are carried along as they are.
    """
    refuse_to_write_over(output, data, like, sql=reading.sql)
    check_table_output(output, to)
    if like is not None:
        if reading.categorical or reading.text or reading.impute:
            raise UserError(f"{like} knows its columns: leave out --categorical, --text and --impute")
        loaded, table = load_and_read(like, data, reading, any_labels=True)
        if loaded.scaler is None:
            raise UserError(f"{like} does not scale its columns")
        with in_a_sentence(table.name):
            names = loaded.names and names_after(loaded.scaler, loaded.names)
            table = table._replace(X=loaded.prepared(table), texts={}, feature_names=names or table.feature_names)
    else:
        table = read(data, reading)
        with in_a_sentence(table.name):
            table = encoded(table, method, reading.impute)
    write_table(output, to, table.X, table)
    return int(ExitCode.FINE)
