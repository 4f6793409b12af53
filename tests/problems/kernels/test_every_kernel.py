"""What holds of every kernel that is registered, whichever these are: none is named here."""

import dataclasses
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from problems.kernels.formulas import function, kernel_of, real_values
from sklearn.svm import SVC

from maxmargin import KernelSVM
from maxmargin.certificates.kernel_duality import combined
from maxmargin.data.executor import Threads
from maxmargin.problems.kernels import KERNELS, ProductKernel, rows_of
from maxmargin.solvers.kernel_smo.kernel_rows import shared_rows
from maxmargin.solvers.mistakes.kernel_memory import KernelMemory

each_kernel = pytest.mark.parametrize("kind", list(KERNELS.values()), ids=lambda kind: kind.name)
each_formula = pytest.mark.parametrize(
    "kind", [kind for kind in KERNELS.values() if not (kind.is_table or kind.is_code)], ids=lambda kind: kind.name
)


def some_rows(n=60, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) + 1.0


def thin_rows(n=60, d=9, seed=0):
    X = some_rows(n, d, seed)
    return sparse.csr_array(np.where(np.random.default_rng(seed + 1).random(X.shape) < 0.7, 0.0, X))


def points_of(kind, X, **numbers):
    kernel, table = kernel_of(kind, X, **numbers)
    return kernel, kernel.points(table)


@each_kernel
@pytest.mark.parametrize("make", [some_rows, thin_rows])
def test_it_is_symmetric_and_positive_semidefinite(kind, make):
    kernel, points = points_of(kind, make())
    values = kernel.values(points, points)
    assert values.shape == (60, 60)
    assert values.dtype == np.float64
    assert np.allclose(values, values.T, rtol=1e-12, atol=1e-14)
    assert np.allclose(kernel.diagonal(points), np.diag(values), rtol=1e-12)
    assert np.linalg.eigvalsh(values).min() >= -1e-12 * np.trace(values)
    assert values.min() >= 0.0 or not kind.is_positive


@each_kernel
def test_no_value_is_larger_than_its_reach(kind):
    kernel, points = points_of(kind, some_rows())
    reach = kernel.reach(points)
    if reach is not None:
        assert np.all(np.abs(kernel.values(points, points)) <= np.outer(reach, reach))


@each_formula
@pytest.mark.parametrize("gamma", [0.3, 1e-9, 30.0])
@pytest.mark.parametrize(
    "X",
    [some_rows(12), 1e-3 * some_rows(12), 1e3 + some_rows(12), 40.0 * some_rows(12, 2), thin_rows(12)],
    ids=["ordinary", "small", "far away", "wide", "sparse"],
)
def test_values_are_those_of_the_formula_within_the_error_that_is_told(kind, gamma, X):
    """The formula is the one that reports tell, and `real_values` computes it exactly, or to 60 digits."""
    kernel, points = points_of(kind, X, gamma=gamma)
    values, (relative, absolute) = kernel.values(points, points), kernel.rounding(points, points)
    reach = kernel.reach(points)
    real = real_values(kernel, X, X)
    for i, row in enumerate(real):
        for j, value in enumerate(row):
            size = abs(value) if reach is None else Fraction(float(reach[i])) * Fraction(float(reach[j]))
            allowed = Fraction(float(relative[i])) * size + Fraction(float(absolute[i]))
            assert abs(Fraction(float(values[i, j])) - value) <= allowed
    assert np.all(relative < 1e-4 if kind.is_positive else relative < 1e-12)  # and that says something


@each_kernel
@pytest.mark.parametrize("make", [some_rows, thin_rows])
def test_sums_over_many_blocks_are_those_of_the_values(kind, make, monkeypatch):
    monkeypatch.setattr(kind, "block", (16, 8))
    kernel, points = points_of(kind, make(150))
    values, c = kernel.values(points, points), np.random.default_rng(2).normal(size=(150, 3))
    few, sizes = rows_of(points, np.arange(3, 90)), np.zeros(150)
    for sums, wanted in (
        (kernel.combine(points, points, c), values @ c),  # each value serves both of its rows
        (kernel.combine(points, few, c[:87]), values[:, 3:90] @ c[:87]),
        (kernel.combine(points, few, c[:87], sizes=sizes), values[:, 3:90] @ c[:87]),
    ):
        assert np.allclose(sums, wanted, rtol=1e-9, atol=1e-11)
    assert np.allclose(sizes, np.abs(values[:, 3:90]) @ np.abs(c[:87]).sum(axis=1), rtol=1e-9)
    found, at_least, error = combined(kernel, points, few, np.abs(c[:87, :2]), None)
    assert np.all(np.abs(found - values[:, 3:90] @ np.abs(c[:87, :2])) <= error[:, None] + 1e-12)
    assert np.all(at_least >= np.abs(values[:, 3:90]) @ np.abs(c[:87, :2]).sum(axis=1) * (1.0 - 1e-12))


