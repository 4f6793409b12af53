"""`maxmargin demo`: every algorithm on data whose answer is known, a proof of each kind, and a picture."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich import box
from rich.table import Table

import maxmargin
from maxmargin.certificates.words import rounded_down, rounded_gap, rounded_up, rounded_within
from maxmargin.cli.check import ask
from maxmargin.cli.checked import Proof, proof_for_machines, tell_proof
from maxmargin.cli.console import ExitCode, UserError, messages, say, say_json, show
from maxmargin.cli.options import ReadingOptions
from maxmargin.cli.tables import DataFile, read

if TYPE_CHECKING:
    from maxmargin import Verification

ROWS, WIDTH, ANGLE, SEED = 60, 1.0, 35.0, 10
NOISY_ROWS, PRICE, GAP = 400, 1.0, 1e-6
APART, AMONG_OTHERS = "aster", "crocus"  # species of the bundled flowers


class Run(NamedTuple):
    """One algorithm on made data: its fit, its proof checked, and the seconds without and with compiling."""

    name: str
    estimator: Any
    verification: Verification
    seconds: float
    first_seconds: float


def demo(
    output: Annotated[Path, typer.Option(metavar="PNG", help="Where the picture goes.")] = Path("maxmargin-demo.png"),
    as_json: Annotated[bool, typer.Option("--json", help="The results, for machines.")] = False,
) -> int:
    """Watch every algorithm at work, see a proof of each kind, and get a picture of the street."""
    from maxmargin import LinearSVM
    from maxmargin.data import bundled, synthetic

    if not output.parent.is_dir():
        raise UserError(f"the picture cannot go to {output}: there is no folder {output.parent}")
    made = synthetic.street(ROWS, WIDTH, ANGLE, SEED)
    runs = [run(name, estimator, *made[:2]) for name, estimator in algorithms().items()]
    noisy = synthetic.overlapping(NOISY_ROWS)
    soft = run("LinearSVM", LinearSVM(PRICE, tol=GAP), *noisy)
    compiling = sum(run.first_seconds - run.seconds for run in [*runs, soft])
    if compiling > 1.0:
        messages.print(f"Compiled in {compiling:.1f} s. The loops are kept on disk: the next run starts at once.\n")
    flowers = read(str(bundled.path_of("flowers.csv")), ReadingOptions(label="species"))
    flowers = flowers._replace(name="flowers.csv")
    separable, not_separable = prove(flowers, APART), prove(flowers, AMONG_OTHERS)
    if not as_json:
        print_answer(runs, made[2].margin, flowers, separable, not_separable)
        tell_soft(soft, *noisy)
    picture = draw(output, runs, made)
    if as_json:
        answer = summary(runs, made[2].margin, flowers, separable, not_separable, picture)
        say_json({**answer, "soft_margin": soft_summary(soft)})
    elif picture is not None:
        say(f"The picture of the street: {picture}")
    verifications = [proof.verification for proof in (separable, not_separable)]
    verified = all([run.verification for run in (*runs, soft)] + verifications)
    return ExitCode.FINE if verified else ExitCode.UNPROVEN


def algorithms() -> dict[str, Any]:
    from maxmargin import HardMarginSVM, MarginPerceptron, Perceptron, Winnow

    return {
        "Perceptron": Perceptron(),
        "MarginPerceptron": MarginPerceptron(),
        "Winnow": Winnow(),
        "HardMarginSVM, l2": HardMarginSVM("l2"),
        "HardMarginSVM, l1": HardMarginSVM("l1"),
    }


def run(name: str, estimator: Any, X: Any, y: Any) -> Run:
    """Fit twice: the first time may compile, the second one shows the algorithm."""
    with messages.status(f"{name}: the first time, its loops are compiled"):
        begun = time.perf_counter()
        estimator.fit(X, y)
        compiled = time.perf_counter()
        estimator.fit(X, y)
        ended = time.perf_counter()
    verification = estimator.certificate_.verify(X, y, exact=True)
    return Run(name, estimator, verification, ended - compiled, compiled - begun)


def prove(data: DataFile, label: str) -> Proof:
    certificate: Any = ask(data, "l2", True, label, None)
    return Proof(certificate, certificate.verify(data.X, data.y, exact=True))


def draw(output: Path, runs: list[Run], made: Any) -> Path | None:
    """The street of the l2 margin; None, and a line on how to get Matplotlib, where it is missing."""
    from maxmargin.persistence.container import replaced
    from maxmargin.plots.street import StreetDisplay
    from maxmargin.plots.style import PIP_LINE, SQUARE

    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        messages.print(PIP_LINE)
        return None
    X, y, _ = made
    widest = next(run.estimator for run in runs if run.name == "HardMarginSVM, l2")
    figure = Figure(figsize=SQUARE, dpi=150, layout="constrained")
    StreetDisplay.from_estimator(widest, X, y, ax=figure.subplots())
    try:
        with replaced(output) as path:
            figure.savefig(path, bbox_inches="tight")
    except (OSError, ValueError) as error:
        raise UserError(f"the picture cannot go to {output}: {getattr(error, 'strerror', None) or error}") from None
    return output.resolve()


def print_answer(runs: list[Run], margin: float, flowers: DataFile, separable: Proof, not_separable: Proof) -> None:
    """The whole demo, for a person."""
    say(f"maxmargin {maxmargin.__version__}: large-margin classification that proves its answers\n", style="bold")
    say(f"1. Five algorithms on {ROWS} made points, whose best l2 margin is known: {margin:g}", "bold")
    show(table_of(runs))
    say("The theorems, beside what happened:")
    for run in runs:
        for theorem in run.estimator.certificate_.theorems:
            relation = "of at most" if theorem.at_most else "against at least"
            name = type(run.estimator).__name__
            say(f"  {name:<17}{theorem.name}: {theorem.measured:.4g} {relation} {theorem.bound:.4g}")
    refused = [run for run in runs if not run.verification]
    for run in refused:
        say(f"{run.name}: {run.verification}")
    if not refused:
        say("All five proofs were verified in exact rational arithmetic.")
    say(f"\n2. Separable, with proof: {APART!r} against the other flowers", "bold")
    tell_proof(flowers, separable)
    say(f"\n3. Not separable, with proof: {AMONG_OTHERS!r} against the other flowers", "bold")
    tell_proof(flowers, not_separable)


def tell_soft(soft: Run, X: Any, y: Any) -> None:
    """The soft margin where no plane separates: what it found, and how far it can be from the best."""
    from maxmargin.certificates.words import between

    certificate, (inside, mistakes) = soft.estimator.certificate_, soft.estimator.violations(X, y)
    say(f"\n4. A soft margin, with proof: LinearSVM on {NOISY_ROWS} noisy points, which no plane separates", "bold")
    say(f"  street {soft.estimator.street_:.4g}, {len(inside)} rows inside it, {len(mistakes)} on the wrong side")
    say(
        f"  least objective: {between(certificate.dual, certificate.primal, 9)}, relative gap "
        f"{rounded_gap(certificate.relative_gap)} of {certificate.tol:.1e}, in {1000.0 * soft.seconds:.1f} ms"
    )
    say(f"  {soft.verification}\n")


def soft_summary(soft: Run) -> dict[str, Any]:
    certificate = soft.estimator.certificate_
    return {
        "certificate": json.loads(certificate.to_json()),
        "relative_gap": certificate.relative_gap,
        "seconds": soft.seconds,
        "seconds_with_compiling": soft.first_seconds,
        "verified_exactly": soft.verification.holds,
    }


def table_of(runs: list[Run]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("algorithm", no_wrap=True)
    for heading in ("margin", "best margin, proven", "updates", "at most", "ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for run in runs:
        certificate = run.estimator.certificate_
        promised = next((theorem.bound for theorem in certificate.theorems if theorem.at_most), None)
        lower, upper = rounded_down(certificate.margin_lower, 5), rounded_up(certificate.margin_upper, 5)
        table.add_row(
            f"{type(run.estimator).__name__}, {certificate.norm}",
            rounded_within(run.estimator.margin_, float(lower), float(upper), 5),  # the bounds as they stand beside it
            f"{lower} to {upper}",
            f"{run.estimator.n_updates_:,}",
            "" if promised is None else f"{promised:,.0f}",
            f"{1000.0 * run.seconds:.1f}",
        )
    return table


def summary(
    runs: list[Run],
    margin: float,
    flowers: DataFile,
    separable: Proof,
    not_separable: Proof,
    picture: Path | None,
) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "maxmargin": maxmargin.__version__,
        "known_margin": margin,
        "algorithms": [
            {
                "name": run.name,
                "norm": run.estimator.certificate_.norm,
                "margin": run.estimator.margin_,
                "margin_lower": run.estimator.certificate_.margin_lower,
                "margin_upper": run.estimator.certificate_.margin_upper,
                "updates": run.estimator.n_updates_,
                "theorems": [dataclasses.asdict(theorem) for theorem in run.estimator.certificate_.theorems],
                "seconds": run.seconds,
                "seconds_with_compiling": run.first_seconds,
                "verified_exactly": run.verification.holds,
            }
            for run in runs
        ],
        "separable": proof_for_machines(flowers, separable),
        "not_separable": proof_for_machines(flowers, not_separable),
        "picture": None if picture is None else str(picture),
    }
