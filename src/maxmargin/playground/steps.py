"""A run, step by step: what happened, by which rule, the arithmetic of it, and the lines before and after.

Learners that go row by row show their updates: the run is made once more, and observed at as many of them as can be
shown, evenly chosen. The other solvers show their rounds: the iterates of the fit, each measured by the judge.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.measure import objective
from maxmargin.data.table import Vector, in_safe_range
from maxmargin.playground.explain import (
    Corral,
    Plane,
    by_entering,
    explained,
    measured,
    measured_plane,
    rule_of,
    values_explained,
)
from maxmargin.playground.fits import Fit, Stopped, fit_state
from maxmargin.playground.messages import State, short_points
from maxmargin.plots.contours import Grid
from maxmargin.plots.shapes import Box, one_line
from maxmargin.problems.kernels import Kernel, KernelChoice, rows_of
from maxmargin.problems.losses import HINGE, loss_named
from maxmargin.problems.statement import KernelMargin, Separation, SignedRows
from maxmargin.run.observation import ChosenUpdates, evenly, tracing
from maxmargin.solve.rounds import Round, judged

MOST_STEPS = 400
MOST_BENT_STEPS = 120  # a bent line takes longer to draw
BENT_MESH = 24

Made = tuple[int, Iterable[dict[str, Any]], str | None]  # how many steps there were, those that are shown, a sentence


def steps(state: State, view: Box, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """The steps of the algorithm on the points."""
    make = round_steps if state.algorithm.steps == "rounds" else update_steps
    total, made, note = make(state, view, is_stopped)
    shown: list[dict[str, Any]] = []
    for one in made:
        if is_stopped():
            raise Stopped
        shown.append(one)
    words = [f"{len(shown)} of {total:,} steps are shown, evenly chosen."] if len(shown) < total else []
    words += ["It was done before its first step."] if not shown else []
    words += [note] if note else []
    return {"kind": state.algorithm.steps, "total": total, "words": " ".join(words) or None, "steps": shown}


def step(number: int, rule: str, arithmetic: list[str], **known: Any) -> dict[str, Any]:
    """One step; what is not known of it is null, or empty."""
    unknown: dict[str, Any] = {
        **dict.fromkeys(("row", "sign", "before", "w", "b", "violation", "bound", "primal", "dual", "nearest")),
        "lines": [],
        "lines_before": [],
        "support": [],
        "count": number,
    }
    return {"number": number, "rule": rule, "arithmetic": arithmetic, **unknown, **known}


# Updates.


def update_steps(state: State, view: Box, is_stopped: Callable[[], bool]) -> Made:
    """At most so many updates (of the stochastic subgradient: visits), and the last one always."""
    fit = fit_state(state, is_stopped)
    total = int(fit.model.n_updates_)
    if state.algorithm.name == "stochastic_svm":
        total = int(fit.model.n_iter_) * len(state.points)
    most = MOST_BENT_STEPS if state.algorithm.name == "kernel_perceptron" or is_bent(state) else MOST_STEPS
    chosen = ChosenUpdates([at + 1 for at in evenly(total, most)])
    with tracing(chosen):
        fit = fit_state(state, is_stopped)
    return total, updates(fit, chosen, view), note_of(fit)


def note_of(fit: Fit) -> str | None:
    """How it ended, where that cannot be seen."""
    if fit.state.algorithm.name == "kernel_perceptron" and fit.status.name == "WITNESS":
        return "Then the hulls were found to meet in the space of the kernel: no plane separates the classes."
    if fit.state.algorithm.name == "kernel_perceptron":
        return None if fit.status.name == "SETTLED" else "Then the sweeps or the time were over."
    if fit.status.name == "WITNESS":
        return "Then the hulls were found to meet: no line separates the classes."
    if fit.status.name == "TIME" and fit.state.algorithm.name != "stochastic_svm":
        return "Then the time was over."
    if fit.state.parameters.get("average"):
        return "The line that is shown in the end is the mean of all lines on the way."
    return None


def updates(fit: Fit, chosen: ChosenUpdates, view: Box) -> Iterator[dict[str, Any]]:
    state, draw = fit.state, Pictures(fit, view)
    for update in chosen.kept:
        before, after = draw.plane_in(update.before), draw.plane_in(update.after)
        rule, arithmetic = explained(fit, update, before, after)
        yield step(
            update.number,
            rule,
            arithmetic,
            row=update.row,
            sign=int(state.signs[update.row]),
            violation=update.violation,
            bound=None if math.isnan(update.bound) else update.bound,
            support=carried(update.a),
            **draw(before, after),
        )


# Rounds.


class ShownRound(NamedTuple):
    """A round in the units of the page: its plane and weights, and the best primal and dual value by then."""

    number: int
    plane: Plane
    a: Vector
    primal: float
    dual: float
    solver: str


def round_steps(state: State, view: Box, is_stopped: Callable[[], bool]) -> Made:
    """The rounds as the judge saw them; the last one is the answer."""
    fit = fit_state(state, is_stopped, stepwise=True)
    note = None
    if not fit.has_plane:
        note = "Then the hulls were found to meet: no plane separates the classes."
        if fit.certificate.is_separable is None:
            note = "Then it ended: whether a plane separates the classes is undecided at this precision."
    shown = rounds_of(fit, MOST_BENT_STEPS if is_bent(state) else MOST_STEPS)
    return fit.recording.seen, rounds(fit, shown, view), note


def rounds(fit: Fit, shown: list[ShownRound], view: Box) -> Iterator[dict[str, Any]]:
    draw, before, corral = Pictures(fit, view), None, None
    for found in shown:
        rule: str = rule_of(found.solver)
        lines: list[str] = []
        known: dict[str, Any] = {}
        if found.solver == "hulls":
            corral = Corral.of(fit, found.a, math.isinf(found.dual), corral)
            rule, lines = by_entering(fit, corral)
            entered = corral.entered[0] if len(corral.entered) == 1 else None
            known = {
                "row": entered,
                "sign": None if entered is None else int(fit.state.signs[entered]),
                "nearest": corral.nearest,
            }
        yield step(
            found.number,
            rule,
            lines + values_explained(fit, found.primal, found.dual),
            primal=found.primal,
            dual=found.dual,
            support=carried(np.maximum(found.a, 0.0)),
            **known,
            **draw(before, found.plane),
        )
        before = found.plane


def rounds_of(fit: Fit, most: int) -> list[ShownRound]:
    """At most so many rounds of a fit, from the first to the last, evenly chosen; none of a mistake-driven learner."""
    state, kept = fit.state, fit.recording.kept
    if state.algorithm.name not in ("hard_margin", "linear_svm", "kernel_svm", "stochastic_svm") or not kept:
        return []
    takes_last, in_kernel = state.algorithm.name == "stochastic_svm", has_kernel(state)
    numbered = [(at * fit.recording.stride + 1, kept[at]) for at in evenly(len(kept), most)]
    problem: SignedRows = kernel_margin(fit) if in_kernel else kept[0].problem
    numbered = [(number, moment) for number, moment in numbered if in_kernel or moment.problem is problem]
    iterates = [moment.iterate for _, moment in numbered]
    scale = 1.0 if in_kernel else in_safe_range(state.points).scale
    shown = []
    for (number, _), found in zip(
        numbered, judged(problem, iterates, tol=fit.certificate.tol, takes_last=takes_last), strict=True
    ):
        if np.isfinite(found.a).all():
            w = plane_of_coefficients(state, found.a * signs_of(fit)) if in_kernel else found.iterate.w * scale
            values = values_of(problem, found, scale)
            shown.append(ShownRound(number, Plane(w, found.b), found.a, *values, solver_of(fit, found.iterate.solver)))
    return shown


def values_of(problem: SignedRows, found: Round, scale: float) -> tuple[float, float]:
    """The primal and the dual value, of a table that the solver saw multiplied by the scale."""
    if not isinstance(problem, Separation):
        return found.upper * scale * scale, found.lower * scale * scale
    norm, furthest = problem.norm.value, 0.0 if found.iterate.meets else found.upper
    return objective(found.lower / scale, norm), objective(furthest / scale, norm)


def solver_of(fit: Fit, named: str) -> str:
    """Who made a round. Of a separation only the choice is known, and what "auto" then takes."""
    if has_kernel(fit.state):
        return "pairs"
    chosen = named or str(fit.state.parameters.get("solver", "auto"))
    if chosen != "auto":
        return chosen
    return "linear_program" if fit.state.parameters.get("norm") == "l1" else "hulls"


def kernel_margin(fit: Fit) -> KernelMargin:
    """The soft margin of the fit in the space of its kernel."""
    state, kernel = fit.state, kernel_of(fit.state)
    costs, chosen = np.full(len(state.points), state.parameters["C"]), state.parameters
    loss = loss_named(chosen.get("loss", HINGE.name), chosen.get("huber_width"))
    has_bias = chosen.get("fit_intercept", True)
    return KernelMargin(state.points, signs_of(fit), costs, loss, has_bias, kernel, kernel.points(state.points))


# Pictures.


class Pictures:
    """The planes of one run, straight or, in the space of a kernel, bent: sum_j c_j k(x_j, x) + b = 0."""

    def __init__(self, fit: Fit, view: Box) -> None:
        self.state, self.view = fit.state, view
        is_scaled = fit.state.algorithm.name == "winnow" and not fit.state.parameters.get("normalize_rows", False)
        self.scale = float(np.abs(fit.state.points).max()) if is_scaled else 1.0

    def plane_in(self, entry: Vector) -> Plane:
        """The plane of an entry of a trace: the bias is the last number, where there is one."""
        if has_kernel(self.state):
            return Plane(plane_of_coefficients(self.state, entry[:-1]), float(entry[-1]))
        return Plane(entry[:2] / self.scale, float(entry[2]) if len(entry) > 2 else 0.0)

    def __call__(self, before: Plane | None, after: Plane) -> dict[str, Any]:
        """The plane before and after a step as lines, and what holds of the second."""
        if is_bent(self.state):
            return {"b": after.b, "lines": self.bent_lines(*after), "measured": self.measured(*after)}
        drawn = {"w": after.w, "b": after.b, "lines": self.straight_lines(*after)}
        if before is not None:
            drawn |= {"before": before._asdict(), "lines_before": self.straight_lines(*before)}
        return drawn | {"measured": measured_plane(self.state, *after)}

    def straight_lines(self, w: Vector, b: float) -> list[Any]:
        """The part of a line that is seen; none while there is no line."""
        return [line.tolist() for line in one_line(w, b, self.view)] if np.any(w) else []

    def bent_lines(self, coefficients: Vector, b: float) -> list[Any]:
        own = np.flatnonzero(coefficients)
        if len(own) == 0:
            return []
        support = rows_of(self.points, own)

        def values(points: Any) -> Vector:
            return np.asarray(self.kernel.values(self.kernel.points(points), support) @ coefficients[own] + b)

        return [short_points(line) for line in Grid(values, self.view, BENT_MESH).lines(0.0)]

    def measured(self, coefficients: Vector, b: float) -> dict[str, Any]:
        """What holds of such a boundary; a bias of +1 in the kernel's rows, as perceptrons have it, is b alone here."""
        products = self.kernel_matrix @ coefficients
        size = math.sqrt(max(0.0, float(coefficients @ products)))
        return measured(self.state, products + b, size, "boundary")

    @functools.cached_property
    def kernel(self) -> Kernel:
        return kernel_of(self.state)

    @functools.cached_property
    def points(self) -> Any:
        return self.kernel.points(self.state.points)

    @functools.cached_property
    def kernel_matrix(self) -> Any:
        return self.kernel.values(self.points, self.points)


def has_kernel(state: State) -> bool:
    """Whether the run is made in the space of a kernel: its planes are coefficients of the rows."""
    return state.algorithm.name in ("kernel_svm", "kernel_perceptron") or is_bent(state)


def is_bent(state: State) -> bool:
    return bool(state.parameters.get("kernel", "linear") != "linear")


def plane_of_coefficients(state: State, coefficients: Vector) -> Vector:
    """w, where the kernel bends nothing; or else the coefficients themselves."""
    return coefficients if is_bent(state) else np.asarray(coefficients @ state.points)


def kernel_of(state: State) -> Kernel:
    """The kernel on the points."""
    numbers: dict[str, Any] = {"gamma": 1.0, "coef0": 0.0, "degree": 1, **state.parameters}
    choice = KernelChoice(numbers["kernel"], numbers["gamma"], numbers["coef0"], numbers["degree"])
    return choice.on(state.points)


def signs_of(fit: Fit) -> Vector:
    return fit.state.signs.astype(np.float64)


def carried(a: Vector) -> list[dict[str, Any]]:
    """The rows that carry weight, and how much: six digits, because there are many."""
    return [{"row": int(row), "a": float(f"{a[row]:.6g}")} for row in np.flatnonzero(a)]
