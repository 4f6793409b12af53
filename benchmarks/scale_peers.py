"""The peers of the scale benchmark: who else fits a plane to rows that are not held in memory, by two lines each.

One line of a peer is what it does by its defaults, at the penalty that makes its objective ours: the mean of the losses
plus lambda/2 |w|^2, lambda = 1 / (C n). The other is the best that we could make of it, by settings found while looking
at the answer. Both belong into a table.

    Spark MLlib LinearSVC    L-BFGS on the hinge. The JVM's start, and a small fit that warms it up, are counted apart
    SGDClassifier            partial_fit, block by block. Its best: averaged planes, and the best of several step rules
    dask-ml Incremental      the same steps, led by Dask
    Vowpal Wabbit            with --l2 lambda, and without; the writing of its text is not counted, its parsing is

A job (scale_process.py) answers {"planes": [{"line", "w", "cpu", "wall"}, ...], "apart": seconds of CPU of the start}.
"""

import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scale_process import Clock

BLOCK = 50_000  # rows that are handed over at a time
STEP_RULES = (
    *(("constant", eta) for eta in (1e-4, 1e-3, 1e-2)),
    *(("invscaling", eta) for eta in (1e-2, 1e-1)),
)
BEST_EPOCHS = 5
BITS = 18


class Peer(NamedTuple):
    """A job, what it needs beside the set, and for whom it is meant."""

    job: str
    arguments: dict[str, Any]
    takes_sparse: bool = True


PEERS = {
    "Spark MLlib LinearSVC": Peer("scale_peers:spark", {}),
    "SGDClassifier.partial_fit": Peer("scale_peers:stochastic", {"epochs": [1, 5, 20]}),
    "SGDClassifier, averaged": Peer("scale_peers:stochastic_at_its_best", {}),
    "dask-ml Incremental": Peer("scale_peers:incremental", {"epochs": 5}, takes_sparse=False),
    "Vowpal Wabbit": Peer("scale_peers:vowpal_wabbit", {"passes": [1, 5, 20]}),
}


def rows_of(folder: str) -> Any:
    """X and y, a dense X as a map of the file."""
    place = Path(folder)
    if (place / "X.npz").exists():
        import scipy.sparse as sp

        return sp.load_npz(place / "X.npz").tocsr(), np.load(place / "y.npy")
    rows = np.load(place / "rows.npy", mmap_mode="r")
    return rows[:, :-1], rows[:, -1]


def blocks_of(folder: str) -> Iterator[Any]:
    X, y = rows_of(folder)
    for start in range(0, X.shape[0], BLOCK):
        part = X[start : start + BLOCK]
        yield np.ascontiguousarray(part) if isinstance(part, np.ndarray) else part, np.array(y[start : start + BLOCK])


def plane(line: str, w: Any, clock: Clock) -> dict[str, Any]:
    return {"line": line, **clock.read(), "w": np.ravel(w).astype(np.float64).tolist()}


# scikit-learn, alone and led by Dask.


def stochastic(folder: str, C: float, epochs: list[int]) -> dict[str, Any]:
    model, clock, planes = descent(folder, C), Clock(), []
    for epoch in range(1, max(epochs) + 1):
        one_epoch(model, folder)
        if epoch in epochs:
            planes.append(plane(f"its defaults, {epoch} epochs", model.coef_, clock))
    return {"planes": planes}


def stochastic_at_its_best(folder: str, C: float) -> dict[str, Any]:
    planes = []
    for rule, eta in STEP_RULES:
        model, clock = descent(folder, C, learning_rate=rule, eta0=eta, average=True), Clock()
        for _ in range(BEST_EPOCHS):
            one_epoch(model, folder)
        planes.append(plane(f"{rule} steps of {eta:g}, {BEST_EPOCHS} epochs", model.coef_, clock))
    return {"planes": planes, "best": True}


def descent(folder: str, C: float, **settings: Any) -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="hinge", alpha=1.0 / (C * rows_of(folder)[0].shape[0]), random_state=0, **settings)


def one_epoch(model: Any, folder: str) -> None:
    for X, y in blocks_of(folder):
        model.partial_fit(X, y, classes=[-1.0, 1.0])


