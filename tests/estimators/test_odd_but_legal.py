"""Input that is unusual and allowed: each case once gave a wrong answer or a crash."""

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from maxmargin import (
    HardMarginSVM,
    KernelPerceptron,
    KernelSVM,
    LinearSVM,
    MarginPerceptron,
    NotSeparableError,
    Perceptron,
    StochasticSVM,
    Trace,
    Verdict,
    Winnow,
    separability,
)
from maxmargin.run.control import Status


@pytest.mark.parametrize(
    ("X", "y", "bias"),
    [
        ([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], [0, 1], True),
        ([[0.0, 0, 0, 0], [2.0, 0, 0, 0], [1.0, 0, 0, 0]], [0, 0, 1], True),
        ([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]], [0, 1], False),
    ],
)
def test_hulls_that_meet_in_more_columns_than_rows(X, y, bias):
    certificate = separability(X, y, fit_intercept=bias)
    assert certificate.is_separable is False
    assert certificate.verify(X, y, exact=True)
    shown = HardMarginSVM(on_inseparable="return", fit_intercept=bias).fit(X, y)
    assert np.all(np.isfinite(shown.coef_))


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6, 1e7])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_wide_data_far_from_the_origin(offset, form):
    random = np.random.default_rng(0)
    y = np.where(random.random(20) < 0.5, 1, -1)
    X = random.normal(size=(20, 50))
    X[:, 0] += 4 * y
    near, far = separability(X, y), separability(form(X + offset), y)
    if form is np.asarray or offset <= 1e4:
        assert far.is_separable
        assert far.margin_upper == pytest.approx(near.margin_upper, rel=1e-6)
    assert far.verify(form(X + offset), y, exact=True)


def test_a_huge_row_elsewhere_scales_nothing():
    X, y = [[0.0], [1e-5], [1e200]], [0, 1, 2]
    pairs = HardMarginSVM(multi_class="ovo").fit(X, y).certificate_
    assert all(part.verdict is Verdict.OPTIMAL for part in pairs)
    weighted = HardMarginSVM().fit(X, [0, 1, 1], sample_weight=[1, 1, 0])
    assert weighted.certificate_.verdict is Verdict.OPTIMAL


def test_a_failed_fit_leaves_the_last_one():
    svm = HardMarginSVM().fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    with pytest.raises(NotSeparableError):
        svm.fit([[0.0], [1.0], [2.0]], ["x", "y", "x"])
    assert list(svm.predict([[0.0], [5.0]])) == ["a", "b"]
    never = HardMarginSVM()
    with pytest.raises(NotSeparableError):
        never.fit([[0.0], [1.0], [2.0]], ["x", "y", "x"])
    with pytest.raises(NotFittedError):
        never.predict([[0.0]])


EVERYONE = (HardMarginSVM, KernelPerceptron, KernelSVM, LinearSVM, Perceptron, StochasticSVM, Winnow)


@pytest.mark.parametrize("kind", EVERYONE)
def test_before_a_fit_there_are_no_planes(kind):
    for ask in (kind().predict, kind().decision_function, kind().values_of_planes):
        with pytest.raises(NotFittedError):
            ask([[0.0, 1.0]])


def test_a_failed_partial_fit_can_be_repeated():
    model = Perceptron()
    with pytest.raises(ValueError, match="label 5"):
        model.partial_fit([[1.0], [-1.0]], [0, 5], classes=[0, 1])
    model.partial_fit([[1.0], [-1.0]], [0, 1], classes=[0, 1])
    model.partial_fit([[1.0], [-1.0]], [0, 1])


@pytest.mark.parametrize(
    "X",
    [
        np.array([[2**53], [2**53 + 1]]),
        np.array([[2**64 - 1], [0]], dtype=np.uint64),
        np.array([[1], [1]], dtype=np.longdouble) + np.array([[0], [np.finfo(np.longdouble).eps]]),
    ],
    ids=["int64", "uint64", "longdouble"],
)
def test_numbers_that_float64_would_round_are_refused(X):
    if X.dtype == np.longdouble and np.finfo(np.longdouble).eps == np.finfo(float).eps:
        pytest.skip("long double is no longer than double on this machine")
    with pytest.raises(ValueError, match="float64 cannot hold"):
        separability(X, [0, 1])


def test_index_types_may_differ():
    X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [4.0, 0.0, 0.0]])
    mixed = sparse.csr_array(X)
    mixed.indptr = mixed.indptr.astype(np.int64)
    assert np.array_equal(Perceptron().fit(mixed, [0, 1, 0]).coef_, Perceptron().fit(X, [0, 1, 0]).coef_)


@pytest.mark.parametrize("rate", [1e-200, 1e200])
def test_any_rate_takes_the_same_steps(rate):
    X, y = [[1.0, 2.0], [2.0, 1.0], [-1.0, -1.0]], [1, 1, 0]
    assert Perceptron(rate=rate).fit(X, y).n_updates_ == Perceptron().fit(X, y).n_updates_


def test_a_guess_is_in_the_units_of_the_data():
    model = MarginPerceptron(guess=1e39, fit_intercept=False).fit([[1e40], [-1e40]], [1, 0])
    assert model.status_ is Status.SETTLED
    assert model.n_updates_ == 1


