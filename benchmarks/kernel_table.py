"""The tables of the kernel benchmark, in Markdown."""

import datetime
import math
import os
from functools import cache
from pathlib import Path

from kernel_interpreter import versions
from kernel_ours import TOLS
from kernel_peers import peers_with
from kernel_race import ENOUGH, SLACK, Race, Terms, bars
from linear_table import line, power, processor, seconds, summary, times

PACKAGES = ("numpy", "numba", "scikit-learn", "libsvm-official")
PACKAGES_ELSEWHERE = ("scikit-learn-intelex", "thundersvm-cpu")

OURS_HEADER = (
    "| set | n | d | C | optimum | known to | support | proven 1e-3, s | proven 1e-6, s | fastest peer | its s "
    "| its gap | ours there, s | times | growth, MB | missed |",
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|---|",
)


def whole_report(races: list[Race], terms: Terms, peer_python: Path | None) -> list[str]:
    """Everything that is known so far."""
    return [
        "# The soft margin with the rbf kernel, ours and the peers'",
        "",
        setting(races, terms, peer_python),
        "",
        *summary(bars(races)),
        "",
        "## Ours",
        "",
        "`ours there` is our time to the true gap of the fastest peer; `times` is the peer's time over ours. Where",
        "nobody else ended within the limit, it is the limit over our time to a proven 1e-3, and counts nowhere.",
        "`growth` is the memory that the largest of our fits took besides the data.",
        "",
        *OURS_HEADER,
        *(our_line(race) for race in races),
        "",
        "## Peers",
        "",
        "Seconds : true gap (ours at that gap, in seconds; **bold** where ours is slower by more than "
        f"{SLACK * 1e3:g} ms).",
        "",
        *peers_table(races, terms),
        "",
        "## Our ladder",
        "",
        "Seconds : true gap, for each tolerance that was asked; with a star, the gap that the certificate proves where",
        "that is more than was asked.",
        "",
        *ladder_table(races),
    ]


def setting(races: list[Race], terms: Terms, peer_python: Path | None) -> str:
    days = sorted({run.day for race in races for run in race.peers.values()})
    peer_days = f"peers measured {' to '.join(dict.fromkeys((days[0], days[-1])))}" if days else "no peers"
    if 0.0 < terms.again < math.inf:
        peer_days += f", those below {terms.again:g} s again in this run, the others as a cache had them"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    many = [f" ({name}: {peer.threads})" for name, peer in peers_with(terms.threads).items() if peer.threads > 1]
    return (
        f"{datetime.date.today().isoformat()}; {processor()}, {os.cpu_count()} cores, {memory:.0f} GiB; ours with "
        f"{terms.threads} threads and {terms.cache_size:g} MB of cache, peers with 1{''.join(many)}, everybody held to "
        f"{terms.threads} of the cores; limit {terms.time_limit:g} s for ours, {terms.peer_limit:g} s for a peer; "
        f"{peer_days}; {installed(peer_python)}."
    )


@cache
def installed(peer_python: Path | None) -> str:
    found = {**versions(PACKAGES, None), **versions(PACKAGES_ELSEWHERE, peer_python)}
    return ", ".join(f"{package} {version or 'not installed'}" for package, version in found.items())


def our_line(race: Race) -> str:
    fastest = race.fastest
    cells = [race.set_name, f"{race.n:,}", f"{race.d:,}", f"{race.C:g}", f"{race.best_primal:.9g}"]
    if race.answers:
        proven = race.ours_proven(ENOUGH), race.ours_proven(TOLS[-1])
        cells += [power(race.best_gap), f"{race.answers[-1].n_support:,}", *map(seconds, proven)]
    else:
        cells += ["", "", race.rungs[-1].failure if race.rungs else "", ""]
    if fastest is None:
        bound = race.terms.peer_limit / race.ours_proven(ENOUGH) if race.peers and race.answers else 0.0
        cells += ["none" if race.peers else "", "", "", "", f"> {times(bound)}" if bound else ""]
    else:
        run = race.peers[fastest]
        cells += [fastest, seconds(run.seconds), power(run.gap)]
        cells += [seconds(race.ours_at(run.gap)), times(race.speed_up(fastest))] if race.rungs else ["", ""]
    cells += [f"{race.growth / 2**20:.0f}" if race.answers else "", race.missed]
    return line(cells)


def peers_table(races: list[Race], terms: Terms) -> list[str]:
    names = [name for name in peers_with(terms.threads) if any(name in race.peers for race in races)]
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
    text = f"{seconds(run.seconds)} : {power(run.gap)}"
    if race.rungs:
        text += f" ({seconds(race.ours_at(run.gap))})"
    return f"**{text}**" if race.rungs and name in race.losses else text


def ladder_table(races: list[Race]) -> list[str]:
    lines = [line(["set", "C", *(power(tol) for tol in TOLS)]), line(["---", "--:", *["---"] * len(TOLS)])]
    for race in races:
        cells = []
        for rung in race.rungs:
            if rung.seconds is None:
                cells.append(rung.failure.replace("more than", ">"))
            else:
                star = "" if rung.proven <= rung.tol else f" ({power(rung.proven)}*)"
                cells.append(f"{seconds(rung.seconds)} : {power(rung.gap)}{star}")
        if cells:
            lines.append(line([race.set_name, f"{race.C:g}", *cells, *[""] * (len(TOLS) - len(cells))]))
    return lines
