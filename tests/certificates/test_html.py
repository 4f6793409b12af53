"""What a notebook shows of a certificate and of an estimator."""

import math
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import HardMarginSVM, KernelPerceptron, KernelSVM, LinearSVM, Perceptron, StochasticSVM, separability
from maxmargin.certificates.html import WIDTH, bar_of, bar_svg, certificate_html, verdict_html
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
    assert certificate._repr_html_() in estimator._repr_mimebundle_()["text/html"]
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


def part_of(low, high, about_margin=False, positive="a", negative="b"):
    """What the page reads of a certificate."""
    margins = {"margin_lower": low, "margin_upper": high} if about_margin else {"dual": low, "primal": high}
    return SimpleNamespace(
        is_about_margin=about_margin,
        is_separable=None,
        positive=positive,
        negative=negative,
        verdict=SimpleNamespace(name="OPTIMAL", value="some verdict"),
        relative_gap=1.0 - low / high if high else math.nan,
        **margins,
    )


@pytest.mark.parametrize("about_margin", [True, False])
def test_bounds_in_words(about_margin):
    name = "best margin" if about_margin else "least objective"
    words, low, high = bar_of(part_of(1.5, 2.0, about_margin))
    assert words == f"{name} between 1.5 and 2, relative gap 0.25"
    assert (low, high) == (1.5, 2.0)
    assert bar_of(part_of(0.0, 3.0, about_margin))[0] == f"{name} between 0 and 3, relative gap 1"
    assert bar_of(part_of(3.0, 3.0, about_margin))[1:] == (3.0, 3.0)
    assert bar_of(part_of(2.0 / 3.0, 1.0, about_margin))[0] == f"{name} between 0.666666 and 1, relative gap 0.34"
    for bad in ((0.0, 0.0), (0.0, math.inf), (2.0, 1.0), (0.0, math.nan), (0.0, -1.0)):
        words, low, high = bar_of(part_of(*bad, about_margin))
        assert words == name
        assert math.isnan(low)
        assert math.isnan(high)


def test_a_margin_that_may_be_negative_starts_at_zero():
    assert bar_of(part_of(-1.0, 2.0, about_margin=True))[1:] == (0.0, 2.0)
    assert math.isnan(bar_of(part_of(-1.0, 2.0))[1])
    assert math.isnan(bar_of(part_of(math.nan, 2.0))[1])


def test_sides_and_bars_of_one_plane():
    html = verdict_html(part_of(1.0, 2.0))
    assert html.startswith("<p><b>&#x27;a&#x27; against &#x27;b&#x27;</b>: some verdict</p><div><svg ")
    assert html.endswith("</svg> least objective between 1 and 2, relative gap 0.5</div>")
    assert verdict_html(part_of(1.0, math.inf, negative=None)) == (
        "<p><b>&#x27;a&#x27; against the rest</b>: some verdict</p>"
    )


def test_a_bar_is_solid_up_to_the_lower_bound_and_hatched_from_there():
    picture = ElementTree.fromstring(bar_svg(0.5, 2.0, 'say "so"'))
    assert picture.get("aria-label") == 'say "so"'
    assert (picture.get("width"), picture.get("height"), picture.get("viewBox")) == ("280", "12", "0 0 280 12")
    solid, hatch, frame = picture
    assert (solid.get("x"), solid.get("y"), solid.get("width"), solid.get("height")) == ("0", "0", "70.00", "12")
    assert (frame.get("width"), frame.get("height")) == ("279", "11")
    strokes = re.findall(r"M([\d.]+) 12l12 -12", hatch.get("d"))
    assert [float(stroke) for stroke in strokes] == [70.0 + 6.0 * k for k in range(34)]  # the last one ends at 280


@pytest.mark.parametrize(("low", "strokes"), [(0.0, 45), (0.95, 1), (268.0 / 280.0, 1), (0.97, 0), (1.0, 0)])
def test_no_stroke_goes_beyond_the_bar(low, strokes):
    hatch = ElementTree.fromstring(bar_svg(low, 1.0, ""))[1].get("d")
    assert hatch.count("M") == strokes


def test_a_dozen_planes_are_shown():
    for count, more in ((1, 0), (12, 0), (13, 1), (20, 8)):
        parts = tuple(part_of(1.0, 2.0, positive=k) for k in range(count))
        html = certificate_html(SimpleNamespace(parts=parts, report=lambda: "a < b"))
        assert html.count("<svg ") == min(count, 12)
        assert (f"<p>and {more} more planes, of which no less is proven</p>" in html) is (more > 0)
        assert ("more planes" in html) is (more > 0)
        assert "<pre>a &lt; b</pre>" in html


def test_of_many_planes_those_of_which_least_is_proven_are_shown():
    parts = [part_of(1.0, 2.0 + k, positive=k) for k in range(30)]
    html = certificate_html(SimpleNamespace(parts=tuple(parts), report=str))
    assert [int(label) for label in re.findall(r"<b>(\d+) against", html)] == list(range(29, 17, -1))
