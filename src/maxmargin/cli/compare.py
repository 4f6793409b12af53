"""`maxmargin compare DATA`: every algorithm of the library on a file, each with its proof."""

from __future__ import annotations

from typing import Any, NamedTuple

from rich import box
from rich.table import Table

from maxmargin.cli.certified import certificate_for_machines, exit_code
from maxmargin.cli.console import (
    WORTH_TELLING,
    ExitCode,
    Stopwatch,
    TimeLimit,
    check_time,
    gap_shown,
    in_a_sentence,
    messages,
    say,
    say_json,
    show,
)
from maxmargin.cli.options import AsJson, Data, MaxTime, Price, ReadingOptions, Scale, Scaling
from maxmargin.cli.preparation import preparation_of, prepare
from maxmargin.cli.tables import DataFile, count_labels, describe, headline, read, refuse_a_measure
from maxmargin.estimators.declarations import PRICE

ENOUGH = 30.0  # seconds for each algorithm, where no limit is given
FOR_THE_FIT, FOR_A_KERNEL_FIT = 0.9, 0.5  # of them; the rest is for the proof, which of a kernel takes as long again
BLOCK = 10_000  # rows between two looks at the clock


class Run(NamedTuple):
    """One algorithm: what it proved, whether that holds, its share of right labels, and the seconds it took.

    Those of compiling stand apart.
    """

    name: str
    certificate: Any
    verification: Any
    accuracy: float | None
    seconds: float
    compiling: float


def compare(
    data: Data,
    reading: ReadingOptions,
    C: Price = PRICE.default,
    scale: Scale = Scaling.AUTO,
    max_time: MaxTime = ENOUGH,
    as_json: AsJson = False,
) -> int:
    """Run every algorithm on a file and show what each one proves; --max-time is for each of them.

    With --weight, those that know weights.

    Exit codes: 0 every proof holds, 2 one does not, 1 an error.
    """
    check_time(max_time)
    table = read(data, reading)
    refuse_a_measure(table, [label for label, _ in count_labels(table)])
    with in_a_sentence(table.name):
        X = prepare(table, preparation_of(table, scale, reading.impute))
        runs = [run(name, estimator, X, table, max_time) for name, estimator in contestants(C, table).items()]
    if as_json:
        say_json({**describe(table), "algorithms": [for_machines(one) for one in runs]})
    else:
        say(headline(table))
        show(table_of(runs))
        say("Training accuracy; the gap is relative, of the margin or of the objective, and every proof was checked.")
        if (compiling := sum(one.compiling for one in runs)) >= WORTH_TELLING:
            say(f"The loops were compiled once in {compiling:.3g} s, which the seconds leave out.")
        if any(one.accuracy is None and one.name.startswith("kernel") for one in runs):
            say("Where no accuracy is told, the time was over before every row was asked for its label.")
    return int(ExitCode.FINE if all(one.verification for one in runs) else ExitCode.UNPROVEN)


def contestants(C: float, table: DataFile) -> dict[str, Any]:
    """The algorithms by the names that the table shows; where rows have weights, those that know them."""
    from sklearn.utils.validation import has_fit_parameter

    import maxmargin

    algorithms = {
        "perceptron": maxmargin.Perceptron(),
        "margin perceptron": maxmargin.MarginPerceptron(),
        "Winnow": maxmargin.Winnow(),
        "hard margin": maxmargin.HardMarginSVM(),
        "hard margin, l1": maxmargin.HardMarginSVM("l1"),
        f"SVM, C={C:g}": maxmargin.LinearSVM(C),
        f"SVM, squared hinge, C={C:g}": maxmargin.LinearSVM(C, loss="squared_hinge"),
        f"stochastic subgradient, C={C:g}": maxmargin.StochasticSVM(C, average=True),
        f"kernel SVM, rbf, C={C:g}": maxmargin.KernelSVM(C),
        f"kernel SVM, cubic, C={C:g}": maxmargin.KernelSVM(C, kernel="poly", coef0=1.0),
    }
    if table.weights is None:
        return algorithms
    return {name: one for name, one in algorithms.items() if has_fit_parameter(one, "sample_weight")}


def run(name: str, estimator: Any, X: Any, table: DataFile, max_time: float | None) -> Run:
    """One algorithm, judged, within its time; what it finds is judged once more, and that is part of it."""
    from maxmargin.estimators.no_plane import NoPlaneError

    weights = {} if table.weights is None else {"sample_weight": table.weights}
    limit, watch = TimeLimit(max_time), Stopwatch()
    share = FOR_A_KERNEL_FIT if has_kernel(estimator) else FOR_THE_FIT
    estimator.set_params(max_time=limit.left(share))
    with gap_shown(name, getattr(estimator, "tol", None), {"max_time": "--max-time"}):
        try:
            certificate = estimator.fit(X, table.y, **weights).certificate_
        except NoPlaneError as error:
            certificate = error.certificate
        times = watch.seconds, watch.compiling
    with messages.status("Checking the proof"):
        verification = certificate.verify(X, table.y, **weights)
        accuracy = share_right(estimator, X, table, limit) if hasattr(estimator, "classes_") else None
    return Run(name, certificate, verification, accuracy, *times)


def has_kernel(estimator: Any) -> bool:
    return getattr(estimator, "kernel", None) not in (None, "linear")


def share_right(estimator: Any, X: Any, table: DataFile, limit: TimeLimit) -> float | None:
    """The share of rows, by weight, that get their own label; None where a kernel has no time to ask them all."""
    import numpy as np

    if not has_kernel(estimator):  # one pass
        return float(estimator.score(X, table.y, table.weights))
    right = np.zeros(len(table.y))
    for start in range(0, len(table.y), BLOCK):
        if limit.is_over:
            return None
        rows = slice(start, start + BLOCK)
        right[rows] = estimator.predict(X[rows]) == table.y[rows]
    return float(np.average(right, weights=table.weights))


def table_of(runs: list[Run]) -> Table:
    """A line for each algorithm."""
    table = Table(header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("algorithm", "verdict"):
        table.add_column(heading, no_wrap=True)
    for heading in ("gap", "accuracy", "rows with weight", "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in runs:
        parts = one.certificate.parts
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
        "seconds_compiling": one.compiling,
        "exit_code": int(exit_code(one.certificate, one.verification)),
        **proof,
    }
