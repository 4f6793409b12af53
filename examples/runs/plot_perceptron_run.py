"""
A perceptron, moment by moment
==============================

Each update turns the hyperplane towards the sample that it had on the wrong side.
"""

from maxmargin import Perceptron, TraceDisplay
from maxmargin.data import synthetic

X, y, _ = synthetic.separable_gaussians(40, 2, margin=0.15, seed=3)
TraceDisplay.from_estimator(Perceptron(record=True).fit(X, y), X, y)
