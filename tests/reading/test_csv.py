"""CSV files: read exactly, or refused with the place."""

import bz2
import contextlib
import csv
import gzip
import io
import lzma
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.reading.csv import read_csv
from maxmargin.reading.files import LINES_AT_A_TIME, DataFileError

GOOD = "height,width,label\n1.5,2,cat\n3,-4e-3,dog\n"


def read(text, **options):
    return read_csv(io.StringIO(text) if isinstance(text, str) else io.BytesIO(text), **options)


def refusal(text, **options):
    with pytest.raises(DataFileError) as caught:
        read(text, **options)
    return caught.value


def test_a_plain_table():
    table = read(GOOD)
    assert table.X.tolist() == [[1.5, 2.0], [3.0, -0.004]]
    assert table.X.dtype == np.float64
    assert table.y.tolist() == ["cat", "dog"]
    assert table.feature_names == ("height", "width")
    assert table.label_name == "label"
    assert table.lines.tolist() == [2, 3]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_recognised(delimiter):
    assert read(GOOD.replace(",", delimiter)).X.shape == (2, 2)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_ends_of_lines(end):
    table = read(GOOD.replace("\n", end).encode())
    assert table.y.tolist() == ["cat", "dog"]
    assert table.lines.tolist() == [2, 3]


def test_a_byte_order_mark_is_no_part_of_the_first_name():
    assert read(GOOD.encode("utf-8-sig")).feature_names == ("height", "width")
    assert read("\ufeff" + GOOD).feature_names == ("height", "width")


def test_empty_lines_are_skipped_and_counted():
    table = read("\n\nx,y\n\n1,a\n   \n2,b\n\n")
    assert table.lines.tolist() == [5, 7]


def test_quotes_hide_delimiters_and_ends_of_lines():
    table = read('"a, the first",label\n1,"one\nline more"\n"2","say ""b"""\n')
    assert table.feature_names == ("a, the first",)
    assert table.y.tolist() == ["one\nline more", 'say "b"']
    assert table.lines.tolist() == [2, 4]


def test_a_path_and_compressed_files(tmp_path):
    for suffix, compress in {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.items():
        path = tmp_path / f"data.csv{suffix}"
        path.write_bytes(compress(GOOD.encode()))
        assert read_csv(path).y.tolist() == ["cat", "dog"]
        assert read_csv(str(path)).X.shape == (2, 2)


def test_the_file_is_named(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("height,label\nabc,a\n")
    with pytest.raises(DataFileError) as caught:
        read_csv(path)
    assert str(caught.value) == f"{path}, line 2, column 'height': 'abc' is not a number"
    assert (caught.value.line, caught.value.column) == (2, "height")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_missing_file_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_csv(tmp_path / "nothing.csv")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1", "-1"], [1, -1]),
        (["+1", "1.0"], [1, 1]),
        (["1e0", "0"], [1, 0]),
        ([" 007 ", "7"], ["007", "7"]),
        (["010", "-1"], ["010", "-1"]),
        (["0", "-0", "0.0"], [0, 0, 0]),
        (["1", "a"], ["1", "a"]),
        (["0.5", "1"], ["0.5", "1"]),
        (["99999999999999999999", "1"], ["99999999999999999999", "1"]),
        (["1_0", "2"], ["1_0", "2"]),
        (["inf", "1"], ["inf", "1"]),
    ],
)
def test_labels_are_whole_numbers_or_strings(labels, expected):
    y = read("x,label\n" + "".join(f"1,{label}\n" for label in labels)).y
    assert y.tolist() == expected


@pytest.mark.parametrize("name", ["label", "y", "target", "class", "Label", " CLASS "])
def test_the_label_column_by_its_usual_names(name):
    assert read(f"a,{name},b\n1,x,2\n").X.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("options", "y", "names"),
    [
        ({"label": "a"}, [1], ("b", "y")),
        ({"label": 0}, [1], ("b", "y")),
        ({"label": -1}, [3], ("a", "b")),
        ({}, [3], ("a", "b")),
    ],
)
def test_the_label_column_by_name_or_index(options, y, names):
    table = read("a,b,y\n1,2,3\n", **options)
    assert (table.y.tolist(), table.feature_names) == (y, names)


