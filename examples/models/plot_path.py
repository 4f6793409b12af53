"""
Margin, support and errors over C
=================================

Where a hyperplane separates the samples, there is a C beyond which nothing changes: the soft margin is the hard one.
"""

from maxmargin import LinearSVM, PathDisplay
from maxmargin.data import synthetic

X, y, _ = synthetic.street(60, seed=10)
PathDisplay.from_estimator(LinearSVM(tol=1e-6), X, y)
