"""StochasticSVM on rows that are read by blocks: sweeps over the blocks, w and its mean in memory alone.

survey     one pass: every number is finite, the classes, how many rows each has
sweeps     all problems of many classes take their steps while a block is in memory
result     planes, and the certificates of a fit by blocks: the dual variables are a rule
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.data.labelled import surveyed, with_labels
from maxmargin.estimators import by_blocks
from maxmargin.estimators.base import single
from maxmargin.estimators.stochastic_stream import most_sweeps
from maxmargin.problems.block_margin import BlockMargin, Facts
from maxmargin.problems.choices import Strategy
from maxmargin.problems.descent import NO_NUMBERS, Descent
from maxmargin.problems.kernels import Linear
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import weights_of_classes
from maxmargin.run.control import Clock, Status
from maxmargin.solve.stochastic_by_blocks import Descending, Sweeps, descend

ONLY_OF_LINEAR_SVM = ("class_weight_", "solver_", "trace_")


def fit(svm: Any, X: Any, y: Any, sample_weight: Any, seed: int | None) -> None:
    """Set the fitted attributes of a StochasticSVM, all at once."""
    refuse_what_needs_rows(svm)
    clock = Clock(svm.max_time, svm.verbose)
    with clock.hears_ctrl_c():
        table = surveyed(with_labels(X, y, sample_weight))
        seconds, strategy = clock.elapsed, Strategy(svm.multi_class)
        by_blocks.refuse_extremes(table)
        weights = weights_of_classes(svm.class_weight, table.classes, table.seen.totals)
        prices, bias = by_blocks.prices_of(float(svm.C), weights, table), bool(svm.fit_intercept)
        pairs = by_blocks.pairs_of(len(table.classes), strategy)
        problems = [BlockMargin(*pair, prices, HINGE, bias) for pair in pairs]
        same = np.array_equal(getattr(svm, "classes_", ()), table.classes) and svm._strategy == strategy
        earlier = svm._runs if svm.warm_start and same else [None] * len(problems)
        standings = []
        for problem, before in zip(problems, earlier, strict=True):
            facts = Facts.of(table, problem)
            run = Descent(
                float(svm.C), facts.n_rows, False, bool(svm.average), np.zeros(table.n_columns), NO_NUMBERS
            ).taken_up(before)  # fmt: skip
            if svm.project:
                run.radius = math.sqrt(sum_of_prices(problem, table.seen.totals))
            standings.append(Descending(problem, facts, svm.tol, run))
        descend(table, standings, Sweeps(svm.step, seed, most_sweeps(svm)), clock, seconds)
        if not all(math.isfinite(one.primal) for one in standings):
            raise ValueError("the steps are too long: the objective is beyond what float64 can hold. Scale the columns")
        by_blocks.store(svm, table, standings, weights, "")
        for name in ONLY_OF_LINEAR_SVM:
            vars(svm).pop(name, None)
        for one in standings:
            one.run.a = NO_NUMBERS
        svm._kernel, svm._runs = None, [one.run for one in standings]
        svm.n_updates_ = single([one.run.violations for one in standings])
    by_blocks.tell_end(svm, clock, [Status[one.status] for one in standings])


def refuse_what_needs_rows(svm: Any) -> None:
    if svm.kernel != Linear.name:
        raise ValueError(
            f"a kernel keeps the rows that it learnt from, and {by_blocks.BY_BLOCKS}: give "
            'kernel="linear", behind a map such as sklearn.kernel_approximation.RBFSampler, or rows in memory'
        )
    if svm.record is not False:
        raise ValueError(f"record keeps visits to rows in memory, and {by_blocks.BY_BLOCKS}: give record=False")


def sum_of_prices(problem: BlockMargin, totals: Any) -> float:
    """sum C_i of the rows on both sides."""
    own = problem.prices * totals
    return float(own.sum() if problem.negative is None else own[problem.positive] + own[problem.negative])
