"""How good is the choice of the linear solver? solver="auto" beside the better of the two that it chooses from.

    python benchmarks/choice.py record FILE.json [--data DIR] [--limit SECONDS] [--only NAME,NAME] [--fresh]
    python benchmarks/choice.py table FILE.json
    python benchmarks/choice.py replay FILE.json --set LITTLE=.3,LATER=6 [--half testing]

`record` fits each set with the hinge, at C = .01, 1 and 100 and tol = 1e-2 and 1e-4, by "auto", by coordinate descent
and by the interior point, and keeps their CPU seconds and the progress of the sweeps. It goes on where a file was left.
`table` prints, for each half of the sets, the time of auto over that of the better of the two, in the cells where at
least one of them ended; a run that did not end counts as its limit. `replay` asks from the records when a rule with
other constants (those of maxmargin.solvers.patience) would have handed over, and what that would have cost.

The halves are of the names' digests (choice_sets.py). Constants are looked for on the tuning half, and then the testing
half is printed as it comes out.
"""

import argparse
import json
import math
import time
import warnings
from pathlib import Path

import numpy as np
from choice_sets import MOST_COLUMNS, half_of, sets
from race_cells import line, machine, seconds

from maxmargin import LinearSVM
from maxmargin.problems.losses import HINGE
from maxmargin.problems.protocol import Options
from maxmargin.problems.statement import SoftMargin
from maxmargin.run.observation import observing
from maxmargin.solvers import patience
from maxmargin.solvers.coordinate_descent.trial import is_hopeless
from maxmargin.solvers.interior_point.method import path_passes, sieve_passes, worth_sieving

COSTS, TOLS = (0.01, 1.0, 100.0), (1e-2, 1e-4)
OWN = ("coordinate_descent", "interior_point")
LIMIT = 4.0
COMPILING = 60.0
SUSPECT = 1.5
REPEATED = 0.3  # seconds: what is quicker is measured twice, and the better one counts


def fitted(X, y, C, tol, solver, limit):
    """CPU seconds, whether it was proven, and (seconds, passes, gap, share of active rows, objective) on the way."""
    begun, steps = time.process_time(), []

    def look(iterate, _):
        share = iterate.active / len(iterate.a) if iterate.active > 0 else 1.0
        cost = patience.objective(iterate.gap, iterate.dual)
        steps.append((time.process_time() - begun, float(iterate.passes), float(iterate.gap), share, float(cost)))

    with warnings.catch_warnings(), observing(look):
        warnings.simplefilter("ignore")
        svm = LinearSVM(C=C, tol=tol, solver=solver, max_time=limit, max_iter=10**9).fit(X, y)
    return time.process_time() - begun, bool(svm.certificate_.relative_gap <= tol), steps


def cell(X, y, C, tol, limit):
    problem = SoftMargin(X, y, np.full(len(y), C), HINGE, True)
    sieved = worth_sieving(problem)
    passes = sieve_passes(problem, tol) if sieved else (path_passes(problem, tol), 1.0)
    found = {"patience": patience.patience_for(problem, *passes)}
    found["hopeless"] = sieved and is_hopeless(problem, Options(tol), *passes)
    for solver in ("auto", *OWN, *(["sieve"] if sieved else [])):
        took, ended, steps = fitted(X, y, C, tol, solver, limit)
        if took < REPEATED:
            took = min(took, fitted(X, y, C, tol, solver, limit)[0])
        found[solver] = {"seconds": took, "ended": ended}
        if solver == OWN[0]:
            found["steps"] = [step for step in steps if math.isfinite(step[2])][:400]
    if found["auto"]["seconds"] > SUSPECT * best_of(found):  # a loop may have been compiled on the way
        took, ended, _ = fitted(X, y, C, tol, "auto", limit)
        found["auto"] = min(found["auto"], {"seconds": took, "ended": ended}, key=lambda run: run["seconds"])
    return found


def record(options):
    known = {} if options.fresh or not options.file.exists() else json.loads(options.file.read_text())["cells"]
    for name, load in sets(options.data, seed=1):
        wanted = [(C, tol) for C in COSTS for tol in TOLS if f"{name} {C:g} {tol:g}" not in known]
        if not wanted or (options.only and name not in options.only.split(",")):
            continue
        X, y = load()
        if X.shape[1] > MOST_COLUMNS:
            continue
        for solver in ("auto", *OWN):  # compiles what this form of rows needs
            fitted(X, y, 1.0, 0.5, solver, COMPILING)
        for C, tol in wanted:
            known[f"{name} {C:g} {tol:g}"] = cell(X, y, C, tol, options.limit)
            options.file.write_text(json.dumps({"machine": machine(), "limit": options.limit, "cells": known}))
        print(name, X.shape, flush=True)


