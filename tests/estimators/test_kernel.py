"""KernelSVM: the planes of SVC with a proof, the hard margin, many classes, weights, bounded memory, approximation."""

import itertools
import math
import pickle
import signal

import kernel_cases
import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from maxmargin import KernelCertificate, KernelSVM, KernelVerdict, NotSeparableError
from maxmargin.estimators.kernel import KEPT
from maxmargin.problems.kernels import product
from maxmargin.run.control import Status
from maxmargin.solve.kernel_margin import KernelJudge
from maxmargin.solvers.kernel_smo import method as batch_smo
from maxmargin.solvers.kernel_smo import row_cache

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "other", "other", "same"]
each_kernel = pytest.mark.parametrize("name", kernel_cases.KERNELS)
each_form = pytest.mark.parametrize("form", kernel_cases.FORMS)


@each_kernel
@each_form
def test_as_svc_and_proven(name, form):
    X, y = kernel_cases.rings(n=120)
    X, kernel = kernel_cases.FORMS[form](X), kernel_cases.KERNELS[name]
    svm = KernelSVM(C=2.0, tol=1e-8, **kernel).fit(X, y)
    svc = SVC(C=2.0, tol=1e-9, **kernel).fit(kernel_cases.dense(X), y)
    expected = svc.decision_function(kernel_cases.dense(X))
    assert svm.decision_function(X) == pytest.approx(expected, abs=2e-3 * max(1.0, np.abs(expected).max()))
    assert svm.status_ is Status.PROVEN
    certificate = svm.certificate_
    assert certificate.is_optimal
    assert certificate.relative_gap <= 1e-8
    assert certificate.verify(X, y, kernel=kernel["kernel"] if callable(kernel["kernel"]) else None)


@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "rbf", "gamma": 1.0},
        {"kernel": "poly", "gamma": 1, "coef0": 1, "degree": 2},
        {"kernel": lambda A, B: (A @ B.T + 1) ** 2},
    ],
    ids=["rbf", "poly", "function"],
)
@pytest.mark.parametrize("C", [10.0, math.inf])
def test_xor_is_learnt(kernel, C):
    X, y = np.array(XOR[0], dtype=float), np.array(XOR[1])
    svm = KernelSVM(C=C, **kernel).fit(X, y)
    assert svm.predict(X).tolist() == XOR[1]
    assert svm.certificate_.is_optimal


def test_the_exact_certificate_of_a_polynomial():
    svm = KernelSVM(C=math.inf, kernel="poly", gamma=1, coef0=1, degree=2, tol=1e-9).fit(*XOR)
    certificate = svm.certificate_
    assert certificate.verify(*XOR, exact=True)
    assert certificate.margin_lower <= math.sqrt(3 / 32) <= certificate.margin_upper  # by hand: 1/2 |w|^2 = 16/3
    assert svm.margin_ == pytest.approx(math.sqrt(3 / 32))


def test_no_plane_with_a_proof():
    with pytest.raises(NotSeparableError) as caught:
        KernelSVM(C=math.inf, kernel="linear").fit(*XOR)
    certificate = caught.value.certificate
    assert certificate.verdict is KernelVerdict.NOT_SEPARABLE
    assert certificate.is_separable is False
    assert certificate.verify(*XOR, exact=True)
    X, y = [[0.1, 0.2], [1.0, 0.0], [0.1, 0.2], [3.0, 1.0]], [0, 0, 1, 1]
    with pytest.raises(NotSeparableError) as caught:  # equal rows of both classes: no kernel tells them apart
        KernelSVM(C=math.inf).fit(X, y)
    assert set(caught.value.certificate.rows) == {0, 2}
    assert caught.value.certificate.verify(X, y)


