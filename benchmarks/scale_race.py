"""Ours against others that fit rows on disk: what is reached, for how much CPU.

Everybody gets the same rows, C and objective, min 1/2 |w|^2 + C sum of hinge losses, and is judged by one pass in
float64 (linear_judge.py) with the best bias for its w. The excess of a plane is (P - D) / D over D, the best lower
bound that ours proved: what our own plane has is at most its gap, and below that nobody can be told from the optimum.

CPU is that of the fit with the reading of the rows, of all threads and processes. What is not counted: our compiling,
the start of the JVM (in a column of its own), the text that Vowpal Wabbit reads. Ours have a budget of the least memory
plus a tenth of the bytes of the rows; the others hold whatever they hold.

The bar: for every line with an excess of at most 10 %, ours needs less CPU for the same excess or a better one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scale_sets
from linear_judge import objective
from race_cells import line, seconds
from scale_peers import PEERS
from scale_process import alone

TOLS = (0.5, 1e-1, 1e-2, 1e-3, 1e-6)
SHARE = 1 / 10
WORTH_COMPARING = 0.10
SETS = {
    "kddcup99_10pct": (1.0,),
    "covtype_20k": (1.0,),
    "skin_nonskin": (1.0,),
    "a9a": (1.0,),
    "give_me_some_credit": (1.0,),
}


class Entry(NamedTuple):
    """A plane of somebody."""

    who: str
    how: str
    primal: float
    cpu: float
    apart: float = 0.0
    gap: float | None = None  # where it is proven


def race(
    one: scale_sets.OnDisk,
    C: float,
    peers: list[str],
    python: Path | None,
    time_limit: float,
    tols: tuple[float, ...] = TOLS,
) -> tuple[float, list[Entry], list[str]]:
    """The best lower bound, the planes of everybody, and who has none, with the reason."""
    X, y = one.labelled()
    ours, failures = [], []
    least = alone("scale_ours:floor", {"rows": str(one.rows), "C": C}, time_limit=time_limit)
    memory = int(least.get("floor", 64e6) + SHARE * one.n_bytes)
    dual = 0.0
    for tol in tols:
        arguments = {"rows": str(one.rows), "memory": memory, "C": C, "tol": tol, "max_time": time_limit / 2}
        found = alone("scale_ours:by_blocks", arguments, time_limit=time_limit)
        if "failure" in found:
            failures.append(f"maxmargin, tol {tol:g}: {found['failure']}")
            break
        dual = max(dual, found["dual"])
        how = f"tol {tol:g}, {memory / 1e6:.0f} MB, {found['passes']} passes"
        how += "" if found["gap"] <= tol else f", {found['status']}"
        ours.append(
            Entry(
                "**maxmargin**", how, objective(X, y, C, "hinge", np.array(found["w"])), found["cpu"], 0.0, found["gap"]
            )
        )
        if found["gap"] > tol:
            break  # a smaller tolerance ends where this one did
    entries = ours
    if not one.is_sparse:
        one.parquet()
    for name in peers:
        peer = PEERS[name]
        if one.is_sparse and not peer.takes_sparse:
            failures.append(f"{name}: takes no sparse rows")
            continue
        found = alone(
            peer.job, {"folder": str(one.folder), "C": C, **peer.arguments}, time_limit=time_limit, python=python
        )
        if "failure" in found:
            failures.append(f"{name}: {found['failure']}")
            continue
        planes = [
            Entry(
                name,
                plane["line"],
                objective(X, y, C, "hinge", np.array(plane["w"])),
                plane["cpu"],
                found.get("apart", 0.0),
            )
            for plane in found["planes"]
        ]
        if found.get("best"):
            best = min(planes, key=lambda entry: entry.primal)
            planes = [best._replace(how=f"best of {len(planes)} step rules: {best.how}")]
        entries = [*entries, *planes]
    return dual, entries, failures


def excess_of(entry: Entry, dual: float) -> float:
    return (entry.primal - dual) / dual if dual > 0.0 else float("inf")


def ours_at(entries: list[Entry], dual: float, excess: float) -> float:
    """The least CPU of ours for this excess or a better one; what cannot be told from the optimum counts as it."""
    ours = [entry for entry in entries if entry.gap is not None]
    indistinct = min((excess_of(entry, dual) for entry in ours), default=float("inf"))
    enough = [entry.cpu for entry in ours if excess_of(entry, dual) <= max(excess, indistinct)]
    return min(enough, default=float("inf"))


def report(
    sets: list[tuple[scale_sets.OnDisk, float]],
    peers: list[str],
    python: Path | None,
    time_limit: float,
    tols: tuple[float, ...] = TOLS,
) -> Iterator[str]:
    yield line(["set", "C", "who", "how", "excess", "CPU s", "apart", "ours there, CPU s", "bar"])
    yield line(["---", "--:", "---", "---", *["--:"] * 4, "---"])
    lost, said = [], []
    for one, C in sets:
        dual, entries, failures = race(one, C, peers, python, time_limit, tols)
        said += [f"{one.name}, C = {C:g}: {failure}" for failure in failures]
        for entry in entries:
            excess, is_ours = excess_of(entry, dual), entry.gap is not None
            there = ours_at(entries, dual, excess)
            bar = ""
            if not is_ours and excess <= WORTH_COMPARING:
                bar = "holds" if there < entry.cpu else "**FAILS**"
                if there >= entry.cpu:
                    lost.append(f"{one.name}, C = {C:g}: {entry.who} ({entry.how})")
            yield line(
                [
                    one.name,
                    f"{C:g}",
                    entry.who,
                    entry.how,
                    f"{excess:.1e}" + (f", proven {entry.gap:.1e}" if is_ours else ""),
                    seconds(entry.cpu),
                    seconds(entry.apart) if entry.apart else "",
                    "" if is_ours else seconds(there),
                    bar,
                ]
            )
    yield ""
    yield f"- The bar is missed by: {'; '.join(lost) or 'nobody'}."
    yield from (f"- {sentence}." for sentence in said)
