"""LinearSVC keeps no support vectors: they are the rows inside the street."""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import make_blobs
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.svm import LinearSVC

X, y = make_blobs(100, centers=2, random_state=0)
figure, axes = pyplot.subplots(1, 2, figsize=(9, 4))
for axis, C in zip(axes, (1, 100), strict=True):
    model = LinearSVC(C=C, loss="hinge", random_state=42, max_iter=200_000).fit(X, y)
    inside = np.abs(model.decision_function(X)) <= 1 + 1e-3
    axis.scatter(*X.T, c=y, s=20, cmap="Paired")
    DecisionBoundaryDisplay.from_estimator(
        model,
        X,
        ax=axis,
        plot_method="contour",
        response_method="decision_function",
        colors="k",
        levels=[-1, 0, 1],
        linestyles=["--", "-", "--"],
    )
    axis.scatter(*X[inside].T, s=90, facecolors="none", edgecolors="k")
    axis.set_title(f"C = {C}")
pyplot.show()
