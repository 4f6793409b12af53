"""The linear soft margin, min 1/2 |w|^2 + C sum of losses: maxmargin against the solvers that people use.

    python benchmarks/linear.py --data DIR --fresh --out benchmarks/results/linear.md

writes the tables, and the picture beside them (.png). Without --data only the made sets are run. The loss is the
hinge, or its square with --loss squared_hinge.

Everybody runs in a process of its own, warmed up, and the best of three or more runs counts if a run takes
less than 10 s. The process of a peer takes one C of a set after the other, and is replaced where one of them
fails. Time is `fit` alone. Everybody is judged by the same few lines of NumPy (linear_judge.py): the true
objective, with the best bias for the w that came out, because the bias is not penalised here and some peers
penalise it. A time means nothing without the excess that was reached: so ours are read off a ladder of
tolerances, at the excess of each peer (linear_ours.py). The bars are in linear_race.py, and the exit code is
1 where one of them is missed.

With --cache FILE the peers are run only where the file does not know them; --fresh runs them all, which is
the honest way to make a table. Between the two, --again SECONDS runs those again that took less: after a noisy
run the long times may stay as they are, and the short ones are worth the quiet.
"""

import argparse
import os
import sys

import datasets
import scipy.sparse as sp
from isolation import measure_jobs
from linear_cache import Cache, Run, run_of
from linear_ours import climb, data_bytes
from linear_peers import PEERS, prepare
from linear_picture import draw
from linear_race import Race, Terms, bars
from linear_table import peer_cell, setting, whole_report
from race_cells import power, seconds
from race_command import add_options, find_or_run, hold, ours_is_installed, settle, told, write_json

REAL = (  # the smallest first
    *("fourclass_scale", "heart_scale", "ionosphere", "svmguide1", "sonar", "skl_breast_cancer", "sms_spam"),
    *("colon-cancer", "magic04", "mushrooms", "spam_kernlab", "leu", "letter_scale", "reuters_r8", "cod-rna"),
    *("covtype_20k", "clickbait_bigram", "a9a", "skin_nonskin", "give_me_some_credit", "w8a", "ijcnn1", "usps"),
    *("news20_bydate", "donors", "census_income_full", "kddcup99_10pct", "mnist"),
)
COSTS = (0.01, 1.0, 100.0)


def races_of(set_name: str, cache: Cache, terms: Terms, options: argparse.Namespace, *, with_ours: bool):
    """The races of one set, one for each C."""
    X, _ = datasets.load(set_name, options.data)
    (n, d), kind, n_bytes = X.shape, "sparse" if sp.issparse(X) else "dense", data_bytes(X)
    del X  # the processes that measure load it themselves
    runs = {
        name: runs_of(name, set_name, cache, options)
        for name in options.peers
        if n <= PEERS[options.loss][name].most_rows
    }
    for C in options.C:
        peers = {name: run_at[C] for name, run_at in runs.items() if C in run_at}
        rungs = climb(set_name, options.data, C, options.loss, options.time_limit) if with_ours else []
        yield Race(set_name, C, n, d, kind, n_bytes, terms, peers, rungs)


def runs_of(name: str, set_name: str, cache: Cache, options: argparse.Namespace) -> dict[float, Run]:
    """What a peer does on a set, by C."""

    def run(costs: list[float]) -> list[Run]:
        measured = measure_jobs(
            prepare, costs, options.loss, name, set_name, options.data, time_limit=options.peer_limit
        )
        return [run_of(one, options.peer_limit) for one in measured]

    return find_or_run(set_name, name, cache, options, run)


def ours(race: Race) -> str:
    proven = f"ours proven 1e-3 {seconds(race.ours_proven(1e-3))}, 1e-6 {seconds(race.ours_proven(1e-6))}"
    return f"{proven}, known to {power(race.best_gap)} by {race.solver}"


def as_json(race: Race) -> dict:
    """The race as numbers, with what follows from them."""
    return race._asdict() | {
        "terms": race.terms._asdict(),
        "peers": {name: run._asdict() | {"excess": race.excess(run.primal)} for name, run in race.peers.items()},
        "rungs": [rung._asdict() | {"excess": race.excess(rung.primal)} for rung in race.rungs],
        "optimum": race.best_primal,
        "missed": race.missed,
    }


def publish(races: list[Race], terms: Terms, options: argparse.Namespace) -> None:
    if options.out:
        options.out.write_text("\n".join(whole_report(races, terms)) + "\n")
        draw(races, options.out.with_suffix(".png"), setting(races, terms))
    if options.json:
        write_json(options.json, [as_json(race) for race in races])


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_options(parser, costs=COSTS)
    add = parser.add_argument
    add("--loss", choices=list(PEERS), default="hinge", help="what a row pays, and who is a peer (default: hinge)")
    add("--time-limit", type=float, default=120.0, metavar="SECONDS", help="of one fit (default: 120)")
    add("--peer-limit", type=float, metavar="SECONDS", help="of one fit of a peer (default: the same)")
    add("--threads", type=int, default=os.cpu_count(), help="of ours (default: all processors)")
    options = parser.parse_args(arguments)
    options.peer_limit = options.peer_limit or options.time_limit
    sets = (*(REAL if options.data else ()), *datasets.NOISY)
    settle(parser, options, costs=COSTS, usual_sets=sets, known_sets=sets, peers=PEERS[options.loss])
    return options


def main() -> int:
    options = parse_arguments()
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(options.threads)  # read by the processes that this one starts
    terms = Terms(options.loss, options.threads, options.time_limit, options.peer_limit, options.again)
    cache = Cache(options.cache, options.loss, again=options.again)
    with_ours = ours_is_installed()
    races = hold(
        options.sets,
        lambda set_name: races_of(set_name, cache, terms, options, with_ours=with_ours),
        lambda race: told(race, ours, peer_cell),
        lambda races: publish(races, terms, options),
    )
    print(*whole_report(races, terms), sep="\n")
    return 0 if all(bar.holds for bar in bars(races)) else 1


if __name__ == "__main__":
    sys.exit(main())
