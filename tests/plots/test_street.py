"""The display of a street: it draws what the certificate says, and nothing else."""

import subprocess
import sys

import matplotlib
import numpy as np
import pandas
import pytest

from maxmargin import HardMarginSVM, Perceptron, separability
from maxmargin.data import synthetic
from maxmargin.plots import StreetDisplay

matplotlib.use("Agg")
pyplot = matplotlib.pyplot if hasattr(matplotlib, "pyplot") else __import__("matplotlib.pyplot").pyplot


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


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
    assert drawn(display) == ["label 1", "label -1", "plane", "margin lines", "support vectors"]
    assert display.ax_.get_aspect() == 1.0
    assert display.ax_.figure is display.figure_
    display.figure_.savefig(tmp_path / "street.png")
    assert (tmp_path / "street.png").stat().st_size > 10_000


def test_the_lines_are_where_the_plane_is(street):
    X, y, plane = street
    display = StreetDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y)
    heights = [np.array(line.get_data()).T @ plane.w + plane.b for line in display.ax_.lines]
    assert [height.mean() for height in heights] == pytest.approx([0.0, -0.5, 0.5], abs=1e-6)
    assert all(np.ptp(height) < 1e-6 for height in heights)


def test_support_vectors_are_ringed(street):
    X, y, _ = street
    display = StreetDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y)
    rings = display.ax_.collections[-1].get_offsets()
    assert sorted(map(tuple, rings)) == sorted(map(tuple, X[:3]))


def test_another_separating_plane(street):
    X, y, _ = street
    display = StreetDisplay.from_estimator(Perceptron().fit(X, y), X, y)
    assert display.ax_.get_title().startswith("Separable\n")
    assert "rows that carry weight" in drawn(display)


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
    with pytest.raises(ValueError, match="two columns"):
        StreetDisplay.from_estimator(fitted, np.ones((40, 3)), y)
    with pytest.raises(ValueError, match="40 rows but y"):
        StreetDisplay.from_estimator(fitted, X, y[:-1])


def test_without_matplotlib_a_line_says_how_to_get_it():
    script = """
import sys
sys.modules["matplotlib"] = None
from maxmargin.plots import StreetDisplay
from maxmargin import separability
X, y = [[0.0, 0.0], [1.0, 1.0]], [0, 1]
try:
    StreetDisplay.from_certificate(separability(X, y), X, y)
except ModuleNotFoundError as missing:
    print(missing)
"""
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert 'pip install "maxmargin[plots]"' in finished.stdout
