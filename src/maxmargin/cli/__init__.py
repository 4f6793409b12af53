"""The command line: everything that the library does, on files.

    fit, predict, verify, audit, info     models: made, used, proven again, measured, shown
    violations, robustness                rows beside the planes of a model: slack, support vectors, distances
    check, certify, path, leave-one-out, compare
                                          questions about a table
    plot                                  pictures
    scale, convert                        tables
    exercise, lagrange, program, play, demo
                                          to learn by
    bench, doctor                         the library itself

Results go to stdout, messages and progress to stderr. Exit codes:

    0    fine; where something is to be proven: proven
    1    the command or the data cannot be used, and a sentence says why
    2    not proven: stopped before, with a gap; undecided at this precision; or the proof does not hold on these data
    3    proven not to be separable
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
    except KeyboardInterrupt:  # in the first half of a second
        print("Interrupted.", file=sys.stderr)
        return 130
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        print(PIP_LINE, file=sys.stderr)
        return 1
    return run(sys.argv[1:] if arguments is None else arguments)
