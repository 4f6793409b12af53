"""The command lines of the document about the command line run as they stand, on files such as it speaks of."""

import re
import shlex
from pathlib import Path

import duckdb
import pytest

from maxmargin.cli import main

DOCUMENT = Path(__file__).parents[2] / "docs" / "command_line.md"
CARS = [
    "plate,kg,doors,colour,price", "a1,900,3,red,low", "a2,1000,5,red,low", "a3,950,3,blue,low",
    "b1,1800,5,blue,high", "b2,2100,5,grey,high", "b3,1900,3,grey,high",
]  # fmt: skip
WINES = ["review,good", "lovely and deep,yes", "fresh and lovely,yes", "thin and sour,no", "sour,no"]


def lines_of(section):
    """The commands of a section, without what is said about them."""
    text = DOCUMENT.read_text().partition(f"\n## {section}\n")[2].partition("\n## ")[0]
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
