"""
Novikov's two lines
===================

The length of the weights is caught between a line that rises with the number of updates and its square root. Where the
two cross, the perceptron must have ended.
"""

from maxmargin import Perceptron, TraceDisplay
from maxmargin.data import synthetic

X, y, _ = synthetic.separable_gaussians(40, 2, margin=0.15, seed=3)
TraceDisplay.from_estimator(Perceptron(record=True).fit(X, y), X, y, kind="bound")
