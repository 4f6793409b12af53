"""What the commands of the races share: options, which peers are to be run, and what is written when a race ends."""

import argparse
import functools
import importlib.util
import json
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from peer_cache import PeerCache
from race_cells import times


def add_options(parser: argparse.ArgumentParser, *, costs: tuple[float, ...], usual_sets: str = "all") -> None:
    """The options that every race has."""
    names = functools.partial(str.split, sep=",")
    add = parser.add_argument
    add("--data", type=Path, metavar="DIR", help="folder of the real sets; without it, what is made only")
    add("--sets", type=names, metavar="NAME,...", help=f"sets to run (default: {usual_sets})")
    add("--C", type=names, metavar="C,...", help=f"costs to run (default: {','.join(f'{C:g}' for C in costs)})")
    add("--peers", type=names, metavar="NAME,...", help="none, or some of them (default: all)")
    add("--ours-only", action="store_true", help="run no peer: take from the cache what it has")
    add("--cache", type=Path, metavar="FILE", help="JSON file of what the peers did")
    add("--fresh", action="store_true", help="run every peer, whatever the cache has")
    add("--again", type=float, default=0.0, metavar="SECONDS", help="run those again that the cache has below this")
    add("--out", type=Path, metavar="FILE", help="write the tables here as they grow, and the picture beside them")
    add("--json", type=Path, metavar="FILE", help="write the numbers here")


def settle(
    parser: argparse.ArgumentParser,
    options: argparse.Namespace,
    *,
    costs: tuple[float, ...],
    usual_sets: Iterable[str],
    known_sets: Iterable[str],
    peers: Iterable[str],
) -> None:
    """Fill in what was not said, and refuse what cannot be. `again` becomes infinite if every peer is to be run."""
    options.sets = options.sets or list(usual_sets)
    options.C = [float(C) for C in options.C or costs]
    options.peers = [] if options.peers == ["none"] else options.peers or list(peers)
    for name in {*options.sets} - {*known_sets}:
        parser.error(f"{name} is not among the sets: {', '.join(known_sets)} (real ones need --data)")
    for name in {*options.peers} - {*peers}:
        parser.error(f"{name} is not among the peers: {', '.join(peers)}")
    if options.fresh + options.ours_only + (options.again > 0.0) > 1:
        parser.error("--fresh runs every peer, --again some of them, --ours-only none: only one of these can be asked")
    if options.again > 0.0 and options.cache is None:
        parser.error("--again needs to know what the peers took: say where that is with --cache FILE")
    if options.fresh:
        options.again = math.inf


def ours_is_installed() -> bool:
    return importlib.util.find_spec("maxmargin") is not None


def find_or_run(
    set_name: str, peer: str, cache: PeerCache, options: argparse.Namespace, run: Callable[[list[float]], list[Any]]
) -> dict[float, Any]:
    """What a peer does on a set, by C: as the cache has it or, where it has nothing, as `run` finds."""
    known = {C: cache.find(set_name, C, peer, options.peer_limit) for C in options.C}
    runs = {C: run for C, run in known.items() if run is not None}
    missing = [C for C in known if C not in runs]
    if missing and not options.ours_only:
        for C, one in zip(missing, run(missing), strict=True):
            runs[C] = one
            cache.keep(set_name, C, peer, one)
    return runs


def hold(
    sets: list[str],
    races_of: Callable[[str], Iterator[Any]],
    short_line: Callable[[Any], str],
    publish: Callable[[list[Any]], None],
) -> list[Any]:
    """All races of these sets; each is told and published as soon as it has ended."""
    races = []
    for set_name in sets:
        for race in races_of(set_name):
            races.append(race)
            print(short_line(race), flush=True)
            publish(races)
    return races


def told(race: Any, ours: Callable[[Any], str], peer_cell: Callable[[Any, str], str]) -> str:
    """One race while it is fresh, in a line."""
    peers = ", ".join(f"{name} {peer_cell(race, name)}" for name in race.peers)
    if not race.rungs:
        return f"{race.name}: {peers}"
    speed = f", {times(race.speed_up(race.fastest))} times {race.fastest}" if race.fastest else ""
    missed = f", MISSED {race.missed}" if race.missed else ""
    return f"{race.name}: {ours(race)}{speed}{missed}; {peers}"


def write_json(path: Path, races: list[dict]) -> None:
    path.write_text(json.dumps(without_infinities(races), indent=1, allow_nan=False) + "\n")


def without_infinities(value):
    if isinstance(value, dict):
        return {key: without_infinities(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [without_infinities(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
