"""`maxmargin program`, `exercise` and `lagrange`: to read, to solve by hand, and to see what a multiplier is."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maxmargin.cli.console import ExitCode, UserError, in_a_sentence, refuse_to_write_over, say, say_json, write_text
from maxmargin.cli.models import load_model
from maxmargin.cli.options import AsJson, NoBias, refuse_two_results
from maxmargin.cli.plot import PICTURES, draw

if TYPE_CHECKING:
    from maxmargin import ConstrainedParabola
    from maxmargin.teaching.exercise import Exercise

PROBLEMS = {"hard-margin": "hard margin", "soft-margin": "soft margin"}
OF_THE_NOTES = (5.0, -3.0)  # where x must be at least: once the constraint binds, once it does not


def program(
    *,
    problem: Annotated[
        str, typer.Argument(metavar="PROBLEM", help="hard-margin, soft-margin, or a model that `maxmargin fit` wrote.")
    ],
    dual: Annotated[bool, typer.Option("--dual", help="The dual, in the multipliers; without it the primal.")] = False,
    C: Annotated[float | None, typer.Option("--C", "-c", metavar="NUMBER", help="The price of soft-margin.")] = None,
    loss: Annotated[str | None, typer.Option(metavar="NAME", help="hinge or squared_hinge.")] = None,
    no_bias: NoBias = False,
    kernel: Annotated[
        str | None, typer.Option("--kernel", "-t", metavar="NAME", help="Of the dual: linear, poly, rbf, precomputed.")
    ] = None,
    gamma: Annotated[float | None, typer.Option("--gamma", "-g", metavar="NUMBER", help="Of poly and rbf.")] = None,
    degree: Annotated[int | None, typer.Option("--degree", "-d", metavar="NUMBER", help="Of poly.")] = None,
    coef0: Annotated[float | None, typer.Option("--coef0", "-r", metavar="NUMBER", help="Of poly.")] = None,
    norm: Annotated[str | None, typer.Option(metavar="NAME", help="Of hard-margin: l2 or l1.")] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write the program.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Print a margin problem as a program for CVXPY, in the notation of the textbooks, to read and to run.

    It runs where X is an array of rows and y one of labels -1 and +1. A model brings its own parameters: its program is
    about the columns as the model scales them.
    """
    from maxmargin import program as written

    refuse_two_results(output, as_json)
    given: dict[str, Any] = {"C": C, "loss": loss, "kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}
    given |= {"norm": norm, "fit_intercept": False if no_bias else None}
    form = "dual" if dual else "primal"
    asked: Any = PROBLEMS.get(problem)
    if asked is None:
        if not Path(problem).is_file():
            raise UserError(f"{problem!r} is neither {' nor '.join(PROBLEMS)}, nor a model file")
        asked = load_model(problem).classifier
        refuse_to_write_over(output, problem)
    with in_a_sentence(problem):
        text = written(asked, form, **given)
    if output is not None:
        write_text([text, "\n"], output)
    if as_json:
        say_json({"problem": problem, "form": form, "program": text})
    elif output is None:
        say(text)
    elif output != "-":
        say(f"Written to {output}")
    return ExitCode.FINE


def exercise(
    *,
    which: Annotated[str | None, typer.Argument(metavar="[NAME|NUMBER]", help="Without it: a list of all.")] = None,
    answer: Annotated[
        list[str] | None,
        typer.Option(
            "--answer", "-a", metavar="NAME=VALUE", help="A part of your answer, such as w=2/3,1; repeat it. Or JSON."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Another one, other numbers.")] = 0,
    as_json: AsJson = False,
) -> int:
    """List the exercises, show one, or grade an answer by what it proves.

    Exit codes: 0 right (or nothing to grade), 2 not yet, 1 an error.
    """
    from maxmargin import exercise as made
    from maxmargin import exercises

    if which is None:
        if answer:
            raise UserError("--answer is to one exercise: name it, as in `maxmargin exercise distance --answer ...`")
        entries = exercises()
        if as_json:
            say_json({"exercises": [{"number": one.number, "name": one.name, "title": one.title} for one in entries]})
        else:
            for one in entries:
                say(f"{one.number:2} {one.name:18} {one.title}")
        return ExitCode.FINE
    try:
        task = made(int(which) if which.isdecimal() else which, seed)
    except ValueError as error:
        raise UserError(str(error)) from None
    if not answer:
        if as_json:
            say_json(task.to_dict())
        else:
            say(str(task))
        return ExitCode.FINE
    grade = task.check(answer_in(answer, task))
    code = ExitCode.FINE if grade else ExitCode.UNPROVEN
    if as_json:
        say_json({"number": task.number, "name": task.name, "seed": seed, "exit_code": int(code), **grade.to_dict()})
    else:
        say(str(grade))
    return int(code)


def answer_in(given: list[str], task: Exercise) -> dict[str, Any]:
    """NAME=VALUE, with commas in a list and semicolons between lists; or one object of JSON."""
    if len(given) == 1 and given[0].lstrip().startswith("{"):
        try:
            found: dict[str, Any] = json.loads(given[0])
        except (ValueError, RecursionError):
            raise UserError(f"--answer {given[0][:40]!r} begins as JSON, and is none") from None
        return found
    shapes = {field.name: field.shape for field in task.fields}
    parts: dict[str, Any] = {}
    for entry in given:
        name, equals, value = (word.strip() for word in entry.partition("="))
        if not equals or name in parts:
            wrong = f"{name} is given twice" if equals else "write NAME=VALUE"
            raise UserError(f"--answer {entry!r}: {wrong}; asked for: {'; '.join(one.words for one in task.fields)}")
        parts[name] = listed(value, len(shapes.get(name, ())))
    return parts


def listed(text: str, depth: int) -> Any:
    """A number as it is written, a list of them, or a list of lists.

    >>> listed("2/3", 0), listed("1, 2", 1), listed("1,2;3,4", 2)
    ('2/3', ['1', '2'], [['1', '2'], ['3', '4']])
    """
    if depth == 0:
        return text
    parts = [part.strip() for part in text.strip("[]").split("," if depth == 1 else ";") if part.strip()]
    return [listed(part, depth - 1) for part in parts]


def lagrange(
    *,
    c: Annotated[
        float | None, typer.Option("--c", metavar="NUMBER", help="x must be at least this; without it: 5 and -3.")
    ] = None,
    p: Annotated[float, typer.Option("--p", metavar="NUMBER", help="Of p x^2 + q x + r.")] = 0.2,
    q: Annotated[float, typer.Option("--q", metavar="NUMBER", help="Likewise.")] = -1.0,
    r: Annotated[float, typer.Option("--r", metavar="NUMBER", help="Likewise.")] = 1.0,
    x: Annotated[float | None, typer.Option("--x", metavar="NUMBER", help="A point of yours.")] = None,
    a: Annotated[float | None, typer.Option("--a", metavar="NUMBER", help="A multiplier of yours.")] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="A picture of the saddle: .png, .svg or .pdf.")
    ] = None,
    dark: Annotated[bool, typer.Option("--dark", help="On dark paper.")] = False,
    as_json: AsJson = False,
) -> int:
    """See what a Lagrange multiplier is, on one variable: the lowest point of a parabola where x is at least c.

    Any multiplier a >= 0 bounds the optimum from below, any x that is allowed from above; at the best of both they
    meet. Planes are the same, with a multiplier for each row.
    """
    from maxmargin import ConstrainedParabola, LagrangianDisplay

    if output is not None and Path(output).suffix.lower() not in PICTURES:
        raise UserError(f"{output}: the name must end in {', '.join(PICTURES)}")
    with in_a_sentence("lagrange"):
        problems = [ConstrainedParabola(p, q, r, c=one) for one in (OF_THE_NOTES if c is None else (c,))]
        if not all(one is None or math.isfinite(one) for one in (x, a)):
            raise UserError("--x and --a must be finite numbers")
        if output is not None:
            draw(lambda: LagrangianDisplay.from_problem(problems[0], x=x, a=a), False, Path(output), dark)
    if as_json:
        say_json({"problems": [for_machines(one, x, a) for one in problems], "picture": output})
        return ExitCode.FINE
    for place, one in enumerate(problems):
        if place:
            say()
        for line in lesson(one, x, a):
            say(line)
    if output is not None:
        say(f"Written to {output}")
    return ExitCode.FINE


def for_machines(problem: ConstrainedParabola, x: float | None, a: float | None) -> dict[str, Any]:
    """The saddle, and what the point and the multiplier of the user prove."""
    saddle = problem.saddle
    point, price = saddle.x if x is None else x, saddle.a if a is None else a
    return {
        **dataclasses.asdict(problem),
        "saddle": saddle._asdict(),
        "binds": problem.binds,
        "x": point,
        "a": price,
        "lower": problem.bounds(point, price).lower,
        "upper": problem.bounds(point, price).upper,
        "conditions": problem.conditions(point, price)._asdict(),
    }


def lesson(problem: ConstrainedParabola, x: float | None, a: float | None) -> list[str]:
    """The same for people."""
    found, saddle = for_machines(problem, x, a), problem.saddle
    lines = [
        f"min {problem.p:g} x^2 {signed(problem.q)} x {signed(problem.r)}   subject to   x >= {problem.c:g}",
        f"  L(x, a) = f(x) - a (x {signed(-problem.c)}),   g(a) = min_x L(x, a) <= optimum <= f(x)",
        f"  saddle: x = {saddle.x:g}, multiplier a = {saddle.a:g}, f(x) = g(a) = {saddle.value:g}",
        "  the constraint holds x back: its multiplier is the slope there, what a unit of room is worth"
        if problem.binds
        else "  the lowest point of the parabola is allowed: the constraint costs nothing, and its multiplier is 0",
    ]
    if x is None and a is None:
        return lines
    bounds = f"the optimum lies in [{found['lower']:g}, {found['upper']:g}]"
    lines.append(f"  at x = {found['x']:g} and a = {found['a']:g}: {bounds}")
    broken = [f"{name} by {value:g}" for name, value in found["conditions"].items() if value > 0.0]
    lines.append(f"  conditions of optimality: {'violated, ' + ', '.join(broken) if broken else 'all hold'}")
    return lines


def signed(value: float) -> str:
    """+ 1 or - 1, to stand in a sum."""
    return f"{'-' if value < 0 else '+'} {abs(value):g}"
