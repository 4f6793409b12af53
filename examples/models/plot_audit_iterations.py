"""
How far from the optimum, by the number of iterations?
======================================================

"Liblinear failed to converge, increase the number of iterations." On features that nobody scaled, more iterations do
not help; on scaled ones a few are enough. Each point is a proven upper bound, which the lower bound meets.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from maxmargin import audit

X, y = load_breast_cancer(return_X_y=True)
counts = (10, 100, 1000, 10_000)
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for rows, name, marker in ((X, "as it is", "s"), (scale(X), "scaled", "o")):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "failed to converge"
        models = [LinearSVC(loss="hinge", max_iter=count, random_state=0).fit(rows, y) for count in counts]
    ax.plot(counts, [audit(model, rows, y).excess for model in models], marker=marker, label=f"features {name}")
ax.set(xscale="log", yscale="log", xlabel="max_iter of LinearSVC", ylabel="above the optimum at most (1 = 100 %)")
ax.set_title("LinearSVC on breast cancer, hinge loss, C = 1")
ax.legend()
