"""`maxmargin play`: the playground, in the browser of this machine, or of a class."""

from __future__ import annotations

from typing import Annotated

import typer

from maxmargin.cli.console import UserError, say


def play(
    port: Annotated[
        int, typer.Option(metavar="NUMBER", min=0, max=65535, help="Where to listen; 0: any free port.")
    ] = 8765,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="The address of this machine at which others may reach it; without it, nobody else can.",
        ),
    ] = "127.0.0.1",
    seats: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, max=200, help="How many browsers are served at once.")
    ] = 8,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another name by which browsers may call it; may be given several times."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only.")] = False,
) -> int:
    """Draw points, choose an algorithm, and see its line, its steps and its proof: a page in your browser.

    It serves this machine alone, and asks nothing of any other. For a class, --host is the address of this machine in
    the class's network, and --seats 40 the number of browsers: whoever has the link may come in, unencrypted.
    """
    from maxmargin.playground.serving import NoAddress
    from maxmargin.playground.serving import play as serve

    try:
        serve(port, host, allowed=allow_host or (), seats=seats, open_browser=not no_browser, say=say)
    except (ModuleNotFoundError, NoAddress) as missing:
        raise UserError(str(missing)) from None
    return 0
