"""E. For people: pictures, the page, the command line."""

import numpy as np
import pytest
from mission_points import POINTS, X, Y

from maxmargin import HardMarginSVM, StreetDisplay
from maxmargin.cli import main


def test_E1_python_the_street_is_drawn_where_it_is():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    display = StreetDisplay.from_estimator(HardMarginSVM().fit(X, Y), X, Y)
    drawn = [line.get_ydata() for line in display.ax_.lines if len(line.get_ydata())]
    heights = {round(float(np.mean(y)), 6) for y in drawn if np.ptp(y) < 1e-9}
    pyplot.close(display.figure_)
    assert {0.0, 0.5, 1.0} <= heights


def test_E1_command_a_picture_of_a_model(command, four, tmp_path):
    model, picture = tmp_path / "m.maxmargin", tmp_path / "m.png"
    command("fit", four, "--algorithm", "hard-margin", "--scale", "none", "-o", model)
    assert main(["plot", str(model), four, "-o", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_E1_page_the_street_is_drawn_where_it_is(page):
    lines = page("answer", POINTS, "hard_margin")["lines"]
    heights = [lines[name][0][0][1] for name in ("minus", "zero", "plus")]
    assert heights == pytest.approx([0.0, 0.5, 1.0])


def test_E2_page_every_step_with_its_arithmetic(page):
    steps = page("steps", POINTS, "perceptron")
    assert steps["total"] == 5
    w = np.zeros(2)
    for step in steps["steps"]:
        w = w + step["sign"] * X[step["row"]]
        assert step["w"] == pytest.approx(w.tolist())
        assert step["arithmetic"]


def test_E3_command_every_job_on_files(command, four, tmp_path):
    model = tmp_path / "m.maxmargin"
    command("fit", four, "--scale", "none", "-o", model)
    told = command("predict", model, four)
    assert told["accuracy"] == 1.0
    assert command("verify", model, four)["holds"] is True  # the model remembers which column is the label
    assert command("audit", model, four)
