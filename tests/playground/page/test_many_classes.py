"""Three classes on the page: shapes, regions, a plane at a time, links, and two-class links as ever."""

import numpy as np
import pytest

from maxmargin import HardMarginSVM, LinearSVM

THREE = "points=-2,0,1;-3,1,1;2,0,-1;3,1,-1;0,3,2;1,4,2&view=0,1,4&a=linear_svm"


@pytest.fixture
def three(visit):
    return visit().open(THREE)


def test_three_shapes_and_all_planes(three):
    assert three.page.locator(".point.third").count() == 2
    assert three.page.is_visible(".legend .entry:has-text('third class')")
    X, y = three.points
    svm = LinearSVM(tol=1e-6).fit(X, y)
    lines = three.drawn("zero")
    assert len(lines) == 3
    for w, b in zip(svm.coef_, svm.intercept_, strict=True):
        off = [np.abs(line @ w + b).max() / np.linalg.norm(w) for line in lines]
        assert min(off) < 1e-6
    assert three.mark == "✓"
    assert three.text(".proof .words").count("against the rest") == 3
    assert three.page.locator(".field image").count() == 1


def test_one_plane_at_a_time_with_its_own_proof_and_in_the_address(three):
    three.choose(".planes select", "2")
    assert three.fields["a-plane"] == "2"
    X, y = three.points
    svm = LinearSVM(tol=1e-6).fit(X, y)
    [line] = three.drawn("zero")
    w, b = svm.coef_[2], svm.intercept_[2]
    np.testing.assert_allclose((line @ w + b) / np.linalg.norm(w), 0.0, atol=1e-6)
    assert three.text(".proof .verdict").startswith("Optimal")
    assert set(three.rings()) == set(svm.support_[svm.dual_coef_[2] != 0.0].tolist())


def test_pairs_are_chosen_where_there_are_three_classes_only(three, visit):
    three.choose("#a-multi_class", '"ovo"')
    assert three.fields["a.multi_class"] == '"ovo"'
    assert "Squares against circles" in three.text(".proof .words")
    two = visit().open("points=0,0,-1;2,0,-1;1,1,1;1,2,1&view=1,1,2&a=hard_margin")
    assert not two.page.is_visible("#a-multi_class")
    assert not two.page.is_visible(".planes")
    assert not two.page.is_visible(".legend .entry:has-text('third class')")


def test_a_third_class_is_added_moved_and_relabelled(visit):
    visitor = visit().open("points=-2,0,1;-3,1,1;2,0,-1;3,1,-1&view=0,1,4&a=hard_margin")
    visitor.page.check("input[name=tool][value='2']", force=True)
    visitor.click_at(0, 3)
    X, y = visitor.points
    assert y.tolist() == [1, 1, -1, -1, 2]
    np.testing.assert_allclose(X[-1], [0, 3], atol=0.02)
    assert len(HardMarginSVM().fit(X, y).certificate_.parts) == len(visitor.drawn("zero")) == 3
    visitor.page.focus(".point.third")
    visitor.press("l")
    assert visitor.points[1].tolist() == [1, 1, -1, -1, 1]
    visitor.press("Control+z")
    assert visitor.points[1].tolist() == [1, 1, -1, -1, 2]
    visitor.page.focus(".point[data-row='2']")
    visitor.press("l")
    assert visitor.points[1].tolist() == [1, 1, 2, -1, 2]


def test_what_is_for_two_classes_says_so(three):
    three.click(".step-through")
    assert "Steps are shown for two classes" in three.text(".rule")
    three.click(".step-through")
    three.click("#challenge")
    assert "for two classes" in three.text(".challenge-card .words")


def test_three_classes_on_a_phone(visit):
    visitor = visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).open(THREE)
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert len(visitor.drawn("zero")) == 3
