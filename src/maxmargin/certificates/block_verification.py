"""Checking certificates by blocks: each block is read once for all of them, and nothing is taken on trust.

    the form      before any row is read: whether it is a claim at all (`block_form`)
    the table     is cut into blocks of the heights that the certificate knows, or is cut so; it has its fingerprint
    the bounds    P of the plane and D of the dual variables, by the judge's own pass (`block_duality`)
    the verdict   one that the bounds allow

A claimed bound is believed if it holds with every rounding error against it. One that float64 cannot tell is looked at
in a second pass, in long doubles; what these cannot tell is decided in fractions (`exact_blocks`) if the table is small
or `exact` is asked for, and else refused. The labels are those that the certificates name (`claimed_blocks`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.block_duality import BothSides, BothSums, judged, measurement, sure
from maxmargin.certificates.block_form import no_claim
from maxmargin.certificates.claimed_blocks import ClaimedBlock, ClaimedBlocks, OtherBlockSizes, cut_again, source_of
from maxmargin.certificates.exact_blocks import ExactMeasurement, exact_dual, exact_primal
from maxmargin.certificates.report import Verification
from maxmargin.certificates.verify import (
    Bound,
    bound_refused,
    objective_at_least,
    objective_at_most,
    proven,
    verdict_refused,
)
from maxmargin.data.executor import pass_over
from maxmargin.problems.block_margin import Ask, BlockMargin, OwnRows
from maxmargin.problems.losses import loss_named

BlockCertificate = Any  # a certificate, of the one kind that `block_margin` declares
NOT_MANY = 100_000  # numbers of a table: fractions of them take seconds


class SeenTogether(NamedTuple):
    """What was found of each certificate, and the labels of all rows that count."""

    codes: dict[Any, int]
    found: tuple[Any, ...]

    def and_of(self, other: SeenTogether) -> SeenTogether:
        found = tuple(one.and_of(two) for one, two in zip(self.found, other.found, strict=True))
        return SeenTogether(self.codes | other.codes, found)


class MeasurementTogether(NamedTuple):
    """One part for each problem, in one read of a block."""

    problems: tuple[BlockMargin, ...]
    parts: tuple[Any, ...]

    def __call__(self, claimed: ClaimedBlock, own: dict[int, OwnRows] | None = None) -> SeenTogether:
        found = []
        for number, (problem, part) in enumerate(zip(self.problems, self.parts, strict=True)):
            signed = problem.of(claimed.block)
            found.append(part(signed, own[number]) if own and number in own else part(signed))
        return SeenTogether(claimed.codes, tuple(found))


def pass_together(blocks: ClaimedBlocks, problems: list[BlockMargin], asks: list[Ask]) -> SeenTogether:
    own: dict[int, dict[int, OwnRows]] = {}
    for number, ask in enumerate(asks):
        for block, rows in ask.own.items():
            own.setdefault(block, {})[number] = rows
    seen: SeenTogether = pass_over(MeasurementTogether(tuple(problems), tuple(ask.part for ask in asks)), blocks, own)
    return seen


def labels_of(claims: list[BlockCertificate]) -> tuple[Any, ...]:
    """Those that they name, each once."""
    labels: list[Any] = []
    for c in claims:
        for label in (c.positive, c.negative, *(label for label, _ in c.class_weight)):
            if label is not None and label not in labels:
                labels.append(label)
    return tuple(labels)


def problem_of(c: BlockCertificate, labels: tuple[Any, ...]) -> BlockMargin:
    weights = np.ones(len(labels) + 1)
    for label, weight in c.class_weight:
        weights[labels.index(label)] = weight
    with np.errstate(over="ignore", under="ignore"):
        prices = c.C * weights
    if not np.all((prices > 0.0) & (prices < np.inf)):
        raise ValueError(f"C times the weights must be positive and finite; C = {c.C:g} gives {prices.tolist()}")
    negative = None if c.negative is None else labels.index(c.negative)
    return BlockMargin(labels.index(c.positive), negative, prices, loss_named(c.loss, c.huber_width), c.fit_intercept)


@dataclasses.dataclass
class Together:
    """Certificates of one table."""

    claims: list[BlockCertificate]
    blocks: ClaimedBlocks

    @property
    def codes(self) -> dict[Any, int]:
        """Of all labels that rows have which count."""
        return self.blocks.codes or {}

    def __post_init__(self) -> None:
        self.problems = [problem_of(c, self.blocks.labels) for c in self.claims]

    def seen(self, asks: list[Ask]) -> tuple[Any, ...]:
        """What all blocks together answer; once more, where labels mean something else than was guessed."""
        seen = pass_together(self.blocks, self.problems, asks)
        meant = self.blocks.meant(seen.codes)
        self.blocks = self.blocks._replace(codes=meant)
        return seen.found if meant == seen.codes else pass_together(self.blocks, self.problems, asks).found

    def measured(self, *, closely: bool) -> list[BothSides]:
        asks = [
            measurement(problem, self.blocks.n_blocks, c.w, c.b, c.told, closely=closely)
            for c, problem in zip(self.claims, self.problems, strict=True)
        ]
        found: tuple[BothSums, ...] = self.seen(asks)
        return [judged(problem, c.w, sums) for c, problem, sums in zip(self.claims, self.problems, found, strict=True)]

    def exactly(self) -> list[tuple[Any, Any]]:
        """P and D of each, as fractions."""
        asks = [
            Ask(ExactMeasurement(problem.loss, c.w, c.b, c.told.rule), c.told.listed.by_block())
            for c, problem in zip(self.claims, self.problems, strict=True)
        ]
        found = self.seen(asks)
        return [
            (exact_primal(c.w, sums), exact_dual(problem, sums))
            for c, problem, sums in zip(self.claims, self.problems, found, strict=True)
        ]


def bounds_of(c: BlockCertificate, found: BothSides, exact: tuple[Any, Any] | None) -> list[Bound]:
    primal, dual = found.primal, sure(found.dual)
    return [
        objective_at_most(c.primal, primal.value, primal.error, exact and (lambda: c.primal >= exact[0])),
        objective_at_least(c.dual, dual.value, dual.error, exact and (lambda: c.dual <= exact[1])),
    ]


def is_in_doubt(claims: list[BlockCertificate], found: list[BothSides]) -> bool:
    """Whether some bound is neither believed nor refuted."""
    bounds = [bound for c, one in zip(claims, found, strict=True) for bound in bounds_of(c, one, None)]
    return any(not (bound.is_believed or bound.is_refuted) for bound in bounds)


def refusals(c: BlockCertificate, found: BothSides, codes: dict[Any, int], labels: tuple[Any, ...],
             exact: tuple[Any, Any] | None) -> Iterator[str]:  # fmt: skip
    """Each reason why the certificate is not true of what was seen."""
    seen = set(codes.values())
    for label, _ in c.class_weight:
        if labels.index(label) not in seen:
            yield f"class_weight names {label!r}, which is no label of these data"
    if found.n_rows != c.n_rows:
        yield f"the certificate is about {c.n_rows} rows, these data have {found.n_rows} with these labels"
    if found.fingerprint != c.fingerprint:
        yield (
            f"the fingerprint of these rows, labels and weights is {found.fingerprint}, not {c.fingerprint}: the table "
            "has changed, or it is another one"
        )
    for bound in bounds_of(c, found, exact):
        yield from bound_refused(bound, np.empty(0, dtype=np.intp), exact is not None)
    yield from verdict_refused(c)
    for theorem in c.theorems:
        yield f"there is no theorem {theorem.name!r} of rows by blocks"


class Answers(NamedTuple):
    """Of each certificate the reasons to refuse it, and all labels that rows have, each once."""

    reasons: list[tuple[str, ...]]
    labels: list[Any]


def answers_of(claims: list[BlockCertificate], X: Any, y: Any, sample_weight: Any, exact: bool) -> Answers:
    """What is to be said against each of them; a ValueError where the table is none that they could be about."""
    wrong = [next(no_claim(c), None) for c in claims]
    if any(wrong):
        return Answers([(one or "it was not measured, because another part is no claim",) for one in wrong], [])
    heights = claims[0].heights
    if not all(np.array_equal(c.heights, heights) for c in claims):
        return Answers([("the parts of a certificate must be about the same blocks",)] * len(claims), [])
    source = source_of(X, y, sample_weight, heights)
    for c in claims:
        if source.n_columns != c.n_columns:
            raise ValueError(f"the certificate is about {c.n_columns} columns, these data have {source.n_columns}")
    labels = labels_of(claims)
    together = Together(claims, ClaimedBlocks(source, labels, heights))
    try:
        found = together.measured(closely=False)
    except OtherBlockSizes:
        again = cut_again(source, heights, getattr(X, "memory", None))
        together = Together(claims, ClaimedBlocks(again, labels, heights))
        found = together.measured(closely=False)
    if not exact and is_in_doubt(claims, found):
        closer = together.measured(closely=True)
        found = [one.finer_of(other) for one, other in zip(found, closer, strict=True)]
        exact = is_in_doubt(claims, found) and int(heights.sum()) * source.n_columns <= NOT_MANY
    fractions = together.exactly() if exact else [None] * len(claims)
    reasons = [
        tuple(refusals(c, one, together.codes, labels, fraction))
        for c, one, fraction in zip(claims, found, fractions, strict=True)
    ]
    return Answers(reasons, [labels[code] if code < len(labels) else one for one, code in together.codes.items()])


def verify_together(
    claims: list[BlockCertificate], X: Any, y: Any, sample_weight: Any, exact: bool
) -> tuple[list[Verification], list[Any]]:
    """An answer to each, and the labels that rows have: each block is read once."""
    try:
        reasons, labels = answers_of(claims, X, y, sample_weight, exact)
    except (TypeError, ValueError) as error:
        reasons, labels = [(str(error),)] * len(claims), []
    return [Verification(not own, exact, own or (proven(c),)) for c, own in zip(claims, reasons, strict=True)], labels
