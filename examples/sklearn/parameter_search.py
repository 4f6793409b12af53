"""A search over C and gamma, as a map of scores."""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

X, y = load_iris(return_X_y=True)
grid = {"svc__C": np.logspace(-2, 3, 6), "svc__gamma": np.logspace(-4, 1, 6)}
folds = StratifiedShuffleSplit(3, test_size=0.3, random_state=0)
search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=folds).fit(X, y)
figure, axis = pyplot.subplots(figsize=(5, 4))
shown = axis.imshow(search.cv_results_["mean_test_score"].reshape(6, 6), cmap="viridis", vmin=0.2, vmax=1.0)
figure.colorbar(shown)
axis.set(xlabel="gamma", ylabel="C", title=f"best score {search.best_score_:.3f}")
pyplot.show()
