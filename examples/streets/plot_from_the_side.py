"""
Eight features, seen from the side of the hyperplane
====================================================

Upwards, the distance from the hyperplane; to the right, the direction within it in which the samples spread most.
"""

from maxmargin import HardMarginSVM, StreetDisplay
from maxmargin.data import synthetic

X, y, _ = synthetic.separable_gaussians(100, 8, seed=2)
StreetDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y)
