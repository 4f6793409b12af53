"""The runs of a `StochasticSVM` in a model file: what a stream goes on from, and a warm start."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.persistence.container import Arrays
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.fields import Fields, Shelf, split
from maxmargin.problems.descent import Descent, Position

VECTORS = ("v", "a", "v_lag", "a_lag")
COUNTS = ("visits", "sweeps", "violations")


def write_runs(runs: list[Descent], arrays: Arrays) -> list[dict[str, Any]]:
    """What the document says of each run; their vectors are added to the arrays, one after the other."""
    for name in VECTORS:
        arrays[f"runs.{name}"] = np.concatenate([getattr(run, name) for run in runs])
    arrays["runs.position"] = np.array([run.position for run in runs], dtype=np.float64)
    return [
        {"C": float(run.C), "n_rows": int(run.n_rows), "has_kernel": run.has_kernel, "average": run.average}
        | {"radius": float(run.radius), "sizes": [len(getattr(run, name)) for name in VECTORS]}
        | {name: int(getattr(run, name)) for name in COUNTS}
        for run in runs
    ]


def read_runs(entries: list[Any], shelf: Shelf, n_planes: int, n_columns: int) -> list[Descent]:
    """The way back: one run for each plane."""
    if len(entries) != n_planes:
        raise Refusal(f"there are {len(entries)} runs for {n_planes} planes")
    made, sizes = [], []
    positions = shelf.take("runs.position", (n_planes, len(Position._fields)))
    for entry, position in zip(entries, positions, strict=True):
        with Fields(entry, "a run") as fields:
            run = Descent(
                C=fields.number("C"),
                n_rows=fields.whole("n_rows", 1),
                has_kernel=fields.flag("has_kernel"),
                average=fields.flag("average"),
                v=np.zeros(0),
                a=np.zeros(0),
                radius=fields.number("radius"),
                position=Position(*position.tolist()),
                visits=fields.whole("visits"),
                sweeps=fields.whole("sweeps"),
                violations=fields.whole("violations"),
            )
            own = fields.list("sizes")
        if not (0.0 < run.C < math.inf and run.radius > 0.0):
            raise Refusal("a run must have a positive C and a positive radius")
        check_sizes(own, run.has_kernel, n_columns)
        made.append(run)
        sizes.append(own)
    for index, name in enumerate(VECTORS):
        own = [size[index] for size in sizes]
        vectors = split(shelf.take(f"runs.{name}", (None,)), own, f"runs.{name}")
        for run, vector in zip(made, vectors, strict=True):
            setattr(run, name, vector.copy())
    return made


def check_sizes(sizes: list[Any], has_kernel: bool, n_columns: int) -> None:
    """v is as long as a row, or with a kernel as the table; lags are as long as what they belong to, or empty."""
    if len(sizes) != len(VECTORS) or not all(isinstance(size, int) and size >= 0 for size in sizes):
        raise Refusal("the sizes of a run must be four whole numbers")
    v, a, v_lag, a_lag = sizes
    if (v != a if has_kernel else v != n_columns) or v_lag not in (0, v) or a_lag not in (0, a):
        raise Refusal("the sizes of a run do not fit each other")
