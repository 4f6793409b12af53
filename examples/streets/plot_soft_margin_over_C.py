"""
A soft margin for three values of C
===================================

A small C regularises much: the street is wide, and many samples are inside. A large C makes each of them expensive.
"""

import matplotlib.pyplot as plt

from maxmargin import LinearSVM, StreetDisplay
from maxmargin.data import synthetic

X, y = synthetic.overlapping(60, distance=3.0, seed=3)
figure, axes = plt.subplots(1, 3, figsize=(13, 5), layout="constrained", sharex=True, sharey=True)
for ax, C in zip(axes, (0.01, 0.1, 10.0), strict=True):
    svm = LinearSVM(C=C, tol=1e-6).fit(X, y)
    inside, mistakes = svm.violations(X, y)
    title = f"C = {C:g}: {len(inside)} inside, {len(mistakes)} wrong"
    StreetDisplay.from_estimator(svm, X, y, ax=ax, title=title, legend=False)
