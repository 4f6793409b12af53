"""A table from outside the package, whose rows are not in memory: fitted, proven, saved and drawn block by block."""

import itertools
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sparse
from blocked_rows import LastFirst
from sklearn.base import clone

from maxmargin import (
    HardMarginSVM,
    KernelPerceptron,
    KernelSVM,
    LinearSVM,
    LinearSVMCV,
    NotSeparableError,
    Perceptron,
    StochasticSVM,
    StreetDisplay,
    from_dual,
    load,
    model_info,
    robustness,
    save,
    write_svmlight,
)
from maxmargin.data.executor import Serial, executing
from maxmargin.data.synthetic import overlapping
from maxmargin.data.table import Table
from maxmargin.data.threaded import Threaded
from maxmargin.persistence import fit_with_checkpoints, verify_model
from maxmargin.problems.protocol import Iterate, State
from maxmargin.solvers.registry import SOFT_MARGIN, SOLVERS, Solver, register

X, Y = overlapping(500)
EDGES = (0, 0, 120, 121, 300, 300, 500)  # uneven, empty, of one row


class Mapped:
    """The rows of a .npy file, read when they are needed."""

    def __init__(self, path, edges=EDGES, knows_its_rows=False):
        rows = np.load(path, mmap_mode="r")
        self.path, self.edges = path, edges
        self.n_rows, self.n_columns = len(rows) if knows_its_rows else None, rows.shape[1]
        self.n_blocks = len(edges) - 1

    def block(self, k):
        return np.array(np.load(self.path, mmap_mode="r")[self.edges[k] : self.edges[k + 1]])


class Sparse(Mapped):
    """The same rows as CSR."""

    def block(self, k):
        return sparse.csr_array(super().block(k))


@pytest.fixture(params=["float64", "float32", "csr"])
def mapped(request, tmp_path):
    """The table, and the same rows in memory."""
    held = X.astype(np.float32) if request.param == "float32" else X
    np.save(tmp_path / "rows.npy", held)
    if request.param == "csr":
        return Sparse(tmp_path / "rows.npy"), sparse.csr_array(held)
    return Mapped(tmp_path / "rows.npy", knows_its_rows=request.param == "float32"), held


