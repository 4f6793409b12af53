"""The cliffs of hard margins: whether a plane separates, and the widest street."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from cliffs_data import LabelledSet, Sets, images
from cliffs_race import Cliff, Race


def with_errors(X, y, share: float) -> LabelledSet:
    """Some labels turned over, and every number a little wrong: no column says anything by itself."""
    random = np.random.default_rng(4)
    X = X + 0.05 * random.standard_normal(X.shape).astype(X.dtype)
    return LabelledSet(X, np.where(random.random(len(y)) < share, -y, y))


def separability_of_images(sets: Sets) -> Iterator[Race]:
    """The peer stops after 20 sweeps, and knows nothing then; ours has a witness, proven."""
    from sklearn.linear_model import Perceptron

    from maxmargin import separability

    if sets.folder is None:
        X, y = with_errors(*images(10_000 if sets.short else 70_000), 0.05)
    else:
        X, y = sets.load("mnist")
    theirs = partial(Perceptron(max_iter=20, tol=None, random_state=0).fit, X, y)

    def verdict(certificate) -> str:
        return f"{certificate.verdict.name.lower().replace('_', ' ')}, {len(certificate.rows)} witness rows"

    name = f"{X.shape[0]} x {X.shape[1]}"
    yield Race(name, "Perceptron, 20 sweeps", partial(separability, X, y), theirs, verdict)


def l1_margin(sets: Sets) -> Iterator[Race]:
    """The peer is HiGHS on the linear program as it is written, through SciPy."""
    import scipy.sparse as sparse
    from scipy.optimize import linprog

    from maxmargin import HardMarginSVM

    n, d = (200, 1000) if sets.short else (1000, 2000)
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d))
    y = np.where(X @ random.standard_normal(d) > 0, 1, -1)

    def theirs():
        Z = y[:, None] * X
        rows = sparse.csc_array(np.hstack([-Z, Z, -y[:, None]]))
        cost, bounds = np.r_[np.ones(2 * d), 0.0], [(0.0, None)] * (2 * d) + [(None, None)]
        return linprog(cost, A_ub=rows, b_ub=-np.ones(n), bounds=bounds, method="highs")

    def margins(svm) -> str:
        return f"{str(svm.status_).split(':')[0]}, gap {svm.certificate_.relative_gap:.1e}"

    ours = partial(HardMarginSVM(norm="l1").fit, X, y)
    yield Race(f"{n} x {d}", "HiGHS", ours, theirs, margins)


CLIFFS = {
    "l1_margin": Cliff("at most 4 s", l1_margin),
    "separability_of_images": Cliff("at most 3 s", separability_of_images),
}
