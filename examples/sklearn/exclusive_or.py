"""Classes that no plane separates, and an RBF kernel does."""

import numpy as np
from matplotlib import pyplot
from sklearn.svm import SVC

random = np.random.default_rng(0)
X = random.normal(size=(200, 2))
y = np.logical_xor(X[:, 0] > 0, X[:, 1] > 0)
svc = SVC(gamma="auto").fit(X, y)
across, up = np.meshgrid(np.linspace(-3, 3, 200), np.linspace(-3, 3, 200))
values = svc.decision_function(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
figure, axis = pyplot.subplots(figsize=(5, 4))
axis.imshow(values, extent=(-3, 3, -3, 3), origin="lower", cmap="PuOr_r", aspect="auto")
axis.contour(across, up, values, levels=[0], linestyles="--", colors="k")
axis.scatter(*X.T, c=y, s=20, cmap="Paired", edgecolors="k")
pyplot.show()
