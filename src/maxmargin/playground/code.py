"""The Python program and the command line that reproduce what is seen."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from typing import Any

import maxmargin
from maxmargin.certificates.words import rounded_down, rounded_up
from maxmargin.playground.fits import Fit, fit_state
from maxmargin.playground.messages import State
from maxmargin.teaching.program import FORMS, program

FILE = "points.csv"
WRITTEN = ("HardMarginSVM", "LinearSVM", "KernelSVM")  # what `program` writes down
COMMANDS = {  # what --algorithm calls them
    "perceptron": "perceptron",
    "margin_perceptron": "margin-perceptron",
    "winnow": "winnow",
    "hard_margin": "hard-margin",
    "linear_svm": "svm",
    "kernel_svm": "kernel-svm",
    "stochastic_svm": "stochastic",
    "kernel_perceptron": "kernel-perceptron",
}


def code(state: State, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """A program, a command, the file that the command reads, and what a solver off the shelf would be given."""
    return {
        "python": python_of(state),
        "command": command_of(state),
        "file": FILE,
        "csv": csv_of(state),
        "programs": programs_of(state, is_stopped),
    }


def programs_of(state: State, is_stopped: Callable[[], bool]) -> list[dict[str, str]]:
    """The primal and the dual for CVXPY, as far as they can be written down; below them what is proven here."""
    if state.algorithm.estimator not in WRITTEN or state.has_many:
        return []
    fit, found = fit_state(state, is_stopped), []
    rows = "\n".join(f"    [{x!r}, {y!r}]," for x, y in state.points.tolist())
    labels = ", ".join(map(str, state.labels.tolist()))
    data = f"import numpy as np\n\nX = np.array([\n{rows}\n])\ny = np.array([{labels}])\n"
    for form in FORMS:
        try:
            text = program(fit.model, form)
        except ValueError:  # no primal in the space of a kernel, no program of this loss
            continue
        found.append({"title": f"CVXPY, {form}", "text": f"{data}\n{text}\n\n{optimum_of(fit)}"})
    return found


def optimum_of(fit: Fit) -> str:
    """What the program's optimum must be, by the certificate."""
    certificate = fit.certificate
    if certificate.is_separable is False:
        return "print(problem.status, optimum)  # no plane separates the classes: there is no optimum\n"
    between = f"{rounded_down(certificate.dual)} and {rounded_up(certificate.primal)}"
    return f"print(optimum)  # maxmargin proves that it lies between {between}\n"


def own_parameters(state: State) -> dict[str, Any]:
    """Those that are not the defaults of the estimator."""
    usual = getattr(maxmargin, state.algorithm.estimator)().get_params()
    given = {**state.parameters, **state.algorithm.fixed}
    return {name: value for name, value in given.items() if value != usual[name]}


def python_of(state: State) -> str:
    """It prints the certificate, or why no plane separates."""
    name, parameters = state.algorithm.estimator, own_parameters(state)
    arguments = ", ".join(f"{key}={literal(value)}" for key, value in parameters.items())
    may_raise = parameters.get("C") == math.inf
    names = f"{name}, NotSeparableError, UndecidedError" if may_raise else name
    rows = ",\n".join(f"    [{x!r}, {y!r}]" for x, y in state.points.tolist())
    labels = ", ".join(map(str, state.labels.tolist()))
    made = f"model = {name}({arguments})"
    if may_raise:
        fit = f"{made}\ntry:\n    print(model.fit(X, y).certificate_)\n"
        fit += "except (NotSeparableError, UndecidedError) as why:\n    print(why)"
    else:
        fit = f"{made}.fit(X, y)\nprint(model.certificate_)"
    return f"from maxmargin import {names}\n\nX = [\n{rows},\n]\ny = [{labels}]\n{fit}\n"


def literal(value: Any) -> str:
    return 'float("inf")' if value == math.inf else repr(value)


def command_of(state: State) -> str:
    """`maxmargin fit` on the points as they are, with a proof for machines."""
    words = ["maxmargin", "fit", FILE, "--scale", "none", "--algorithm", COMMANDS[state.algorithm.name]]
    kernel = {"kernel": state.parameters["kernel"]} if "kernel" in state.parameters else {}
    declared = getattr(maxmargin, state.algorithm.estimator).parameters
    for name, value in (own_parameters(state) | kernel).items():
        if name == "fit_intercept":
            words.append("--no-bias")
        elif declared[name].option and value is True:
            words.append(f"--{name.replace('_', '-')}")
        elif declared[name].option:
            words += [f"--{name.replace('_', '-')}", str(value)]
        elif name != "on_inseparable":
            words += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    return shlex.join(words)


def csv_of(state: State) -> str:
    """The points as a table, every digit kept."""
    rows = [
        f"{x1!r},{x2!r},{label}" for (x1, x2), label in zip(state.points.tolist(), state.labels.tolist(), strict=True)
    ]
    return "\n".join(["x1,x2,label", *rows]) + "\n"
