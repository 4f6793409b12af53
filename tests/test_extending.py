"""Solvers and kernels that are registered from outside are known to fits, files, commands, checkpoints and pictures."""

import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from problems.kernels.formulas import real_values

import maxmargin.persistence.checkpoint as checkpoint
import maxmargin.run.snapshots as snapshots
from maxmargin import (
    ConvergenceDisplay,
    HardMarginSVM,
    KernelPerceptron,
    KernelSVM,
    LinearSVM,
    NotSeparableError,
    StochasticSVM,
    StreetDisplay,
    load,
    save,
)
from maxmargin.cli import main
from maxmargin.data.synthetic import overlapping, rings
from maxmargin.persistence import ModelFileError, fit_with_checkpoints, read_skops, write_libsvm, write_skops
from maxmargin.playground.catalogue import ALGORITHMS
from maxmargin.problems.kernels import KERNELS, Kernel
from maxmargin.problems.kernels import register as register_kernel
from maxmargin.problems.protocol import Iterate, State, varying
from maxmargin.solvers.registry import SEPARATION, SOFT_MARGIN, SOLVERS, Solver, names_of, register

X, Y = overlapping(200)


@dataclass(eq=False)
class Corners(State):
    """Frank and Wolfe on the dual of the hinge, without a bias."""

    tol: float
    a: np.ndarray = varying()
    rounds: int = varying(0)


def start(problem, options):
    return Corners(options.tol, np.zeros(problem.n_rows))


def steps(problem, state):
    table, signs = problem.X, problem.signs
    while state.rounds < 10_000:
        yield None
        w = table.T @ (signs * state.a)
        slope = 1.0 - signs * (table @ w)
        corner = np.where(slope > 0.0, problem.upper, 0.0)
        gap = float(slope @ (corner - state.a) / (0.5 * w @ w + corner @ slope))
        yield Iterate(w, 0.0, state.a, gap <= state.tol, state.rounds, state.rounds, gap=gap)
        towards = table.T @ (signs * (corner - state.a))
        share = min(1.0, slope @ (corner - state.a) / max(towards @ towards, 1e-300))
        state.a += share * (corner - state.a)
        state.rounds += 1


def hinge(loss):
    return None if loss.name == "hinge" else 'is for loss="hinge"'


def through_the_origin(problem):
    return "is for fit_intercept=False" if problem.fit_intercept else None


@pytest.fixture
def corners():
    """An estimator with the solver, which is known for as long as the test runs."""
    register(Solver("corners", "Towards corners.", SOFT_MARGIN, start, steps, suits=hinge, accepts=through_the_origin))
    yield LinearSVM(C=0.01, solver="corners", fit_intercept=False, tol=1e-2)
    del SOLVERS[SOFT_MARGIN]["corners"]


def test_it_is_known_by_its_name_and_proven(corners):
    assert "corners" in names_of(SOFT_MARGIN)
    assert "corners" not in names_of(SEPARATION)
    svm = corners.fit(X, Y)
    assert svm.solver_ == "corners"
    assert svm.certificate_.is_optimal
    assert svm.certificate_.verify(X, Y, exact=True)


def test_what_it_is_not_for_is_said(corners):
    with pytest.raises(ValueError, match='solver="corners" is for loss="hinge"'):
        LinearSVM(solver="corners", loss="squared_hinge").fit(X, Y)
    with pytest.raises(ValueError, match='solver="corners" is for fit_intercept=False'):
        LinearSVM(solver="corners").fit(X, Y)


def test_names_are_taken_once(corners):
    with pytest.raises(ValueError, match="there is a solver 'corners' already"):
        register(Solver("corners", "Another one.", SOFT_MARGIN, start, steps))
    for name in ("auto", "two words"):
        with pytest.raises(ValueError, match="a solver needs a name"):
            register(Solver(name, "", SOFT_MARGIN, start, steps))
    with pytest.raises(ValueError, match="one of 'soft margin', 'separation', not for 'softmargin'"):
        register(Solver("mine", "", "softmargin", start, steps))


@pytest.mark.parametrize(("d", "n"), [(3, 200), (2, 199), ((2, 1), 200), (2, (200, 1))])
def test_a_plane_or_weights_of_a_wrong_shape_are_said_to_be(d, n, monkeypatch):
    def wrong(problem, state):
        yield Iterate(np.ones(d), 0.0, np.zeros(n), proposes=True)

    monkeypatch.setitem(SOLVERS[SOFT_MARGIN], "wrong", Solver("wrong", "", SOFT_MARGIN, start, wrong))
    with pytest.raises(ValueError, match=r"w and a of the shapes .* those of this problem are \(\(2,\), \(200,\)\)"):
        LinearSVM(solver="wrong").fit(X, Y)


@dataclass(eq=False)
class Exchange(State):
    """Mitchell, Demyanov, Malozemov: weight goes from the row of a class that is farthest out to the nearest one."""

    tol: float
    a: np.ndarray = varying()
    rounds: int = varying(0)


