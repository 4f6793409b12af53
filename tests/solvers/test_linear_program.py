"""The linear program of the l1 margin: closed forms, the reference, and rows and columns that join later."""

import threading

import numpy as np
import oracles
import pytest
import scipy.sparse as sparse
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.problems.statement import Norm, Separation
from maxmargin.solvers.hulls import linear_program as program
from maxmargin.solvers.hulls.linear_program import l1_margin
from maxmargin.solvers.reference import reference

BIAS = pytest.mark.parametrize("bias", [True, False])


def clouds(n, d, gap, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    signs = np.where(X[:, 0] - X[:, 1] > 0, 1.0, -1.0)
    X[:, 0] += gap * signs
    return X, signs


def last(solutions):
    *_, solution = solutions
    assert solution.proposes
    return solution


def margin(problem, solution):
    return np.min(problem.signs * (problem.X @ solution.w + solution.b)) / np.abs(solution.w).sum()


def bound(problem, solution):
    """|p|_max / 2, or |p|_max without a bias, of the weights made feasible."""
    sides = [problem.signs > 0, problem.signs < 0] if problem.fit_intercept else [problem.signs != 0]
    p = sum(problem.X[side].T @ (problem.signs * solution.a)[side] / solution.a[side].sum() for side in sides)
    return np.abs(p).max() / len(sides)


def without_hulls(monkeypatch):
    """The linear program has to decide alone whether a plane exists."""
    monkeypatch.setattr(program, "SMALL_FOR_HULLS", 0)


# ------------------------------------------------------------------------------------------------- the margin


@pytest.mark.parametrize(
    ("X", "signs", "bias", "expected"),
    [
        ([[0.0, 0.0], [3.0, 4.0]], [-1.0, 1.0], True, 2.0),  # half of the largest coordinate of the difference
        ([[3.0, 4.0], [6.0, 4.0]], [1.0, 1.0], False, 4.0),
        ([[3.0, 1.0], [1.0, 3.0]], [1.0, 1.0], False, 2.0),  # w = (1/2, 1/2): a mean of rows with equal coordinates
        ([[1.0, -1.0], [-1.0, 3.0]], [1.0, 1.0], False, 1 / 3),  # w = (2/3, 1/3)
        ([[-1.0], [1.0], [2.0]], [-1.0, 1.0, 1.0], True, 1.0),
    ],
)
@pytest.mark.parametrize("hulls", [True, False])
def test_closed_forms(X, signs, bias, expected, hulls, monkeypatch):
    if not hulls:
        without_hulls(monkeypatch)
    problem = Separation(np.array(X), np.array(signs), Norm.L1, bias)
    solution = last(l1_margin(problem))
    assert not solution.meets
    assert margin(problem, solution) == pytest.approx(expected, rel=1e-14)
    assert bound(problem, solution) == pytest.approx(expected, rel=1e-14)
    assert np.abs(solution.w).sum() == pytest.approx(1.0 / expected, rel=1e-14)  # canonical: min y (w.x + b) = 1


@given(data=strategies.separable())
@settings(max_examples=60)
def test_planted_margins(data):
    """Two nearest rows across a plane of known distance; across an axis, that is the l1 margin as well."""
    problem = Separation(data.X, data.y.astype(float), Norm.L1, True)
    solution = last(l1_margin(problem))
    assert margin(problem, solution) == pytest.approx(bound(problem, solution), rel=1e-9)
    columns = data.X.shape[1]
    assert data.margin / np.sqrt(columns) * (1 - 1e-9) <= margin(problem, solution) <= data.margin * (1 + 1e-9)
    if data.axis:
        assert margin(problem, solution) == pytest.approx(data.margin, rel=1e-9)


@BIAS
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(400, 60), (30, 700), (600, 4)])
@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("hulls", [True, False])
def test_both_sides_meet(bias, form, shape, small, hulls, monkeypatch):
    """A table that does not count as small starts from few rows and columns, and the rest joins."""
    if not small:
        monkeypatch.setattr(program, "SMALL_FOR_LP", 0)
        monkeypatch.setattr(program, "LARGE_FOR_LP", 0)
    if not hulls:
        without_hulls(monkeypatch)
    X, signs = clouds(*shape, 0.5, seed=1)
    problem = Separation(form(X), signs, Norm.L1, bias)
    solution = last(l1_margin(problem))
    assert margin(problem, solution) == pytest.approx(bound(problem, solution), rel=1e-9)
    if not small and shape != (400, 60):
        rows, columns = program.first_working_set(problem, program.first_plane(problem))
        assert len(rows) < shape[0] or len(columns) < shape[1]