def test_a_bold_guess_is_promised_nothing():
    random = np.random.default_rng(1)
    X = random.normal(size=(40, 2))
    y = np.where(X @ [1.0, 1.0] > 0, 1, 0)
    X += 0.3 * np.outer(2 * y - 1, [1.0, 1.0])
    best = HardMarginSVM(fit_intercept=False).fit(X, y).margin_
    model = MarginPerceptron(guess=1.9 * best, fit_intercept=False).fit(X, y)
    assert all(theorem.holds for theorem in model.certificate_.theorems)


def test_halving_always_proves_its_quarter():
    for seed in range(60):
        random = np.random.default_rng(seed)
        X = random.normal(size=(12, 2)) + 3.0
        y = np.where(X @ [1.0, -1.0] > 0.1, 1, 0)
        if len(np.unique(y)) < 2:
            continue
        model = MarginPerceptron().fit(X, y)
        if model.status_ is Status.SETTLED:
            assert model.certificate_.theorems[1].measured >= 0.25 * (1 - 1e-9)


def test_average_never_hides_a_plane_that_separates():
    for seed in range(40):
        random = np.random.default_rng(seed)
        X = random.normal(size=(15, 2))
        y = np.where(X @ [1.0, -1.0] > 0.2, 1, 0)
        if len(np.unique(y)) < 2:
            continue
        assert Perceptron(average=True).fit(X, y).certificate_.is_separable


def test_one_class_of_python_strings():
    with pytest.raises(ValueError, match="one class only \\('a'"):
        HardMarginSVM().fit([[0.0], [1.0]], np.array(["a", "a"], dtype=object))


@pytest.mark.parametrize("solver", ["hulls", "coordinate_descent"])
def test_a_table_of_zeros(solver):
    with pytest.raises(NotSeparableError):
        HardMarginSVM(solver=solver).fit(np.zeros((4, 2)), [0, 0, 1, 1])


def test_rows_next_to_zero():
    X, y = [[1e-310], [3e-310]], [0, 1]
    with pytest.warns(ConvergenceWarning, match="rounding errors leave no way to a smaller gap"):
        svm = HardMarginSVM().fit(X, y)
    assert np.all(np.isfinite(svm.coef_))
    assert list(svm.predict(X)) == y


def test_every_plane_has_its_trace_with_the_limit_that_was_asked():
    X = [[0.0, 9.0], [9.0, 0.0], [-9.0, -9.0]]
    recorder = Trace(limit=4)
    model = Perceptron(record=recorder).fit(X, [0, 1, 2])
    assert [trace.limit for trace in model.trace_] == [4, 4, 4]
    assert recorder.n_updates == 0
    model.set_params(record=False).fit(X, [0, 1, 2])
    assert not hasattr(model, "trace_")


def test_changing_a_parameter_after_the_fit_changes_no_answer():
    X, y = [[0.0, 9.0], [9.0, 0.0], [-9.0, -9.0]], [0, 1, 2]
    svm = HardMarginSVM().fit(X, y)
    before = svm.decision_function(X)
    svm.set_params(multi_class="ovo")
    assert np.array_equal(svm.decision_function(X), before)


def test_max_time_is_heard_while_a_sample_is_solved():
    random = np.random.default_rng(2)
    X = random.normal(size=(21_000, 60))
    y = np.where(X[:, 0] > 0, 1, 0)
    X[:, 0] += 0.01 * (2 * y - 1)
    with pytest.warns(ConvergenceWarning, match="max_time was reached"):
        svm = HardMarginSVM(max_time=1e-9).fit(X, y)
    assert svm.status_ is Status.TIME
    assert svm.n_iter_ == 1


def labels_by_chance(n=200):
    """Rows that say nothing about their labels: hardly any plane is better than none."""
    random = np.random.default_rng(0)
    return random.normal(size=(n, 2)), np.where(random.random(n) < 0.4, 1, -1)


@pytest.mark.parametrize("C", [1e-3, 1.0])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("rows", [labels_by_chance(), (np.ones((6, 2)), [1, 1, 1, -1, -1, -1])])
def test_a_plane_that_is_proven_is_kept_though_it_is_a_little_above_no_plane(kernel, C, rows):
    svm = KernelSVM(kernel=kernel, C=C).fit(*rows)
    assert svm.status_ is Status.PROVEN
    assert svm.certificate_.is_optimal
    assert svm.certificate_.verify(*rows)


def test_a_linear_kernel_without_any_row_that_carries_weight():
    X, y = labels_by_chance()
    with pytest.warns(ConvergenceWarning, match="max_time was reached"):
        svm = KernelSVM(kernel="linear", C=1.0, tol=1e-12, max_time=1e-9).fit(X, y)
    assert len(svm.support_) == 0
    assert np.array_equal(svm.decision_function(X), np.full(len(X), svm.intercept_[0]))


@pytest.mark.parametrize("least", [5e-324, 1e-310])
def test_a_column_of_the_least_numbers_there_are(least):
    X = np.array([[least, 1.0], [-least, 1.0], [0.0, 1.0]])
    with np.errstate(all="raise", under="ignore"), pytest.warns(ConvergenceWarning, match="rounding errors"):
        svm = HardMarginSVM(on_inseparable="return").fit(X, [1, -1, 1])
    assert np.all(np.isfinite(svm.coef_))
    assert svm.certificate_.verify(X, [1, -1, 1], exact=True)
