"""How many columns an F test should keep for an SVC: the score along the share of them."""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectPercentile
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

X, y = load_iris(return_X_y=True)
X = np.hstack([X, 2 * np.random.RandomState(0).random((len(X), 36))])
pipeline = make_pipeline(SelectPercentile(), StandardScaler(), SVC(gamma="auto"))
shares = (1, 3, 6, 10, 20, 40, 80, 100)
scores = [cross_val_score(pipeline.set_params(selectpercentile__percentile=share), X, y) for share in shares]
figure, axis = pyplot.subplots(figsize=(5, 4))
axis.errorbar(shares, np.mean(scores, axis=1), np.std(scores, axis=1))
axis.set(xlabel="percent of the columns", ylabel="score")
pyplot.show()
