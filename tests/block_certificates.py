"""Certificates by blocks of small tables, near the optimum: plane and weights are those of a fit in memory."""

import itertools

import numpy as np
from block_margin_oracle import answer_of, facts_of, table_of, weights_of

from maxmargin import LinearSVM, MulticlassCertificate
from maxmargin.certificates.block_duality import both_sides
from maxmargin.certificates.block_margin import certify_blocks
from maxmargin.data.labelled import row_ids
from maxmargin.problems.block_margin import BlockMargin
from maxmargin.problems.losses import loss_named

HEIGHTS = [13, 0, 30, 1, 16]


def rows_of(n=60, d=3, seed=0, classes=("no", "yes")):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    values = X @ random.normal(size=d) + 0.6 * random.normal(size=n)
    edges = np.quantile(values, np.arange(1, len(classes)) / len(classes))
    return X, np.array(classes)[np.searchsorted(edges, values)]


def ids_of(heights):
    return np.concatenate([row_ids(k, np.arange(height)) for k, height in enumerate(heights)])


def certified(
    X, y, heights=HEIGHTS, *, loss="hinge", C=1.0, fit_intercept=True, class_weight=None, sample_weight=None,
    positive=None, negative=None, huber_width=None, tol=1e-4, rest=False, matters=0.0, width=0.0,
):  # fmt: skip
    """Of two classes, or of one against another or the rest."""
    table, form = table_of(X, y, heights, sample_weight), loss_named(loss, huber_width)
    labels = [label.item() for label in table.classes]
    positive = labels[1] if positive is None else positive
    negative = None if rest else labels[0] if negative is None else negative
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    kept = (weights > 0.0) & (rest | np.isin(y, [positive, negative]))
    pairs = {} if class_weight is None else class_weight
    own = np.array([pairs.get(label, 1.0) for label in y.tolist()])
    svm = LinearSVM(C=C, loss=loss, fit_intercept=fit_intercept, huber_width=huber_width, tol=1e-9)
    svm.fit(X[kept], y[kept] == positive, sample_weight=own[kept] * weights[kept])
    w, b, proof = svm.coef_[0], float(svm.intercept_[0]), svm.certificate_
    ids, shares = [], []
    if not form.is_smooth:
        a = np.zeros(int(kept.sum()))
        a[proof.rows] = proof.weights
        a /= C * own[kept] * weights[kept]
        inside = (np.abs(1 - np.where(y[kept] == positive, 1, -1) * (X[kept] @ w + b)) < 1e-3) | ((a > 0) & (a < 1))
        ids, shares = ids_of(heights)[kept][inside], np.minimum(1.0, a[inside])
    prices = C * np.array([pairs.get(label, 1.0) for label in labels])
    code = None if rest else labels.index(negative)
    problem = BlockMargin(labels.index(positive), code, prices, form, fit_intercept)
    told = weights_of(w, b, 0.0 if form.is_smooth else width, ids, shares)
    found = answer_of(table, problem, both_sides(problem, facts_of(table), w, b, told, matters=matters))
    return certify_blocks(
        problem, (w, b), told, (found.primal.upper, found.dual.lower), C=C, class_weight=tuple(pairs.items()),
        positive=positive, negative=negative, n_rows=found.n_rows, heights=np.array(heights),
        fingerprint=found.fingerprint, tol=tol,
    )  # fmt: skip


def of_many_classes(X, y, heights=HEIGHTS, *, pairs=False, **how):
    labels = np.unique(y).tolist()
    if not pairs:
        return MulticlassCertificate(tuple(certified(X, y, heights, positive=one, rest=True, **how) for one in labels))
    return MulticlassCertificate(
        tuple(
            certified(X, y, heights, positive=one, negative=two, **how)
            for one, two in itertools.combinations(labels, 2)
        )
    )
