"""The display of a street: it draws what the certificate says, and nothing else."""

import subprocess
import sys

import numpy as np
import pandas
import pytest
from matplotlib import pyplot

from maxmargin import HardMarginSVM, KernelSVM, LinearSVM, Perceptron, StreetDisplay, separability
from maxmargin.data import synthetic
from maxmargin.plots.style import HALO


@pytest.fixture
def street():
    X, y, plane = synthetic.street(40, seed=10)
    return X, y, plane


def drawn(display):
    """The legend's texts: what a reader is told is there."""
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_widest_street(street, tmp_path):
    X, y, _ = street
    display = StreetDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y)
    assert display.ax_.get_title() == "The widest street\nbest l2 margin proven between 0.499999 and 0.500001"
    names = ["label 1", "label -1", "plane", "edges of the street", "support vectors, by weight"]
    assert drawn(display) == names
    assert display.ax_.get_aspect() == 1.0
    assert display.ax_.figure is display.figure_
    display.figure_.savefig(tmp_path / "street.png")
    assert (tmp_path / "street.png").stat().st_size > 10_000


def test_the_lines_are_where_the_plane_is(street):
    X, y, plane = street
    display = StreetDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y)
    heights = [np.array(line.get_data()).T @ plane.w + plane.b for line in display.ax_.lines]
    assert [height.mean() for height in heights] == pytest.approx([0.0, 0.5, -0.5], abs=1e-9)
    assert all(np.ptp(height) < 1e-9 for height in heights)


def artist(display, label):
    return next(one for one in display.ax_.collections if one.get_label() == label)


def test_halos_are_as_large_as_dual_variables(style):
    X, y = synthetic.overlapping(40, seed=3)
    svm = LinearSVM().fit(X, y)
    display = StreetDisplay.from_estimator(svm, X, y)
    halos = artist(display, "support vectors, by weight")
    assert halos.get_offsets().tolist() == X[svm.support_].tolist()
    weights = np.abs(svm.dual_coef_[0])
    assert halos.get_sizes() == pytest.approx(HALO * weights / weights.max())


def test_slack_goes_from_the_row_to_its_edge():
    X, y = synthetic.overlapping(40, seed=3)
    svm = LinearSVM(tol=1e-8).fit(X, y)
    segments = np.array(artist(StreetDisplay.from_estimator(svm, X, y), "slack").get_segments())
    paying = np.flatnonzero(svm.slack(X, y) > 1e-8)
    assert segments[:, 0].tolist() == X[paying].tolist()
    assert svm.decision_function(segments[:, 1]) == pytest.approx(y[paying], abs=1e-9)


def test_the_line_of_a_kernel_is_where_its_decision_changes():
    X, y = synthetic.rings(40)
    svm = KernelSVM(C=10.0).fit(X, y)
    display = StreetDisplay.from_estimator(svm, X, y)
    levels = [svm.decision_function(np.array(line.get_data()).T) for line in display.ax_.lines]
    for values, level in zip(levels, (0.0, 1.0, -1.0), strict=True):
        assert values == pytest.approx(level, abs=1e-9)


def test_many_columns_are_drawn_from_the_side(style):
    X, y, _ = synthetic.separable_gaussians(40, 5, seed=2)
    svm = HardMarginSVM().fit(X, y)
    display = StreetDisplay.from_estimator(svm, X, y)
    heights = [line.get_ydata().mean() for line in display.ax_.lines]
    assert heights == pytest.approx([0.0, svm.margin_, -svm.margin_], abs=1e-9)
    assert display.ax_.get_ylabel() == "distance from the plane"


def test_another_separating_plane(street):
    X, y, _ = street
    display = StreetDisplay.from_estimator(Perceptron().fit(X, y), X, y)
    assert display.ax_.get_title().startswith("Separable\n")
    assert "rows that carry weight, by weight" in drawn(display)


def test_a_witness_and_where_the_hulls_meet():
    X, y = synthetic.overlapping(30, seed=1)
    certificate = separability(X, y)
    display = StreetDisplay.from_certificate(certificate, X, y)
    assert display.shows_witness
    assert display.ax_.get_title() == "Not separable: the hulls meet\n4 rows of 30 prove it"
    assert drawn(display)[2:] == ["witness rows", "where the hulls meet"]


def test_hulls_that_touch():
    X, y, _ = synthetic.touching()
    display = StreetDisplay.from_certificate(separability(X, y), X, y)
    assert display.ax_.get_title().startswith("Weakly separable: the hulls touch")


def test_a_witness_through_the_origin_is_mirrored():
    X, y = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 0.0]]), np.array([1, -1, -1])
    certificate = separability(X, y, fit_intercept=False)
    display = StreetDisplay.from_certificate(certificate, X, y)
    assert "witness rows, label -1 mirrored" in drawn(display)
    assert "the origin, in their hull" in drawn(display)


def test_one_of_many_classes_and_names():
    X, y = synthetic.flowers()
    frame = pandas.DataFrame(X[:, :2], columns=["petal length", "petal width"])
    certificate = separability(frame, y)
    display = StreetDisplay.from_certificate(certificate[0], frame, y)
    assert drawn(display)[:2] == ["aster", "the rest"]
    assert display.ax_.get_xlabel() == "petal length"
    with pytest.raises(ValueError, match="draw one"):
        StreetDisplay.from_certificate(certificate, frame, y)


def test_axes_of_the_user_are_used(street):
    X, y, _ = street
    figure, ax = pyplot.subplots()
    display = StreetDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert pyplot.get_fignums() == [figure.number]


def test_only_one_point_of_a_class():
    X, y = [[0.0, 0.0], [1.0, 1.0]], ["a", "b"]
    display = StreetDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y)
    assert drawn(display)[:2] == ["b", "a"]


def test_what_cannot_be_drawn(street):
    X, y, _ = street
    fitted = HardMarginSVM().fit(X, y)
    with pytest.raises(ValueError, match="fit it first"):
        StreetDisplay.from_estimator(HardMarginSVM(), X, y)
    with pytest.raises(ValueError, match="expecting 2 features"):
        StreetDisplay.from_estimator(fitted, np.ones((40, 3)), y)
    with pytest.raises(ValueError, match="a witness is drawn in two columns"):
        StreetDisplay.from_certificate(separability([[0.0], [1.0], [2.0]], [0, 1, 0]), [[0.0], [1.0], [2.0]], [0, 1, 0])
    with pytest.raises(ValueError, match="40 rows but y"):
        StreetDisplay.from_estimator(fitted, X, y[:-1])


def test_without_matplotlib_a_line_says_how_to_get_it():
    script = """
import sys
sys.modules["matplotlib"] = None
from maxmargin import StreetDisplay, separability
X, y = [[0.0, 0.0], [1.0, 1.0]], [0, 1]
try:
    StreetDisplay.from_certificate(separability(X, y), X, y)
except ModuleNotFoundError as missing:
    print(missing)
"""
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert 'pip install "maxmargin[plots]"' in finished.stdout
