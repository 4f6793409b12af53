"""Rows beyond memory: what a fit by blocks takes and reaches, in four tables.

    python benchmarks/scale.py growth --scratch DIR                     time and memory against the number of rows
    python benchmarks/scale.py peers --scratch DIR --data DIR --python /path/to/python    against others
    python benchmarks/scale.py equal --scratch DIR --data DIR           the same optimum as in memory, on real sets
    python benchmarks/scale.py before --before /path/to/an/older/src    fits in memory, now and before

`--scratch` is a folder for the rows, which are kept there (growth writes up to 8 GB). `--data` is a folder of real sets
(datasets.py). `--python` has the peers: pip install pyspark dask-ml vowpalwabbit; one that it does not have is a line
that says so. `--out FILE` puts the table into a file, in the place of the one that an earlier run left there. `--short`
tries everything on small rows, in less than a minute. What is measured, and how, is said at the top of scale_growth.py,
scale_race.py, scale_equal.py and scale_before.py. The exit code is 1 where a bar is missed.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import scale_before
import scale_equal
import scale_growth
import scale_race
import scale_sets
from race_cells import machine
from scale_peers import PEERS

TITLES = {
    "growth": "Time and memory against the number of rows",
    "peers": "Others that fit rows on disk",
    "equal": "By blocks and in memory",
    "before": "Fits in memory, now and before",
}
OURS = Path(__file__).parents[1] / "src"


def tables(options: argparse.Namespace, scratch: Path) -> Iterator[str]:
    if options.form == "growth":
        terms = scale_growth.SHORT if options.short else scale_growth.LONG
        return scale_growth.report(terms, scratch, options.most_rows)
    if options.form == "before":
        return scale_before.report(
            OURS, options.before, options.rounds, short=options.short, time_limit=options.time_limit
        )
    made = scale_sets.made(scratch, *((5_000, 5) if options.short else (500_000, 50)))
    if options.form == "peers":
        sets, tols = [(made, 1.0)], scale_race.TOLS[2:4] if options.short else scale_race.TOLS
        for name, costs in scale_race.SETS.items():
            if options.data and (not options.sets or name in options.sets):
                sets += [(scale_sets.real(scratch, name, options.data), C) for C in costs]
        return scale_race.report(sets, options.peers, options.python, options.time_limit, tols)
    names = [name for name in scale_equal.SETS if options.data and (not options.sets or name in options.sets)]
    real = [made, *(scale_sets.real(scratch, name, options.data) for name in names)]
    return scale_equal.report(scratch, real, options.loss, options.time_limit)


def put(path: Path, title: str, lines: list[str]) -> None:
    """The section of that title, in the place of the one that the file has."""
    text = path.read_text() if path.exists() else "# Rows beyond memory\n"
    head, *sections = text.split("\n## ")
    mine = f"{title}\n\n" + "\n".join(lines) + "\n"
    known = {section.partition("\n")[0]: section for section in sections} | {title: mine}
    ordered = [known[name] for name in TITLES.values() if name in known]
    path.write_text("\n## ".join([head.rstrip("\n") + "\n", *(one.rstrip("\n") + "\n" for one in ordered)]))


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    names = lambda text: text.split(",")  # noqa: E731
    add("form", choices=list(TITLES), help="which table")
    add("--short", action="store_true", help="small rows, to see that it works")
    add("--scratch", type=Path, metavar="DIR", help="where the rows are written (default: a folder that is removed)")
    add("--data", type=Path, metavar="DIR", help="folder of the real sets; without it, made rows only")
    add("--sets", type=names, default=[], metavar="NAME,...", help="some of the real sets (default: all of the table)")
    add("--loss", choices=["hinge", "squared_hinge"], default="hinge", help="of `equal` (default: hinge)")
    add("--most-rows", type=int, default=20_000_000, metavar="N", help="of `growth` (default: 20000000)")
    add("--peers", type=names, default=list(PEERS), metavar="NAME,...", help="some of them (default: all)")
    add("--python", type=Path, metavar="FILE", help="a Python that has the peers (default: this one)")
    add("--before", type=Path, metavar="SRC", help="the folder src of another checkout, for `before`")
    add("--rounds", type=int, default=5, help="of `before` (default: 5)")
    add("--time-limit", type=float, default=900.0, metavar="SECONDS", help="of one process (default: 900)")
    add("--out", type=Path, metavar="FILE", help="put the table into this file")
    options = parser.parse_args(arguments)
    if options.form == "before" and options.before is None:
        parser.error("before what? Say where another checkout has its sources: --before SRC")
    for name in {*options.peers} - {*PEERS}:
        parser.error(f"{name} is not among the peers: {', '.join(PEERS)}")
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse_arguments(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        said = [f"{machine()}{'; short form' if options.short else ''}.", ""]
        print(*said, sep="\n")
        for sentence in tables(options, options.scratch or Path(temporary)):
            said.append(sentence)
            print(sentence, flush=True)
    if options.out:
        put(options.out, TITLES[options.form], said)
    return 1 if any("FAILS" in sentence or "missed by" in sentence for sentence in said) else 0


if __name__ == "__main__":
    sys.exit(main())
