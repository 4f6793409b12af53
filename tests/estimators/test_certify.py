"""`certify`: the numbers are those of exactly the plane that was given, the bounds are those of all planes."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from maxmargin import HardMarginSVM, LinearSVM, certify
from maxmargin.certificates.certificate import Certificate, Verdict
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.certificates.soft_margin import SoftMarginCertificate, SoftVerdict
from maxmargin.data.synthetic import overlapping, street

FOUR = np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 0.0], [5.0, 1.0]])
SIDES = np.array(["left", "left", "right", "right"])
IRIS = load_iris(return_X_y=True)
NOISY = overlapping(80, seed=4)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, 80)


def objective(X, signs, w, b, costs, loss=lambda t: t):
    return 0.5 * w @ w + np.sum(costs * loss(np.maximum(0.0, 1.0 - signs * (X @ w + b))))


def test_a_margin_of_exactly_this_plane():
    drawn = certify(FOUR, SIDES, [2, 0], -4)
    certificate = drawn.certificate
    assert isinstance(certificate, Certificate)
    assert (certificate.w.tolist(), certificate.b) == ([2.0, 0.0], -4.0)
    assert certificate.margin_lower == drawn.margin == pytest.approx(1.0, rel=1e-12)
    assert certificate.margin_lower <= 1.0
    assert certificate.margin_upper == pytest.approx(1.5, rel=1e-12)
    assert drawn.share == pytest.approx(2 / 3, rel=1e-9)
    assert (certificate.verdict, drawn.is_separable) == (Verdict.SEPARABLE, True)
    assert drawn.verify(FOUR, SIDES, exact=True)
    assert math.isnan(drawn.objective)
    assert "at least 0.6666 of the best margin" in str(drawn)


def test_the_best_plane_is_said_to_be_the_best():
    svm = HardMarginSVM().fit(FOUR, SIDES)
    found = certify(FOUR, SIDES, svm.coef_, svm.intercept_)
    assert found.certificate.verdict is Verdict.OPTIMAL
    assert found.share > 1.0 - 1e-9


def test_a_plane_that_does_not_separate_where_another_does():
    wrong = certify(FOUR, SIDES, [1.0, 0.0], 2.0)
    assert wrong.margin == pytest.approx(-2.0)
    assert (wrong.is_separable, wrong.certificate.is_separable, wrong.share) == (True, None, 0.0)
    said = "2 of 4 rows are not on their side. Another one does, which is proven."
    assert wrong.verdict == f"This plane does not separate the classes: {said}"
    assert wrong.verify(FOUR, SIDES, exact=True)
    assert wrong.audit.parts[0].best_lower == pytest.approx(1.5)


def test_no_plane_separates_and_the_witness_says_so():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    none = certify(X, y, [1.0], -0.5, None)
    assert none.certificate.verdict is Verdict.NOT_SEPARABLE
    assert sorted(none.certificate.rows) == [0, 1, 2]
    assert none.verify(X, y, exact=True)
    assert "No plane separates the classes" in repr(none)


def test_a_plane_that_touches_is_weakly_separating():
    X, y = [[0.0], [1.0], [1.0]], [0, 1, 0]
    touching = certify(X, y, [1.0], -1.0)
    assert touching.certificate.verdict is Verdict.WEAKLY_SEPARABLE
    assert touching.certificate.rows_off_plane == 1
    assert touching.verify(X, y, exact=True)


@pytest.mark.parametrize(
    ("loss", "curve"),
    [("hinge", lambda t: t), ("squared_hinge", lambda t: t * t), ("huber_hinge", None), ("modified_huber", None)],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_an_objective_of_exactly_this_plane(loss, curve, weighted):
    X, y = NOISY
    w, b, sample_weight = np.array([0.3, -0.2]), 0.1, WEIGHTS if weighted else None
    found = certify(X, y, w, b, C=0.7, loss=loss, sample_weight=sample_weight, class_weight={1: 2.0})
    costs = 0.7 * np.where(y == 1, 2.0, 1.0) * (WEIGHTS if weighted else 1.0)
    if curve is not None:
        assert found.objective == pytest.approx(objective(X, y, w, b, costs, curve), rel=1e-12)
    best = LinearSVM(0.7, loss=loss, class_weight={1: 2.0}, tol=1e-8).fit(X, y, sample_weight).certificate_
    certificate = found.certificate
    assert isinstance(certificate, SoftMarginCertificate)
    assert certificate.w.tolist() == w.tolist()
    assert certificate.primal == found.objective
    assert best.dual * (1 - 2e-6) <= certificate.dual <= best.primal
    assert certificate.verdict is SoftVerdict.BOUNDED
    true = found.objective / best.primal - 1.0
    assert found.least_excess <= true + 1e-7
    assert true - 1e-7 <= found.excess <= true + 1e-4
    assert found.verify(X, y, exact=True, sample_weight=sample_weight)
    if weighted:
        assert not found.verify(X, y)


def test_what_linear_svm_found_is_optimal():
    X, y = NOISY
    svm = LinearSVM(C=2.0, tol=1e-7).fit(X, y)
    found = certify(X, y, svm.coef_[0], svm.intercept_[0], C=2.0)
    assert found.certificate.verdict is SoftVerdict.OPTIMAL
    assert found.excess < 2e-6
    moved = certify(X, y, svm.coef_[0], svm.intercept_[0] + 0.5, C=2.0)
    assert moved.least_excess > 1e-3
    assert moved.audit.parts[0].objective_best_bias == pytest.approx(svm.certificate_.primal, rel=1e-6)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("C", [math.inf, 0.5])
def test_many_classes_have_a_plane_each(multi_class, C):
    X, y = IRIS
    W, b = np.random.default_rng(1).normal(size=(3, 4)), np.arange(3.0)
    found = certify(X, y, W, b, C=C, multi_class=multi_class)
    assert isinstance(found.certificate, MulticlassCertificate)
    assert [part.w.tolist() for part in found.certificate] == W.tolist()
    assert [part.b for part in found.certificate] == b.tolist()
    assert found.verify(X, y, exact=True)
    assert len(found.margin) == len(found.objective) == 3
    if math.inf == C:  # versicolor and virginica are not separable
        assert found.is_separable is False


def test_the_l1_margin_and_sparse_rows():
    X, y, _ = street(40, seed=2)
    w, b = np.array([1.0, 0.7]), -0.3
    dense, thin = (certify(table, y, w, b, norm="l1") for table in (X, sparse.csr_array(X)))
    own = np.min(y * (X @ w + b)) / np.abs(w).sum()
    assert [dense.margin, thin.margin] == pytest.approx([own, own], rel=1e-9)
    assert dense.verify(X, y, exact=True)


def test_through_the_origin():
    X, y = FOUR - [1.5, 0.0], SIDES
    found = certify(X, y, [1.0, 0.0], fit_intercept=False)
    assert not found.certificate.fit_intercept
    assert found.verify(X, y, exact=True)
    with pytest.raises(ValueError, match="b must be 0"):
        certify(X, y, [1.0, 0.0], 1.0, fit_intercept=False)


def test_rows_of_weight_zero_do_not_count():
    X, y = np.vstack([FOUR, [[10.0, 0.0]]]), np.append(SIDES, "left")
    weights = [1.0, 1.0, 1.0, 1.0, 0.0]
    found = certify(X, y, [1.0, 0.0], -1.5, sample_weight=weights)
    assert found.margin == pytest.approx(1.5)
    assert found.verify(X, y, exact=True, sample_weight=weights)


class Tensor:
    """What a tensor with a gradient does to NumPy."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    def detach(self):
        return self

    def cpu(self):
        return np.array(self.values, dtype=np.float32)


