"""A rare class, with and without a class weight."""

from matplotlib import pyplot
from sklearn.datasets import make_blobs
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.svm import SVC

X, y = make_blobs([500, 50], centers=[[0, 0], [2, 2]], cluster_std=[1.5, 0.5], random_state=0)
figure, axis = pyplot.subplots(figsize=(5, 4))
axis.scatter(*X.T, c=y, cmap="coolwarm", s=8)
for weight, colour in ((None, "k"), ({1: 10.0}, "r")):
    svc = SVC(kernel="linear", class_weight=weight).fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        svc, X, ax=axis, plot_method="contour", response_method="decision_function", colors=colour, levels=[0]
    )
pyplot.show()
