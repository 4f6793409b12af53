"""A fit whose blocks are made by the processes of Ray, through its scheduler of Dask's graphs.

    pip install ray 'dask[array]'
    python benchmarks/on_ray.py [--blocks N] [--rows N]

Rows are arrays of Dask, and no client is current: so whoever computes Dask's graphs makes the blocks, and they come to
this process, where the passes are computed. It prints how many processes made them, whether plane, bounds and
predictions have the bits of a fit without Ray.
"""

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from race_cells import machine

from maxmargin import LinearSVM

COLUMNS = 20
PROCESSES = 2


class Made:
    """Block k: features and a label, and a mark of the process that made it."""

    def __init__(self, rows: int, marks: str) -> None:
        self.rows, self.marks = rows, marks

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        Path(self.marks, str(os.getpid())).touch()
        random = np.random.default_rng(int(numbers[0, 0]))
        X = random.standard_normal((self.rows, COLUMNS))
        return np.column_stack([X, X[:, 0] - X[:, 1] + random.logistic(size=self.rows) > 0.0])


def table(rows: int, blocks: int, marks: str) -> tuple[Any, Any]:
    numbers = da.arange(blocks, chunks=1)[:, None]
    chunks = ((rows,) * blocks, (COLUMNS + 1,))
    whole = numbers.map_blocks(Made(rows, marks), chunks=chunks, dtype=float, meta=np.empty((0, 0)))
    return whole[:, :-1], whole[:, -1].astype(int)


def bits(svm: LinearSVM, X: Any) -> tuple[bytes, ...]:
    proof = svm.certificate_
    bounds = np.array([proof.primal, proof.dual])
    return svm.coef_.tobytes(), svm.intercept_.tobytes(), bounds.tobytes(), svm.predict(X).compute().tobytes()


def fitted(options: argparse.Namespace) -> tuple[tuple[bytes, ...], set[int], str]:
    """The bits, the processes that made the blocks, and how the fit ended."""
    with tempfile.TemporaryDirectory() as marks:
        X, y = table(options.rows, options.blocks, marks)
        svm = LinearSVM(memory="32MB").fit(X, y)
        found = bits(svm, X)
        makers = {int(path.name) for path in Path(marks).iterdir()}
    return found, makers, f"{svm.n_iter_} passes, {svm.status_}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=20_000, help="of a block (default: 20000)")
    parser.add_argument("--blocks", type=int, default=40, help="(default: 40)")
    options = parser.parse_args()
    import ray
    from ray.util.dask import enable_dask_on_ray

    with dask.config.set(scheduler="synchronous"):
        want, _, _ = fitted(options)
    ray.init(num_cpus=PROCESSES, include_dashboard=False, log_to_driver=False)
    try:
        with enable_dask_on_ray():
            found, makers, there = fitted(options)
    finally:
        ray.shutdown()
    same = found == want
    others = makers - {os.getpid()}
    print(f"{machine()}; ray {ray.__version__}, dask {dask.__version__}")
    print(f"{options.blocks * options.rows:,} rows x {COLUMNS} columns in {options.blocks} blocks, made in each pass")
    print(f"{there}; blocks made by {len(others)} processes of Ray, and {len(makers - others)} by this one")
    print(f"plane, bounds and predictions: {'the same bits' if same else 'OTHER BITS'}")
    return 0 if same and others == makers else 1


if __name__ == "__main__":
    raise SystemExit(main())
