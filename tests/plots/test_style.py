"""Colours that are told apart in grey and on any paper; axes in the place of axes."""

import re
from pathlib import Path

import pytest
from matplotlib import pyplot, rcParams
from matplotlib.colors import to_hex

import maxmargin.playground
from maxmargin import (
    ConvergenceDisplay,
    HardMarginSVM,
    HullDisplay,
    KKTDisplay,
    LagrangianDisplay,
    LinearSVM,
    LossDisplay,
    PathDisplay,
    Perceptron,
    RobustnessDisplay,
    StreetDisplay,
    TraceDisplay,
)
from maxmargin.data import synthetic
from maxmargin.plots.style import (
    DOT,
    MARKERS,
    ON_DARK,
    ON_LIGHT,
    lightness,
    many_axes,
    marks_for,
    mixed,
    palette_of,
)

DISPLAYS = {
    "street": (StreetDisplay, HardMarginSVM(), {}),
    "hull": (HullDisplay, HardMarginSVM(), {}),
    "conditions": (KKTDisplay, LinearSVM(), {}),
    "loss": (LossDisplay, LinearSVM(), {}),
    "path": (PathDisplay, LinearSVM(), {"Cs": 4}),
    "convergence": (ConvergenceDisplay, LinearSVM(), {}),
    "bound": (TraceDisplay, Perceptron(), {"kind": "bound"}),
    "run": (TraceDisplay, Perceptron(), {"panels": 2}),
    "lagrangian": (LagrangianDisplay, HardMarginSVM(), {}),
    "robustness": (RobustnessDisplay, HardMarginSVM(), {}),
}


@pytest.fixture(scope="module")
def drawn():
    """A function that draws a display of its name."""
    X, y, _ = synthetic.separable_gaussians(30, 2, margin=0.3, seed=3)

    def draw(name, **look):
        kind, estimator, options = DISPLAYS[name]
        return kind.from_estimator(estimator.fit(X, y), X, y, **options, **look)

    return draw


def legends(display):
    axes = display.figure_.axes
    return [ax.get_legend() for ax in axes if ax.get_legend() is not None]


def titles(display):
    over = display.figure_.get_suptitle()
    return [text for text in [over, *(ax.get_title() for ax in display.figure_.axes)] if text]


@pytest.mark.parametrize("name", DISPLAYS)
def test_every_display_takes_a_legend_and_a_title(name, drawn):
    usual = drawn(name)
    assert legends(drawn(name, legend=False)) == []
    placed = legends(drawn(name, legend={"loc": "lower left", "ncols": 1, "title": "key"}))
    assert placed
    assert all(legend.get_title().get_text() == "key" for legend in placed)
    assert "my own" in titles(drawn(name, title="my own"))
    panels = {"run": 2, "lagrangian": 3}.get(name, 0)  # which have titles of their own
    assert len(titles(drawn(name, title=""))) == panels
    assert len(titles(usual)) == max(1, panels + (name == "lagrangian"))
    if name != "lagrangian":  # which hands further keywords to its curve
        with pytest.raises(TypeError, match="legnd"):
            drawn(name, legnd=False)


@pytest.mark.parametrize("name", DISPLAYS)
def test_every_display_follows_the_sizes_that_the_user_has_set(name, drawn):
    usual = drawn(name)
    assert usual.figure_.get_size_inches().tolist() != [3.3, 3.6]
    with pyplot.rc_context({"figure.figsize": (3.3, 3.6), "font.size": 5.0, "legend.fontsize": 6.5, "figure.dpi": 70}):
        display = drawn(name)
        assert display.figure_.get_size_inches().tolist() == [3.3, 3.6]
        assert display.figure_.dpi == 70
        for ax in display.axes_ if hasattr(display, "axes_") else [display.ax_]:
            assert ax.title.get_fontsize() == pytest.approx(5.5)
            assert ax.xaxis.label.get_fontsize() == pytest.approx(4.5)
        sizes = {text.get_fontsize() for legend in legends(display) for text in legend.get_texts()}
        assert sizes <= {6.5}


