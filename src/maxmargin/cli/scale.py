"""`maxmargin scale DATA -o FILE`: the same rows with their columns brought to one size."""

from __future__ import annotations

from typing import Annotated

import typer

from maxmargin.cli import datafile
from maxmargin.cli.console import ExitCode, UserError, messages
from maxmargin.cli.datafile import Format
from maxmargin.cli.model import in_a_sentence, load_model, make_scaler
from maxmargin.cli.options import Data, FileFormat, Ignore, Label, NoHeader, Scaling
from maxmargin.cli.tablefile import write_table


def scale(
    data: Data,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is stdout.")] = "-",
    label: Label = None,
    ignore: Ignore = None,
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
    """Write the rows of a file with scaled columns."""
    with messages.status(f"Reading {data}"):
        table = datafile.read(data, format, label, not no_header, ignore=ignore)
    with in_a_sentence(table.name):
        if like is not None:
            loaded = load_model(like)
            if loaded.scaler is None:
                raise UserError(f"{like} does not scale its columns")
            X, table = loaded.prepared(table), table._replace(feature_names=loaded.names or table.feature_names)
        else:
            scaler = make_scaler(method, table.X)
            X = table.X if scaler is None else scaler.fit_transform(table.X)
    write_table(output, to, X, table)
    return int(ExitCode.FINE)
