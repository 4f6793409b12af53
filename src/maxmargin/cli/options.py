"""Arguments and options that several commands have, in one wording; what their values may be, and the estimator that
they make.

A group of options is a dataclass. A command takes it as one argument, and `spelt_out` puts its fields in the place of
that argument into the signature that Typer reads:

    def check(data: Data, reading: ReadingOptions, norm: Norm = "l2") -> int:

has the options --label, --weight ... --format and --norm. Parameters of estimators have the help and the default of
their declaration.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache, wraps
from typing import Annotated, Any, ClassVar, NamedTuple, get_args, get_type_hints

import typer

from maxmargin.cli.console import UserError
from maxmargin.estimators.declarations import (
    AVERAGE,
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
    PRICE,
    STOCHASTIC_SVM,
    TOL,
)
from maxmargin.estimators.parameters import Choice, Declaration
from maxmargin.reading.files import Format

LIBSVM_KERNELS = {"0": "linear", "1": "poly", "2": "rbf", "4": "precomputed"}  # the numbers of its option -t
STEP = STOCHASTIC_SVM["step"]


class Scaling(StrEnum):
    """How columns are brought to one size before a fit."""

    AUTO = "auto"
    STANDARD = "standard"
    MINMAX = "minmax"
    MAXABS = "maxabs"
    NONE = "none"


class Algorithm(StrEnum):
    """What can be fitted."""

    SVM = "svm"
    HARD_MARGIN = "hard-margin"
    PERCEPTRON = "perceptron"
    MARGIN_PERCEPTRON = "margin-perceptron"
    WINNOW = "winnow"
    STOCHASTIC = "stochastic"
    KERNEL_SVM = "kernel-svm"
    KERNEL_PERCEPTRON = "kernel-perceptron"


def number_of(declaration: Declaration, *spellings: str) -> Any:
    """An option whose value is a number, or a word that the declaration knows beside."""
    return typer.Option(*spellings, metavar="NUMBER", help=declaration.option)


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
    if name != LINEAR_KERNEL.default and name not in LINEAR_KERNEL.names():
        numbered = {name: f"{number} or {name}" for number, name in LIBSVM_KERNELS.items()}
        known = ", ".join(numbered.get(name, name) for name in LINEAR_KERNEL.names())
        raise typer.BadParameter(f"{text!r} is no kernel; it can be {known}")
    return name


# Single arguments and options.

Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="A table: CSV, SVMlight (.gz too), Parquet, Arrow, .npy, .npz; several files, folders or patterns are "
        "one; - reads standard input.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option("--memory", metavar="SIZE", help="Work within this memory, such as 512MB: DATA is read by blocks."),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="With --memory: the Dask cluster that reads DATA, such as tcp://host:8786; local: one on this machine.",
    ),
]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A model that `maxmargin fit` wrote.")]
TableFormat = Annotated[Format, typer.Option(help="How the result is written; auto: by its name.")]
Positive = Annotated[str | None, typer.Option(metavar="LABEL", help="Ask about this label against all others only.")]
AsJson = Annotated[bool, typer.Option("--json", help="All of it, for machines.")]
Exact = Annotated[bool, typer.Option("--exact", help="Check the proof in rational arithmetic, too.")]
Scale = Annotated[
    Scaling, typer.Option(help="How columns are scaled first; auto: standard, or maxabs for a sparse file.")
]
Price = Annotated[float, number_of(PRICE, "--C", "-c")]
Loss = Annotated[str, choice_of(LOSS, metavar="NAME")]
HuberWidth = Annotated[float | None, number_of(HUBER_WIDTH, "--huber-width")]
NoBias = Annotated[bool, typer.Option("--no-bias", help=BIAS.option)]
Tolerance = Annotated[float | None, number_of(TOL, "--tol", "-e")]
MaxTime = Annotated[float | None, typer.Option(metavar="SECONDS", help=MAX_TIME.option)]
ClassWeight = Annotated[
    list[str] | None, typer.Option("--class-weight", "-w", metavar="LABEL=WEIGHT", help=CLASS_WEIGHT.option)
]


CsvFile = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Write all of it as CSV; - is stdout.")
]


def refuse_two_results(output: str | None, as_json: bool) -> None:
    """One sentence where two documents would be one after the other on standard output."""
    if output == "-" and as_json:
        raise UserError("-o - and --json both write to standard output: name a file, or leave one of them out")


def check_csv(output: str | None, as_json: bool) -> None:
    """One sentence before any work, where the name says that the file would be something else."""
    refuse_two_results(output, as_json)
    if output not in (None, "-") and not str(output).lower().endswith(".csv"):
        raise UserError(f"{output}: what is written is CSV: give it a name that ends in .csv, or - for standard output")


# Groups of them.


@dataclass(frozen=True)
class ReadingOptions:
    """How DATA is read: what its columns are for, and how the file is written."""

    label: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|INDEX",
            help="The column of labels: its name, or its index from 0 (-1 is the last). "
            "Without it: that of the model, or the one column called label, y, target or class.",
        ),
    ] = None
    weight: Annotated[
        str | None, typer.Option(metavar="NAME|INDEX", help="The column of weights: a row of weight k is k equal rows.")
    ] = None
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="NAME|INDEX", help="A column to pass over; repeat it for more.")
    ] = None
    id: Annotated[
        str | None, typer.Option("--id", metavar="NAME|INDEX", help="The column that names the rows; no feature.")
    ] = None
    categorical: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME|INDEX", help="A column of categories, also if they are numbers or many; repeat it."),
    ] = None
    text: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME|INDEX", help="A column of text, to be read word by word; repeat it for more."),
    ] = None
    impute: Annotated[
        bool, typer.Option("--impute", help="Fill in missing cells: the mean of numbers, the most frequent category.")
    ] = False
    n_features: Annotated[
        int | None,
        typer.Option(
            "--n-features", min=1, metavar="NUMBER", help="How many columns an SVMlight file has; it does not say."
        ),
    ] = None
    zero_based: Annotated[
        bool | None,
        typer.Option(
            "--zero-based/--one-based",
            help="How an SVMlight file counts its columns. Without it: as the model's own file did, or else from 0 "
            "where an index 0 occurs.",
            show_default=False,
        ),
    ] = None
    sql: Annotated[
        str | None,
        typer.Option("--sql", metavar="DATABASE", help="DATA is a query to this database: duckdb:FILE or sqlite:FILE."),
    ] = None
    no_header: Annotated[bool, typer.Option("--no-header", help="The first line is data.")] = False
    format: Annotated[Format, typer.Option(help="How the file is written.")] = Format.AUTO

    at_the_end: ClassVar[tuple[str, ...]] = ("no_header", "format")


@dataclass(frozen=True)
class FitOptions:
    """What is fitted, to columns scaled how, and with which parameters."""

    algorithm: Annotated[Algorithm, typer.Option(help="How the planes are found.")] = Algorithm.SVM
    C: Price = PRICE.default
    loss: Loss = LOSS.default
    huber_width: HuberWidth = None
    kernel: Annotated[
        str, typer.Option("--kernel", "-t", parser=kernel_named, metavar="NAME", help=LINEAR_KERNEL.option)
    ] = LINEAR_KERNEL.default
    gamma: Annotated[str, number_of(GAMMA, "--gamma", "-g")] = GAMMA.default
    degree: Annotated[int, number_of(DEGREE, "--degree", "-d")] = DEGREE.default
    coef0: Annotated[float, number_of(COEF0, "--coef0", "-r")] = COEF0.default
    scale: Scale = Scaling.AUTO
    class_weight: ClassWeight = None
    multi_class: Annotated[str | None, choice_of(MULTI_CLASS)] = None
    no_bias: NoBias = False
    tol: Tolerance = None
    step: Annotated[str, typer.Option("--step", metavar="LENGTH", help=STEP.option)] = STEP.default
    average: Annotated[bool, typer.Option("--average", help=AVERAGE.option)] = False
    max_time: MaxTime = None


class Spelt(NamedTuple):
    """How a command spells a group out: without some of its options, which keep their defaults; all in one place, or
    those `at_the_end` of the group only before --json, which is always the last."""

    without: tuple[str, ...] = ()
    in_one_place: bool = False


# A model knows its columns: which are categories, which are text, and whether cells are filled in.
ReadingForAModel = Annotated[ReadingOptions, Spelt(without=("categorical", "text", "impute"))]


def spelt_out(command: Callable[..., int]) -> Callable[..., int]:
    """The same command, each group of options spelt out in its signature, as Typer reads it."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, tuple[Any, list[str]]] = {}
    parameters: list[inspect.Parameter] = []
    last = ["as_json"]
    for parameter in inspect.signature(command).parameters.values():
        hint = hints[parameter.name]
        group, spelt = [*get_args(hint), Spelt()][:2] if get_args(hint) else (hint, Spelt())
        if isinstance(group, type) and is_dataclass(group):
            found = [one for one in parameters_of(group) if one.name not in spelt.without]
            groups[parameter.name] = group, [one.name for one in found]
            last = [*getattr(group, "at_the_end", ()), *last] if not spelt.in_one_place else last
            parameters += found
        else:
            parameters.append(parameter.replace(annotation=hint, kind=inspect.Parameter.KEYWORD_ONLY))
    parameters.sort(key=lambda one: last.index(one.name) if one.name in last else -1)

    @wraps(command)
    def with_groups(**given: Any) -> int:
        for name, (group, options) in groups.items():
            given[name] = group(**{option: given.pop(option) for option in options})
        return command(**given)

    with_groups.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_groups.__annotations__ = {one.name: one.annotation for one in parameters}
    return with_groups


