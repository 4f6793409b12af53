"""`--set NAME=VALUE` reaches what has no option of its own, and says what there is."""

import json

import pytest

from maxmargin.cli import main

TABLE = "a,b,label\n0,0,low\n2,0,low\n1,1,high\n1,2,high\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(TABLE)
    return str(path)


def test_parameters_reach_the_estimator(table, capsys):
    settings = ["--set", "order=shuffled", "--set", "rate=0.5", "--set", "average=true", "--set", "random_state=3"]
    assert main(["fit", table, "--algorithm", "perceptron", *settings, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["parameters"]
    assert {name: told[name] for name in ("order", "rate", "average", "random_state")} == {
        "order": "shuffled",
        "rate": 0.5,
        "average": True,
        "random_state": 3,
    }


@pytest.mark.parametrize(
    ("algorithm", "estimator"), [("kernel-svm", "KernelSVM"), ("kernel-perceptron", "KernelPerceptron")]
)
def test_kernels_can_be_named_even_where_they_are_linear(algorithm, estimator, table, capsys):
    main(["fit", table, "--algorithm", algorithm, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["algorithm"] == estimator
    assert told["parameters"]["kernel"] == "linear"


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("magic=1", "Perceptron has no parameter 'magic'; it has average, "),
        ("order", "write NAME=VALUE"),
        ("order=sideways", "order='sideways' is not known"),
    ],
)
def test_what_cannot_be_set_is_told(setting, sentence, table, capsys):
    assert main(["fit", table, "--algorithm", "perceptron", "--set", setting]) == 1
    assert sentence in capsys.readouterr().err
