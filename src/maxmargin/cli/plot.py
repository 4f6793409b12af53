"""`maxmargin plot MODEL DATA -o FILE`: a model in a picture, or the run of its algorithm in a film."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from maxmargin.cli.console import ExitCode, UserError, in_a_sentence, messages, refuse_to_write_over, say, say_json
from maxmargin.cli.models import Model, load_and_read
from maxmargin.cli.options import AsJson, ReadingForAModel
from maxmargin.cli.recorded_run import is_recorded_run, read_record
from maxmargin.cli.tables import DataFile

PICTURES, FILMS = (".pdf", ".png", ".svg"), (".gif", ".mp4")


class Asked(NamedTuple):
    """Which picture, of which plane or update; what the columns are called, and the weights of the rows."""

    kind: Kind
    plane: int
    update: int | None
    names: tuple[str, ...] | None
    weights: Any
    is_film: bool


class Kind(StrEnum):
    """What is drawn."""

    STREET = "street"
    HULL = "hull"
    LOSS = "loss"
    KKT = "kkt"
    PATH = "path"
    CONVERGENCE = "convergence"
    TRACE = "trace"
    BOUND = "bound"
    SCHEDULE = "schedule"
    GAME = "game"


OF_A_RUN = (Kind.TRACE, Kind.BOUND, Kind.SCHEDULE, Kind.GAME)


def plot(
    *,
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="A model that `maxmargin fit` wrote; or a run by `fit --record`, .json."),
    ],
    data: Annotated[
        list[str] | None, typer.Argument(metavar="[DATA]", help="What it was fitted on; a run has it.")
    ] = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="A .png, .svg or .pdf; a trace: .gif or .mp4 too."),
    ],
    kind: Annotated[
        Kind | None, typer.Option("--kind", "-k", help="What is drawn; by default a street, of a run its trace.")
    ] = None,
    plane: Annotated[
        int, typer.Option(metavar="NUMBER", help="Which plane, from 0, where there are more than two labels.")
    ] = 0,
    update: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Of a trace: this update alone, before and after.")
    ] = None,
    dark: Annotated[bool, typer.Option("--dark", help="On dark paper.")] = False,
    reading: ReadingForAModel,
    as_json: AsJson = False,
) -> int:
    """Draw a model with the data that it was fitted on, or a recorded run.

    street: rows, plane, edges, support vectors, slack. hull: the two hulls and their nearest points, or the witness.
    loss: what rows cost by their margins. kkt: the conditions of optimality, row by row. path: margin and errors over
    C. convergence: the gap closing, in a fit that is made once more. trace: the updates of a learner that goes row
    by row. bound: their number against the theorem. schedule: the guesses of a margin perceptron or the epsilons of
    Winnow, phase by phase. game: Winnow's last phase as a repeated game.
    """
    if is_recorded_run(model):
        drawn = Asked(Kind.TRACE if kind is None else kind, 0, update, None, None, output.suffix.lower() in FILMS)
        plot_record(model, data, output, drawn, dark)
        tell(output, {"run": model, "kind": drawn.kind.value, "update": update}, as_json)
        return int(ExitCode.FINE)
    kind = Kind.STREET if kind is None else kind
    if not data:
        if not Path(model).exists():
            raise UserError(f"{model} cannot be read: there is no such file")
        raise UserError(
            f"{model} is drawn with the data that it was fitted on: maxmargin plot {model} DATA -o {output}"
        )
    check_output(output, kind, update)
    refuse_to_write_over(str(output), data, model, sql=reading.sql)
    loaded, table = load_and_read(model, data, reading)
    if getattr(loaded.classifier, "certificate_", None) is None:
        raise UserError(f"{model} holds no certificate: it was learnt from a stream, or comes from another program")
    with in_a_sentence(table.name), messages.status("Drawing"):
        X = loaded.prepared(table)
        if loaded.is_fitted_on(X, table.y) is False:
            messages.print(
                f"maxmargin: {table.name} is not what the model was fitted on: its dual variables may not fit"
            )
        names, is_film = names_of_columns(loaded, table), output.suffix.lower() in FILMS
        asked = Asked(kind, plane, update, names, table.weights, is_film)
        classifier = loaded.classifier.set_params(verbose=0)
        draw(lambda: display(classifier, X, table.y, asked), is_film, output, dark)
    drawn_rows = {"file": table.name, "rows": len(table.lines)}
    n_planes = len(getattr(classifier.certificate_, "parts", ())) or 1
    others = f", plane {plane} of {n_planes}, counted from 0: --plane draws another" if n_planes > 1 else ""
    tell(output, {"model": model, **drawn_rows, "kind": kind.value, "plane": plane, "update": update}, as_json, others)
    return int(ExitCode.FINE)


def tell(output: Path, drawn: dict[str, Any], as_json: bool, others: str = "") -> None:
    """What was drawn, for machines, and where it is."""
    if as_json:
        say_json({**drawn, "output": str(output)})
    else:
        say(f"Written to {output}{others}")


def plot_record(record: str, data: list[str] | None, output: Path, asked: Asked, dark: bool) -> None:
    """The same for a recorded run, which has all that is drawn."""
    check_output(output, asked.kind, asked.update)
    refuse_to_write_over(str(output), record)
    if asked.kind not in OF_A_RUN:
        kinds = ", ".join(kind.value for kind in OF_A_RUN)
        raise UserError(
            f"{record} is a recorded run: --kind is one of {kinds}; a {asked.kind.value} is drawn from a model"
        )
    trace = read_record(record)
    if data:
        raise UserError(f"{record} is a recorded run, and has its rows: leave {' '.join(data)} out")
    with in_a_sentence(record), messages.status("Drawing"):
        from maxmargin.plots.updates import run_of_trace

        draw(lambda: drawn_run(run_of_trace(trace), asked), asked.is_film, output, dark)


def names_of_columns(loaded: Model, table: DataFile) -> tuple[str, ...] | None:
    """What the axes are called; categories and words make columns of their own, which have no name."""
    if loaded.expected is not None and set(loaded.expected.values()) != {"number"}:
        return None
    names = loaded.names or table.feature_names
    return names if names is None or loaded.scaler is None else tuple(f"{name}, scaled" for name in names)


def check_output(output: Path, kind: Kind, update: int | None) -> None:
    """One sentence before any work, where the file could not be written anyway."""
    suffix = output.suffix.lower()
    if update is not None and kind is not Kind.TRACE:
        raise UserError("--update is one of a trace: --kind trace")
    if suffix in FILMS and kind is not Kind.TRACE:
        raise UserError(f"{output}: only --kind trace is a film; a {kind.value} is a {', '.join(PICTURES)}")
    if suffix not in PICTURES + FILMS:
        raise UserError(f"{output}: the name must end in {', '.join(PICTURES)}, or for a trace in {' or '.join(FILMS)}")
    if not output.parent.is_dir():
        raise UserError(f"the picture cannot go to {output}: there is no folder {output.parent}")


def draw(make: Callable[[], Any], is_film: bool, output: Path, dark: bool) -> None:
    """Draw and write; a missing Matplotlib and a full disk become sentences."""
    from maxmargin.persistence.container import replaced
    from maxmargin.plots.style import PIP_LINE

    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise UserError(PIP_LINE) from None
    try:
        with pyplot.style.context("dark_background" if dark else "default"):
            shown = make()
            with replaced(output) as path:
                if is_film:
                    shown.animate(Path(path))
                else:
                    shown.figure_.savefig(path, bbox_inches="tight")
    except OSError as error:
        raise UserError(f"the picture cannot go to {output}: {(error.strerror or str(error)).lower()}") from None
    finally:
        pyplot.close("all")


def display(classifier: Any, X: Any, y: Any, asked: Asked) -> Any:
    """The display that is asked for: drawn, unless it is a film."""
    from maxmargin import plots
    from maxmargin.plots.updates import run_of

    given: dict[str, Any] = {"plane": asked.plane}
    weighted = given if asked.weights is None else {**given, "sample_weight": asked.weights}
    kinds: dict[Kind, tuple[Any, dict[str, Any]]] = {
        Kind.STREET: (plots.StreetDisplay, {**weighted, "feature_names": asked.names}),
        Kind.HULL: (plots.HullDisplay, given),
        Kind.LOSS: (plots.LossDisplay, given),
        Kind.KKT: (plots.KKTDisplay, weighted),
        Kind.PATH: (plots.PathDisplay, weighted),
        Kind.CONVERGENCE: (plots.ConvergenceDisplay, weighted),
    }
    if asked.kind in kinds:
        kind, options = kinds[asked.kind]
        return kind.from_estimator(classifier, X, y, **options)
    return drawn_run(run_of(classifier, X, y, **given), asked)


def drawn_run(run: Any, asked: Asked) -> Any:
    """The run as it is asked for: drawn, unless it is a film."""
    from maxmargin.plots.run import TraceDisplay

    trace = TraceDisplay(run)
    if asked.is_film:
        return trace
    if asked.kind is not Kind.TRACE:
        return trace.plot(kind=asked.kind.value)
    return trace.plot(kind="run") if asked.update is None else trace.plot(kind="update", update=asked.update)
