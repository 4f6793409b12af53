"""Limits are heard: between two readings of the clock lies a bounded piece of work, whatever is being done.

The hand of the clock moves by one at every reading, so that a limit is a number of readings and no test is timed.
"""

import signal

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge

import maxmargin
from maxmargin.certificates.certificate import FurtherLook, Verdict
from maxmargin.data.matrix import row_squares
from maxmargin.data.threads import OutOfTime, Threads, check_interrupt, interruptible
from maxmargin.problems import kernels
from maxmargin.problems.statement import Norm, Separation
from maxmargin.run import control as clock_module
from maxmargin.solve import kernel_margin
from maxmargin.solvers import registry, stochastic_subgradient
from maxmargin.solvers.hulls import least_squares, nearest, weak_plane, wolfe
from maxmargin.solvers.interior_point import active_rows as interior_rows
from maxmargin.solvers.interior_point import central_path, normal_equations
from maxmargin.solvers.kernel_smo import active_rows, kernel_rows
from maxmargin.solvers.kernel_smo import method as kernel_smo
from maxmargin.solvers.mistakes import kernel_memory

pytestmark = pytest.mark.filterwarnings("ignore:.* ended early:sklearn.exceptions.ConvergenceWarning")  # they shall


class Hand:
    """The hand of a clock, and the work that was done since it was last read."""

    def __init__(self):
        self.readings, self.alarm, self.since, self.most, self.after_alarm = 0, None, 0, 0, 0

    def perf_counter(self):
        self.readings += 1
        self.most, self.since = max(self.most, self.since), 0
        if self.readings == self.alarm:
            signal.raise_signal(signal.SIGINT)
        return float(self.readings)

    def works(self, amount):
        self.since += amount
        if self.alarm is not None and self.readings >= self.alarm:
            self.after_alarm += amount


@pytest.fixture
def hand(monkeypatch):
    hand = Hand()
    monkeypatch.setattr(clock_module, "time", hand)
    monkeypatch.setattr("maxmargin.data.threads.cores", lambda: 1)
    return hand


def counted(monkeypatch, hand, owner, name, amount):
    """Let a function tell the hand how much work it does."""
    plain = getattr(owner, name)

    def works(*args, **kwargs):
        hand.works(amount(*args, **kwargs))
        return plain(*args, **kwargs)

    monkeypatch.setattr(owner, name, works)


