"""Cliffs: problems on which a peer was once far ahead, each with the ratio that is asked of us.

    python benchmarks/cliffs.py --data DIR [--only NAME,...] [--out FILE]     the real sets
    python benchmarks/cliffs.py --short                                       made data of the same shapes

A ratio is the CPU time of the peer by ours: above 1 we are ahead. Both sides run in one process, on one core and in
turn, and the least of their times counts. Where a fit with a kernel is timed, the peer goes first, its answer is judged
in float64 (`kernel_judge`), and ours is asked for the same gap, proven: nobody is faster by being less precise.

What a second core brings (`second_core`) is measured by the clock: the peer is the same fit on one core.

The peers are scikit-learn and, where it is installed, scikit-learn-intelex in float32. A peer that is not there is left
out. A case is a function in one of the other files cliffs_*.py. No case can fail this command: it is a report.
"""

import argparse
import platform
import sys
import time
import traceback
import warnings
from datetime import date
from pathlib import Path

import one_core  # isort: skip  # noqa: F401  # before anybody counts the cores
import cliffs_cores
import cliffs_kernel
import cliffs_linear
import cliffs_separation
from cliffs_data import Sets
from cliffs_race import Cliff, Row, timed

CLIFFS: dict[str, Cliff] = cliffs_kernel.CLIFFS | cliffs_linear.CLIFFS | cliffs_separation.CLIFFS | cliffs_cores.CLIFFS
SHORT = 170.0  # CPU seconds: after these, the short form begins with no other case
HEAD = "| cliff | set | peer | ours, s | peer, s | ratio | asked | |\n|---|---|---|--:|--:|--:|--:|---|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the real sets; without it, made ones")
    parser.add_argument("--only", metavar="NAME,...", help=f"some of {', '.join(CLIFFS)}")
    parser.add_argument("--short", action="store_true", help="smaller made sets, each side once or twice, 3 minutes")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table here as it grows")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(CLIFFS)
    for name in {*names} - {*CLIFFS}:
        parser.error(f"{name} is not among the cliffs: {', '.join(CLIFFS)}")
    warnings.simplefilter("ignore")  # whoever has not converged is judged by the gap
    sets = Sets(None if options.short else options.data, options.short)
    begun, rows = time.process_time(), []
    print(f"{title()}\n\n{HEAD}", flush=True)
    for name in names:
        if options.short and time.process_time() - begun > SHORT:
            print(f"| {name} | | | | | | {CLIFFS[name].asked} | no time left |", flush=True)
            continue
        for row in rows_of(name, CLIFFS[name], sets):
            rows.append(row)
            print(row, flush=True)
            if options.out:
                options.out.write_text("\n".join([title(), "", HEAD, *rows]) + "\n")


def rows_of(name: str, cliff: Cliff, sets: Sets):
    """The lines of a case; where it fails, why."""
    try:
        for race in cliff.races(sets):
            yield line(name, cliff, timed(race, once=sets.short))
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        yield f"| {name} | | | | | | {cliff.asked} | {type(error).__name__}: {str(error)[:80]} |"


def line(name: str, cliff: Cliff, row: Row) -> str:
    times = f"{row.ours:.3g} | {row.theirs:.3g} | {row.theirs / row.ours:.2f}"
    return f"| {name} | {row.race.on} | {row.race.peer} | {times} | {cliff.asked} | {row.note} |"


def title() -> str:
    return f"{date.today()}, {platform.machine()}, one core, Python {platform.python_version()}; CPU time"


if __name__ == "__main__":
    main()
