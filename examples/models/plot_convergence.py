"""
The best hyperplane and the best proof closing in
=================================================

Above, the least objective that was found; below, the largest that is proven to be unbeatable. Between them lies the
optimum.
"""

from maxmargin import ConvergenceDisplay, LinearSVM
from maxmargin.data import synthetic

X, y = synthetic.overlapping(5000, distance=3.0, seed=3)
ConvergenceDisplay.from_estimator(LinearSVM(tol=1e-8), X, y)
