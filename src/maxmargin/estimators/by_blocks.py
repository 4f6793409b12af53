"""A fit of rows that are read by blocks within a memory budget: no vector has the length of the table.

    survey     one pass: every number is finite, the classes, how many rows each has
    passes     all problems of many classes advance in the same ones, until each gap is proven
    result     planes, and certificates whose dual variables are a rule and listed rows

What needs a number for each row (`support_`, `dual_coef_`) is not there.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.block_margin import certify_blocks
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.certificates.passes import length
from maxmargin.data.labelled import LabelledTable, surveyed, with_labels
from maxmargin.data.table import SAFE_RANGE, is_dask, is_source
from maxmargin.estimators.base import single
from maxmargin.estimators.convergence import End, Ending
from maxmargin.estimators.predictions import stays
from maxmargin.problems.block_margin import BlockMargin, Facts
from maxmargin.problems.choices import Order, Strategy
from maxmargin.problems.losses import Loss, loss_named
from maxmargin.problems.statement import ClassWeight, plain, weights_of_classes
from maxmargin.reading.scan import bytes_of
from maxmargin.run.control import Clock, Status, tell_of
from maxmargin.solve.by_blocks import Leader, Standing
from maxmargin.solvers.by_passes import registry
from maxmargin.solvers.by_passes.budget import bytes_to_read, divided

USUAL_MEMORY = "512MB"
BY_BLOCKS = "this table is read by blocks within a memory budget"
OF_A_FIT_IN_MEMORY = (
    "support_", "dual_coef_", "bounded_", "n_support_", "support_vectors_", "_support_rows", "_weights", "_seen",
    "normalized_margin_", "feature_names_in_",
)  # fmt: skip


def is_asked(svm: Any, X: Any, y: Any) -> bool:
    """Whether nothing of the fit shall have the length of the table."""
    if not is_source(X) or svm.memory is not None:
        return is_source(X)
    can = hasattr(svm, "loss") or (svm.norm == "l2" and not svm.normalize_rows and svm.solver in ("auto", "hulls"))
    return can and (stays(X, y) or getattr(X, "memory", None) is not None)


def is_asked_of_a_learner(X: Any, y: Any) -> bool:
    """Of estimators without a memory of their own: where the labels stay with the blocks, or X has a budget."""
    return is_source(X) and (stays(X, y) or getattr(X, "memory", None) is not None)


def can_sweep(learner: Any) -> bool:
    """Whether no choice of a mistake-driven learner has all rows in memory."""
    in_turn = learner.order in (Order.CYCLIC, Order.SHUFFLED)
    return in_turn and not learner.normalize_rows and learner.record is False


def memory_for(svm: Any, X: Any) -> int:
    """Bytes."""
    known = svm.memory if svm.memory is not None or is_dask(X) else getattr(X, "memory", None)
    return bytes_of(USUAL_MEMORY if known is None else known)


def fit(svm: Any, X: Any, y: Any, sample_weight: Any, a0: Any, observer_of: Any) -> None:
    """Set the fitted attributes of a LinearSVM, all at once. `observer_of` classes and a scale sees each round."""
    loss = loss_named(svm.loss, svm.huber_width)
    refuse_what_needs_rows(svm, loss, a0)
    clock = Clock(svm.max_time, svm.verbose)
    with clock.hears_ctrl_c():
        table = surveyed(with_labels(X, y, sample_weight))
        surveyed_in = clock.elapsed
        refuse_extremes(table)
        class_weight = weights_of_classes(svm.class_weight, table.classes, table.seen.totals)
        prices = prices_of(float(svm.C), class_weight, table)
        problems = [
            BlockMargin(positive, negative, prices, loss, bool(svm.fit_intercept))
            for positive, negative in pairs_of(len(table.classes), Strategy(svm.multi_class))
        ]
        facts = [Facts.of(table, problem) for problem in problems]
        memory = memory_for(svm, X)
        name = registry.name_for(problems[0], facts[0], memory - bytes_to_read(facts[0]))
        floors = [registry.floor(name, *both) for both in zip(problems, facts, strict=True)]
        share = divided(memory, facts[0], floors)
        if observer_of is not None:
            clock.observer = observer_of(table.classes, 1.0)
        solvers = [registry.start(name, *both, share.bytes_each, svm.tol) for both in zip(problems, facts, strict=True)]
        started = list(zip(problems, facts, solvers, strict=True))
        standings = [Standing.of(problem, known, svm.tol, solver.state) for problem, known, solver in started]
        runs = [one.led(solver, svm.max_iter) for one, solver in zip(standings, solvers, strict=True)]
        Leader(table, standings, clock, svm.tol, surveyed_in).lead(runs, share.at_once)
        store(svm, table, standings, class_weight, name)
    tell_end(svm, clock, [Status[standing.status] for standing in standings])


def tell_end(estimator: Any, clock: Clock, statuses: list[Status]) -> None:
    """Of a fit by blocks whose attributes are set: Ctrl-C goes on to the user, an early end is a warning."""
    clock.report_end(statuses)
    if clock.interrupted:
        raise KeyboardInterrupt
    if not clock.stopped:
        parts = estimator.certificate_ if len(statuses) > 1 else [estimator.certificate_]
        ends = [End(status, part) for status, part in zip(statuses, parts, strict=True)]
        tell_of(Ending(type(estimator).__name__, estimator.parameters, ends))


def refuse_what_needs_rows(svm: Any, loss: Loss, a0: Any) -> None:
    if a0 is not None or svm.warm_start:
        what = "a0" if a0 is not None else "warm_start=True"
        raise ValueError(f"{what} starts from a dual variable of each row, and {BY_BLOCKS}: leave it out")
    if not registry.answers(svm.solver, loss):
        raise ValueError(f'solver="{svm.solver}" has the rows in memory, and {BY_BLOCKS}: give solver="auto"')


def refuse_extremes(table: LabelledTable) -> None:
    largest = table.seen.largest
    if largest and not SAFE_RANGE[0] <= largest <= SAFE_RANGE[1]:
        raise ValueError(
            f"the largest number of X is {largest:.3g}, and squares of such numbers leave float64: scale the columns"
        )


def pairs_of(n_classes: int, strategy: Strategy) -> list[tuple[int, int | None]]:
    """The classes on the two sides of each problem, in the order of `coef_`."""
    if n_classes == 2:
        return [(1, 0)]
    if strategy is Strategy.ONE_VERSUS_REST:
        return [(k, None) for k in range(n_classes)]
    return list(itertools.combinations(range(n_classes), 2))


def prices_of(C: float, class_weight: ClassWeight, table: LabelledTable) -> NDArray[np.float64]:
    """C times the weight of each class."""
    prices = np.full(len(table.classes), C)
    with np.errstate(over="ignore"):
        prices *= [weight for _, weight in class_weight] or 1.0
    if not np.all((prices > 0.0) & (prices < math.inf)):
        raise ValueError(f"C = {C:g} times the weights of the classes is beyond what float64 can hold")
    return prices


def columns_of(table: LabelledTable) -> dict[str, Any]:
    """What is known of them, as scikit-learn calls it."""
    names = getattr(table.source, "feature_names", None)
    named = names is not None and all(isinstance(name, str) for name in names)
    known = {"feature_names_in_": np.array(names, dtype=object)} if named else {}
    return {"n_features_in_": table.n_columns, **known}


def store(svm: Any, table: LabelledTable, standings: list[Any], weights: ClassWeight, name: str) -> None:
    for old in OF_A_FIT_IN_MEMORY:
        vars(svm).pop(old, None)
    strategy = Strategy(svm.multi_class)
    certificates = [certificate_of(table, standing, float(svm.C), weights) for standing in standings]
    lengths = [length(standing.w, "l2") for standing in standings]
    margins = [1.0 / size if size > 0.0 else math.inf for size in lengths]
    fitted = {
        **columns_of(table),
        "classes_": table.classes,
        "_strategy": strategy,
        "coef_": np.array([standing.w for standing in standings]),
        "intercept_": np.array([standing.b for standing in standings]),
        "certificate_": certificates[0] if len(certificates) == 1 else MulticlassCertificate(tuple(certificates)),
        "status_": single([Status[standing.status] for standing in standings]),
        "n_updates_": single([standing.passes for standing in standings]),
        "n_iter_": max(1, *(standing.passes for standing in standings)),
        "margin_": single(margins),
        "street_": single([2.0 * margin for margin in margins]),
        "class_weight_": np.array([weight for _, weight in weights] or np.ones(len(table.classes))),
        "solver_": single([name] * len(standings)),
    }
    for attribute, value in fitted.items():
        setattr(svm, attribute, value)


def certificate_of(table: LabelledTable, standing: Any, C: float, weights: ClassWeight) -> Any:
    """What the judge has measured of the best plane and the best weights."""
    problem = standing.problem
    return certify_blocks(
        problem,
        (standing.w, standing.b),
        standing.weights,
        (standing.primal, standing.dual),
        C=C,
        class_weight=weights,
        positive=plain(table.classes[problem.positive]),
        negative=None if problem.negative is None else plain(table.classes[problem.negative]),
        n_rows=standing.facts.n_rows,
        heights=table.seen.heights,
        fingerprint=standing.fingerprint,
        tol=standing.tol,
    )