def first_rows(problem, options):
    a = np.zeros(problem.n_rows)
    a[[np.argmax(problem.signs > 0), np.argmin(problem.signs)]] = 1.0
    return Exchange(options.tol, a)


def exchanges(problem, state):
    table, signs, a = problem.X, problem.signs, state.a
    classes = [np.flatnonzero(signs == sign) for sign in (1.0, -1.0)]
    while state.rounds < 10_000:
        yield None
        w = table.T @ (signs * a)
        values = signs * (table @ w)
        pairs = [
            (own[np.argmax(np.where(a[own] > 0, values[own], -np.inf))], own[np.argmin(values[own])]) for own in classes
        ]
        least = [float(values[near]) for _, near in pairs]
        b, gap = 0.5 * (least[1] - least[0]), 1.0 - sum(least) / float(w @ w)
        yield Iterate(w, b, a, gap <= state.tol, state.rounds, state.rounds, gap=gap)
        far, near = max(pairs, key=lambda pair: values[pair[0]] - values[pair[1]])
        length = float(np.sum((table[far] - table[near]) ** 2))
        share = min(float(a[far]), float(values[far] - values[near]) / length)
        a[far] -= share
        a[near] += share
        state.rounds += 1


def test_a_solver_of_separations_is_known_and_proven(tmp_path, monkeypatch):
    monkeypatch.setitem(SOLVERS, SEPARATION, dict(SOLVERS[SEPARATION]))
    register(Solver("exchange", "Weight moves within a class.", SEPARATION, first_rows, exchanges))
    rows = X + 4.0 * np.outer(Y, [1.0, 0.0])
    svm = HardMarginSVM(solver="exchange", tol=1e-4).fit(rows, Y)
    assert svm.certificate_.is_separable
    assert svm.certificate_.gap <= 1e-4
    assert svm.certificate_.verify(rows, Y, exact=True)
    assert svm.margin_ == pytest.approx(HardMarginSVM().fit(rows, Y).margin_, rel=1e-4, abs=0.0)
    save(svm, tmp_path / "exchange.mm")
    assert load(tmp_path / "exchange.mm").solver == "exchange"