def test_hard_margin_on_rings():
    X, y = kernel_cases.rings(noise=0.05)
    svm = KernelSVM(C=math.inf, tol=1e-6).fit(X, y)
    assert np.min(y * svm.decision_function(X)) == pytest.approx(1.0, abs=1e-9)
    assert svm.certificate_.margin_lower == pytest.approx(svm.margin_, rel=1e-6)
    assert not svm.bounded_.any()


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_many_classes(multi_class):
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500]
    svm = KernelSVM(C=10.0, multi_class=multi_class).fit(X, y)
    assert svm.score(X, y) == 1.0
    assert svm.decision_function(X).shape == (500, 10)
    assert len(svm.certificate_) == (45 if multi_class == "ovo" else 10)
    assert svm.certificate_.verify(X, y)
    assert len(svm.dual_coef_) == len(svm.intercept_) == len(svm.certificate_)


def test_a_weight_is_so_many_rows():
    X, y = kernel_cases.rings(n=60)
    weights = np.where(np.arange(60) % 3, 1, 2)
    weighted = KernelSVM(tol=1e-9, gamma=1.0).fit(X, y, sample_weight=weights)
    repeated = KernelSVM(tol=1e-9, gamma=1.0).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.decision_function(X) == pytest.approx(repeated.decision_function(X), abs=1e-3)
    assert weighted.certificate_.verify(X, y, sample_weight=weights)
    balanced = KernelSVM(class_weight={1.0: 5.0, -1.0: 1.0}, gamma=1.0).fit(X, y)
    assert balanced.class_weight_.tolist() == [1.0, 5.0]
    assert np.sum(balanced.predict(X) == 1.0) > np.sum(KernelSVM(gamma=1.0).fit(X, y).predict(X) == 1.0)
    assert balanced.certificate_.verify(X, y)


def test_a_precomputed_kernel_is_the_same():
    X, y = kernel_cases.rings(n=100)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    given = KernelSVM(kernel="precomputed", tol=1e-8).fit(K, y)
    named = KernelSVM(gamma=1.0, tol=1e-8).fit(X, y)
    assert given.decision_function(K) == pytest.approx(named.decision_function(X), abs=1e-4)
    assert given.certificate_.verify(K, y)
    scores = cross_val_score(KernelSVM(kernel="precomputed"), K, y, cv=3)
    assert scores == pytest.approx(cross_val_score(KernelSVM(gamma=1.0), X, y, cv=3), abs=0.07)
    three = KernelSVM(kernel="precomputed").fit(*gram_of(load_iris(return_X_y=True)))
    assert three.score(*gram_of(load_iris(return_X_y=True))) > 0.9


def gram_of(data):
    return data[0] @ data[0].T, data[1]


def test_an_approximation_says_how_far_it_is():
    X, y = kernel_cases.rings(n=200)
    exact = KernelSVM(C=5.0, tol=1e-6).fit(X, y)
    gaps = []
    for rank in (3, 10, 60):
        svm = KernelSVM(C=5.0, tol=1e-6, approximation=rank).fit(X, y)
        certificate = svm.certificate_
        assert certificate.dual <= exact.certificate_.primal
        assert certificate.primal >= exact.certificate_.dual
        assert certificate.verify(X, y)
        gaps.append(certificate.relative_gap)
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-3
    coarse = KernelSVM(C=5.0, approximation=3).fit(X, y)
    assert coarse.status_ is Status.SETTLED
    assert coarse.certificate_.verdict is KernelVerdict.BOUNDED


def test_time_and_rounds_are_limited():
    X, y = kernel_cases.rings(n=3000, noise=1.0)
    with pytest.warns(
        ConvergenceWarning, match="KernelSVM ended early: as many sweeps or updates were made as are allowed"
    ):
        stopped = KernelSVM(C=100.0, tol=1e-9, max_iter=3).fit(X, y)
    assert stopped.status_ is Status.BUDGET
    assert 1e-9 < stopped.certificate_.relative_gap < math.inf
    assert stopped.certificate_.verify(X, y)
    with pytest.warns(ConvergenceWarning, match="KernelSVM ended early: max_time was reached"):
        hurried = KernelSVM(C=1e4, tol=1e-12, max_time=1e-9).fit(X, y)
    assert hurried.status_ is Status.TIME
    assert hurried.certificate_.verify(X, y)


