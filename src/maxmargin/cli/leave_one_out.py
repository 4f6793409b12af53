"""`maxmargin leave-one-out DATA`: how often the best plane of all other rows errs on a row, proven."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maxmargin.cli.certified import exit_code
from maxmargin.cli.checked import Proof, find, proof_for_machines, tell_proof
from maxmargin.cli.console import (
    ExitCode,
    TimeLimit,
    UserError,
    check_time,
    in_a_sentence,
    messages,
    refuse_to_write_over,
    say,
    say_json,
    write_csv,
)
from maxmargin.cli.options import (
    AsJson,
    ClassWeight,
    CsvFile,
    Data,
    HuberWidth,
    Loss,
    MaxTime,
    NoBias,
    Positive,
    Price,
    ReadingOptions,
    Scale,
    Scaling,
    check_csv,
    read_class_weight,
)
from maxmargin.cli.preparation import encoded
from maxmargin.cli.tables import DataFile, describe, headline, read, refuse_a_measure
from maxmargin.estimators.declarations import LOSS, PRICE

if TYPE_CHECKING:
    from maxmargin import LeaveOneOut

SHOWN = 12  # rows on one screen


def leave_one_out(
    *,
    data: Data,
    reading: ReadingOptions,
    C: Price = PRICE.default,
    loss: Loss = LOSS.default,
    huber_width: HuberWidth = None,
    positive: Positive = None,
    scale: Scale = Scaling.AUTO,
    class_weight: ClassWeight = None,
    no_bias: NoBias = False,
    one_fit: Annotated[
        bool, typer.Option("--one-fit", help="Only the bounds that follow from the fit of all rows.")
    ] = False,
    folds: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", help="Of the cross-validated error: 2 or more; 0: none.")
    ] = 5,
    max_time: MaxTime = None,
    output: CsvFile = None,
    as_json: AsJson = False,
) -> int:
    """Tell the leave-one-out error between two labels: exactly, or between two proven bounds.

    Each row is asked whether the best plane of all others has it on its side; most answers follow from one fit. The
    columns are scaled once, by all rows. -o lists the rows that are wrong or undecided.

    Exit codes: 0 every row is decided, 2 some are not, 3 proven not separable (C = inf), 1 an error.
    """
    import numpy as np

    from maxmargin import leave_one_out as proven
    from maxmargin.estimators.no_plane import NoPlaneError

    check_time(max_time)
    check_csv(output, as_json)
    if folds == 1:
        raise UserError("--folds 1 leaves no row to fit to: give 2 or more, or 0 for no cross-validated error")
    refuse_to_write_over(output, data, sql=reading.sql)
    table = read(data, reading)
    limit, y, labels = TimeLimit(max_time), table.y, np.unique(table.y)
    if positive is None:
        refuse_a_measure(table, labels.tolist())
    else:
        y = (y == find(positive, labels.tolist(), table)).astype(int)
    with in_a_sentence(table.name):
        asked = encoded(table, scale, reading.impute)._replace(y=y)
        estimator = estimator_of(C, loss, huber_width, class_weight, no_bias, np.unique(y).tolist())
        try:
            with messages.status("Leaving rows out, one by one"):
                answer = proven(
                    estimator, asked.X, y, table.weights, refit=not one_fit, cv=folds or None, max_time=limit.left()
                )
        except NoPlaneError as error:
            return tell_no_plane(asked, error, as_json)
    found = rows_of(answer, table)
    if output is not None:
        where = ("file", "line") if table.parts else ("line",)
        write_csv(output, ("row", *where, "label", "answer"), (list(row.values()) for row in found))
    code = ExitCode.FINE if answer.is_exact else ExitCode.UNPROVEN
    if as_json:
        told = {**describe(table), "scale": scale.value, "exit_code": int(code)}
        say_json({**told, **for_machines(answer), "rows": found})
    elif output != "-":
        say(headline(table))
        say(answer.report())
        for row in found[:SHOWN]:
            say(f"  line {table.place_told(row['row'])}, {row['label']!r}: {row['answer']}")
        if len(found) > SHOWN:
            say(f"  and {len(found) - SHOWN:,} more: -o FILE.csv writes all of them")
        if output is not None:
            say(f"Written to {output}")
    return int(code)


def estimator_of(
    C: float, loss: str, huber_width: float | None, class_weight: list[str] | None, no_bias: bool, labels: list[Any]
) -> Any:
    """The soft margin, or of C = inf the hard one."""
    from maxmargin import HardMarginSVM, LinearSVM

    if math.isinf(C) and not class_weight:
        return HardMarginSVM(fit_intercept=not no_bias)
    weights = read_class_weight(class_weight, labels)
    return LinearSVM(C=C, loss=loss, huber_width=huber_width, class_weight=weights, fit_intercept=not no_bias)


def rows_of(answer: LeaveOneOut, table: DataFile) -> list[dict[str, Any]]:
    """The rows that are not right, in the order of the file."""
    said = {int(row): "wrong" for row in answer.wrong} | {int(row): "undecided" for row in answer.undecided}
    return [
        {"row": row, **table.place_of(row), "label": table.y[row].item(), "answer": said[row]} for row in sorted(said)
    ]


def for_machines(answer: LeaveOneOut) -> dict[str, Any]:
    return {
        "error_lower": answer.error_lower,
        "error_upper": answer.error_upper,
        "rows_that_count": answer.n_rows,
        "wrong": len(answer.wrong),
        "undecided": len(answer.undecided),
        "support": answer.n_support,
        "known_by_one_fit": answer.n_known,
        "refits": answer.n_refits,
        "cross_validated": answer.cross_validated,
    }


def tell_no_plane(asked: DataFile, error: Any, as_json: bool) -> int:
    """A hard margin that does not exist, with its proof."""
    proof = Proof(error.certificate, error.certificate.verify(asked.X, asked.y, sample_weight=asked.weights))
    code = exit_code(proof.certificate, proof.verification)
    if as_json:
        told = {**describe(asked), "error": str(error).splitlines()[0], "exit_code": int(code)}
        say_json({**told, **proof_for_machines(asked, proof)})
    else:
        say(headline(asked))
        tell_proof(asked, proof)
    return int(code)
