"""Which algorithm for which table: the rules behind `HardMarginSVM(solver="auto")`, and each one by its name.

    where copies of rows are likely     first: are there equal rows of both classes?  contradictions
    norm "l1"                           the linear program                            l1_margin
    up to a few thousand rows or
    columns (either one)                nearest points of the hulls, working set      nearest_hulls
    many rows and many columns          dual coordinate descent with face steps; if   street_descent
                                        its gap does not close, the hulls of its
                                        heaviest rows are asked whether they meet

The modules are imported when they are used: the compiler with them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from maxmargin.data.matrix import row_squares
from maxmargin.problems.notebook import BLANK, Notebook
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import Norm, Separation

SOLVERS = ("auto", "hulls", "coordinate_descent", "linear_program", "cvxpy")
LARGE = 3000  # rows and columns: beyond this in both, a working set of the hulls would fill the memory
DOUBTFUL_AFTER = 40  # sweeps of coordinate descent with a relative gap above a half: perhaps no plane exists
HEAVY_ROWS = (30, 300, 1500)
LAST_SWEEP = 4000


def widest_street(
    problem: Separation, *, solver: str = "auto", tol: float = 1e-9, notebook: Notebook = BLANK
) -> Iterator[Iterate]:
    """The iterates of the named algorithm, or of the one that suits the table."""
    if solver == "auto":
        from maxmargin.solvers.hulls.contradictions import are_likely, contradiction

        witness = contradiction(problem) if are_likely(problem.X) or not suits_hulls(problem) else None
        if witness is not None:
            yield witness
            return
        if problem.norm is Norm.L1:
            solver = "linear_program"
        else:
            solver = "hulls" if suits_hulls(problem) else "coordinate_descent"
    required = {"linear_program": Norm.L1, "hulls": Norm.L2, "coordinate_descent": Norm.L2}.get(solver)
    if required is not None and problem.norm is not required:
        raise ValueError(f'solver="{solver}" finds the {required.value} margin; norm="{problem.norm.value}" was asked')
    if solver == "linear_program":
        from maxmargin.solvers.hulls.linear_program import l1_margin

        yield from l1_margin(problem)
    elif solver == "hulls":
        from maxmargin.solvers.hulls.nearest import nearest_hulls

        yield from nearest_hulls(problem, tol=0.01 * tol)
    elif solver == "coordinate_descent":
        yield from descend_or_meet(problem, tol, notebook)
    elif solver == "cvxpy":
        from maxmargin.solvers.reference import reference

        yield from reference(problem)
    else:
        raise ValueError(f"solver={solver!r} is not known; the solvers are {', '.join(SOLVERS)}")


def suits_hulls(problem: Separation) -> bool:
    """Whether a working set of the hulls fits: few rows or few columns."""
    return min(problem.n_rows, problem.n_columns) <= LARGE


def descend_or_meet(problem: Separation, tol: float, notebook: Notebook) -> Iterator[Iterate]:
    """Coordinate descent; where its gap stays open, a look whether the hulls of its heaviest rows meet."""
    from maxmargin.solvers.coordinate_descent.hard_margin import street_descent

    empty = np.flatnonzero(row_squares(problem.X) == 0.0)
    if len(empty) and not problem.fit_intercept:  # no plane through the origin keeps the origin off itself
        a = np.zeros(problem.n_rows)
        a[empty[0]] = 1.0
        yield Iterate(np.zeros(problem.n_columns), 0.0, a, True, 0, 0, {"meets": True})
        return
    next_look = DOUBTFUL_AFTER
    if (kept := notebook.page("meeting", lambda: {"next_look": next_look})) is not None:
        next_look = kept["next_look"]
    for iterate in street_descent(problem, tol=0.1 * tol, notebook=notebook):
        yield iterate
        if iterate.sweeps >= next_look and iterate.details["gap"] > 0.5:
            next_look *= 2
            for count in HEAVY_ROWS:
                meeting = meeting_of_heaviest(problem, iterate, count)
                if meeting is not None:
                    yield meeting
                    return
        if iterate.sweeps >= LAST_SWEEP:
            return


def meeting_of_heaviest(problem: Separation, iterate: Iterate, count: int) -> Iterate | None:
    """Whether the hulls of the rows with the largest weights meet: these grow without bound where no plane exists."""
    from maxmargin.solvers.hulls.nearest import nearest_hulls

    heavy = np.sort(np.argsort(-iterate.a, kind="stable")[:count])
    if problem.fit_intercept and len(np.unique(problem.signs[heavy])) < 2:
        return None
    part = Separation(problem.X[heavy], problem.signs[heavy], problem.norm, problem.fit_intercept)
    *_, street = nearest_hulls(part)  # a few rows: it shows its iterates
    if not street.details["meets"]:
        return None
    a = np.zeros(problem.n_rows)
    a[heavy] = street.a
    return dataclasses.replace(
        iterate, a=a, proposes=True, updates=iterate.updates + street.updates, details={"meets": True}
    )
