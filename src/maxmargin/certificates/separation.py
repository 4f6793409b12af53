"""The evaluator of certificates of separation: planes and hulls in the space of the columns.

margin_lower     <= the margin of the plane
margin_upper     >= the distance of the hull points; 0 only with an exact witness
verdict          a witness is exact, and a weakly separating plane has no row on its wrong side, exactly
KKT              in canonical scale: the nearest row has y (w.x + b) = 1
theorems         what mistake-driven learners are promised

Where labels stay with the blocks of a table, no vector has its length: one pass sees the plane on all rows and brings
those that the certificate names and the nearest ones; all else is decided on these, by the same code.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.certificates import exact
from maxmargin.certificates.block_planes import Asked, FirstBelow, Nearest, code_of, no_margin, once, seen_plane
from maxmargin.certificates.enclosed_witness import common_point
from maxmargin.certificates.form import almost, figures_refused, malformed, row_refused
from maxmargin.certificates.measure import (
    Claim,
    HullDistance,
    PlaneMargin,
    conditions,
    hull_distance,
    measured_plane,
    rounding_of,
    rounding_of_hulls,
    scaled_plane,
    slackness,
    weakly_separated,
)
from maxmargin.certificates.proof import FurtherLook, Verdict
from maxmargin.certificates.theorem_verification import separation_theorems_refused
from maxmargin.certificates.verify import Bound, Data, Evaluator, refusals_of, register
from maxmargin.data.executor import pass_over
from maxmargin.data.labelled import LabelledTable, surveyed, with_labels
from maxmargin.data.table import is_column, is_source, is_sparse, matrix_of
from maxmargin.problems.block_margin import BlockMargin, ListedRows
from maxmargin.problems.losses import HINGE

WITNESSED = (Verdict.NOT_SEPARABLE, Verdict.WEAKLY_SEPARABLE)


@register("separation")
class SeparationEvaluator(Evaluator):
    """The plane is measured on all rows, the hull points on those that carry weight.

    Theorems need all rows in memory; certificates that have some are those of mistake-driven learners.
    """

    by_blocks = True

    @classmethod
    def refusals(cls, c: Any, X: Any, y: Any, sample_weight: Any, kernel: Any, exact: bool) -> tuple[str, ...]:
        """Where labels stay with the blocks of a table, nothing has its length."""
        if not (is_source(X) and (isinstance(y, str) or is_column(y))):
            return super().refusals(c, X, y, sample_weight, kernel, exact)
        return tuple(refused_by_blocks(c, surveyed(with_labels(X, y, sample_weight)), exact))

    @cached_property
    def plane(self) -> PlaneMargin:
        return measured_plane(self.data.X, self.data.signs, self.c.w, self.c.b, self.c.norm)

    @cached_property
    def hulls(self) -> HullDistance:
        rows, signs = self.data.X[self.places], self.data.signs[self.places]
        return hull_distance(rows, signs, self.c.weights, self.c.norm, self.c.fit_intercept)

    def bounds(self) -> Iterator[Bound]:
        yield self.lower_bound()
        if self.c.verdict not in WITNESSED:
            yield self.upper_bound()

    def lower_bound(self) -> Bound:
        c, data, plane = self.c, self.data, self.plane
        claimed = c.margin_lower
        beyond = plane.value + 4.0 * (plane.value - plane.lower) if math.isfinite(plane.lower) else math.inf

        def exactly() -> object:
            if claimed == -math.inf or len(data.kept) == 0 or not c.w.any() or not claimed <= beyond:
                return claimed == -math.inf
            b = c.b if c.fit_intercept else None
            return exact.exact_margin_at_least(data.X, data.signs, c.w, b, claimed, c.norm)

        where = f" (row {data.kept[plane.row]})" if plane.row >= 0 else ""
        words = f"the plane's margin is {plane.value:.12g}{where}, not {claimed:.12g}"
        return Bound(claimed, plane.lower, beyond, words, exactly, is_lower=True)

    def upper_bound(self) -> Bound:
        """That no margin is positive is never believed without a witness."""
        c, hulls, claimed = self.c, self.hulls, self.c.margin_upper
        if not claimed > 0.0:
            words = "only a witness that the hulls meet makes the upper bound 0"
            return Bound(claimed, math.inf, math.inf, words, bool, is_lower=False)
        beyond = hulls.value - 4.0 * (hulls.upper - hulls.value) if math.isfinite(hulls.upper) else -math.inf

        def exactly() -> object:
            if claimed == math.inf or claimed < beyond:
                return claimed == math.inf
            rows, signs = self.data.X[self.places], self.data.signs[self.places]
            return exact.exact_upper_bound_holds(rows, signs, c.weights, claimed, c.fit_intercept, c.norm)

        words = f"the weighted rows prove an upper bound of {hulls.value:.12g}, not {claimed:.12g}"
        return Bound(claimed, hulls.upper, beyond, words, exactly, is_lower=False)

    def verdict(self) -> Iterator[str]:
        """A witness is proven, never believed to rounding only: in integers, or by bounds where its rows are many."""
        c, (X, signs, *_), rows = self.c, self.data, self.places
        if c.verdict in WITNESSED:
            if c.margin_upper != 0.0:
                yield "a witness that the hulls meet makes the upper bound 0"
            in_integers = self.exact_arithmetic
            meeting = common_point(X[rows], signs[rows], c.weights, c.fit_intercept, in_integers=in_integers)
            if meeting.weights is None:
                yield f"the witness does not hold: {meeting.reason.rstrip('.')}"
            elif not self.hulls.value <= 4.0 * rounding_of_hulls(self.hulls):
                yield f"the witness rows prove it, but their weights leave the hull points {self.hulls.value:.3g} apart"
        off = None
        if c.verdict is Verdict.WEAKLY_SEPARABLE:
            off = weakly_separated(X, signs, self.plane, Claim(c.w, c.b, rows, c.weights), c.fit_intercept)
        if off == 0:
            yield "the plane has rows on its wrong side, or all rows on itself"
        elif c.rows_off_plane is not None and c.rows_off_plane != off:
            yield f"{off or 'no'} rows are counted off a weakly separating plane, not {c.rows_off_plane}"
        if c.further_look is FurtherLook.FOUND and off is None:
            yield "a weakly separating plane is said to be found with a verdict that denies it"

    def conditions(self) -> Iterator[str]:
        """The violations may differ by what rounding does to distances and hull points; the rows named have them."""
        c, (_, signs, _, kept, _), plane, hulls = self.c, self.data, self.plane, self.hulls
        if (c.kkt is None) != (not c.margin_lower > 0.0 or not math.isfinite(hulls.value) or hulls.value == 0.0):
            yield "the report of the optimality conditions is missing or out of place"
            return
        if c.kkt is None:
            return
        fresh, claim = None, Claim(c.w, c.b, self.places, c.weights)
        if plane.value > 0.0:
            fresh = conditions(signs, claim, plane, hulls, c.norm, c.fit_intercept)
        if fresh is None:
            yield "float64 cannot measure the conditions of optimality that are reported"
            return
        rounding = rounding_of(plane) / plane.value + rounding_of_hulls(hulls) / hulls.value
        rounded = dict.fromkeys(("stationarity", "primal", "slackness", "bias"), 4.0 * rounding)
        yield from figures_refused(c.kkt, fresh, fresh, rounded)
        nearest = -(plane.value + 2.0 * rounding_of(plane))
        yield from row_refused(c.kkt.primal.row, kept, -plane.distances, nearest, "the nearest to the plane")
        share = hulls.weights / hulls.weights.sum()
        lightest = -(float(share.min()) + 1e-12)
        yield from row_refused(c.kkt.dual.row, c.rows, -share, lightest, "the one that carries least")
        slack = slackness(plane, self.places, share)
        most = almost(float(slack.max()), 4.0 * rounding)
        words = "the one that has the most slack for its weight"
        yield from row_refused(c.kkt.slackness.row, c.rows, slack, most, words)

    def theorems(self) -> Iterator[str]:
        if self.c.theorems:
            yield from separation_theorems_refused(self.c, matrix_of(self.data.X), self.data.signs, self.places)


class BlockEvaluator(SeparationEvaluator):
    """On the rows that the certificate names and the nearest ones; the plane was measured on all."""

    def __init__(self, c: Any, data: Data, plane: PlaneMargin, table: LabelledTable, problem: BlockMargin):
        super().__init__(c, data)
        self.plane, self.table, self.problem = plane, table, problem

    def lower_bound(self) -> Bound:
        bound, c = super().lower_bound(), self.c

        def exactly() -> object:
            if bound.claimed == -math.inf or not c.w.any() or bound.is_refuted:
                return bound.claimed == -math.inf
            part = FirstBelow(c.w, c.b if c.fit_intercept else None, bound.claimed, c.norm)
            found = pass_over(Asked(self.problem, part), self.table)
            row = None if found.row is None else int(self.table.rows_of(np.array([found.row], dtype=np.uint64))[0])
            return exact.Verdict(found.holds, f"The margin of row {row} is below {bound.claimed!r}.")

        return bound._replace(exactly=exactly)

    def theorems(self) -> Iterator[str]:
        if self.c.theorems:
            yield "theorems about a table that is read by blocks are not checked: give its rows in memory"


def refused_by_blocks(c: Any, table: LabelledTable, exact_arithmetic: bool) -> Iterator[str]:
    if (first := next(malformed(c, c.rows), None)) is not None:
        yield first
        return
    if c.verdict is Verdict.WEAKLY_SEPARABLE:
        yield "whether a plane separates weakly is not decided by blocks: give the rows in memory"
        return
    codes = [code_of(table, label) for label in (c.positive, c.negative)]
    if codes[0] is None or (c.negative is not None and codes[1] is None):
        yield f"the table has no label {(c.positive if codes[0] is None else c.negative)!r}"
        return
    size = sum(table.sides(codes[0], codes[1])), table.n_columns
    if size != (c.n_rows, c.n_columns):
        about = f"the certificate is about {c.n_rows} rows x {c.n_columns} columns"
        yield f"{about}, these data have {size[0]} x {size[1]}"
        return
    problem = BlockMargin(codes[0], codes[1], np.ones(len(table.classes)), HINGE, bool(c.fit_intercept))
    named = [] if c.kkt is None else [getattr(c.kkt, field.name).row for field in dataclasses.fields(c.kkt)]
    ids = table.ids_of(np.unique(np.append(c.rows, np.array(named, dtype=np.intp))))
    plane = scaled_plane(c.w, c.b, c.norm)
    part = Nearest(np.zeros(table.n_columns) if plane is None else plane.w)
    seen = pass_over(Asked(problem, part), table, ListedRows(ids, np.ones(len(ids))).by_block())
    rows = once(seen.listed.and_of(seen.plus.row).and_of(seen.minus.row))
    measured = None if plane is None else seen_plane(seen, plane, is_sparse(rows.X))
    kept = table.rows_of(rows.ids)
    data = Data(rows.X, rows.signs, np.full(len(kept), math.inf), kept)
    on_rows = no_margin(rows, table.n_columns) if measured is None else measured.on(rows)
    yield from refusals_of(BlockEvaluator(c, data, on_rows, table, problem), exact_arithmetic)
