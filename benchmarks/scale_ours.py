"""Our own fits in the scale benchmark, as jobs (scale_process.py): rows on disk with a budget, or held in memory.

A small fit comes first, which imports and compiles. What is measured begins after it: CPU with the survey of the rows,
and the peak of the memory above what the process then holds, blocks and copies of them included.
"""

import re
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from memory_peak import peak, start_watching_the_peak
from scale_process import Clock

AT_LEAST = re.compile(r"at least ([0-9.]+ ?[kMGT]?i?B)")
FIRST = 3_000  # rows of the fit that warms up


def by_blocks(
    rows: str,
    memory: int | str,
    C: float,
    tol: float = 1e-6,
    loss: str = "hinge",
    max_time: float | None = None,
    warm: bool = True,
) -> dict[str, Any]:
    """One fit of the rows of a file; the answer has the plane, what is proven, and what it cost."""
    from maxmargin import LinearSVM

    warnings.simplefilter("ignore")  # whoever has not converged is judged by the gap
    if warm:
        warm_up(rows, C, loss)
    from maxmargin.data.executor import executing

    watched = Watched()
    before, clock = start_watching_the_peak(), Clock()
    model = LinearSVM(C=C, loss=loss, tol=tol, memory=memory, **limit(max_time))
    with executing(watched):
        model.fit(*scanned(rows, memory))
    cost = {**clock.read(), "peak": peak() - before}
    return {**cost, **told(model), "budget": bytes_of(memory), "passes": sum(map(len, watched.kinds.values()))} | {
        "kinds": watched.kinds
    }


class Watched:
    """An executor that knows what each pass was for, and its seconds of CPU."""

    def __init__(self) -> None:
        self.kinds: dict[str, list[float]] = {}

    def map(self, part: Any, table: Any, *row_vectors: Any) -> Any:
        from maxmargin.data.executor import Serial

        return Serial().map(part, table, *row_vectors)

    def fold(self, part: Any, blocks: Any, own: Any) -> Any:
        from maxmargin.data.executor import Serial

        asked = getattr(part, "parts", (part,))[0]
        start = time.process_time()
        found = Serial().fold(part, blocks, own)
        named = asked if hasattr(asked, "__name__") else type(asked)
        kind = f"{named.__module__.rpartition('.')[2]}.{named.__name__}"
        self.kinds.setdefault(kind, []).append(time.process_time() - start)
        return found


def reading(rows: str, memory: int | str) -> dict[str, Any]:
    """What it takes to read all rows once, as a pass does, after the first time: the least of three."""
    from maxmargin.data.labelled import surveyed, with_labels

    table = surveyed(with_labels(*scanned(rows, memory), None))
    times = []
    for _ in range(3):
        clock = Clock()
        for k in range(table.n_blocks):
            table.block(k)
        times.append(clock.read()["cpu"])
    return {"cpu": min(times), "blocks": table.n_blocks, "numbers": table.seen.numbers}


def in_memory(rows: str, C: float, tol: float = 1e-6, loss: str = "hinge") -> dict[str, Any]:
    """The same rows, held in memory."""
    from maxmargin import LinearSVM

    warnings.simplefilter("ignore")
    X, y = held(rows)
    small = np.random.default_rng(0).permutation(len(y))[:3_000]
    LinearSVM(C=C, loss=loss, tol=tol).fit(X[small], y[small])
    before, clock = start_watching_the_peak(), Clock()
    model = LinearSVM(C=C, loss=loss, tol=tol).fit(X, y)
    return {**clock.read(), "peak": peak() - before, **told(model)}


def floor(rows: str, C: float, loss: str = "hinge") -> dict[str, Any]:
    """The least memory that a fit of these rows accepts: it says so itself, before its first pass."""
    from maxmargin import LinearSVM

    warnings.simplefilter("ignore")
    memory = 1_000
    for _ in range(20):
        try:
            LinearSVM(C=C, loss=loss, memory=memory, **limit(1e-3)).fit(*scanned(rows, memory))
        except ValueError as error:
            least = AT_LEAST.search(str(error))
            if least is None:
                raise
            memory = max(memory + 1, bytes_of(least[1]))
        else:
            return {"floor": memory}
    return {"failure": f"no floor up to {memory:,} bytes"}


def scanned(rows: str, memory: int | str) -> tuple[Any, ...]:
    from maxmargin import scan_table

    label = {".svm": None, ".npy": -1}.get(Path(rows).suffix, "label")
    return scan_table(rows, label=label, memory=memory)[:2]


def held(rows: str) -> tuple[Any, np.ndarray]:
    if rows.endswith(".svm"):
        from maxmargin.reading.svmlight import read_svmlight

        table = read_svmlight(rows)
        return table.X, table.y
    found = np.load(rows)
    return np.ascontiguousarray(found[:, :-1]), found[:, -1]


def warm_up(rows: str, C: float, loss: str) -> None:
    """A fit of the first rows: what is compiled and imported for it is not measured."""
    import itertools
    import tempfile

    import scale_sets

    from maxmargin import LinearSVM

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(rows).name
        if path.suffix == ".svm":
            with open(rows, "rb") as whole, path.open("wb") as first:
                first.writelines(itertools.islice(whole, FIRST))
        elif path.suffix == ".npy":
            np.save(path, np.load(rows, mmap_mode="r")[:FIRST])
        else:
            path = scale_sets.made(Path(folder), FIRST, 5).parquet()
        LinearSVM(C=C, loss=loss, memory="2GB").fit(*scanned(str(path), "64MB"))
        walk_once(str(path))


def walk_once(rows: str) -> None:
    """The pass of the path, which so few rows do not need."""
    from maxmargin.data.labelled import surveyed, with_labels
    from maxmargin.problems.block_margin import BlockMargin
    from maxmargin.problems.losses import HINGE
    from maxmargin.solvers.by_passes.replayed_path import Path as Centres

    table = surveyed(with_labels(*scanned(rows, "64MB"), None))
    start = Centres.at(np.zeros(table.n_columns), 0.0, 1.0, np.zeros(table.n_columns))
    start.part(HINGE)(BlockMargin(1, 0, np.ones(2), HINGE, True).of(table.block(0)))


def limit(max_time: float | None) -> dict[str, float]:
    return {} if max_time is None else {"max_time": max_time}


def bytes_of(memory: int | str) -> int:
    from maxmargin.reading.scan import bytes_of

    return bytes_of(memory)


def told(model: Any) -> dict[str, Any]:
    proof = model.certificate_
    return {
        "w": np.ravel(model.coef_).tolist(),
        "b": float(np.ravel(model.intercept_)[0]),
        "primal": float(proof.primal),
        "dual": float(proof.dual),
        "gap": float((proof.primal - proof.dual) / proof.primal),
        "solver": str(model.solver_),
        "status": str(model.status_),
    }
