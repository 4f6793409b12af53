"""C. The widest street: hard and soft margins, stochastic steps, kernels, probabilities, many classes."""

import numpy as np
import pytest
from mission_points import ACROSS, CORNERS, POINTS, XOR, X, Y
from sklearn.datasets import load_iris

from maxmargin import HardMarginSVM, KernelSVM, LinearSVM, StochasticSVM, from_dual, logistic, symmetric_logistic
from maxmargin.problems.scalings import C_from

SOFT = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, 1])  # row 1 and row 2 are in each other's place


def test_C1_python_the_widest_street():
    svm = HardMarginSVM().fit(X, Y)
    assert svm.street_ == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(svm.coef_, [[0.0, 2.0]], atol=1e-9)
    without = HardMarginSVM(fit_intercept=False).fit(X[1:], Y[1:])  # (2,0) against (1,1), (1,2): w.x = 1, -1
    assert np.min(Y[1:] * (X[1:] @ without.coef_[0])) == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(without.coef_, [[-0.5, 1.5]], atol=1e-9)


def test_C1_command_the_widest_street(command, four):
    told = command("fit", four, "--algorithm", "hard-margin", "--scale", "none")
    assert told["certificate"]["margin_lower"] <= 0.5 <= told["certificate"]["margin_upper"]
    assert told["relative_gap"] < 1e-9


def test_C1_page_the_widest_street(page):
    answer = page("answer", POINTS, "hard_margin")
    assert answer["street"] == pytest.approx(1.0, abs=1e-9)


def test_C2_python_the_dual_alone():
    svm = HardMarginSVM().fit(X, Y)
    a = np.zeros(4)
    a[svm.support_] = np.abs(svm.dual_coef_[0])
    np.testing.assert_allclose(a, [1.0, 1.0, 2.0, 0.0], atol=1e-9)
    assert a.sum() - 0.5 * np.sum(((a * Y) @ X) ** 2) == pytest.approx(2.0, abs=1e-9)
    found = from_dual(svm, X, Y)
    assert found.labels.tolist() == Y.tolist()
    reference = HardMarginSVM(solver="cvxpy").fit(X, Y)
    np.testing.assert_allclose(reference.coef_, svm.coef_, atol=1e-6)


def test_C2_page_the_program_and_its_dual(page):
    programs = page("code", POINTS, "hard_margin")["programs"]
    assert [program["title"].lower() for program in programs if "dual" in program["title"].lower()]
    for program in programs:
        compile(program["text"], program["title"], "exec")


def test_C3_python_the_l1_margin_as_a_linear_program():
    svm = HardMarginSVM("l1").fit(X, Y)
    assert svm.certificate_.margin_lower <= 0.5 <= svm.certificate_.margin_upper
    assert np.abs(svm.coef_).sum() == pytest.approx(2.0, abs=1e-6)


def test_C3_command_the_l1_margin(command, four):
    told = command("check", four, "--norm", "l1")
    assert told["problems"][0]["certificate"]["norm"] == "l1"
    assert told["problems"][0]["certificate"]["margin_lower"] == pytest.approx(0.5, abs=1e-6)


def test_C3_page_the_l1_margin(page):
    answer = page("answer", POINTS, "hard_margin", norm="l1")
    assert answer["space"] == "l1"
    assert answer["margin"] == pytest.approx(0.5, abs=1e-6)


def test_C4_python_slack_violations_and_scalings():
    svm = LinearSVM(C=0.1, tol=1e-9).fit(*SOFT)
    slack = svm.slack(*SOFT).ravel()
    w, b = svm.coef_[0], svm.intercept_[0]
    np.testing.assert_allclose(slack, np.maximum(0.0, 1.0 - SOFT[1] * (SOFT[0] @ w + b)), atol=1e-12)
    assert 0.5 * w @ w + 0.1 * slack.sum() == pytest.approx(svm.certificate_.primal, rel=1e-9)
    inside, mistakes = svm.violations(*SOFT)
    assert set(inside) == set(np.flatnonzero((slack > 0) & (slack <= 1)))
    assert set(mistakes) == set(np.flatnonzero(slack > 1))
    assert C_from(norm_factor=2.0, loss_factor=1.0) == pytest.approx(0.25)  # lambda |w|^2 + sum xi with lambda = 2


