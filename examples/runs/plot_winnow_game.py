"""
Winnow plays a game
===================

Winnow's multiplicative weights play against the samples. The mean payoff and the value of the game stay within what the
regret bound allows.
"""

from maxmargin import TraceDisplay, Winnow
from maxmargin.data import synthetic

X, y, _ = synthetic.separable_gaussians(40, 2, margin=0.15, seed=3)
TraceDisplay.from_estimator(Winnow(record=True).fit(X, y), X, y, kind="game")
