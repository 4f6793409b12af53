"""Pictures are drawn without a screen, and closed."""

import matplotlib
import pytest

matplotlib.use("Agg")

from matplotlib import pyplot


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(params=["default", "dark_background"])
def style(request):
    """Light and dark paper."""
    with pyplot.style.context(request.param):
        yield request.param
