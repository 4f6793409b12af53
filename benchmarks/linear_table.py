"""The tables of the linear benchmark, in Markdown."""

import datetime
import math
import os
import platform
from importlib import metadata
from pathlib import Path

from linear_ours import TOLS
from linear_peers import PEERS
from linear_race import SLACK, WATCHED_SECONDS, Bar, Race, Terms, bars

PACKAGES = ("numpy", "numba", "scikit-learn", "liblinear-official", "snapml")

OURS_HEADER = (
    "| set | n | d | C | optimum | known to | proven 1e-3, s | proven 1e-6, s | solver | fastest peer | its s "
    "| its excess | ours there, s | times | first peer at 1e-6 | its s | times | growth | proof | missed |",
    "|---|--:|--:|--:|--:|--:|--:|--:|---|---|--:|--:|--:|--:|---|--:|--:|--:|--:|---|",
)


def whole_report(races: list[Race], terms: Terms) -> list[str]:
    """Everything that is known so far."""
    return [
        f"# The linear soft margin with the {terms.loss.replace('_', ' ')}, ours and the peers'",
        "",
        setting(races, terms),
        "",
        *summary(bars(races)),
        "",
        "## Ours",
        "",
        "`ours there` is our time to the excess of the fastest peer; `times` is the peer's time over ours. A peer that",
        "does not reach 1e-6 counts the limit. `growth` is the memory that a fit takes, as a share of the data, from",
        "50 MB on. `proof` is the share of the time that judging and certifying take: of the fits of at least "
        f"{WATCHED_SECONDS * 1e3:g} ms,",
        "the largest.",
        "",
        *OURS_HEADER,
        *(our_line(race) for race in races),
        "",
        "## Peers",
        "",
        "Seconds : excess (ours at that excess, in seconds; **bold** where ours is slower by more than "
        f"{SLACK * 1e3:g} ms).",
        "",
        *peers_table(races),
        "",
        "## Our ladder",
        "",
        "Seconds : excess, proof, for each tolerance that was asked; * where the gap is not proven.",
        "",
        *ladder_table(races),
    ]


def setting(races: list[Race], terms: Terms) -> str:
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{package} not installed")
    days = sorted({run.day for race in races for run in race.peers.values()})
    peer_days = f"peers measured {' to '.join(dict.fromkeys((days[0], days[-1])))}" if days else "no peers"
    if 0.0 < terms.again < math.inf:
        peer_days += f", those below {terms.again:g} s again in this run, the others as a cache had them"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    many = [f" ({name}: {peer.threads})" for name, peer in PEERS[terms.loss].items() if peer.threads > 1]
    return (
        f"{datetime.date.today().isoformat()}; {processor()}, {os.cpu_count()} cores, {memory:.0f} GiB; ours with "
        f"{terms.threads} threads, peers with 1{''.join(many)}; limit {terms.time_limit:g} s for ours, "
        f"{terms.peer_limit:g} s for a peer; {peer_days}; "
        f"{', '.join(versions)}."
    )


def processor() -> str:
    cpus = Path("/proc/cpuinfo")
    names = cpus.read_text().splitlines() if cpus.exists() else []
    model = next((line.partition(":")[2].strip() for line in names if line.startswith("model name")), "")
    return f"{model} {platform.machine()}".strip()


def summary(all_bars: list[Bar]) -> list[str]:
    lines = ["| bar | asks | found | holds | missed at; for a mean, the races that are lost |", "|---|---|--:|---|---|"]
    for bar in all_bars:
        letter, held = (f"({bar.letter})", "yes" if bar.holds else "NO") if bar.letter else ("", "")
        lines.append(f"| {letter} | {bar.asks} | {bar.found} | {held} | {'; '.join(bar.where)} |")
    return lines


def our_line(race: Race) -> str:
    fastest, first = race.fastest, race.fastest_to_enough
    cells = [race.set_name, f"{race.n:,}", f"{race.d:,}", f"{race.C:g}", f"{race.best_primal:.9g}"]
    if race.rungs:
        cells += [power(race.best_gap), seconds(race.ours_proven(1e-3)), seconds(race.ours_proven(1e-6))]
        cells += [race.solver]
    else:
        cells += [""] * 4
    if fastest is None:
        cells += [""] * 5
    else:
        excess = race.excess(race.peers[fastest].primal)
        cells += [fastest, seconds(race.peers[fastest].seconds), power(excess)]
        cells += [seconds(race.ours_at(excess)), times(race.speed_up(fastest))] if race.rungs else ["", ""]
    cells += [first[0] or "none", seconds(first[1]), times(race.proven_speed_up) if race.rungs else ""]
    cells += ["" if race.growth is None else f"{race.growth:.0%}"]
    cells += ["" if race.dearest_proof is None else f"{race.dearest_proof.proof:.0%}", race.missed]
    return line(cells)


def peers_table(races: list[Race]) -> list[str]:
    names = [name for name in PEERS[races[0].terms.loss] if any(name in race.peers for race in races)]
    return [
        line(["set", "C", *names]),
        line(["---", "--:", *["---"] * len(names)]),
        *(line([race.set_name, f"{race.C:g}", *(peer_cell(race, name) for name in names)]) for race in races),
    ]


def peer_cell(race: Race, name: str) -> str:
    run = race.peers.get(name)
    if run is None:
        return ""
    if run.seconds is None:
        return run.failure.replace("more than", ">")
    excess = race.excess(run.primal)
    text = f"{seconds(run.seconds)} : {power(excess)}"
    if race.rungs:
        text += f" ({seconds(race.ours_at(excess))})"
    return f"**{text}**" if race.rungs and name in race.losses else text


def ladder_table(races: list[Race]) -> list[str]:
    lines = [line(["set", "C", *(power(tol) for tol in TOLS)]), line(["---", "--:", *["---"] * len(TOLS)])]
    for race in races:
        cells = []
        for rung in race.rungs:
            if rung.seconds is None:
                cells.append(rung.failure.replace("more than", ">"))
            else:
                star = "" if rung.gap <= rung.tol else f" ({power(rung.gap)}*)"
                excess = power(race.excess(rung.primal))
                cells.append(f"{seconds(rung.seconds)} : {excess}{star}, {rung.proof:.0%}")
        if cells:
            lines.append(line([race.set_name, f"{race.C:g}", *cells, *[""] * (len(TOLS) - len(cells))]))
    return lines


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
