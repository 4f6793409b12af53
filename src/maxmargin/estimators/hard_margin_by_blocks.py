"""The hard margin of rows that are read by blocks within a memory budget: a fit of `HardMarginSVM`.

    survey     one pass: every number is finite, the classes, how many rows each has
    passes     a sample, then a scan of all rows for each street; all problems of many classes in the same ones
    result     the same attributes as of rows in memory: few rows carry weight, and these are at hand

Where no plane separates and one is wanted all the same, it is the plane half way between the means of the classes, in
two more passes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.block_planes import RawRows, once
from maxmargin.certificates.certificate import Certificate, FurtherLook
from maxmargin.data.labelled import LabelledTable, surveyed, with_labels
from maxmargin.data.table import Matrix
from maxmargin.estimators.by_blocks import (
    BY_BLOCKS,
    OF_A_FIT_IN_MEMORY,
    columns_of,
    memory_for,
    pairs_of,
    tell_end,
)
from maxmargin.estimators.no_plane import no_plane
from maxmargin.problems.block_margin import BlockMargin, Facts
from maxmargin.problems.choices import Norm, Strategy
from maxmargin.problems.losses import HINGE
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import TwoClasses
from maxmargin.run.control import Clock, Status
from maxmargin.solve.answer import Answer
from maxmargin.solve.by_blocks import Leader, side_by_side
from maxmargin.solve.separation_by_blocks import Separating, with_plane_between_means
from maxmargin.solvers.by_passes.budget import divided
from maxmargin.solvers.by_passes.widest_street import floor


def fit(
    svm: Any, X: Any, y: Any, sample_weight: Any, store: Callable[..., None], *, returns: bool, looks_further: bool
) -> None:
    """Have the fitted attributes of a HardMarginSVM stored, all at once. `returns`: a plane where none separates."""
    refuse_what_needs_rows(svm)
    clock = Clock(svm.max_time, svm.verbose)
    with clock.hears_ctrl_c():
        table = surveyed(with_labels(X, y, sample_weight))
        strategy, surveyed_in = Strategy(svm.multi_class), clock.elapsed
        prices, bias = np.ones(len(table.classes)), bool(svm.fit_intercept)
        problems = [BlockMargin(*pair, prices, HINGE, bias) for pair in pairs_of(len(prices), strategy)]
        facts = [Facts.of(table, problem) for problem in problems]
        share = divided(memory_for(svm, X), facts[0], [floor(own) for own in facts])
        both = zip(problems, facts, strict=True)
        standings = [Separating(table, problem, own, svm.tol, share.bytes_each) for problem, own in both]
        leader = Leader(table, standings, clock, svm.tol, surveyed_in)
        leader.lead([standing.led() for standing in standings], share.at_once)
        stopped = [Status[standing.status] in (Status.TIME, Status.INTERRUPTED) for standing in standings]
        if returns and not any(stopped):
            shown = [standing for standing in standings if standing.certificate().is_separable is False]
            side_by_side(table, [one.problem for one in shown], [with_plane_between_means(one) for one in shown])
        certificates = [one.certificate(stopped=late) for one, late in zip(standings, stopped, strict=True)]
        for certificate, late in zip(certificates, stopped, strict=True):
            if not (returns or certificate.is_separable or late):
                raise no_plane(certificate)
        if looks_further:
            certificates = [without_a_further_look(certificate) for certificate in certificates]
        answers = [answer_of(*both) for both in zip(standings, certificates, strict=True)]
        for old in OF_A_FIT_IN_MEMORY:
            vars(svm).pop(old, None)
        vars(svm).update(columns_of(table))
        store(NamedRows.of(table, standings), table.classes, strategy, answers)
    tell_end(svm, clock, [answer.status for answer in answers])


def refuse_what_needs_rows(svm: Any) -> None:
    if Norm(svm.norm) is not Norm.L2:
        raise ValueError(f'norm="{svm.norm}" is a linear program of all rows, and {BY_BLOCKS}: give norm="l2"')
    if svm.normalize_rows:
        raise ValueError(f"normalize_rows=True has the rows in memory, and {BY_BLOCKS}: scale the rows before")
    if svm.solver not in ("auto", "hulls"):
        raise ValueError(f'solver="{svm.solver}" has the rows in memory, and {BY_BLOCKS}: give solver="auto"')


def without_a_further_look(certificate: Certificate) -> Certificate:
    """Where no plane separates: nobody looked for one that separates weakly."""
    if certificate.is_separable is not False:
        return certificate
    return dataclasses.replace(certificate, further_look=FurtherLook.TOO_LARGE)


def answer_of(standing: Separating, certificate: Certificate) -> Answer:
    """The certificate beside the rows that carry its weights."""
    table, rows = standing.table, rows_of(standing)
    two = TwoClasses(
        rows.X, rows.signs, None, table.rows_of(rows.ids), certificate.positive, certificate.negative, None
    )  # fmt: skip
    iterate = Iterate(certificate.w, certificate.b, np.zeros(0), updates=standing.passes, sweeps=standing.passes)
    return Answer(two, iterate, certificate, Status[standing.status])


def rows_of(standing: Separating) -> RawRows:
    return once(standing.rows_at_hand)


class NamedRows(NamedTuple):
    """The rows that carry weight in any problem, by their numbers in the table."""

    numbers: NDArray[np.intp]
    X: Matrix

    @classmethod
    def of(cls, table: LabelledTable, standings: list[Separating]) -> NamedRows:
        rows = standings[0].rows_at_hand
        for standing in standings[1:]:
            rows = rows.and_of(standing.rows_at_hand)
        rows = once(rows)
        return cls(table.rows_of(rows.ids), rows.X)

    def __getitem__(self, rows: Any) -> Matrix:
        return self.X[np.searchsorted(self.numbers, rows)]
