"""The tables of the linear benchmark, in Markdown."""

from importlib import metadata

from linear_cache import Run
from linear_ours import TOLS, Rung
from linear_peers import PEERS
from linear_race import SLACK, WATCHED_SECONDS, Race, Terms, bars
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
        *peers_table(races, PEERS[terms.loss], peer_cell),
        "",
        "## Our ladder",
        "",
        "Seconds : excess, proof, for each tolerance that was asked; * where the gap is not proven.",
        "",
        *ladder_table(races, TOLS, rung_cell),
    ]


def setting(races: list[Race], terms: Terms) -> str:
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{package} not installed")
    return (
        f"{machine()}; ours with {terms.threads} threads, peers with {threads_of(PEERS[terms.loss])}; "
        f"limit {terms.time_limit:g} s for ours, {terms.peer_limit:g} s for a peer; {peer_days(races, terms.again)}; "
        f"{', '.join(versions)}."
    )


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


def peer_cell(race: Race, name: str) -> str:
    return cell_of_peer(race, name, excess)


def excess(race: Race, run: Run) -> float:
    return race.excess(run.primal)


def rung_cell(race: Race, rung: Rung) -> str:
    star = "" if rung.gap <= rung.tol else f" ({power(rung.gap)}*)"
    return f"{seconds(rung.seconds)} : {power(race.excess(rung.primal))}{star}, {rung.proof:.0%}"
