"""Limits are heard: between two readings of the clock lies a bounded piece of work, whatever is being done.

The hand of the clock moves by one at every reading, so that a limit is a number of readings and no test is timed.
"""

import signal

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge

import maxmargin
from maxmargin.certificates.certificate import Verdict
from maxmargin.data.executor import OutOfTime, Threads, check_interrupt, interruptible
from maxmargin.data.table import row_squares
from maxmargin.problems import kernels
from maxmargin.problems.statement import Norm, Separation
from maxmargin.run import control as clock_module
from maxmargin.solve import kernel_margin
from maxmargin.solvers import passes, stochastic_subgradient
from maxmargin.solvers.hulls import least_squares, nearest, wolfe
from maxmargin.solvers.interior_point import active_rows as interior_rows
from maxmargin.solvers.interior_point import central_path, normal_equations
from maxmargin.solvers.kernel_smo import active_rows, kernel_rows
from maxmargin.solvers.kernel_smo import method as kernel_smo
from maxmargin.solvers.mistakes import kernel_memory

pytestmark = pytest.mark.filterwarnings("ignore:.* ended early:sklearn.exceptions.ConvergenceWarning")  # they shall


def noisy(n=300, d=6, seed=0):
    """Rows that no plane separates."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    return X, np.where(X[:, 0] + random.standard_normal(n) > 0.0, 1, -1)


@pytest.fixture
def small_blocks(monkeypatch):
    """Small tables have many blocks, as large ones have."""
    monkeypatch.setattr(kernel_memory, "PRODUCTS", 2000)
    monkeypatch.setattr(kernel_memory, "AT_ONCE", 16)
    monkeypatch.setattr(kernels.Kernel, "block", (32, 32))
    monkeypatch.setattr(kernel_rows, "HEIGHT", 32)
    monkeypatch.setattr(interior_rows, "PRODUCTS", 64 * 100)
    monkeypatch.setattr(normal_equations, "PRODUCTS", 1)
    monkeypatch.setattr(nearest, "NUMBERS_PER_CALL", 2000)
    monkeypatch.setattr(stochastic_subgradient, "PRODUCTS_PER_CALL", 10_000)
    monkeypatch.setattr(kernel_smo, "SMALLEST", 40)
    monkeypatch.setattr(active_rows, "SIZE", 32)
    monkeypatch.setattr(kernel_margin, "WORTH_TIMING", 2000)
    monkeypatch.setattr(kernel_margin, "SOME_ROWS", 32)


def test_a_perceptron_of_a_kernel_reads_the_clock_in_its_first_sweep(hand, small_blocks, monkeypatch):
    X, y = noisy()
    hand.counts(monkeypatch, kernels.Rbf, "values", lambda self, A, B: A.X.shape[0] * B.X.shape[0])
    model = maxmargin.KernelPerceptron(max_time=60).fit(X, y)
    assert model.status_ is clock_module.Status.TIME
    assert model.n_iter_ == 1
    assert 0 < len(model.support_) < len(X) / 2
    assert hand.most <= 16 * 128  # rows that are made together, and the columns that they meet at a time
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("limit", [3, 30, 300, 3000])
@pytest.mark.parametrize(
    "make",
    [
        lambda limit: maxmargin.KernelSVM(C=10, max_time=limit),
        lambda limit: maxmargin.KernelSVM(C=10, approximation=20, max_time=limit),
        lambda limit: maxmargin.KernelSVM(C=np.inf, gamma=5.0, max_time=limit),
        lambda limit: maxmargin.KernelSVM(C=10, kernel="laplacian", max_time=limit),
        lambda limit: maxmargin.KernelSVM(C=np.inf, kernel="laplacian", gamma=5.0, max_time=limit),
        lambda limit: maxmargin.StochasticSVM(kernel="rbf", max_time=limit),
        lambda limit: maxmargin.KernelPerceptron(max_time=limit),
    ],
)
def test_kernels_show_a_plane_that_was_judged(make, limit, hand, small_blocks, monkeypatch):
    """However early it ends: what is shown is what the certificate speaks of, and that is true."""
    X, y = noisy()
    hand.counts(monkeypatch, kernels.Rbf, "from_factors", lambda self, left, right: left.shape[0] * right.shape[1])
    hand.counts(monkeypatch, kernels.Rbf, "values", lambda self, A, B: A.X.shape[0] * B.X.shape[0])
    model = make(limit).fit(X, y)
    assert hand.most <= 16 * 128
    assert hand.readings <= 20 * limit + 200  # a search and a judgement, not a sweep
    assert model.certificate_.verify(X, y)
    assert np.all(np.isfinite(model.decision_function(X)))


@pytest.mark.parametrize("limit", [200, 400, 800])
def test_the_time_of_the_last_judgement_is_reserved(limit, hand, small_blocks):
    """A limit that lets the search find something lets it be judged, too: w = 0 is not all that is shown."""
    X, y = noisy()
    model = maxmargin.KernelSVM(C=10, tol=1e-9, max_time=limit).fit(X, y)
    assert model.status_ is clock_module.Status.TIME
    assert model.certificate_.relative_gap < 0.5
    assert hand.readings <= limit


@pytest.mark.parametrize("solver", ["interior_point", "sieve"])
def test_one_step_of_the_interior_point_is_many_checks(solver, hand, small_blocks, monkeypatch):
    X, y = noisy(1200)  # more rows than those whose path is one call
    hand.counts(monkeypatch, central_path, "step_and_weigh", lambda *args: args[6] - args[5])
    model = maxmargin.LinearSVM(solver=solver, max_time=15).fit(X, y)
    assert model.status_ is clock_module.Status.TIME
    assert 0 < hand.most <= 64
    assert model.certificate_.verify(X, y)


def test_a_factor_checks_the_clock_between_its_panels(small_blocks):
    moments = 0

    def listen():
        nonlocal moments
        moments += 1

    A = np.eye(200) + 0.1
    with interruptible(listen):
        factor = normal_equations.Factor(A)
    assert moments == -(-200 // normal_equations.PANEL) - 1
    np.testing.assert_allclose(factor.solve(A @ np.arange(200.0)), np.arange(200.0), atol=1e-9)


def test_the_hulls_are_sought_a_few_steps_at_a_time(hand, small_blocks, monkeypatch):
    X, y = noisy(100, 3)
    hand.counts(monkeypatch, wolfe, "descend", lambda *args: args[-1] * args[0].size)
    assert maxmargin.separability(X, y).verdict is Verdict.NOT_SEPARABLE
    assert 0 < hand.most <= max(2000, X.size)


def test_a_proof_in_integers_hears_the_clock(hand):
    """Where it ends too late, nothing is claimed that it would have proven."""
    random = np.random.default_rng(8)
    X, y = random.standard_normal((40, 6)), np.where(np.arange(40) % 2, 1, -1)
    verdicts, readings = set(), []
    for limit in range(1, 61, 3):
        before = hand.readings
        certificate = maxmargin.HardMarginSVM(on_inseparable="return", max_time=limit).fit(X, y).certificate_
        readings.append(hand.readings - before - limit)
        verdicts.add(certificate.verdict)
        assert certificate.verify(X, y, exact=True)
    assert verdicts == {Verdict.STOPPED, Verdict.NOT_SEPARABLE}
    assert max(readings) <= 20


def test_paused_hulls_are_the_same_hulls(monkeypatch):
    random = np.random.default_rng(3)
    X = random.standard_normal((120, 4))
    y = np.where(X[:, 0] > 0.0, 1, -1)
    whole = maxmargin.HardMarginSVM().fit(X, y)
    monkeypatch.setattr(nearest, "NUMBERS_PER_CALL", 1)  # one step at a time
    assert maxmargin.HardMarginSVM().fit(X, y).margin_ == pytest.approx(whole.margin_, rel=1e-9)


# ------------------------------------------------------------------------------------------------- Ctrl-C

INTERRUPTED = {
    "separability": lambda X, y: maxmargin.separability(X, y),
    "HardMarginSVM": lambda X, y: maxmargin.HardMarginSVM(on_inseparable="return").fit(X, y),
    "LinearSVM": lambda X, y: maxmargin.LinearSVM(C=100, tol=1e-9).fit(X, y),
    "interior point": lambda X, y: maxmargin.LinearSVM(solver="interior_point", tol=1e-9).fit(X, y),
    "squared hinge": lambda X, y: maxmargin.LinearSVM(loss="squared_hinge", tol=1e-12).fit(X, y),
    "KernelSVM": lambda X, y: maxmargin.KernelSVM(C=100, tol=1e-9).fit(X, y),
    "approximation": lambda X, y: maxmargin.KernelSVM(approximation=100).fit(X, y),
    "KernelPerceptron": lambda X, y: maxmargin.KernelPerceptron().fit(X, y),
    "StochasticSVM": lambda X, y: maxmargin.StochasticSVM().fit(X, y),
    "KernelSVM laplacian": lambda X, y: maxmargin.KernelSVM(C=10, kernel="laplacian", tol=1e-9).fit(X, y),
    "StochasticSVM rbf": lambda X, y: maxmargin.StochasticSVM(kernel="rbf").fit(X, y),
    "Perceptron": lambda X, y: maxmargin.Perceptron().fit(X, y),
    "MarginPerceptron": lambda X, y: maxmargin.MarginPerceptron().fit(X, y),
    "Winnow": lambda X, y: maxmargin.Winnow().fit(X, y),
    "path": lambda X, y: maxmargin.path(X, y, tol=1e-9),
}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_ctrl_c_is_heard_at_the_next_breath(name, hand, small_blocks, monkeypatch):
    X, y = noisy()
    hand.counts(monkeypatch, kernels.Rbf, "from_factors", lambda self, left, right: left.shape[0] * right.shape[1])
    hand.counts(monkeypatch, kernels.Rbf, "values", lambda self, A, B: A.X.shape[0] * B.X.shape[0])
    hand.counts(monkeypatch, central_path, "step_and_weigh", lambda *args: args[6] - args[5])
    hand.alarm = 6
    with pytest.raises(KeyboardInterrupt):
        INTERRUPTED[name](X, y)
    assert hand.readings <= hand.alarm + 30  # what follows is one judgement
    assert hand.after_alarm <= 16 * 128
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_in_certify_is_not_lost(hand):
    X, y = noisy()
    model = maxmargin.StochasticSVM(max_iter=2).fit(X, y)
    hand.alarm = hand.readings + 3
    with pytest.raises(KeyboardInterrupt):
        model.certify(X, y)


# -------------------------------------------------------------------------------------------------- moments


def test_a_breath_without_a_listener_is_nothing():
    check_interrupt()


@pytest.mark.parametrize("number", [1, 4])
def test_a_breath_ends_the_work_of_all_threads(number):
    ran, allowed = [], 5

    def listen():
        if len(ran) >= allowed:
            raise OutOfTime

    with Threads() as threads:
        threads.number = number
        with interruptible(listen), pytest.raises(OutOfTime):
            threads.run(lambda block, start, stop: ran.append((start, stop)), [0, 100, 200, 300, 400], at_once=10)
        seen = len(ran)
        assert allowed <= seen < allowed + number
        assert all(stop - start == 10 for start, stop in ran)
    assert len(ran) == seen  # nothing runs on


def test_blocks_cover_every_row_once():
    rows = np.zeros(403, int)

    def run(_, start, stop):
        rows[start:stop] += 1

    with Threads() as threads:
        threads.run(run, [0, 100, 203, 403], at_once=64)
        threads.run(run, [0, 100, 203, 403])
    assert np.all(rows == 2)


# ---------------------------------------------------------------------------------------------- least squares


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("few_columns", [0, 2000])
def test_least_squares_are_those_of_ridge(fit_intercept, weighted, form, few_columns, monkeypatch):
    monkeypatch.setattr(least_squares, "FEW_COLUMNS", few_columns)
    monkeypatch.setattr(passes, "PRODUCTS", 500)
    monkeypatch.setattr(passes, "SPARSE_PRODUCTS", 500)
    X, y = noisy(80, 5, seed=2)
    X[:, 3] = 0.01 * X[:, 3] + 3.0
    X[np.abs(X) < 0.3] = 0.0
    weights = np.random.default_rng(4).random(80) if weighted else None
    w, b = least_squares.least_squares_plane(Separation(form(X), y.astype(float), Norm.L2, fit_intercept), weights)
    squares = row_squares(X)
    penalty = 1e-6 * (squares.sum() if weights is None else squares @ weights)
    ridge = Ridge(alpha=penalty, fit_intercept=fit_intercept, solver="cholesky").fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(w, ridge.coef_, rtol=1e-6, atol=1e-8)
    assert b == pytest.approx(float(ridge.intercept_), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("few_columns", [0, 2000])
def test_least_squares_hear_the_clock(form, few_columns, hand, monkeypatch):
    """Then the plane is the one between the means, and the proof that none separates is kept."""
    monkeypatch.setattr(least_squares, "FEW_COLUMNS", few_columns)
    monkeypatch.setattr(passes, "PRODUCTS", 1)
    monkeypatch.setattr(passes, "SPARSE_PRODUCTS", 1)
    X, y = noisy(200, 20)
    X, y = form(np.vstack([X, X[:1]])), np.append(y, -y[0])
    hand.counts(monkeypatch, passes if few_columns else least_squares, "check_interrupt", lambda: 1)
    model = maxmargin.HardMarginSVM(on_inseparable="return", max_time=30).fit(X, y)
    assert hand.most == 1  # a reading at every moment
    assert hand.readings < 60
    assert model.certificate_.verdict is Verdict.NOT_SEPARABLE
    assert model.certificate_.verify(X, y, exact=True)
    dense = X.toarray() if sp.issparse(X) else X
    w = dense[y > 0].mean(axis=0) - dense[y < 0].mean(axis=0)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-12)
    middle = 0.5 * (dense[y > 0].mean(axis=0) + dense[y < 0].mean(axis=0))
    assert model.intercept_[0] == pytest.approx(-float(w @ middle))


# ------------------------------------------------------------------------------------------------- progress


def test_a_verbose_fit_says_how_it_ended(capsys, hand, small_blocks):
    X, y = noisy()
    maxmargin.KernelSVM(C=10, max_time=200, verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert "preparing" in lines[0]
    assert lines[-1].endswith("ended, time: max_time was reached")


def test_a_verbose_fit_of_many_classes_says_it_once(capsys):
    X, _ = noisy(60, 2)
    maxmargin.LinearSVM(verbose=1).fit(X, np.arange(60) % 3)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "ended" in line]
    assert "3 x proven" in line


def test_the_limit_begins_when_the_table_is_read(hand):
    X, y = noisy()
    model = maxmargin.LinearSVM(max_time=1).fit(X, y)
    assert model.status_ is clock_module.Status.TIME
