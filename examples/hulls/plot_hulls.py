"""
The shortest way between two hulls
==================================

Why is no street wider? Because two points, one of each convex hull, are no farther apart. The widest street stands at
right angles in the middle of the shortest way.
"""

from maxmargin import HardMarginSVM, HullDisplay
from maxmargin.data import synthetic

X, y, _ = synthetic.street(40, seed=10)
HullDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y)
