"""The command line: `maxmargin demo`, `maxmargin check FILE`, `maxmargin doctor`.

Results go to stdout, messages and progress to stderr. Exit codes:

    0    fine; for `check`: separable, with proof
    1    the command or the data cannot be used, and a sentence says why
    2    nothing is proven: stopped before, or undecided at this precision
    3    `check`: proven not to be separable
    130  interrupted by Ctrl-C
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

PIP_LINE = 'The command line needs Typer and Rich: pip install "maxmargin[cli]"'


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    try:
        from maxmargin.cli.app import run
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        print(PIP_LINE, file=sys.stderr)
        return 1
    return run(sys.argv[1:] if arguments is None else arguments)
