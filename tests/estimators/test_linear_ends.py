"""The soft margin that is stopped, interrupted or started from somewhere: fitted as far as it got, and honest."""

import math
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from soft_fits import LOSSES, each_loss, mixed, objective, proven, with_and_without_bias

from maxmargin import HardMarginSVM, LinearSVM
from maxmargin.certificates.soft_margin import SoftVerdict
from maxmargin.run.control import Status
from maxmargin.solve import separation, soft_margin

# --------------------------------------------------------------------------------------------------------- early ends


@each_loss
@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_max_time_keeps_what_was_found(loss, strategy):
    random = np.random.default_rng(17)
    X, y = random.normal(size=(3000, 30)), random.integers(0, 3, 3000)
    with pytest.warns(ConvergenceWarning, match="of 3 two-class problems: max_time was reached"):
        svm = LinearSVM(100.0, loss=loss, max_time=1e-9, tol=1e-10, multi_class=strategy).fit(X, y)
    assert set(svm.status_) <= {Status.TIME, Status.PROVEN}
    assert Status.TIME in svm.status_
    for part, status in zip(svm.certificate_, svm.status_, strict=True):
        assert part.is_optimal == (status is Status.PROVEN)
        assert 0.0 <= part.relative_gap <= 1.0
    assert svm.certificate_.verify(X, y)
    svm.predict(X[:3])


@pytest.mark.parametrize("solver", ["coordinate_descent", "interior_point"])
def test_max_iter_keeps_what_was_found(solver):
    X, y = mixed(seed=18)
    with pytest.warns(ConvergenceWarning, match="ended early: as many sweeps or updates were made as are allowed"):
        svm = LinearSVM(10.0, solver=solver, max_iter=2, tol=1e-12).fit(X, y)
    assert svm.status_ is Status.BUDGET
    assert svm.certificate_.verdict is SoftVerdict.BOUNDED
    assert 1e-12 < svm.certificate_.relative_gap <= 1.0
    assert objective(svm, X, y) <= svm.certificate_.primal * (1 + 1e-12)
    assert svm.certificate_.verify(X, y, exact=True)
    assert "Not proven to the gap" in svm.certificate_.report()


def test_a_gap_below_rounding_ends_honestly():
    X, y = mixed(40, seed=19)
    for loss in LOSSES:
        with pytest.warns(ConvergenceWarning, match=r"1\.0e-17 was asked for"):
            svm = LinearSVM(loss=loss, tol=1e-17, max_time=5.0).fit(X, y)
        assert svm.status_ in (Status.STALLED, Status.TIME)
        assert svm.certificate_.verdict is SoftVerdict.BOUNDED
        assert svm.certificate_.relative_gap < 1e-5
        assert svm.certificate_.verify(X, y, exact=True)


def test_ctrl_c_from_the_keyboard():
    random = np.random.default_rng(25)
    X, y = random.normal(size=(4000, 60)), random.integers(0, 2, 4000)
    with pytest.warns(ConvergenceWarning):
        LinearSVM(solver="coordinate_descent", max_iter=1).fit(X, y)  # compiles
    svm = LinearSVM(1e4, solver="coordinate_descent", tol=1e-13)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    started = time.process_time()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        svm.fit(X, y)
    assert time.process_time() - started < 5.0
    assert svm.status_ is Status.INTERRUPTED
    assert svm.certificate_.verify(X, y)
    assert 0.0 < svm.certificate_.relative_gap <= 1.0


def interrupt_at(monkeypatch, module, name, times=1):
    """Ctrl-C arrives when this function is called."""
    honest = getattr(module, name)

    def interrupted(*arguments, **settings):
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        return honest(*arguments, **settings)

    monkeypatch.setattr(module, name, interrupted)


@pytest.mark.parametrize(
    ("svm", "module", "name", "status"),
    [
        (LinearSVM(), soft_margin, "soft_margin_of", Status.INTERRUPTED),  # before the first step
        (LinearSVM(solver="coordinate_descent"), soft_margin, "soft_margin_of", Status.INTERRUPTED),
        (LinearSVM(loss="squared_hinge"), soft_margin, "soft_margin_of", Status.INTERRUPTED),
        (LinearSVM(), soft_margin, "soft_certificate", Status.PROVEN),
        (LinearSVM(), LinearSVM, "_store", Status.PROVEN),
        (HardMarginSVM(), separation, "separation_of", Status.INTERRUPTED),
        (HardMarginSVM(), separation, "judge", Status.SETTLED),
    ],
)
def test_ctrl_c_waits_for_the_certificate(svm, module, name, status, monkeypatch):
    """Whenever it comes, what has been found is certified and kept; then the program stops."""
    X, y = mixed(seed=25, noise=1.0 if isinstance(svm, LinearSVM) else 0.0)
    interrupt_at(monkeypatch, module, name)
    with pytest.raises(KeyboardInterrupt):
        svm.fit(X, y)
    assert svm.status_ is status
    assert svm.certificate_.verify(X, y, exact=True)
    assert 0.0 <= svm.certificate_.relative_gap <= (math.inf if status is Status.INTERRUPTED else svm.tol)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    svm.predict(X[:3])


