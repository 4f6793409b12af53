"""exp(-gamma |x - x'|_1): its values in every form of the table, and what it does in every estimator."""

import dataclasses
import json
import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.svm import SVC

from maxmargin import (
    KernelPerceptron,
    KernelSVM,
    ModelFileError,
    NotSeparableError,
    StochasticSVM,
    StreetDisplay,
    audit,
    load,
    save,
)
from maxmargin.cli import main
from maxmargin.persistence import verify_model, write_libsvm, write_onnx
from maxmargin.playground.catalogue import ALGORITHMS
from maxmargin.problems.kernels import Laplacian, laplacian
from maxmargin.solvers.kernel_smo.kernel_rows import GivenValues

FORMS = [np.asarray, sparse.csr_array, sparse.csr_matrix]


def thin(n=90, d=25, seed=0):
    random = np.random.default_rng(seed)
    return np.where(random.random((n, d)) < 0.8, 0.0, random.normal(size=(n, d)))


def waves(n=150, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, np.where(np.sin(2.0 * X[:, 0]) + X[:, 1] > 0.0, 1, -1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("other", FORMS)
def test_values_are_those_of_scikit_learn(form, other, monkeypatch):
    A, B, kernel = thin(), thin(70, seed=1), Laplacian(0.3)
    wanted = laplacian_kernel(A, B, gamma=0.3)
    assert np.allclose(kernel.values(kernel.points(form(A)), kernel.points(other(B))), wanted, rtol=1e-13)
    monkeypatch.setattr(laplacian, "COLUMNS", 7)  # a wide table is written out in parts
    monkeypatch.setattr(laplacian, "AT_ONCE", 1000)
    assert np.allclose(kernel.values(kernel.points(form(A)), kernel.points(other(B))), wanted, rtol=1e-13)


def test_empty_columns_of_wide_rows_are_not_written_out(monkeypatch):
    rows = sparse.csr_array((np.ones(3), ([0, 1, 2], [5, 10**8, 5])), shape=(3, 2 * 10**8))
    points = Laplacian(1.0).points(rows)
    values = Laplacian(1.0).values(points, points)
    apart = math.exp(-2.0)
    assert np.allclose(values, [[1.0, apart, 1.0], [apart, 1.0, apart], [1.0, apart, 1.0]], rtol=1e-15)


def test_its_rows_are_served_to_the_solvers_and_the_clock_is_checked(monkeypatch):
    checks = []
    monkeypatch.setattr(laplacian, "AT_ONCE", 1000)
    monkeypatch.setattr(laplacian, "check_interrupt", lambda: checks.append(1))
    points = Laplacian(0.5).points(thin())
    Laplacian(0.5).values(points, points)
    assert len(checks) == 90  # a row of 90 x 25 differences at a time
    made = []
    monkeypatch.setattr(GivenValues, "__init__", lambda self, *given: made.append(given))
    with pytest.raises(AttributeError):
        KernelSVM(kernel="laplacian").fit(*waves())
    assert isinstance(made[0][0], Laplacian)


def test_numbers_whose_distance_overflows_prove_nothing():
    """The difference of such rows is infinite in float64, and a tiny gamma would make an ordinary number of it."""
    X = np.array([[1e308], [-1e308], [1.0], [2.0]])
    kernel = Laplacian(1e-308)
    relative, _ = kernel.rounding(kernel.points(X), kernel.points(X))
    assert np.all(np.isinf(relative))
    relative, _ = kernel.rounding(kernel.points(X[2:]), kernel.points(X[2:]))
    assert np.all(relative < 1e-15)
    with pytest.raises(ValueError, match=r"the numbers of row 0 add up to 1e\+308, beyond .* the laplacian kernel"):
        KernelSVM(kernel="laplacian", gamma=1e-308).fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0, math.inf])
def test_margins_are_proven_and_those_of_svc(form, C):
    X, y = waves()
    table = form(np.where(np.abs(X) < 0.1, 0.0, X))
    svm = KernelSVM(C, kernel="laplacian", tol=1e-7).fit(table, y)
    certificate = svm.certificate_
    assert certificate.is_optimal
    assert certificate.verify(table, y)
    assert verify_model(svm, table, y)
    K = laplacian_kernel(table, gamma=svm.certificate_.gamma)
    theirs = SVC(C=min(C, 1e9), kernel="precomputed", tol=1e-9).fit(K, y)
    c = np.zeros(len(y))
    c[theirs.support_] = theirs.dual_coef_[0]
    assert certificate.dual * (1.0 - 1e-6) <= np.abs(c).sum() - 0.5 * c @ K @ c <= certificate.primal * (1.0 + 1e-9)
    if math.isfinite(C):
        assert np.allclose(svm.decision_function(table), theirs.decision_function(K), atol=1e-2)
    assert np.all(svm.predict(table) == theirs.predict(K))


