"""The mistake-driven learners on rows that are read by blocks: sweeps over the blocks, and proofs by passes.

The certificate is that of rows in memory, without theorems. The rows of `order="worst_first"` and "drawn", of
`normalize_rows` and of a record are put together in memory, as those of other learners.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.data.labelled import surveyed, with_labels
from maxmargin.data.table import safe_scale
from maxmargin.estimators import by_blocks
from maxmargin.problems.block_margin import BlockMargin, Facts
from maxmargin.problems.choices import Norm, Order, Strategy
from maxmargin.problems.losses import HINGE
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import TwoClasses
from maxmargin.reading.scan import bytes_of
from maxmargin.run.control import Clock, Status
from maxmargin.solve.answer import Answer
from maxmargin.solve.block_learners import BlockLearner, BlockPerceptron, BlockWinnow
from maxmargin.solve.mistakes_by_blocks import Learning, learn

FOR_MISTAKES = 0.25  # of the memory: rows that were mistaken, of all problems


def fit(learner: Any, X: Any, y: Any, store: Callable[..., None], seed: int, max_updates: int) -> None:
    """Have the fitted attributes stored, all at once. `max_updates`: beside ten a row, where nothing else is asked."""
    clock = Clock(learner.max_time, learner.verbose)
    with clock.hears_ctrl_c():
        table = surveyed(with_labels(X, y))
        seconds, strategy = clock.elapsed, Strategy(learner.multi_class)
        prices, bias = np.ones(len(table.classes)), bool(learner.fit_intercept)
        pairs = by_blocks.pairs_of(len(prices), strategy)
        scale = safe_scale(table.seen.largest)
        memory = FOR_MISTAKES * bytes_of(getattr(X, "memory", None) or by_blocks.USUAL_MEMORY) / len(pairs)
        standings = []
        for pair in pairs:
            problem = BlockMargin(*pair, prices, HINGE, bias)
            facts = Facts.of(table, problem)
            allowed = int(learner.max_updates or max_updates + 10 * facts.n_rows)
            on_blocks = block_learner(learner, scale, seed, allowed)
            standings.append(Learning(table, problem, facts, on_blocks, scale, memory))
        learn(table, standings, clock, seconds)
        answers = [answer_of(one) for one in standings]
        for old in by_blocks.OF_A_FIT_IN_MEMORY:
            vars(learner).pop(old, None)
        for name, value in by_blocks.columns_of(table).items():
            setattr(learner, name, value)
        store(np.zeros((0, table.n_columns)), table.classes, strategy, answers)
    by_blocks.tell_end(learner, clock, [answer.status for answer in answers])


def block_learner(learner: Any, scale: float, seed: int, max_updates: int) -> BlockLearner:
    order = Order(learner.order)
    if learner.norm_ is Norm.L1:
        return BlockWinnow(learner.epsilon, bool(learner.balanced), order, seed, max_updates)
    guess = getattr(learner, "guess", 0.0)
    return BlockPerceptron(
        float(getattr(learner, "rate", 1.0)), None if guess is None else float(guess) * scale,
        float(getattr(learner, "share", 0.25)), order, seed, max_updates, bool(getattr(learner, "average", False)),
    )  # fmt: skip


def answer_of(one: Learning) -> Answer:
    """The certificate beside the rows that carry its weights."""
    certificate, rows = one.certificate, one.rows
    assert certificate is not None
    assert rows is not None
    two = TwoClasses(
        rows.X, rows.signs, None, one.table.rows_of(rows.ids), certificate.positive, certificate.negative, None
    )  # fmt: skip
    iterate = Iterate(certificate.w, certificate.b, np.zeros(0), updates=one.all_updates, sweeps=one.sweeps)
    return Answer(two, iterate, certificate, Status[one.status])