def test_a_tensor_with_a_gradient():
    assert certify(FOUR, SIDES, Tensor([1, 0]), Tensor(-1.5)).share > 1.0 - 1e-9


def test_no_time_leaves_true_bounds():
    X, y = overlapping(400, seed=1)
    found = certify(X, y, [1.0, 1.0], 0.0, C=1.0, max_time=1e-9)
    assert found.certificate.dual <= LinearSVM(tol=1e-6).fit(X, y).certificate_.primal
    assert found.verify(X, y, exact=True)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"w": [1.0]}, "w has 1 numbers for a plane, and the rows have 2 columns"),
        ({"w": [[1.0, 0.0], [0.0, 1.0]]}, r"w has the shape \(2, 2\)"),
        ({"w": [1.0, math.nan]}, r"w\[1\] is nan: a plane is made of finite numbers"),
        ({"b": math.inf}, "b is inf"),
        ({"b": [1.0, 2.0]}, r"b has the shape \(2,\); there must be one number"),
        ({"w": ["a", "b"]}, "w must hold numbers"),
        ({"w": [1.0, 1j]}, "w must hold numbers"),
        ({"w": [0.0, 0.0]}, "w is zero, which is no plane"),
        ({"w": [2**53 + 1, 0]}, "9007199254740993"),
        ({"C": -1.0}, "C must be"),
        ({"C": 1.0, "norm": "l1"}, "the l2 norm"),
        ({"class_weight": "balanced"}, "a finite C only"),
        ({"loss": "logistic"}, "loss='logistic' is not known"),
        ({"norm": "l3"}, "norm='l3' is not known"),
        ({"y": ["a"] * 4}, "one class only"),
        ({"y": ["a"] * 3}, "inconsistent|rows"),
        ({"X": [[0.0, math.nan], [0, 2], [3, 0], [5, 1]]}, "row 0, column 1"),
        ({"class_weight": {"up": 2.0}, "C": 1.0}, "are not in class_weight"),
        ({"tol": 2.0}, "tol must be"),
        ({"multi_class": "all"}, "multi_class='all' is not known"),
        ({"fit_intercept": "no"}, "fit_intercept must be"),
        ({"w": [1e200, 0.0], "C": 1.0}, "beyond what float64 can hold"),
    ],
)
def test_sentences(changed, sentence):
    asked = {"X": FOUR, "y": SIDES, "w": [1.0, 0.0], "b": -1.5} | changed
    with pytest.raises(ValueError, match=sentence):
        certify(**asked)


