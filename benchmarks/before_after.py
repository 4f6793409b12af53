"""The fits of two source trees, in turn: is a set slower than it was, and are its bits the same?

    python benchmarks/before_after.py --before ../older/src --data DIR [--kind kernel] [--only NAME,NAME] [--C 0.01,1]

A round runs a set in a process of its own for either tree, and the next round begins with the other tree: one core, CPU
time, all loops compiled, after a first fit that loads or compiles them. The table has the least over all rounds, both
gaps as they were proven, and whether plane and bounds are equal to the last bit.
"""

import argparse
import hashlib
import os
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import datasets
import kernel_sets
import numpy as np
from race_cells import machine
from scale_process import alone

LINEAR = (
    *("heart_scale", "fourclass_scale", "sonar", "ionosphere", "skl_breast_cancer", "colon-cancer", "leu", "svmguide1"),
    *("spam_kernlab", "sms_spam", "mushrooms", "reuters_r8", "usps", "magic04", "letter_scale", "covtype_20k", "a9a"),
    *("clickbait_bigram", "w8a", "ijcnn1", "cod-rna", "news20_bydate", "give_me_some_credit", "skin_nonskin"),
    *("census_income_full", "mnist", "donors", "kddcup99_10pct"),
)
LEAST_SECONDS, MOST_FITS = 0.2, 20  # a fit of milliseconds is repeated


def fits(name: str, data: str | None, kind: str, prices: list[float], tol: float, limit: float) -> dict[str, Any]:
    """One set with each C: CPU seconds, the proven gap, and a digest of plane and bounds."""
    os.environ["MAXMARGIN_UNCOMPILED_ROWS"] = "0"
    from maxmargin import KernelSVM, LinearSVM

    warnings.simplefilter("ignore")
    X, y = (kernel_sets if kind == "kernel" else datasets).load(name, data and Path(data))
    estimator = {"kernel": KernelSVM, "linear": LinearSVM}[kind]
    found = []
    for C in prices:
        model = estimator(C=C, tol=tol, max_time=limit).fit(X, y)
        seconds: list[float] = []
        while not seconds or (sum(seconds) < LEAST_SECONDS and len(seconds) < MOST_FITS):
            start = time.process_time()
            model.fit(X, y)
            seconds.append(time.process_time() - start)
        proof = model.certificate_
        plane = model.dual_coef_ if kind == "kernel" else model.coef_
        bits = np.concatenate([np.ravel(plane), np.ravel(model.intercept_), [proof.primal, proof.dual]])
        digest = hashlib.sha256(bits.astype(np.float64).tobytes()).hexdigest()
        found.append({"cpu": min(seconds), "gap": proof.relative_gap, "digest": digest})
    return {"found": found}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="the folder src of the older tree")
    parser.add_argument("--now", type=Path, default=Path(__file__).resolve().parent.parent / "src")
    parser.add_argument("--data", help="a folder of sets; without it, name made ones")
    parser.add_argument("--kind", choices=["linear", "kernel"], default="linear")
    parser.add_argument("--only", help="names of sets, divided by commas")
    parser.add_argument("--C", default="1", help="values of C, divided by commas")
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a fit")
    options = parser.parse_args()
    sets = options.only.split(",") if options.only else LINEAR if options.kind == "linear" else kernel_sets.REAL
    prices = [float(C) for C in options.C.split(",")]
    print(f"{options.kind}, tol {options.tol:g}, {options.rounds} rounds; {machine()}\n")
    print("| set | C | before, CPU s | now, CPU s | now / before | gap before | gap now | same bits |")
    print("|---|--:|--:|--:|--:|--:|--:|---|")
    ratios: dict[str, float] = {}
    for name in sets:
        arguments = {"name": name, "data": options.data, "kind": options.kind, "prices": prices}
        arguments |= {"tol": options.tol, "limit": options.limit}
        answers: dict[Path, list[Any]] = {options.before: [], options.now: []}
        for number in range(options.rounds):
            for tree in (options.before, options.now) if number % 2 else (options.now, options.before):
                limit = 60.0 + 25.0 * options.limit * len(prices)
                answers[tree].append(alone("before_after:fits", arguments, time_limit=limit, source=tree))
        if failures := [answer["failure"] for both in answers.values() for answer in both if "failure" in answer]:
            print(f"| {name} | | | | | | | {failures[0]} |", flush=True)
            continue
        for place, C in enumerate(prices):
            older, newer = ([answer["found"][place] for answer in answers[tree]] for tree in answers)
            before, now = (min(fit["cpu"] for fit in some) for some in (older, newer))
            ratios[f"{name} C={C:g}"] = now / before
            is_same = "yes" if older[0]["digest"] == newer[0]["digest"] else "no"
            print(
                f"| {name} | {C:g} | {before:.4g} | {now:.4g} | {now / before:.2f} | "
                f"{older[0]['gap']:.1e} | {newer[0]['gap']:.1e} | {is_same} |",
                flush=True,
            )
    if ratios:
        worst = max(ratios, key=ratios.__getitem__)
        mean = statistics.geometric_mean(ratios.values())
        print(f"\n{len(ratios)} cells: geometric mean {mean:.3f}, worst {ratios[worst]:.2f} ({worst})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
