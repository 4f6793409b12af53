"""The judge of the hard margin benchmark: float64 NumPy on the set itself, the same for every solver.

    from below    (min_+ w.x - max_- w.x) / (2 |w|), the margin of w with its best b
    from above    |sum_+ a x / sum_+ a - sum_- a x / sum_- a| / 2, for any a >= 0

Any point of one hull is two margins or more from any point of the other, so that one solver's multipliers
bound the margins of all. A shortfall is measured from the smallest bound, whoever gave it.
"""

import numpy as np
from hard_margin_solvers import Answer, Claim
from isolation import Measurement

TIGHT, ENOUGH = 1e-9, 1e-6  # shortfalls, relative to the best upper bound


def margin(X, y, w) -> float:
    """The margin of the plane with normal w, negative where w does not separate; NaN for no plane at all."""
    if w is None or not np.isfinite(w).all() or not w.any():
        return np.nan
    scores = X.astype(np.float64) @ w
    return (scores[y > 0].min() - scores[y < 0].max()) / (2 * np.linalg.norm(w))


def margin_upper(X, y, answer: Answer) -> float:
    """The smallest bound on the margin that an answer gives."""
    if answer.multipliers is None:
        return answer.margin_upper
    a = np.maximum(answer.multipliers, 0.0)
    positive, negative = a[y > 0].sum(), a[y < 0].sum()
    if not (0 < positive < np.inf and 0 < negative < np.inf):
        return answer.margin_upper
    hull_difference = X.T.astype(np.float64) @ np.where(y > 0, a / positive, -a / negative)
    return min(answer.margin_upper, np.linalg.norm(hull_difference) / 2)


def verdict_on_separable(measured: Measurement, margin: float, shortfall: float) -> str:
    if measured.seconds is None:
        return measured.failure
    answer: Answer = measured.value
    if answer.claim is Claim.NOT_SEPARABLE:
        return "wrong: says not separable"
    if shortfall < -TIGHT:
        return "the upper bound is refuted"
    if shortfall <= TIGHT:
        return "to 1e-9"
    if shortfall <= ENOUGH:
        return "to 1e-6"
    if answer.claim is Claim.NOTHING:
        return f"no answer: {answer.remark}"
    return "short" if margin > 0 else "does not separate"


def verdict_on_not_separable(measured: Measurement) -> str:
    if measured.seconds is None:
        return measured.failure
    answer: Answer = measured.value
    match answer.claim:
        case Claim.PLANE:
            return "wrong: returns a plane"
        case Claim.NOT_SEPARABLE:
            return f"right: {answer.remark}"
        case Claim.NOTHING:
            return f"no answer: {answer.remark}"
