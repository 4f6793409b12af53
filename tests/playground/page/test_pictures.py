"""What is drawn is what the library says: lines, rings, slack, hulls and boundaries, read back from the picture."""

import numpy as np
import pytest

from maxmargin import HardMarginSVM, KernelSVM, LinearSVM

CLOSE = 1e-6


def distances(points, model):
    """Of points from a fitted plane, in units of the data."""
    return (points @ model.coef_[0] + model.intercept_[0]) / np.linalg.norm(model.coef_[0])


def assert_street(visitor, model, half, panel="a"):
    """The plane and the edges of its street are where the library has them."""
    for name, distance in (("zero", 0.0), ("plus", half), ("minus", -half)):
        (line,) = visitor.drawn(name, panel)
        assert len(line) == 2
        np.testing.assert_allclose(distances(line, model), distance, atol=CLOSE)


def test_the_widest_street_follows_a_drag_before_it_ends(visitor):
    X, y = visitor.points
    assert_street(visitor, model := HardMarginSVM().fit(X, y), model.margin_)
    visitor.drag((1, 1), (1.4, 1.5), drop=False)
    X, y = visitor.points
    assert X[2].tolist() != [1, 1]
    assert_street(visitor, model := HardMarginSVM().fit(X, y), model.margin_)
    visitor.page.mouse.up()
    assert f"{model.margin_:.4g}" in visitor.text(".proof .figures")


def test_rings_are_support_vectors_and_grow_with_their_weights(visitor):
    X, y = visitor.points
    model = HardMarginSVM().fit(X, y)
    rings = visitor.rings()
    assert sorted(rings) == sorted(model.support_.tolist())
    weights = dict(zip(model.support_.tolist(), np.abs(model.dual_coef_[0]), strict=True))
    largest = max(weights.values())
    for row, radius in rings.items():
        assert radius**2 == pytest.approx(81 + 144 * weights[row] / largest, rel=1e-4)


def test_slack_runs_from_its_row_to_its_edge(visit):
    visitor = visit().open("points=0,0,-1;2,0,-1;1,3,-1;1,1,1;1,2,1;2,-1,1&view=1,1,3&a=linear_svm&a.C=0.5")
    X, y = visitor.points
    model = LinearSVM(C=0.5, tol=1e-6).fit(X, y)
    assert_street(visitor, model, 1.0 / np.linalg.norm(model.coef_[0]))
    xi = np.maximum(0.0, 1.0 - y * model.decision_function(X))
    lines = visitor.page.locator(".slack line").all()
    assert {int(line.get_attribute("data-row")) for line in lines} == set(np.flatnonzero(xi > 1e-5).tolist())
    for line in lines:
        x1, y1, x2, y2 = (float(line.get_attribute(name)) for name in ("x1", "y1", "x2", "y2"))
        start, end = visitor.in_data([[x1, y1], [x2, y2]])
        row = int(line.get_attribute("data-row"))
        np.testing.assert_allclose(start, X[row], atol=CLOSE)
        assert model.decision_function([end])[0] == pytest.approx(y[row], abs=1e-5)
    mistaken = {int(mark.get_attribute("data-row")) for mark in visitor.page.locator(".point.mistaken").all()}
    assert mistaken == set(np.flatnonzero(y * model.decision_function(X) <= 0).tolist())


def test_hulls_meet_where_no_line_separates(visit):
    visitor = visit().open("points=0,0,1;2,2,1;0,2,-1;2,0,-1&view=1,1,2&a=hard_margin")
    assert visitor.drawn("zero") == []
    assert "Not separable" in visitor.text(".proof .verdict")
    assert visitor.page.locator(".hull.witness").count() == 2
    cross = visitor.in_data([visitor.place(visitor.page.locator(".cross"))])
    np.testing.assert_allclose(cross, [[1, 1]], atol=CLOSE)


def test_parts_of_the_picture_can_be_switched_off(visitor):
    for part, drawn in (("street", ".edge"), ("support", ".ring[data-row]"), ("hulls", ".hull")):
        assert visitor.page.locator(drawn).count() > 0
        visitor.click(f".legend [data-part={part}]")
        assert visitor.page.locator(drawn).count() == 0
    assert visitor.fields["hidden"] == "street,support,hulls"


def test_a_kernel_bends_the_boundary(visit):
    points = "0,0,1;0.3,0.2,1;2,0,-1;-2,0.1,-1;0,2,-1;0.1,-2,-1"
    visitor = visit().open(f"points={points}&view=0,0,3&a=kernel_svm&a.gamma=0.5&a.C=10")
    X, y = visitor.points
    model = KernelSVM(kernel="rbf", gamma=0.5, C=10, tol=1e-4).fit(X, y)
    for name, level in (("zero", 0.0), ("plus", 1.0), ("minus", -1.0)):
        boundary = np.vstack(visitor.drawn(name))
        assert len(boundary) > 10
        np.testing.assert_allclose(model.decision_function(boundary), level, atol=0.05)
    assert visitor.page.locator(".field image").count() == 1


def test_the_proof_is_in_words_numbers_and_a_chart(visit):
    visitor = visit().open("points=0,0,-1;2,0,-1;1,3,-1;1,1,1;1,2,1;2,-1,1&view=1,1,3&a=linear_svm")
    X, y = visitor.points
    certificate = LinearSVM(tol=1e-6).fit(X, y).certificate_
    assert visitor.text(".proof .verdict") == "Optimal: no plane has a lower objective, to the stated gap."
    assert f"{certificate.primal:.4f}"[:5] in visitor.text(".proof .figures")
    assert visitor.page.locator(".chart polyline").count() == 2
    assert "Primal" in visitor.page.get_attribute(".chart", "aria-label")
    visitor.click(".kkt summary")
    assert "tationarity" in visitor.text(".kkt tbody")


def test_the_theorem_bounds_the_count(visitor):
    visitor.choose("#a-algorithm", "perceptron")
    assert "Novikov" in visitor.text(".theorems")
    assert "of at most" in visitor.page.get_attribute(".bar", "aria-label")
    assert visitor.page.locator(".bar.broken").count() == 0


def test_a_slider_changes_the_answer(visit):
    visitor = visit().open("points=0,0,-1;2,0,-1;1,3,-1;1,1,1;1,2,1;2,-1,1&view=1,1,3&a=linear_svm")
    visitor.page.focus("#a-C")
    visitor.press("Home")
    assert visitor.fields["a.C"] == "0.001"
    X, y = visitor.points
    model = LinearSVM(C=0.001, tol=1e-6).fit(X, y)
    (line,) = visitor.drawn("zero") or [np.zeros((0, 2))]
    np.testing.assert_allclose(distances(line, model), 0.0, atol=1e-5)
    visitor.page.check("label:has-text('infinite') input")
    visitor.settle()
    assert visitor.fields["a.C"] == '"inf"'
    assert visitor.page.is_disabled("#a-C")
