"""`maxmargin bench`: the library and scikit-learn side by side on this machine, each with its proven distance.

Seconds alone say little: who stops earlier is faster. So beside the time of every fit stands how far its answer is from
the optimum of its own problem at most, which is proven (`audit`): LinearSVC also pays for its bias, as it always does.
"""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich import box
from rich.table import Table

from maxmargin.cli.console import UserError, gap_shown, in_a_sentence, messages, say, say_json, show
from maxmargin.cli.options import AsJson, Price, ReadingOptions, Scale, Scaling, Spelt
from maxmargin.cli.preparation import preparation_of, prepare
from maxmargin.cli.tables import read
from maxmargin.estimators.declarations import PRICE

TIMES = 3
AUDIT_TOL, AUDIT_SECONDS = 1e-5, 60.0
MOST_KERNEL_ROWS = 5000  # beyond, a kernel takes minutes
LINEAR, KERNEL = "linear, hinge", "rbf kernel, hinge"  # objectives


class Set(NamedTuple):
    """A table to be timed on, and the objectives that are asked of it."""

    name: str
    X: Any
    y: Any
    objectives: tuple[str, ...]


class Timing(NamedTuple):
    """One solver on one set: the shortest of some fits, and its distance from the optimum. The tables of `benchmarks/`
    have the same columns."""

    objective: str
    set: str
    n: int
    d: int
    C: float
    solver: str
    seconds: float
    excess: float


def bench(
    *,
    data: Annotated[
        list[str] | None, typer.Argument(metavar="[DATA]", help="A table of your own; without it, made ones.")
    ] = None,
    reading: Annotated[ReadingOptions, Spelt(without=("weight",))],
    C: Price = PRICE.default,
    scale: Scale = Scaling.AUTO,
    rows: Annotated[int, typer.Option(metavar="NUMBER", help="How many rows the made tables have.")] = 20_000,
    as_json: AsJson = False,
) -> int:
    """Time fits of maxmargin and of scikit-learn, one after the other, and prove how far from the optimum each one is.

    The first fit, in which loops may be compiled, is not counted; of three more the shortest is.
    """
    if not 100 <= rows <= 10_000_000:
        raise UserError(f"--rows must be between 100 and 10,000,000, not {rows:,}")
    if not 0.0 < C < float("inf"):
        raise UserError(f"--C must be a positive number, not {C:g}: a hard margin has nobody to be compared with")
    timings = []
    if not data:
        sets = made_sets(rows)
    else:
        table = read(data, reading)
        with in_a_sentence(table.name):
            X = prepare(table, preparation_of(table, scale, reading.impute))
        asked = (LINEAR, KERNEL) if X.shape[0] <= MOST_KERNEL_ROWS else (LINEAR,)
        sets = iter([Set(Path(table.name).name, X, table.y, asked)])
    for one in sets:
        with in_a_sentence(one.name):
            timings += [
                timed(one, objective, C, name, solver)
                for objective in one.objectives
                for name, solver in solvers_of(objective, C)
            ]
    if as_json:
        say_json({"machine": machine(), "timings": [timing._asdict() for timing in timings]})
    else:
        say(f"{machine()}; C = {C:g}; the shortest of {TIMES} fits")
        show(table_of(timings))
        say("Excess: at most so far above the optimum of its own objective, as a share of it. Proven, not believed.")
    return 0


def made_sets(rows: int) -> Iterator[Set]:
    """Two clouds that overlap: long and narrow, sparse and wide, and few enough for a kernel."""
    import numpy as np
    import scipy.sparse as sparse

    wide: Any
    random = np.random.default_rng(0)
    X = random.standard_normal((rows, 20))
    y = np.where(X[:, 0] + random.standard_normal(rows) > 0.0, 1, -1)
    yield Set("narrow", X, y, (LINEAR,))
    places = random.integers(0, rows, (2, min(40, rows) * rows), dtype=np.int32)
    entries = random.random(places.shape[1:])
    wide = sparse.csr_array((entries, (places[0], places[1])), (rows, rows))
    noise = 0.2 * random.standard_normal(rows)
    yield Set("sparse", wide, np.where(wide @ random.standard_normal(rows) + noise > 0, 1, -1), (LINEAR,))
    few = min(rows, MOST_KERNEL_ROWS)
    yield Set("corners", X[:few], np.where(y[:few] * X[:few, 1] > 0.0, 1, -1), (KERNEL,))


def solvers_of(objective: str, C: float) -> list[tuple[str, Any]]:
    """Who answers it, with the settings that they come with."""
    from sklearn.svm import SVC, LinearSVC

    from maxmargin import KernelSVM, LinearSVM

    if objective == KERNEL:
        return [("maxmargin KernelSVM", KernelSVM(C)), ("scikit-learn SVC", SVC(C=C))]
    peer = LinearSVC(C=C, loss="hinge", random_state=0)
    return [("maxmargin LinearSVM", LinearSVM(C)), ("scikit-learn LinearSVC", peer)]


def timed(one: Set, objective: str, C: float, name: str, estimator: Any) -> Timing:
    """The shortest of some fits, and what is proven about the last."""
    from maxmargin import audit

    seconds = []
    with warnings.catch_warnings(action="ignore"):  # "failed to converge" is told as a distance
        with messages.status(f"{name} on {one.name}"):
            for _ in range(1 + TIMES):
                begun = time.perf_counter()
                estimator.fit(one.X, one.y)
                seconds.append(time.perf_counter() - begun)
        with gap_shown(f"Seeking the optimum of {name}", AUDIT_TOL):
            found = audit(estimator, one.X, one.y, tol=AUDIT_TOL, max_time=AUDIT_SECONDS)
    n, d = one.X.shape
    return Timing(objective, one.name, n, d, C, name, min(seconds[1:]), found.excess)


def machine() -> str:
    """When and where it was measured."""
    import sklearn

    import maxmargin
    from maxmargin.data.executor import cores

    versions = f"maxmargin {maxmargin.__version__}, scikit-learn {sklearn.__version__}"
    return f"{date.today().isoformat()}; {platform.machine()}, {cores()} cores; {versions}"


def table_of(timings: list[Timing]) -> Table:
    """A line for each fit."""
    table = Table(header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("objective", "set"):
        table.add_column(heading, no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("solver", no_wrap=True)
    for heading in ("seconds", "excess"):
        table.add_column(heading, justify="right", no_wrap=True)
    for t in timings:
        size = f"{t.n:,} x {t.d:,}"
        table.add_row(t.objective, t.set, size, t.solver, f"{t.seconds:.3g}", f"{t.excess:.1e}")
    return table
