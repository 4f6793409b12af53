"""The same rows, with weights: heavy ones pull the boundary to their side."""

import numpy as np
from matplotlib import pyplot
from sklearn.svm import SVC

random = np.random.default_rng(0)
X = random.normal(size=(20, 2)) + np.repeat([[1.0], [0.0]], 10, axis=0)
y = np.repeat([1, -1], 10)
heavy = random.uniform(0.1, 2.0, 20)
heavy[15:] *= 5
grid = np.stack(np.meshgrid(np.linspace(-4, 5, 120), np.linspace(-4, 5, 120)), axis=-1)
figure, axes = pyplot.subplots(1, 2, figsize=(8, 4))
for axis, weights in zip(axes, (np.ones(20), heavy), strict=True):
    svc = SVC(gamma=1.0).fit(X, y, sample_weight=weights)
    values = svc.decision_function(grid.reshape(-1, 2)).reshape(120, 120)
    axis.contourf(grid[..., 0], grid[..., 1], values, levels=12, cmap="bone", alpha=0.75)
    axis.scatter(*X.T, c=y, s=60 * weights, cmap="coolwarm", edgecolors="k")
pyplot.show()
