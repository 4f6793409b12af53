"""Linear and curved classifiers of the iris, side by side."""

from matplotlib import pyplot
from sklearn.datasets import load_iris
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.svm import SVC, LinearSVC

X, y = load_iris(return_X_y=True)
X = X[:, :2]
models = (
    SVC(kernel="linear"),
    LinearSVC(max_iter=100_000, random_state=0),
    SVC(gamma=0.7),
    SVC(kernel="poly", degree=3, gamma="auto"),
)
figure, axes = pyplot.subplots(2, 2, figsize=(7, 6))
for axis, model in zip(axes.flat, models, strict=True):
    DecisionBoundaryDisplay.from_estimator(
        model.fit(X, y), X, ax=axis, response_method="predict", cmap="coolwarm", alpha=0.8, grid_resolution=120
    )
    axis.scatter(*X.T, c=y, cmap="coolwarm", s=12, edgecolors="k")
    axis.set(title=f"{type(model).__name__}, {getattr(model, 'kernel', 'linear')}", xticks=(), yticks=())
pyplot.show()
