"""`maxmargin play`: the playground, in the browser of this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from maxmargin.cli.console import UserError, say


def play(
    port: Annotated[
        int, typer.Option(metavar="NUMBER", min=0, max=65535, help="Where to listen; 0: any free port.")
    ] = 8765,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only.")] = False,
) -> int:
    """Draw points, choose an algorithm, and see its line, its steps and its proof: a page in your browser.

    It serves this machine alone, and asks nothing of any other.
    """
    from maxmargin.playground.serving import play as serve

    try:
        serve(port, open_browser=not no_browser, say=say)
    except ModuleNotFoundError as missing:
        raise UserError(str(missing)) from None
    return 0
