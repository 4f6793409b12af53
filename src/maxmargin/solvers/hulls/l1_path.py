"""The linear program of the l1 margin on a dense and wide table, by a primal-dual path in its rows.

    primal    min |w|_1,  w = p - q    subject to  Z w + y b - s = 1,      p, q, s >= 0           (Z has rows y_i x_i)
    dual      max sum_i a_i            subject to  Z'a + u = 1,  v - Z'a = 1,  y.a = 0,  a, u, v >= 0
    path      a_i s_i = mu,   p_j u_j = mu,   q_j v_j = mu,   mu -> 0

One Newton step eliminates all but the weights and the bias. With E = diag(s / a) and D = diag(p / u + q / v):

    (E + Z D Z') da + y db = r,     y.da = -y.a

as many unknowns as rows. A predictor aims at mu = 0, a corrector at the mu that it shows to be within reach, with its
second-order terms; one factor serves both. At the end a row carries weight if a_i > s_i, and a column if p_j > u_j or
q_j > v_j: these are a vertex, whose equations are then solved for. Where several vertices are optimal they are none.

Cost: n^2 d multiplications a step, by BLAS, and 15 to 30 steps. Reference: [mehrotra1992].
Differs: the two signs of a column are one unknown, which the rows eliminate; steps of different length on both sides.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from maxmargin.data.table import Vector

MOST_STEPS = 60
LARGEST_SUM = 1e8  # of the weights: beyond, there may be no margin
CLOSED, MET = 1e-11, 1e-8  # the relative gap and the residuals at which the path ends
BOUNDARY = 0.995  # of the way to the nearest variable that becomes zero
REGULAR = 1e-15  # of the largest entry, added to the diagonal


class Point(NamedTuple):
    """A point of the path, or a step; b is an array of one number."""

    a: Vector
    s: Vector
    p: Vector
    u: Vector
    q: Vector
    v: Vector
    b: Vector

    def moved(self, by: Point, farthest: float) -> Point:
        """So much of the way to the nearest variable that becomes zero, on each side, but not beyond the step."""
        primal, dual = (
            min(1.0, farthest * min(reach(getattr(self, name), getattr(by, name)) for name in side))
            for side in ("spq", "auv")
        )
        lengths = (dual, primal, primal, dual, primal, dual, primal)
        return Point(*(x + length * dx for x, dx, length in zip(self, by, lengths, strict=True)))

    @property
    def mu(self) -> float:
        return float(self.a @ self.s + self.p @ self.u + self.q @ self.v) / (len(self.a) + 2 * len(self.p))


class End(NamedTuple):
    """The plane and the weights at the end of the path, and its steps."""

    w: Vector
    b: float
    a: Vector
    steps: int


def reach(values: Vector, changes: Vector) -> float:
    """How many steps until the first of these numbers is zero."""
    falling = float(np.max(-changes / values))
    return 1.0 / falling if falling > 0.0 else np.inf


@np.errstate(all="ignore")
def end_of_path(Z: NDArray[np.float64], signs: Vector | None) -> End | None:
    """The plane and the weights that the path leads to; None where it is lost. No signs: no bias."""
    n, d = Z.shape
    now = Point(np.ones(n), np.ones(n), np.ones(d), np.ones(d), np.ones(d), np.ones(d), np.zeros(1))
    for step in range(MOST_STEPS):
        spread = Z.T @ now.a
        of_rows = 1.0 - Z @ (now.p - now.q) + now.s - (0.0 if signs is None else signs * now.b)
        left = (of_rows, 1.0 - spread - now.u, 1.0 + spread - now.v, 0.0 if signs is None else float(signs @ now.a))
        primal, dual = float(now.p.sum() + now.q.sum()), float(now.a.sum())
        most_left = max(float(np.max(np.abs(residual))) for residual in left)
        if not (dual < LARGEST_SUM and most_left < np.inf):
            return None
        if abs(primal - dual) <= CLOSED * primal and most_left <= MET:
            plus, minus = np.where(now.p > now.u, now.p, 0.0), np.where(now.q > now.v, now.q, 0.0)
            return End(plus - minus, float(now.b[0]), np.where(now.a > now.s, now.a, 0.0), step)
        system = newton_system(Z, signs, now)
        if system is None:
            return None
        products = (now.a * now.s, now.p * now.u, now.q * now.v)
        guess = direction(Z, signs, now, system, left, [-product for product in products])
        target = min(1.0, now.moved(guess, 1.0).mu / now.mu) ** 3 * now.mu
        second = (guess.a * guess.s, guess.p * guess.u, guess.q * guess.v)
        wanted = [target - product - both for product, both in zip(products, second, strict=True)]
        now = now.moved(direction(Z, signs, now, system, left, wanted), BOUNDARY)
    return None


class System(NamedTuple):
    """E, D, the factor of E + Z D Z', and what its inverse makes of the signs."""

    E: Vector
    D: Vector
    factor: Any
    of_signs: Vector | None

    def solve(self, Z: NDArray[np.float64], right: Vector) -> Vector:
        """The inverse of the matrix times a vector, refined once."""
        x = scipy.linalg.cho_solve(self.factor, right, check_finite=False)
        residual = right - self.E * x - Z @ (self.D * (Z.T @ x))
        return np.asarray(x + scipy.linalg.cho_solve(self.factor, residual, check_finite=False))


def newton_system(Z: NDArray[np.float64], signs: Vector | None, now: Point) -> System | None:
    """Factored; None if it is not positive definite to working precision."""
    E, D = now.s / now.a, now.p / now.u + now.q / now.v
    half = Z * np.sqrt(D)
    K = half @ half.T
    K.flat[:: len(K) + 1] += E + REGULAR * float(np.max(np.diagonal(K)))
    try:
        factor = scipy.linalg.cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    system = System(E, D, factor, None)
    return system if signs is None else system._replace(of_signs=system.solve(Z, signs))


def direction(
    Z: NDArray[np.float64], signs: Vector | None, now: Point, system: System, left: Any, wanted: Any
) -> Point:  # fmt: skip
    """The step that leaves no residual and changes the products a s, p u, q v by what is wanted."""
    (of_rows, of_u, of_v, off), (of_a, of_p, of_q) = left, wanted
    g = (of_p - now.p * of_u) / now.u - (of_q - now.q * of_v) / now.v
    da, db = system.solve(Z, of_rows - Z @ g + of_a / now.a), 0.0
    if signs is not None and system.of_signs is not None:
        db = float(signs @ da + off) / float(signs @ system.of_signs)
        da = da - db * system.of_signs
    spread = Z.T @ da
    du, dv = of_u - spread, of_v + spread
    ds, dp, dq = (of_a - now.s * da) / now.a, (of_p - now.p * du) / now.u, (of_q - now.q * dv) / now.v
    return Point(da, ds, dp, du, dq, dv, np.array([db]))
