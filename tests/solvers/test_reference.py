"""The textbook's problem through CVXPY: primal and dual agree with closed forms and with each other."""

import builtins

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.problems.statement import Norm, Separation
from maxmargin.solvers.reference import reference

X = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 9.0]])
SIGNS = np.array([-1.0, 1.0, 1.0])


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize(
    ("norm", "bias", "w", "b"),
    [
        (Norm.L2, True, [0.24, 0.32], -1.0),
        (Norm.L1, True, [0.0, 0.5], -1.0),
        (Norm.L2, False, [0.12, 0.16], 0.0),
        (Norm.L1, False, [0.0, 0.25], 0.0),
    ],
)
def test_closed_forms(form, norm, bias, w, b):
    rows = slice(None) if bias else slice(1, None)
    (solution,) = reference(Separation(X[rows], SIGNS[rows], norm, bias), form=form)
    assert solution.proposes
    assert np.allclose(solution.w / np.abs(solution.w).sum(), w / np.abs(w).sum(), atol=1e-5)
    if bias:
        assert solution.b / np.abs(solution.w).sum() == pytest.approx(b / np.abs(w).sum(), abs=1e-5)
    assert solution.a[-1] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("norm", list(Norm))
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("table", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("exponent", [0, 40, -40])
def test_canonical_form_and_strong_duality(form, norm, bias, table, exponent):
    """min y (w.x + b) = 1, the objectives agree, and in l2 the weights make the plane; in whatever unit X is."""
    random = np.random.default_rng(0)
    rows = np.ldexp(random.normal(size=(20, 3)), exponent)
    signs = np.where(rows[:, 0] > 0, 1.0, -1.0)
    rows[:, 0] += np.ldexp(signs, exponent)
    (solution,) = reference(Separation(table(rows), signs, norm, bias), form=form)
    w, a = solution.w, solution.a
    assert not solution.meets
    assert np.min(signs * (rows @ w + solution.b)) == pytest.approx(1.0, rel=1e-6)
    p = rows.T @ (signs * a)
    if norm is Norm.L2:
        assert p == pytest.approx(w, rel=1e-5, abs=1e-5 * np.abs(w).max())
        assert a.sum() == pytest.approx(w @ w, rel=1e-6)
    else:
        assert np.abs(p).max() == pytest.approx(1.0, rel=1e-6)
        assert a.sum() == pytest.approx(np.abs(w).sum(), rel=1e-6)
    if bias:
        assert signs @ a == pytest.approx(0.0, abs=1e-6 * a.sum())


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("norm", list(Norm))
def test_no_plane(form, norm):
    problem = Separation(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, -1.0, 1.0]), norm, True)
    (solution,) = reference(problem, form=form)
    assert solution.meets
    assert np.allclose(solution.a / solution.a.sum(), [0.25, 0.5, 0.25], atol=1e-5)


def test_numbers_beyond_clarabel_are_named(monkeypatch):
    import cvxpy

    def failing(*arguments, **options):
        raise cvxpy.SolverError("Solver 'CLARABEL' failed.")

    monkeypatch.setattr(cvxpy.Problem, "solve", failing)
    with pytest.raises(RuntimeError, match="Clarabel fails on these numbers"):
        next(reference(Separation(X, SIGNS, Norm.L2, True)))


def test_unknown_form():
    with pytest.raises(ValueError, match="both"):
        next(reference(Separation(X, SIGNS, Norm.L2, True), form="both"))


def test_a_missing_extra_is_named(monkeypatch):
    honest = builtins.__import__

    def without_cvxpy(name, *arguments, **options):
        if name == "cvxpy":
            raise ImportError(name)
        return honest(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_cvxpy)
    with pytest.raises(ImportError, match=r"pip install 'maxmargin\[reference\]'"):
        next(reference(Separation(X, SIGNS, Norm.L2, True)))
