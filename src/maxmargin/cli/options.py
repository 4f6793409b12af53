"""Arguments and options that several commands have, in one wording; and what their values may be."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import Annotated, Any

import typer

from maxmargin.cli.console import UserError
from maxmargin.cli.datafile import Format
from maxmargin.estimators.declarations import (
    BIAS,
    CLASS_WEIGHT,
    COEF0,
    DEGREE,
    GAMMA,
    HUBER_WIDTH,
    LINEAR_KERNEL,
    LOSS,
    MAX_TIME,
    MULTI_CLASS,
    NORM,
    PRICE,
    TOL,
)
from maxmargin.estimators.parameters import Choice

LEAST = 1e-3  # seconds
LIBSVM_KERNELS = {"0": "linear", "1": "poly", "2": "rbf"}  # the numbers of its option -t


class Scaling(StrEnum):
    """How columns are brought to one size before a fit."""

    AUTO = "auto"
    STANDARD = "standard"
    MINMAX = "minmax"
    MAXABS = "maxabs"
    NONE = "none"


def choice_of(declaration: Choice, help: str = "", metavar: str = "") -> Any:
    """An option whose words are those of a declaration, as they are when the command is used.

    Its help shows them in place of a `metavar`; words whose home is slow to load need one.
    """

    def parsed(text: str) -> str:
        known = declaration.names_to_choose()
        if text not in known:
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, known))}.")
        return text

    def completed(incomplete: str) -> list[str]:
        return [name for name in declaration.names_to_choose() if name.startswith(incomplete)]

    metavar = metavar or f"<{'|'.join(declaration.names_to_choose())}>"
    return typer.Option(parser=parsed, autocompletion=completed, metavar=metavar, help=help or declaration.option)


def kernel_named(text: str) -> str:
    """By name, or by LIBSVM's number."""
    name = LIBSVM_KERNELS.get(text, text)
    if name not in LINEAR_KERNEL.names_to_choose():
        numbered = {name: f"{number} or {name}" for number, name in LIBSVM_KERNELS.items()}
        known = ", ".join(numbered.get(name, name) for name in LINEAR_KERNEL.names_to_choose())
        raise typer.BadParameter(f"{text!r} is no kernel; it can be {known}")
    return name


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="A table: CSV, SVMlight (.gz too), Parquet, Arrow, .npy, .npz; - reads standard input."
    ),
]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A model that `maxmargin fit` wrote.")]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|INDEX",
        help="The column of labels: its name, or its index from 0 (-1 is the last). "
        "Without it: the one column called label, y, target or class.",
    ),
]
Weight = Annotated[
    str | None, typer.Option(metavar="NAME|INDEX", help="The column of weights: a row of weight k is k equal rows.")
]
Ignore = Annotated[
    list[str] | None, typer.Option(metavar="NAME|INDEX", help="A column to pass over; repeat it for more.")
]
Id = Annotated[
    str | None, typer.Option("--id", metavar="NAME|INDEX", help="The column that names the rows; no feature.")
]
Features = Annotated[
    int | None,
    typer.Option(
        "--n-features", min=1, metavar="NUMBER", help="How many columns an SVMlight file has; it does not say."
    ),
]
ZeroBased = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        help="How an SVMlight file counts its columns. Without it: as the model's own file did, or else from 0 where "
        "an index 0 occurs.",
        show_default=False,
    ),
]
Sql = Annotated[
    str | None,
    typer.Option("--sql", metavar="DATABASE", help="DATA is a query to this database: duckdb:FILE or sqlite:FILE."),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME|INDEX", help="A column of categories, also if they are numbers or many; repeat it."),
]
Text = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME|INDEX", help="A column of text, to be read word by word; repeat it for more."),
]
Impute = Annotated[
    bool,
    typer.Option("--impute", help="Fill in missing cells: the mean of numbers, the most frequent category."),
]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The first line is data.")]
FileFormat = Annotated[Format, typer.Option(help="How the file is written.")]
Positive = Annotated[str | None, typer.Option(metavar="LABEL", help="Ask about this label against all others only.")]
MaxTime = Annotated[float | None, typer.Option(metavar="SECONDS", help=MAX_TIME.option)]
AsJson = Annotated[bool, typer.Option("--json", help="All of it, for machines.")]
Exact = Annotated[bool, typer.Option("--exact", help="Check the proof in rational arithmetic, too.")]
Scale = Annotated[
    Scaling,
    typer.Option(help="How columns are scaled first; auto: standard, or maxabs for a sparse file."),
]
Price = Annotated[float, typer.Option("--C", "-c", metavar="NUMBER", help=PRICE.option)]
Loss = Annotated[str, choice_of(LOSS, metavar="NAME")]
HuberWidth = Annotated[float | None, typer.Option("--huber-width", metavar="NUMBER", help=HUBER_WIDTH.option)]
Norm = Annotated[str, choice_of(NORM, "Which margin is measured.")]
MultiClass = Annotated[str | None, choice_of(MULTI_CLASS)]
Kernel = Annotated[str, typer.Option("--kernel", "-t", parser=kernel_named, metavar="NAME", help=LINEAR_KERNEL.option)]
Gamma = Annotated[str, typer.Option("--gamma", "-g", metavar="NUMBER", help=GAMMA.option)]
Degree = Annotated[int, typer.Option("--degree", "-d", metavar="NUMBER", help=DEGREE.option)]
Coef0 = Annotated[float, typer.Option("--coef0", "-r", metavar="NUMBER", help=COEF0.option)]
NoBias = Annotated[bool, typer.Option("--no-bias", help=BIAS.option)]
Tolerance = Annotated[float | None, typer.Option("--tol", "-e", metavar="NUMBER", help=TOL.option)]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of the estimator; repeat it for more."),
]
ClassWeight = Annotated[
    list[str] | None,
    typer.Option("--class-weight", "-w", metavar="LABEL=WEIGHT", help=CLASS_WEIGHT.option),
]


class TimeLimit:
    """The seconds of --max-time, from when the data are read: what prepares, proves and prints is part of the work."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds, self.begun = seconds, time.perf_counter()

    def left(self, share: float = 1.0, reserve: float = 0.0) -> float | None:
        """What a solver may take of the rest: a share, or all but a reserve, which is half of it at most.

        None where there is no limit. Where the time is over, still a little, to say anything.
        """
        if self.seconds is None:
            return None
        rest = self.seconds - (time.perf_counter() - self.begun)
        return max(share * rest - min(reserve, 0.5 * rest), min(self.seconds, LEAST))

    @property
    def is_over(self) -> bool:
        return self.seconds is not None and time.perf_counter() - self.begun >= self.seconds


def check_time(max_time: float | None) -> None:
    """One sentence where a time limit is none."""
    if max_time is not None and not max_time > 0.0:
        raise UserError(f"--max-time must be a positive number of seconds, not {max_time:g}")
