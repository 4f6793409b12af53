"""Pegasos' theorem: its numbers computed again, visit by visit; that it holds; and where it is said not to."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils import check_random_state

from maxmargin import KernelSVM, LinearSVM, StochasticSVM
from maxmargin.certificates import theorems
from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.solvers import stochastic_subgradient

C, SWEEPS = 0.3, 7


def noisy_table(n=60, d=3, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, np.where(X @ random.normal(size=d) + 0.5 * random.normal(size=n) > 0.0, 1, -1)


def met(X, y, orders, s, *, radius):
    """sum_t s_i max(0, 1 - y_i w_t.x_i), sum_t lambda/2 |w_t|^2 and the longest slope, by the rule as it is written."""
    lam, w = 1.0 / (len(y) * C), np.zeros(X.shape[1])
    losses = squares = longest = 0.0
    for t, i in enumerate(np.concatenate(orders), start=1):
        slack = max(0.0, 1.0 - y[i] * (w @ X[i]))
        slope = lam * w - s[i] * (slack > 0.0) * y[i] * X[i]
        losses, squares = losses + s[i] * slack, squares + 0.5 * lam * (w @ w)
        longest = max(longest, float(np.linalg.norm(slope)))
        w = w - slope / (lam * t)
        w *= min(1.0, radius / max(float(np.linalg.norm(w)), 1e-300))
    return losses, squares, longest


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("average", [False, True])
def test_the_numbers_are_those_of_the_theorem(form, shuffle, project, average):
    X, y = noisy_table()
    n, s = len(y), np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    svm = StochasticSVM(
        C, fit_intercept=False, shuffle=shuffle, project=project, average=average, max_iter=SWEEPS, tol=1e-9
    ).fit(form(X), y, sample_weight=s)
    seed = int(check_random_state(0).randint(2**31 - 1)) if shuffle else None
    orders = [stochastic_subgradient.order_of(n, seed, sweep) for sweep in range(SWEEPS)]
    lam, T, R = 1.0 / (n * C), n * SWEEPS, max(s * np.linalg.norm(X, axis=1))
    radius = math.sqrt(C * s.sum()) if project else math.inf
    losses, squares, longest = met(X, y, orders, s, radius=radius)
    G = R + min(R, lam * radius)
    assert longest <= G
    (theorem,) = svm.certificate_.theorems
    assert theorem.measured == pytest.approx(losses / (lam * T))
    excess = G**2 * (1.0 + math.log(T)) / (2.0 * lam**2 * T)
    assert theorem.bound == pytest.approx(svm.certificate_.primal + excess)
    assert theorem.holds
    best = LinearSVM(C, fit_intercept=False, tol=1e-9).fit(X, y, sample_weight=s).certificate_
    assert (losses + squares) / (lam * T) <= best.dual + excess
    assert ("(R + lambda r)^2" in theorem.name) == project
    assert svm.certificate_.verify(form(X), y, sample_weight=s)


def test_two_rows_by_hand():
    """y x = 1 twice, lambda = 1/2: the first visit meets the loss 1 and goes to w = 2, the second meets none."""
    svm = StochasticSVM(1.0, fit_intercept=False, max_iter=1, shuffle=False).fit([[1.0], [-1.0]], [1, -1])
    (theorem,) = svm.certificate_.theorems
    assert theorem.measured == pytest.approx(1.0)  # one sweep
    assert svm.coef_.tolist() == [[1.0]]  # the optimum, P = 1/2
    assert theorem.bound == pytest.approx(0.5 + 4.0 * (1.0 + math.log(2.0)) / (2.0 * 0.25 * 2.0))


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 12),
    seed=st.integers(0, 10**6),
    price=st.sampled_from([1e-3, 0.1, 1.0, 100.0]),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    sweeps=st.integers(1, 20),
    project=st.booleans(),
    shuffle=st.booleans(),
)
def test_it_holds_beside_the_best_plane(n, seed, price, scale, sweeps, project, shuffle):
    random = np.random.default_rng(seed)
    X, y = scale * random.normal(size=(n, 2)), np.where(np.arange(n) % 2, 1, -1)
    run = StochasticSVM(
        price, fit_intercept=False, project=project, shuffle=shuffle, max_iter=sweeps, tol=1e-12, random_state=seed
    ).fit(X, y)
    (theorem,) = run.certificate_.theorems
    best = LinearSVM(price, fit_intercept=False, tol=1e-8).fit(X, y).certificate_
    above = theorem.bound - run.certificate_.primal  # with the least objective in place of that of the plane found
    assert theorem.measured <= (best.dual + above) * (1.0 + 1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e160])
def test_rows_out_of_range_are_not_rounded_to_nothing(scale):
    rows, costs = scale * np.array([[3.0, 4.0]]), np.ones(1) / scale
    theorem = theorems.pegasos(
        rows, costs, float(costs[0]), radius=math.inf, visits=1, primal=1.0, loss=scale, broken=[]
    )
    assert theorem.bound == pytest.approx(1.0 + 0.5 * 100.0)


BIAS, STEPS = "the bias is not regularised", "the steps are not 1 / (lambda t)"


@pytest.mark.parametrize(
    ("options", "reasons"),
    [
        ({}, BIAS),
        ({"average": True, "project": True}, BIAS),
        ({"kernel": "rbf"}, BIAS),
        ({"fit_intercept": False, "step": 0.5}, STEPS),
        ({"fit_intercept": False, "step": lambda t: 1.0 / t}, STEPS),
        ({"step": 0.5}, f"{BIAS} and {STEPS}"),
    ],
)
def test_where_there_is_no_theorem_it_says_why(options, reasons):
    X, y = noisy_table()
    certificate = StochasticSVM(C, **options).fit(X, y).certificate_
    (theorem,) = certificate.theorems
    assert theorem.bound == math.inf
    assert theorem.measured > 0.0
    assert f"  Pegasos, no theorem because {reasons}: loss met per sweep: " in certificate.report()
    assert certificate.report().endswith(" without a bound")
    assert certificate.verify(X, y)


def test_a_run_that_goes_on_is_not_one_run():
    X, y = noisy_table()
    svm = StochasticSVM(C, fit_intercept=False, warm_start=True, max_iter=3, tol=1e-9).fit(X, y)
    assert svm.certificate_.theorems[0].bound < math.inf
    (theorem,) = svm.set_params(C=2 * C).fit(X, y).certificate_.theorems
    assert theorem.name.startswith("Pegasos, no theorem because the run went on from an earlier fit:")


def test_a_sweep_that_is_cut_short_is_no_sweep(monkeypatch):
    monkeypatch.setattr(stochastic_subgradient, "NUMBERS_PER_CALL", 30)
    X, y = noisy_table()
    (theorem,) = StochasticSVM(C, fit_intercept=False, max_time=1e-9).fit(X, y).certificate_.theorems
    assert theorem.name.startswith("Pegasos, no theorem because the last sweep was cut short:")


def test_each_of_many_planes_has_its_own():
    X, y = noisy_table()
    y = np.where(X[:, 0] > 0.7, 2, y)
    bounds = [part.theorems[0] for part in StochasticSVM(C, fit_intercept=False).fit(X, y).certificate_]
    assert len({theorem.bound for theorem in bounds}) == 3
    assert all(theorem.holds for theorem in bounds)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_records(kernel):
    X, y = noisy_table()
    certificate = StochasticSVM(C, kernel=kernel).fit(X, y).certificate_
    kind = SoftMarginCertificate if kernel == "linear" else KernelCertificate
    assert kind.from_json(certificate.to_json()).theorems == certificate.theorems
    older = {name: value for name, value in certificate.to_dict().items() if name != "theorems"}
    assert kind.from_dict(older).theorems == ()
    nonsense = dataclasses.replace(certificate.theorems[0], measured=math.nan)
    answer = dataclasses.replace(certificate, theorems=(nonsense,)).verify(X, y)
    assert "the theorem's figures are NaN" in str(answer)


def test_who_takes_no_such_steps_promises_nothing():
    X, y = noisy_table()
    assert LinearSVM(C).fit(X, y).certificate_.theorems == KernelSVM(C).fit(X, y).certificate_.theorems == ()