def test_C4_command_violations(command, tmp_path):
    data, model = tmp_path / "soft.csv", tmp_path / "m.maxmargin"
    data.write_text("x,label\n0,a\n1,b\n2,a\n3,b\n")
    command("fit", data, "--C", "0.1", "--scale", "none", "--tol", "1e-9", "-o", model)
    [plane] = command("violations", model, data)["planes"]
    slack = LinearSVM(C=0.1, tol=1e-9).fit(*SOFT).slack(*SOFT)
    assert plane["slack"] == pytest.approx(slack.sum(), rel=1e-6)


def test_C4_page_slack(page):
    points = [[0.0, 0.0, -1], [1.0, 0.0, 1], [2.0, 0.0, -1], [3.0, 0.0, 1]]
    answer = page("answer", points, "linear_svm", C=0.1)
    slack = LinearSVM(C=0.1, tol=1e-9).fit(*SOFT).slack(*SOFT).ravel()
    assert answer["rows"]["slack"] == pytest.approx(slack.tolist(), abs=1e-3)


def test_C5_python_stochastic_steps():
    rows, signs = SOFT
    model = StochasticSVM(C=0.1, max_iter=1, shuffle=False, fit_intercept=False, average=False).fit(rows, signs)
    w, lam = 0.0, 1.0 / (0.1 * 4)
    for t, (x, sign) in enumerate(zip(rows[:, 0], signs, strict=True), 1):
        eta = 1.0 / (lam * t)
        w = w - eta * (lam * w - (sign * x if sign * w * x < 1 else 0.0))
    assert model.coef_[0, 0] == pytest.approx(w, rel=1e-12)


def test_C5_command_learning_rates(command, four):
    options = ("--algorithm", "stochastic", "--scale", "none", "--set", "max_iter=100")
    told = {step: command("fit", four, *options, "--step", step, ends_with=2) for step in ("pegasos", "0.1/sqrt(t)")}
    primals = [answer["certificate"]["primal"] for answer in told.values()]
    best = LinearSVM(tol=1e-9).fit(X, Y).certificate_.dual
    assert primals[0] != primals[1]
    assert min(primals) >= best * (1 - 1e-9)


def test_C5_page_learning_rates(page):
    best = LinearSVM(tol=1e-9).fit(X, Y).certificate_.dual
    found = [page("answer", POINTS, "stochastic_svm", step=step) for step in ("pegasos", "1/sqrt(t)")]
    assert all(answer["certificate"]["upper"] >= best * (1 - 1e-9) for answer in found)
    assert found[0]["plane"] != found[1]["plane"]


def test_C6_python_xor_is_learnt():
    svm = KernelSVM(C=float("inf"), kernel="poly", gamma=1, coef0=1, degree=2).fit(2 * XOR - 1, ACROSS)
    assert svm.margin_ == pytest.approx(np.sqrt(2), rel=1e-6)
    np.testing.assert_allclose(np.abs(svm.dual_coef_), 0.125, rtol=1e-6)
    assert svm.predict(2 * XOR - 1).tolist() == ACROSS.tolist()
    through = KernelSVM(kernel="poly", gamma=1, coef0=1, degree=2, fit_intercept=False, loss="squared_hinge", tol=1e-8)
    reference = KernelSVM(
        kernel="poly", gamma=1, coef0=1, degree=2, fit_intercept=False, loss="squared_hinge", solver="cvxpy", tol=1e-8
    )
    found = through.fit(XOR, ACROSS).certificate_.primal
    assert found == pytest.approx(reference.fit(XOR, ACROSS).certificate_.primal, rel=1e-6)


def test_C6_command_xor_is_learnt(command, xor):
    poly = ("--kernel", "poly", "--gamma", "1", "--coef0", "1", "--degree", "2", "--C", "inf", "--scale", "none")
    told = command("fit", xor, "--algorithm", "kernel-svm", *poly)
    assert told["accuracy"] == 1.0
    assert told["verdicts"] == ["OPTIMAL"]


