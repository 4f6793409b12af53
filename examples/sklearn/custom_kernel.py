"""A kernel that is a function of the user."""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_iris
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.svm import SVC

X, y = load_iris(return_X_y=True)
X = X[:, :2]


def stretched(A, B):
    return A @ np.diag([2.0, 1.0]) @ B.T


svc = SVC(kernel=stretched).fit(X, y)
figure, axis = pyplot.subplots(figsize=(5, 4))
DecisionBoundaryDisplay.from_estimator(
    svc, X, ax=axis, response_method="predict", plot_method="pcolormesh", cmap="Pastel1"
)
axis.scatter(*X.T, c=y, cmap="Set1", edgecolors="k")
pyplot.show()