def incremental(folder: str, C: float, epochs: int) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    import dask
    import dask.array
    from dask_ml.wrappers import Incremental

    planes = []
    for line, settings in {
        f"SGD by its defaults, {epochs} epochs": {},
        f"averaged, constant steps of 0.001, {epochs} epochs": {
            "learning_rate": "constant",
            "eta0": 1e-3,
            "average": True,
        },
    }.items():
        X, y = rows_of(folder)
        model, clock = Incremental(descent(folder, C, **settings), shuffle_blocks=False), Clock()
        with dask.config.set(scheduler="synchronous"):
            chunked = dask.array.from_array(X, chunks=(BLOCK, -1)), dask.array.from_array(np.array(y), chunks=BLOCK)
            for _ in range(epochs):
                model.partial_fit(*chunked, classes=[-1.0, 1.0])
        planes.append(plane(line, model.estimator_.coef_, clock))
    return {"planes": planes}


# Spark.


def spark(folder: str, C: float) -> dict[str, Any]:
    from pyspark.ml.classification import LinearSVC
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import col

    start, place = Clock(), Path(folder)
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "6g")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")

    def read() -> Any:
        if (place / "X.npz").exists():
            n_columns = rows_of(folder)[0].shape[1]
            rows = session.read.format("libsvm").option("numFeatures", n_columns).load(str(place / "rows.svm"))
        else:
            rows = session.read.parquet(str(place / "parquet"))
            names = [name for name in rows.columns if name != "label"]
            rows = VectorAssembler(inputCols=names, outputCol="features").transform(rows)
        return rows.select((col("label") > 0).cast("double").alias("label"), "features")

    penalty = 1.0 / (C * rows_of(folder)[0].shape[0])
    LinearSVC(regParam=penalty, maxIter=20).fit(read().limit(20_000))
    answer: dict[str, Any] = {"planes": [], "apart": start.read()["cpu"]}
    for line, settings in {
        "its defaults": {},
        "standardization off, tol 1e-6, up to 1000 iterations": {
            "standardization": False,
            "tol": 1e-6,
            "maxIter": 1000,
        },
    }.items():
        clock = Clock()
        model = LinearSVC(regParam=penalty, **settings).fit(read())
        answer["planes"].append(plane(f"{line} ({model.summary().totalIterations} done)", model.coefficients, clock))
    session.stop()
    return answer


# Vowpal Wabbit.


def vowpal_wabbit(folder: str, C: float, passes: list[int]) -> dict[str, Any]:
    import vowpalwabbit

    X, _ = rows_of(folder)
    text, n_columns = written_for_vowpal_wabbit(folder), X.shape[1]
    planes = []
    for penalty, count in itertools.product((f"--l2 {1.0 / (C * X.shape[0]):.17g}", ""), passes):
        clock = Clock()
        cache = text.with_suffix(".cache")
        model = vowpalwabbit.Workspace(
            f"--loss_function hinge -b {BITS} -d {text} --passes {count} --holdout_off {penalty} --quiet "
            f"-c -k --cache_file {cache}"
        )
        w = [model.get_weight(j) for j in range(n_columns)]
        model.finish()
        planes.append(plane(f"{'with' if penalty else 'without'} --l2, {count} passes", w, clock))
        cache.unlink(missing_ok=True)
    return {"planes": planes}


def written_for_vowpal_wabbit(folder: str) -> Path:
    """The rows as its text: the number of a column is its name, and the place of its weight."""
    path = Path(folder) / "rows.vw"
    if rows_of(folder)[0].shape[1] >= 2**BITS:
        raise ValueError(f"more columns than {2**BITS:,} weights")
    if not path.exists():
        half = path.with_suffix(".half")
        with half.open("w") as file:
            for X, y in blocks_of(folder):
                for row, label in zip(X, y, strict=True):
                    columns, values = (
                        (row.indices, row.data) if hasattr(row, "indices") else (np.flatnonzero(row), row[row != 0])
                    )
                    pairs = " ".join(f"{j}:{x:.7g}" for j, x in zip(columns.tolist(), values.tolist(), strict=True))
                    file.write(f"{label:.0f} | {pairs}\n")
        half.rename(path)
    return path
