"""`maxmargin convert DATA -o FILE`: the same table in another format."""

from __future__ import annotations

from typing import Annotated

import typer

from maxmargin.cli import datafile
from maxmargin.cli.console import ExitCode, messages
from maxmargin.cli.datafile import Format
from maxmargin.cli.options import Data, FileFormat, Ignore, Label, NoHeader
from maxmargin.cli.tablefile import write_table


def convert(
    data: Data,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is stdout.")],
    label: Label = None,
    ignore: Ignore = None,
    to: Annotated[Format, typer.Option(help="How the result is written; auto: by its name.")] = Format.AUTO,
    no_header: NoHeader = False,
    format: FileFormat = Format.AUTO,
) -> int:
    """Write a file in another format, CSV or SVMlight, with every number exactly as it was."""
    with messages.status(f"Reading {data}"):
        table = datafile.read(data, format, label, not no_header, ignore=ignore)
    write_table(output, to, table.X, table)
    return int(ExitCode.FINE)