@BIAS
@pytest.mark.parametrize("shape", [(30, 3), (10, 40)])
@pytest.mark.parametrize("form", ["primal", "dual"])
def test_agrees_with_the_reference(bias, shape, form):
    X, signs = clouds(*shape, 0.5, seed=2)
    problem = Separation(X, signs, Norm.L1, bias)
    ours = last(l1_margin(problem))
    (theirs,) = reference(problem, form=form)
    assert margin(problem, ours) == pytest.approx(margin(problem, theirs), rel=1e-6)
    assert bound(problem, theirs) == pytest.approx(margin(problem, ours), rel=1e-6)


@BIAS
@given(data=strategies.tables(rows=strategies.grids()), hulls=st.booleans())
@settings(max_examples=40)
def test_small_tables_of_every_kind(bias, data, hulls):
    """Separable or not as the exact oracle says; dense and CSR alike; the margin proven from both sides."""
    problem = Separation(data.X, data.y.astype(float), Norm.L1, bias)
    with pytest.MonkeyPatch.context() as patch:
        if not hulls:
            without_hulls(patch)
        solution = last(l1_margin(problem))
        of_csr = last(l1_margin(Separation(sparse.csr_array(data.X), problem.signs, Norm.L1, bias)))
    separable = oracles.truth(data.X, data.y, fit_intercept=bias) == oracles.SEPARABLE
    assert solution.meets is of_csr.meets is (not separable)
    if separable:
        assert margin(problem, solution) == pytest.approx(bound(problem, solution), rel=1e-9)
        assert margin(problem, of_csr) == pytest.approx(margin(problem, solution), rel=1e-9)
    else:
        assert bound(problem, solution) <= 1e-12 * np.abs(data.X).max()
        assert np.count_nonzero(solution.a) <= data.X.shape[1] + 2


# --------------------------------------------------------------------------------------------------- no plane


@BIAS
@pytest.mark.parametrize("hulls", [True, False])
@pytest.mark.parametrize("small", [True, False])
def test_no_plane_gives_a_witness(bias, hulls, small, monkeypatch):
    if not hulls:
        without_hulls(monkeypatch)
    if not small:
        monkeypatch.setattr(program, "SMALL_FOR_LP", 0)
        monkeypatch.setattr(program, "LARGE_FOR_LP", 0)
    random = np.random.default_rng(3)
    X, signs = random.normal(size=(600, 3)), np.where(random.random(600) < 0.5, 1.0, -1.0)
    problem = Separation(X, signs, Norm.L1, bias)
    solution = last(l1_margin(problem))
    assert solution.meets
    assert np.count_nonzero(solution.a) <= 5
    assert bound(problem, solution) < 1e-13


@BIAS
def test_a_rough_witness_is_made_exact(bias):
    X, signs = np.array([[0.5, 0.0], [0.0, 0.5], [0.25, 0.25], [9.0, 9.0]]), np.array([1.0, 1.0, -1.0, 1.0])
    problem = Separation(X, signs, Norm.L1, bias)
    part = program.part_of(problem, np.arange(4), np.arange(2), 1.0)
    witness = program.polished_witness(part, np.array([0.2501, 0.2499, 0.5, 0.0]))
    assert witness == pytest.approx([0.25, 0.25, 0.5, 0.0], abs=1e-15)


def test_a_tiny_margin_is_not_mistaken_for_none(monkeypatch):
    """Below 1 / LARGEST_SUM the first program gives up, and the second finds what float64 can tell."""
    without_hulls(monkeypatch)
    X = np.array([[0.0, 1.0], [1e-10, 1.0], [-1.0, 0.5], [1.0, 0.5]])
    problem = Separation(X, np.array([-1.0, 1.0, -1.0, 1.0]), Norm.L1, True)
    solution = last(l1_margin(problem))
    assert not solution.meets
    assert margin(problem, solution) == pytest.approx(0.5e-10, rel=1e-5)
    assert bound(problem, solution) == pytest.approx(0.5e-10, rel=1e-5)


