"""
Three kernels on two rings
==========================

No line separates a ring from the disc inside it. A parabola of degree 2 does, and so does the radial kernel, by another
street.
"""

import matplotlib.pyplot as plt

from maxmargin import KernelSVM, StreetDisplay
from maxmargin.data import synthetic

X, y = synthetic.rings(80, seed=2)
kernels = {
    "degree 2": {"kernel": "poly", "degree": 2, "coef0": 1},
    "rbf": {"kernel": "rbf"},
    "rbf, narrow": {"gamma": 8.0},
}
figure, axes = plt.subplots(1, 3, figsize=(13, 5), layout="constrained", sharex=True, sharey=True)
for ax, (name, parameters) in zip(axes, kernels.items(), strict=True):
    svm = KernelSVM(C=1.0, **parameters).fit(X, y)
    title = f"{name}: {len(svm.support_)} support vectors"
    StreetDisplay.from_estimator(svm, X, y, ax=ax, title=title, legend=False)
