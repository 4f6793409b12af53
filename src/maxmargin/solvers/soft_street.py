"""Which algorithm for which table: the rules behind `LinearSVM(solver="auto")`, and each one by its name.

    hinge, a few thousand numbers    the path of centres                                  interior_point
    hinge, up to a few thousand      some sweeps of coordinate descent; if they do not    dual_coordinate_descent,
    columns                          get there soon, the path, whose cost is known        interior_point
    the same with so many rows       the same; the path of a sample, then that of the     dual_coordinate_descent,
    that samples pay                 rows near its street                                 sieve
    hinge, more columns              one dual variable at a time, then faces              dual_coordinate_descent
    squared hinge, few columns       Newton on the rows that pay                          semismooth_newton
    or few rows
    squared hinge, many of both      one dual variable at a time                          dual_coordinate_descent

Coordinate descent is unbeatable where C |x|^2 is small or the rows are long and sparse, and hopeless on
ill-conditioned columns at a large C; which of the two it is shows in how its gap falls, often in the first sweep: from
1 to 1/2 in the one case, to 0.99 in the other. The interior point costs about as many steps on any data. So the first
begins, after each sweep its gap is extrapolated, and it hands over when the second would be cheaper:

    needed = (p - p') log(gap / tol) / log(gap' / gap)  >  doubt * patience

p passes over the rows have been made, p' is a quarter of it, where the gap was gap'; `patience` are the passes that the
second would cost. `doubt` falls from 2 to 1 while a third of them is spent: at first the extrapolation is unfair to
sweeps, which gain speed as rows settle.
A solver that ends without a proof hands over as well: nobody fails to converge.
The modules are imported when they are used: the compiler with them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from maxmargin.data.matrix import Vector, is_sparse
from maxmargin.problems.losses import Loss
from maxmargin.problems.notebook import BLANK, Notebook, State
from maxmargin.problems.protocol import Evaluation, SolverRun
from maxmargin.problems.statement import SoftMargin

SOLVERS = ("auto", "interior_point", "sieve", "coordinate_descent", "newton", "cvxpy")
SMALL = 5000  # numbers: milliseconds by any way, and the path of centres ends far below most tolerances
FEW_COLUMNS = 3000  # up to here the matrix of the interior point is small beside most tables
STEPS, STEPS_PER_DIGIT = 12, 3  # of the interior point, on most data; digits of tol
PASSES = 6  # of each step over the rows, beside its matrix
ROW = 10  # numbers: what a row costs beside its own numbers
SIEVED = 0.5  # of the interior point's work is left to the sieve
SPEED = 0.5  # its rows come in order and on every core, those of coordinate descent at random and on one
SPEED_BESIDE_GROUPS = 0.8  # where those of coordinate descent come in groups of neighbours
MOST_COLUMNS = 20_000  # of the interior point's matrices, of which there are a few: 3 GB each
LOOK_BACK = 0.25  # of the passes: the gap fell since then
DOUBT = 2.0  # how much worse coordinate descent must look at first
NOTHING_SEEN = ((0.0, 1.0),)  # passes and gap: of an optimum, it is known at first that it is not negative
WAIT = 0.05  # of the patience: as long, a gap that does not fall at all, as while a face is solved, may fall yet
DECIDED = 0.3  # of the patience: from there on it need not look any worse than the other


def soft_street(
    problem: SoftMargin,
    *,
    solver: str = "auto",
    tol: float = 1e-4,
    start: Vector | None = None,
    notebook: Notebook = BLANK,
) -> SolverRun:
    """The iterates of the named algorithm, or of those that suit the table, one after the other.

    An algorithm that writes nothing down is begun anew by whoever takes up the notebook.
    """
    turn, seen = 0, list(NOTHING_SEEN)

    def state() -> State:
        return {"turn": turn, "seen": np.array(seen)}

    if (kept := notebook.page("plan", state, growing=("seen",))) is not None:
        turn, seen = kept["turn"], [(passes, gap) for passes, gap in kept["seen"].tolist()]
    for name, patience in itertools.islice(
        [(solver, math.inf)] if solver != "auto" else plan(problem, tol), turn, None
    ):
        notebook.rest(innermost=False)
        algorithm = named(name, problem, tol, start, notebook)
        yield from labelled(algorithm, name, patience, tol, seen)
        turn, seen = turn + 1, list(NOTHING_SEEN)
        notebook.page("plan", state)


def labelled(solver: SolverRun, name: str, patience: float, tol: float, seen: list[tuple[float, float]]) -> SolverRun:
    """The same iterates, with the name of the algorithm in their details; until its progress extrapolates badly.

    `patience` is the work, in passes over the rows, that another algorithm would need; `seen` grows with it.
    """
    answer: Evaluation | None = None
    try:
        while True:
            try:
                iterate = solver.send(answer)
            except StopIteration:  # of the solver, and of nobody else
                return
            iterate.details["solver"] = name
            answer = yield iterate
            passes, gap = iterate.details.get("passes", 0.0), iterate.details.get("gap", math.inf)
            if patience < math.inf and passes > seen[-1][0] and tol < gap < math.inf:
                seen.append((passes, gap))
                decided = min(1.0, passes / (DECIDED * patience))
                needed = passes_needed(seen, tol)
                is_patient = needed == math.inf and passes < WAIT * patience
                if needed > (DOUBT + decided * (1.0 - DOUBT)) * patience and not is_patient:
                    return
    finally:
        solver.close()


def passes_needed(seen: list[tuple[float, float]], tol: float) -> float:
    """How many more, if the gap goes on to fall as it did over the last three quarters of the passes."""
    passes, gap = seen[-1]
    before, gap_before = max(entry for entry in seen if entry[0] <= LOOK_BACK * passes)
    return (passes - before) * math.log(gap / tol) / math.log(gap_before / gap) if gap < gap_before else math.inf


def check_solver(name: str, loss: Loss) -> None:
    """A sentence where this algorithm is not for this loss."""
    if name not in SOLVERS:
        raise ValueError(f"solver={name!r} is not known; it can be {', '.join(map(repr, SOLVERS))}")
    if name == "newton" and not loss.is_smooth:
        raise ValueError(
            f'solver="newton" is for losses that bend, as loss="squared_hinge": the {loss.title} has '
            "no second derivative"
        )
    if name in ("interior_point", "sieve") and not loss.is_bounded:
        raise ValueError(
            f'solver="{name}" is for losses with a box, as loss="hinge": the dual variables of the {loss.title} have '
            'no upper end; for it there is solver="newton"'
        )


def named(name: str, problem: SoftMargin, tol: float, start: Vector | None, notebook: Notebook = BLANK) -> SolverRun:
    """The generator of one algorithm."""
    check_solver(name, problem.loss)
    if name == "coordinate_descent":
        from maxmargin.solvers.coordinate_descent.descent import coordinate_descent

        return coordinate_descent(problem, tol=tol, start=start, notebook=notebook)
    if name == "newton":
        from maxmargin.solvers.newton.semismooth import semismooth_newton

        return semismooth_newton(problem, tol=tol, start=start)
    if name == "cvxpy":
        from maxmargin.solvers.reference import soft_reference

        return soft_reference(problem, tol=tol)
    if name in ("interior_point", "sieve") and problem.n_columns > MOST_COLUMNS:
        raise ValueError(
            f'solver="{name}" makes matrices of columns times columns: X has {problem.n_columns:,} of them, and '
            f'{MOST_COLUMNS:,} are too many already; solver="coordinate_descent" or "auto" needs no such matrix'
        )
    if name == "interior_point":
        from maxmargin.solvers.interior_point.method import interior_point

        return interior_point(problem, tol=tol, notebook=notebook)
    if name == "sieve":
        from maxmargin.solvers.interior_point.sampling import sampled_path

        return sampled_path(problem, tol=tol, notebook=notebook)
    raise AssertionError(name)


def plan(problem: SoftMargin, tol: float) -> Iterator[tuple[str, float]]:
    """The algorithms to try, in order, each with its patience: the passes over the rows that the next would need."""
    if not problem.loss.is_bounded:
        from maxmargin.solvers.newton.systems import has_few_columns, has_few_rows

        newton_first = has_few_columns(problem) or has_few_rows(problem)
        for name in ("newton", "coordinate_descent") if newton_first else ("coordinate_descent", "newton"):
            yield name, math.inf
        return
    if problem.n_rows * problem.n_columns <= SMALL:
        yield "interior_point", math.inf
    if problem.n_columns <= FEW_COLUMNS:
        from maxmargin.solvers.interior_point.sampling import worth_sieving

        sieved = worth_sieving(problem.n_rows, problem.n_columns)
        yield "coordinate_descent", path_passes(problem, tol) * (SIEVED if sieved else 1.0)
        if sieved:
            yield "sieve", math.inf
        yield "interior_point", math.inf
    yield "coordinate_descent", math.inf


def path_passes(problem: SoftMargin, tol: float) -> float:
    """What the interior point costs, in sweeps of coordinate descent over all rows."""
    from maxmargin.solvers.coordinate_descent.visiting_order import rows_together

    n, d, sparse = problem.n_rows, problem.n_columns, is_sparse(problem.X)
    per_row = problem.X.data.size / n if sparse else float(d)
    multiplications = (0.25 if sparse else 0.04) * per_row * per_row + d**3 / (3.0 * n)
    steps = STEPS + STEPS_PER_DIGIT * max(0.0, -math.log10(tol))
    together = rows_together(n, round(n * per_row) * problem.X.dtype.itemsize)
    return (
        (SPEED_BESIDE_GROUPS if together > 1 else SPEED)
        * steps
        * (PASSES * per_row + ROW + multiplications)
        / (per_row + ROW)
    )