# ---------------------------------------------------------------------------------------------- signs of life


def test_signs_of_life_while_the_program_runs(monkeypatch):
    monkeypatch.setattr(program, "PATIENCE", 0.01)
    may_end = threading.Event()
    original = program.largest_sum

    def slow(part):
        assert may_end.wait(timeout=30.0)
        return original(part)

    monkeypatch.setattr(program, "largest_sum", slow)
    X, signs = clouds(30, 3, 0.5, seed=4)
    solutions = l1_margin(Separation(X, signs, Norm.L1, True))
    first = next(solutions)
    assert [next(solutions) is first for _ in range(3)] == [True, True, True]
    may_end.set()
    assert last(solutions) is not first


def test_a_failure_of_the_program_is_heard(monkeypatch):
    def failing(part):
        raise RuntimeError("HiGHS")

    monkeypatch.setattr(program, "largest_sum", failing)
    X, signs = clouds(30, 3, 0.5, seed=4)
    with pytest.raises(RuntimeError, match="HiGHS"):
        last(l1_margin(Separation(X, signs, Norm.L1, True)))


KINDS = {
    "normal": lambda X: X,
    "integers": np.round,  # many vertices are near to each other
    "copies": lambda X: np.vstack([X[: len(X) // 2]] * 2)[: len(X)],  # weights may be shared out at will
    "sparse": lambda X: np.where(np.abs(X) > 0.8, X, 0.0),
    "units": lambda X: X * np.logspace(-3, 3, X.shape[1]),
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_path_in_the_rows_ends_at_the_vertex_of_highs(kind, bias, monkeypatch):
    random = np.random.default_rng(5)
    X = KINDS[kind](random.normal(size=(30, 80)))
    signs = np.where(X @ random.normal(size=80) > 0, 1.0, -1.0)
    scale = 0.5 ** np.ceil(np.log2(np.abs(X).max()))
    part = program.part_of(Separation(X, signs, Norm.L1, bias), np.arange(30), np.arange(80), scale)
    assert program.by_path(part) is None  # too small to pay
    expected = program.largest_sum(part)
    monkeypatch.setattr(program, "WORTH_A_PATH", 0)
    found = program.by_path(part)
    if found is None:  # then HiGHS is asked
        assert kind in ("copies", "units")
        return
    assert found.weights.min() >= 0.0
    assert (part.Z @ found.w + signs * found.b).min() == pytest.approx(1.0, rel=1e-11)
    assert np.abs(part.Z.T @ found.weights).max() == pytest.approx(1.0, rel=1e-11)
    assert found.weights.sum() == pytest.approx(expected.weights.sum(), rel=1e-9)
    assert np.abs(found.w).sum() == pytest.approx(found.weights.sum(), rel=1e-11)
    assert bias or found.b == 0.0
    assert found.steps > 0


def test_a_path_that_is_lost_leaves_it_to_highs(monkeypatch):
    """Equal rows of both classes: the weights of the dual have no limit."""
    X = np.random.default_rng(6).normal(size=(20, 60))
    X[1] = X[0]
    problem = Separation(X, np.where(np.arange(20) % 2, 1.0, -1.0), Norm.L1, True)
    monkeypatch.setattr(program, "WORTH_A_PATH", 0)
    part = program.part_of(problem, np.arange(20), np.arange(60), 0.125)
    assert program.by_path(part) is None
    assert program.largest_sum(part).weights.sum() > 0.99 * program.LARGEST_SUM


def test_tall_and_sparse_parts_are_left_to_highs(monkeypatch):
    monkeypatch.setattr(program, "WORTH_A_PATH", 0)
    monkeypatch.setattr(program, "end_of_path", None)
    random = np.random.default_rng(7)
    tall, thin = random.normal(size=(60, 20)), np.where(random.random((20, 60)) < 0.1, 1.0, 0.0)
    for X in (tall, thin):
        problem = Separation(X, np.where(np.arange(len(X)) % 2, 1.0, -1.0), Norm.L1, True)
        part = program.part_of(problem, np.arange(len(X)), np.arange(X.shape[1]), 1.0)
        assert program.by_path(part) is None
