"""A solver that is registered from outside is known to fits, files, commands, checkpoints and pictures."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import maxmargin.persistence.checkpoint as checkpoint
import maxmargin.run.observers as observers
from maxmargin import ConvergenceDisplay, LinearSVM, StreetDisplay, load, save
from maxmargin.data.synthetic import overlapping
from maxmargin.persistence import fit_with_checkpoints
from maxmargin.problems.protocol import AT_REST, Iterate
from maxmargin.problems.state import State, varying
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
        yield AT_REST
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
    monkeypatch.setattr(observers, "SHORTEST_REST", 0.0)
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
