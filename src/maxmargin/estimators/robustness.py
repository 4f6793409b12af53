"""How far a row can be moved before its prediction changes, proven.

A row of class c is at the signed distance

    two classes    y (w.x + b) / |w|
    against rest   min_j ((w_c - w_j).x + b_c - b_j) / |w_c - w_j|

from the boundary: the region of class c is where all these are positive, an intersection of halfspaces, and the
distance from inside to its edge is that to the nearest of them. |w| is the dual norm of the perturbation's. So planes
of two classes and against the rest have exact distances, up to rounding, which is accounted for.

In pairs, class c has as many votes as planes on whose side x is. Within a radius r a plane can turn only if its own
distance is at most r. Class j overtakes c only if so many votes can turn that their lead is gone: a plane between c and
j counts twice, one between either and another class once. Where it is just gone, the summed scores decide, which are
planes too, or else the order of the classes. The least r at which that is possible is a lower bound of the distance:
the planes need not all turn at one point.

With a kernel, distances in its space bound those between the columns from below (`halfspaces`).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.words import rounded_down
from maxmargin.data.checking import check_labels
from maxmargin.data.table import Matrix, Vector
from maxmargin.estimators.decision import Decision, Rule, read_decision
from maxmargin.estimators.halfspaces import Sides, sides_of
from maxmargin.problems.statement import plain

NORMS = ("l2", "linf")


class RobustnessCurve(NamedTuple):
    """At each radius of perturbation, the accuracy that is proven, and the one that is proven not to be exceeded."""

    radii: Vector
    accuracy: Vector
    at_most: Vector


@dataclass(frozen=True, eq=False)
class Robustness:
    """How far each row can be moved before its prediction changes. `print` it.

    Parameters
    ----------
    model : str
        Which one.
    norm : str
        Of a perturbation: "l2", its length; "linf", its largest entry.
    distances : ndarray
        Of each row. Positive: it is classified right, and so is every row nearer than this. Negative: it is
        classified wrong, and so is every row nearer than this. Zero: neither is proven.
    farthest : ndarray
        Of a row that is classified right: a row that is not much farther than this is classified wrong.
        Infinite where none is known.
    is_exact : bool
        Whether `distances` are the distances themselves, up to rounding, or lower bounds.
    how : str
        What was measured, in a sentence.

    Examples
    --------
    >>> from maxmargin import HardMarginSVM, robustness
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], [-1, -1, 1, 1]
    >>> answer = robustness(HardMarginSVM().fit(X, y), X, y)
    >>> answer.distances.round(6).tolist(), answer.is_exact
    ([1.5, 1.5, 1.5, 3.5], True)
    """

    model: str
    norm: str
    distances: Vector
    farthest: Vector
    is_exact: bool
    how: str

    def __len__(self) -> int:
        return len(self.distances)

    @property
    def accuracy(self) -> float:
        """The share of rows that are surely classified right."""
        return float(self.accuracy_at(0.0))

    def accuracy_at(self, radius: Any) -> Any:
        """The share of rows that stay right whatever perturbation of at most this radius they get: surely not less.

        Parameters
        ----------
        radius : float or array-like
            How far samples may be moved, in the norm of the answer.

        Returns
        -------
        float or ndarray
            One for each radius.
        """
        radii = checked_radii(radius)
        sorted_distances = np.sort(self.distances)
        shares = 1.0 - np.searchsorted(sorted_distances, radii, side="right") / len(self)
        return float(shares) if radii.ndim == 0 else shares

    def accuracy_at_most(self, radius: Any) -> Any:
        """The same share, surely not more: rows that are wrong, or that some perturbation within it makes wrong, do
        not count.

        Parameters
        ----------
        radius : float or array-like
            How far samples may be moved, in the norm of the answer.

        Returns
        -------
        float or ndarray
            One for each radius.
        """
        radii = checked_radii(radius)
        broken = np.sort(np.where(self.distances < 0.0, -math.inf, self.farthest))
        shares = 1.0 - np.searchsorted(broken, radii, side="left") / len(self)
        return float(shares) if radii.ndim == 0 else shares

    def curve(self, radii: Any = None) -> RobustnessCurve:
        """The accuracy over the radius of perturbation: at these radii, or wherever it falls.

        Parameters
        ----------
        radii : array-like, default=None
            None: wherever the accuracy falls.

        Returns
        -------
        RobustnessCurve
            `radii`, and the least and the most accuracy at each.
        """
        if radii is None:
            ends = [self.distances, self.farthest[self.distances >= 0.0]]
            ends = [values[(values > 0.0) & (values < math.inf)] for values in ends]
            radii = np.unique(np.concatenate([[0.0], *ends]))
        radii = np.atleast_1d(checked_radii(radii))
        return RobustnessCurve(radii, self.accuracy_at(radii), self.accuracy_at_most(radii))

    def report(self) -> str:
        """For a person.

        Returns
        -------
        str
            What `print` shows.
        """
        right, wrong = (int(np.count_nonzero(side)) for side in (self.distances > 0.0, self.distances < 0.0))
        lines = [
            f"{self.model}: {right:,} of {len(self):,} rows are classified right, {wrong:,} wrong, which is proven."
        ]
        if right < len(self) - wrong:
            lines.append(f"  {len(self) - wrong - right:,} are so near to the boundary that neither is proven")
        lines.append(f"  {self.how}")
        if right:
            kept = np.where(self.distances > 0.0, self.distances, math.inf)
            nearest, half = int(np.argmin(kept)), float(np.median(self.distances[self.distances > 0.0]))
            relation = "is" if self.is_exact else "is at least"
            lines.append(
                f"  the nearest row that is right is row {nearest}: it {relation} {rounded_down(kept[nearest])} away"
            )
            lines.append(f"  half of those that are right stay right within {rounded_down(half)}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        said = [self.model, self.norm, "exact" if self.is_exact else "lower bounds"]
        return f"Robustness({', '.join(said)}, accuracy {rounded_down(self.accuracy, 4)} of {len(self)} rows)"


def robustness(model: Any, X: Any, y: Any, *, norm: str = "l2") -> Robustness:
    """How far each row can be moved before its prediction changes, and the accuracy under every such perturbation.

    Parameters
    ----------
    model : a fitted classifier
        An estimator of maxmargin, a linear classifier or an SVC of scikit-learn, or a pipeline or search that ends
        with one. Scalers before it are accounted for: the distances are those between the rows as they are given.
    X, y : rows and labels, those of the fit or others
    norm : {"l2", "linf"}, default="l2"
        Of the perturbation: its length, or its largest entry.

    Returns
    -------
    Robustness
        `distances`, `accuracy_at(radius)`, `curve()`

    Notes
    -----
    What is proven is proven of w.x + b as real numbers. `predict` rounds, so that a row within a rounding error of the
    boundary may get the label of either side.

    Planes of two classes and against the rest: exact, up to rounding. In pairs, and with kernels: lower bounds, so that
    the true accuracy at a radius is not below the one that is told. With rbf, |v| / |w| is at most sqrt(2): a row is
    never proven to be farther than what that gives, and far from the data the bounds are small beside the truth.

    Examples
    --------
    >>> from maxmargin import HardMarginSVM, robustness
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], ["left", "left", "right", "right"]
    >>> answer = robustness(HardMarginSVM().fit(X, y), X, y)
    >>> answer.distances.round(9).tolist()
    [1.5, 1.5, 1.5, 3.5]
    >>> answer.accuracy_at(1.0), answer.accuracy_at(2.0)
    (1.0, 0.25)
    """
    if norm not in NORMS:
        raise ValueError(f"norm={norm!r} is not known; it can be {', '.join(map(repr, NORMS))}")
    decision, X = read_decision(model, X)
    codes = codes_of(decision, y, X.shape[0])
    ways = {Rule.SIGN: by_sign, Rule.LARGEST: by_largest, Rule.VOTES: by_votes}
    distances, farthest = ways[decision.rule](decision, X, codes, norm)
    is_exact = decision.rule is not Rule.VOTES and decision.kernel is None
    return Robustness(decision.name, norm, distances, farthest, is_exact, sentence(decision, norm, is_exact))


def codes_of(decision: Decision, y: Any, n_rows: int) -> NDArray[np.intp]:
    """The places of the labels among the classes of the model."""
    labels = check_labels(y, n_rows)
    codes = np.full(n_rows, -1, dtype=np.intp)
    for code, label in enumerate(decision.classes):
        codes[labels == label] = code
    if np.any(codes < 0):
        row = int(np.argmin(codes))
        known = decision.classes.tolist()
        raise ValueError(
            f"row {row} has the label {plain(labels[row])!r}, which the model does not know: it has {known}"
        )
    return codes


def sentence(decision: Decision, norm: str, is_exact: bool) -> str:
    how = "exact, up to rounding" if is_exact else "lower bounds"
    where = "the length of a perturbation" if norm == "l2" else "the largest entry of a perturbation"
    parts = [f"distances: {how}, by {where}"]
    if decision.kernel is not None:
        parts.append(f"from those in the space of the {decision.kernel.name} kernel")
    if decision.scaling.roundings:
        parts.append("in the columns before they are scaled")
    return ", ".join(parts)


def by_sign(decision: Decision, X: Matrix, codes: NDArray[np.intp], norm: str) -> tuple[Vector, Vector]:
    sides = sides_of(decision, X, np.ones((1, 1)), norm)
    plus, minus, plus_far, minus_far = (part[:, 0] for part in sides)
    positive = codes == 1
    right, wrong = np.where(positive, plus, minus), np.where(positive, minus, plus)
    return np.where(right > 0.0, right, -wrong), np.where(positive, plus_far, minus_far)


def by_largest(decision: Decision, X: Matrix, codes: NDArray[np.intp], norm: str) -> tuple[Vector, Vector]:
    """All differences of two planes; of each row, those of its class."""
    n_classes = len(decision.classes)
    pairs = list(itertools.combinations(range(n_classes), 2))
    differences = np.zeros((len(pairs), n_classes))
    for line, (i, j) in zip(differences, pairs, strict=True):
        line[i], line[j] = 1.0, -1.0
    sides = sides_of(decision, X, differences, norm)
    right, wrong = np.full(len(codes), np.inf), np.zeros(len(codes))
    farthest = np.full(len(codes), np.inf)
    for column, pair in enumerate(pairs):
        plus, minus, plus_far, minus_far = (part[:, column] for part in sides)
        for code, inside, outside, far in ((pair[0], plus, minus, plus_far), (pair[1], minus, plus, minus_far)):
            own = codes == code
            right[own] = np.minimum(right, inside)[own]
            wrong[own] = np.maximum(wrong, outside)[own]
            farthest[own] = np.minimum(farthest, far)[own]
    return np.where(right > 0.0, right, -wrong), farthest


def by_votes(decision: Decision, X: Matrix, codes: NDArray[np.intp], norm: str) -> tuple[Vector, Vector]:
    """Of each row, how far each other class is from overtaking its own, or its own from overtaking another."""
    n_classes = len(decision.classes)
    pairs = list(itertools.combinations(range(n_classes), 2))
    scores = np.zeros((n_classes, len(pairs)))
    for column, (i, j) in enumerate(pairs):
        scores[i, column], scores[j, column] = 1.0, -1.0
    planes = sides_of(decision, X, np.eye(len(pairs)), norm)
    leads = [scores[i] - scores[j] for i, j in pairs]
    by_scores = sides_of(decision, X, np.array(leads), norm) if decision.ties_by_scores else None
    right, wrong = np.full(len(codes), np.inf), np.zeros(len(codes))
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        own = Sides(*(part[rows] for part in planes))
        for other in range(n_classes):
            if other == code:
                continue
            if by_scores is None:  # the earlier class wins
                ahead = [np.full(len(rows), math.inf if first else 0.0) for first in (code < other, other < code)]
            else:
                pair = pairs.index((min(code, other), max(code, other)))
                told = by_scores.plus[rows, pair], by_scores.minus[rows, pair]
                ahead = list(told if code < other else told[::-1])
            right[rows] = np.minimum(right[rows], until_overtaken(own, pairs, int(code), other, ahead[0]))
            wrong[rows] = np.maximum(wrong[rows], until_overtaken(own, pairs, other, int(code), ahead[1]))
    return np.where(right > 0.0, right, -wrong), np.full(len(codes), np.inf)


def until_overtaken(sides: Sides, pairs: list[tuple[int, int]], leader: int, follower: int, ahead: Vector) -> Vector:
    """Within this radius the follower surely has fewer votes than the leader, or as many and loses all the same: that
    it does is sure within `ahead`. 0 where the leader does not lead."""
    n = len(ahead)
    lead, radii, gains = np.zeros(n), [], []
    for column, pair in enumerate(pairs):
        for_first = sides.plus[:, column] > 0.0
        for_second = sides.minus[:, column] > 0.0
        radius = np.maximum(sides.plus[:, column], sides.minus[:, column])
        worth = np.zeros(n)  # what turning this plane gives to the follower
        for place, (surely, surely_not) in enumerate(((for_first, for_second), (for_second, for_first))):
            if pair[place] == leader:
                lead += surely
                worth += surely
            elif pair[place] == follower:  # a plane in doubt is a vote for the follower
                lead -= ~surely_not
                worth += surely_not
        radii.append(radius)
        gains.append(worth)
    order = np.argsort(np.array(radii), axis=0, kind="stable")
    sorted_radii = np.take_along_axis(np.array(radii), order, axis=0)
    gained = np.cumsum(np.take_along_axis(np.array(gains), order, axis=0), axis=0)

    def least_radius(votes: Vector) -> Vector:
        enough = gained >= votes
        first = sorted_radii[np.argmax(enough, axis=0), np.arange(n)]
        return np.where(votes <= 0.0, 0.0, np.where(enough.any(axis=0), first, np.inf))

    level, beyond = least_radius(lead), least_radius(lead + 1.0)
    return np.minimum(beyond, np.maximum(level, ahead))


def checked_radii(radius: Any) -> NDArray[np.float64]:
    radii = np.asarray(radius, dtype=np.float64)
    if not np.all(radii >= 0.0):
        raise ValueError(f"a radius of perturbation is a number of at least 0, not {radius!r}")
    return radii