def test_without_a_header():
    table = read("1,2,a\n3,4,b\n", header=False, label=2)
    assert table.X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert table.feature_names == ("x0", "x1")
    assert table.label_name == "column 2"
    assert table.lines.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "line", "column", "part"),
    [
        ("", None, None, "the file is empty"),
        ("\n \n", None, None, "the file is empty"),
        ("x\n1\n", 1, None, "one column only"),
        ("x,label\n", 1, None, "no row of data"),
        ("a,b\n1,2\n", 1, None, "0 'a', 1 'b'"),
        ("x,y,label\n1,2,3\n", 1, None, "'y' and 'label' could each be"),
        ("x,label\nabc,a\n", 2, "x", "'abc' is not a number"),
        ("x,label\n1,a\n\n,b\n", 4, "x", "the cell is empty"),
        ("x,label\n1,a\n2,\n", 3, "label", "the label is missing"),
        ("x,label\n1,NaN\n", 2, "label", "the label is missing"),
        ("x,label\nnan,a\n", 2, "x", "NaN"),
        ("x,label\n1,a\n-inf,a\n", 3, "x", "infinite"),
        ("x,label\n1e999,a\n", 2, "x", "too large"),
        ("x,label\n1_000,a\n", 2, "x", "'1_000' is not a number"),
        ("x;label\n1,5;a\n", 2, "x", "write a decimal point"),
        ("x,label\n1,a\n1,2,b\n", 3, None, "3 cells, where the first line has 2"),
        ("x,label\n1\n", 2, None, "1 cell, where"),
        ('x,label\n1,a\n2,"b\n3,c\n', 3, None, "never closed"),
        ('x,label\n1,"a"b\n', 2, None, "after a closing quote"),
        ("x,label\n1," + "a" * 200_000 + "\n", 2, None, "131,072 characters"),
        ("x,label\n" + "z" * 500 + ",a\n", 2, "x", "zzz...'"),
        (",x,label\n0,1,a\n", 1, 0, "no name in the header"),
        ("5.1,3.5,1\n4.9,3.0,0\n", 1, None, "is there no header?"),
        (b"x,label\n1,\x00\n", 2, None, "NUL byte"),
        (b"x,label\n1,caf\xe9\n", 2, None, "byte 0xe9 at position 5 is not UTF-8"),
        (GOOD.encode("utf-16"), None, None, "UTF-16"),
        (b"PK\x03\x04rest", None, None, "spreadsheet"),
        (b"PAR1rest", None, None, "Parquet"),
        (gzip.compress(GOOD.encode() * 9, mtime=0)[:-12], None, None, "damaged"),
        (gzip.compress(GOOD.encode(), mtime=0)[:12] + b"#######", None, None, "damaged"),
        (bz2.compress(GOOD.encode())[:9] + b"#######", None, None, "damaged"),
        (lzma.compress(GOOD.encode())[:20], None, None, "damaged"),
    ],
)
def test_refusals_name_the_place(text, line, column, part):
    error = refusal(text)
    assert part in str(error)
    assert "\n" not in str(error)
    if line is not None:
        assert (error.line, error.column) == (line, column)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"label": "colour"}, "no column is called 'colour'"),
        ({"label": "a"}, "2 columns are called 'a'"),
        ({"label": 3}, "count from 0 to 2"),
        ({"label": -4}, "count from 0 to 2"),
        ({"header": False}, "give its index"),
        ({"header": False, "label": "a"}, "has no name 'a'"),
    ],
)
def test_a_label_column_that_cannot_be_told(options, part):
    assert part in str(refusal("a,a,y\n1,2,3\n", **options))


def test_a_first_row_is_not_lost_as_a_header():
    assert "looks like a row of data" in str(refusal("5.1,3.5,a\n4.9,3.0,a\n", label=2))
    assert read("2019,2020,class\n1,2,a\n").feature_names == ("2019", "2020")


def test_places_without_a_header_are_counted_from_zero():
    error = refusal("1,2,a\n3,z,b\n", header=False, label=2)
    assert str(error) == "the data, line 2, column 1 (counted from 0): 'z' is not a number"


def test_many_columns_are_not_all_listed():
    names = ",".join(f"c{i}" for i in range(100))
    assert "and 80 more" in str(refusal(names + "\n" + names + "\n"))


@given(
    st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.integers(-3, 3)), min_size=1, max_size=20)
)
def test_numbers_are_read_exactly(rows):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["x", "label"])
    writer.writerows([(repr(value), label) for value, label in rows])
    table = read(text.getvalue())
    assert table.X[:, 0].tolist() == [value for value, _ in rows]
    assert table.y.tolist() == [label for _, label in rows]


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(raw):
    with contextlib.suppress(DataFileError):
        table = read(raw)
        assert np.isfinite(table.X).all()
        assert table.X.shape[0] == len(table.y) == len(table.lines)


@pytest.mark.parametrize("rows", [3, LINES_AT_A_TIME - 2, LINES_AT_A_TIME, LINES_AT_A_TIME + 2])
def test_what_is_wrong_first_is_told_first(rows):
    """Lines come some at a time: one that is no text does not hide a cell before it, wherever the two stand."""
    good, bad_cell, no_text = b"1,2,u\n" * rows, b"1,x,u\n", b"1,\xff,u\n"
    with pytest.raises(DataFileError, match="'x' is not a number") as told:
        read_csv(io.BytesIO(b"a,b,y\n" + good + bad_cell + no_text), label="y")
    assert told.value.line == rows + 2
    with pytest.raises(DataFileError, match="is not UTF-8") as told:
        read_csv(io.BytesIO(b"a,b,y\n" + good + no_text + bad_cell), label="y")
    assert told.value.line == rows + 2
    assert read_csv(io.BytesIO(b"a,b,y\n" + good + b"3,4,v"), label="y").X.shape == (rows + 1, 2)
