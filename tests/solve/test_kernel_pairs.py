"""Two-class problems that are answered together: by whom, which of them, and that the answers are those of each."""

import kernel_cases
import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin import KernelSVM
from maxmargin.solve import kernel_margin, kernel_pairs
from maxmargin.solvers.kernel_smo import small_pairs
from maxmargin.solvers.kernel_smo.small_pairs import SmallPairs


@pytest.fixture
def alone(monkeypatch):
    """How many problems were answered by themselves."""
    answered, solve = [], kernel_margin.solve_kernel_margin

    def counted(two, *rest):
        answered.append(two)
        return solve(two, *rest)

    monkeypatch.setattr(kernel_margin, "solve_kernel_margin", counted)
    return answered


def fit(X, y, together=True, **parameters):
    with pytest.MonkeyPatch.context() as patch:
        if not together:
            patch.setattr(kernel_pairs, "those_that_suit", lambda *_: [])
        return KernelSVM(**parameters).fit(X, y)


@pytest.mark.parametrize("C", [0.5, 20.0])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("weights", [None, "balanced"])
def test_the_answers_are_those_of_each_by_itself(alone, C, multi_class, weights):
    X, y = kernel_cases.many_rings()
    asked = {"C": C, "multi_class": multi_class, "tol": 1e-6, "class_weight": weights}
    model = fit(X, y, **asked)
    assert not alone
    other = fit(X, y, together=False, **asked)
    assert len(alone) == len(other.certificate_)
    assert model.certificate_.is_optimal
    for one, two in zip(model.certificate_, other.certificate_, strict=True):
        assert one.primal == pytest.approx(two.primal, rel=2e-6)
        assert (one.positive, one.negative, one.n_rows) == (two.positive, two.negative, two.n_rows)
    assert model.decision_function(X) == pytest.approx(other.decision_function(X), abs=0.02)
    assert np.mean(model.predict(X) == other.predict(X)) > 0.999
    assert np.asarray(model.margin_) == pytest.approx(np.asarray(other.margin_), rel=1e-3)
    assert model.bounded_.shape == model.dual_coef_.shape
    assert model.bounded_.sum() == pytest.approx(other.bounded_.sum(), rel=0.05)
    assert len(model.status_) == len(model.n_updates_) == len(model.certificate_)
    assert min(model.n_updates_) > 0


@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "poly", "gamma": 0.5, "coef0": 1.0},
        {"kernel": "poly", "gamma": 0.2, "degree": 2},
        {"kernel": "linear"},
        {"kernel": "rbf", "gamma": 0.1},
    ],
    ids=str,
)
@pytest.mark.parametrize("shift", [0.0, 300.0])
@pytest.mark.parametrize("longest", [0, 300])
def test_kernels_of_products_whose_rows_are_made_one_by_one_or_together(alone, kernel, shift, longest, monkeypatch):
    monkeypatch.setattr(small_pairs, "LONGEST", longest)
    X, y = kernel_cases.many_rings(classes=3)
    X, asked = X + shift * (kernel["kernel"] != "poly"), {"C": 2.0, "tol": 1e-3} | kernel
    model = fit(X, y, **asked)
    assert not alone
    assert model.certificate_.verify(X, y)
    other = fit(X, y, together=False, **asked)
    assert len(alone) == 3
    for one, two in zip(model.certificate_, other.certificate_, strict=True):
        assert one.primal == pytest.approx(two.primal, rel=2e-3)


def test_sample_weights_are_prices_of_rows(alone):
    X, y = kernel_cases.many_rings()
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    model = KernelSVM(tol=1e-6).fit(X, y, weights)
    assert not alone
    again = KernelSVM(tol=1e-6, gamma=model.certificate_[0].gamma)
    again.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    for one, two in zip(model.certificate_, again.certificate_, strict=True):
        assert one.primal == pytest.approx(two.primal, rel=2e-6)


@pytest.mark.parametrize(
    "asked",
    [
        {"max_time": 60.0},
        {"max_iter": 1000},
        {"loss": "squared_hinge"},
        {"fit_intercept": False},
        {"C": np.inf, "gamma": 100.0},
        {"kernel": "laplacian"},
        {"approximation": 40},
        {"solver": "coordinate_descent"},
        {"verbose": 1},
    ],
    ids=str,
)
def test_what_this_is_not_for_is_answered_by_each(alone, asked, capsys):
    X, y = kernel_cases.many_rings(n=700, classes=3)
    KernelSVM(**({"tol": 0.5} | asked)).fit(X, y)
    assert len(alone) == 3