def test_a_second_ctrl_c_does_not_wait(monkeypatch):
    interrupt_at(monkeypatch, soft_margin, "soft_certificate", times=2)
    svm = LinearSVM()
    with pytest.raises(KeyboardInterrupt):
        svm.fit(*mixed(seed=25))
    assert not hasattr(svm, "coef_")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_is_left_to_whoever_listens_already(monkeypatch):
    X, y = mixed(seed=25)
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(True))
    try:
        interrupt_at(monkeypatch, soft_margin, "soft_margin_of")
        assert proven(LinearSVM().fit(X, y), X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [True]


def test_ctrl_c_from_another_process():
    """The certificate takes a second here, and the signal comes within it."""
    script = """
import time
import numpy as np
from maxmargin import LinearSVM
from maxmargin.solve import soft_margin

honest = soft_margin.soft_certificate

def slow(*arguments):
    print("certifying", flush=True)
    time.sleep(1.0)
    return honest(*arguments)

soft_margin.soft_certificate = slow
random = np.random.default_rng(0)
X, svm = random.normal(size=(100, 3)), LinearSVM()
y = np.where(X[:, 0] + random.normal(size=100) > 0, 1, -1)
try:
    svm.fit(X, y)
except KeyboardInterrupt:
    print("stopped", svm.status_.name, bool(svm.certificate_.verify(X, y)))
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "certifying\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "stopped PROVEN True\n"
    assert process.returncode == 0


def test_progress_is_shown_on_stderr(capsys):
    X, y = mixed(seed=26)
    LinearSVM(verbose=2, tol=1e-8).fit(X, y)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "sweeps" in shown.err
    assert "gap about" in shown.err
    LinearSVM().fit(X, y)
    assert capsys.readouterr().err == ""


def test_the_seconds_of_the_compiler_are_not_those_of_the_fit(capsys, monkeypatch):
    X, y = mixed(seed=26)
    LinearSVM().fit(X, y)
    compiled = iter([0.0, 0.0, 0.0])
    monkeypatch.setattr("maxmargin.run.control.compiled_by_now", lambda: next(compiled, 1000.0))
    LinearSVM(verbose=2, max_time=100.0).fit(X, y)  # the compiler did not use up the limit
    line = capsys.readouterr().err.splitlines()[0]
    assert line.endswith("(compiled once in 1000.0 s)")
    assert float(line.split()[1]) < 0.0  # the clock did not run for so long: it is subtracted


# -------------------------------------------------------------------------------------------------------- warm starts


@each_loss
@with_and_without_bias
def test_a_second_fit_from_the_answer_has_nothing_to_do(loss, bias):
    X, y = mixed(seed=27)
    svm = LinearSVM(loss=loss, fit_intercept=bias, warm_start=True, tol=1e-5).fit(X, y)
    first = svm.certificate_
    svm.fit(X, y)
    assert svm.n_updates_ == 0
    assert svm.solver_ == "none needed"
    assert proven(svm, X, y)
    assert svm.certificate_.relative_gap <= max(1e-5, first.relative_gap)
    weights = np.zeros(len(y))
    weights[first.rows] = first.weights
    given = LinearSVM(loss=loss, fit_intercept=bias, tol=1e-5).fit(X, y, a0=weights)
    assert proven(given, X, y)
    if loss == "squared_hinge":  # the answer of Newton is at the optimum, where a makes the plane
        assert given.n_updates_ == 0
    off = np.linalg.norm(given.dual_coef_ @ X[given.support_] - given.coef_) / np.linalg.norm(given.coef_)
    assert off <= given.certificate_.kkt.stationarity.value + 1e-9


@each_loss
def test_a_warm_start_on_another_c_proves_the_new_one(loss):
    X, y = mixed(seed=28)
    svm = LinearSVM(0.1, loss=loss, warm_start=True, tol=1e-6).fit(X, y)
    for C in (0.1, 10.0, 1e-4):
        svm.set_params(C=C).fit(X, y)
        assert svm.certificate_.C == C
        assert proven(svm, X, y)
    svm.fit(X[:50], y[:50])  # another number of rows: from the start
    assert proven(svm, X[:50], y[:50])


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_a_warm_start_of_many_classes(strategy):
    X, y = mixed(seed=29)
    y = np.where(X[:, 0] > 1, 2, y)
    svm = LinearSVM(multi_class=strategy, warm_start=True).fit(X, y)
    assert svm.fit(X, y).n_updates_ == [0, 0, 0]
    assert proven(svm, X, y)
    a0 = np.zeros((3, len(y)))
    for line, part in zip(a0, svm.certificate_, strict=True):
        line[part.rows] = part.weights
    assert proven(LinearSVM(multi_class=strategy, tol=1e-6).fit(X, y, a0=a0), X, y)


def test_nonsense_to_start_from():
    X, y = mixed(seed=30)
    for a0 in (np.full(len(y), 1e300), np.zeros(len(y)), np.where(y > 0, 1.0, 0.0)):
        assert proven(LinearSVM(tol=1e-6).fit(X, y, a0=a0), X, y)
    for a0 in (np.ones(3), -np.ones(len(y)), np.full(len(y), np.nan), np.ones((2, len(y)))):
        with pytest.raises(ValueError, match="a0 must hold 120 dual variables for each of 1 problems"):
            LinearSVM().fit(X, y, a0=a0)
