"""The tables of the kernel benchmark, in Markdown."""

from functools import cache
from pathlib import Path

from kernel_cache import KernelRun
from kernel_interpreter import versions
from kernel_ours import TOLS, Rung
from kernel_peers import peers_with
from kernel_race import ENOUGH, SLACK, Race, Terms, bars
from race_bars import summary
from race_cells import (
    cell_of_peer,
    ladder_table,
    line,
    machine,
    peer_days,
    peers_table,
    power,
    seconds,
    threads_of,
    times,
)

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
        *peers_table(races, peers_with(terms.threads), peer_cell),
        "",
        "## Our ladder",
        "",
        "Seconds : true gap, for each tolerance that was asked; with a star, the gap that the certificate proves where",
        "that is more than was asked.",
        "",
        *ladder_table(races, TOLS, rung_cell),
    ]


def setting(races: list[Race], terms: Terms, peer_python: Path | None) -> str:
    return (
        f"{machine()}; ours with {terms.threads} threads and {terms.cache_size:g} MB of cache, peers with "
        f"{threads_of(peers_with(terms.threads))}, everybody held to {terms.threads} of the cores; "
        f"limit {terms.time_limit:g} s for ours, {terms.peer_limit:g} s for a peer; {peer_days(races, terms.again)}; "
        f"{installed(peer_python)}."
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


def peer_cell(race: Race, name: str) -> str:
    return cell_of_peer(race, name, gap)


def gap(_: Race, run: KernelRun) -> float:
    return run.gap


def rung_cell(_: Race, rung: Rung) -> str:
    star = "" if rung.proven <= rung.tol else f" ({power(rung.proven)}*)"
    return f"{seconds(rung.seconds)} : {power(rung.gap)}{star}"
