"""The solvers of the soft margin and of separation by name: what each answers, which problems it accepts, where it is.

    register(Solver("newton", "...", "soft margin", start="module:function", steps="module:function", suits=...))

start(problem, options) makes a `State`, steps(problem, state) is the generator. Whoever lists the names, checks a
parameter, or writes help reads this table; a solver of one's own is one file and one call of `register`. Ours name
their functions as "module:function", loaded when they are used: a list of names does not import the compiler.

What `solver="auto"` takes. Soft margins:

    a box, a few thousand numbers,   the path of centres; where nobody watches the steps  interior_point
    or more if C |x|^2 is large,     and the loss has no bend, many problems in one call
    no class is rare, and there are
    more rows than columns
    a box, up to a few thousand      some sweeps of coordinate descent; if they do not    coordinate_descent,
    columns                          get there soon, the path, whose cost is known        interior_point
    the same with so many rows       the same, unless sweeps over some of the rows look   coordinate_descent,
    that samples of each class pay   hopeless; the path of a sample, then that of the     sieve
                                     rows near its street
    a box, more columns              one dual variable at a time, then faces              coordinate_descent
    no box, few columns or rows      Newton on the rows that pay                          newton
    no box, some hundred rows and    some sweeps; if they do not get there soon, Newton   coordinate_descent,
    more columns                     in the rows, whose cost is known                     newton
    no box, many of both             one dual variable at a time                          coordinate_descent
    a box and a wide bend, few       Newton first, then as with a box; the narrower the   newton
    columns                          bend, the more steps, as rows cross the knee

When sweeps "get there soon" is said in `patience`. A solver that ends without a proof hands over as well; one that was
asked for by its name hands over to nobody.

Separation:

    where copies of rows are likely     first: are there equal rows of both classes?  contradictions
    norm "l1"                           the linear program                            linear_program
    up to a few thousand rows or
    columns (either one)                nearest points of the hulls, working set      hulls
    many rows and many columns          dual coordinate descent; if its gap does not  coordinate_descent
                                        close, the hulls of its heaviest rows are
                                        asked whether they meet
"""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from maxmargin.data.table import Vector
from maxmargin.problems.losses import LOSSES, Loss
from maxmargin.problems.many_margins import ManySolver
from maxmargin.problems.protocol import Evaluation, Iterates, Options, Run, State, varying
from maxmargin.problems.statement import AnyRows, Norm, Separation, SoftMargin, at_hand
from maxmargin.solvers.patience import NOTHING_SEEN, UNLIMITED, Patience, has_run_out, patience_for

AUTO = "auto"
REFERENCE = "cvxpy"  # off the shelf, to compare with: "auto" never takes it
MOST_COLUMNS = 20_000  # of the interior point's matrices, of which there are a few: 3 GB each

Start = Callable[[Any, Options], State]
Steps = Callable[[Any, Any], Iterates]
Condition = Callable[[Any], str | None]


def everything(_: Any) -> str | None:
    return None


class Solver(NamedTuple):
    """One algorithm, and a sentence about its round. Why it is not for a problem is said by `suits` from the loss or
    the norm alone, and by `accepts` from the whole problem (None: it is).

    One that `needs_memory` gets `problem.X` as a matrix: the blocks of a table that is not in memory are put together
    for it. One that does not reads `problem.table`, which `problem.X` may be. `many`: small problems, in one call.
    One that `keeps` nothing of its steps is begun anew by whoever goes on with a run. Where one learns from its steps,
    one that is not `to_learn_by` is not offered.
    """

    name: str
    sentence: str
    kind: str
    start: Start | str
    steps: Steps | str
    suits: Condition = everything
    accepts: Condition = everything
    reference: str = ""
    needs_memory: bool = True
    many: ManySolver | None = None
    keeps: bool = True
    to_learn_by: bool = True


