"""`maxmargin program`, `exercise` and `lagrange`: the texts, the grades and the numbers of the lecture notes."""

import json

import numpy as np
import pytest

from maxmargin import LinearSVM, exercise, exercises, program
from maxmargin.cli import main
from maxmargin.cli.teaching import listed

STREET = "a,b,label\n0,0,left\n0,2,left\n3,0,right\n5,1,right\n"


def test_a_program_is_that_of_python_and_runs(capsys, tmp_path):
    assert main(["program", "hard-margin"]) == 0
    assert capsys.readouterr().out == program("hard margin") + "\n"
    path = tmp_path / "soft.py"
    assert main(["program", "soft-margin", "--dual", "-c", "4", "--no-bias", "-o", str(path)]) == 0
    assert path.read_text() == program("soft margin", "dual", C=4.0, fit_intercept=False) + "\n"
    left = {"X": np.array([[0.0, 1], [0, 2], [3, 0], [5, 1]]), "y": np.array([-1.0, -1, 1, 1])}
    exec(compile(path.read_text(), "soft.py", "exec"), left)
    svm = LinearSVM(C=4, fit_intercept=False, tol=1e-8).fit(left["X"], left["y"])
    assert left["w"] == pytest.approx(svm.coef_[0], abs=1e-4)


def test_a_kernel_and_a_model(write, run, fail, tmp_path):
    _, found = run("program", "soft-margin", "--dual", "-t", "rbf", "-g", "0.5")
    assert (found["form"], found["program"]) == ("dual", program("soft margin", "dual", kernel="rbf", gamma=0.5))
    path = str(tmp_path / "model")
    assert run("fit", write(STREET), "-c", "7", "-o", path)[0] == 0
    assert "C = 7.0" in run("program", path)[1]["program"]
    assert "a LinearSVM brings its own C" in fail("program", path, "-c", "4")
    assert "the hard margin has no price" in fail("program", "hard-margin", "-c", "4")
    assert "ask for form" in fail("program", "soft-margin", "-t", "rbf")
    assert "'medium-margin' is neither hard-margin nor soft-margin, nor a model file" in fail(
        "program", "medium-margin"
    )


def test_exercises_are_listed_and_shown(capsys, run):
    assert main(["exercise"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(exercises()) >= 17
    assert main(["exercise", "9"]) == 0
    assert capsys.readouterr().out == str(exercise("widest street")) + "\n"
    _, found = run("exercise", "widest street", "--seed", "3")
    assert found == json.loads(json.dumps(exercise("widest street", 3).to_dict()))
    assert [one["name"] for one in run("exercise")[1]["exercises"]] == [one.name for one in exercises()]


def test_an_answer_is_graded(run, capsys):
    code, found = run("exercise", "one variable", "-a", "x=5", "-a", "a=1")
    assert (code, found["right"], found["lower"], found["upper"]) == (0, True, 1.0, 1.0)
    assert main(["exercise", "one variable", "--answer", "x=5", "--answer", "a=1/2"]) == 2
    assert capsys.readouterr().out == str(exercise("one variable").check(x=5, a="1/2")) + "\n"
    code, found = run("exercise", "one variable", "-a", '{"x": 5, "a": 1}')
    assert (code, found["right"]) == (0, True)


def test_a_list_of_numbers(run):
    task = exercise("no plane")
    (field,) = task.fields
    assert run("exercise", "no plane", "-a", f"{field.name}=3,3,0,0,1,1")[1]["right"] is True
    assert run("exercise", "17", "-a", f"{field.name}=1,1,0,0,0,1")[1]["right"] is False


def test_nonsense_is_a_sentence(fail, run):
    assert "there is no exercise 'moon'" in fail("exercise", "moon")
    assert "write NAME=VALUE" in fail("exercise", "one variable", "-a", "5")
    assert "x is given twice" in fail("exercise", "one variable", "-a", "x=5", "-a", "x=6")
    assert "begins as JSON, and is none" in fail("exercise", "one variable", "-a", "{x: 5")
    assert "--answer is to one exercise" in fail("exercise", "-a", "x=5")
    code, found = run("exercise", "one variable", "-a", "x=five", "-a", "a=1")
    assert (code, found["failures"][0]["condition"]) == (2, "form of the answer")


@pytest.mark.parametrize(
    ("text", "depth", "found"), [("2/3", 0, "2/3"), ("[1, 2]", 1, ["1", "2"]), ("1,2;3,4", 2, [["1", "2"], ["3", "4"]])]
)
def test_lists_as_they_are_typed(text, depth, found):
    assert listed(text, depth) == found


def test_both_values_of_the_notes(run, capsys):
    _, found = run("lagrange")
    binding, free = found["problems"]
    assert binding["saddle"] == {"x": 5.0, "a": 1.0, "value": 1.0}
    assert (free["saddle"]["x"], free["saddle"]["a"], free["binds"]) == (2.5, 0.0, False)
    assert main(["lagrange"]) == 0
    shown = capsys.readouterr().out
    assert "saddle: x = 5, multiplier a = 1, f(x) = g(a) = 1" in shown
    assert "saddle: x = 2.5, multiplier a = 0, f(x) = g(a) = -0.25" in shown


def test_a_point_and_a_price_of_ones_own(run, capsys):
    _, found = run("lagrange", "--c", "5", "--x", "6.5", "--a", "0.5")
    (one,) = found["problems"]
    assert (one["lower"], one["upper"]) == (pytest.approx(0.6875), pytest.approx(2.95))
    assert one["conditions"]["stationarity"] == pytest.approx(1.1)
    assert main(["lagrange", "--c", "5", "--x", "4", "--a", "-1"]) == 0
    shown = capsys.readouterr().out
    assert "the optimum lies in [-inf, inf]" in shown
    assert "primal by 1, dual by 1" in shown


def test_the_saddle_as_a_picture(tmp_path, capsys, fail):
    path = tmp_path / "saddle.png"
    assert main(["lagrange", "--c", "5", "-o", str(path)]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    capsys.readouterr()
    assert "the name must end in" in fail("lagrange", "-o", str(tmp_path / "saddle.txt"))
    assert "p must be positive" in fail("lagrange", "--p", "-1")