@cache
def parameters_of(group: Any) -> tuple[inspect.Parameter, ...]:
    """The fields of a dataclass as parameters of a command."""
    hints, kind = get_type_hints(group, include_extras=True), inspect.Parameter.KEYWORD_ONLY
    return tuple(
        inspect.Parameter(field.name, kind, default=field.default, annotation=hints[field.name])
        for field in fields(group)
    )


def read_class_weight(given: list[str] | None, labels: list[Any]) -> Any:
    """None, "balanced", or a dict, from LABEL=WEIGHT."""
    if not given:
        return None
    if given == ["balanced"]:
        return "balanced"
    weights: dict[Any, float] = dict.fromkeys(labels, 1.0)
    known = {str(label): label for label in labels}
    for entry in given:
        label, _, weight = entry.rpartition("=")
        if label not in known:
            shown = ", ".join(known)
            raise UserError(f"--class-weight {entry!r} must be LABEL=WEIGHT, with one of {shown}; or balanced")
        try:
            weights[known[label]] = float(weight)
        except ValueError:
            raise UserError(f"--class-weight {entry!r}: {weight!r} is not a number") from None
    return weights


def kind_of(asked: FitOptions) -> Any:
    """The class of the estimator."""
    import maxmargin

    has_kernel = asked.kernel != LINEAR_KERNEL.default
    kinds: dict[Algorithm, Any] = {
        Algorithm.SVM: maxmargin.KernelSVM if has_kernel else maxmargin.LinearSVM,
        Algorithm.HARD_MARGIN: maxmargin.HardMarginSVM,
        Algorithm.PERCEPTRON: maxmargin.KernelPerceptron if has_kernel else maxmargin.Perceptron,
        Algorithm.MARGIN_PERCEPTRON: maxmargin.MarginPerceptron,
        Algorithm.WINNOW: maxmargin.Winnow,
        Algorithm.STOCHASTIC: maxmargin.StochasticSVM,
        Algorithm.KERNEL_SVM: maxmargin.KernelSVM,
        Algorithm.KERNEL_PERCEPTRON: maxmargin.KernelPerceptron,
    }
    return kinds[asked.algorithm]