SOFT_MARGIN, SEPARATION, KERNEL_MARGIN = "soft margin", "separation", "kernel margin"
SOLVERS: dict[str, dict[str, Solver]] = {SOFT_MARGIN: {}, SEPARATION: {}}


def register(solver: Solver) -> Solver:
    """From now on it is known by its name."""
    if not solver.name.isidentifier() or solver.name == AUTO:
        raise ValueError(f"a solver needs a name of letters, digits and underscores, and not {AUTO!r}: {solver.name!r}")
    if solver.kind not in SOLVERS:
        raise ValueError(f"a solver is for one of {', '.join(map(repr, SOLVERS))}, not for {solver.kind!r}")
    if SOLVERS[solver.kind].setdefault(solver.name, solver) != solver:
        raise ValueError(f"there is a solver {solver.name!r} already, another one: give yours a name of its own")
    return solver


def names_of(kind: str) -> tuple[str, ...]:
    """What `solver=` can be. In the space of a kernel: what finds soft margins, on columns, and hard ones."""
    if kind == KERNEL_MARGIN:
        return (AUTO, *(name for name in SOLVERS[SOFT_MARGIN] if name in SOLVERS[SEPARATION]))
    return (AUTO, *SOLVERS[kind])


def names_to_learn_by(kind: str) -> tuple[str, ...]:
    """Those of them whose steps are a lesson."""
    return (AUTO, *(name for name, solver in SOLVERS[kind].items() if solver.to_learn_by))


def check_suits(kind: str, name: str, asked: Loss | Norm) -> None:
    """A ValueError says why the named solver is not for this loss, or for this norm."""
    if name not in names_of(kind):
        raise ValueError(f"solver={name!r} is not known; it can be {', '.join(map(repr, names_of(kind)))}")
    if name != AUTO and (reason := SOLVERS[kind][name].suits(asked)) is not None:
        raise ValueError(f'solver="{name}" {reason}')


def may_begin_anew(kind: str, name: str, asked: Loss | Norm) -> bool:
    """Whether the named solver, or one that "auto" may take, keeps nothing of its steps."""
    solvers = [SOLVERS[kind][name]] if name != AUTO else [s for n, s in SOLVERS[kind].items() if n != REFERENCE]
    return any(not solver.keeps and solver.suits(asked) is None for solver in solvers)


def rows_for(name: str, kind: str, problem: AnyRows) -> AnyRows:
    """The problem with its rows where the named solver needs them."""
    solver = SOLVERS[kind].get(name)
    return problem if solver is not None and not solver.needs_memory else at_hand(problem)


def started(kind: str, name: str, problem: Any, options: Options) -> Run:
    """The named solver on this problem; a ValueError says why it is not for it."""
    check_suits(kind, name, problem.loss if kind == SOFT_MARGIN else problem.norm)
    solver = SOLVERS[kind][name]
    if (reason := solver.accepts(problem)) is not None:
        raise ValueError(f'solver="{name}" {reason}')
    start, steps = loaded(solver.start), loaded(solver.steps)
    state = start(problem, options)
    return Run(state, steps(problem, state))


def loaded(function: Callable[..., Any] | str) -> Callable[..., Any]:
    if not isinstance(function, str):
        return function
    module, _, name = function.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(f"maxmargin.solvers.{module}"), name)
    return found


def for_many(name: str, loss: Loss) -> Solver | None:
    """Who solves many small problems in one call: the named solver or, for "auto", the first that does."""
    named = (solver for solver in SOLVERS[SOFT_MARGIN].values() if name in (AUTO, solver.name))
    return next((solver for solver in named if solver.many is not None and solver.many.suits(loss)), None)


def bounded(loss: Loss) -> str | None:
    if loss.is_bounded:
        return None
    example = next(each for each in LOSSES.values() if each.is_bounded)
    return (
        f'is for losses with a box, as loss="{example.name}": the dual variables of the {loss.title} have no upper '
        'end; for it there is solver="newton"'
    )


