"""Every solver by its name: what it answers, which problems it accepts, where its code is.

    register(Solver("newton", "...", "soft margin", start="module:function", steps="module:function", accepts=...))

start(problem, options) makes a `State`, steps(problem, state) is the generator. Whoever lists the names, checks a
parameter, or writes help reads this table; a solver of one's own is one file and one call of `register`. Ours name
their functions as "module:function", loaded when they are used: a list of names does not import the compiler.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from maxmargin.problems.protocol import Options, Run, SolverRun
from maxmargin.problems.state import State
from maxmargin.problems.statement import Loss, Norm, Separation, SoftMargin

AUTO = "auto"
MOST_COLUMNS = 20_000  # of the interior point's matrices, of which there are a few: 3 GB each

Start = Callable[[Any, Options], State]
Steps = Callable[[Any, Any], SolverRun]
Accepts = Callable[[Any], str | None]


def everything(problem: Any) -> str | None:
    return None


class Solver(NamedTuple):
    """One algorithm. `accepts` says in a sentence why a problem is not for it; None: it is."""

    name: str
    sentence: str
    kind: str
    start: Start | str
    steps: Steps | str
    accepts: Accepts = everything
    reference: str = ""


SOFT_MARGIN, SEPARATION = "soft margin", "separation"
SOLVERS: dict[str, dict[str, Solver]] = {SOFT_MARGIN: {}, SEPARATION: {}}


def register(solver: Solver) -> Solver:
    """From now on it is known by its name."""
    SOLVERS[solver.kind][solver.name] = solver
    return solver


def names_of(kind: str) -> tuple[str, ...]:
    """What `solver=` can be."""
    return (AUTO, *SOLVERS[kind])


def started(kind: str, name: str, problem: Any, options: Options) -> Run:
    """The named solver on this problem; a ValueError says why it is not for it."""
    if name not in SOLVERS[kind]:
        raise ValueError(f"solver={name!r} is not known; the solvers are {', '.join(names_of(kind))}")
    solver = SOLVERS[kind][name]
    if (reason := solver.accepts(problem)) is not None:
        raise ValueError(f'solver="{name}" {reason}')
    start, steps = loaded(solver.start), loaded(solver.steps)
    state = start(problem, options)
    return Run(state, steps(problem, state))


def loaded(function: Any) -> Callable[..., Any]:
    if not isinstance(function, str):
        return function  # type: ignore[no-any-return]
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(f"maxmargin.solvers.{module}"), name)  # type: ignore[no-any-return]


def hinge_and_few_columns(problem: SoftMargin) -> str | None:
    if problem.loss is not Loss.HINGE:
        return 'is for loss="hinge"; for the squared hinge there is solver="newton"'
    if problem.n_columns > MOST_COLUMNS:
        return (
            f"makes matrices of columns times columns: X has {problem.n_columns:,} of them, and {MOST_COLUMNS:,} are "
            'too many already; solver="coordinate_descent" or "auto" needs no such matrix'
        )
    return None


def squared_hinge(problem: SoftMargin) -> str | None:
    is_smooth = problem.loss is Loss.SQUARED_HINGE
    return None if is_smooth else 'is for loss="squared_hinge": the hinge has no second derivative'


def margin_in(norm: Norm) -> Callable[[Separation], str | None]:
    def accepts(problem: Separation) -> str | None:
        asked = problem.norm.value
        return None if problem.norm is norm else f'finds the {norm.value} margin; norm="{asked}" was asked'

    return accepts


def ours(
    kind: str,
    name: str,
    sentence: str,
    module: str,
    accepts: Callable[[Any], str | None] = everything,
    reference: str = "",
) -> None:
    register(Solver(name, sentence, kind, f"{module}:start", f"{module}:steps", accepts, reference))


ours(
    SOFT_MARGIN, "interior_point", "Newton steps along the path of centres, in the columns.",
    "interior_point.method", hinge_and_few_columns, "mehrotra1992",
)  # fmt: skip
ours(
    SOFT_MARGIN, "sieve", "The interior point on samples, then on the rows near their street.",
    "interior_point.sampling", hinge_and_few_columns, "ferris2002",
)  # fmt: skip
ours(
    SOFT_MARGIN, "coordinate_descent", "One dual variable at a time, then conjugate gradients on those that are free.",
    "coordinate_descent.descent", reference="hsieh2008",
)  # fmt: skip
ours(SOFT_MARGIN, "newton", "Newton on the rows that pay.", "newton.semismooth", squared_hinge, "mangasarian2002")
ours(SOFT_MARGIN, "cvxpy", "The problem as it is written, by CVXPY and Clarabel.", "reference")
ours(
    SEPARATION,
    "hulls",
    "Nearest points of the two hulls, on a working set.",
    "hulls.nearest",
    margin_in(Norm.L2),
    "wolfe1976",
)
ours(
    SEPARATION, "coordinate_descent", "One dual variable at a time; where its gap stays open, do the hulls meet?",
    "coordinate_descent.hard_margin", margin_in(Norm.L2), "hsieh2008",
)  # fmt: skip
ours(
    SEPARATION,
    "linear_program",
    "The l1 margin as a linear program, by HiGHS.",
    "hulls.linear_program",
    margin_in(Norm.L1),
)
register(
    Solver(
        "cvxpy",
        "The problem as it is written, by CVXPY and Clarabel.",
        SEPARATION,
        "reference:start",
        "reference:hard_steps",
    )
)