@pytest.mark.parametrize("name", ["street", "hull", "conditions", "run"])
def test_keywords_of_scatter_reach_the_rows(name, drawn):
    display = drawn(name, scatter_kwargs={"s": 5.0, "alpha": 0.3, "marker": "v"})
    rows = [one for one in display.ax_.collections if one.get_label() in ("label 1", "label -1")]
    assert [(one.get_sizes().tolist(), one.get_alpha()) for one in rows] == [([5.0], 0.3)] * 2


def test_colours_of_the_user_are_those_of_the_classes(drawn):
    with pyplot.rc_context({"axes.prop_cycle": pyplot.cycler(color=["#112233", "#445566"])}):
        display = drawn("street")
    rows = {one.get_label(): to_hex(one.get_facecolor()[0]) for one in display.ax_.collections}
    assert (rows["label 1"], rows["label -1"]) == ("#112233", "#445566")


def test_many_rows_are_small_and_shine_through_and_are_pixels():
    _, ax = pyplot.subplots(figsize=(6.0, 6.0))
    few, many = marks_for(ax, 50), marks_for(ax, 5000)
    assert (few.scale, few.alpha, few.rasterized) == (1.0, 1.0, False)
    assert many.scale == pytest.approx((300 / 5000) ** 0.5)
    assert 0.4 <= many.alpha < 0.6
    assert many.rasterized
    _, small = pyplot.subplots(figsize=(2.0, 2.0))
    assert 2.0 / DOT <= marks_for(small, 50).scale < 0.6


def test_a_picture_of_many_rows_is_no_large_file(tmp_path):
    X, y, _ = synthetic.separable_gaussians(5000, 2, margin=0.01, seed=3)
    display = StreetDisplay.from_estimator(LinearSVM(C=0.01).fit(X, y), X, y)
    display.figure_.savefig(tmp_path / "street.svg")
    text = (tmp_path / "street.svg").read_text()
    assert text.count("<use") + text.count("<path") < 400  # and not one for each row
    assert "<image" in text


@pytest.mark.parametrize(("theme", "classes"), [("root", ON_LIGHT), ('root[data-theme="dark"]', ON_DARK)])
def test_classes_look_as_they_do_on_the_page(theme, classes):
    page = Path(maxmargin.playground.__file__).with_name("page")
    style = re.search(re.escape(f":{theme} {{") + "(.*?)}", (page / "style.css").read_text(), re.S)[1]
    colours = dict(re.findall(r"--(positive|negative): (#\w+);", style))
    assert colours == {"positive": classes[1], "negative": classes[-1]}
    assert MARKERS == {1: "o", -1: "s"}  # circles and squares, as in marks.js


def test_everything_stands_out_from_the_paper(style):
    _, ax = pyplot.subplots()
    palette = palette_of(ax)
    assert palette.ink == to_hex(rcParams["text.color"])
    for colour in (palette.ink, *palette.classes.values()):
        assert abs(lightness(colour) - lightness(palette.paper)) > 25.0
    assert abs(lightness(palette.street) - lightness(palette.paper)) < 15.0


def test_ink_that_could_not_be_read_is_not_used():
    _, ax = pyplot.subplots(facecolor="black")
    ax.set_facecolor("#101010")
    assert palette_of(ax).ink == "#ffffff"


@pytest.mark.parametrize(("colour", "expected"), [("#000000", 0.0), ("#ffffff", 100.0), ("#777777", 50.0)])
def test_lightness(colour, expected):
    assert lightness(colour) == pytest.approx(expected, abs=0.5)


def test_mixing():
    assert mixed("#000000", "#ffffff", 0.0) == "#ffffff"
    assert mixed("#000000", "#ffffff", 1.0) == "#000000"


def test_a_grid_in_the_place_of_axes():
    figure, ax = pyplot.subplots()
    grid = many_axes(ax, 2, 3, (6.0, 4.0))
    assert grid.shape == (2, 3)
    assert all(panel.figure is figure for panel in grid.ravel())
    assert pyplot.get_fignums() == [figure.number]
