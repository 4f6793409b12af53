"""The score of a LinearSVC along C, for two losses."""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import make_classification
from sklearn.model_selection import validation_curve
from sklearn.svm import LinearSVC

X, y = make_classification(150, 60, n_informative=5, random_state=1, flip_y=0.1)
Cs = np.logspace(-4, 0, 7)
figure, axis = pyplot.subplots(figsize=(5, 4))
for loss in ("hinge", "squared_hinge"):
    model = LinearSVC(loss=loss, max_iter=100_000, random_state=0)
    _, scores = validation_curve(model, X, y, param_name="C", param_range=Cs, cv=5)
    axis.semilogx(Cs, scores.mean(axis=1), label=loss)
axis.set(xlabel="C", ylabel="score", ylim=(0.5, 1.0))
axis.legend()
pyplot.show()
