"""What a command may write to: never one of the files that it reads."""

from __future__ import annotations

import os
import stat
import sys

from maxmargin.cli.console import UserError


def refuse_to_write_over(output: str | None, *inputs: str | None, sql: str | None = None) -> None:
    """An output that is one of the inputs, whatever their names are, would cost the user that input.

    The first input is the data: - is standard input, and with `sql` it is no file but a query to that database.
    """
    if output is None or output == "-" or (written := status_of(output)) is None:
        return
    files = list(inputs) if sql is None else [sql.partition(":")[2], *inputs[1:]]
    for file in files:
        if file is not None and (read := status_of(file)) is not None and os.path.samestat(written, read):
            shown = "standard input" if file == "-" else file
            raise UserError(f"{output} is what is read ({shown}), and would be lost: write to another file")


def status_of(file: str) -> os.stat_result | None:
    """Of a file on the disk; None where there is none, and for pipes and devices."""
    try:
        status = os.fstat(sys.stdin.fileno()) if file == "-" else os.stat(file)
    except (OSError, AttributeError, ValueError):  # no such file; or a standard input that is none
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def shown(output: str) -> str:
    """What to call it in a message."""
    return "standard output" if output == "-" else output
