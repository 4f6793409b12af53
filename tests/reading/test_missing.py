"""Missing values: refused with their place, or kept as NaN, alike from every format."""

import io

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

from maxmargin.reading.columns import Roles
from maxmargin.reading.files import DataFileError, MissingValueError
from maxmargin.reading.read import read_roles, read_table

COLUMNS = {
    "kg": [None, 9.0, 0.1],
    "legs": [4, None, 2],
    "colour": [None, "grey", "red"],
    "note": ["good", None, ""],
    "animal": ["cat", "dog", "hen"],
}
CSV = "kg,legs,colour,note,animal\n,4,,good,cat\n9.0,NA,grey,,dog\n0.1,2,red,,hen\n"
FORMS = {
    "csv": lambda folder: io.StringIO(CSV),
    "pandas": lambda folder: pandas.DataFrame(COLUMNS),
    "pandas objects": lambda folder: pandas.DataFrame(COLUMNS, dtype=object),
    "polars": lambda folder: polars.DataFrame(COLUMNS),
    "arrow": lambda folder: pyarrow.table(COLUMNS),
}


def as_parquet(folder):
    pyarrow.parquet.write_table(pyarrow.table(COLUMNS), folder / "table.parquet")
    return folder / "table.parquet"


FORMS["parquet"] = as_parquet


@pytest.mark.parametrize("form", FORMS)
def test_kept_as_nan(form, tmp_path):
    table = read_table(FORMS[form](tmp_path), label="animal", missing="keep", ignore=["note"])
    np.testing.assert_array_equal(table.X, [[np.nan, 4.0], [9.0, np.nan], [0.1, 2.0]])
    colours = table.texts["colour"].tolist()
    assert colours[0] != colours[0]
    assert colours[1:] == ["grey", "red"]


@pytest.mark.parametrize("form", FORMS)
def test_refused_by_name(form, tmp_path):
    for column in ("kg", "legs", "colour"):
        others = [name for name in ("kg", "legs", "colour", "note") if name != column]
        with pytest.raises(MissingValueError) as caught:
            read_table(FORMS[form](tmp_path), label="animal", ignore=others)
        assert caught.value.column == column


@pytest.mark.parametrize("form", FORMS)
def test_a_text_that_is_missing_is_empty(form, tmp_path):
    roles = Roles("animal", prose=["note"], ignore=["kg", "legs", "colour"])
    table = read_roles(FORMS[form](tmp_path), roles)
    assert table.texts["note"].tolist() == ["good", "", ""]
    assert table.asked == {"note": "text"}


@pytest.mark.parametrize("form", FORMS)
def test_what_a_model_expects(form, tmp_path):
    expected = {"legs": "category", "kg": "number", "note": "text"}
    table = read_roles(FORMS[form](tmp_path), Roles(expected=expected, missing=True))
    assert table.feature_names == ("kg",)
    assert list(table.texts) == ["legs", "note"]
    assert [word for word in table.texts["legs"].tolist() if word == word][-1] == "2"


def test_no_value_at_all():
    for source in (io.StringIO("a,y\n,1\n?,2\n"), pandas.DataFrame({"a": [None, None], "y": [1, 2]})):
        with pytest.raises(MissingValueError, match="column 'a': the value is missing in every row"):
            read_table(source, label="y", missing="keep")


def test_words_of_a_category_are_no_gaps():
    table = read_table(io.StringIO("a,y\nNA,1\nred,2\n?,1\n"), label="y")
    assert table.texts["a"].tolist() == ["NA", "red", "?"]


def test_labels_weights_and_ids_must_be_there():
    for text in ("x,y\n1,\n2,a\n", "x,y\n1,nan\n2,a\n"):
        with pytest.raises(DataFileError, match="the label is missing"):
            read_table(io.StringIO(text), label="y", missing="keep")
    with pytest.raises(DataFileError, match="column 'w'"):
        read_table(io.StringIO("x,w,y\n1,,a\n2,1,b\n"), label="y", weight="w", missing="keep")
    with pytest.raises(DataFileError, match="column 'i'"):
        read_table(io.StringIO("x,i,y\n1,,a\n2,1,b\n"), label="y", id="i", missing="keep")


def test_whole_numbers_beside_gaps_are_never_rounded():
    table = pyarrow.table({"x": [2**53 + 1, None], "y": [0, 1]})
    with pytest.raises(DataFileError, match="9007199254740993"):
        read_table(table, label="y", missing="keep")


def test_the_word_for_it():
    with pytest.raises(ValueError, match='missing must be "refuse" or "keep"'):
        read_table(io.StringIO("x,y\n1,2\n"), label="y", missing="drop")
