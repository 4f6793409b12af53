"""One door for every format: the same table comes out of each, and nothing is guessed."""

import gzip
import io
import sys
from datetime import date
from decimal import Decimal

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse as sparse
from random_sparse import random_sparse

from maxmargin.reading.files import DataFileError
from maxmargin.reading.frames import few_words
from maxmargin.reading.read import read_table

COLUMNS = {
    "kg": [3.5, 9.0, 0.1],
    "legs": [4, 4, 2],
    "colour": ["red", "grey", "red"],
    "tag": ["a7", "b3", "c1"],
    "trust": [1.0, 0.5, 2.0],
    "seen": [2019, 2020, 2021],
    "animal": ["cat", "dog", "hen"],
}
ASKED = {"label": "animal", "weight": "trust", "id": "tag", "ignore": ["seen"]}


def as_csv(folder):
    path = folder / "table.csv"
    pandas.DataFrame(COLUMNS).to_csv(path, index=False)
    return path


def as_gzipped_tsv(folder):
    path = folder / "table.tsv.gz"
    pandas.DataFrame(COLUMNS).to_csv(path, index=False, sep="\t")
    return path


def as_open_text(folder):
    return io.StringIO(as_csv(folder).read_text())


def as_pandas(folder):
    frame = pandas.DataFrame(COLUMNS, index=[7, 8, 9])
    return frame.assign(colour=frame["colour"].astype("category"))


def as_polars(folder):
    return polars.DataFrame(COLUMNS).with_columns(polars.col("colour").cast(polars.Categorical))


def as_arrow(folder):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(COLUMNS)
    return table.set_column(2, "colour", table["colour"].dictionary_encode())


