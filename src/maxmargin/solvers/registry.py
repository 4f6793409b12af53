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

from maxmargin.problems.losses import Loss
from maxmargin.problems.protocol import Options, Run, SolverRun
from maxmargin.problems.state import State
from maxmargin.problems.statement import Norm, SoftMargin

AUTO = "auto"
MOST_COLUMNS = 20_000  # of the interior point's matrices, of which there are a few: 3 GB each

Start = Callable[[Any, Options], State]
Steps = Callable[[Any, Any], SolverRun]
Condition = Callable[[Any], str | None]


def everything(_: Any) -> str | None:
    return None


class Solver(NamedTuple):
    """One algorithm. Why it is not for a problem is said in a sentence (None: it is), by `suits` from the loss, or from
    the norm, alone, and by `accepts` from the whole problem."""

    name: str
    sentence: str
    kind: str
    start: Start | str
    steps: Steps | str
    suits: Condition = everything
    accepts: Condition = everything
    reference: str = ""


SOFT_MARGIN, SEPARATION = "soft margin", "separation"
SOLVERS: dict[str, dict[str, Solver]] = {SOFT_MARGIN: {}, SEPARATION: {}}


def register(solver: Solver) -> Solver:
    """From now on it is known by its name."""
    if not solver.name.isidentifier() or solver.name == AUTO:
        raise ValueError(f"a solver needs a name of letters, digits and underscores, and not {AUTO!r}: {solver.name!r}")
    if SOLVERS[solver.kind].setdefault(solver.name, solver) != solver:
        raise ValueError(f"there is a solver {solver.name!r} already, another one: give yours a name of its own")
    return solver


def names_of(kind: str) -> tuple[str, ...]:
    """What `solver=` can be."""
    return (AUTO, *SOLVERS[kind])


def check_suits(kind: str, name: str, asked: Loss | Norm) -> None:
    """A ValueError says why the named solver is not for this loss, or for this norm."""
    if name not in names_of(kind):
        raise ValueError(f"solver={name!r} is not known; it can be {', '.join(map(repr, names_of(kind)))}")
    if name != AUTO and (reason := SOLVERS[kind][name].suits(asked)) is not None:
        raise ValueError(f'solver="{name}" {reason}')


def started(kind: str, name: str, problem: Any, options: Options) -> Run:
    """The named solver on this problem; a ValueError says why it is not for it."""
    check_suits(kind, name, problem.loss if kind == SOFT_MARGIN else problem.norm)
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


def bounded(loss: Loss) -> str | None:
    if loss.is_bounded:
        return None
    return (
        f'is for losses with a box, as loss="hinge": the dual variables of the {loss.title} have no upper end; '
        'for it there is solver="newton"'
    )


def smooth(loss: Loss) -> str | None:
    if loss.is_smooth:
        return None
    return f'is for losses that bend, as loss="squared_hinge": the {loss.title} has no second derivative'


def few_columns(problem: SoftMargin) -> str | None:
    if problem.n_columns <= MOST_COLUMNS:
        return None
    return (
        f"makes matrices of columns times columns: X has {problem.n_columns:,} of them, and {MOST_COLUMNS:,} are "
        'too many already; solver="coordinate_descent" or "auto" needs no such matrix'
    )


def margin_in(norm: Norm) -> Callable[[Norm], str | None]:
    def suits(asked: Norm) -> str | None:
        return None if asked is norm else f'finds the {norm.value} margin; norm="{asked.value}" was asked'

    return suits


def ours(kind: str, name: str, module: str, sentence: str, reference: str = "", **conditions: Any) -> None:
    register(Solver(name, sentence, kind, f"{module}:start", f"{module}:steps", reference=reference, **conditions))


ours(
    SOFT_MARGIN, "interior_point", "interior_point.method",
    "Newton steps along the path of centres, in the columns.", "mehrotra1992", suits=bounded, accepts=few_columns,
)  # fmt: skip
ours(
    SOFT_MARGIN, "sieve", "interior_point.sampling",
    "The interior point on samples, then on the rows near their street.", "ferris2002",
    suits=bounded, accepts=few_columns,
)  # fmt: skip
ours(
    SOFT_MARGIN, "coordinate_descent", "coordinate_descent.descent",
    "One dual variable at a time, then conjugate gradients on those that are free.", "hsieh2008",
)  # fmt: skip
ours(SOFT_MARGIN, "newton", "newton.semismooth", "Newton on the rows that pay.", "mangasarian2002", suits=smooth)
ours(SOFT_MARGIN, "cvxpy", "reference", "The problem as it is written, by CVXPY and Clarabel.")
ours(
    SEPARATION, "hulls", "hulls.nearest", "Nearest points of the two hulls, on a working set.", "wolfe1976",
    suits=margin_in(Norm.L2),
)  # fmt: skip
ours(
    SEPARATION, "coordinate_descent", "coordinate_descent.hard_margin",
    "One dual variable at a time; where its gap stays open, do the hulls meet?", "hsieh2008", suits=margin_in(Norm.L2),
)  # fmt: skip
ours(
    SEPARATION, "linear_program", "hulls.linear_program", "The l1 margin as a linear program, by HiGHS.",
    suits=margin_in(Norm.L1),
)  # fmt: skip
register(
    Solver(
        "cvxpy",
        "The problem as it is written, by CVXPY and Clarabel.",
        SEPARATION,
        "reference:start",
        "reference:hard_steps",
    )
)