def test_the_optimum_is_that_of_cvxpy():
    import cvxpy

    X, y = waves(60)
    certificate = KernelSVM(3.0, kernel="laplacian", gamma=0.4, tol=1e-8).fit(X, y).certificate_
    root, a = np.linalg.cholesky(laplacian_kernel(X, gamma=0.4) + 1e-13 * np.eye(60)), cvxpy.Variable(60)
    dual = cvxpy.sum(a) - 0.5 * cvxpy.sum_squares(root.T @ cvxpy.multiply(y, a))
    best = cvxpy.Problem(cvxpy.Maximize(dual), [a >= 0, a <= 3.0, y @ a == 0]).solve(solver="CLARABEL")
    assert certificate.dual * (1.0 - 1e-7) <= best <= certificate.primal * (1.0 + 1e-7)


@pytest.mark.parametrize("strategy", ["ovo", "ovr"])
@pytest.mark.parametrize(
    "make",
    [
        lambda strategy: KernelSVM(10.0, kernel="laplacian", multi_class=strategy),
        lambda strategy: KernelPerceptron("laplacian", gamma=5.0, multi_class=strategy),
        lambda strategy: StochasticSVM(10.0, kernel="laplacian", multi_class=strategy, max_iter=300, tol=0.1),
    ],
)
def test_three_classes(make, strategy, tmp_path):
    X, y = np.unique(load_iris().data, axis=0, return_index=True)
    y = load_iris().target[y]
    model = make(strategy).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.certificate_.verify(X, y)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert again.certificate_.verify(X, y)
    assert verify_model(again, X, y)


def test_two_equal_rows_are_a_witness_and_exact_arithmetic_says_what_it_lacks():
    X, y = waves(40)
    svm = KernelSVM(kernel="laplacian").fit(X, y)
    with pytest.raises(ValueError, match=r"this one is laplacian: exp of a rational number is none\. Use exact=False"):
        svm.certificate_.verify(X, y, exact=True)
    X[3] = X[np.flatnonzero(y != y[3])[0]]
    with pytest.raises(NotSeparableError) as caught:
        KernelSVM(math.inf, kernel="laplacian").fit(X, y)
    assert caught.value.certificate.verify(X, y, exact=True)
    assert "laplacian kernel exp(-" in str(caught.value)
    assert "which was not checked" not in svm.certificate_.report()


def test_forged_certificates_are_refused():
    X, y = waves(60)
    good = KernelSVM(kernel="laplacian", tol=1e-6).fit(X, y).certificate_
    assert good.verify(X, y)
    for change in (
        {"dual": good.primal * (1.0 - 1e-12)},
        {"primal": good.dual * (1.0 + 1e-12)},
        {"gamma": good.gamma * 1.01},
        {"kernel": "rbf"},
        {"b": good.b + 0.1},
        {"weights": good.weights * 0.9},
    ):
        assert not dataclasses.replace(good, **change).verify(X, y)
    assert not good.verify(X + 1e-3 * y[:, None], y)
    assert type(good).from_json(good.to_json()).verify(X, y)


def test_formats_of_other_programs_say_that_they_cannot_hold_it(tmp_path):
    X, y = waves(40)
    svm = KernelSVM(kernel="laplacian").fit(X, y)
    with pytest.raises(ModelFileError, match="its kernel is laplacian; LIBSVM's models hold linear, polynomial, rbf"):
        write_libsvm(svm, tmp_path / "model.txt")
    pytest.importorskip("onnx")
    with pytest.raises(ModelFileError, match="its kernel is laplacian; a graph can hold linear, poly and rbf"):
        write_onnx(svm, tmp_path / "model.onnx")


def test_it_is_drawn_and_audited():
    X, y = waves(80)
    svm = KernelSVM(kernel="laplacian").fit(X[:, :2], y)
    StreetDisplay.from_estimator(svm, X[:, :2], y)
    plt.close("all")
    own = audit(svm, X[:, :2], y)
    assert "  hinge, C = 1, laplacian kernel, a bias\n" in str(own)
    theirs = SVC(kernel=laplacian_kernel).fit(X, y)  # a function, which nobody knows by its name
    assert "function kernel" in str(audit(theirs, X, y))


def test_the_command_takes_it(tmp_path, capsys):
    X, y = waves(60)
    data, model = tmp_path / "waves.csv", str(tmp_path / "model")
    np.savetxt(data, np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="")
    given = [str(data), "--label", "y"]
    assert main(["fit", *given, "--kernel", "laplacian", "-g", "0.5", "-o", model]) == 0
    assert "laplacian" in capsys.readouterr().out
    assert main(["verify", model, *given]) == 0
    assert main(["predict", model, str(data)]) == 0
    capsys.readouterr()
    assert main(["info", model, "--json"]) == 0
    assert "laplacian" in json.dumps(json.loads(capsys.readouterr().out))
    assert main(["fit", *given, "--kernel", "laplace"]) == 1
    assert "it can be 0 or linear, 1 or poly, 2 or rbf, laplacian" in " ".join(capsys.readouterr().err.split())


def test_the_page_offers_it():
    widgets = {widget.name: widget for widget in ALGORITHMS["kernel_svm"].parameters}
    assert ("laplacian", "laplacian, exp(-gamma |x - x'|_1)") in widgets["kernel"].choices
    assert "laplacian" in widgets["gamma"].shown_if[1]
    assert "laplacian" not in widgets["coef0"].shown_if[1]
