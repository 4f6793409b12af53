"""The widest street: closed forms, the reference, proofs on degenerate data, and honest ends."""

import pickle
import time

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from random_sparse import random_sparse
from sklearn.exceptions import ConvergenceWarning

from maxmargin import HardMarginSVM, NotSeparableError, Verdict, separability
from maxmargin.run.control import Status


def gaussians(n, d, gap, seed):
    """Two classes with a gap of at least `gap` on each side of a random plane; negative: they overlap."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    w = random.normal(size=d)
    w /= np.linalg.norm(w)
    y = np.where(X @ w > 0.1, 1, -1)
    return X + gap * np.outer(y, w), y


def test_two_points():
    svm = HardMarginSVM().fit([[0.0, 0.0], [3.0, 4.0]], ["a", "b"])
    assert np.allclose(svm.coef_, [[0.24, 0.32]], rtol=1e-14)
    assert np.allclose(svm.intercept_, [-1.0], rtol=1e-14)
    assert svm.street_ == pytest.approx(5.0, rel=1e-14)
    assert svm.margin_ == pytest.approx(2.5, rel=1e-14)
    assert np.allclose(svm.dual_coef_, [[-0.08, 0.08]], rtol=1e-13)


def test_through_the_origin():
    svm = HardMarginSVM(fit_intercept=False).fit([[3.0, 4.0], [-6.0, -8.0]], [1, 0])
    assert svm.margin_ == pytest.approx(5.0, rel=1e-14)
    assert svm.intercept_ == [0.0]
    assert list(svm.support_) == [0]


def test_l1_margin_of_two_points():
    svm = HardMarginSVM("l1").fit([[0.0, 0.0], [3.0, 4.0]], [0, 1])
    assert svm.margin_ == pytest.approx(2.0, rel=1e-12)
    assert np.allclose(svm.coef_, [[0.0, 0.5]], atol=1e-12)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("norm", ["l2", "l1"])
@pytest.mark.parametrize("shape", [(40, 3), (30, 30), (12, 60)])
def test_agrees_with_the_reference(bias, norm, shape):
    X, y = gaussians(*shape, 0.3, seed=shape[0])
    ours = HardMarginSVM(norm, fit_intercept=bias, on_inseparable="return").fit(X, y)
    reference = HardMarginSVM(norm, fit_intercept=bias, solver="cvxpy", tol=1e-5, on_inseparable="return").fit(X, y)
    assert ours.certificate_.is_separable == reference.certificate_.is_separable
    if ours.certificate_.is_separable:
        assert ours.certificate_.verdict is Verdict.OPTIMAL
        assert ours.margin_ == pytest.approx(reference.margin_, rel=1e-6)
    if norm == "l2" and ours.certificate_.is_separable:
        assert np.allclose(ours.coef_, reference.coef_, atol=1e-4 * np.abs(ours.coef_).max())


@pytest.mark.parametrize("solver", ["hulls", "coordinate_descent"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_every_solver_proves_the_same_street(solver, bias, form):
    X, y = gaussians(60, 5, 0.5, seed=3)
    if not bias:
        y = np.where(X @ np.ones(5) > 0, 1, -1)
        X += 0.2 * np.outer(y, np.ones(5))
    svm = HardMarginSVM(solver=solver, fit_intercept=bias, tol=1e-7).fit(form(X), y)
    wanted = HardMarginSVM(fit_intercept=bias).fit(X, y)
    assert svm.certificate_.verdict is Verdict.OPTIMAL
    assert svm.margin_ == pytest.approx(wanted.margin_, rel=1e-7)
    assert svm.certificate_.verify(form(X), y, exact=True)


@given(
    n=st.integers(2, 40),
    d=st.integers(1, 6),
    scale=st.sampled_from([1e-150, 1e-30, 1.0, 1e30, 1e150]),
    seed=st.integers(0, 10**6),
    digits=st.integers(0, 2),
    bias=st.booleans(),
)
@settings(max_examples=60)
def test_whatever_it_says_is_exactly_true(n, d, scale, seed, digits, bias):
    """Few digits make duplicates, ties and touching hulls; the verdict is checked in rational arithmetic."""
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(n, d)), digits) * scale
    y = np.where(np.arange(n) % 2 == 0, 1, -1) if seed % 3 else np.where(X[:, 0] > 0, 1, -1)
    if len(np.unique(y)) < 2:
        return
    certificate = separability(X, y, fit_intercept=bias)
    verification = certificate.verify(X, y, exact=True)
    assert verification, str(verification)


def test_the_dual_alone_predicts_the_same_labels():
    X, y = gaussians(200, 4, 0.2, seed=5)
    svm = HardMarginSVM().fit(X, y)
    scores = X @ svm.support_vectors_.T @ svm.dual_coef_[0] + svm.intercept_[0]
    assert np.array_equal(svm.classes_[(scores > 0).astype(int)], svm.predict(X))
    assert np.allclose(svm.dual_coef_ @ svm.support_vectors_, svm.coef_, rtol=1e-8)
    assert abs(svm.dual_coef_.sum()) < 1e-10 * np.abs(svm.dual_coef_).sum()


@pytest.mark.parametrize("norm", ["l2", "l1"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_dual_variables_have_the_value_of_the_optimum(norm, fit_intercept):
    """sum a_i is |w|^2 = 1 / margin^2 for l2, and |w|_1 = 1 / margin for l1; strong duality, whatever the bias."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(40, 3)), np.array([1.0, 2.0, -1.0])
    y = np.where(X @ w > 0.0, 1, -1)
    X += 0.5 * np.outer(y, w)
    svm = HardMarginSVM(norm=norm, fit_intercept=fit_intercept).fit(X, y)
    optimum = 1.0 / svm.margin_ if norm == "l1" else 1.0 / svm.margin_**2
    assert np.isclose(np.abs(svm.dual_coef_).sum(), optimum, rtol=1e-6)


