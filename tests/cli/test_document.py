"""The page on the command line: its commands and options exist, and the examples of a fit run as they stand."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from maxmargin.cli import main
from maxmargin.cli.app import app

PAGE = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text()
EXAMPLES = [
    line.strip().partition("#")[0].strip() for line in re.findall(r"^    (?:.*&& )?(maxmargin .*)$", PAGE, re.M)
]
ROWS = "a,b,y\n0,0,left\n0,2,left\n3,0,right\n5,1,right\n"


@pytest.mark.parametrize("line", EXAMPLES)
def test_every_option_of_an_example_exists(line):
    _, name, *words = shlex.split(line)
    command = get_command(app).commands[name]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known


def test_every_command_has_its_line():
    for name in get_command(app).commands:
        assert f"`{name}" in PAGE or f"`{name}`" in PAGE


def test_the_example_of_long_work_runs_and_runs_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.svm").write_text("-1 1:0 2:0\n-1 2:2\n1 1:3\n1 1:5 2:1\n")
    (line,) = [line for line in EXAMPLES if "--checkpoint" in line]
    for _ in range(2):
        assert main(shlex.split(line)[1:]) == 0
    assert "refused" not in capsys.readouterr().err
    assert (tmp_path / "model").exists()
    assert (tmp_path / "run").exists()


@pytest.mark.parametrize("line", [line for line in EXAMPLES if "fit data.csv" in line and "spam" not in line])
def test_the_examples_of_a_fit_run(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(ROWS)
    assert main(shlex.split(line)[1:]) == 0
