"""`maxmargin violations MODEL DATA`: which rows are inside the street or beyond the plane; or which rows hold it.

slack        xi_i = max(0, 1 - y_i f(x_i)):  0 < xi <= 1 is inside the street, xi > 1 a mistake
distance     y_i f(x_i) / |w|, in the space of the kernel: negative on the wrong side
multiplier   a_i >= 0 with w = sum_i a_i y_i phi(x_i); of a soft margin a_i <= C_i times the slope of the loss. At
             this bound is a row that pays by it, below it one on the edge of the street (or, of a loss that bends,
             inside)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from maxmargin.certificates.words import counted
from maxmargin.cli.console import (
    ExitCode,
    UserError,
    in_a_sentence,
    messages,
    refuse_to_write_over,
    say,
    say_json,
    show,
    write_csv,
)
from maxmargin.cli.models import Model, load_and_read
from maxmargin.cli.options import AsJson, CsvFile, Data, ModelFile, ReadingForAModel, check_csv
from maxmargin.cli.tables import DataFile, headline

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHOWN = 20  # rows on one screen
AT_THE_BOUND = 1e-6  # relative


def violations(
    *,
    model: ModelFile,
    data: Data,
    support: Annotated[
        bool, typer.Option("--support", help="List the rows that carry weight instead, with their multipliers.")
    ] = False,
    output: CsvFile = None,
    reading: ReadingForAModel,
    as_json: AsJson = False,
) -> int:
    """List the rows inside the street and the mistakes, with their slack; or the support vectors.

    Of more than two labels, each plane has its own. Distances and slack are those of the columns as the model scales
    them, and float64 arithmetic: what is proven is told by verify. Multipliers are told on the data of the fit only.
    """
    check_csv(output, as_json)
    refuse_to_write_over(output, data, model, sql=reading.sql)
    loaded, table = load_and_read(model, data, reading)
    if loaded.is_text and support:
        raise UserError(f"{model} is a text model, which does not tell the rows of its fit: --support has no answer")
    with in_a_sentence(table.name), messages.status("Measuring the rows"):
        found = measured(loaded, table)
    if support and not found.has_multipliers:
        raise UserError(
            f"{table.name} is not what {model} was fitted on, or the model has no multipliers: --support needs both"
        )
    chosen = [row for row in found.rows if (row["multiplier"] if support else row["slack"]) > 0.0]
    if output is not None:
        names = list(columns_of(table)) if not chosen else list(chosen[0])
        write_csv(output, names, (list(row.values()) for row in chosen))
    if as_json:
        say_json({"model": model, "file": table.name, "planes": found.planes, "rows": iter(chosen)})
        return ExitCode.FINE
    if output != "-":
        say(headline(table))
        for plane in found.planes:
            say(sentence_of(plane, found.has_multipliers))
        tell(chosen, support, found.has_multipliers, output)
    return ExitCode.FINE


class Measured(NamedTuple):
    """Each row beside each plane that it is on a side of, and what they are together."""

    rows: list[dict[str, Any]]
    planes: list[dict[str, Any]]
    has_multipliers: bool


def measured(loaded: Model, table: DataFile) -> Measured:
    """All rows that count, in the order of the file, plane by plane."""
    import numpy as np

    from maxmargin.estimators.agreement import sides_of_planes
    from maxmargin.estimators.geometry import signs_of_planes

    classifier, X = loaded.classifier, loaded.prepared(table)
    counting = np.arange(len(table.lines)) if table.weights is None else np.flatnonzero(table.weights > 0.0)
    y = table.y[counting]
    signs, values = signs_of_planes(classifier, y, len(y)), classifier.values_of_planes(X)[counting]
    distances = distances_of(classifier, X)[counting]
    multipliers = multipliers_of(loaded, X, table)
    sides = sides_of_planes(classifier.classes_, classifier._strategy)
    rows, planes = [], []
    for number, (positive, negative) in enumerate(sides):
        name = f"{positive!r} against {'the rest' if negative is None else repr(negative)}"
        on_it = ~np.isnan(signs[:, number])
        a = np.full(len(table.lines), math.nan) if multipliers is None else multipliers[number]
        bounds = bounds_of(classifier, number, table)
        own = []
        for place in np.flatnonzero(on_it).tolist():
            row, sign = int(counting[place]), float(signs[place, number])
            own.append(
                {
                    **place_of(table, row),
                    "plane": name,
                    "slack": max(0.0, 1.0 - sign * float(values[place, number])),
                    "distance": sign * float(distances[place, number]),
                    "multiplier": None if multipliers is None else float(a[row]),
                    "at": None if multipliers is None else where(float(a[row]), float(bounds[row])),
                }
            )
        rows += own
        planes.append(summary(name, own))
    return Measured([{**row, "kind": kind_of(row["slack"])} for row in rows], planes, multipliers is not None)


def columns_of(table: DataFile) -> Iterator[str]:
    """The names of what is told of a row."""
    yield from place_of(table, None)
    yield from ("plane", "slack", "distance", "multiplier", "at", "kind")


def place_of(table: DataFile, row: int | None) -> dict[str, Any]:
    """Where a row is in the file, what it is called, and its label."""
    ids = {} if table.ids is None else {"id": None if row is None else table.ids[row].item()}
    if row is None:
        where = ("file", "line") if table.parts else ("line",)
        return {"row": None, **dict.fromkeys(where), **ids, "label": None}
    return {"row": row, **table.place_of(row), **ids, "label": table.y[row].item()}


def kind_of(slack: float) -> str:
    return "mistake" if slack > 1.0 else "inside" if slack > 0.0 else "outside"


def where(multiplier: float, bound: float) -> str | None:
    """Whether a row with weight is at its bound or below it."""
    if not multiplier > 0.0:
        return None
    return "bound" if multiplier >= (1.0 - AT_THE_BOUND) * bound else "edge"


def distances_of(classifier: Any, X: Any) -> NDArray[Any]:
    """One column for each plane; NaN where |w| is not known, of a perceptron with a precomputed kernel."""
    import numpy as np

    try:
        distances = classifier.distances(X)
    except ValueError:
        return np.full((X.shape[0], max(1, len(classifier.intercept_))), math.nan)
    return np.asarray(distances if distances.ndim == 2 else distances[:, None])


def multipliers_of(loaded: Model, X: Any, table: DataFile) -> NDArray[Any] | None:
    """A line for each plane, a number for each row; None where the rows are not those of the fit."""
    import numpy as np

    if not loaded.is_fitted_on(X, table.y) or not hasattr(loaded.classifier, "dual_coef_"):
        return None
    found = np.zeros((len(loaded.classifier.dual_coef_), len(table.lines)))
    found[:, loaded.classifier.support_] = np.abs(loaded.classifier.dual_coef_)
    return found


def bounds_of(classifier: Any, number: int, table: DataFile) -> NDArray[Any]:
    """The most that the multiplier of each row can be: the slope of the loss, times C, times the row's weights."""
    import numpy as np

    from maxmargin.problems.losses import loss_named

    weights = np.ones(len(table.lines)) if table.weights is None else table.weights
    certificate = getattr(classifier, "certificate_", None)
    part = None if certificate is None else certificate.parts[number]
    if part is None or not hasattr(part, "C") or math.isinf(part.C):
        return np.full(len(table.lines), math.inf)
    box = loss_named(part.loss, part.huber_width).box
    for label, weight in part.class_weight:
        weights = np.where(table.y == label, weight * weights, weights)
    return np.asarray(box * part.C * weights)