def test_support_vectors_touch_the_street_and_agree_on_b():
    X, y = gaussians(500, 6, 0.1, seed=6)
    svm = HardMarginSVM().fit(X, y)
    functional = y * svm.decision_function(X)
    assert functional.min() == pytest.approx(1.0, rel=1e-9)
    assert np.allclose(functional[svm.support_], 1.0, atol=1e-8)
    assert np.ptp(y[svm.support_] - X[svm.support_] @ svm.coef_[0]) < 1e-8
    assert len(svm.support_) <= 7


@pytest.mark.parametrize(("n", "d", "gap"), [(30_000, 8, 0.1), (25_000, 3, 0.05)])
def test_many_rows_start_from_a_sample(n, d, gap):
    X, y = gaussians(n, d, gap, seed=n)
    svm = HardMarginSVM().fit(X, y)
    assert svm.certificate_.verdict is Verdict.OPTIMAL
    assert svm.certificate_.verify(X, y, exact=True)


def test_sparse_and_wide():
    random = np.random.default_rng(7)
    X = random_sparse((2000, 25_000), 8e-4, random)
    y = np.where(X[:, :12_500].sum(axis=1) > X[:, 12_500:].sum(axis=1), "first", "second")
    svm = HardMarginSVM(tol=1e-6).fit(X, y)
    assert svm.certificate_.verdict is Verdict.OPTIMAL
    assert svm.certificate_.verify(X, y, exact=True)


def test_sparse_and_wide_without_a_plane():
    """Two equal rows with different labels among thousands."""
    random = np.random.default_rng(8)
    X = random_sparse((3200, 5000), 2e-3, random)
    X = sparse.vstack([X, X[:1]], format="csr")
    y = np.append(np.where(random.random(3200) < 0.5, 1, 0), 0)
    y[0] = 1
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVM().fit(X, y)
    assert caught.value.certificate.verify(X, y, exact=True)


def test_not_separable_raises_with_the_witness():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array(["a", "b", "a"])
    with pytest.raises(NotSeparableError, match="Not separable") as caught:
        HardMarginSVM().fit(X, y)
    certificate = caught.value.certificate
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert sorted(certificate.rows) == [0, 1, 2]
    assert certificate.verify(X, y, exact=True)
    assert pickle.loads(pickle.dumps(caught.value)).certificate.verify(X, y)


