"""
Stochastic gradient descent: how far, and does it matter?
=========================================================

Fifty seeds of SGDClassifier: how far each is above the optimum, and how many training samples it gets right. The line
is the optimum itself.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import scale

from maxmargin import audit, from_scikit_learn

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
models = [SGDClassifier(random_state=seed).fit(X, y) for seed in range(50)]
excesses = np.array([audit(model, X, y).excess for model in models])
best = from_scikit_learn(models[0], n_rows=len(X)).fit(X, y)

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.scatter(
    excesses, [model.score(X, y) for model in models], color="#d55e00", alpha=0.7, label="SGDClassifier, a seed each"
)
ax.axhline(best.score(X, y), color="#0072b2", label="the optimum")
ax.set(xscale="log", xlabel="above the optimum at most (1 = 100 %)", ylabel="accuracy on the training samples")
ax.legend()
