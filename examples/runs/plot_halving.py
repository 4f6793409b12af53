"""
A margin perceptron halves its guess
====================================

It guesses a margin, runs until the theorem says that the guess was too large, halves it, and goes on.
"""

from maxmargin import MarginPerceptron, TraceDisplay
from maxmargin.data import synthetic

X, y, _ = synthetic.separable_gaussians(40, 2, margin=0.15, seed=3)
TraceDisplay.from_estimator(MarginPerceptron(record=True).fit(X, y), X, y, kind="schedule")
