"""`maxmargin robustness MODEL DATA`: how far rows can be moved before their predictions change, proven."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

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
from maxmargin.cli.options import AsJson, Data, ModelFile, ReadingForAModel, check_csv
from maxmargin.cli.plot import PICTURES, draw
from maxmargin.cli.tables import DataFile, headline

if TYPE_CHECKING:
    from maxmargin import Robustness

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)  # of the rows that are right: radii on one screen, unless they are given


def robustness(
    *,
    model: ModelFile,
    data: Data,
    norm: Annotated[
        str, typer.Option(metavar="<l2|linf>", help="Of a perturbation: l2, its length; linf, its largest entry.")
    ] = "l2",
    radii: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Radii at which the accuracy is told: 0.1,0.5,1.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="The curve as .csv (- is stdout), .png, .svg or .pdf."),
    ] = None,
    dark: Annotated[bool, typer.Option("--dark", help="On dark paper.")] = False,
    reading: ReadingForAModel,
    as_json: AsJson = False,
) -> int:
    """Tell how far each row can be moved before its prediction changes, and the accuracy that is left within a radius.

    All of it is proven. Distances are those between the rows as they are in the file, scaling accounted for; where the
    model makes columns of categories or words, between the columns that it makes. Exact for planes against the rest,
    lower bounds for kernels and for classes in pairs.
    """
    is_picture = output is not None and Path(output).suffix.lower() in PICTURES
    if not is_picture:
        check_csv(output, as_json)
    refuse_to_write_over(output, data, model, sql=reading.sql)
    asked = None if radii is None else radii_in(radii)
    loaded, table = load_and_read(model, data, reading, needs_weights=False)
    if table.weights is not None:
        table = table.where(table.weights > 0.0)
    with in_a_sentence(table.name), messages.status("Measuring the rows"):
        answer, columns = measured(loaded, table, norm)
    if is_picture and output is not None:
        from maxmargin import RobustnessDisplay

        draw(lambda: RobustnessDisplay.from_robustness(answer), False, Path(output), dark)
    elif output is not None:
        curve = zip(*(one.tolist() for one in answer.curve(asked)), strict=True)
        write_csv(output, ("radius", "accuracy", "at_most"), curve)
    if as_json:
        say_json({"model": model, "file": table.name, "columns": columns, **for_machines(answer, table, asked)})
    elif output != "-":
        say(headline(table))
        say(answer.report())
        say(f"  distances are between {columns}")
        show(table_of(answer, asked))
        if output is not None:
            say(f"Written to {output}")
    return ExitCode.FINE


def radii_in(text: str) -> list[float]:
    try:
        found = [float(word) for word in text.split(",")]
    except ValueError:
        raise UserError(f"--radii must be numbers with commas between them; not {text!r}") from None
    if not all(0.0 <= radius < math.inf for radius in found):
        raise UserError(f"--radii must be numbers from 0 on; not {text!r}")
    return sorted(set(found))


def measured(loaded: Model, table: DataFile, norm: str) -> tuple[Robustness, str]:
    """The answer, and between which columns its distances are."""
    from maxmargin import robustness as proven
    from maxmargin.cli.preparation import inner_steps

    is_scaled = all(type(step).__name__.endswith("Scaler") for step, _ in inner_steps(loaded.scaler))
    if is_scaled and not table.texts:
        return proven(loaded.whole, loaded.columns_of(table), table.y, norm=norm), "the columns of the file"
    answer = proven(loaded.classifier, loaded.prepared(table), table.y, norm=norm)
    return answer, "the columns that the model makes of those of the file"


def for_machines(answer: Robustness, table: DataFile, radii: list[float] | None) -> dict[str, Any]:
    curve = answer.curve(radii)
    ids = {} if table.ids is None else {"ids": table.ids.tolist()}
    return {
        "norm": answer.norm,
        "is_exact": answer.is_exact,
        "how": answer.how,
        "accuracy": answer.accuracy,
        "curve": {name: values.tolist() for name, values in curve._asdict().items()},
        **ids,
        "lines": table.lines.tolist(),
        "distances": answer.distances.tolist(),
        "farthest": answer.farthest.tolist(),
    }


def table_of(answer: Robustness, radii: list[float] | None) -> Table:
    """The accuracy at some radii."""
    import numpy as np

    from maxmargin.certificates.words import rounded_down, rounded_up

    if radii is None:
        right = answer.distances[(answer.distances > 0.0) & np.isfinite(answer.distances)]
        radii = [0.0, *(np.quantile(right, SHARES).tolist() if len(right) else ())]
        radii = sorted({float(f"{radius:.3g}") for radius in radii})
    table = Table(header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("radius", "stay right, at least", "at most"):
        table.add_column(heading, justify="right", no_wrap=True)
    for radius, least, most in zip(*(one.tolist() for one in answer.curve(radii)), strict=True):
        table.add_row(f"{radius:.4g}", f"{rounded_down(100 * least, 4)} %", f"{rounded_up(100 * most, 4)} %")
    return table
