"""`maxmargin certify DATA --plane PLANE`: what is proven of a plane from anywhere, and how far it is from the best."""

from __future__ import annotations

import csv
import json
import re
from typing import Annotated, Any, NamedTuple

import typer

from maxmargin.cli.audit import code_of
from maxmargin.cli.certified import certificate_for_machines
from maxmargin.cli.console import (
    TimeLimit,
    UserError,
    check_time,
    gap_shown,
    in_a_sentence,
    refuse_to_write_over,
    say,
    say_json,
    write_text,
)
from maxmargin.cli.options import (
    AsJson,
    ClassWeight,
    Data,
    Exact,
    HuberWidth,
    Loss,
    MaxTime,
    NoBias,
    ReadingOptions,
    Scaling,
    Tolerance,
    choice_of,
    read_class_weight,
    refuse_two_results,
)
from maxmargin.cli.preparation import encoded
from maxmargin.cli.tables import DataFile, count_labels, headline, read, refuse_a_measure
from maxmargin.estimators.declarations import LOSS, MULTI_CLASS, NORM

SHARP = 1e-5  # the gap within which a plane counts as optimal
WRITTEN = re.compile(r"w=(?P<w>[^=]*?)(?:[\s,;]+b=(?P<b>[^=\s,;]+))?\s*")
EXAMPLE = "--plane w=1,0,b=-2"


def certify(
    *,
    data: Data,
    plane: Annotated[
        str,
        typer.Option(
            "--plane",
            metavar="FILE|w=...,b=...",
            help="The plane w.x + b = 0: its numbers, or a file of planes, .csv or .json, as `maxmargin convert` "
            "writes it.",
        ),
    ],
    C: Annotated[
        float, typer.Option("--C", "-c", metavar="NUMBER", help="The price of slack; inf: the margin is measured.")
    ] = float("inf"),
    loss: Loss = LOSS.default,
    huber_width: HuberWidth = None,
    norm: Annotated[str, choice_of(NORM, "Which margin is measured, of C = inf.")] = NORM.default,
    no_bias: NoBias = False,
    multi_class: Annotated[str, choice_of(MULTI_CLASS)] = MULTI_CLASS.default,
    class_weight: ClassWeight = None,
    tol: Tolerance = None,
    max_time: MaxTime = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the certificate of the plane as JSON.")
    ] = None,
    exact: Exact = False,
    reading: ReadingOptions,
    as_json: AsJson = False,
) -> int:
    """Measure a plane from a paper, another program or your own hand against a proven bound of the best.

    The plane is between the columns as they are: nothing is scaled. The later of two labels, in sorted order, is where
    w.x + b is positive; a file says which label is on which side.

    Exit codes: 0 the best plane is known, 2 stopped before it was, 3 proven not separable, 1 an error.
    """
    from maxmargin import certify as certified

    check_time(max_time)
    refuse_two_results(output, as_json)
    refuse_to_write_over(output, data, plane, sql=reading.sql)
    table = read(data, reading)
    limit = TimeLimit(max_time)
    labels = [label for label, _ in count_labels(table)]
    refuse_a_measure(table, labels)
    with in_a_sentence(table.name):
        table = encoded(table, Scaling.NONE, reading.impute)
        given = read_planes(plane, table, labels, multi_class)
        sharp = SHARP if tol is None else tol
        with gap_shown("Seeking the best plane", sharp):
            answer = certified(
                table.X, table.y, given.w, given.b, C, loss=loss, huber_width=huber_width, norm=norm,
                fit_intercept=not no_bias, multi_class=multi_class, sample_weight=table.weights,
                class_weight=read_class_weight(class_weight, labels), tol=sharp, max_time=limit.left(),
            )  # fmt: skip
        verification = answer.verify(table.X, table.y, exact=exact, sample_weight=table.weights)
    code = int(code_of(answer.audit))
    if output is not None:
        write_text([answer.certificate.to_json()], output)
    if as_json:
        found = {"file": table.name, "verdict": answer.verdict, "exit_code": code}
        distance = json.loads(answer.audit.to_json())
        say_json({**distance, **found, **certificate_for_machines(answer.certificate, verification)})
    elif output != "-":
        say(headline(table))
        say(answer.report())
        say(f"  {verification}" if not verification else f"  {str(verification).partition(':')[0]}.")
        if output is not None:
            say(f"Written to {output}")
    return code


