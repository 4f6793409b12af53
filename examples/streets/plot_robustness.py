"""
Robustness: the widest street against any hyperplane
====================================================

How many samples stay right if each may be moved by a radius? The widest street keeps all of them up to its margin; a
perceptron, which stops at any hyperplane that separates, loses some from the start.
"""

from maxmargin import HardMarginSVM, Perceptron, RobustnessDisplay
from maxmargin.data import synthetic

X, y, _ = synthetic.street(60, seed=10)
models = {"the widest street": HardMarginSVM().fit(X, y), "a perceptron": Perceptron().fit(X, y)}
RobustnessDisplay.from_estimator(models, X, y)