@pytest.fixture
def table(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    return Mapped(tmp_path / "rows.npy")


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber_hinge", "modified_huber"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_is_fitted_and_proven(mapped, loss, fit_intercept):
    table, held = mapped
    svm = LinearSVM(C=0.5, loss=loss, fit_intercept=fit_intercept, tol=1e-6).fit(table, Y)
    in_memory = LinearSVM(C=0.5, loss=loss, fit_intercept=fit_intercept, tol=1e-6).fit(held, Y)
    found, expected = svm.certificate_, in_memory.certificate_
    assert found.is_optimal
    assert found.dual <= expected.primal
    assert expected.dual <= found.primal
    assert np.allclose(svm.coef_, in_memory.coef_, atol=1e-3)
    for rows in (table, held):
        assert found.verify(rows, Y)
        assert found.verify(rows, Y, exact=True)
        assert (svm.predict(rows) == in_memory.predict(held)).all()
        assert verify_model(svm, rows, Y)
    assert not found.verify(table, -Y)
    for executor in (Threaded(3), LastFirst()):
        with executing(executor):
            again = LinearSVM(C=0.5, loss=loss, fit_intercept=fit_intercept, tol=1e-6).fit(table, Y)
            assert again.certificate_.verify(table, Y)
        assert (again.coef_ == svm.coef_).all()
        assert (again.intercept_ == svm.intercept_).all()
        assert (again.certificate_.primal, again.certificate_.dual) == (found.primal, found.dual)
        assert (again.dual_coef_ == svm.dual_coef_).all()


def test_newton_and_the_judge_never_hold_the_whole_table(table, monkeypatch):
    monkeypatch.setattr(Table, "in_memory", lambda self: pytest.fail("the rows were put together"))
    svm = LinearSVM(loss="squared_hinge", max_iter=50).fit(table, Y)
    assert svm.solver_ == "newton"
    assert svm.certificate_.verify(table, Y, exact=True)
    assert svm.score(table, Y) > 0.5
    assert len(svm.slack(table, Y)) == len(Y)


def test_solvers_that_need_memory_get_a_matrix(table):
    seen = []

    def steps(problem, state):
        seen.append(problem.X)
        yield None
        yield Iterate(np.zeros(2), 0.0, np.zeros(len(Y)), True)

    for name, needs_memory in (("at_hand", True), ("by_blocks", False)):
        register(Solver(name, "Shows nothing.", SOFT_MARGIN, lambda *_: State(), steps, needs_memory=needs_memory))
    try:
        for name in ("at_hand", "by_blocks"):
            with pytest.warns(match="gap"):
                LinearSVM(solver=name).fit(table, Y)
    finally:
        del SOLVERS[SOFT_MARGIN]["at_hand"], SOLVERS[SOFT_MARGIN]["by_blocks"]
    assert (seen[0] == X).all()
    assert isinstance(seen[1], Table)


def test_weights_classes_and_rows_that_do_not_count(table):
    weights = np.arange(len(Y)) % 3 / 2.0
    svm = LinearSVM(class_weight="balanced").fit(table, Y, sample_weight=weights)
    assert svm.certificate_.verify(table, Y, sample_weight=weights, exact=True)
    expected = LinearSVM(class_weight="balanced").fit(X, Y, sample_weight=weights)
    assert svm.certificate_.dual <= expected.certificate_.primal
    assert not np.any(weights[svm.support_] == 0.0)
    three = np.arange(len(Y)) % 3
    for strategy in ("ovr", "ovo"):
        svm = LinearSVM(multi_class=strategy).fit(table, three)
        assert svm.certificate_.verify(table, three)
        assert (svm.predict(table) == svm.predict(X)).all()


def test_blocks_of_one_class(table):
    order = np.argsort(Y, kind="stable")
    np.save(table.path, X[order])
    svm = LinearSVM(tol=1e-6).fit(table, Y[order])
    assert svm.certificate_.is_optimal
    assert svm.certificate_.verify(X[order], Y[order], exact=True)


@pytest.mark.parametrize("scale", [2.0**300, 2.0**-300])
def test_numbers_whose_squares_are_beyond_float64(table, scale):
    np.save(table.path, X * scale)
    svm = LinearSVM(C=1.0 / scale / scale, loss="squared_hinge").fit(table, Y)
    assert svm.certificate_.verify(X * scale, Y)
    assert svm.certificate_.verify(table, Y, exact=True)


def test_it_is_saved_loaded_and_drawn(table, tmp_path):
    svm = LinearSVM(loss="squared_hinge").fit(table, Y)
    save(svm, tmp_path / "model.mm", table, Y)
    loaded = load(tmp_path / "model.mm")
    assert (loaded.coef_ == svm.coef_).all()
    assert verify_model(loaded, table, Y, exact=True)
    fingerprint = model_info(tmp_path / "model.mm").fingerprint
    assert fingerprint.matches(table, Y)
    assert fingerprint.matches(X, Y)
    for display in (
        StreetDisplay.from_estimator(loaded, table, Y),
        StreetDisplay.from_certificate(svm.certificate_, table, Y),
    ):
        assert len(display.figure_.axes) == 1
        plt.close(display.figure_)


def test_a_run_is_kept_and_resumed(table, tmp_path):
    svm = fit_with_checkpoints(LinearSVM(tol=1e-8), table, Y, path=tmp_path / "run.checkpoint")
    assert (svm.coef_ == LinearSVM(tol=1e-8).fit(table, Y).coef_).all()


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_a_cell_that_is_not_finite_is_named(table, value):
    wrong = X.copy()
    wrong[200, 1] = value
    np.save(table.path, wrong)
    for who in (Serial(), Threaded(2)):
        with executing(who), pytest.raises(ValueError, match="row 200, column 1"):
            LinearSVM().fit(table, Y)
    refused = LinearSVM().fit(X, Y).certificate_.verify(table, Y)
    assert not refused
    assert "row 200, column 1" in str(refused)


def test_other_estimators_put_the_rows_together(table):
    with pytest.raises(NotSeparableError) as meets:
        HardMarginSVM().fit(table, Y)
    assert meets.value.certificate.verify(table, Y, exact=True)
    with pytest.raises(NotSeparableError):
        LinearSVM(C=float("inf")).fit(table, Y)
    kernel = KernelSVM().fit(table, Y)
    assert kernel.certificate_.verify(table, Y)
    assert (
        LinearSVMCV(Cs=[0.1, 1.0], cv=2).fit(table, Y).coef_ == LinearSVMCV(Cs=[0.1, 1.0], cv=2).fit(X, Y).coef_
    ).all()


def test_a_separable_table_is_proven_by_blocks(tmp_path, monkeypatch):
    rows = X + 10.0 * Y[:, None]
    np.save(tmp_path / "rows.npy", rows)
    for kind in (Mapped, Sparse):
        table = kind(tmp_path / "rows.npy")
        certificates = [HardMarginSVM().fit(table, Y).certificate_, Perceptron().fit(table, Y).certificate_]
        assert certificates[1].theorems
        for certificate in certificates:
            for exact in (False, True):
                assert certificate.verify(table, Y, exact=exact)
                assert certificate.verify(rows, Y, exact=exact)
    with monkeypatch.context() as patched:
        patched.setattr(Table, "in_memory", lambda self: pytest.fail("the rows were put together"))
        assert certificates[0].verify(table, Y, exact=True)


def test_the_same_rows_cut_otherwise_are_the_same_problem(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    found = [
        LinearSVM(loss="squared_hinge", tol=1e-6).fit(Mapped(tmp_path / "rows.npy", edges), Y).certificate_
        for edges in (EDGES, (0, 500), tuple(range(0, 501, 50)), tuple(range(501)))
    ]
    for one, other in itertools.permutations(found, 2):
        assert one.dual <= other.primal


@pytest.mark.parametrize(
    "model",
    [KernelSVM(), KernelPerceptron(max_iter=5), StochasticSVM(kernel="rbf", max_iter=2)],
)
def test_kernels_predict_the_rows_of_a_table(model, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = model.fit(table, Y)
    assert np.array_equal(fitted.decision_function(table), fitted.decision_function(X))
    assert np.array_equal(fitted.distances(table), fitted.distances(X))


@pytest.mark.parametrize("model", [Perceptron(), StochasticSVM(shuffle=False)])
def test_a_stream_takes_a_table_as_its_rows(model, table):
    by_table = clone(model).partial_fit(table, Y, classes=[-1, 1])
    assert np.array_equal(by_table.coef_, clone(model).partial_fit(X, Y, classes=[-1, 1]).coef_)


def test_functions_take_a_table_as_its_rows(table, tmp_path):
    svm = LinearSVM().fit(table, Y)
    assert np.array_equal(robustness(svm, table, Y).distances, robustness(svm, X, Y).distances)
    assert from_dual(svm, table, Y).b == from_dual(svm, X, Y).b
    for name, rows in (("table", table), ("rows", X)):
        write_svmlight(tmp_path / name, rows, Y)
    assert (tmp_path / "table").read_bytes() == (tmp_path / "rows").read_bytes()