def test_not_separable_returns_the_least_squares_plane():
    X, y = gaussians(300, 3, -0.4, seed=9)
    svm = HardMarginSVM(on_inseparable="return").fit(X, y)
    lifted = np.column_stack([X, np.ones(300)])
    wanted = np.linalg.lstsq(lifted, y.astype(float), rcond=None)[0]
    assert np.allclose(svm.coef_[0], wanted[:3], rtol=1e-4)
    assert svm.certificate_.verdict is Verdict.NOT_SEPARABLE
    assert len(svm.certificate_.rows) <= 5
    assert svm.certificate_.verify(X, y, exact=True)


def test_a_weight_of_k_is_k_copies():
    for gap in (0.3, -0.3):
        X, y = gaussians(80, 3, gap, seed=10)
        weights = np.random.default_rng(0).integers(0, 4, 80)
        weighted = HardMarginSVM(on_inseparable="return").fit(X, y, sample_weight=weights)
        copied = HardMarginSVM(on_inseparable="return").fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert np.allclose(weighted.coef_, copied.coef_, rtol=1e-9)
        assert np.allclose(weighted.intercept_, copied.intercept_, rtol=1e-9, atol=1e-12)
        assert weighted.certificate_.verify(X, y, sample_weight=weights, exact=True)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.zeros(4), "zero for every row"),
        ([1, 1, 0, 0], "one class"),
        ([1, 1, 1, -1], "negative values: row 3 has -1"),
        ([1, np.nan, 1, 1], "NaN.*row 1 has nan"),
        ([1, 1], "shape"),
    ],
)
def test_weights_that_leave_nothing(weights, words):
    with pytest.raises(ValueError, match=words):
        HardMarginSVM().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], sample_weight=weights)


def test_flipping_labels_and_permuting_rows_changes_nothing_else():
    X, y = gaussians(100, 4, 0.2, seed=11)
    svm = HardMarginSVM().fit(X, y)
    flipped = HardMarginSVM().fit(X, -y)
    order = np.random.default_rng(1).permutation(100)
    permuted = HardMarginSVM().fit(X[order], y[order])
    assert np.allclose(flipped.coef_, -svm.coef_, rtol=1e-9)
    assert np.allclose(permuted.coef_, svm.coef_, rtol=1e-9)
    assert set(order[permuted.support_]) == set(svm.support_)


def test_same_data_same_bits():
    X, y = gaussians(3000, 10, 0.1, seed=12)
    assert np.array_equal(HardMarginSVM().fit(X, y).coef_, HardMarginSVM().fit(X, y).coef_)


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_many_classes(strategy):
    random = np.random.default_rng(13)
    centres = {"north": (0, 9), "south": (0, -9), "east": (9, 0), "west": (-9, 0)}
    X = np.vstack([random.normal(size=(30, 2)) + centre for centre in centres.values()])
    y = np.repeat(list(centres), 30)
    svm = HardMarginSVM(multi_class=strategy).fit(X, y)
    n_problems = 4 if strategy == "ovr" else 6
    assert svm.coef_.shape == (n_problems, 2)
    assert svm.dual_coef_.shape == (n_problems, len(svm.support_))
    assert len(svm.certificate_) == n_problems
    assert np.array_equal(svm.predict(X), y)
    assert svm.decision_function(X).shape == (120, 4)
    assert svm.certificate_.is_separable
    assert svm.certificate_.verify(X, y, exact=True)
    for part, coef, dual in zip(svm.certificate_, svm.coef_, svm.dual_coef_, strict=True):
        assert part.positive in centres
        assert (part.negative is None) == (strategy == "ovr")
        assert np.allclose(dual @ svm.support_vectors_, coef, rtol=1e-7)


def test_max_time_keeps_what_was_found():
    X, y = gaussians(60_000, 40, 0.01, seed=14)
    with pytest.warns(ConvergenceWarning, match="HardMarginSVM ended early: max_time was reached"):
        svm = HardMarginSVM(max_time=1e-6).fit(X, y)
    assert svm.status_ is Status.TIME
    assert svm.certificate_.verify(X, y)
    assert svm.certificate_.verdict in (Verdict.SEPARABLE, Verdict.STOPPED, Verdict.OPTIMAL)
    svm.predict(X[:3])


