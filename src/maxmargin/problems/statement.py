"""What is asked: many classes as pairs of two; of two, the widest street, or a wide one at a price.

Many classes are one against the rest, or one against one: a two-class problem each, with what its rows cost.

Separation: which plane is farthest from the rows of both classes?

    l2    max_{w,b}  min_i  y_i (w.x_i + b) / |w|_2      the Euclidean distance of the nearest row
    l1    max_{w,b}  min_i  y_i (w.x_i + b) / |w|_1      the same in the largest-coordinate distance

The dual is a pair of nearest points, one in the hull of each class (without b: the point of the hull of all
y_i x_i that is nearest to the origin), measured in the dual norm: |.|_2 for l2, the largest coordinate for l1.

The soft margin: a wide street, at a price for each row that is inside it or beyond it.

    primal    P(w, b) = 1/2 |w|^2 + sum_i C_i loss(1 - y_i (w.x_i + b))
    dual      D(a) = sum_i a_i - 1/2 |w(a)|^2 - sum_i q_i a_i^2 / 2,          0 <= a_i <= u_i,   sum_i a_i y_i = 0
    link      w(a) = sum_i a_i y_i x_i
    loss      two numbers, box and bend (`losses`):     u_i = box C_i,        q_i = bend / C_i

Without a bias the equality falls away. The slack of a row is xi_i = max(0, 1 - y_i (w.x_i + b)).

In the space of a kernel phi(x_i) stands for x_i, w = sum_j c_j phi(x_j) with c_j = a_j y_j, and every product of two
rows is k(x_i, x_j). C_i = inf is the hard margin: no row may be inside the street.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from maxmargin.data.checking import Labels
from maxmargin.data.table import Matrix, Table, Vector, as_table, largest_magnitude, matrix_of, select, take
from maxmargin.problems.choices import Norm as Norm
from maxmargin.problems.choices import Strategy as Strategy
from maxmargin.problems.kernels import Kernel, Points
from maxmargin.problems.losses import Loss

MOST_TRIALS = 100
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SignedRows:
    """Rows X with signs +1 and -1. X is a matrix or, where the rows are not in memory, a table of blocks."""

    X: Matrix
    signs: Vector

    @cached_property
    def table(self) -> Table:
        """The rows block by block, wherever they are: what passes run over."""
        return as_table(self.X)

    @cached_property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @cached_property
    def n_columns(self) -> int:
        return int(self.X.shape[1])


AnyRows = TypeVar("AnyRows", bound=SignedRows)
AnyCertificate = TypeVar("AnyCertificate", bound=Any)


def at_hand(problem: AnyRows) -> AnyRows:
    """The same problem with X a matrix: for solvers that need all rows in memory."""
    if not isinstance(problem.X, Table):
        return problem
    return replace(problem, X=matrix_of(problem.X))


@dataclass(frozen=True, eq=False)
class Separation(SignedRows):
    """`fit_intercept` says whether the plane may leave the origin.

    `normalized`: a learner by mistakes sees each row, lifted, at length 1. The planes and the weights of the rows that
    it shows are those of the rows as they are.
    """

    norm: Norm
    fit_intercept: bool
    normalized: bool = False


@dataclass(frozen=True, eq=False)
class SoftMargin(SignedRows):
    """The costs are C_i > 0."""

    costs: Vector
    loss: Loss
    fit_intercept: bool

    @cached_property
    def upper(self) -> Vector:
        """u_i, the largest value that a_i may take."""
        return self.loss.bounds(self.costs)

    @property
    def diagonal(self) -> Vector:
        """q_i, the curvature that the loss adds to the dual."""
        return self.loss.bend / self.costs


@dataclass(frozen=True, eq=False)
class KernelMargin(SoftMargin):
    """Rows, signs and costs, and the kernel with the rows as it wants them. A hard margin has the hinge, and pays 0."""

    kernel: Kernel
    points: Points

    @cached_property
    def is_hard(self) -> bool:
        return bool(self.costs[0] == float("inf"))

    @property
    def highest_rank(self) -> int:
        """No kernel matrix of these rows has a higher one: their number, or the dimension of the kernel's space."""
        return int(min(self.n_rows, self.kernel.dimension(self.n_columns)))


def slack(problem: SoftMargin, values: Vector, b: float) -> Vector:
    """xi_i = max(0, 1 - y_i (w.x_i + b)) from the values w.x_i."""
    return np.maximum(0.0, 1.0 - problem.signs * (values + b))


def total_loss(problem: SoftMargin, xi: Vector) -> float:
    """sum_i C_i loss(xi_i)."""
    return float(np.sum(problem.costs * problem.loss.value(xi)))


