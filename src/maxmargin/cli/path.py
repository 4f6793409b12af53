"""`maxmargin path DATA`: the soft margin over C, every point with its proof."""

from __future__ import annotations

import math
import time
from typing import Annotated, Any

import typer

from maxmargin.cli.checked import find
from maxmargin.cli.console import (
    ExitCode,
    TimeLimit,
    UserError,
    check_time,
    gap_shown,
    in_a_sentence,
    json_line,
    say,
    say_json,
)
from maxmargin.cli.options import (
    AsJson,
    Data,
    HuberWidth,
    Loss,
    MaxTime,
    NoBias,
    Positive,
    ReadingOptions,
    Scale,
    Scaling,
    Tolerance,
)
from maxmargin.cli.preparation import preparation_of, prepare
from maxmargin.cli.tables import describe, headline, read, refuse_a_measure
from maxmargin.estimators.declarations import LOSS, TOL

SAMPLED = 10_000  # rows whose printing is timed
NUMBERS_OF_A_ROW = 2.0  # its index, which is short, and its weight, which is long; made and written


def path(
    data: Data,
    reading: ReadingOptions,
    Cs: Annotated[
        str, typer.Option("--Cs", metavar="NUMBERS", help="How many values of C, or the values: 0.1,1,10.")
    ] = "10",
    loss: Loss = LOSS.default,
    huber_width: HuberWidth = None,
    positive: Positive = None,
    scale: Scale = Scaling.AUTO,
    no_bias: NoBias = False,
    tol: Tolerance = None,
    max_time: MaxTime = None,
    as_json: AsJson = False,
) -> int:
    """Follow the plane between two labels over C: margin, support, rows inside the street, mistakes, proven gap.

    Exit codes: 0 every point is proven, 2 some are not, 1 an error.
    """
    import numpy as np

    from maxmargin import path as margin_path

    check_time(max_time)
    table = read(data, reading)
    limit, y, asked = TimeLimit(max_time), table.y, values_of(Cs)
    if positive is None:
        refuse_a_measure(table, np.unique(y).tolist())
    if positive is not None:
        y = (y == find(positive, np.unique(y).tolist(), table)).astype(int)
    with in_a_sentence(table.name):
        X = prepare(table, preparation_of(table, scale, reading.impute))
        n_points = asked if isinstance(asked, int) else len(asked)
        reserve = n_points * seconds_of_printing(len(y)) if as_json else 0.0
        with gap_shown("Following the path", tol):
            points = margin_path(
                X, y, Cs=asked, loss=loss, huber_width=huber_width, fit_intercept=not no_bias,
                tol=TOL.default if tol is None else tol, sample_weight=table.weights,
                max_time=limit.left(reserve=reserve),
            )  # fmt: skip
    if as_json:
        say_json({**describe(table), **for_machines(points)})
    else:
        say(headline(table))
        say(points.report())
    is_whole = len(points) == (asked if isinstance(asked, int) else len(set(asked)))
    return int(ExitCode.FINE if is_whole and all(c.is_optimal for c in points.certificates) else ExitCode.UNPROVEN)


def values_of(text: str) -> Any:
    """A count, or values of C."""
    if text.isdecimal():
        return int(text)
    try:
        return [float(value) for value in text.split(",")]
    except ValueError:
        raise UserError(f"--Cs must be a whole number, or numbers with commas between them; not {text!r}") from None


def seconds_of_printing(n_rows: int) -> float:
    """What the weights of so many rows take as JSON, by those of a few."""
    begun = time.perf_counter()
    json_line([1.0 / (row + 3) for row in range(SAMPLED)])
    return (time.perf_counter() - begun) * NUMBERS_OF_A_ROW * n_rows / SAMPLED


def for_machines(points: Any) -> dict[str, Any]:
    """All of it as plain values, a point after the other: each has a number or more for each row."""
    from maxmargin.certificates.record import spell_out

    return {
        "classes": list(points.classes),
        "C_max": points.C_max if points.C_max is None or math.isfinite(points.C_max) else None,
        "separable": None if points.separation is None else points.separation.is_separable,
        "points": (
            {
                "C": point.C,
                "margin": point.margin,
                "coef": point.coef.tolist(),
                "intercept": point.intercept,
                "support": point.n_support,
                "inside": point.n_inside,
                "mistakes": point.n_mistakes,
                "relative_gap": point.certificate.relative_gap,
                "status": point.status.name,
                "certificate": spell_out(point.certificate.to_dict()),
            }
            for point in points.points
        ),
    }
