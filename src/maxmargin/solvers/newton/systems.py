"""Newton's equations of a loss that bends, solved in one of three ways.

On the rows J that pay and are before the knee, with D = diag(C_i / bend), g the gradient in w, and the slope in
b equal to zero:

    dw + X_J'D (X_J dw + db) = -g         1'D (X_J dw + db) = 0      (without a bias: db = 0, and the first alone)

Eliminating db leaves H dw = -g with H = I + X_J'D X_J - h h'/s,  h = X_J'D 1,  s = 1'D 1,  db = -h.dw / s.

    few columns    H itself, by Cholesky. Its sum over J is kept, and only rows that enter or leave J are added or taken
                   away.
    few rows       Woodbury: dw = -g - X_J'q,  (X_J X_J' + 1/D) q - db 1 = -X_J g,  1'q = 0: a system of |J| unknowns,
                   from the Gram matrix of all rows [chapelle2007].
    else           conjugate gradients on H, preconditioned by its diagonal, one read of J per iteration, no more
                   precise than the step is worth [keerthi2005].

Cost: |change of J| d^2 + d^3/3;  |J|^3/3;  nonzeros of J per iteration.
References: [mangasarian2002], [keerthi2005], [chapelle2007].
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any, Protocol

import numpy as np

from maxmargin._loops import njit
from maxmargin.data.table import Vector, is_sparse, matrix_of
from maxmargin.problems.statement import SoftMargin
from maxmargin.solvers.coordinate_descent.sweeps import ROW
from maxmargin.solvers.interior_point.normal_equations import Factor, padded
from maxmargin.solvers.passes import BlockPasses, Chosen, RowPasses, Square, inner, values_of

Direction = tuple[Vector, float]
# A system yields None where the clock may be read, and returns the direction (dw, db).
Work = Generator[None, None, Direction]

FEW_COLUMNS = 2_000
FEW_ROWS = 2_000
COLUMNS_PER_PRODUCT = 4_096
GRADIENT_ITERATIONS = 250
NUMBERS_PER_BREATH = 30_000_000
NEWTON_STEPS = 50  # in the rows: a dozen on most data, at a large C up to a hundred
TILED = 20.0  # products of numbers in the time that a sweep takes for one
HEAVY = 1e4  # times the weight of the rows that stay
LEAST_REDUCTION = 0.05  # of the gradient's norm by one Newton step


class System(Protocol):
    """Newton's direction at a point where the rows J bend; `enough` is a |gradient|^2 small enough to stop at."""

    def direction(self, J: Chosen, g: Vector, enough: float) -> Work: ...


def has_few_rows(problem: SoftMargin) -> bool:
    """Whether the system of the rows is smaller than that of the columns, and small."""
    return problem.n_rows < problem.n_columns and problem.n_rows <= FEW_ROWS


def newton_passes(problem: SoftMargin) -> float:
    """What Newton in the rows costs, in sweeps of coordinate descent: the products of all rows, and a system of them
    in each step."""
    n, numbers = problem.n_rows, problem.table.numbers
    products = NEWTON_STEPS * n**3 / TILED + (0.0 if problem.table.is_sparse else 0.5 * n * numbers / TILED)
    return float(products / (numbers + ROW * n))


def has_few_columns(problem: SoftMargin) -> bool:
    """Whether the system of the columns costs less than conjugate gradients would."""
    n, d = problem.n_rows, problem.n_columns
    if d > FEW_COLUMNS or not problem.table.is_sparse:
        return d <= FEW_COLUMNS
    numbers = problem.table.numbers
    products = numbers * numbers / max(1, n) / 2.0 + d**3 / 30.0  # the latter in tiles, ten in the time of one
    return bool(products <= GRADIENT_ITERATIONS * numbers)


def system_for(problem: SoftMargin, passes: RowPasses | BlockPasses) -> System:
    """The cheapest of the three, by the shape of the table."""
    if has_few_rows(problem):
        return FewRows(problem, passes)
    return (FewColumns if has_few_columns(problem) else ManyOfBoth)(problem, passes)


