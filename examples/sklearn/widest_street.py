"""The widest street between two blobs, and the rows that hold it."""

from matplotlib import pyplot
from sklearn.datasets import make_blobs
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.svm import SVC

X, y = make_blobs(40, centers=2, random_state=6)
svc = SVC(kernel="linear", C=1000.0).fit(X, y)
figure, axis = pyplot.subplots(figsize=(5, 4))
axis.scatter(*X.T, c=y, cmap="coolwarm")
DecisionBoundaryDisplay.from_estimator(
    svc,
    X,
    ax=axis,
    plot_method="contour",
    response_method="decision_function",
    colors="k",
    levels=[-1, 0, 1],
    linestyles=["--", "-", "--"],
)
axis.scatter(*svc.support_vectors_.T, s=100, facecolors="none", edgecolors="k")
pyplot.show()
