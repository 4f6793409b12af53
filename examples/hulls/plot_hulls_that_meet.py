"""
Hulls that meet
===============

A point in the convex hulls of both classes proves that no hyperplane separates them.
"""

from maxmargin import HullDisplay, separability
from maxmargin.data import synthetic

X, y = synthetic.overlapping(60, distance=3.0, seed=3)
HullDisplay.from_certificate(separability(X, y), X, y)