class FewColumns:
    """Cholesky of the d x d matrix."""

    def __init__(self, problem: SoftMargin, passes: RowPasses | BlockPasses) -> None:
        self.passes, self.weights, self.bias = passes, problem.costs / problem.loss.bend, problem.fit_intercept
        self.total = np.zeros(2 * (padded(problem.n_columns + 1),))
        self.inside = np.zeros(problem.n_rows, dtype=bool)
        # A free bias absorbs a shift of the rows, and products of numbers far from zero would lose their digits.
        shifted = self.bias and not passes.sparse
        self.centre = np.zeros(problem.n_columns)
        if shifted:
            self.centre = problem.table[np.arange(min(FEW_ROWS, problem.n_rows))].mean(axis=0, dtype=np.float64)

    def direction(self, J: Chosen, g: Vector, enough: float) -> Work:
        yield from self.follow(J)
        d = len(g)
        lower = np.tril(self.total[: d + 1, : d + 1])
        matrix = lower + np.tril(lower, -1).T
        matrix.flat[: (d + 1) * d : d + 2] += 1.0
        if not self.bias:
            return Factor(matrix[:d, :d]).solve(-g), 0.0
        h, s = matrix[:d, d], float(self.weights[J].sum())  # never zero, as a difference of sums may be
        dw = Factor(matrix[:d, :d] - np.outer(h / s, h)).solve(-g)
        return dw, -inner(h, dw) / s - inner(self.centre, dw)

    def follow(self, J: Chosen) -> Iterator[None]:
        """Bring the sum over J to the new J: by what has changed; or anew where that is less, or where what leaves is
        so heavy that the digits of the others have gone with it."""
        now = np.zeros(len(self.inside), dtype=bool)
        now[J] = True
        entering, leaving = np.flatnonzero(now & ~self.inside), np.flatnonzero(self.inside & ~now)
        heavy = float(self.weights[leaving].sum()) > HEAVY * float(self.weights[J].sum())
        if heavy or len(entering) + len(leaving) > len(J):
            self.total[:] = 0.0
            entering, leaving = J, leaving[:0]
        self.inside = now
        for part in self.passes.outer(entering, self.weights[entering], self.centre):
            self.total += part
            yield
        for part in self.passes.outer(leaving, self.weights[leaving], self.centre):
            self.total -= part
            yield


class FewRows:
    """Cholesky of the |J| x |J| matrix."""

    def __init__(self, problem: SoftMargin, passes: RowPasses | BlockPasses) -> None:
        self.problem, self.passes, self.inverse_weights = problem, passes, problem.diagonal
        self.products = products_of_rows(problem)

    def direction(self, J: Chosen, g: Vector, enough: float) -> Work:
        yield
        matrix = self.products[np.ix_(J, J)]
        matrix.flat[:: len(J) + 1] += self.inverse_weights[J]
        factor = Factor(matrix)
        q, db = factor.solve(-values_of(self.problem.X, g)[J]), 0.0
        if self.problem.fit_intercept:
            ones = factor.solve(np.ones(len(J)))
            weight = float(ones.sum())
            db = -float(q.sum()) / weight if weight > 0.0 else 0.0
            q += db * ones
        return -g - self.passes.combine(J, q), db


class ManyOfBoth:
    """Preconditioned conjugate gradients."""

    def __init__(self, problem: SoftMargin, passes: RowPasses | BlockPasses) -> None:
        self.problem, self.passes = problem, passes

    def direction(self, J: Chosen, g: Vector, enough: float) -> Work:
        D = self.problem.costs[J] / self.problem.loss.bend
        s = float(D.sum()) if self.problem.fit_intercept else np.inf
        h = self.passes.combine(J, D) if self.problem.fit_intercept else np.zeros(len(g))
        diagonal = np.maximum(1.0, 1.0 + self.passes.squares(J, D) - h * h / s)
        state = np.zeros(len(g)), -g, -g / diagonal
        dw, residual, along = state
        energy, square = inner(residual, along), inner(g, g)
        target = max(LEAST_REDUCTION**2 * square, enough)
        numbers = 0.0
        for _ in range(GRADIENT_ITERATIONS):
            if square <= target or not energy > 0.0:
                break
            image, total = self.passes.curve(J, D, along)
            energy, square = conjugate_step(*state, image, h, total / s, diagonal, energy)
            numbers += len(J) * self.passes.numbers_per_row + len(g)
            if numbers > NUMBERS_PER_BREATH:
                numbers = 0.0
                yield
        return dw, -inner(h, dw) / s


@njit(fastmath={"reassoc", "contract"})
def conjugate_step(
    x: Any, residual: Any, along: Any, image: Any, h: Any, mean: float, diagonal: Any, energy: float
) -> Any:
    """One iteration, image = X'D X along; returns the new energy of the residual, and its square."""
    curvature = 0.0
    for j in range(x.shape[0]):
        image[j] += along[j] - mean * h[j]
        curvature += along[j] * image[j]
    if not curvature > 0.0:
        return 0.0, 0.0
    step, following, square = energy / curvature, 0.0, 0.0
    for j in range(x.shape[0]):
        x[j] += step * along[j]
        residual[j] -= step * image[j]
        square += residual[j] * residual[j]
        following += residual[j] * residual[j] / diagonal[j]
    for j in range(x.shape[0]):
        along[j] = residual[j] / diagonal[j] + following / energy * along[j]
    return following, square


def products_of_rows(problem: SoftMargin) -> Square:
    """X X' in float64."""
    X = matrix_of(problem.X)
    if is_sparse(X):
        narrow = X.astype(np.float64)
        return np.asarray((narrow @ narrow.T).toarray())
    total = np.zeros((problem.n_rows, problem.n_rows))
    for start in range(0, problem.n_columns, COLUMNS_PER_PRODUCT):
        columns = X[:, start : start + COLUMNS_PER_PRODUCT].astype(np.float64)
        total += columns @ columns.T
    return total