def test_sparse_rows_are_answered_by_each(alone):
    X, y = kernel_cases.many_rings(n=700, classes=3)
    wide = sparse.csr_array(np.hstack([X, np.zeros((len(X), 30))]))
    KernelSVM().fit(wide, y)
    assert len(alone) == 3


def test_small_and_large_problems_are_answered_by_each(alone, monkeypatch):
    X, y = kernel_cases.many_rings(n=900, classes=4)
    keep = (y != 3) | (np.cumsum(y == 3) <= 20)
    X, y = X[keep], y[keep]
    sizes = {(k, j): int(np.sum((y == k) | (y == j))) for k in range(4) for j in range(k + 1, 4)}
    monkeypatch.setattr(kernel_pairs, "MANY", max(size for pair, size in sizes.items() if 3 in pair))
    KernelSVM().fit(X, y)
    assert {(two.positive, two.negative) for two in alone} == {(0, 1), (0, 2), (1, 2)}


def test_on_small_tables_the_answers_have_all_digits(alone):
    """Rows of weight k or k equal rows, the problems together or each by itself."""
    X, y = kernel_cases.many_rings(n=90, classes=3)
    weights = np.random.default_rng(1).integers(1, 4, len(y))
    model = KernelSVM(gamma=0.5).fit(X, y, weights)
    assert not alone
    assert model.certificate_.is_optimal
    scores = model.decision_function(X)
    equal_rows = fit(np.repeat(X, weights, axis=0), np.repeat(y, weights), gamma=0.5)
    assert equal_rows.decision_function(X) == pytest.approx(scores, abs=1e-8)
    assert fit(X, y, together=False, gamma=0.5).decision_function(X) == pytest.approx(
        fit(X, y, gamma=0.5).decision_function(X), abs=1e-8
    )
    assert len(alone) == 3


def test_what_is_not_proven_in_a_few_rounds_is_answered_by_itself(alone, monkeypatch):
    monkeypatch.setattr(kernel_pairs, "ROUNDS", 1)
    monkeypatch.setattr(kernel_pairs, "AIM", 50.0)
    X, y = kernel_cases.many_rings()
    model = KernelSVM(tol=1e-4).fit(X, y)
    assert len(alone) >= 4
    assert model.certificate_.is_optimal


def test_further_rounds_go_on_from_what_was_measured(alone, monkeypatch):
    begun, solve = [], SmallPairs.solve

    def noted(self, rows, signs, costs, a, values, level):
        begun.append((float(a.sum()), level))
        return solve(self, rows, signs, costs, a, values, level)

    monkeypatch.setattr(SmallPairs, "solve", noted)
    monkeypatch.setattr(kernel_pairs, "AIM", 30.0)
    monkeypatch.setattr(kernel_pairs, "FINER", 0.01)
    X, y = kernel_cases.many_rings()
    model = KernelSVM(tol=1e-4).fit(X, y)
    assert not alone
    assert model.certificate_.is_optimal
    first, later = begun[:6], begun[6:]
    assert later
    assert all(weight == 0.0 for weight, _ in first)
    assert all(weight > 0.0 and level < 2e-3 for weight, level in later)


def test_a_problem_that_takes_too_many_steps_is_left_to_others(alone, monkeypatch):
    from maxmargin.solvers.kernel_smo import small_pairs

    monkeypatch.setattr(small_pairs, "MOST_STEPS", 0.01)
    X, y = kernel_cases.many_rings()
    assert KernelSVM().fit(X, y).certificate_.is_optimal
    assert len(alone) == 6


def test_ctrl_c_ends_it(monkeypatch):
    def interrupted(self, *rest):
        raise KeyboardInterrupt

    monkeypatch.setattr(SmallPairs, "solve", interrupted)
    X, y = kernel_cases.many_rings()
    with pytest.raises(KeyboardInterrupt):
        KernelSVM().fit(X, y)


def test_the_first_small_problems_need_no_compiler(alone, monkeypatch):
    monkeypatch.setattr(kernel_pairs, "is_compiled", lambda loop: False)
    monkeypatch.setattr(kernel_pairs, "are_small_work", lambda shapes: len(shapes) == 6)
    X, y = kernel_cases.many_rings()
    KernelSVM().fit(X, y)
    assert len(alone) == 6