@pytest.mark.parametrize("C", [100.0, math.inf])
def test_what_ctrl_c_leaves_can_be_used(C, monkeypatch):
    """The search ends at its next moment; what it found is certified, stored whole, and predicts."""
    measured, pressed = KernelJudge.evaluate, []

    def evaluate(judge, iterate, **how):
        if not pressed:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)
        return measured(judge, iterate, **how)

    monkeypatch.setattr(KernelJudge, "evaluate", evaluate)
    X, y = kernel_cases.rings(n=60, noise=0.05)
    svm = KernelSVM(C=C, tol=1e-6)
    with pytest.raises(KeyboardInterrupt):
        svm.fit(X, y)
    assert svm.certificate_.verify(X, y)
    assert svm.score(X, y) > 0.5
    assert len(svm.support_vectors_) == len(svm.support_)


@pytest.mark.parametrize("rounds", [1, 2, 3, 5])
@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
def test_a_fit_that_was_cut_short_is_not_worse_than_no_plane(C, rounds):
    X, y = kernel_cases.rings(n=3000, noise=0.5)
    with pytest.warns(ConvergenceWarning, match="KernelSVM ended early.*1.0e-12 was asked for.*raise max_iter"):
        svm = KernelSVM(C=C, tol=1e-12, max_iter=rounds).fit(X, y)
    certificate = svm.certificate_
    assert certificate.primal <= 2.0 * C * min(np.sum(y > 0), np.sum(y < 0)) * (1.0 + 1e-9)
    assert certificate.verify(X, y)


@pytest.mark.parametrize("form", kernel_cases.FORMS)
def test_numbers_whose_squares_overflow(form):
    X, y = kernel_cases.rings(n=20)
    large = 1e30 if form == "float32" else 1e200
    X = kernel_cases.FORMS[form](X * large)
    if form == "float32":
        assert KernelSVM().fit(X, y).certificate_.verify(X, y)
        return
    with pytest.raises(ValueError, match="scale the columns first"):
        KernelSVM().fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("far", [1e10, 1e30, 1e100])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_row_beyond_float32_ends_with_what_is_proven(form, far, monkeypatch):
    """One row so far away that float32, or float64, knows nothing of it: no crash, no false proof."""
    monkeypatch.setattr(batch_smo, "SMALLEST", 40)
    X, y = kernel_cases.rings(n=300)
    X[5] = far
    svm = KernelSVM(gamma=1.0, max_time=20.0).fit(form(X), y)
    assert 0.0 <= svm.certificate_.relative_gap <= 1.0
    assert svm.certificate_.verify(form(X), y)
    assert (svm.status_ is Status.PROVEN) == (svm.certificate_.relative_gap <= 1e-3)


def test_the_cache_is_bounded(monkeypatch):
    sizes = []

    def observed(rows, n_bytes):
        room = room_for(rows, n_bytes)
        sizes.append(room.nbytes)
        return room

    room_for = row_cache.room_for
    monkeypatch.setattr(row_cache, "room_for", observed)
    X, y = kernel_cases.rings(n=2000, noise=0.6)
    svm = KernelSVM(C=10.0, cache_size=1.0).fit(X, y)
    assert svm.certificate_.is_optimal
    assert 0 < sum(sizes) <= 2**20


def two_by_two(A, B):
    return np.ones((2, 2))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"kernel": "sigmoid"}, "not positive semidefinite"),
        ({"kernel": "rbv"}, "kernel='rbv' is not known"),
        ({"C": 0.0}, "C must be a positive number"),
        ({"gamma": -1.0}, "gamma must be a positive number"),
        ({"gamma": "big"}, "gamma must be a positive number"),
        ({"coef0": -1.0}, "coef0 must be 0 or more"),
        ({"degree": 2.5}, "degree must be a positive whole number"),
        ({"tol": 0.0}, "tol must be a number above 0 and below 1"),
        ({"cache_size": -1}, "cache_size must be a positive number"),
        ({"approximation": 0}, "approximation must be a positive whole number"),
        ({"approximation": 5, "C": math.inf}, "an approximation has no hard margin"),
        ({"kernel": "precomputed"}, "a precomputed kernel is a square matrix"),
        ({"kernel": two_by_two}, "must return a table of shape"),
    ],
)
def test_sentences(parameters, sentence):
    X, y = kernel_cases.rings(n=20)
    with pytest.raises(ValueError, match=sentence):
        KernelSVM(**parameters).fit(X, y)


