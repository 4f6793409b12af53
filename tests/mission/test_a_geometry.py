"""A. The geometry: separability, distances, lifting, two margins."""

import numpy as np
import pytest
from mission_points import ACROSS, CORNERS, POINTS, XOR, X, Y

from maxmargin import HardMarginSVM, Perceptron, separability, two_margins


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


def test_A3_command_rows_at_length_one(command, four):
    told = command("fit", four, "--algorithm", "perceptron", "--scale", "none", "--set", "normalize_rows=true")
    [theorem] = told["certificate"]["theorems"]
    lifted = np.column_stack([X, np.ones(4)])
    cosine = HardMarginSVM(fit_intercept=False).fit(lifted / np.linalg.norm(lifted, axis=1, keepdims=True), Y).margin_
    assert theorem["bound"] == pytest.approx(1.0 / cosine**2, rel=1e-6)
    assert theorem["measured"] <= theorem["bound"]


def test_A3_page_rows_at_length_one(page):
    answer = page("answer", POINTS, "perceptron", normalize_rows=True)
    assert answer["mistakes"] == []
    w, b = np.array(answer["plane"]["w"]), answer["plane"]["b"]
    assert answer["margin"] == pytest.approx(np.min(Y * (X @ w + b)) / np.linalg.norm(w))  # in the user's own space


def cosine_and_its_relative():
    """The best margins of the lifted rows at length 1, l2 and l1."""
    lifted = np.column_stack([X, np.ones(4)])
    l2 = HardMarginSVM(fit_intercept=False).fit(lifted / np.linalg.norm(lifted, axis=1, keepdims=True), Y).margin_
    scaled = lifted / np.abs(lifted).max(axis=1, keepdims=True)
    return l2, HardMarginSVM("l1", fit_intercept=False).fit(scaled, Y).margin_


def test_A4_python_two_margins_and_what_ties_them():
    l2, l1 = cosine_and_its_relative()
    told = two_margins(X, Y).to_dict()
    assert told["l2"]["lower"] <= l2 * (1 + 1e-9)
    assert told["l2"]["upper"] >= l2 * (1 - 1e-9)
    assert told["l1"]["lower"] <= l1 * (1 + 1e-9)
    assert told["l1"]["upper"] >= l1 * (1 - 1e-9)
    assert told["l2"]["lower"] / np.sqrt(3) <= told["l1"]["upper"]
    assert told["l1"]["lower"] <= np.sqrt(3) * told["l2"]["upper"]


def test_A4_command_two_margins_and_what_ties_them(command, four):
    [told] = command("check", four, "--both-margins")["both_margins"]
    l2, l1 = cosine_and_its_relative()
    assert (told["l2"]["lower"], told["l1"]["lower"]) == pytest.approx((l2, l1), rel=1e-6)
    assert told["m"] == 3
    assert told["verified"] is True


def test_A4_page_two_margins_and_what_ties_them(page):
    told = page("two_margins", POINTS, "hard_margin")
    l2, l1 = cosine_and_its_relative()
    assert (told["l2"]["lower"], told["l1"]["lower"]) == pytest.approx((l2, l1), rel=1e-6)
    assert told["tie"]["lower"] <= l1 <= told["tie"]["upper"]
    assert told["own"]["lower"] <= 0.5 <= told["own"]["upper"]
    assert told["verified"] is True