def best_of(found):
    """The better of the two, and whether one of them ended."""
    ended = [found[solver]["seconds"] for solver in OWN if found[solver]["ended"]]
    return min(ended) if ended else math.inf


def summary(ratios):
    """Geometric mean, worst, and the share above two."""
    if not ratios:
        return ["0", "", "", ""]
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    above = sum(ratio > 2.0 for ratio in ratios.values()) / len(ratios)
    worst = max(ratios, key=ratios.get)
    return [str(len(ratios)), f"{mean:.2f}", f"{100 * above:.0f} %", f"{ratios[worst]:.1f} ({worst})"]


def cells_of(data, half):
    return {name: found for name, found in data["cells"].items() if half_of(name.split()[0]) == half}


def table(options):
    data = json.loads(options.file.read_text())
    print(f"{data['machine']}; limit {data['limit']:g} s; {len(data['cells'])} cells\n")
    print(line(["half", "who, over the better of the two", "cells", "geometric mean", "above 2", "worst"]))
    print(line(["---", "---", "--:", "--:", "--:", "---"]))
    for half in ("tuning", "testing"):
        cells = {name: found for name, found in cells_of(data, half).items() if best_of(found) < math.inf}
        for who in ("auto", *OWN):
            ratios = {name: found[who]["seconds"] / best_of(found) for name, found in cells.items()}
            print(line([half, who, *summary(ratios)]))
    slow = {name: found["auto"]["seconds"] / best_of(found) for name, found in data["cells"].items()}
    print("\n" + line(["set, C, tol", "half", "auto", *OWN, "auto over the better"]))
    print(line(["---", "---", "--:", "--:", "--:", "--:"]))
    for name in sorted(slow, key=slow.get, reverse=True):
        if slow[name] > 1.5:
            found = data["cells"][name]
            times = [seconds(found[who]["seconds"]) if found[who]["ended"] else "no end" for who in ("auto", *OWN)]
            print(line([name, half_of(name.split()[0]), *times, f"{slow[name]:.1f}"]))


def replayed(found, tol):
    """Seconds with the rule as it is now: sweeps as far as it lets them, then the next solver from its beginning."""
    following, asked = found.get("sieve", found[OWN[1]]), patience.Patience(*found["patience"])
    seen = list(patience.NOTHING_SEEN)
    if found["hopeless"]:
        return following["seconds"]
    for at, passes, gap, share, cost in found["steps"]:
        if not (passes > seen[-1][0] and tol < gap < math.inf):
            continue
        seen.append((passes, min(gap, seen[-1][1]), share))
        if patience.looks_hopeless(seen, tol, asked, cost):
            return at + following["seconds"]
    return found[OWN[0]]["seconds"]


def replay(options):
    data = json.loads(options.file.read_text())
    cells = {name: found for name, found in cells_of(data, options.half).items() if best_of(found) < math.inf}
    for change in ("", *options.set):
        for word in filter(None, change.split(",")):
            name, _, value = word.partition("=")
            assert hasattr(patience, name), f"{name} is no constant of the patience"
            setattr(patience, name, float(value))
        ratios = {name: replayed(found, float(name.split()[2])) / best_of(found) for name, found in cells.items()}
        print(line([change or "as it is", *summary(ratios)]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(required=True)
    for command in (record, table, replay):
        one = what.add_parser(command.__name__)
        one.add_argument("file", type=Path)
        one.set_defaults(command=command)
        if command is record:
            one.add_argument("--data", type=Path, help="a folder of real sets (datasets.py)")
            one.add_argument("--limit", type=float, default=LIMIT, help="seconds for a fit")
            one.add_argument("--only", help="some sets, by name")
            one.add_argument("--fresh", action="store_true", help="forget what the file has")
        if command is replay:
            one.add_argument(
                "--set", nargs="*", default=[], help="constants, as LITTLE=.3,LATER=6; several changes in turn"
            )
            one.add_argument("--half", choices=("tuning", "testing"), default="tuning")
    options = parser.parse_args()
    options.command(options)


if __name__ == "__main__":
    main()