def test_models_keep_it_and_a_process_without_it_says_so(corners, tmp_path):
    path = tmp_path / "corners.mm"
    save(corners.fit(X, Y), path)
    assert load(path).solver == "corners"
    script = (
        f"import maxmargin\ntry: maxmargin.load({str(path)!r})\nexcept maxmargin.ModelFileError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "corners" in said
    assert "solver" in said


def test_a_run_goes_on_from_anywhere_without_a_line_of_its_own(corners, tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots, "SHORTEST_REST", 0.0)
    files, path, original = [], tmp_path / "checkpoint", checkpoint.write

    def write_and_keep(*given):
        original(*given)
        files.append(Path(path).read_bytes())

    monkeypatch.setattr(checkpoint, "write", write_and_keep)
    calm = corners.fit(X, Y).coef_.tobytes()
    fit_with_checkpoints(corners, X, Y, path=path, every=0.0)
    assert corners.coef_.tobytes() == calm
    kept = list(files)
    for k in (1, len(kept) // 2, len(kept) - 1):
        path.write_bytes(kept[k])
        files.clear()
        fit_with_checkpoints(corners, X, Y, path=path, every=0.0, resume=True)
        assert corners.coef_.tobytes() == calm
        assert len(files) <= len(kept) - k + 1  # nothing was done twice


def test_it_is_drawn(corners):
    svm = corners.fit(X, Y)
    StreetDisplay.from_estimator(svm, X, Y)
    ConvergenceDisplay.from_estimator(svm, X, Y)
    plt.close("all")


# ------------------------------------------------------------------------------------------------------- a kernel


class RationalQuadratic(Kernel):
    """A mixture of Gaussians of all widths: 1 / (1 + gamma |x - x'|^2)."""

    name, parameters, formula = "rational_quadratic", ("gamma",), "1 / (1 + {gamma} |x - x'|^2)"
    is_positive = is_shift_invariant = True

    def values(self, A, B):
        return 1.0 / (1.0 + self.gamma * ((A.dense[:, None] - B.dense) ** 2).sum(axis=2))

    def rounding(self, A, B):
        (n, d), largest = A.X.shape, max(np.abs(P.dense).max(initial=0.0) for P in (A, B))
        r = 1.01 * (5 * d + 5) * 2.0**-53 if largest < 1e150 else np.inf
        return np.full(n, r), np.full(n, 1e-300)


class Overlap(Kernel):
    """What two rows of counts share: sum_j min(x_j, x'_j), whose values are rational."""

    name, irrational = "overlap", ""

    def values(self, A, B):
        return np.minimum(A.dense[:, None], B.dense).sum(axis=2)

    def rounding(self, A, B):
        n, d = A.X.shape
        return np.full(n, d * 2.0**-53), np.zeros(n)

    def exact_values(self, A, B, unit):
        return np.minimum(A[:, None], B).sum(axis=2), unit


@pytest.fixture
def kernels():
    """Two kernels, which are known for as long as the test runs."""
    for kind in (RationalQuadratic, Overlap):
        register_kernel(kind)
    yield None
    for kind in (RationalQuadratic, Overlap):
        del KERNELS[kind.name]


ROUND, RINGS = rings(60, seed=3)
COUNTS = np.random.default_rng(0).integers(0, 6, size=(80, 5)) / 4.0
FRONT = np.where(COUNTS[:, :2].sum(axis=1) > 1.5 * COUNTS[:, 2:].mean(axis=1), "front", "back")


@pytest.mark.parametrize(
    "model",
    [
        KernelSVM(10.0, kernel="rational_quadratic", tol=1e-6),
        KernelSVM(np.inf, kernel="rational_quadratic"),
        KernelPerceptron("rational_quadratic"),
        StochasticSVM(10.0, kernel="rational_quadratic", tol=0.2, max_iter=500),
    ],
    ids=["soft", "hard", "perceptron", "stochastic"],
)
def test_a_kernel_is_fitted_proven_saved_and_drawn(kernels, model, tmp_path):
    model.fit(ROUND, RINGS)
    assert model.certificate_.verify(ROUND, RINGS)
    assert "rational_quadratic kernel 1 / (1 + " in model.certificate_.report()
    assert "on the condition that the kernel is positive semidefinite" in model.certificate_.report()
    with pytest.raises(ValueError, match="rational_quadratic: its class has no exact values"):
        model.certificate_.verify(ROUND, RINGS, exact=True)
    path = tmp_path / "model"
    save(model, path)
    assert np.array_equal(load(path).decision_function(ROUND), model.decision_function(ROUND))
    StreetDisplay.from_estimator(model, ROUND, RINGS)
    plt.close("all")


def test_a_kernel_with_rational_values_is_decided_exactly(kernels):
    svm = KernelSVM(1.0, kernel="overlap", tol=1e-6).fit(COUNTS, FRONT)
    assert svm.certificate_.is_optimal
    assert svm.certificate_.verify(COUNTS, FRONT, exact=True)
    mixed = np.where(np.arange(80) % 2, "front", "back")
    with pytest.raises(NotSeparableError) as caught:
        KernelSVM(np.inf, kernel="overlap").fit(COUNTS, mixed)
    assert caught.value.certificate.verify(COUNTS, mixed, exact=True)


def test_a_process_without_the_kernel_says_so(kernels, tmp_path):
    path = tmp_path / "round.mm"
    svm = KernelSVM(kernel="rational_quadratic").fit(ROUND, RINGS)
    save(svm, path)
    script = (
        f"import maxmargin\ntry: maxmargin.load({str(path)!r})\nexcept maxmargin.ModelFileError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "rational_quadratic" in said
    assert "kernel" in said
    with pytest.raises(ModelFileError, match="its kernel is rational_quadratic"):
        write_libsvm(svm, tmp_path / "model.txt")


def test_skops_trusts_the_kernels_that_the_process_knows(kernels, tmp_path):
    pytest.importorskip("skops")
    path = tmp_path / "model.skops"
    svm = KernelSVM(kernel="rational_quadratic").fit(ROUND, RINGS)
    write_skops(svm, path)
    assert np.array_equal(read_skops(path).decision_function(ROUND), svm.decision_function(ROUND))
    del KERNELS["rational_quadratic"]
    try:
        with pytest.raises(ModelFileError, match="RationalQuadratic"):
            read_skops(path)
    finally:
        register_kernel(RationalQuadratic)


def test_commands_and_the_page_offer_the_kernel(kernels, tmp_path, capsys):
    data = tmp_path / "rings.csv"
    np.savetxt(data, np.column_stack([ROUND, RINGS]), delimiter=",", header="a,b,y", comments="")
    assert main(["fit", str(data), "--label", "y", "--kernel", "rational_quadratic"]) == 0
    assert "rational_quadratic" in capsys.readouterr().out
    widgets = {widget.name: widget for widget in ALGORITHMS["kernel_svm"].parameters}
    assert ("rational_quadratic", "rational quadratic, 1 / (1 + gamma |x - x'|^2)") in widgets["kernel"].choices
    assert "rational_quadratic" in widgets["gamma"].shown_if[1]


def test_the_error_that_it_tells_holds():
    kernel, X = RationalQuadratic(0.3), 30.0 + 10.0 * np.random.default_rng(0).normal(size=(15, 3))
    points = kernel.points(X)
    values, (relative, _) = kernel.values(points, points), kernel.rounding(points, points)
    for i, row in enumerate(real_values(kernel, X, X)):
        assert all(abs(Fraction(values[i, j]) - value) <= Fraction(relative[i]) * value for j, value in enumerate(row))
    assert np.all(np.isinf(kernel.rounding(kernel.points(1e200 * X), points)[0]))