def test_C6_page_xor_is_learnt(page):
    answer = page("answer", CORNERS, "kernel_svm", kernel="poly", degree=2, coef0=1.0, C="inf")
    assert answer["mistakes"] == []
    assert answer["space"] == "kernel"


def test_C7_python_probabilities():
    f = np.array([-2.0, 0.0, 3.0])
    np.testing.assert_allclose(logistic(f), 1 / (1 + np.exp(-f)), rtol=1e-12)
    np.testing.assert_allclose(symmetric_logistic(f), (1 - np.exp(-f)) / (1 + np.exp(-f)), rtol=1e-12, atol=1e-15)


def test_C8_python_more_than_two_classes():
    flowers, species = load_iris(return_X_y=True)
    for shape, planes in (("ovr", 3), ("ovo", 3)):
        svm = LinearSVM(multi_class=shape).fit(flowers, species)
        assert svm.coef_.shape == (planes, 4)
        assert svm.score(flowers, species) > 0.9
        assert svm.certificate_.verify(flowers, species)


def test_C8_command_more_than_two_classes(command, tmp_path):
    data = tmp_path / "three.csv"
    data.write_text("x1,x2,label\n0,0,a\n0,1,a\n5,0,b\n5,1,b\n2,6,c\n3,6,c\n")
    for shape in ("ovr", "ovo"):
        told = command("fit", data, "--multi-class", shape)
        assert told["accuracy"] == 1.0
        assert len(told["verdicts"]) == 3


def test_C2_command_the_program_and_its_support(command, four, tmp_path):
    found = {"X": X, "y": Y.astype(float)}
    exec(command("program", "hard-margin", "--dual")["program"], found)
    np.testing.assert_allclose(found["w"], [0.0, 2.0], atol=1e-5)
    model = tmp_path / "m.maxmargin"
    command("fit", four, "--algorithm", "hard-margin", "--scale", "none", "-o", model)
    rows = command("violations", model, four, "--support")["rows"]
    assert sorted(row["multiplier"] for row in rows) == pytest.approx([1.0, 1.0, 2.0])


def test_C7_command_probabilities(command, tmp_path):
    random = np.random.default_rng(0)
    x = random.normal(size=(200, 1)) + np.repeat([[-1.0], [1.0]], 100, axis=0)
    data, model = tmp_path / "p.csv", tmp_path / "p.maxmargin"
    data.write_text(
        "x,label\n" + "".join(f"{value!r},{'ab'[i // 100]}\n" for i, value in enumerate(x.ravel().tolist()))
    )
    command("fit", data, "--probability", "-o", model)
    told = np.array(command("predict", model, data, "--probability")["probabilities"])
    np.testing.assert_allclose(told.sum(axis=1), 1.0, atol=1e-9)
    truth = 1.0 / (1.0 + np.exp(-2.0 * x.ravel()))  # of two normal classes, 2 apart
    assert np.mean(np.abs(told[:, 1] - truth)) < 0.05


def test_C7_page_probabilities(page):
    random = np.random.default_rng(0)
    clouds = random.normal(size=(120, 2)) + np.repeat([[-1.0, 0.0], [1.0, 0.0]], 60, axis=0)
    points = [[*map(float, row), -1 if place < 60 else 1] for place, row in enumerate(clouds)]
    told = page("probability", points, "linear_svm")
    own = np.array(told["rows"])
    truth = 1.0 / (1.0 + np.exp(-2.0 * clouds[:, 0] * np.repeat([-1, 1], 60)))
    assert np.mean(np.abs(own - truth)) < 0.06
    assert "estimate" in " ".join(told["words"])


def test_C8_page_more_than_two_classes(page):
    points = [[0, 0, -1], [0, 1, -1], [5, 0, 1], [5, 1, 1], [2, 6, 2], [3, 6, 2]]
    for shape in ("ovr", "ovo"):
        answer = page("answer", points, "linear_svm", multi_class=shape)
        assert len(answer["planes"]) == 3
        assert answer["mistakes"] == []