def summary(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How many rows of each kind a plane has."""
    slack = [row["slack"] for row in rows]
    return {
        "plane": name,
        "rows": len(rows),
        "inside": sum(0.0 < one <= 1.0 for one in slack),
        "mistakes": sum(one > 1.0 for one in slack),
        "slack": math.fsum(slack),
        "support": sum((row["multiplier"] or 0.0) > 0.0 for row in rows),
        "at_the_edge": sum(row["at"] == "edge" for row in rows),
        "at_the_bound": sum(row["at"] == "bound" for row in rows),
    }


def sentence_of(plane: dict[str, Any], has_multipliers: bool) -> str:
    said = (
        f"{plane['plane']}: {plane['inside']:,} of {plane['rows']:,} rows inside the street, "
        f"{counted(plane['mistakes'], 'mistakes', 'mistake')}, slack {plane['slack']:.6g} in all"
    )
    if not has_multipliers:
        return said
    carry = counted(plane["support"], "rows carry", "row carries")
    held = f"{carry} weight ({plane['support'] / max(1, plane['rows']):.1%})"
    return f"{said}\n  {held}: {plane['at_the_edge']:,} below their bound, {plane['at_the_bound']:,} at it"


def tell(rows: list[dict[str, Any]], support: bool, has_multipliers: bool, output: str | None) -> None:
    """The first rows of the list, those with the largest slack or weight first."""
    if not rows:
        return
    by = "multiplier" if support else "slack"
    first = sorted(rows, key=lambda row: -row[by])[:SHOWN]
    table = Table(header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    planes = {row["plane"] for row in rows}
    names = [name for name in first[0] if name not in ("row", *(("plane",) if len(planes) == 1 else ()))]
    names = names if has_multipliers else [name for name in names if name not in ("multiplier", "at")]
    for name in names:
        table.add_column(name, justify="left" if name in ("plane", "kind", "at") else "right", no_wrap=True)
    for row in first:
        table.add_row(*(Text(cell(row[name])) for name in names))
    show(table)
    if len(rows) > len(first):
        say(
            f"and {len(rows) - len(first):,} more: " + (f"see {output}" if output else "-o FILE.csv writes all of them")
        )
    elif output:
        say(f"Written to {output}")


def cell(value: Any) -> str:
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