def smooth(loss: Loss) -> str | None:
    if loss.is_smooth:
        return None
    example = next(each for each in LOSSES.values() if each.is_smooth)
    return f'is for losses that bend, as loss="{example.name}": the {loss.title} has no second derivative'


def on_columns_of_a_kernel(loss: Loss) -> str:
    """What does not mind how badly a kernel is scaled, on columns that stand for it."""
    return "interior_point" if bounded(loss) is None else "newton"


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
    "One Newton step along the central path, for the plane and the dual variables at once.", "mehrotra1992",
    suits=bounded, accepts=few_columns, to_learn_by=False,
    many=ManySolver("interior_point.many_paths:proposals", attrgetter("is_straight"), 1000, 64, 20_000),
)  # fmt: skip
ours(
    SOFT_MARGIN, "sieve", "interior_point.sampling",
    "One Newton step along the central path, on the rows that may still matter.", "ferris2002",
    suits=bounded, accepts=few_columns, to_learn_by=False,
)  # fmt: skip
SWEEPS = "Sweeps over the rows: each dual variable goes to its best value while the others wait."
ours(SOFT_MARGIN, "coordinate_descent", "coordinate_descent.descent", SWEEPS, "hsieh2008")
ours(
    SOFT_MARGIN, "newton", "newton.semismooth",
    "One Newton step on the plane: the loss is smooth, and rows that pay bend it.", "mangasarian2002",
    suits=smooth, needs_memory=False, keeps=False, to_learn_by=False,
    many=ManySolver("newton.many_planes:proposals", attrgetter("bends_widely"), 9_000, 96, 200_000),
)  # fmt: skip
ours(
    SOFT_MARGIN, REFERENCE, "reference", "The problem as it is written, by CVXPY and Clarabel.", keeps=False,
    to_learn_by=False,
)  # fmt: skip
ours(
    SEPARATION, "hulls", "hulls.nearest", "Nearest points of the two hulls, on a working set.", "wolfe1976",
    suits=margin_in(Norm.L2), keeps=False,
)  # fmt: skip
ours(
    SEPARATION, "coordinate_descent", "coordinate_descent.hard_margin", SWEEPS, "hsieh2008", suits=margin_in(Norm.L2),
)  # fmt: skip
ours(
    SEPARATION, "linear_program", "hulls.linear_program",
    "A vertex of the linear program min |w|_1 subject to y (w.x + b) >= 1.", suits=margin_in(Norm.L1), keeps=False,
    to_learn_by=False,
)  # fmt: skip
register(SOLVERS[SOFT_MARGIN][REFERENCE]._replace(kind=SEPARATION, steps="reference:hard_steps"))


FEW_COLUMNS = 3000  # up to here the matrix of the interior point is small beside most tables
TINY = 64  # rows: a system of them costs less than the calls around it
AT_ONCE = 10.0  # passes: whoever needs no more begins
LARGE = 3000  # rows and columns: beyond this in both, a working set of the hulls would fill the memory


@dataclass(eq=False)
class PlanState(State):
    """Whose turn it is, what was seen of its progress (passes, gap, share of active rows), and its own state."""

    options: Options
    solver: str
    turn: int = varying(0)
    seen: list[tuple[float, float, float]] = varying(factory=lambda: list(NOTHING_SEEN), grows=True)
    algorithm: State | None = varying(None)


def soft_margin(
    problem: SoftMargin, *, solver: str = AUTO, tol: float = 1e-4, start: Vector | None = None, stepwise: bool = False
) -> Run:  # fmt: skip
    """The named algorithm, or those that suit the table, one after the other.

    An algorithm that keeps nothing is begun anew by whoever goes on with a run.
    """
    state = PlanState(Options(tol, start, stepwise=stepwise), solver)
    return Run(state, in_turn(problem, state))


