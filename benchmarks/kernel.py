"""The soft margin with the rbf kernel: maxmargin against the solvers that people use.

    python benchmarks/kernel.py --data DIR --fresh --out benchmarks/results/kernel.md

writes the tables, and the picture beside them (.png). Without --data only the made set is run.

Everybody runs in a process of its own, warmed up by a few rows, and the best of three or more runs counts if a run
takes less than 10 s. The process of a peer takes one C of a set after the other, and is replaced where one of them
fails. Time is `fit` alone. Everybody is held to the same --threads cores, and uses as many threads as it knows to.

Everybody is judged by the same few lines of NumPy (kernel_judge.py), which take the weights of the support rows and
compute the true relative duality gap from them. A time means nothing without the gap that was reached: so ours are
read off a ladder of tolerances, at the gap of each peer (kernel_ours.py). The bars are in kernel_race.py, and the exit
code is 1 where one of them is missed.

The peers are SVC of scikit-learn, the official LIBSVM, scikit-learn-intelex and ThunderSVM. The last two may live in an
environment of their own:

    python -m venv PEERS && PEERS/bin/pip install scikit-learn-intelex thundersvm-cpu
    python benchmarks/kernel.py --peer-python PEERS/bin/python ...

With --cache FILE the peers are run only where the file does not know them; --fresh runs them all, and --again SECONDS
those that took less. Sets may run one after the other, each with --json FILE; then

    python benchmarks/kernel.py --join FILE FILE ... --out benchmarks/results/kernel.md

is the report of them all, without running anything.
"""

import argparse
import json
import os
import sys
from pathlib import Path

import kernel_sets
import scipy.sparse as sp
from isolation import measure_jobs
from kernel_cache import KernelCache, KernelRun, run_of
from kernel_interpreter import interpreter
from kernel_ours import climb
from kernel_peers import peers_with, prepare
from kernel_picture import draw
from kernel_race import ENOUGH, Race, Terms, bars, race_of
from kernel_table import peer_cell, setting, whole_report
from race_cells import power, seconds
from race_command import add_options, find_or_run, hold, ours_is_installed, settle, told, write_json

COSTS = (1.0, 10.0, 100.0)


def races_of(set_name: str, cache: KernelCache, terms: Terms, options: argparse.Namespace, *, with_ours: bool):
    """The races of one set, one for each C."""
    X, _ = kernel_sets.load(set_name, options.data)
    (n, d), kind = X.shape, "sparse" if sp.issparse(X) else "dense"
    del X  # the processes that measure load it themselves
    runs = {name: runs_of(name, set_name, cache, options) for name in options.peers}
    for C in options.C:
        peers = {name: run_at[C] for name, run_at in runs.items() if C in run_at}
        rungs = climb(set_name, options.data, C, terms.time_limit, terms.cache_size) if with_ours else []
        yield Race(set_name, C, n, d, kind, terms, peers, rungs)


def runs_of(name: str, set_name: str, cache: KernelCache, options: argparse.Namespace) -> dict[float, KernelRun]:
    """What a peer does on a set, by C. Runs with more threads than one are other runs."""
    peer = peers_with(options.threads)[name]

    def run(costs: list[float]) -> list[KernelRun]:
        with interpreter(options.peer_python if peer.needs_own_python else None):
            measured = measure_jobs(
                prepare, costs, name, options.threads, set_name, options.data, time_limit=options.peer_limit
            )
        return [run_of(one, options.peer_limit) for one in measured]

    kept_as = name if peer.threads == 1 else f"{name} x{peer.threads}"
    return find_or_run(set_name, kept_as, cache, options, run)


def ours(race: Race) -> str:
    return f"ours proven 1e-3 {seconds(race.ours_proven(ENOUGH))}, known to {power(race.best_gap)}"


def as_json(race: Race) -> dict:
    """The race as numbers, with what follows from them."""
    return race._asdict() | {
        "terms": race.terms._asdict(),
        "peers": {name: run._asdict() | {"gap": run.gap} for name, run in race.peers.items()},
        "rungs": [rung._asdict() | {"gap": rung.gap, "proven": rung.proven} for rung in race.rungs],
        "optimum": race.best_primal,
        "missed": race.missed,
    }


def joined(files: list[Path]) -> list[Race]:
    """The races of some runs, as --json wrote them; where several have a race, that of the last."""
    races = [race_of(entry) for file in files for entry in json.loads(file.read_text())]
    order = [*kernel_sets.TINY, *kernel_sets.REAL, *kernel_sets.MADE]
    found = {race.name: race for race in races}
    return sorted(found.values(), key=lambda race: (order.index(race.set_name), race.C))


def publish(races: list[Race], terms: Terms, options: argparse.Namespace) -> None:
    if options.out:
        options.out.write_text("\n".join(whole_report(races, terms, options.peer_python)) + "\n")
        draw(races, options.out.with_suffix(".png"), setting(races, terms, options.peer_python))
    if options.json:
        write_json(options.json, [as_json(race) for race in races])


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    cores = len(os.sched_getaffinity(0))
    add_options(parser, costs=COSTS, usual_sets="all but the tiny ones")
    add = parser.add_argument
    add("--peer-python", type=Path, metavar="FILE", help="the Python that has intelex and thundersvm (default: this)")
    add("--time-limit", type=float, default=600.0, metavar="SECONDS", help="of one fit of ours (default: 600)")
    add("--peer-limit", type=float, default=120.0, metavar="SECONDS", help="of one fit of a peer (default: 120)")
    add("--cache-size", type=float, default=1000.0, metavar="MB", help="for kernel values, of ours (default: 1000)")
    add("--threads", type=int, default=cores, help="of ours and of the peers that can (default: all cores)")
    add("--join", type=Path, nargs="+", metavar="FILE", help="run nothing: report on what --json wrote")
    options = parser.parse_args(arguments)
    usual = (*(kernel_sets.REAL if options.data else ()), *kernel_sets.MADE)
    known = (*(kernel_sets.TINY if options.data else ()), *usual)
    settle(parser, options, costs=COSTS, usual_sets=usual, known_sets=known, peers=peers_with(options.threads))
    if not 1 <= options.threads <= cores:
        parser.error(f"--threads {options.threads}: there are {cores} cores, and everybody gets one for each thread")
    return options


def hold_to(threads: int) -> None:
    """So many cores for this process and all that it starts, whatever they make of the number of threads."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(threads)


def main() -> int:
    options = parse_arguments()
    if options.join:
        races = joined(options.join)
        return report(races, races[0].terms, options)
    hold_to(options.threads)
    terms = Terms(options.threads, options.time_limit, options.peer_limit, options.cache_size, options.again)
    cache = KernelCache(options.cache, again=options.again)
    with_ours = ours_is_installed()
    races = hold(
        options.sets,
        lambda set_name: races_of(set_name, cache, terms, options, with_ours=with_ours),
        lambda race: told(race, ours, peer_cell),
        lambda races: publish(races, terms, options),
    )
    return report(races, terms, options)


def report(races: list[Race], terms: Terms, options: argparse.Namespace) -> int:
    publish(races, terms, options)
    print(*whole_report(races, terms, options.peer_python), sep="\n")
    return 0 if all(bar.holds for bar in bars(races)) else 1


if __name__ == "__main__":
    sys.exit(main())