def best_bias(problem: SoftMargin, values: Vector) -> float:
    """The b that is best for these values of w.x_i.

    Row i pays from b = t_i = y_i - w.x_i on, to its left if y_i = +1 and to its right if y_i = -1.

    no bend     the slope in b starts at -sum_+ C_i and rises by C_i at each t_i: b is the weighted quantile
                of t at sum_+ C_i, the middle one where a whole interval is best
    a bend      the slope is piecewise linear and rises: its zero, by Newton's rule
    """
    if not problem.fit_intercept:
        return 0.0
    t = problem.signs - values
    if problem.loss.is_smooth:
        return zero_of_slope(t, problem.signs, problem.costs, problem.loss)
    costs, plus = problem.costs, problem.signs > 0
    if costs.min() == costs.max():
        k = int(np.count_nonzero(plus))
        middle = np.partition(t, (k - 1, k)) if 0 < k < len(t) else np.sort(t)
        return float(0.5 * (middle[max(0, k - 1)] + middle[min(k, len(t) - 1)]))
    order = np.argsort(t, kind="stable")
    reached = np.cumsum(costs[order])
    level = float(costs[plus].sum())
    k = min(int(np.searchsorted(reached, level * (1.0 - 1e-14))), len(t) - 1)
    if reached[k] <= level * (1.0 + 1e-14) and k + 1 < len(t):  # flat between two rows
        return float(0.5 * (t[order[k]] + t[order[k + 1]]))
    return float(t[order[k]])


def zero_of_slope(t: Vector, signs: Vector, costs: Vector, loss: Loss) -> float:
    """The b with sum_+ a_i(b) = sum_- a_i(b), where a_i(b) = C_i loss'(y_i (t_i - b)).

    Newton's rule: rows before the knee pull b towards their t_i by C_i / bend, rows beyond it with all of their box.
    The slope is piecewise linear, so that this ends as soon as the same rows pull; a bracket keeps it from going in
    circles. Where no row is before the knee, the slope is flat, and the bracket is halved.
    """
    plus, box = signs > 0, loss.box * loss.bend  # pulls in units of C_i / bend
    low, high = float(t.min()), float(t.max())
    b = float(np.einsum("i,i->", costs, t) / costs.sum())
    for _ in range(MOST_TRIALS):
        weights = np.where((t > b) == plus, costs, 0.0)
        straight = 0.0
        if loss.is_bounded:
            beyond = np.abs(t - b) >= box
            straight = box * float(np.sum(np.where(beyond, weights * signs, 0.0)))
            weights[beyond] = 0.0
        total = float(weights.sum())
        if total > 0.0:
            mean = (float(np.einsum("i,i->", weights, t)) + straight) / total
        else:
            mean = b if straight == 0.0 else high if straight > 0.0 else low
        if mean == b:
            break
        low, high = (b, high) if mean > b else (low, b)
        b, last = mean if low < mean < high else 0.5 * (low + high), b
        if b == last:
            break
    return b


ClassWeight = tuple[tuple[Any, float], ...]  # pairs (label, weight); none if every weight is 1


class TrainingSet(NamedTuple):
    """Checked input: rows, labels, the rows' weights if they have any, max |x_ij|, and when its reading began."""

    X: Matrix | Table
    labels: Labels
    weights: Vector | None
    largest: float
    begun: float | None = None

    def class_weights(self, class_weight: Any) -> ClassWeight:
        """The weights of the classes, from None, a dict or "balanced"."""
        if class_weight is None:
            return ()
        classes, codes = self.labels
        counting = codes >= 0
        # Weighted rows are counted by their weight, whichever release of scikit-learn is installed.
        totals = np.bincount(codes[counting], None if self.weights is None else self.weights[counting], len(classes))
        return weights_of_classes(class_weight, classes, totals)

    def weighted(self, class_weight: ClassWeight) -> TrainingSet:
        """The weight of each row is its class's times its own."""
        if not class_weight:
            return self
        of_class = np.array([weight for _, weight in class_weight])
        weights = of_class[np.maximum(self.labels.codes, 0)]
        return self._replace(weights=weights if self.weights is None else weights * self.weights)


def weights_of_classes(class_weight: Any, classes: NDArray[Any], totals: NDArray[Any]) -> ClassWeight:
    """From None, a dict or "balanced", and the weight of all rows of each class."""
    if class_weight is None:
        return ()
    if isinstance(class_weight, str) and class_weight == "balanced":
        weights = totals.sum() / (len(classes) * totals)
    else:
        weights = compute_class_weight(class_weight, classes=classes, y=classes)
    return checked_class_weights(classes, weights)


def checked_class_weights(classes: NDArray[Any], weights: NDArray[np.float64]) -> ClassWeight:
    """Each class and its weight, or an error about one that weighs nothing."""
    if not np.all((weights > 0.0) & (weights < math.inf)):
        wrong = int(np.argmin((weights > 0.0) & (weights < math.inf)))
        raise ValueError(
            f"class_weight must be positive and finite; class {plain(classes[wrong])!r} has {weights[wrong]}. "
            "To leave a class out, leave its rows out."
        )
    return tuple((plain(label), float(weight)) for label, weight in zip(classes, weights, strict=True))