class Planes(NamedTuple):
    """A line and a bias for each plane; numbers alone where there is one."""

    w: Any
    b: Any


def read_planes(given: str, table: DataFile, labels: list[Any], multi_class: str) -> Planes:
    """From a text such as w=1,0,b=-2, or from a file; every problem becomes a `UserError`."""
    if (text := WRITTEN.fullmatch(given.strip())) is not None:
        numbers = [number(word, given) for word in re.split(r"[\s,;]+", text["w"].strip(" ,;[]()")) if word]
        return Planes(numbers, 0.0 if text["b"] is None else number(text["b"], given))
    if given.lower().endswith(".json"):
        lines = lines_of_json(given)
    elif given.lower().endswith(".csv"):
        lines = lines_of_csv(given)
    else:
        raise UserError(f"--plane {given!r} is neither a file (.csv, .json) nor a plane as text, such as {EXAMPLE}")
    return in_order(given, lines, table, labels, multi_class)


def number(word: str, given: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise UserError(f"--plane {given!r}: {word!r} is no number; write it as {EXAMPLE}") from None


class Line(NamedTuple):
    """One plane of a file: its sides as they are written, its bias, and its coefficients by the names of columns."""

    positive: str
    negative: str
    b: float
    w: dict[str, float]


def lines_of_csv(path: str) -> list[Line]:
    """positive, negative, intercept, and a column for each coefficient."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(rows) < 2 or rows[0][:3] != ["positive", "negative", "intercept"]:
        raise UserError(f"{path}: the first line must be positive,negative,intercept and the names of columns")
    lines = []
    for place, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            raise UserError(f"{path}, line {place}: there are {len(row)} cells, and {len(rows[0])} names")
        numbers = [number_in(path, cell, f"line {place}") for cell in row[2:]]
        lines.append(Line(row[0], row[1], numbers[0], dict(zip(rows[0][3:], numbers[1:], strict=True))))
    return lines


def lines_of_json(path: str) -> list[Line]:
    """{"columns": [...], "planes": [{"positive", "negative", "intercept", "coefficients"}]}."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        columns = [str(name) for name in found["columns"]]
        lines = []
        for entry in found["planes"]:
            w = [number_in(path, value, "coefficients") for value in entry["coefficients"]]
            b = number_in(path, entry["intercept"], "intercept")
            negative = entry.get("negative")
            own = dict(zip(columns, w, strict=True))
            lines.append(Line(str(entry["positive"]), "" if negative is None else str(negative), b, own))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise UserError(
            f'{path} must hold {{"columns": [...], "planes": [{{"positive": ..., "negative": ..., "intercept": ..., '
            '"coefficients": [...]}]}, with a coefficient for each column'
        ) from None
    return lines


def number_in(path: str, value: Any, where: str) -> float:
    try:
        if isinstance(value, bool):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"{path}, {where}: {str(value)[:40]!r} is no number") from None


def in_order(path: str, lines: list[Line], table: DataFile, labels: list[Any], multi_class: str) -> Planes:
    """The planes as the library wants them: by their labels, each with the columns in the order of the table."""
    import numpy as np

    from maxmargin.estimators.agreement import sides_of_planes
    from maxmargin.problems.choices import Strategy

    names = table.feature_names or tuple(f"x{index}" for index in range(table.X.shape[1]))
    known: dict[tuple[str, str], tuple[list[float], float]] = {}
    for line in lines:
        if set(line.w) != set(names):
            odd = sorted(set(line.w) ^ set(names))[0]
            has = "table" if odd in names else "file of planes"
            raise UserError(
                f"{path}: the column {odd!r} is in the {has} alone; each plane has a number for each column"
            )
        w = [line.w[name] for name in names]
        known[line.positive, line.negative] = w, line.b
        known[line.negative, line.positive] = [-value for value in w], -line.b
    found = []
    for positive, negative in sides_of_planes(np.array(labels), Strategy(multi_class)):
        side = str(positive), "" if negative is None else str(negative)
        one = known.get(side) or (known.get((str(positive), "")) if len(labels) == 2 else None)
        if one is None:
            against = "the rest" if negative is None else repr(negative)
            raise UserError(f"{path} has no plane for {positive!r} against {against} (--multi-class {multi_class})")
        found.append(one)
    if len(found) == 1:
        return Planes(*found[0])
    return Planes([w for w, _ in found], [b for _, b in found])
