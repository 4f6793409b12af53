"""Whether sweeps over all rows are worth beginning: seen on some of the rows, with their costs as they are.

How far the first sweeps lower the gap depends on C |x_i|^2 and on whether the classes are nearly apart, and hardly on
the number of rows, as long as these are many more than the columns: where the gap has hardly fallen after two sweeps,
it is the same on a tenth of the rows, to a hundredth or so. So a sample is swept for as long as nothing is decided, and
judged by the same rule (`patience`). What looks hopeless there is not begun. Whatever else it shows is seen again, and
better, by the sweeps over all rows.

Cost: a tenth of those sweeps at most.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from maxmargin.data.executor import check_interrupt
from maxmargin.data.table import rows_at
from maxmargin.problems.protocol import Options
from maxmargin.problems.statement import SoftMargin
from maxmargin.solvers.coordinate_descent.descent import start
from maxmargin.solvers.patience import FIRST, NOTHING_SEEN, looks_hopeless, objective, patience_for

ONE_OF, MOST_ROWS = 10, 10_000  # of the rows
MORE_THAN_COLUMNS = 20  # times


def is_hopeless(problem: SoftMargin, options: Options, passes: float, apart: float) -> bool:
    """Whether the first sweeps would be the last ones, if the next solver costs so many passes, and so many times as
    many where the classes are nearly apart."""
    n = problem.n_rows
    rows = np.arange(0, n, max(ONE_OF, n // MOST_ROWS))
    if options.start is not None or len(rows) < MORE_THAN_COLUMNS * problem.n_columns:
        return False
    some = replace(problem, X=rows_at(problem.X, rows), signs=problem.signs[rows], costs=problem.costs[rows])
    patience, seen = patience_for(some, passes, apart), list(NOTHING_SEEN)
    descent = start(some, Options(options.tol)).descent
    while descent.passes < FIRST:
        for _ in descent.sweep():
            check_interrupt()
        if not options.tol < descent.gap < math.inf:
            return False
        seen.append((descent.passes, min(descent.gap, seen[-1][1]), len(descent.active) / len(rows)))
    return looks_hopeless(seen, options.tol, patience, objective(descent.gap, float(descent.tally.values[0])))