def noisy(n=300, d=6, seed=0):
    """Rows that no plane separates."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    return X, np.where(X[:, 0] + random.standard_normal(n) > 0.0, 1, -1)


def contradicted(n=40, d=100):
    """More columns than rows, and one row once more with the other label: weakly separable, and not separable."""
    random = np.random.default_rng(1)
    X, y = random.standard_normal((n, d)), np.where(np.arange(n) % 2, 1, -1)
    return np.vstack([X, X[:1]]), np.append(y, -y[0])


@pytest.fixture
def small_blocks(monkeypatch):
    """Small tables have many blocks, as large ones have."""
    monkeypatch.setattr(kernel_memory, "PRODUCTS", 2000)
    monkeypatch.setattr(kernel_memory, "AT_ONCE", 16)
    monkeypatch.setattr(kernels, "BLOCK", (32, 32))
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
    counted(monkeypatch, hand, kernels.Kernel, "values", lambda self, A, B: A.X.shape[0] * B.X.shape[0])
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
        lambda limit: maxmargin.StochasticSVM(kernel="rbf", max_time=limit),
        lambda limit: maxmargin.KernelPerceptron(max_time=limit),
    ],
)
def test_kernels_show_a_plane_that_was_judged(make, limit, hand, small_blocks, monkeypatch):
    """However early it ends: what is shown is what the certificate speaks of, and that is true."""
    X, y = noisy()
    counted(monkeypatch, hand, kernels.Kernel, "from_factors", lambda self, left, right: left.shape[0] * right.shape[1])
    counted(monkeypatch, hand, kernels.Kernel, "values", lambda self, A, B: A.X.shape[0] * B.X.shape[0])
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
    X, y = noisy(1000)
    counted(monkeypatch, hand, central_path, "step_and_weigh", lambda *args: args[6] - args[5])
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
    assert moments == -(-200 // normal_equations.PANEL)
    np.testing.assert_allclose(factor.solve(A @ np.arange(200.0)), np.arange(200.0), atol=1e-9)


def test_the_hulls_are_sought_a_few_steps_at_a_time(hand, small_blocks, monkeypatch):
    X, y = noisy(100, 3)
    counted(monkeypatch, hand, wolfe, "descend", lambda *args: args[-1] * args[0].size)
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
    "StochasticSVM rbf": lambda X, y: maxmargin.StochasticSVM(kernel="rbf").fit(X, y),
    "Perceptron": lambda X, y: maxmargin.Perceptron().fit(X, y),
    "MarginPerceptron": lambda X, y: maxmargin.MarginPerceptron().fit(X, y),
    "Winnow": lambda X, y: maxmargin.Winnow().fit(X, y),
    "path": lambda X, y: maxmargin.path(X, y, tol=1e-9),
}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_ctrl_c_is_heard_at_the_next_breath(name, hand, small_blocks, monkeypatch):
    X, y = noisy()
    counted(monkeypatch, hand, kernels.Kernel, "from_factors", lambda self, left, right: left.shape[0] * right.shape[1])
    counted(monkeypatch, hand, kernels.Kernel, "values", lambda self, A, B: A.X.shape[0] * B.X.shape[0])
    counted(monkeypatch, hand, central_path, "step_and_weigh", lambda *args: args[6] - args[5])
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
    monkeypatch.setattr(least_squares, "PRODUCTS", 500)
    monkeypatch.setattr(least_squares, "SPARSE_PRODUCTS", 500)
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
    monkeypatch.setattr(least_squares, "PRODUCTS", 1)
    monkeypatch.setattr(least_squares, "SPARSE_PRODUCTS", 1)
    X, y = noisy(200, 20)
    X, y = form(np.vstack([X, X[:1]])), np.append(y, -y[0])
    counted(monkeypatch, hand, least_squares, "check_interrupt", lambda: 1)
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


# ------------------------------------------------------------------------------- one verdict for one table

EVERYONE = {
    "Perceptron": maxmargin.Perceptron,
    "MarginPerceptron": maxmargin.MarginPerceptron,
    "Winnow": maxmargin.Winnow,
    "HardMarginSVM": lambda: maxmargin.HardMarginSVM(on_inseparable="return"),
    "l1": lambda: maxmargin.HardMarginSVM("l1", on_inseparable="return"),
}


@pytest.mark.parametrize("name", EVERYONE)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_everyone_says_not_separable_with_a_witness(name, form):
    X, y = contradicted()
    certificate = EVERYONE[name]().fit(form(X), y).certificate_
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert certificate.is_separable is False
    assert set(certificate.rows) == {0, 40}
    assert certificate.further_look is FurtherLook.NOT_ASKED
    assert certificate.verify(X, y, exact=True)


def test_a_plane_that_happens_to_separate_weakly_is_not_called_so():
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([-1, 1, 1])
    assert maxmargin.Perceptron().fit(X, y).certificate_.verdict is Verdict.NOT_SEPARABLE
    assert maxmargin.separability(X, y).verdict is Verdict.WEAKLY_SEPARABLE


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_separability_goes_further_and_keeps_the_witness(form, norm):
    X, y = contradicted()
    certificate = maxmargin.separability(form(X), y, norm=norm)
    assert certificate.verdict is Verdict.WEAKLY_SEPARABLE
    assert certificate.is_separable is False
    assert set(certificate.rows) == {0, 40}
    assert certificate.rows_off_plane == 39
    assert "39 of 41 rows" in certificate.report()
    for exact in (False, True):
        assert certificate.verify(X, y, exact=exact)


def test_above_its_size_separability_says_that_it_did_not_look(monkeypatch):
    X, y = contradicted()
    monkeypatch.setattr(weak_plane, "LARGEST_TABLE", 100)
    certificate = maxmargin.separability(X, y)
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert certificate.further_look is FurtherLook.TOO_LARGE
    assert "not looked for" in certificate.report()
    assert certificate.verify(X, y, exact=True)


@pytest.mark.parametrize("limit", [16, 24])
def test_separability_keeps_its_proof_when_the_time_is_over(limit, hand, monkeypatch):
    monkeypatch.setattr(weak_plane, "ROWS_AT_ONCE", 1)
    X, y = contradicted()
    counted(monkeypatch, hand, weak_plane, "check_interrupt", lambda: 1)
    certificate = maxmargin.separability(X, y, max_time=limit)
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert certificate.further_look is FurtherLook.NO_TIME
    assert "time was over" in certificate.report()
    assert hand.most <= 1
    assert hand.readings <= limit + 10
    assert certificate.verify(X, y, exact=True)


def test_where_no_plane_separates_even_weakly_it_says_that_none_was_found():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1, -1, 1, -1])
    certificate = maxmargin.separability(X, y)
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert certificate.further_look is FurtherLook.NONE_FOUND


@pytest.mark.parametrize("weak_rows", [1, 5])
def test_contradicting_rows_end_a_wide_perceptron(weak_rows, monkeypatch):
    """Where rows and columns are many, too, equal rows of both classes are noticed."""
    monkeypatch.setattr(registry, "LARGE", 10)
    random = np.random.default_rng(5)
    X = sp.random_array((200, 400), density=0.05, format="csr", rng=random)
    y = np.where(random.random(200) < 0.5, 1, -1)
    X, y = sp.csr_array(sp.vstack([X, X[:weak_rows]])), np.concatenate([y, -y[:weak_rows]])
    for model in (maxmargin.Perceptron(), maxmargin.MarginPerceptron()):
        model.fit(X, y)
        assert model.status_ is clock_module.Status.WITNESS
        assert model.n_iter_ <= 40
        assert model.certificate_.n_support == 2
        assert model.certificate_.verify(X, y, exact=True)


def test_other_witnesses_end_a_wide_perceptron(monkeypatch):
    """A row half way between two rows of the other class."""
    monkeypatch.setattr(registry, "LARGE", 10)
    random = np.random.default_rng(6)
    X, y = random.integers(-4, 5, (60, 100)) * 2.0, np.where(np.arange(60) < 30, 1, -1)
    X, y = np.vstack([X, 0.5 * (X[0] + X[1])]), np.append(y, -1)
    model = maxmargin.Perceptron().fit(X, y)
    assert model.status_ is clock_module.Status.WITNESS
    assert set(model.certificate_.rows) == {0, 1, 60}
    assert model.certificate_.verify(X, y, exact=True)


def test_separable_wide_data_are_still_learnt(monkeypatch):
    monkeypatch.setattr(registry, "LARGE", 10)
    random = np.random.default_rng(7)
    X, y = random.standard_normal((80, 100)), np.where(random.random(80) < 0.5, 1, -1)
    assert maxmargin.Perceptron().fit(X, y).certificate_.is_separable


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
