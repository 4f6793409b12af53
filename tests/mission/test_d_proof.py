"""D. Proof: duality, conditions, support vectors, witnesses, exact checks, theory against practice, audits."""

import numpy as np
import pytest
from mission_points import ACROSS, CORNERS, POINTS, XOR, X, Y
from sklearn.svm import LinearSVC

from maxmargin import HardMarginSVM, LinearSVM, Perceptron, audit, certify, separability
from maxmargin.teaching.lagrange import ConstrainedParabola


def test_D1_python_weak_duality_and_one_multiplier():
    certificate = LinearSVM(tol=1e-6).fit(X, Y).certificate_
    assert certificate.dual <= certificate.primal
    assert certificate.primal - certificate.dual <= 1e-6 * certificate.primal
    held, free = ConstrainedParabola(0.2, -1.0, 1.0, 5.0).saddle, ConstrainedParabola(0.2, -1.0, 1.0, -3.0).saddle
    assert (held.x, held.a) == pytest.approx((5.0, 1.0))
    assert (free.x, free.a) == pytest.approx((2.5, 0.0))


def test_D1_page_one_multiplier(page):
    bound = page("multiplier", also={"given": {"c": 5, "x": 5.0, "a": 1.0}})
    assert bound
    answer = page("answer", POINTS, "linear_svm")
    assert answer["certificate"]["lower"] <= answer["certificate"]["upper"]


def test_D2_python_conditions_of_optimality():
    kkt = HardMarginSVM().fit(X, Y).certificate_.kkt
    assert max(condition.value for condition in (kkt.stationarity, kkt.primal, kkt.dual, kkt.slackness)) < 1e-9
    rough = Perceptron().fit(X, Y).certificate_.kkt
    assert rough.stationarity.value == pytest.approx(0.3204, abs=1e-4)


def test_D2_command_conditions_of_optimality(command, four):
    kkt = command("fit", four, "--algorithm", "hard-margin", "--scale", "none")["certificate"]["kkt"]
    assert set(kkt) >= {"stationarity", "primal", "dual", "slackness"}
    assert max(condition["value"] for condition in kkt.values()) < 1e-9


def test_D2_page_conditions_of_optimality(page):
    kkt = page("answer", POINTS, "hard_margin")["kkt"]
    assert len(kkt) >= 4
    assert max(condition["value"] for condition in kkt) < 1e-9


def test_D3_python_support_vectors():
    svm = HardMarginSVM().fit(X, Y)
    assert svm.support_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(svm.support_vectors_, X[:3])


def test_D3_command_support_vectors(command, four, tmp_path):
    model = tmp_path / "m.maxmargin"
    command("fit", four, "--algorithm", "hard-margin", "--scale", "none", "-o", model)
    told = command("violations", model, four, "--support")
    assert told["planes"][0]["support"] == 3
    assert told["planes"][0]["at_the_edge"] == 3
    assert sorted(row["line"] for row in told["rows"]) == [2, 3, 4]


def test_D3_page_support_vectors(page):
    support = page("answer", POINTS, "hard_margin")["support"]
    assert sorted(one["row"] for one in support) == [0, 1, 2]


def test_D4_python_a_witness_where_no_plane_exists():
    certificate = separability(XOR, ACROSS)
    weights, rows = certificate.weights, certificate.rows
    assert len(rows) <= 2 + 2
    np.testing.assert_allclose((weights * ACROSS[rows]) @ XOR[rows], 0.0, atol=1e-12)
    assert np.sum(weights * ACROSS[rows]) == pytest.approx(0.0, abs=1e-12)
    assert certificate.verify(XOR, ACROSS, exact=True)


def test_D4_command_a_witness_where_no_plane_exists(command, xor):
    [problem] = command("check", xor, ends_with=3)["problems"]
    assert problem["verification"]["holds"] is True
    assert sorted(row["line"] for row in problem["carrying_rows"]) == [2, 3, 4, 5]


def test_D4_page_a_witness_where_no_plane_exists(page):
    witness = page("answer", CORNERS, "hard_margin")["hulls"]["witness"]
    assert sorted(witness["rows"]) == [0, 1, 2, 3]
    assert witness["at"] == pytest.approx([0.5, 0.5])


