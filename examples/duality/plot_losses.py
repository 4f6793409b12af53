"""
What a sample costs
===================

Hinge, squared hinge and the 0-1 loss over the margin y (w.x + b), with the samples of a fit as a rug below.
"""

from maxmargin import LinearSVM, LossDisplay
from maxmargin.data import synthetic

X, y = synthetic.overlapping(60, distance=3.0, seed=3)
LossDisplay.from_estimator(LinearSVM(C=0.5, tol=1e-6).fit(X, y), X, y)
