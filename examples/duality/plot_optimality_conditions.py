"""
The conditions of optimality, sample by sample
==============================================

At the optimum every sample lies on the grey line: beyond the edge of the street without weight, inside of it with the
full weight C, and on the edge with anything between. On the left a fit that was stopped early, on the right the
optimum.
"""

import warnings

import matplotlib.pyplot as plt

from maxmargin import KKTDisplay, LinearSVM
from maxmargin.data import synthetic

X, y = synthetic.overlapping(60, distance=3.0, seed=3)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that it ended early is what we want to see
    early = LinearSVM(C=0.5, solver="coordinate_descent", max_iter=2, tol=1e-9).fit(X, y)
figure, axes = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
for ax, svm in zip(axes, (early, LinearSVM(C=0.5, tol=1e-6).fit(X, y)), strict=True):
    KKTDisplay.from_estimator(svm, X, y, ax=ax)