@dataclass(frozen=True, eq=False)
class TwoClasses:
    """Rows of two sides: X and signs of this problem, and which rows of the user's table they are.

    `negative` is None when the negative side is "all others"; `weights` are the sample weights, all positive;
    `largest` is max |x_ij| of the table, if it is known.
    """

    X: Matrix | Table
    signs: Vector
    weights: Vector | None
    rows: NDArray[np.intp]
    positive: Any
    negative: Any
    largest: float | None

    def in_rows_of_the_user(self, certificate: AnyCertificate) -> AnyCertificate:
        """A certificate about this problem with its rows, and those of its conditions, numbered as in that table."""
        return numbered(certificate, self.rows)


def places_among(rows: Rows, chosen: Rows) -> Rows:
    """Where the chosen ones are among these rows; both ascend, and are without repetition.

    >>> places_among(np.array([2, 5, 7]), np.array([5, 7])), places_among(np.arange(9), np.array([5, 7]))
    (array([1, 2]), array([5, 7]))
    """
    if len(chosen) == len(rows):
        return np.arange(len(rows))
    if rows[0] == 0 and rows[-1] == len(rows) - 1:  # all there are
        return chosen
    return np.searchsorted(rows, chosen)


def numbered(certificate: AnyCertificate, rows: NDArray[np.intp]) -> AnyCertificate:
    """The certificate with its rows, and those of its conditions, named by these numbers."""
    kkt = certificate.kkt
    if kkt is not None:
        moved = {
            field.name: replace(violation, row=int(rows[violation.row]))
            for field in fields(kkt)
            if (violation := getattr(kkt, field.name)).row >= 0
        }
        kkt = replace(kkt, **moved)
    return replace(certificate, rows=rows[certificate.rows], kkt=kkt)


def two_class_problems(
    X: Matrix | Table, labels: Labels, strategy: Strategy, weights: Vector | None = None, largest: float | None = None
) -> list[TwoClasses]:
    """In the order of `coef_`: two classes give one problem with classes[1] on the positive side."""
    n_classes = len(labels.classes)
    if n_classes == 2:
        pairs: list[tuple[int, int | None]] = [(1, 0)]
    elif strategy is Strategy.ONE_VERSUS_REST:
        pairs = [(k, None) for k in range(n_classes)]
    elif isinstance(X, Table):
        pairs = list(itertools.combinations(range(n_classes), 2))
    else:
        return _pairs_at_hand(X, labels, weights)
    return [_problem(X, labels, pair, weights, largest) for pair in pairs]


def _pairs_at_hand(X: Matrix, labels: Labels, weights: Vector | None) -> list[TwoClasses]:
    """One against one, of rows in memory: those of a class, and their largest number, are looked for once."""
    codes, names = labels.codes, [plain(label) for label in labels.classes]
    own = [np.flatnonzero(codes == k) for k in range(len(names))]
    sizes = [largest_magnitude(X[rows]) for rows in own]
    problems = []
    for k, j in itertools.combinations(range(len(names)), 2):
        rows = np.sort(np.concatenate((own[k], own[j])))
        signs = np.where(codes[rows] == k, 1.0, -1.0)
        kept_weights, largest = None if weights is None else weights[rows], max(sizes[k], sizes[j])
        problems.append(TwoClasses(take(X, rows), signs, kept_weights, rows, names[k], names[j], largest))
    return problems


def _problem(
    X: Matrix | Table, labels: Labels, pair: tuple[int, int | None], weights: Vector | None, largest: float | None
) -> TwoClasses:
    (classes, codes), (positive, negative) = labels, pair
    rows = np.flatnonzero(codes >= 0 if negative is None else (codes == positive) | (codes == negative))
    signs = np.where(codes[rows] == positive, 1.0, -1.0)
    label, other = plain(classes[positive]), None if negative is None else plain(classes[negative])
    kept_weights = None if weights is None else weights[rows]
    selected, is_whole = select(X, rows), len(rows) == X.shape[0]
    if not is_whole:  # the largest number may be in a row that is left out: searched here, once for all who ask
        largest = None if isinstance(selected, Table) else largest_magnitude(selected)
    return TwoClasses(selected, signs, kept_weights, rows, label, other, largest)


def plain(label: Any) -> Any:
    """A label as Python writes it: 1, not np.int64(1)."""
    return label.item() if isinstance(label, np.generic) else label


def prices(C: float, two: TwoClasses) -> Vector:
    """C_i of each row, which float64 must be able to hold."""
    if two.weights is None:
        return np.full(two.X.shape[0], C)
    with np.errstate(over="ignore"):
        costs = C * two.weights
    wrong = ~((costs > 0.0) & (costs < math.inf))
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise ValueError(
            f"C times the weight of row {two.rows[row]} is {C:g} * {two.weights[row]:g}, which float64 cannot hold"
        )
    return costs
