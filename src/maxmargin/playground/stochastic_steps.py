"""The visits of the stochastic subgradient, by the library's own loop: shrink w, and add the row if it is inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from maxmargin.data.matrix import Vector
from maxmargin.playground.fits import Fit, Stopped, fit_state
from maxmargin.playground.measured import measured_plane, number
from maxmargin.playground.messages import State
from maxmargin.playground.one_step import MOST_BENT_STEPS, MOST_STEPS, BentLines, Run, carried, planes, step, vector
from maxmargin.playground.rounds import kernel_of, signs_of
from maxmargin.playground.thinning import evenly
from maxmargin.plots.shapes import Box
from maxmargin.problems.descent import Descent
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin, SoftMargin


class Visit(NamedTuple):
    """A visit: the row, y f(x) before it, the step, and where the run stood before and stands after it.

    With a kernel w are the values on the rows; `a` are the dual variables.
    """

    number: int
    row: int
    value: float
    eta: float
    before: tuple[Vector, float]
    after: tuple[Vector, float]
    a: Vector


def stochastic_steps(state: State, view: Box, is_stopped: Callable[[], bool]) -> Run:
    """Every visit, thinned evenly."""
    fit = fit_state(state, is_stopped)
    total = int(fit.model.n_iter_) * len(state.points)
    note = (
        "The line that is shown in the end is the mean of all lines on the way."
        if state.parameters["average"]
        else None
    )
    return total, drawn(fit, visits(fit, total, is_stopped), view), note


def problem_of(fit: Fit) -> SoftMargin:
    """What the fit solves."""
    X, signs, price = fit.state.points, signs_of(fit), fit.state.parameters["C"]
    costs = np.full(len(X), price)
    if fit.state.parameters["kernel"] == "linear":
        return SoftMargin(X, signs, costs, HINGE, fit.state.parameters["fit_intercept"])
    kernel = kernel_of(fit)
    return KernelMargin(X, signs, costs, HINGE, True, kernel, kernel.points(X))


def visits(fit: Fit, total: int, is_stopped: Callable[[], bool]) -> Iterator[Visit]:
    """The run of the fit once more, with a look at the visits that are shown."""
    from sklearn.utils import check_random_state

    from maxmargin.solvers.stochastic_subgradient import order_of, prepare, step_lengths, visit

    parameters, problem = fit.state.parameters, problem_of(fit)
    has_kernel, n = isinstance(problem, KernelMargin), problem.n_rows
    run = Descent(parameters["C"], n, has_kernel, False, np.zeros(n if has_kernel else 2), np.zeros(n))
    if parameters["project"]:
        run.radius = float(np.sqrt(problem.costs.sum()))
    table, rule, memory = prepare(problem, run)
    seed = int(check_random_state(parameters["random_state"]).randint(2**31 - 1)) if parameters["shuffle"] else None
    most = MOST_BENT_STEPS if has_kernel else MOST_STEPS
    for t in (at + 1 for at in evenly(total, most)):
        if is_stopped():
            raise Stopped
        while run.visits < t - 1:  # to the end of a sweep, or to the visit that is shown
            sweep, place = divmod(run.visits, n)
            visit(
                table,
                rule,
                run,
                memory,
                order_of(n, seed, sweep)[place : place + t - 1 - run.visits],
                parameters["step"],
            )
        sweep, place = divmod(t - 1, n)
        row = order_of(n, seed, sweep)[place : place + 1]
        before = (run.w.copy(), run.b)
        eta = float(step_lengths(parameters["step"], rule.lam, t, 1)[0])
        own = before[0][row[0]] if has_kernel else before[0] @ problem.X[row[0]]
        visit(table, rule, run, memory, row, parameters["step"])
        value = float(problem.signs[row[0]] * (own + before[1]))
        yield Visit(t, int(row[0]), value, eta, before, (run.w.copy(), run.b), run.dual.copy())


def drawn(fit: Fit, made: Iterator[Visit], view: Box) -> Iterator[dict[str, Any]]:
    signs, X, parameters = signs_of(fit), fit.state.points, fit.state.parameters
    lam, straight = 1.0 / (len(X) * parameters["C"]), parameters["kernel"] == "linear"
    lines = None if straight else BentLines(kernel_of(fit), X, view)
    for one in made:
        violated = one.value < 1.0
        if lines is None:
            picture = planes(one.before, one.after, view) | {"measured": measured_plane(fit.state, *one.after)}
        else:
            coefficients, b = one.a * signs, one.after[1]
            held = lines.measured(fit.state, coefficients, b)
            picture = {"b": b, "lines": lines(coefficients, b), "measured": held}
        inside = f"y f(x) = {number(one.value)} < 1: w shrinks, and moves by eta y x"
        beyond = f"y f(x) = {number(one.value)} >= 1: w only shrinks"
        yield step(
            one.number,
            f"Row {one.row} is visited. {inside if violated else beyond}.",
            arithmetic_of(one, int(signs[one.row]), X[one.row], lam, fit),
            row=one.row,
            sign=int(signs[one.row]),
            violation=one.value,
            support=carried(one.a),
            **picture,
        )


def arithmetic_of(one: Visit, sign: int, x: Vector, lam: float, fit: Fit) -> list[str]:
    parameters, violated = fit.state.parameters, one.value < 1.0
    lines = [f"lambda = 1 / (rows C) = 1 / ({len(fit.state.points)} · {number(parameters['C'])}) = {number(lam)}"]
    if parameters["step"] == "pegasos":
        lines.append(f"eta = 1 / (lambda t) = 1 / ({number(lam)} · {one.number}) = {number(one.eta)}")
    else:
        lines.append(f"eta = {number(one.eta)}")
    shrink = 1.0 - one.eta * lam
    if parameters["kernel"] == "linear":
        moved = f" + {number(one.eta)} ({sign:+d}) {vector(x)}" if violated else ""
        lines.append(
            f"w: (1 - eta lambda) w = {number(shrink)} {vector(one.before[0])}{moved} = {vector(one.after[0])}"
        )
    else:
        moved = f"; then a of row {one.row} grows by eta = {number(one.eta)}" if violated else ""
        lines.append(f"all a times 1 - eta lambda = {number(shrink)}{moved}")
    if violated and one.after[1] != one.before[1]:
        lines.append(f"b: {number(one.before[1])} + min(eta, 1) ({sign:+d}) = {number(one.after[1])}")
    if parameters["project"]:
        lines.append("then w is moved back into the ball |w|² <= sum C, if it has left it")
    return lines
