"""The page on the command line: its commands and options exist, and its lines run as they stand, on files such as it
speaks of."""

import re
import shlex
from pathlib import Path

import duckdb
import pytest
from typer.main import get_command

from maxmargin.cli import main
from maxmargin.cli.app import app

PAGE = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text()
EXAMPLES = [
    line.strip().partition("#")[0].strip() for line in re.findall(r"^    (?:.*&& )?(maxmargin .*)$", PAGE, re.M)
]
ROWS = "a,b,y\n0,0,left\n0,2,left\n3,0,right\n5,1,right\n"
CARS = [
    "plate,kg,doors,colour,price", "a1,900,3,red,low", "a2,1000,5,red,low", "a3,950,3,blue,low",
    "b1,1800,5,blue,high", "b2,2100,5,grey,high", "b3,1900,3,grey,high",
]  # fmt: skip
WINES = ["review,good", "lovely and deep,yes", "fresh and lovely,yes", "thin and sour,no", "sour,no"]


@pytest.mark.parametrize("line", EXAMPLES)
def test_every_option_of_an_example_exists(line):
    _, name, *words = shlex.split(line)
    command = get_command(app).commands[name]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known


def test_every_command_has_its_line():
    for name in get_command(app).commands:
        assert re.search(rf"`{name}\b", PAGE), name


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


def test_the_examples_of_rows_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(ROWS)
    assert main(["fit", "data.csv", "-c", "0.1", "-o", "model"]) == 0
    for words in lines_of("Rows beside the planes"):
        assert main(words) == 0
    assert (tmp_path / "support.csv").read_text().count("\n") == 5


@pytest.mark.parametrize(
    "section", ["Probabilities", "Rows that move, rows that are left out", "A plane from anywhere", "To learn by"]
)
def test_the_examples_of_a_section_run(section, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(ROWS)
    assert main(["fit", "data.csv", "--scale", "none", "-o", "model"]) == 0
    lines = [words for line in lines_of(section) for words in commands_in(line)]
    assert len(lines) >= 2
    for words in lines:
        assert main(words) == 0


def commands_in(words):
    """The commands of a line, which && joins."""
    text = " ".join(map(shlex.quote, words)).replace("'&&'", "&&")
    return [shlex.split(part.strip().removeprefix("maxmargin ")) for part in text.split("&&")]


def lines_of(section):
    """The commands of a section, without what is said about them."""
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^    maxmargin (.*)$", text, re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cars.csv").write_text("\n".join(CARS) + "\n")
    Path("wines.csv").write_text("\n".join(WINES) + "\n")
    with duckdb.connect("cars.duckdb") as connection:
        connection.execute("CREATE TABLE cars AS SELECT * EXCLUDE (plate) FROM read_csv('cars.csv')")
        connection.execute("CREATE TABLE new_cars AS SELECT * EXCLUDE (price) FROM read_csv('cars.csv')")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("section", ["Categories, text and missing cells", "Databases"])
def test_the_lines_of_a_section_run(section):
    lines = lines_of(section)
    assert len(lines) > 1
    for line in lines:
        assert main(line) == 0, line
