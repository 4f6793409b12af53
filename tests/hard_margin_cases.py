"""Honest certificates of the hard margin, and a liar who keeps the books."""

import dataclasses

import numpy as np
import scipy.sparse as sparse
from falsehoods import Case

from maxmargin import HardMarginSVM, Perceptron, Verdict, Winnow, separability
from maxmargin.certificates.certificate import FurtherLook, certify
from maxmargin.certificates.measure import Claim, objective
from maxmargin.data import synthetic


def l2_with_bias():
    X, y, _ = synthetic.separable_gaussians(n=30, d=3, margin=0.3, seed=2)
    y = np.where(y > 0, "spam", "ham")
    return Case(HardMarginSVM().fit(X, y).certificate_, X, y)


def l2_through_the_origin():
    X, y, plane = synthetic.separable_gaussians(n=30, d=3, margin=0.3, seed=3)
    X += plane.b * plane.w  # the plane now passes through the origin
    return Case(HardMarginSVM(fit_intercept=False).fit(X, y).certificate_, X, y)


def l2_sparse_learnt_by_mistakes():
    X, y, _ = synthetic.separable_gaussians(n=40, d=4, margin=0.5, seed=4)
    X = sparse.csr_array(X)
    return Case(Perceptron().fit(X, y).certificate_, X, y)


def l1_learnt_by_mistakes():
    X, y, _ = synthetic.separable_gaussians(n=30, d=3, margin=0.5, seed=5)
    return Case(Winnow().fit(X, y).certificate_, X, y)


def l1_optimal():
    X = np.array([[2.0, 0.0], [2.0, 5.0], [3.0, -1.0], [0.0, 1.0], [0.0, -4.0], [-1.0, 0.0]])
    signs = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    claim = Claim(np.array([2.0, 0.0]), -2.0, np.array([0, 3]), np.ones(2))
    return Case(certify(X, signs, claim, norm="l1", fit_intercept=True, tol=1e-9), X, signs.astype(int))


def not_separable():
    X, y = synthetic.overlapping(n=40, seed=1)
    return Case(separability(X, y), X, y)


def not_separable_through_the_origin():
    X, y = np.array([[1.0, 1.0], [2.0, 2.0], [1.0, -1.0], [2.0, -2.0]]), np.array([-1, 1, -1, 1])
    return Case(separability(X, y, fit_intercept=False), X, y)


def weakly_separable():
    X, y, _ = synthetic.touching()
    return Case(separability(X, y), X, y)


def undecided():
    X, y = np.array([[1.0, 0.0], [1.0, 1.0], [np.nextafter(1.0, 2.0), 0.5]]), np.array([-1, -1, 1])
    claim = Claim(np.array([1.0, 0.0]), -1.0, np.arange(3), np.array([0.5, 0.5, 1.0]))
    return Case(certify(X, y.astype(float), claim, norm="l2", fit_intercept=True, tol=1e-9), X, y)


def stopped():
    X, y, _ = synthetic.separable_gaussians(n=30, d=3, margin=0.01, seed=6)
    return Case(Perceptron(max_updates=3).fit(X, y).certificate_, X, y)


OPTIMAL = [l2_with_bias, l2_through_the_origin, l1_optimal]
PROVEN = [*OPTIMAL, l2_sparse_learnt_by_mistakes, l1_learnt_by_mistakes]
WITNESSED = [not_separable, weakly_separable]  # and one without a bias, for a falsehood of its own
OPEN = [undecided, stopped]
ALL = [*PROVEN, *WITNESSED, not_separable_through_the_origin, *OPEN]
VERDICTS = {
    l2_with_bias: Verdict.OPTIMAL,
    l2_through_the_origin: Verdict.OPTIMAL,
    l1_optimal: Verdict.OPTIMAL,
    l2_sparse_learnt_by_mistakes: Verdict.SEPARABLE,
    l1_learnt_by_mistakes: Verdict.SEPARABLE,
    not_separable: Verdict.NOT_SEPARABLE,
    not_separable_through_the_origin: Verdict.NOT_SEPARABLE,
    weakly_separable: Verdict.WEAKLY_SEPARABLE,
    undecided: Verdict.UNDECIDED,
    stopped: Verdict.STOPPED,
}
IMPLIED = {  # what is weaker than the truth is still true
    (Verdict.OPTIMAL, Verdict.SEPARABLE),
    (Verdict.WEAKLY_SEPARABLE, Verdict.NOT_SEPARABLE),
    (Verdict.UNDECIDED, Verdict.STOPPED),
    (Verdict.STOPPED, Verdict.UNDECIDED),
}


def lie(case, **changes):
    """The certificate with these changes; primal and dual follow the margins unless they are changed themselves."""
    if changes.get("verdict") is Verdict.NOT_SEPARABLE:  # which speaks of no weakly separating plane
        changes = {"rows_off_plane": None, "further_look": FurtherLook.NOT_ASKED, **changes}
    c = dataclasses.replace(case.certificate, **changes)
    follow = {
        value: objective(getattr(c, margin), c.norm)
        for value, margin in (("primal", "margin_lower"), ("dual", "margin_upper"))
        if value not in changes and (margin in changes or "norm" in changes)
    }
    return case._replace(certificate=dataclasses.replace(c, **follow))
