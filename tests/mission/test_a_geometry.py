"""A. The geometry: separability, distances, lifting, two margins."""

import numpy as np
import pytest
from mission_points import ACROSS, CORNERS, POINTS, XOR, X, Y

from maxmargin import HardMarginSVM, Perceptron, separability


def test_A1_python_a_plane_or_none():
    assert separability(X, Y).is_separable is True
    assert separability(XOR, ACROSS).is_separable is False
    through = separability(X[1:], Y[1:], fit_intercept=False)
    assert through.is_separable is True
    assert separability(X, Y, fit_intercept=False).is_separable is False  # a row at the origin is on no side


def test_A1_command_a_plane_or_none(command, four, xor):
    assert command("check", four)["separable"] is True
    assert command("check", xor, ends_with=3)["separable"] is False
    assert command("check", four, "--no-bias", ends_with=3)["separable"] is False


def test_A1_page_a_plane_or_none(page):
    assert page("answer", POINTS, "hard_margin")["certificate"]["verdict"] == "OPTIMAL"
    assert page("answer", CORNERS, "hard_margin")["certificate"]["verdict"] == "NOT_SEPARABLE"


def test_A2_python_distances_and_the_canonical_form():
    svm = HardMarginSVM().fit(X, Y)
    np.testing.assert_allclose(svm.distances(X), [-0.5, -0.5, 0.5, 1.5], atol=1e-12)
    w, b = svm.coef_[0], svm.intercept_[0]
    assert np.min(Y * (X @ w + b)) == pytest.approx(1.0, abs=1e-12)
    assert svm.margin_ == pytest.approx(1.0 / np.linalg.norm(w), abs=1e-12)
    assert svm.street_ == pytest.approx(2.0 / np.linalg.norm(w), abs=1e-12)


def test_A2_page_distances(page):
    answer = page("answer", POINTS, "hard_margin")
    assert answer["rows"]["distances"] == pytest.approx([0.5, 0.5, 0.5, 1.5])
    assert answer["street"] == pytest.approx(1.0)


def test_A3_python_the_margin_of_the_lifted_rows_is_not_that_of_the_user_s():
    lifted = np.column_stack([X, np.ones(4)])
    model = Perceptron().fit(X, Y)
    w = np.append(model.coef_[0], model.intercept_[0])
    in_lifted_space = np.min(Y * (lifted @ w)) / np.linalg.norm(w)
    own = np.min(Y * (X @ w[:2] + w[2])) / np.linalg.norm(w[:2])
    assert in_lifted_space < own
    assert model.certificate_.margin_lower == pytest.approx(own, rel=1e-9)


def test_A2_command_distances(command, four, tmp_path):
    model = tmp_path / "m.maxmargin"
    command("fit", four, "--algorithm", "hard-margin", "--scale", "none", "-o", model)
    told = command("predict", model, four, "--distances")
    assert [abs(distance) for distance in told["distances"]] == pytest.approx([0.5, 0.5, 0.5, 1.5])
