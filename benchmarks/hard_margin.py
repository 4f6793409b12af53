"""The hard margin, min 1/2 |w|^2 subject to y_i (w.x_i + b) >= 1: maxmargin against general solvers.

    python benchmarks/hard_margin.py --data DIR [--only NAME,...] [--peers NAME,...] [--out FILE]

Every solver runs in a process of its own, warmed up, and its best of three or more runs counts. Every
answer is judged by the same few lines of NumPy (hard_margin_judge.py). On a set that is not separable the
only right answer is to say so; maxmargin's proof of it is verified in exact arithmetic, outside of the
time.

The bar: where n >= 20,000 or d >= 5,000, five times faster than the fastest peer that is right to 1e-6;
elsewhere not slower by more than 5 ms; on sets that are not separable, a proof before any peer has any
answer. The exit code is 1 where it does not hold.
"""

import argparse
import datetime
import functools
import os
import platform
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import datasets
import hard_margin_judge as judge
import numpy as np
from hard_margin_solvers import OURS, SOLVERS
from isolation import Measurement, measure

SEPARABLE = (
    *("sonar", "skl_breast_cancer", "colon-cancer", "leu", "mushrooms", "donors"),
    *("sms_spam", "reuters_r8", "clickbait_bigram"),
    *datasets.MADE,
)
PEERS = tuple(name for name in SOLVERS if name != OURS)
NOT_SEPARABLE = ("heart_scale", "ionosphere", "magic04", "a9a")
LARGE_ROWS, LARGE_COLUMNS, TIMES_FASTER = 20_000, 5_000, 5.0
SLACK = 0.005  # seconds


class Row(NamedTuple):
    """One solver on one set."""

    set_name: str
    n: int
    d: int
    solver: str
    seconds: float | None
    margin: float
    shortfall: float
    verdict: str

    @property
    def is_right(self) -> bool:
        return self.verdict.startswith(("to 1e-", "right"))


class Bar(NamedTuple):
    """Ours against the fastest peer that is right."""

    set_name: str
    ours: Row
    peer: Row | None
    rule: str
    holds: bool


def prepare(solver_name: str, set_name: str, folder: Path | None):
    """The call to time and its description. What compiles is warmed up on the set, others on a tiny one."""
    solver = SOLVERS[solver_name]
    X, y = datasets.load(set_name, folder)
    solver.solve(*((X, y) if solver.compiles else datasets.SeparableGaussians(20, 3, gap=1.0, seed=0).make()))
    return functools.partial(solver.solve, X, y), functools.partial(solver.describe, X, y)


def race(set_name: str, solvers: list[str], folder: Path | None, time_limit: float) -> list[Row]:
    """Every solver on one set, judged against the best upper bound that any of them gives."""
    measured = {name: measure(prepare, name, set_name, folder, time_limit=time_limit) for name in solvers}
    X, y = datasets.load(set_name, folder)
    answers = {name: m.value for name, m in measured.items() if m.seconds is not None}
    upper = min((judge.margin_upper(X, y, answer) for answer in answers.values()), default=np.inf)

    def row(name: str, m: Measurement) -> Row:
        if set_name in NOT_SEPARABLE:
            return Row(set_name, *X.shape, name, m.seconds, np.nan, np.nan, judge.verdict_on_not_separable(m))
        margin = judge.margin(X, y, answers[name].w) if name in answers else np.nan
        shortfall = (upper - margin) / upper if upper < np.inf else np.nan
        verdict = judge.verdict_on_separable(m, margin, shortfall)
        return Row(set_name, *X.shape, name, m.seconds, margin, shortfall, verdict)

    return [row(name, m) for name, m in measured.items()]


def bar(rows: list[Row]) -> Bar | None:
    """Whether ours is fast enough on the set of these rows; None where ours did not run."""
    ours = next((row for row in rows if row.solver == OURS), None)
    if ours is None:
        return None
    right_peers = [row for row in rows if row.solver != OURS and row.is_right]
    peer = min(right_peers, key=lambda row: row.seconds, default=None)
    if ours.set_name in NOT_SEPARABLE:
        rule, factor, slack = "faster", 1.0, 0.0
    elif ours.n >= LARGE_ROWS or ours.d >= LARGE_COLUMNS:
        rule, factor, slack = f"{TIMES_FASTER:g} times faster", TIMES_FASTER, 0.0
    else:
        rule, factor, slack = f"at most {SLACK * 1e3:g} ms slower", 1.0, SLACK
    holds = ours.is_right and (peer is None or ours.seconds <= peer.seconds / factor + slack)
    return Bar(ours.set_name, ours, peer, rule, holds)


