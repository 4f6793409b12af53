"""pyarrow reads what Python reads: the same cells to the bit, and the same sentence where a file is refused."""

import random

import numpy as np
import pytest

from maxmargin.reading import csv as by_python
from maxmargin.reading.columns import Roles
from maxmargin.reading.csv import read_csv_columns
from maxmargin.reading.files import DataFileError

PLAIN_NUMBERS = [
    "0",
    "1.5",
    "-2e-3",
    "1e308",
    "4.9e-324",
    "0.1",
    "123456789012345678901234567890",
    " 7",
    "8 ",
    ".5",
    "5.",
]
ODD_NUMBERS = [
    "+1",
    "1_0",
    "nan",
    "inf",
    "1e999",
    "1e-999",
    "",
    "?",
    "NA",
    "0x10",
    "\u0661",
    "1,5",
    '"3"',
    "1d5",
    "- 1",
]
WORDS = ["cat", "dog", " dog", '"a b"', '"c,d"', "\u00e9t\u00e9", "x-y"]
ODD_WORDS = ["", "NA", "7", '"a""b"', '"a"b', 'a"b', '"two\nlines"', "#", "nan"]
ROLES = [
    Roles("kind"),
    Roles("kind", weight="w", id="name"),
    Roles("kind", missing=True),
    Roles("kind", id="name", categorical=("b",), texts=True, missing=True),
    Roles("kind", ignore=("name", "colour"), texts=False),
    Roles(None, usual_label=False, weight="w"),
]


def made_file(rng):
    """A small CSV file, most of whose cells are plain."""
    oddity = rng.choice([0.0, 0.0, 0.01, 0.1])

    def number():
        return rng.choice(ODD_NUMBERS) if rng.random() < oddity else rng.choice([*PLAIN_NUMBERS, repr(rng.gauss(0, 1))])

    def word():
        return rng.choice(ODD_WORDS) if rng.random() < oddity else rng.choice(WORDS)

    mark = rng.choice([",", ",", ";", "\t"])
    end = rng.choice(["\n", "\n", "\r\n"])
    header = mark.join(["a", "b", "colour", "w", "name", "kind"])
    rows = [mark.join([number(), number(), word(), rng.choice(["1", "2.5", "0"]), word(), word()]) for _ in range(9)]
    lines = [header, *rows]
    for _ in range(rng.choice([0, 0, 0, 1])):
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(["", "  ", "1,2", '"']))
    text = end.join(lines) + rng.choice([end, "", end + end])
    if rng.random() < 0.05:
        text = text.replace("\n", "\r", 1)
    return text.encode() if rng.random() < 0.97 else text.encode("latin-1", "replace")


def answer_of(path, roles):
    try:
        table = read_csv_columns(path, roles)
    except DataFileError as error:
        return type(error), str(error)
    return [
        table.X.tobytes(),
        table.X.shape,
        None if table.y is None else (table.y.dtype, table.y.tolist()),
        table.lines.tolist(),
        None if table.weights is None else table.weights.tolist(),
        None if table.ids is None else table.ids.tolist(),
        {name: [str(word) for word in words] for name, words in table.texts.items()},
        table.asked,
        table.feature_names,
    ]


@pytest.fixture
def read_by_pyarrow(monkeypatch):
    """Small files go to pyarrow too, in pieces of a few lines; how many of them it read to the end."""
    monkeypatch.setattr(by_python, "WORTH_IT", 0)
    monkeypatch.setattr("maxmargin.reading.files.PIECE", 100)
    ended = []
    reading = by_python.cells_by_pyarrow

    def counted(source, layout):
        cells = reading(source, layout)
        ended.append(cells is not None)
        return cells

    monkeypatch.setattr(by_python, "cells_by_pyarrow", counted)
    return ended


def test_same_cells_and_same_sentences(tmp_path, monkeypatch, read_by_pyarrow):
    rng = random.Random(0)
    path = tmp_path / "t.csv"
    refused = 0
    for _ in range(600):
        path.write_bytes(made_file(rng))
        roles = rng.choice(ROLES)
        found = answer_of(path, roles)
        with monkeypatch.context() as python:
            python.setattr(by_python, "WORTH_IT", 2**60)
            assert answer_of(path, roles) == found, path.read_bytes()
        refused += isinstance(found, tuple)
    assert sum(read_by_pyarrow) > 160
    assert refused > 160


def test_numbers_have_the_same_bits(tmp_path, read_by_pyarrow):
    rng = np.random.default_rng(0)
    numbers = np.frombuffer(rng.bytes(8 * 4000), dtype=np.float64).reshape(-1, 4)
    numbers = numbers[np.isfinite(numbers).all(axis=1)]
    rows = [",".join([*map(repr, row), "yes"]) for row in numbers.tolist()]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,c,d,label", *rows]) + "\n")
    assert read_csv_columns(path, Roles("label")).X.tobytes() == numbers.tobytes()
    assert read_by_pyarrow == [True]


def test_a_wrong_cell_far_down_is_named(tmp_path):
    lines = ["a,label", *["0.123456789,cat"] * 100_000]
    lines[90_000] = "1;5,cat"
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    assert by_python.is_for_pyarrow(path)
    with pytest.raises(DataFileError, match=r"line 90001, column 'a': '1;5' is not a number"):
        read_csv_columns(path, Roles("label"))


def test_a_header_that_ends_with_a_return_alone_loses_no_row(tmp_path, read_by_pyarrow):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,label\r1,x\n2,y\n3,x\n")
    assert read_csv_columns(path, Roles("label")).X.tolist() == [[1.0], [2.0], [3.0]]
    assert read_by_pyarrow == [False]
