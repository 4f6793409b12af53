"""What the tables of the races share: cells, where and when it was measured, and the tables of peers and rungs."""

import datetime
import math
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Cells.


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def seconds(value: float | None) -> str:
    if value is None or math.isinf(value):
        return "never"
    return f"{value:.4f}" if value < 0.01 else f"{value:.3f}" if value < 1 else f"{value:.1f}"


def times(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def power(value: float) -> str:
    return "0" if value == 0 else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def failed(failure: str) -> str:
    return failure.replace("more than", ">")


# Where and when.


def machine() -> str:
    """Today, on this processor, with so much memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{datetime.date.today().isoformat()}; {processor()}, {os.cpu_count()} cores, {memory:.0f} GiB"


def processor() -> str:
    cpus = Path("/proc/cpuinfo")
    names = cpus.read_text().splitlines() if cpus.exists() else []
    model = next((line.partition(":")[2].strip() for line in names if line.startswith("model name")), "")
    return f"{model} {platform.machine()}".strip()


def threads_of(peers: dict[str, Any]) -> str:
    """One thread for each peer, and who has more."""
    return "".join(["1", *(f" ({name}: {peer.threads})" for name, peer in peers.items() if peer.threads > 1)])


def peer_days(races: list[Any], again: float) -> str:
    """When the peers were measured. Those below `again` seconds were not taken from a cache."""
    days = sorted({run.day for race in races for run in race.peers.values()})
    if not days:
        return "no peers"
    text = f"peers measured {' to '.join(dict.fromkeys((days[0], days[-1])))}"
    if 0.0 < again < math.inf:
        text += f", those below {again:g} s again in this run, the others as a cache had them"
    return text


# Tables with one line for each race.


def peers_table(races: list[Any], peers: dict[str, Any], cell: Callable[[Any, str], str]) -> list[str]:
    """A column for each peer that took part anywhere."""
    names = [name for name in peers if any(name in race.peers for race in races)]
    return [
        line(["set", "C", *names]),
        line(["---", "--:", *["---"] * len(names)]),
        *(line([race.set_name, f"{race.C:g}", *(cell(race, name) for name in names)]) for race in races),
    ]


def cell_of_peer(race: Any, name: str, reached: Callable[[Any, Any], float]) -> str:
    """The seconds of a peer, what it reached, and ours there; bold where ours is slower."""
    run = race.peers.get(name)
    if run is None:
        return ""
    if run.seconds is None:
        return failed(run.failure)
    text = f"{seconds(run.seconds)} : {power(reached(race, run))}"
    if race.rungs:
        text += f" ({seconds(race.ours_at(reached(race, run)))})"
    return f"**{text}**" if race.rungs and name in race.losses else text


def ladder_table(races: list[Any], tols: tuple[float, ...], cell: Callable[[Any, Any], str]) -> list[str]:
    """A column for each tolerance, as far as ours got."""
    lines = [line(["set", "C", *(power(tol) for tol in tols)]), line(["---", "--:", *["---"] * len(tols)])]
    for race in races:
        cells = [failed(rung.failure) if rung.seconds is None else cell(race, rung) for rung in race.rungs]
        if cells:
            lines.append(line([race.set_name, f"{race.C:g}", *cells, *[""] * (len(tols) - len(cells))]))
    return lines