def test_interrupt_leaves_a_fitted_estimator(monkeypatch):
    from maxmargin.solvers.hulls import nearest as nearest_hulls

    honest = nearest_hulls.look

    def interrupt_later(*arguments):
        if interrupt_later.calls:
            raise KeyboardInterrupt
        interrupt_later.calls += 1
        return honest(*arguments)

    interrupt_later.calls = 0
    X, y = gaussians(15_000, 10, 0.01, seed=15)
    svm = HardMarginSVM()
    monkeypatch.setattr(nearest_hulls, "look", interrupt_later)
    with pytest.raises(KeyboardInterrupt):
        svm.fit(X, y)
    assert svm.status_ is Status.INTERRUPTED
    assert svm.certificate_.verify(X, y)
    svm.predict(X[:3])


def test_progress_is_shown(capsys):
    X, y = gaussians(100, 4, 0.2, seed=16)
    HardMarginSVM(verbose=2).fit(X, y)
    assert "updates" in capsys.readouterr().err


def test_a_plane_that_floats_cannot_find_is_not_denied():
    """Separable by one unit in the last place, far from the origin: never called inseparable."""
    X = np.array([[1e15], [np.nextafter(1e15, 2e15)]])
    certificate = separability(X, [0, 1])
    assert certificate.is_separable is not False
    assert certificate.verify(X, [0, 1], exact=True)


def test_an_inseparable_answer_is_quick():
    X, y = gaussians(20_000, 30, -0.3, seed=17)
    HardMarginSVM(on_inseparable="return").fit(X[:100], y[:100])
    started = time.perf_counter()
    with pytest.raises(NotSeparableError):
        HardMarginSVM().fit(X, y)
    assert time.perf_counter() - started < 60  # it never hangs


@pytest.mark.parametrize("solver", ["hulls", "coordinate_descent"])
def test_the_origin_among_the_rows(solver):
    """Through the origin, a row of zeros can be on no side."""
    X, y = np.array([[1.0, 2.0], [0.0, 0.0], [-1.0, 1.0]]), [1, 1, 0]
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVM(fit_intercept=False, solver=solver).fit(X, y)
    assert list(caught.value.certificate.rows) == [1]
    assert caught.value.certificate.verify(X, y, exact=True)


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_a_class_without_weight_is_no_class(strategy):
    X, y = np.array([[0.0], [1.0], [5.0], [6.0], [9.0]]), np.array(["a", "a", "b", "b", "c"])
    weights = [1, 1, 1, 1, 0]
    svm = HardMarginSVM(multi_class=strategy).fit(X, y, sample_weight=weights)
    assert list(svm.classes_) == ["a", "b"]
    assert svm.certificate_.verify(X, y, sample_weight=weights)
    X, y, weights = np.append(X, [[12.0]], axis=0), np.append(y, "d"), [*weights, 1]
    svm = HardMarginSVM(multi_class=strategy, on_inseparable="return").fit(X, y, sample_weight=weights)
    assert list(svm.classes_) == ["a", "b", "d"]
    assert svm.certificate_.verify(X, y, sample_weight=weights, exact=True)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("norm", ["l2", "l1"])
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "origin"])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_columns_in_units_of_their_own_are_decided(noise, bias, norm, form):
    """In equal units it is easy; in these, the columns that decide are below the rounding of the others."""
    random = np.random.default_rng(20)
    X = random.normal(size=(100, 4))
    y = np.where(X @ np.ones(4) + noise * random.normal(size=100) > 0.0, 1, -1)
    easy = separability(X, y, norm=norm, fit_intercept=bias)
    X = form(X * [1e-6, 1e6, 1.0, 1e-3])
    certificate = separability(X, y, norm=norm, fit_intercept=bias)
    assert certificate.is_separable is easy.is_separable is (noise == 0.0)
    assert certificate.verify(X, y, exact=True)
