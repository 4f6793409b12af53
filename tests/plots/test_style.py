"""Colours that are told apart in grey and on any paper; axes in the place of axes."""

import pytest
from matplotlib import pyplot, rcParams
from matplotlib.colors import to_hex

from maxmargin.plots.style import MARKERS, ON_DARK, ON_LIGHT, lightness, many_axes, mixed, palette_of


@pytest.mark.parametrize("classes", [ON_LIGHT, ON_DARK])
def test_classes_differ_in_grey_and_in_shape(classes):
    assert abs(lightness(classes[1]) - lightness(classes[-1])) > 15.0
    assert MARKERS[1] != MARKERS[-1]


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
