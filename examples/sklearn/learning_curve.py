"""The score along the number of rows."""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_digits
from sklearn.model_selection import learning_curve
from sklearn.svm import SVC

X, y = load_digits(return_X_y=True)
sizes, train, test = learning_curve(SVC(gamma=0.001), X[:600], y[:600], cv=3, train_sizes=np.linspace(0.2, 1.0, 4))
figure, axis = pyplot.subplots(figsize=(5, 4))
axis.plot(sizes, train.mean(axis=1), "o-", label="train")
axis.plot(sizes, test.mean(axis=1), "o-", label="test")
axis.set(xlabel="rows", ylabel="score", ylim=(0.5, 1.02))
axis.legend()
pyplot.show()