def test_a_kernel_that_is_none():
    X, y = kernel_cases.rings(n=20)
    skew = np.eye(20)
    skew[3, 4] = 1.0
    with pytest.raises(ValueError, match="row 3, column 4 holds 1"):
        KernelSVM(kernel="precomputed").fit(skew, y)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        KernelSVM(kernel="precomputed").fit(-(X @ X.T), y)


def test_certificates_are_written_and_read():
    X, y = kernel_cases.rings(n=60)
    certificate = KernelSVM().fit(X, y).certificate_
    again = KernelCertificate.from_json(certificate.to_json())
    assert again.verify(X, y)
    assert not again.verify(X, -y)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learnt", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_rows_are_predicted_in_any_form_and_number(kernel, classes, learnt, monkeypatch):
    """As those that were learnt from or not, few or many."""
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    svm = KernelSVM(kernel=kernel, coef0=1.0, degree=2).fit(learnt(X), y)
    expected = svm.decision_function(learnt(X))
    for given, most in itertools.product((np.asarray, sparse.csr_matrix, sparse.csr_array), (product.DENSE_NUMBERS, 0)):
        monkeypatch.setattr(product, "DENSE_NUMBERS", most)
        KEPT.pop(svm, None)
        assert svm.decision_function(given(X)) == pytest.approx(expected, rel=1e-9, abs=1e-11)
        assert svm.predict(given(X)).tolist() == svm.predict(learnt(X)).tolist()
        for rows in (slice(0, 1), slice(40, 56)):
            assert svm.decision_function(given(X[rows])) == pytest.approx(expected[rows], rel=1e-9, abs=1e-11)
        assert svm in KEPT
        assert svm.certificate_.verify(given(X), y)


def test_what_few_rows_are_predicted_from_is_made_once():
    X, y = load_iris(return_X_y=True)
    svm = KernelSVM().fit(X, y)
    before = dict(vars(svm))
    one_by_one = np.concatenate([svm.decision_function(X[[i]]) for i in range(20)])
    assert vars(svm) == before  # a prediction changes no estimator
    assert KEPT[svm].vectors is svm.support_vectors_
    assert one_by_one == pytest.approx(svm.decision_function(X)[:20], rel=1e-9, abs=1e-12)
    again = pickle.loads(pickle.dumps(svm))
    assert again not in KEPT
    svm.set_params(gamma=3.0).fit(X[::2], y[::2])
    assert svm.decision_function(X[:5]) == pytest.approx(svm.decision_function(X)[:5], rel=1e-9, abs=1e-12)
    assert KEPT[svm].vectors is svm.support_vectors_


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array])
def test_a_precomputed_kernel_may_be_sparse(form):
    X, y = load_iris(return_X_y=True)
    K = np.maximum(X @ X.T - 40.0, 0.0) + 100.0 * np.eye(len(X))
    dense, thin = KernelSVM(kernel="precomputed").fit(K, y), KernelSVM(kernel="precomputed").fit(form(K), y)
    assert thin.certificate_.verify(form(K), y)
    assert thin.decision_function(form(K)) == pytest.approx(dense.decision_function(K), rel=1e-6, abs=1e-6)


def test_a_kernel_function_may_return_sparse_values():
    X, y = load_iris(return_X_y=True)
    svm = KernelSVM(kernel=lambda A, B: sparse.csr_matrix(A @ B.T)).fit(X, y)
    assert svm.predict(X).tolist() == KernelSVM(kernel=lambda A, B: A @ B.T).fit(X, y).predict(X).tolist()
