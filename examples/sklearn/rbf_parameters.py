"""What gamma and C do to the boundary of an RBF kernel."""

from matplotlib import pyplot
from sklearn.datasets import load_iris
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

X, y = load_iris(return_X_y=True)
X, y = StandardScaler().fit_transform(X[y > 0][:, :2]), y[y > 0]
figure, axes = pyplot.subplots(3, 3, figsize=(7, 7))
for line, C in zip(axes, (0.01, 1.0, 100.0), strict=True):
    for axis, gamma in zip(line, (0.1, 1.0, 10.0), strict=True):
        svc = SVC(C=C, gamma=gamma).fit(X, y)
        DecisionBoundaryDisplay.from_estimator(
            svc, X, ax=axis, response_method="decision_function", cmap="RdBu", grid_resolution=60
        )
        axis.scatter(*X.T, c=y, cmap="coolwarm", s=6)
        axis.set(title=f"gamma {gamma:g}, C {C:g}", xticks=(), yticks=(), xlabel="", ylabel="")
pyplot.show()
