"""`maxmargin compare DATA`: every algorithm of the library on a file, each with its proof."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from rich import box
from rich.table import Table

from maxmargin.cli import datafile
from maxmargin.cli.certified import certificate_for_machines, exit_code, parts_of
from maxmargin.cli.console import ExitCode, messages, say, say_json, show
from maxmargin.cli.datafile import DataFile, Format, describe
from maxmargin.cli.model import in_a_sentence, make_scaler
from maxmargin.cli.options import (
    AsJson,
    Data,
    FileFormat,
    Ignore,
    Label,
    MaxTime,
    NoHeader,
    Price,
    Scale,
    Scaling,
    check_time,
)
from maxmargin.cli.progress import gap_shown

ENOUGH = 30.0  # seconds for each algorithm, where no limit is given


class Run(NamedTuple):
    """One algorithm: what it proved, whether that holds, its share of right labels, and the seconds it took."""

    name: str
    certificate: Any
    verification: Any
    accuracy: float | None
    seconds: float


def compare(
    data: Data,
    label: Label = None,
    ignore: Ignore = None,
    C: Price = 1.0,
    scale: Scale = Scaling.AUTO,
    max_time: MaxTime = ENOUGH,
    no_header: NoHeader = False,
    format: FileFormat = Format.AUTO,
    as_json: AsJson = False,
) -> int:
    """Run every algorithm on a file and show what each one proves; --max-time is for each of them.

    Exit codes: 0 every proof holds, 2 one does not, 1 an error.
    """
    check_time(max_time)
    with messages.status(f"Reading {data}"):
        table = datafile.read(data, format, label, not no_header, ignore=ignore)
    scaler = make_scaler(scale, table.X)
    with in_a_sentence(table.name):
        X = table.X if scaler is None else scaler.fit_transform(table.X)
        runs = [run(name, estimator, X, table) for name, estimator in contestants(C, max_time).items()]
    if as_json:
        say_json({**describe(table), "algorithms": [for_machines(one) for one in runs]})
    else:
        say(datafile.headline(table))
        show(table_of(runs))
        say("Training accuracy; the gap is relative, of the margin or of the objective, and every proof was checked.")
    return int(ExitCode.FINE if all(one.verification for one in runs) else ExitCode.UNPROVEN)


def contestants(C: float, max_time: float | None) -> dict[str, Any]:
    """The algorithms by the names that the table shows."""
    import maxmargin

    limit: dict[str, Any] = {"max_time": max_time}
    return {
        "perceptron": maxmargin.Perceptron(**limit),
        "margin perceptron": maxmargin.MarginPerceptron(**limit),
        "Winnow": maxmargin.Winnow(**limit),
        "hard margin": maxmargin.HardMarginSVM(**limit),
        "hard margin, l1": maxmargin.HardMarginSVM("l1", **limit),
        f"SVM, C={C:g}": maxmargin.LinearSVM(C, **limit),
        f"SVM, squared hinge, C={C:g}": maxmargin.LinearSVM(C, loss="squared_hinge", **limit),
        f"stochastic subgradient, C={C:g}": maxmargin.StochasticSVM(C, average=True, **limit),
        f"kernel SVM, rbf, C={C:g}": maxmargin.KernelSVM(C, **limit),
        f"kernel SVM, cubic, C={C:g}": maxmargin.KernelSVM(C, kernel="poly", coef0=1.0, **limit),
    }


def run(name: str, estimator: Any, X: Any, table: DataFile) -> Run:
    """One algorithm, judged."""
    from maxmargin import NotSeparableError

    begun = time.perf_counter()
    with gap_shown(name, getattr(estimator, "tol", None)):
        try:
            certificate = estimator.fit(X, table.y).certificate_
        except NotSeparableError as error:
            certificate = error.certificate
        seconds = time.perf_counter() - begun
    with messages.status("Checking the proof"):
        accuracy = float(estimator.score(X, table.y)) if hasattr(estimator, "classes_") else None
        return Run(name, certificate, certificate.verify(X, table.y), accuracy, seconds)


def table_of(runs: list[Run]) -> Table:
    """A line for each algorithm."""
    table = Table(header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("algorithm", "verdict"):
        table.add_column(heading, no_wrap=True)
    for heading in ("gap", "accuracy", "rows with weight", "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in runs:
        parts = parts_of(one.certificate)
        verdicts = sorted({part.verdict.name.lower().replace("_", " ") for part in parts})
        shown = " / ".join(verdicts) if one.verification else "PROOF REFUSED"
        gap, weighty = one.certificate.relative_gap, sum(part.n_support for part in parts)
        table.add_row(
            one.name,
            shown,
            f"{gap:.1e}" if gap == gap else "-",
            "-" if one.accuracy is None else f"{one.accuracy:.2%}",
            f"{weighty:,}",
            f"{one.seconds:.3g}",
        )
    return table


def for_machines(one: Run) -> dict[str, Any]:
    proof = certificate_for_machines(one.certificate, one.verification)
    return {
        "algorithm": one.name,
        "accuracy": one.accuracy,
        "seconds": one.seconds,
        "exit_code": int(exit_code(one.certificate, one.verification)),
        **proof,
    }
