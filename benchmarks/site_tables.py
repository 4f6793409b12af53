"""Make the tables and the chart of docs/benchmarks.md from the result files. Nothing is measured.

    python benchmarks/site_tables.py           # or: make tables
    python benchmarks/site_tables.py --check   # exit code 1 where the page says something else

A race has one shape everywhere: an objective, a set with its size and C, a solver, its seconds, and its excess. The
result files are those that the commands printed into `results/`: `linear.py`, `kernel.py`, `hard_margin.py` and
`dropin.py`, and `maxmargin bench --json > benchmarks/results/bench.json`. What stands between two marks of the page is
replaced; the chart is that of `speed_chart.py`. Each table is headed by the day and the machine of its result file.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator

import speed_chart
from race_bars import geometric_mean
from race_cells import line, power, seconds, times
from speed_chart import RESULTS, cells_of

PAGE = RESULTS.parents[1] / "docs" / "benchmarks.md"
DAY = re.compile(r"\d{4}-\d\d-\d\d")
UPPER = {"less than 20 ms": 20.0, "20 to 100 ms": 100.0, "more than 100 ms": float("inf")}
HARD_GROUPS = {  # by the bar of a set
    "5 times faster": "20,000 samples or 5,000 features, and more",
    "at most 5 ms slower": "smaller",
    "faster": "not separable: who proves or finds it first",
}


def read(name: str) -> str:
    return (RESULTS / name).read_text(encoding="utf-8")


def lines_below(report: str, *headings: str) -> Iterator[dict[str, str]]:
    """The table whose header begins with these: a dict for each line."""
    lines = iter(report.splitlines())
    header = next(cells for cells in map(cells_of, lines) if tuple(cells[: len(headings)]) == headings)
    next(lines)  # the rule
    for row in lines:
        if not row.startswith("|"):
            return
        yield dict(zip(header, cells_of(row), strict=True))


def measured(name: str) -> str:
    """When and on what, as the result file says it; without its own title."""
    told = next(row for row in read(name).splitlines() if DAY.search(row))
    told = told[DAY.search(told).start() :].rstrip(".")
    return f"*Measured {'; '.join(told.split('; ')[:2])}; [all of it](../benchmarks/results/{name}).*"


def bars(name: str) -> dict[str, str]:
    return {row["asks"]: row["found"] for row in lines_below(read(name), "bar", "asks", "found")}


def linear() -> list[str]:
    found = bars("linear.md")
    proven, count = found["a proven 1e-6 within the limit"].split(" of ")
    faster = found["never slower at a peer's excess"].split(" of ")[0]
    light, watched = found["memory: data + 50 %"].split(" of ")
    return [
        line([f"of {count} races", ""]),
        "|---|---|",
        line(["fits that ended with a proven 1e-6", proven]),
        line(["speed against the first peer that reaches 1e-6, geometric mean", found["to a proven 1e-6: 10 times"]]),
        line(["speed at the excess of the fastest peer", found["against the fastest peer: 3 times"]]),
        line(["the same, where that peer takes more than 20 ms", found[SLOW_LINEAR]]),
        line(["races in which some peer is faster by more than 20 ms", str(int(count) - int(faster))]),
        line(["fits that need more memory than half the data", f"{int(watched) - int(light)} of {watched} watched"]),
    ]


SLOW_LINEAR = "against the fastest peer where it takes more than 20 ms"


def kernel() -> list[str]:
    found = bars("kernel.md")
    proven, count = found["every fit ends proven at 1e-3"].split(" of ")
    speeds = [dot.times for dot in speed_chart.dots_of(read("kernel.md"))]
    mean = geometric_mean(speeds)
    against = f"between {times(min(speeds))} and {times(max(speeds))} times, {times(mean)} in the geometric mean"
    return [
        line([f"of {count} races", ""]),
        "|---|---|",
        line(["fits that ended with a proven 1e-3", proven]),
        line(["speed against the fastest peer", against]),
        line(
            [
                "at least twice as fast, of those with 5,000 samples or more",
                found["n >= 5000: 2 times the fastest peer at equal gap"],
            ]
        ),
    ]


def dropin() -> list[str]:
    rows = list(lines_below(read("dropin.md"), "data", "size", "form"))
    told = [
        line(["where scikit-learn takes", "fits", "its time over ours, geometric mean", "between"]),
        "|---|--:|--:|---|",
    ]
    lower = 0.0
    for name, upper in UPPER.items():
        ratios = [float(row["ratio"]) for row in rows if lower <= float(row["before"]) < upper]
        lower = upper
        told.append(line([name, str(len(ratios)), f"{geometric_mean(ratios):.2g}", between(ratios, "{:.2g}".format)]))
    proven, worst = sum(row["proven"] == "yes" for row in rows), max(float(row["excess before"]) for row in rows)
    return [
        *told,
        "",
        f"Of {len(rows)} patched fits {proven} are proven; scikit-learn's own are up to {worst:.0%} above the optimum.",
    ]


def hard_margin() -> list[str]:
    rows = list(lines_below(read("hard_margin.md"), "set", "ours, s", "fastest right peer"))
    told = [line(["sets", "how many", "ours, s", "fastest right peer's time over ours"]), "|---|--:|---|---|"]
    for bar, name in HARD_GROUPS.items():
        group = [row for row in rows if row["bar"] == bar]
        ours = between([float(row["ours, s"]) for row in group], "{:.2g}".format)
        ratios = [float(row["its s"]) / float(row["ours, s"]) for row in group if row["its s"]]
        alone = len(group) - len(ratios)
        others = f"; in {alone} no peer was right in time" if alone else ""
        told.append(line([name, str(len(group)), ours, between(ratios, "{:.2g}".format) + others]))
    return told


def bench() -> list[str]:
    found = json.loads(read("bench.json"))["timings"]
    told = [
        line(["objective", "set", "n", "d", "C", "solver", "seconds", "excess"]),
        "|---|---|--:|--:|--:|---|--:|--:|",
    ]
    return told + [
        line(
            [
                row["objective"],
                row["set"],
                f"{row['n']:,}",
                f"{row['d']:,}",
                f"{row['C']:g}",
                row["solver"],
                seconds(row["seconds"]),
                power(row["excess"]),
            ]
        )
        for row in found
    ]


def between(values: list[float], shown: Callable[[float], str]) -> str:
    return f"{shown(min(values))} to {shown(max(values))}"


TABLES = {
    "linear.md": linear,
    "kernel.md": kernel,
    "dropin.md": dropin,
    "hard_margin.md": hard_margin,
    "bench.json": bench,
}


def made(page: str) -> str:
    """The page with every table between its marks."""
    for name, table in TABLES.items():
        begin, end = f"<!-- made by benchmarks/site_tables.py from {name} -->", "<!-- end -->"
        block = "\n".join([begin, "", *table(), "", measured(name), "", end])
        page, count = re.subn(f"{re.escape(begin)}.*?{end}", lambda _, block=block: block, page, flags=re.DOTALL)
        if count != 1:
            raise SystemExit(f"{PAGE.name} has {count} times the mark {begin}: it must be there once")
    return page


def main(arguments: list[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    new = made(page)
    if "--check" in arguments:
        print(f"{PAGE.name} is {'up to date' if new == page else 'not what the result files say: run make tables'}")
        return int(new != page)
    PAGE.write_text(new, encoding="utf-8")
    speed_chart.main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
