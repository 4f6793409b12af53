"""How long the playground takes to answer: every algorithm at 200 points, while a point is dragged.

    python benchmarks/play.py [--points 200] [--rounds 40]

Each round moves one point a little and asks anew, as a hand does. What is timed is the answer as the page gets it, from
the checked message to the text that is sent; `fit` is the part of it that the estimator takes. The processor time is
that of the thread: on a machine that has other things to do, the time on the clock says more about those.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from typing import Any

import numpy as np

from maxmargin.data import synthetic
from maxmargin.playground.catalogue import ALGORITHMS
from maxmargin.playground.messages import read_state, read_view, text_of
from maxmargin.playground.shown import answer

CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("perceptron", "street", {}),
    ("margin_perceptron", "street", {}),
    ("winnow", "street", {}),
    ("hard_margin", "street", {}),
    ("hard_margin", "overlapping", {}),
    ("hard_margin", "street", {"norm": "l1"}),
    ("linear_svm", "overlapping", {}),
    ("linear_svm", "overlapping", {"loss": "squared_hinge"}),
    ("linear_svm", "overlapping", {"solver": "coordinate_descent"}),
    ("kernel_svm", "rings", {"kernel": "rbf"}),
    ("kernel_svm", "overlapping", {"kernel": "rbf"}),
    ("kernel_svm", "overlapping", {"kernel": "poly", "coef0": 1.0}),
    ("kernel_svm", "overlapping", {"kernel": "linear"}),
    ("stochastic_svm", "overlapping", {}),
    ("stochastic_svm", "rings", {"kernel": "rbf"}),
    ("kernel_perceptron", "rings", {"kernel": "rbf"}),
]


def points_of(data: str, n: int) -> list[list[float]]:
    X, y = {"street": synthetic.street, "overlapping": synthetic.overlapping, "rings": synthetic.rings}[data](n)[:2]
    return [[float(x1), float(x2), int(label)] for (x1, x2), label in zip(X, y, strict=True)]


def times_of(name: str, data: str, parameters: dict[str, Any], n: int, rounds: int) -> np.ndarray:
    """Milliseconds on the clock, of the processor and of the fit, for each round."""
    points, random, found = points_of(data, n), np.random.default_rng(0), []
    for _ in range(rounds + 2):
        row = int(random.integers(n))
        points[row][:2] = (np.array(points[row][:2]) + random.normal(0.0, 0.01, 2)).tolist()
        begun, used = time.perf_counter(), time.thread_time()
        state = read_state({"points": points, "algorithm": name, "parameters": parameters})
        said = answer(state, read_view(None, state.points))
        text_of(said)
        found.append([1e3 * (time.perf_counter() - begun), 1e3 * (time.thread_time() - used), said["milliseconds"]])
    return np.array(found[2:])  # the first ones load the compiled code


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=40)
    given = parser.parse_args()
    print(
        f"{time.strftime('%Y-%m-%d')}, {platform.processor() or platform.machine()}, Python {platform.python_version()}"
    )
    busy = f", load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores" if hasattr(os, "getloadavg") else ""
    print(f"{given.points} points, {given.rounds} answers each, milliseconds{busy}\n")
    print(f"{'algorithm':<60} {'p50':>7} {'p95':>7} {'processor p50':>14} {'p95':>7} {'fit p50':>8}")
    for name, data, parameters in CASES:
        clock, used, fit = times_of(name, data, parameters, given.points, given.rounds).T
        chosen = ", ".join(f"{key}={value}" for key, value in parameters.items())
        title = f"{ALGORITHMS[name].title} ({data}{', ' + chosen if chosen else ''})"
        print(
            f"{title:<60} {np.median(clock):7.1f} {np.quantile(clock, 0.95):7.1f} {np.median(used):14.1f} "
            f"{np.quantile(used, 0.95):7.1f} {np.median(fit):8.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
