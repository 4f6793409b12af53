"""`maxmargin convert DATA -o FILE`: the same table in another format."""

from __future__ import annotations

from typing import Annotated

import typer

from maxmargin.cli import datafile
from maxmargin.cli.console import ExitCode, messages
from maxmargin.cli.datafile import Format
from maxmargin.cli.model import in_a_sentence
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
    Text,
    Weight,
)
from maxmargin.cli.preparation import encoded
from maxmargin.cli.tablefile import write_table


def convert(
    data: Data,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is stdout.")],
    label: Label = None,
    weight: Weight = None,
    ignore: Ignore = None,
    id: Id = None,
    categorical: Categorical = None,
    text: Text = None,
    impute: Impute = False,
    n_features: Features = None,
    to: Annotated[Format, typer.Option(help="How the result is written; auto: by its name.")] = Format.AUTO,
    no_header: NoHeader = False,
    format: FileFormat = Format.AUTO,
) -> int:
    """Write a file in another format, CSV or SVMlight, with every number exactly as it was.

    A column of categories becomes a column of 0 and 1 for each of them.
    """
    with messages.status(f"Reading {data}"):
        table = datafile.read(
            data, format, label, not no_header, weight=weight, ignore=ignore, id=id, categorical=categorical, text=text,
            impute=impute, n_features=n_features,
        )  # fmt: skip
    with in_a_sentence(table.name):
        table = encoded(table, Scaling.NONE, impute)
    write_table(output, to, table.X, table)
    return int(ExitCode.FINE)