@settings(max_examples=30, deadline=None)
@given(
    w=st.lists(st.integers(-8, 8), min_size=2, max_size=2).filter(any),
    b=st.integers(-8, 8),
    C=st.sampled_from([math.inf, 0.25, 4.0]),
)
def test_bounds_hold_in_fractions(w, b, C):
    found = certify(FOUR, SIDES, w, b, C=C).certificate
    signs = [-1, -1, 1, 1]
    values = [
        sign * (w[0] * Fraction(x) + w[1] * Fraction(z) + b) for sign, (x, z) in zip(signs, FOUR.tolist(), strict=True)
    ]
    if math.inf == C:
        least, square, claimed = min(values), Fraction(w[0] ** 2 + w[1] ** 2), Fraction(found.margin_lower)
        assert claimed * abs(claimed) * square <= least * abs(least)  # claimed <= least / |w|, without a root
    else:
        exact = Fraction(w[0] ** 2 + w[1] ** 2, 2) + Fraction(C) * sum(max(Fraction(0), 1 - value) for value in values)
        assert exact <= Fraction(found.primal) <= exact * (1 + Fraction(1, 10**9))


def test_an_excess_beyond_float64_is_no_infinite_lower_bound():
    drawn = certify(1e150 * FOUR, SIDES, [1e150, 0.0], 0.0, C=1.0)
    assert drawn.least_excess == sys.float_info.max
    assert "at least 1.79e+308 of it; no upper bound is proven" in drawn.report()


def test_shares_are_rounded_outwards():
    drawn = certify(*NOISY, np.ones(NOISY[0].shape[1]), 0.0, C=1.0)
    (line,) = [line for line in drawn.report().splitlines() if "above the optimum: at least" in line]
    words = line.replace(",", "").split()
    least, most = (float(words[place + 1]) for place, word in enumerate(words) if word in ("least", "most"))
    assert least <= drawn.least_excess <= drawn.excess <= most
    assert (least, most) == (pytest.approx(drawn.least_excess, rel=1e-2), pytest.approx(drawn.excess, rel=1e-2))
