"""What a notebook shows of a certificate and of an estimator."""

import math
import re
from xml.etree import ElementTree

import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import HardMarginSVM, KernelPerceptron, KernelSVM, LinearSVM, Perceptron, StochasticSVM, separability
from maxmargin.certificates.notebook import WIDTH
from maxmargin.data import synthetic


def bars(html):
    """The proven parts of the bars, as shares."""
    pictures = [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", html)]
    return [float(picture[0].get("width")) / WIDTH for picture in pictures]


@pytest.mark.parametrize(
    "estimator",
    [HardMarginSVM(), Perceptron(), LinearSVM(tol=0.3), StochasticSVM(), KernelSVM(C=math.inf), KernelPerceptron()],
    ids=lambda estimator: str(estimator)[:24],
)
def test_an_estimator_shows_its_proof(estimator):
    X, y, _ = synthetic.street(30)
    assert "maxmargin-certificate" not in estimator._repr_html_()
    html = estimator.fit(X, y)._repr_html_()
    assert type(estimator).__name__ in html
    certificate = estimator.certificate_
    assert certificate._repr_html_() in html
    assert certificate.verdict.value in html
    [share] = bars(html)
    margins = not hasattr(certificate, "C") or math.isinf(certificate.C)
    low, high = (
        (certificate.margin_lower, certificate.margin_upper) if margins else (certificate.dual, certificate.primal)
    )
    assert share == pytest.approx(low / high, abs=1e-4)


def test_labels_are_escaped():
    X, y = [[0.0, 0.0], [1.0, 1.0]], ["<script>alert(1)</script>", "a & b"]
    html = LinearSVM().fit(X, y)._repr_html_()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "a &amp; b" in html


def test_no_bar_where_no_plane_exists():
    html = separability(*synthetic.xor())._repr_html_()
    assert "Not separable" in html
    assert bars(html) == []


def test_a_bar_for_each_plane():
    X, y = synthetic.flowers()
    model = LinearSVM().fit(X, y)
    assert len(bars(model._repr_html_())) == 3
    assert model.certificate_._repr_html_() in model._repr_html_()


def test_text_where_no_diagram_is_wanted():
    with sklearn.config_context(display="text"):
        assert not hasattr(LinearSVM(), "_repr_html_")


def test_in_a_pipeline_and_after_a_stream():
    X, y, _ = synthetic.street(30)
    assert "LinearSVM" in make_pipeline(StandardScaler(), LinearSVM()).fit(X, y)._repr_html_()
    stream = StochasticSVM().partial_fit(X, y, classes=[-1, 1])
    assert "maxmargin-certificate" not in stream._repr_html_()