def in_turn(problem: SoftMargin, state: PlanState) -> Iterates:
    tol = state.options.tol
    planned = [(state.solver, UNLIMITED)] if state.solver != AUTO else plan(problem, state.options)
    for name, patience in itertools.islice(planned, state.turn, None):
        if state.algorithm is None:
            yield None
        problem = rows_for(name, SOFT_MARGIN, problem)  # once they are in memory, for the solvers after it, too
        run = started(SOFT_MARGIN, name, problem, state.options)
        state.algorithm = run.state
        yield from while_it_pays(run.iterates, name, patience, tol, state.seen)
        state.turn, state.seen, state.algorithm = state.turn + 1, list(NOTHING_SEEN), None


def while_it_pays(
    solver: Iterates, name: str, patience: Patience, tol: float, seen: list[tuple[float, float, float]]
) -> Iterates:
    """The same iterates, with the name of the algorithm; until its progress, which is added to `seen`, looks bad."""
    answer: Evaluation | None = None
    try:
        while True:
            try:
                iterate = solver.send(answer)
            except StopIteration:  # of the solver, and of nobody else
                return
            if iterate is not None:
                iterate.solver = name
            answer = yield iterate
            if iterate is not None and patience.passes < math.inf and has_run_out(patience, iterate, tol, seen):
                return
    finally:
        solver.close()


def plan(problem: SoftMargin, options: Options) -> Iterator[tuple[str, Patience]]:
    """The algorithms to try, in order, each with its patience: what the next would need."""
    loss = problem.loss
    if loss.bends_widely:
        from maxmargin.solvers.newton.systems import has_few_columns, has_few_rows, newton_passes

        patience = 0.0 if has_few_columns(problem) else math.inf
        if not loss.is_bounded:
            if has_few_rows(problem):
                patience = newton_passes(problem) if problem.n_rows > TINY else 0.0
            if patience > AT_ONCE:
                yield "coordinate_descent", Patience(patience)
            yield "newton", UNLIMITED
            if patience < math.inf:
                yield "coordinate_descent", UNLIMITED
            return
        if patience == 0.0:
            yield "newton", UNLIMITED
    if problem.n_columns <= FEW_COLUMNS:
        from maxmargin.solvers.interior_point.method import is_surely_best, path_passes, sieve_passes, worth_sieving

        if is_surely_best(problem, options):
            yield "interior_point", UNLIMITED
        if worth_sieving(problem):
            from maxmargin.solvers.coordinate_descent.trial import is_hopeless

            passes = sieve_passes(problem, options.tol)
            if not is_hopeless(problem, options, *passes):
                yield "coordinate_descent", patience_for(problem, *passes)
            yield "sieve", UNLIMITED
        else:
            yield "coordinate_descent", patience_for(problem, path_passes(problem, options.tol))
        yield "interior_point", UNLIMITED
    yield "coordinate_descent", UNLIMITED


@dataclass(eq=False)
class ChoiceState(State):
    """The algorithm that was chosen."""

    options: Options
    solver: str
    algorithm: State | None = varying(None)


def separation(problem: Separation, *, solver: str = AUTO, tol: float = 1e-9, stepwise: bool = False) -> Run:
    """The named algorithm, or the one that suits the table."""
    state = ChoiceState(Options(tol, stepwise=stepwise), solver)
    return Run(state, chosen(problem, state))


def chosen(problem: Separation, state: ChoiceState) -> Iterates:
    name, problem = state.solver, at_hand(problem)
    if name == AUTO:
        from maxmargin.solvers.copies import are_likely, contradiction

        witness = contradiction(problem) if are_likely(problem.X) or not suits_hulls(problem) else None
        if witness is not None:
            yield witness
            return
        by_norm = "hulls" if suits_hulls(problem) else "coordinate_descent"
        name = "linear_program" if problem.norm is Norm.L1 else by_norm
    run = started(SEPARATION, name, problem, state.options)
    state.algorithm = run.state
    yield from run.iterates


def suits_hulls(problem: Separation) -> bool:
    """Whether a working set of the hulls fits: few rows or few columns."""
    return min(problem.n_rows, problem.n_columns) <= LARGE
