"""How near the margin the rows are that the hinge must know one by one, told by samples: a band that is narrowed.

    sample     rows S, each for as many as it stands for, give a plane; a quarter of them gives another. Planes of n and
               n / 4 rows differ by sqrt(3) times the deviation of the former from the plane of all rows
    band       rows within 4 deviations of the margin: those beyond are on the right side of the plane of all rows, too
    narrowed   where the band does not fit into memory: at the plane (w', b') a pass brings the exact slope of all rows,
               and a sample of the band, rows i whose costs c_i stand for all rows in it. The next plane is that of

                   min 1/2 |w|^2 + sum_i c_i max(0, f_i) - w.r - b s,

                   (r, s) = sum_{all rows, f'_i > 0} u_i y_i (x_i, 1) - sum_{sample, f'_i > 0} c_i y_i (x_i, 1)

               whose slope at (w', b') is that of all rows, and whose curvature is that of the sample. Half of the
               sample gives another plane: they differ by the deviation of the former

The plane of m rows and d columns is off by sqrt(d / m), as a share of |w|; the next one by about sqrt(d / m) of that.
So two or three passes, of n d each, come to a band of some thousand rows. Where the deviation does not fall, where too
few rows of the band are at hand, or where they mislead (a column that they do not have, and others do), it is given up.

Reference: [byrd2011]. Differs: the model is a soft margin again, not a parabola; deviations say how far it holds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from maxmargin.data.table import Vector
from maxmargin.solvers.by_passes import master
from maxmargin.solvers.by_passes.budget import in_words
from maxmargin.solvers.by_passes.hinge_passes import Sampled, Sorted
from maxmargin.solvers.by_passes.taken_rows import TakenRows
from maxmargin.solvers.passes import inner

KEPT_SAMPLE = 5_000
SAMPLE_GAP = 1e-4  # to which a sample is solved
LEAST_DEVIATIONS, DEVIATIONS = 1.2, 4.0  # half of the band: at least, and where there is room
FALLEN = 0.7  # the deviation, by a pass: else it is given up
RISEN = 1.1  # the objective on the first sample: then the rows of the band mislead
LEAST_ROWS = 20  # for each column: fewer say too little of the curvature
FILLED = 0.9  # of the memory, by the rows that are expected in a band


class Guess(NamedTuple):
    """A plane, and how far its values are from those of the plane that is sought, in the mean of squares."""

    w: Vector
    b: float
    deviation: float


class Band(NamedTuple):
    """Rows with |f| < width are meant; of these, the share `rate` is taken."""

    width: float
    rate: float


def few_of(rows: TakenRows, weights: Vector) -> TakenRows:
    """Rows that are kept to look at planes; their shares are costs that sum to those of all rows."""
    few = rows.first(KEPT_SAMPLE)
    return few._replace(shares=few.raised(weights))


def plane_of_sample(sample: Sampled, fit_intercept: bool) -> Guess:
    planes = []
    for share in (4, 1):
        rows = sample.rows.first(-(-sample.rows.n_rows // share))
        planes.append(master.solved(rows, rows.raised(sample.weights), None, fit_intercept, SAMPLE_GAP))
    few, best = planes
    return Guess(best.w, best.b, distance(sample.rows, few, best) / math.sqrt(3.0))


def narrowed(at: Guess, found: Sorted, sample: TakenRows, fit_intercept: bool) -> Guess | None:
    """The next plane; None where it would be no better. `sample`: rows of all kinds, their costs as shares."""
    planes = []
    for share in (2, 1):
        rows = found.rows.first(-(-found.rows.n_rows // share))
        costs = rows.raised(found.weights)
        others = found.beyond + found.paying - rows.sums(np.where(rows.missing(at.w, at.b) > 0.0, costs, 0.0))
        planes.append(master.solved(rows, costs, others, fit_intercept, SAMPLE_GAP))
    few, best = planes
    deviation = distance(sample, few, best)
    misleads = not objective_on(sample, best.w, best.b) < RISEN * objective_on(sample, at.w, at.b)
    if misleads or deviation > FALLEN * at.deviation or found.rows.n_rows < LEAST_ROWS * len(at.w):
        return None
    return Guess(best.w, best.b, deviation)


def band_around(guess: Guess, rows: TakenRows, counts: Vector, most: int) -> Band:
    """All that is needed, if it is expected to fit, or a sample of it.

    counts: how many rows of the table each of `rows` stands for
    """
    sizes = np.abs(rows.missing(guess.w, guess.b))
    order = np.argsort(sizes, kind="stable")
    fitting = int(np.searchsorted(np.cumsum(counts[order]), FILLED * most))
    fits = float(sizes[order[fitting]]) if fitting < len(order) else math.inf
    width = DEVIATIONS * guess.deviation
    if LEAST_DEVIATIONS * guess.deviation <= fits:
        width = min(width, fits)
    expected = float(counts[sizes < width].sum())
    return Band(width, min(1.0, FILLED * most / max(1.0, expected)))


def what_fits(guess: Guess, sample: TakenRows, n_rows: int, most: int, bytes_of_a_row: float) -> str:
    """A sentence where more rows are in the band than fit, as the sample tells (see `few_of`); else none."""
    near = np.abs(sample.missing(guess.w, guess.b)) < DEVIATIONS * guess.deviation
    rows = math.ceil(n_rows * float(np.average(near, weights=sample.shares / sample.costs)))
    if rows <= most:
        return ""
    more = in_words((rows / FILLED - most) * bytes_of_a_row, up=True)
    return f"{rows:,} rows lie near the margin, and {most:,} fit: about {more} more memory would hold them"


def distance(rows: TakenRows, one: master.Answer, two: master.Answer) -> float:
    """Between the values of two planes."""
    return rms(rows.missing(two.w - one.w, two.b - one.b) - 1.0)


def rms(values: Vector) -> float:
    return math.sqrt(float(np.mean(values * values))) if len(values) else 0.0


def objective_on(sample: TakenRows, w: Vector, b: float) -> float:
    """P as the sample sees it: good enough to say where to look."""
    return 0.5 * inner(w, w) + float(sample.shares @ np.maximum(0.0, sample.missing(w, b)))
