"""Theory against practice: what each theorem promises on the user's data, from the data and the plane alone.

Each theorem speaks of the margin g of *any* separating plane, so the plane that was found gives a valid bound; the
plane of the largest margin that is known gives the least, and is then recorded beside it (`from_the_better_plane`).
Lifted rows are (x_i, 1) with a bias, x_i without; R is their largest Euclidean norm. They are lifted as the solvers
see them: a table out of the safe range is first multiplied by a power of two. g is rounded down and R up, so that a
bound that is reached exactly is not broken by rounding.

    Novikov             mistakes <= R^2 / g^2                               g = min y_i (w.x_i + b) / |(w, b)|_2
    margin perceptron   updates <= 12 R^2 / g^2 with a guess G <= g;  <= 64 R^2 / g^2 when G is halved;  to a share s of
                        the best margin c(s) and c(s) / (s (1 - s)) for 12 and 64, c = 2 (1 + e) / e^2, e = 1 - sqrt(s)
    Winnow              mistakes <= c ln(m) / g^2, rows scaled to |a|_max <= 1,  g = min y_i w.a_i / |w|_1

The theorem of Pegasos needs no margin: it speaks of the objective P of any plane, and so of the one that was found.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from maxmargin.certificates.measure import plane_margin
from maxmargin.certificates.normalized import normalized_distances, upper_bound
from maxmargin.certificates.passes import length, point_of, rounding
from maxmargin.certificates.proof import TheoremBound
from maxmargin.data.table import Matrix, Vector, in_safe_range, largest_magnitude, row_squares

# By these names a certificate says which theorem it speaks of.
NOVIKOV = "Novikov: mistakes <= R^2/g^2"
HALVING = "halving: updates <= 64 R^2/g^2"
GUESSED = "margin perceptron, G <= g: updates <= 12 R^2/g^2"
SHARE = "halving: share of the best lifted margin, promised and proven"
OTHER_SHARE = "shrinking: share of the best lifted margin, promised and proven"
UNIT_ROWS = ", rows at length 1"
A_QUARTER = 0.25  # of other shares the names tell:
TO_A_SHARE = "shrinking to the share {!r}: updates <= c/(s (1 - s)) R^2/g^2, c = 2 (1 + e)/e^2, e = 1 - sqrt(s)"
GUESSED_TO_A_SHARE = (
    "margin perceptron to the share {!r}, G <= g: updates <= c R^2/g^2, c = 2 (1 + e)/e^2, e = 1 - sqrt(s)"
)
WINNOW_HALVING = "Winnow, halving: mistakes <= (32/3) ln(m)/g^2"
WINNOW = "Winnow: mistakes <= ln(m)/(eta (g - eta/2))"
WINNOW_TO_LEADING_ORDER = "Winnow, to leading order: mistakes <= (16/3) ln(m)/g^2"
PEGASOS = "Pegasos: loss met per sweep <= P + {} (1 + ln T)/(2 lambda^2 T)"
FULL_RADIUS, SHORT_RADIUS = "4 R^2", "(R + lambda r)^2"
NO_PEGASOS, LOSS_MET = "Pegasos, no theorem because ", ": loss met per sweep"
WITH_A_BIAS = "the bias is not regularised"
BROKEN = (  # what makes the theorem of Pegasos say nothing; the first can be seen in the certificate itself
    WITH_A_BIAS,
    "the steps are not 1 / (lambda t)",
    "the run went on from an earlier fit",
    "the last sweep was cut short",
)


def of_unit_rows(name: str) -> str:
    """The name of the same theorem about rows at length 1, where R = 1.

    >>> of_unit_rows(NOVIKOV), of_unit_rows(HALVING)
    ('Novikov: mistakes <= 1/g^2, rows at length 1', 'halving: updates <= 64/g^2, rows at length 1')
    """
    return name.replace("<= R^2", "<= 1").replace(" R^2", "") + UNIT_ROWS


def about(theorem: TheoremBound, normalized: bool) -> TheoremBound:
    return dataclasses.replace(theorem, name=of_unit_rows(theorem.name)) if normalized else theorem


def lifted_margin(
    X: Matrix, signs: Vector, w: Vector, b: float, fit_intercept: bool, normalized: bool = False
) -> float:
    """g of the lifted rows in l2, or of these at length 1: 0 if the plane does not separate."""
    if normalized:
        return max(0.0, float(normalized_distances(X, signs, w, b, "l2", fit_intercept).min()))
    table = in_safe_range(X)
    plane = plane_margin(table.X, signs, w / table.scale, b, "l2")
    if not plane.lower > 0.0:
        return 0.0
    return plane.lower / math.hypot(1.0, plane.b if fit_intercept else 0.0) * (1.0 - rounding(X.shape[1] + 8))


def lifted_ratio(X: Matrix, signs: Vector, w: Vector, b: float, fit_intercept: bool, normalized: bool = False) -> float:
    """R / g of the lifted rows in l2: infinite if the plane does not separate."""
    margin = lifted_margin(X, signs, w, b, fit_intercept, normalized)
    radius = (
        1.0 if normalized else math.sqrt(float(row_squares(in_safe_range(X).X).max()) + (1.0 if fit_intercept else 0.0))
    )
    return radius / margin * (1.0 + rounding(X.shape[1] + 8)) if margin > 0.0 else math.inf


def novikov(
    X: Matrix, signs: Vector, w: Vector, b: float, fit_intercept: bool, mistakes: int, *, normalized: bool = False
) -> TheoremBound:
    ratio = lifted_ratio(X, signs, w, b, fit_intercept, normalized)
    return about(TheoremBound(NOVIKOV, ratio * ratio, float(mistakes)), normalized)


def from_the_better_plane(
    own: tuple[TheoremBound, ...], other: tuple[TheoremBound, ...], plane: tuple[Vector, float]
) -> tuple[TheoremBound, ...]:
    """The same theorems from two planes: each bound from the plane that makes it less, recorded if it is the other."""
    numbers = (*plane[0].tolist(), float(plane[1]))
    return tuple(
        dataclasses.replace(theirs, plane=numbers) if theirs.at_most and theirs.bound < ours.bound else ours
        for ours, theirs in zip(own, other, strict=True)
    )


def to_a_share(share: float) -> tuple[tuple[str, float], tuple[str, float]]:
    """The names of the theorems about a guess that shrinks, and about one that is given, with their factors of R^2/g^2.

    >>> to_a_share(0.25) == ((HALVING, 64.0), (GUESSED, 12.0))
    True
    """
    e = (1.0 - share) / (1.0 + math.sqrt(share))  # 1 - sqrt(share)
    c = 2.0 * (1.0 + e) / (e * e)
    shrinking, guessed = (HALVING, GUESSED)
    if share != A_QUARTER:
        shrinking, guessed = TO_A_SHARE.format(share), GUESSED_TO_A_SHARE.format(share)
    return (shrinking, c / (share * (1.0 - share))), (guessed, c)


def margin_perceptron_updates(
    X: Matrix,
    signs: Vector,
    w: Vector,
    b: float,
    fit_intercept: bool,
    updates: int,
    *,
    guess: float | None,
    share: float = A_QUARTER,
    normalized: bool = False,
) -> TheoremBound:
    """With a guess the theorem needs G <= g: it promises nothing where the plane that was found does not show that."""
    ratio = lifted_ratio(X, signs, w, b, fit_intercept, normalized)
    (shrinking, in_all), (guessed, of_a_phase) = to_a_share(share)
    if guess is None:
        return about(TheoremBound(shrinking, in_all * ratio * ratio, float(updates)), normalized)
    premise = guess <= lifted_margin(X, signs, w, b, fit_intercept, normalized)
    bound = of_a_phase * ratio * ratio if premise else math.inf
    return about(TheoremBound(guessed, bound, float(updates)), normalized)


def share_of_the_best(
    X: Matrix,
    signs: Vector,
    w: Vector,
    b: float,
    fit_intercept: bool,
    counts: Vector,
    ceiling: float = math.inf,
    share: float = A_QUARTER,
    normalized: bool = False,
) -> TheoremBound:
    """The share of the best lifted margin: a quarter is promised, or what was asked for, and this much is proven.

    g* <= |sum_i counts_i y_i (x_i, 1)| / sum_i counts_i,  because the mistake counts are a dual point;
    g* <= ceiling,                                          the last guess that the run found to be too large.
    """
    weights = signs * counts
    if normalized:
        upper = upper_bound(X, signs, counts, "l2", fit_intercept)
    else:
        p = point_of(in_safe_range(X).X, weights)
        upper = length(np.append(p, weights.sum()) if fit_intercept else p, "l2") / float(counts.sum())
    upper = min(ceiling, upper)
    lower = lifted_margin(X, signs, w, b, fit_intercept, normalized)
    name = SHARE if share == A_QUARTER else OTHER_SHARE
    return about(TheoremBound(name, share, lower / upper if upper > 0.0 else 0.0, at_most=False), normalized)


def pegasos(
    X: Matrix, costs: Vector, C: float, *, radius: float, visits: int, primal: float, loss: float, broken: list[str]
) -> TheoremBound:
    """The loss that Pegasos met in a sweep, in the mean over its sweeps, beside the objective of any plane.

    lambda = 1 / (n C), s_i = C_i / C, and at visit t, of row i, f_t(w) = lambda/2 |w|^2 + s_i max(0, 1 - y_i w.x_i).
    Steps of length 1 / (lambda t) from w = 0, each back to a ball around 0 or not, have for every u of that ball

        sum_t f_t(w_t) <= sum_t f_t(u) + G^2 (1 + ln T) / (2 lambda),    G >= every |slope of f_t at w_t|   [shalev2011]

    T visits in whole sweeps make sum_t f_t(u) = lambda T P(u), in whatever order. |lambda w_t| <= R = max s_i |x_i|,
    because lambda w_t is a mean of s_i y_i x_i and zeros, perhaps shortened: so G = R + min(R, lambda radius), and

        1 / (lambda T) sum_t s_i max(0, 1 - y_i w_t.x_i) <= P(u) + G^2 (1 + ln T) / (2 lambda^2 T)

    It holds for every run, with no probability, and speaks of the planes on the way. Theorems about the last plane or
    the mean of the planes need rows that are drawn independently, not in sweeps: of these, the certified gap tells.
    `broken` are the conditions that the run does not keep, in words: then there is no bound.
    """
    n = len(costs)
    measured = n * C * loss
    if broken:
        return TheoremBound(f"{NO_PEGASOS}{' and '.join(broken)}{LOSS_MET}", math.inf, measured)
    R = costliest_row(X, costs, C)
    G = R + min(R, radius / (n * C))
    squared = FULL_RADIUS if G == 2.0 * R else SHORT_RADIUS
    excess = 0.5 * (G * n * C) * (G * n * C) * (1.0 + math.log(visits)) / visits
    return TheoremBound(PEGASOS.format(squared), primal + excess, measured)


def costliest_row(X: Matrix, costs: Vector, C: float) -> float:
    """At least R = max s_i |x_i|."""
    table = in_safe_range(X)
    with np.errstate(over="ignore"):
        lengths = np.sqrt(row_squares(table.X)) / table.scale * (1.0 + rounding(X.shape[1] + 8))
        return float(np.max(costs / C * lengths))


def winnow_ratio(X: Matrix, signs: Vector, w: Vector, b: float, fit_intercept: bool, normalized: bool = False) -> float:
    """1 / g of the lifted rows scaled to |a|_max <= 1, all of them or each, in l1."""
    if normalized:
        g = float(normalized_distances(X, signs, w, b, "l1", fit_intercept).min())
        return 1.0 / g * (1.0 + rounding(4)) if g > 0.0 else math.inf
    plane = plane_margin(X, signs, w, b, "l1")
    if not plane.lower > 0.0:
        return math.inf
    lifted = (largest_magnitude(X) or 1.0) + (abs(plane.b) if fit_intercept else 0.0)
    return lifted / plane.lower * (1.0 + rounding(X.shape[1] + 8))


def winnow_mistakes(
    X: Matrix,
    signs: Vector,
    w: Vector,
    b: float,
    fit_intercept: bool,
    mistakes: int,
    n_weights: int,
    *,
    epsilon: float | None,
    normalized: bool = False,
) -> tuple[TheoremBound, ...]:
    """The bound that is proven (solvers/mistakes/winnow.py), and the usual one, which drops terms of order epsilon."""
    inverse = winnow_ratio(X, signs, w, b, fit_intercept, normalized)
    logarithm = math.log(n_weights)
    if epsilon is None:
        name, bound = WINNOW_HALVING, 32.0 / 3.0 * logarithm * inverse * inverse
    else:
        eta = -math.log1p(-epsilon)
        room = 1.0 / inverse - eta / 2.0
        name = WINNOW
        bound = logarithm / (eta * room) if room > 0.0 else math.inf
    usual = TheoremBound(
        WINNOW_TO_LEADING_ORDER,
        16.0 / 3.0 * logarithm * inverse * inverse,
        float(mistakes),
    )
    return about(TheoremBound(name, bound, float(mistakes)), normalized), about(usual, normalized)