# The tables, in Markdown.

ROWS_HEADER = (
    "| set | n | d | solver | seconds | margin | shortfall | verdict |",
    "|---|--:|--:|---|--:|--:|--:|---|",
)
BARS_HEADER = (
    "| set | ours, s | fastest right peer | its s | peer / ours | bar | holds |",
    "|---|--:|---|--:|--:|---|---|",
)


def row_line(row: Row) -> str:
    margin = "" if np.isnan(row.margin) else f"{row.margin:.9g}"
    shortfall = "" if np.isnan(row.shortfall) else f"{row.shortfall:.0e}"
    return (
        f"| {row.set_name} | {row.n:,} | {row.d:,} | {row.solver} | {seconds(row.seconds)} "
        f"| {margin} | {shortfall} | {row.verdict} |"
    )


def bar_line(bar: Bar) -> str:
    peer, its, ratio = "none", "", ""
    if bar.peer is not None:
        peer, its = bar.peer.solver, seconds(bar.peer.seconds)
        ratio = f"{bar.peer.seconds / bar.ours.seconds:.1f}" if bar.ours.seconds else ""
    held = "yes" if bar.holds else "NO"
    ours = seconds(bar.ours.seconds)
    return f"| {bar.set_name} | {ours} | {peer} | {its} | {ratio} | {bar.rule} | {held} |"


def seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}" if value < 1 else f"{value:.1f}"


def setting(threads: int) -> str:
    versions = []
    for package in ("numpy", "scikit-learn", "daqp", "quadprog", "piqp", "clarabel"):
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{package} not installed")
    day, machine = datetime.date.today().isoformat(), f"{os.cpu_count()} processors, {platform.machine()}"
    return f"{day}, {machine}, {threads} threads for linear algebra; " + ", ".join(versions) + "."


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = functools.partial(str.split, sep=",")
    add = parser.add_argument
    add("--data", type=Path, metavar="DIR", help="folder of the real sets; without it, the made ones only")
    add("--only", type=names, metavar="NAME,...", help="sets to run (default: all)")
    add("--peers", type=names, metavar="NAME,...", help=f"none, or some of {', '.join(PEERS)} (default: all)")
    add("--time-limit", type=float, default=120.0, metavar="SECONDS", help="of one run (default: 120)")
    add("--threads", type=int, default=2, help="of linear algebra (default: 2)")
    add("--out", type=Path, metavar="FILE", help="write the tables here too, as they grow")
    options = parser.parse_args(arguments)
    known = (*SEPARABLE, *NOT_SEPARABLE) if options.data else tuple(datasets.MADE)
    options.only = options.only or list(known)
    options.peers = [] if options.peers == ["none"] else options.peers or list(PEERS)
    for name in {*options.only} - {*known}:
        parser.error(f"{name} is not among the sets: {', '.join(known)} (real ones need --data)")
    for name in {*options.peers} - {*PEERS}:
        parser.error(f"{name} is not among the peers: {', '.join(PEERS)}")
    return options


def main() -> int:
    options = parse_arguments()
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(options.threads)  # read by the processes that this one starts
    solvers = [OURS] * (find_spec(OURS) is not None) + options.peers

    lines, bars = [setting(options.threads), "", *ROWS_HEADER], []

    def publish(*more: str) -> None:
        lines.extend(more)
        print(*more, sep="\n", flush=True)
        if options.out:
            options.out.write_text("\n".join(lines) + "\n")

    print(*lines, sep="\n")
    for set_name in options.only:
        rows = race(set_name, solvers, options.data, options.time_limit)
        publish(*map(row_line, rows))
        bars.append(bar(rows))
    bars = [bar for bar in bars if bar is not None]
    if bars:
        publish("", *BARS_HEADER, *map(bar_line, bars))
    return 0 if all(bar.holds for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
