"""A table of kernel values in the place of rows."""

from matplotlib import pyplot
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

X, y = make_moons(200, noise=0.2, random_state=0)
A, B, y_A, y_B = train_test_split(X, y, random_state=0)
svc = SVC(kernel="precomputed").fit(laplacian_kernel(A, A, gamma=1.0), y_A)
values = svc.decision_function(laplacian_kernel(B, A, gamma=1.0))
figure, axis = pyplot.subplots(figsize=(5, 4))
shown = axis.scatter(*B.T, c=values, cmap="coolwarm", marker="o", edgecolors="k")
axis.set_title(f"{len(svc.support_)} support vectors, score {svc.score(laplacian_kernel(B, A, gamma=1.0), y_B):.2f}")
figure.colorbar(shown)
pyplot.show()
