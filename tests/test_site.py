"""The scripts of the gallery, which `make docs` runs for the site: what breaks one is noticed where it is made."""

import runpy
from pathlib import Path

import matplotlib
import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_draws(script):
    matplotlib.use("Agg")
    from matplotlib import pyplot

    try:
        runpy.run_path(str(script))
        assert pyplot.get_fignums()
    finally:
        pyplot.close("all")


def test_there_is_a_gallery():
    assert len(SCRIPTS) >= 20
