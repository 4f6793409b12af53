"""A cell comes from the place that its name says: the same table through every door, or a refusal that names both."""

import io
import itertools
import sqlite3
import zipfile
from contextlib import nullcontext

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maxmargin import LinearSVM
from maxmargin.reading.files import DataFileError
from maxmargin.reading.read import read_table

NAMES = st.sampled_from(["a", "A", "b", "a.b", "a b", "x0", "x1", "y", "0", "1", "-1", "\u00e9", "e\u0301", "id"])


def as_csv(names, columns):
    text = io.StringIO()
    pandas.DataFrame(dict(enumerate(columns))).to_csv(text, index=False, header=names)
    return io.StringIO(text.getvalue())


def as_arrow(names, columns):
    return pyarrow.Table.from_arrays([pyarrow.array(column) for column in columns], names=names)


def as_parquet(names, columns):
    stream = io.BytesIO()
    pyarrow.parquet.write_table(as_arrow(names, columns), stream)
    return io.BytesIO(stream.getvalue())


def as_feather(names, columns):
    stream = io.BytesIO()
    pyarrow.feather.write_feather(as_arrow(names, columns), stream)
    return io.BytesIO(stream.getvalue())


def as_pandas(names, columns):
    frame = pandas.DataFrame(dict(enumerate(columns)))
    frame.columns = names
    return frame


def as_polars(names, columns):
    return polars.DataFrame(dict(zip(names, columns, strict=True)))


def as_fields(names, columns):
    rows = list(zip(*columns, strict=True))
    return np.array(rows, [(name, np.array(column).dtype) for name, column in zip(names, columns, strict=True)])


def as_npz(names, columns):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, column in zip(names, columns, strict=True):
            array = io.BytesIO()
            np.save(array, np.array(column))
            archive.writestr(f"{name}.npy", array.getvalue())
    return io.BytesIO(stream.getvalue())


FORMS = [as_csv, as_arrow, as_parquet, as_feather, as_pandas, as_polars, as_fields, as_npz]
FORMATS = {as_csv: "csv"}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(NAMES, min_size=2, max_size=5), st.data())
def test_the_same_values_by_name_or_a_refusal(names, data):
    names = data.draw(st.permutations([*names, "label"]))
    numbers = {place: [10.0 * place + row for row in range(3)] for place in range(len(names))}
    columns = [["u", "v", "u"] if name == "label" else numbers[place] for place, name in enumerate(names)]
    has_twins = len(set(names)) < len(names)
    for form in FORMS:
        if has_twins and form in (as_polars, as_fields):
            continue  # they cannot be made
        if has_twins:
            with pytest.warns(UserWarning, match="Duplicate name") if form is as_npz else nullcontext():
                source = form(names, columns)
            with pytest.raises(DataFileError, match=r"(columns|arrays) are called") as caught:
                read_table(source, label="label", format=FORMATS.get(form, "auto"))
            twin = next(name for place, name in enumerate(names) if name in names[:place])
            places = [place for place, name in enumerate(names) if name == twin]
            assert form is as_npz or f"{places[0]} and {places[1]} (counted from 0)" in str(caught.value)
            continue
        table = read_table(form(names, columns), label="label", format=FORMATS.get(form, "auto"))
        assert table.y.tolist() == ["u", "v", "u"]
        found = dict(zip(table.feature_names, table.X.T.tolist(), strict=True))
        assert found == {name: numbers[place] for place, name in enumerate(names) if name != "label"}, form.__name__


@pytest.mark.parametrize("form", [as_csv, as_arrow, as_parquet, as_feather, as_pandas])
def test_one_of_two_can_be_ignored_by_its_index(form):
    names, columns = ["a", "a", "label"], [[1.0, 2.0], [3.0, 4.0], ["u", "v"]]
    for ignored, kept in ((0, [3.0, 4.0]), (1, [1.0, 2.0])):
        table = read_table(form(names, columns), label="label", ignore=[ignored])
        assert table.X[:, 0].tolist() == kept
    with pytest.raises(DataFileError, match=r"2 columns are called 'a'\. Say which one"):
        read_table(form(names, columns), label="label", ignore=["a"])


