"""`maxmargin verify`: the model predicts by the planes that are proven, and it says of which predictions it speaks."""

from pathlib import Path

import pytest

from maxmargin.cli import main
from maxmargin.persistence import load
from maxmargin.persistence.container import pack
from maxmargin.persistence.model_file import describe

STREET = "a,b,label\n0,0,left\n0,2,left\n3,0,right\n5,1,right\n"
CROSSED = "a,b,label\n1,1,a\n-1,-1,a\n1,-1,b\n-1,1,b\n"


def changed(path, change):
    """The model in a file, changed, in a file that was written around `save`."""
    model = load(path)
    change(model)
    Path(path).write_bytes(pack(*describe(model, None, None)))


@pytest.mark.parametrize("options", [[], ["-t", "2"], ["-c", "inf"], ["--algorithm", "perceptron"]])
def test_verify_refuses_a_model_that_predicts_by_another_plane(options, write, run, fail, tmp_path):
    path, data = str(tmp_path / "model"), [write(STREET), "--label", "label"]
    assert run("fit", *data, "-o", path, *options)[0] == 0

    def turn_round(model):
        name = "coef_" if hasattr(model[-1], "coef_") else "dual_coef_"
        setattr(model[-1], name, -getattr(model[-1], name))

    changed(path, turn_round)
    assert "['right' against 'left']" in (said := fail("verify", path, *data))
    assert "it points the other way" in said
    assert "it points the other way" in fail("predict", path, *data)


def test_verify_goes_through_the_steps(write, run, tmp_path, capsys):
    path, data = str(tmp_path / "model"), [write(STREET), "--label", "label"]
    assert run("fit", *data, "-o", path)[0] == 0

    def move(model):
        model[0].mean_ = model[0].mean_ + 0.01

    changed(path, move)
    assert main(["verify", path, *data]) == 2
    assert "a step was changed after the fit" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "It predicts by the plane of this certificate: 'right' where w.x + b is 0 or more, 'left' where it is"),
        (["-t", "2"], "'right' where w.phi(x) + b is 0 or more"),
        (["--algorithm", "hard-margin", "--set", "on_inseparable=return"], "It predicts by the plane of this"),
    ],
)
def test_verify_says_of_which_predictions_it_speaks(options, sentence, write, run, tmp_path, capsys):
    path, data = str(tmp_path / "model"), [write(STREET), "--label", "label"]
    assert run("fit", *data, "-o", path, *options)[0] == 0
    assert sentence in run("verify", path, *data)[1]["predictions"]
    assert main(["verify", path, *data]) == 0
    assert sentence in " ".join(capsys.readouterr().out.split())


def test_verify_of_many_classes_says_how_they_are_told_apart(flowers, run, tmp_path):
    path = str(tmp_path / "model")
    assert run("fit", *flowers, "-o", path, "-e", "0.01")[0] == 0
    assert "the class whose plane has the largest w.x + b" in run("verify", path, *flowers)[1]["predictions"]
    assert run("fit", *flowers, "-o", path, "-e", "0.01", "--multi-class", "ovo")[0] == 0
    assert "the class that wins most of the pairs" in run("verify", path, *flowers)[1]["predictions"]


def test_verify_does_not_praise_the_plane_of_a_witness(write, run, tmp_path):
    path, data = str(tmp_path / "model"), write(CROSSED)
    options = ["--algorithm", "hard-margin", "--set", "on_inseparable=return"]
    assert run("fit", data, "-o", path, *options)[0] == 3
    code, found = run("verify", path, data)
    assert (code, found["holds"]) == (3, True)
    assert "the proof is about the data, and not about that plane" in found["predictions"]