@each_kernel
@pytest.mark.parametrize("make", [some_rows, thin_rows])
def test_the_rows_of_the_solvers_are_its_values(kind, make):
    """In float32, divided by a power of two, and up to a shift of phi, which no weights that sum up to 0 see."""
    kernel, points = points_of(kind, make())
    values = kernel.values(points, points)
    with Threads() as threads:
        shared = shared_rows(kernel, points, threads)
        some, tiles = np.arange(0, 60, 2), np.empty((30, 60), dtype=np.float32)
        shared.rows.fill(some, tiles)
        square = shared.rows.restricted(some).square(np.arange(30))
    tiles = tiles * shared.scale
    centred, wanted = (T - T.mean(axis=0) - T.mean(axis=1)[:, None] + T.mean() for T in (tiles, values[some]))
    assert np.allclose(centred, wanted, atol=1e-5 * np.abs(values).max())
    assert np.allclose(square * shared.scale, tiles[:, some], atol=1e-5 * np.abs(values).max())
    memory = KernelMemory(kernel, points)
    memory.fetch(5, np.arange(60))
    assert np.allclose(memory.rows.stored[memory.rows.slots[5]], values[5], rtol=1e-12, atol=1e-14)


@each_kernel
def test_a_fit_is_proven_and_is_that_of_libsvm(kind):
    X = some_rows(120)
    y = np.where(np.sin(3.0 * X[:, 0]) + X[:, 1] > 1.0, "in", "out")
    kernel, table = kernel_of(kind, X)
    svm = KernelSVM(
        C=2.0, kernel=function if kind.is_code else kind.name, gamma=0.3, coef0=0.5, degree=3, tol=1e-6
    ).fit(table, y)
    certificate = svm.certificate_
    assert certificate.is_optimal
    assert certificate.verify(table, y, kernel=function if kind.is_code else None)
    points = kernel.points(table)
    K = kernel.values(points, points)
    theirs = SVC(C=2.0, kernel="precomputed", tol=1e-9).fit(K, y)
    c = np.zeros(120)
    c[theirs.support_] = theirs.dual_coef_[0]
    dual = np.abs(c).sum() - 0.5 * c @ K @ c
    assert certificate.dual - 1e-9 <= dual <= certificate.primal * (1.0 + 1e-9)
    assert ("which was not checked" in certificate.report()) == (not kind.is_semidefinite)


@each_kernel
def test_numbers_that_it_has_not_are_refused_in_its_certificate(kind):
    X = some_rows(40)
    y = np.where(X[:, 0] + X[:, 1] > 2.0, 1, -1)
    _, table = kernel_of(kind, X)
    given = function if kind.is_code else kind.name
    certificate = KernelSVM(kernel=given, gamma=0.3, coef0=0.5, degree=2).fit(table, y).certificate_
    for number, other in (("gamma", 0.7), ("coef0", 0.25), ("degree", 5)):
        refused = dataclasses.replace(certificate, **{number: other}).verify(
            table, y, kernel=function if kind.is_code else None
        )
        if number not in kind.parameters:
            assert f"the {kind.name} kernel has no {number}" in str(refused)
        assert not refused


@each_formula
def test_values_beyond_float64_are_refused(kind):
    X = some_rows(30)
    X[7] *= 1e308
    with np.errstate(over="ignore"):
        kernel = kind(0.5, *(() if "degree" not in kind.parameters else (0.0, 3)))
        points = kernel.points(X)
    with pytest.raises(ValueError, match=r"row 7 .*scale the columns first"):
        kernel.refuse_beyond_float64(points)
    kernel.refuse_beyond_float64(rows_of(points, np.arange(7)))


@each_formula
def test_it_comes_back_from_a_pickle(kind):
    kernel, points = points_of(kind, some_rows())
    again = pickle.loads(pickle.dumps(kernel))
    assert type(again) is kind
    assert np.array_equal(again.values(points, points), kernel.values(points, points))


@each_formula
def test_its_space_has_the_dimension_that_it_says(kind):
    """The matrix of many rows has no higher rank."""
    kernel, points = points_of(kind, some_rows(80, 2), degree=2)
    dimension = kernel.dimension(2)
    if dimension < 80:
        assert np.linalg.matrix_rank(kernel.values(points, points), tol=1e-8) <= dimension
    assert math.isinf(dimension) == (not isinstance(kernel, ProductKernel) or kernel.is_exponential)
