"""The street of a linear SVC, with little and with much regularisation."""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

X, y = make_blobs(60, centers=2, random_state=6, cluster_std=1.6)
figure, axes = pyplot.subplots(1, 2, figsize=(8, 4))
for axis, C in zip(axes, (10.0, 0.01), strict=True):
    svc = SVC(kernel="linear", C=C).fit(X, y)
    (slope, rise), bias = svc.coef_[0], svc.intercept_[0]
    across = np.linspace(X[:, 0].min(), X[:, 0].max(), 50)
    for height, style in ((-1, "--"), (0, "-"), (1, "--")):
        axis.plot(across, (height - bias - slope * across) / rise, "k" + style)
    axis.scatter(*X.T, c=y, cmap="coolwarm")
    axis.scatter(*svc.support_vectors_.T, s=80, facecolors="none", edgecolors="k")
    axis.set(title=f"C = {C:g}", ylim=(X[:, 1].min() - 1, X[:, 1].max() + 1))
pyplot.show()
