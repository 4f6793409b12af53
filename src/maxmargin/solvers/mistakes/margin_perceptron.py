"""The margin perceptron without a guess: shrink it until a phase ends.

    share        s, of the best margin g*, that is asked for; q = sqrt(s), e = 1 - q. A quarter: q = e = 1/2
    one phase    the margin perceptron with the guess G: w = 0; a row whose distance y_i w.x_i / |w| is below q G
                 is a violation, w <- w + y_i x_i; for at most c R^2 / G^2 updates, c = 2 (1 + e) / e^2 (a quarter: 12),
                 or until these prove that G > g*: the best margin is at most |w_T| / T. That is asked between two calls
    start        G = R, the length of the longest row; no margin is larger
    if a phase does not end by itself, G <- q G and the next phase begins

    theorem      if G <= g*, a phase ends within c R^2 / g*^2 <= c R^2 / G^2 updates, with a margin of at least q G
    hence        the first phase that ends has G > q g*: its margin is at least q^2 g* = s g*, and all phases together
                 take at most c R^2/G^2 (1 + q^2 + q^4 + ...) < k R^2 / g*^2 updates, k = c / (s (1 - s))
                 (a quarter: c = 12, k = 64;  half: 30.2 and 121;  0.9: 799 and 8,872;  0.99: 80,000 and 8.1e6)

Proof, after T updates of a phase. Let u be the best plane, |u| = 1, g* >= G.
    below        each update moves w by at least g* along u: |w_T| >= w_T.u >= T g*
    above        a violation has y w.x < q G |w|, so that |w + y x|^2 <= |w|^2 + 2 q G |w| + R^2.  Hence
                 |w + y x| <= |w| + R, because q G <= R; and |w + y x| <= |w| + q G + R^2 / (2 |w|).
                 Where |w| >= K = R^2 / (e g*), the second adds at most q g* + e g* / 2 = (1 - e/2) g*.
                 The last time that |w| < K, it became at most K + R: so |w_T| <= K + R + T (1 - e/2) g*
    together     T e g* / 2 <= K + R, and with R >= g*:  T <= 2 R^2 / (e g*)^2 + 2 R / (e g*) <= c R^2 / g*^2

The margins are those of the lifted rows (x_i, 1) when there is a bias. The phase's mistake counts are a dual point,
so the certificate knows how far the plane is from the best one without knowing g*.
"""

from __future__ import annotations

import math

from maxmargin.problems.choices import Order
from maxmargin.problems.protocol import Run
from maxmargin.problems.statement import Separation
from maxmargin.problems.trace import UpdateObserver
from maxmargin.solvers.mistakes.driver import UNLIMITED, Budget, SearchState, shrinking
from maxmargin.solvers.mistakes.perceptron import longest_row, perceptron

A_QUARTER = 0.25


def updates_of_a_phase(share: float) -> float:
    """c."""
    e = (1.0 - share) / (1.0 + math.sqrt(share))  # 1 - sqrt(share)
    return 2.0 * (1.0 + e) / (e * e)


def margin_perceptron(
    problem: Separation,
    *,
    share: float = A_QUARTER,
    order: Order = Order.CYCLIC,
    seed: int = 0,
    max_updates: int = UNLIMITED,
    trace: UpdateObserver | None = None,
) -> Run:
    """The iterates of the phases, with all updates counted; it proposes when a phase ends by itself."""
    radius, c = longest_row(problem), updates_of_a_phase(share)
    state = SearchState(radius)

    def phase(guess: float, left: Budget) -> Run:
        allowed = math.floor(min(c * (radius / guess) ** 2, UNLIMITED)) if guess > 0.0 else UNLIMITED
        limit = max(1, min(allowed, left.updates))
        if trace is not None:
            trace.begin_phase(guess)
        return perceptron(
            problem, order=order, seed=seed, guess=guess, share=share, gives_up=True, max_updates=limit, trace=trace
        )

    return Run(state, shrinking(state, Budget(max_updates), phase, math.sqrt(share)))
