"""The cliffs of planes between the columns themselves.

Ours has its default tolerance here. How far the peer's plane is above ours, measured by `linear_judge`, stands beside.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from cliffs_data import Sets, clouds, text
from cliffs_race import Cliff, Race, status
from linear_judge import objective


def beside(X, y, loss: str, theirs, ours) -> str:
    """The certified gap of ours, and by how much the peer's objective is above our proven one."""
    proven = ours.certificate_
    excess = objective(X, y, 1.0, loss, theirs().coef_[0]) / proven.primal - 1.0
    gap = (proven.primal - proven.dual) / proven.primal
    return f"{status(ours)}, gap {gap:.1e}; the peer is {excess:.1e} above"


def linear_svm(X, y, **parameters):
    from maxmargin import LinearSVM

    return LinearSVM(**parameters).fit(X, y)


def linear_svc(X, y, loss: str, C: float = 1.0, **parameters):
    from sklearn.svm import LinearSVC

    return LinearSVC(C=C, loss=loss, random_state=0, **parameters).fit(X, y)


def in_pairs(sets: Sets) -> Iterator[Race]:
    from sklearn.svm import SVC

    X, y = clouds(2000 if sets.short else 6000, 20, 32, 0.5)
    ours = partial(linear_svm, X, y, multi_class="ovo")
    yield Race(f"{X.shape[0]} x 20, 32 classes", "SVC linear", ours, lambda: SVC(kernel="linear").fit(X, y))


def squared_hinge_on_text(sets: Sets) -> Iterator[Race]:
    X, y = text(1500, 8000, 15) if sets.folder is None else sets.load("sms_spam", 1500)
    theirs = partial(linear_svc, X, y, "squared_hinge")
    ours, note = partial(linear_svm, X, y, loss="squared_hinge"), partial(beside, X, y, "squared_hinge", theirs)
    yield Race(f"{X.shape[0]} x {X.shape[1]}", "LinearSVC", ours, theirs, note)


def small_table(sets: Sets) -> Iterator[Race]:
    X, y = clouds(270, 13, 2, 1.0) if sets.folder is None else sets.load("heart_scale")
    ours, theirs = partial(linear_svm, X, y), partial(linear_svc, X, y, "hinge")
    yield Race(f"{X.shape[0]} x {X.shape[1]}", "LinearSVC hinge", ours, theirs, partial(beside, X, y, "hinge", theirs))


def linear_predictions(sets: Sets) -> Iterator[Race]:
    X, y = clouds(200_000 if sets.short else 1_000_000, 50, 2, 1.0)
    ours, theirs = linear_svm(X[:2000], y[:2000]), linear_svc(X[:2000], y[:2000], "hinge")
    for order in ("C", "F"):
        rows = np.asarray(X, order=order)
        name = f"{X.shape[0]} x 50, {order} order"
        yield Race(name, "LinearSVC", partial(ours.predict, rows), partial(theirs.predict, rows))


def stochastic(sets: Sets) -> Iterator[Race]:
    from sklearn.linear_model import SGDClassifier

    from maxmargin import StochasticSVM

    X, y = clouds(50_000, 40, 2, 1.0) if sets.folder is None else sets.load("kddcup99_10pct")
    ours = partial(StochasticSVM(max_iter=5).fit, X, y)
    theirs = partial(SGDClassifier(max_iter=5, tol=None, random_state=0).fit, X, y)
    yield Race(f"{X.shape[0]} x {X.shape[1]}, 5 sweeps", "SGDClassifier", ours, theirs)


def hundred_classes(sets: Sets) -> Iterator[Race]:
    X, y = clouds(3000 if sets.short else 20_000, 50, 100, 0.5)
    ours = partial(linear_svm, X, y, multi_class="ovr")
    yield Race(f"{X.shape[0]} x 50, 100 classes", "LinearSVC hinge", ours, partial(linear_svc, X, y, "hinge"))


CLIFFS = {
    "in_pairs": Cliff("0.8", in_pairs),
    "squared_hinge_on_text": Cliff("1", squared_hinge_on_text),
    "small_table": Cliff("1", small_table),
    "linear_predictions": Cliff("0.8", linear_predictions),
    "stochastic": Cliff("0.8", stochastic),
    "hundred_classes": Cliff("at most 5 s", hundred_classes),
}