def make_classifier(asked: FitOptions, labels: list[Any], settings: Sequence[str] | None) -> Any:
    """The estimator with those of the options that it has; what it does not have must not have been asked for."""
    from maxmargin.problems.kernels import KERNELS

    kind = kind_of(asked)
    given = {field.name: getattr(asked, field.name) for field in fields(asked)}
    given["gamma"], given["step"] = number("--gamma", asked.gamma, GAMMA), STEP.read(asked.step)
    given["class_weight"] = read_class_weight(asked.class_weight, labels)
    given["fit_intercept"] = not asked.no_bias
    options = {"fit_intercept": "no_bias"}
    usual = {field.name: field.default for field in fields(asked)} | {"fit_intercept": True}
    names = ("C", "loss", "huber_width", "kernel", "gamma", "degree", "coef0", "class_weight", "fit_intercept", "tol")
    for name in (*names, "multi_class", "step", "average"):
        if name not in kind.parameters and given[name] != usual[name]:
            option = options.get(name, name).replace("_", "-")
            raise UserError(f"--{option} has no meaning for {kind.__name__} (--algorithm {asked.algorithm.value})")
    if "kernel" in kind.parameters:
        for name in ("gamma", "degree", "coef0"):
            if name not in KERNELS[asked.kernel].parameters and given[name] != usual[name]:
                raise UserError(f"--{name} has no meaning for the {asked.kernel} kernel")
    chosen = {name: value for name, value in given.items() if name in kind.parameters and value is not None}
    return kind(**chosen | read_settings(settings, kind))


def number(option: str, text: str, declaration: Declaration) -> Any:
    """A number, or one of the words that the declaration knows beside."""
    value = declaration.read(text)
    if isinstance(value, str) and value not in declaration.also:
        raise UserError(f"{option} must be a number, {' or '.join(declaration.also)}, not {text!r}")
    return value if isinstance(value, str) else float(value)


def read_settings(pairs: Sequence[str] | None, kind: Any) -> dict[str, Any]:
    """`--set NAME=VALUE`: any parameter of an estimator, each read as it is declared.

    >>> from maxmargin import Perceptron
    >>> read_settings(["order=shuffled", "rate=0.5", "average=true"], Perceptron)
    {'order': 'shuffled', 'rate': 0.5, 'average': True}
    """
    known, found = sorted(kind.parameters), {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        if not equals:
            raise UserError(f"--set {pair}: write NAME=VALUE, for example --set {known[0]}=...")
        if name not in known:
            raise UserError(f"--set {pair}: {kind.__name__} has no parameter {name!r}; it has {', '.join(known)}")
        found[name] = kind.parameters[name].read(text)
    return found
