"""Three kernels on the same rows."""

from matplotlib import pyplot
from sklearn.datasets import make_classification
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.svm import SVC

X, y = make_classification(80, 2, n_redundant=0, n_clusters_per_class=1, class_sep=0.8, random_state=4)
figure, axes = pyplot.subplots(1, 3, figsize=(10, 3.4))
for axis, kernel in zip(axes, ("linear", "poly", "rbf"), strict=True):
    svc = SVC(kernel=kernel, gamma=2, coef0=1.0).fit(X, y)
    how = {"estimator": svc, "X": X, "ax": axis, "response_method": "decision_function"}
    DecisionBoundaryDisplay.from_estimator(
        **how, plot_method="contour", levels=[-1, 0, 1], colors="k", linestyles=["--", "-", "--"]
    )
    axis.scatter(*X.T, c=y, cmap="coolwarm", s=12)
    axis.scatter(*svc.support_vectors_.T, s=60, facecolors="none", edgecolors="k")
    axis.set_title(kernel)
pyplot.show()