def test_D5_python_exact_verification_and_a_forgery():
    certificate = HardMarginSVM().fit(X, Y).certificate_
    assert certificate.verify(X, Y, exact=True)
    assert not certificate.verify(X + np.array([0.0, 0.1]) * (Y[:, None] < 0), Y, exact=True)


def test_D5_command_exact_verification_and_other_data(command, four, tmp_path):
    model = tmp_path / "m.maxmargin"
    command("fit", four, "--algorithm", "hard-margin", "--scale", "none", "-o", model)
    told = command("verify", model, four, "--exact")
    assert told["verification"]["exact"] is told["verification"]["holds"] is True
    moved = tmp_path / "moved.csv"
    moved.write_text("x1,x2,label\n0,0.1,low\n2,0.1,low\n1,1,high\n1,2,high\n")
    assert command("verify", model, moved, ends_with=2)["holds"] is False


def test_D5_page_exact_verification(page):
    told = page("verify", POINTS, "hard_margin")
    assert told["holds"] is True
    assert told["exact"] is True


def test_D6_python_the_theorem_s_bound_beside_the_count():
    model = Perceptron().fit(X, Y)
    [theorem] = [one for one in model.certificate_.theorems if "Novikov" in one.name]
    assert theorem.measured == model.n_updates_ == 5
    lifted = np.column_stack([X, np.ones(4)])
    assert theorem.measured <= theorem.bound <= np.max(np.sum(lifted**2, axis=1)) / 0.4**2 + 1


def test_D6_command_the_theorem_s_bound_beside_the_count(command, four):
    [theorem] = command("fit", four, "--algorithm", "perceptron", "--scale", "none")["certificate"]["theorems"]
    assert theorem["measured"] == 5
    assert theorem["bound"] == pytest.approx(30.0, rel=1e-6)


def test_D6_page_the_theorem_s_bound_beside_the_count(page):
    theorems = page("answer", POINTS, "perceptron")["theorems"]
    assert theorems[0]["count"] <= theorems[0]["bound"]
    assert theorems[0]["holds"] is True


def test_D7_python_somebody_else_s_model_and_plane():
    other = LinearSVC(loss="hinge", C=1.0, intercept_scaling=100.0, max_iter=100_000).fit(X, Y)
    told = audit(other, X, Y)
    best = LinearSVM(C=1.0, tol=1e-9).fit(X, Y).certificate_
    w, b = other.coef_[0], other.intercept_[0]
    objective = 0.5 * w @ w + np.maximum(0.0, 1.0 - Y * (X @ w + b)).sum()
    assert objective >= best.dual * (1 - 1e-9)
    assert told.least_excess <= (objective - best.dual) / best.dual + 1e-9
    assert told.excess >= (objective - best.primal) / best.primal - 1e-9
    drawn = certify(X, Y, [0.0, 2.0], -1.0, C=1.0)
    assert drawn.certificate.primal == pytest.approx(2.0, rel=1e-9)


def test_D7_page_a_line_drawn_by_hand(page):
    told = page("challenge", POINTS, "linear_svm", also={"line": {"points": [[0.0, 0.5], [2.0, 0.5]]}}, C=1.0)
    assert told["yours"]["margin"] == pytest.approx(0.5)
    assert told["share"] == pytest.approx(1.0, rel=1e-6)


def test_D1_command_one_multiplier(command):
    held, free = command("lagrange")["problems"]
    assert (held["saddle"]["x"], held["saddle"]["a"]) == pytest.approx((5.0, 1.0))
    assert (free["saddle"]["x"], free["saddle"]["a"]) == pytest.approx((2.5, 0.0))
    off = command("lagrange", "--c", "5", "--x", "6", "--a", "0.5")["problems"][0]
    assert off["lower"] < 1.0 < off["upper"]


def test_D7_command_a_plane_from_anywhere(command, four):
    told = command("certify", four, "--plane", "w=0,-2,b=1", "--C", "1")
    [part] = told["parts"]
    assert part["objective"] == pytest.approx(2.0)  # the least is 3/2
    assert told["least_excess"] == pytest.approx(1 / 3, abs=1e-5)
    assert told["excess"] == pytest.approx(1 / 3, abs=1e-5)