def test_names_of_data_frames_that_are_no_text():
    frame = pandas.DataFrame([[1, 2, 0], [3, 4, 1]], columns=[0, "0", "y"])
    with pytest.raises(DataFileError, match="2 columns are called '0': 0 and 1"):
        read_table(frame, label="y")
    frame.columns = pandas.Index([1, True, "y"], dtype=object)  # which are one name to pandas
    assert read_table(frame, label="y").X.tolist() == [[1, 2], [3, 4]]
    frame.columns = pandas.MultiIndex.from_tuples([("a", "b"), ("a", "c"), ("y", "")])
    assert read_table(frame, label=-1).feature_names == ("('a', 'b')", "('a', 'c')")
    frame.columns = pandas.MultiIndex.from_tuples([("a", "b"), ("a", "b"), ("y", "")])
    with pytest.raises(DataFileError, match="0 and 1"):
        read_table(frame, label=-1)


def test_an_estimator_refuses_them_too():
    frame = pandas.DataFrame([[0.0, 1.0], [3.0, 4.0]], columns=["a", "a"])
    with pytest.raises(ValueError, match=r"2 columns of X are called 'a': 0 and 1 \(counted from 0\)"):
        LinearSVM().fit(frame, [0, 1])
    model = LinearSVM().fit(frame.to_numpy(), [0, 1])
    with pytest.raises(ValueError, match="2 columns of X are called 'a'"):
        model.predict(frame)


def test_arrays_of_an_archive(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.arange(6.0).reshape(3, 2), X1=np.arange(3.0), y=[0, 1, 0], note=np.arange(5))
    with pytest.raises(DataFileError, match="2 columns are called 'X1': 1 and 2"):
        read_table(tmp_path / "t.npz", label="y", ignore=["note"])
    np.savez(tmp_path / "t.npz", X=np.arange(6.0).reshape(3, 2), y=[0, 1, 0], note=np.arange(5))
    table = read_table(tmp_path / "t.npz", label="y", ignore=["note", "X0"])
    assert (table.feature_names, table.X.tolist()) == (("X1",), [[1.0], [3.0], [5.0]])
    with pytest.raises(DataFileError, match="no column is called 'nota'"):
        read_table(tmp_path / "t.npz", label="y", ignore=["note", "nota"])
    with pytest.raises(DataFileError, match="without 'note', which is ignored, the columns count otherwise"):
        read_table(tmp_path / "t.npz", label=2, ignore=["note"])


def test_columns_of_a_query():
    with sqlite3.connect(":memory:") as database:
        with pytest.raises(DataFileError, match="2 columns are called 'a': 0 and 1"):
            read_table("SELECT 1 AS a, 2 AS a, 'u' AS y", label="y", database=database)
        query = "SELECT 9007199254740993 AS key, 1 AS a, 'u' AS y UNION SELECT 2, 2, 'v'"
        assert sorted(read_table(query, label="y", id="key", database=database).ids.tolist()) == [2, 2**53 + 1]
        with pytest.raises(DataFileError, match="9007199254740993 is more than float64 can hold exactly"):
            read_table(query, label="y", database=database)
        labels = "SELECT 1.5 AS a, 9007199254740993 AS y UNION SELECT 2.5, 9007199254740992"
        assert set(read_table(labels, label="y", database=database).y.tolist()) == {2**53, 2**53 + 1}
    database.close()


def test_ids_are_as_they_are():
    ids = [["007", "7"], [2**62, 7], [0.5, 7.0], [True, False]]
    kept = [["007", "7"], [2**62, 7], ["0.5", "7.0"], [True, False]]
    for form, (given_ids, expected) in itertools.product(FORMS[1:6], zip(ids, kept, strict=True)):
        table = read_table(form(["id", "a", "y"], [given_ids, [1.0, 2.0], ["u", "v"]]), label="y", id="id")
        assert (table.ids.tolist(), table.id_name) == (expected, "id")
    decimals = pyarrow.array([12345678901234567890, 7], pyarrow.decimal128(20, 0))
    table = read_table(pyarrow.table({"id": decimals, "a": [1.0, 2.0]}), label=None, id="id")
    assert table.ids.tolist() == ["12345678901234567890", "7"]
    with pytest.raises(DataFileError, match="the id is missing"):
        read_table(pyarrow.table({"id": ["a", None], "a": [1.0, 2.0]}), label=None, id="id")