class OnlyAStream:
    """What a driver of a database may give: an Arrow stream and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def as_arrow_stream(folder):
    return OnlyAStream(as_arrow(folder))


def as_query(folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.sql(f"SELECT * FROM read_csv('{as_csv(folder)}', header = true)")


def as_parquet(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(as_arrow(folder), folder / "table.parquet", row_group_size=2)
    return str(folder / "table.parquet")


def as_open_parquet(folder):
    return open(as_parquet(folder), "rb")


def as_feather(folder):
    feather = pytest.importorskip("pyarrow.feather")
    feather.write_feather(as_arrow(folder), folder / "table.feather")
    return folder / "table.feather"


def as_saved_stream(folder):
    ipc = pytest.importorskip("pyarrow.ipc")
    table = as_arrow(folder)
    with ipc.new_stream(folder / "table.arrows", table.schema) as writer:
        writer.write_table(table)
    return folder / "table.arrows"


def as_npz(folder):
    np.savez(folder / "table.npz", **{name: np.array(values) for name, values in COLUMNS.items()})
    return folder / "table.npz"


def as_fields(folder):
    kinds = [(name, np.array(values).dtype) for name, values in COLUMNS.items()]
    np.save(folder / "table.npy", np.array(list(zip(*COLUMNS.values(), strict=True)), kinds))
    return folder / "table.npy"


FORMS = [
    as_csv, as_gzipped_tsv, as_open_text, as_pandas, as_polars, as_arrow, as_arrow_stream, as_query, as_parquet,
    as_open_parquet, as_feather, as_saved_stream, as_npz, as_fields,
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=[form.__name__ for form in FORMS])
def test_the_same_table_from_every_format(form, tmp_path):
    source = form(tmp_path)
    table = read_table(source, **ASKED)
    if isinstance(source, io.IOBase):
        source.close()
    assert table.X.tolist() == [[3.5, 4.0], [9.0, 4.0], [0.1, 2.0]]
    assert table.X.dtype == np.float64
    assert table.X.flags.c_contiguous
    assert table.feature_names == ("kg", "legs")
    assert table.y.tolist() == ["cat", "dog", "hen"]
    assert table.label_name == "animal"
    assert table.weights.tolist() == [1.0, 0.5, 2.0]
    assert table.ids.tolist() == ["a7", "b3", "c1"]
    assert {name: values.tolist() for name, values in table.texts.items()} == {"colour": ["red", "grey", "red"]}
    assert len(table.lines) == 3


@pytest.mark.parametrize("form", FORMS, ids=[form.__name__ for form in FORMS])
def test_no_label_unless_it_is_asked_for(form, tmp_path):
    source = form(tmp_path)
    table = read_table(source, label=None, ignore=["tag", "colour"], categorical="seen")
    if isinstance(source, io.IOBase):
        source.close()
    assert table.y is None
    assert table.label_name is None
    assert table.feature_names == ("kg", "legs", "trust")
    assert table.texts["seen"].tolist() == ["2019", "2020", "2021"]
    assert table.texts["animal"].tolist() == ["cat", "dog", "hen"]


@pytest.mark.parametrize("form", FORMS, ids=[form.__name__ for form in FORMS])
def test_a_column_that_is_not_there(form, tmp_path):
    source = form(tmp_path)
    with pytest.raises(DataFileError, match=r"no column is called 'species'.*6 'animal'"):
        read_table(source, label="species")
    if isinstance(source, io.IOBase):
        source.close()


def test_svmlight_through_the_same_door(tmp_path):
    path = tmp_path / "rows.svm.gz"
    path.write_bytes(gzip.compress(b"1 qid:3 1:2\n-1 qid:3 4:1\n"))
    for source in (path, io.BytesIO(path.read_bytes()), io.StringIO("1 qid:3 1:2\n-1 qid:3 4:1\n")):
        table = read_table(source, label=None, n_features=5)
        assert table.X.toarray().tolist() == [[2, 0, 0, 0, 0], [0, 0, 0, 1, 0]]
        assert table.y.tolist() == [1, -1]
        assert table.queries.tolist() == [3, 3]
        assert not table.zero_based
        assert "count from 1" in table.notes[0]
    assert read_table(path, label=None, zero_based=True).notes == ()
    with pytest.raises(DataFileError, match="leave out label, ignore"):
        read_table(path, label="y", ignore=["x"])


def test_arrays_and_npz(tmp_path):
    X, y = np.arange(6.0, dtype=np.float32).reshape(3, 2), np.array([1, 0, 1])
    np.savez(tmp_path / "both.npz", X=X, y=y, names=np.array(["a", "b"]))
    table = read_table(tmp_path / "both.npz", label="y", ignore=["names"])
    assert np.array_equal(table.X, X)
    assert table.X.dtype == np.float32
    assert table.feature_names == ("X0", "X1")
    assert table.y.tolist() == [1, 0, 1]
    np.save(tmp_path / "array.npy", np.column_stack([X, y]))
    for source in (tmp_path / "array.npy", np.column_stack([X, y])):
        table = read_table(source, label=-1)
        assert np.array_equal(table.X, X)
        assert table.y.tolist() == [1, 0, 1]
        assert table.label_name == "column 2"


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_npz(tmp_path, form):
    X = random_sparse((20, 7), 0.3, np.random.default_rng(0), form, sparse.coo_matrix)
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape, "format": form.encode()}
    np.savez(tmp_path / "X.npz", **parts, y=np.arange(20) % 2)
    table = read_table(tmp_path / "X.npz", label="y")
    assert sparse.issparse(table.X)
    assert np.array_equal(table.X.toarray(), X.toarray())
    assert table.y.tolist() == [0, 1] * 10
    sparse.save_npz(tmp_path / "alone.npz", X)
    assert np.array_equal(read_table(tmp_path / "alone.npz", label=None).X.toarray(), X.toarray())
    parts["indices"] = X.indices + 1000  # would be read beyond the end
    np.savez(tmp_path / "X.npz", **parts)
    with pytest.raises(DataFileError, match=r"X\.npz: it cannot be read as \.npz"):
        read_table(tmp_path / "X.npz", label=None)


@pytest.mark.parametrize(
    ("columns", "column", "row", "part"),
    [
        ({"x": [1.0, None, 2.0]}, "x", 1, "missing"),
        ({"x": [1.0, float("nan"), 2.0]}, "x", 1, "missing"),
        ({"x": [1.0, 2.0, -float("inf")]}, "x", 2, "infinite"),
        ({"x": [1, None, 2]}, "x", 1, "missing"),
        ({"x": ["a", "b", None]}, "x", 2, "missing"),
        ({"x": [1, 2**53 + 1, 2]}, "x", 1, "9007199254740993 is more than float64 can hold"),
        ({"x": [date(2020, 1, 1)] * 3}, "x", None, "neither a number nor text"),
        ({"x": [[1], [2], [3]]}, "x", None, "neither a number nor text"),
        ({"x": [1, 2, 3], "w": [1.0, -1.0, 0.0]}, "w", 1, "the weight -1 is negative"),
        ({"x": [1, 2, 3], "w": ["a", "b", "c"]}, "w", 0, "the weight 'a' is not a number"),
    ],
)
@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_refusals_name_the_column_and_the_row(kind, columns, column, row, part):
    columns = columns | {"y": [0, 1, 0]}
    if kind == "arrow":
        source = pytest.importorskip("pyarrow").table(columns)
    else:
        source = {"pandas": pandas.DataFrame, "polars": polars.DataFrame}[kind](columns)
    with pytest.raises(DataFileError) as caught:
        read_table(source, label="y", weight="w" if "w" in columns else None)
    assert part in str(caught.value)
    assert caught.value.column == column
    if row is not None:
        assert caught.value.row == row
        assert f"row {row} (counted from 0), column '{column}'" in str(caught.value)
    assert read_table(source, label="y", ignore=[name for name in columns if name != "y"]).X.shape == (3, 0)


def test_odd_columns_of_frames():
    mixed = pandas.DataFrame({"x": [1, "a"], "y": [0, 1]}, dtype=object)
    with pytest.raises(DataFileError, match="is it text or a number"):
        read_table(mixed, label="y")
    twins = pandas.DataFrame([[1, 2, 0]], columns=["a", "a", "y"])
    with pytest.raises(DataFileError, match="2 columns are called 'a'"):
        read_table(twins, label="y")
    exact = pandas.DataFrame({"x": [Decimal("0.5"), Decimal(2)], "y": [True, False]})
    table = read_table(exact, label="y")
    assert table.X.tolist() == [[0.5], [2.0]]
    assert table.y.tolist() == [True, False]
    with pytest.raises(DataFileError, match="there is no row"):
        read_table(exact[:0], label="y")


@pytest.mark.parametrize(
    ("text", "options", "place", "part"),
    [
        ("x,c,y\n1,red,a\n2,,b\n", {}, (3, "c"), "the cell is empty"),
        ("x,c,y\n1,red,a\n2,7,b\n", {}, (3, "c"), "'7' is a number, but the column began with text"),
        ("x,c,y\n1,2,a\nred,2,b\n", {}, (3, "x"), "say that the column is categorical"),
        ("x,c,y\nNA,2,a\n", {}, (2, "x"), "'NA' is not a number; fill the cell in"),
        ("x,w,y\n1,-2,a\n", {"weight": "w"}, (2, "w"), "the weight '-2'"),
        ("x,w,y\n1,nan,a\n", {"weight": "w"}, (2, "w"), "the weight 'nan'"),
        ("x,w,y\n1,2,a\n", {"weight": "y"}, (1, None), "one part only"),
        ("x,w,y\n1,2,a\n", {"ignore": "y"}, (1, None), "one part only"),
        ("x,w,y\n1,2,a\n", {"categorical": ["y"]}, (1, None), "one part only"),
        ("x,w,y\n1,2,a\n", {"n_features": 3}, (None, None), "2 columns of numbers, and not 3"),
        ("1,2\n", {"header": False, "weight": "w", "label": 0}, (None, None), "the column of weights has no name 'w'"),
    ],
)
def test_refusals_in_csv(text, options, place, part):
    with pytest.raises(DataFileError) as caught:
        read_table(io.StringIO(text), **{"label": "y"} | options)
    assert part in str(caught.value)
    assert (caught.value.line, caught.value.column) == place


def test_csv_columns_that_are_said_to_be_categories():
    table = read_table(io.StringIO("zip,x,y\n02139,1,a\n10115,2,b\n"), label="y", categorical=["zip"])
    assert table.texts["zip"].tolist() == ["02139", "10115"]
    assert read_table(io.StringIO("x\n1\n2\n"), label=None).X.tolist() == [[1.0], [2.0]]
    assert read_table(io.StringIO(",x,y\n0,1,a\n"), label="y", ignore=[0]).feature_names == ("x",)


def test_standard_input_is_named(monkeypatch):
    stream = io.BufferedReader(io.BytesIO(b"x,y\nred,1\n2,1\n"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
    with pytest.raises(DataFileError, match="line 3, column 'x'"):
        read_table(sys.stdin.buffer, label="y")


def test_what_is_no_table(tmp_path):
    with pytest.raises(TypeError, match="not int"):
        read_table(3, label="y")
    with pytest.raises(ValueError, match="format must be one of"):
        read_table(io.StringIO("x,y\n1,2\n"), label="y", format="xls")
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "nothing.parquet", label="y", format="parquet")
    path = tmp_path / "sheet.xlsx"
    pandas.Series([1]).to_pickle(path, compression="zip")
    with pytest.raises(DataFileError, match="holds no NumPy arrays"):
        read_table(path, label="y")
    np.save(tmp_path / "objects.npy", np.array([[{}]], object), allow_pickle=True)
    with pytest.raises(DataFileError, match=r"cannot be read as \.npy: Object arrays cannot be loaded"):
        read_table(tmp_path / "objects.npy", label=0)


def test_without_pyarrow(monkeypatch, tmp_path):
    (tmp_path / "table.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"pip install 'maxmargin\[data\]'"):
        read_table(tmp_path / "table.parquet", label="y")


def arrow_table(words):
    return pytest.importorskip("pyarrow").table({"x": np.arange(float(len(words))), "y": words})


@pytest.mark.parametrize("text", ["string", "large_string"])
@pytest.mark.parametrize("different", [3, 190], ids=["few", "many"])
def test_words_of_arrow_are_the_same_whether_few_or_many_of_them_differ(text, different):
    """Where few do, each is made once; and a column may be in parts, of which one is empty."""
    words = [f"{'é' * (place % 2)}{place % different}" for place in range(200)]
    column = pytest.importorskip("pyarrow").chunked_array([words[:70], [], words[70:]], type=text)
    assert (few_words(column) is None) == (different > 100)
    assert read_table(arrow_table(column), label="y").y.tolist() == words


@pytest.mark.parametrize("repeats", [1, 40])
def test_a_label_that_is_a_word_for_none_is_named_by_its_first_row(repeats):
    words = ["no", "yes", " nan", "yes", "", "nan"] * repeats
    with pytest.raises(DataFileError, match=r"row 2.*column 'y'"):
        read_table(arrow_table(words), label="y")
