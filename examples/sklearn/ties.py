"""Pairs of classes vote; where votes are equal, the scores may decide."""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

X, y = make_blobs(random_state=27)
across, up = np.meshgrid(np.linspace(X[:, 0].min(), X[:, 0].max(), 250), np.linspace(X[:, 1].min(), X[:, 1].max(), 250))
grid = np.column_stack([across.ravel(), up.ravel()])
figure, axes = pyplot.subplots(1, 2, figsize=(8, 4))
for axis, breaks in zip(axes, (False, True), strict=True):
    svc = SVC(kernel="linear", C=1, break_ties=breaks, decision_function_shape="ovr").fit(X, y)
    axis.pcolormesh(across, up, svc.predict(grid).reshape(across.shape), cmap="Pastel1")
    axis.scatter(*X.T, c=y, cmap="Set1", s=12)
    axis.set_title(f"break_ties={breaks}")
pyplot.show()
