"""One pass over a stream in batches: StochasticSVM.partial_fit beside scikit-learn's SGDClassifier.

    python benchmarks/streams.py --data DIR [--sets NAME ...] [--batches N ...] [--orders N] [--rows N] [--average]

A fifth of the rows is held out; the others come once, in batches, shuffled (the mean over several orders; over one for
batches of 1) and as they lie in the file, which may be sorted by class. StochasticSVM has its defaults, and does not
know how many rows will come. SGDClassifier(loss="hinge", alpha=1/n) minimises the same objective, C = 1, and is told
n. With --average both show the mean of their planes.

The bar: over shuffled rows, on the three sets that are marked, the accuracy on the rows that were held out and on
those of the stream is at most .01 below SGDClassifier's. All other lines are shown beside. The folder of sets is
described in datasets.py.
"""

import argparse
import os
import platform
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn
from datasets import load
from sklearn.linear_model import SGDClassifier

from maxmargin import StochasticSVM

BARRED = ("news20_bydate", "covtype_20k", "a9a")
OTHERS = ("mnist", "w8a", "ijcnn1", "cod-rna", "sms_spam")
BATCHES = (1, 10, 1000)
ALLOWED = 0.01
HELD_OUT = 5  # one row of so many


class Scores(NamedTuple):
    held_out: float
    stream: float


class Split(NamedTuple):
    """Rows that are held out, and those of the stream, as they lie in the file."""

    X: Any
    y: np.ndarray
    held_out: np.ndarray
    stream: np.ndarray


def split(X: Any, y: np.ndarray, most: int) -> Split:
    """At most so many rows, spread over the whole file."""
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:most])
    held_out = np.random.default_rng(1).permutation(len(rows)) < len(rows) // HELD_OUT
    return Split(X, y, rows[held_out], rows[~held_out])


def pass_over(learner: Any, data: Split, order: np.ndarray, batch: int) -> Scores:
    X, y = data.X[order], data.y[order]
    for start in range(0, len(order), batch):
        learner.partial_fit(X[start : start + batch], y[start : start + batch], classes=[-1.0, 1.0])
    return Scores(*(learner.score(data.X[rows], data.y[rows]) for rows in (data.held_out, data.stream)))


def both(data: Split, order: np.ndarray, batch: int, options: dict[str, Any]) -> tuple[Scores, Scores]:
    peer = SGDClassifier(loss="hinge", alpha=1.0 / len(order), **options)
    return pass_over(StochasticSVM(**options), data, order, batch), pass_over(peer, data, order, batch)


def orders(data: Split, kind: str, count: int) -> Iterator[tuple[int, np.ndarray]]:
    if kind == "file":
        yield 0, data.stream
        return
    for seed in range(count):
        yield seed, np.random.default_rng(seed).permutation(data.stream)


def line(name: str, data: Split, kind: str, batch: int, count: int, average: bool) -> str:
    found = [
        both(data, order, batch, {"random_state": seed, "average": average})
        for seed, order in orders(data, kind, 1 if batch == 1 else count)
    ]
    ours, peer = (Scores(*np.mean([one[side] for one in found], axis=0)) for side in (0, 1))
    behind = max(peer.held_out - ours.held_out, peer.stream - ours.stream)
    bar = ("holds" if behind <= ALLOWED else "FAILS") if name in BARRED and kind == "shuffled" else ""
    return (
        f"| {name} | {len(data.stream):,} | {kind} | {batch:,} | {ours.held_out:.4f} | {peer.held_out:.4f} "
        f"| {ours.stream:.4f} | {peer.stream:.4f} | {-behind:+.4f} | {bar} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of sets")
    parser.add_argument("--sets", nargs="+", default=[*BARRED, *OTHERS], metavar="NAME")
    parser.add_argument("--batches", nargs="+", type=int, default=list(BATCHES), metavar="N")
    parser.add_argument(
        "--orders", type=int, default=3, help="shuffled orders, of which the mean is shown (default: 3)"
    )
    parser.add_argument("--rows", type=int, default=40_000, help="at most so many of a set (default: 40,000)")
    parser.add_argument("--average", action="store_true", help="show the mean of the planes, not the last one")
    options = parser.parse_args()
    versions = f"numpy {np.__version__}, scikit-learn {sklearn.__version__}"
    print(f"{date.today()}, {os.cpu_count()} processors, {platform.machine()}, {versions}\n")
    print("| set | rows | order | batch | held out: ours | SGD | stream: ours | SGD | the lesser difference | bar |")
    print("|---|--:|---|--:|--:|--:|--:|--:|--:|---|")
    for name in options.sets:
        data = split(*load(name, options.data), options.rows)
        for kind in ("shuffled", "file"):
            for batch in options.batches:
                print(line(name, data, kind, batch, options.orders, options.average), flush=True)


if __name__ == "__main__":
    main()
