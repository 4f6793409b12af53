"""The same table and the same series in every library: the same bits, the same sentences."""

import datetime
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sparse
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from maxmargin import KernelSVM, LinearSVM, Perceptron, StochasticSVM, separability
from maxmargin.data.checking import check_labels, check_rows, check_weights
from maxmargin.data.frames import array_of, frame_of
from maxmargin.reading.files import DataFileError
from maxmargin.reading.read import read_table

BEYOND = 2**53 + 1
ROWS = 24
RANDOM = np.random.default_rng(0)
A, B = RANDOM.normal(size=ROWS), RANDOM.normal(size=ROWS)
Y = np.where(A + 0.3 * B > 0, 1, -1)


NULLABLE = {int: "Int64", bool: "boolean", str: "string", float: "Float64"}


def nullable(values):
    """A series of pandas in which whole numbers can be missing; its type is said, because pandas would round first."""
    cells = list(values) if isinstance(values, list) else values.tolist()
    return pd.Series(values, dtype=NULLABLE.get(type(cells[0])))


def on_arrow(values):
    cells = pa.array(values)
    return pd.Series(cells, dtype=pd.ArrowDtype(cells.type))


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda columns: pd.DataFrame({name: nullable(cells) for name, cells in columns.items()}),
    "pandas, on Arrow": lambda columns: pd.DataFrame({name: on_arrow(cells) for name, cells in columns.items()}),
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}
SERIES = {
    "pandas": pd.Series,
    "pandas, nullable": nullable,
    "pandas, on Arrow": on_arrow,
    "pandas, categories": lambda values: pd.Series(values, dtype="category"),
    "polars": pl.Series,
    "pyarrow": lambda values: pa.chunked_array([values]),
}


def gapped(values, row=3):
    """The same values, one of them missing."""
    return [None if place == row else value for place, value in enumerate(list(values))]


def names_for_scikit_learn(given):
    """What its own estimators keep: releases before 1.9 know the names of fewer libraries."""
    return list(getattr(StandardScaler().fit(frame_of(given).native), "feature_names_in_", ()))


def sentence_of(work, *arguments):
    with pytest.raises((TypeError, ValueError)) as refusal:
        work(*arguments)
    return str(refusal.value)


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(
    "columns",
    [
        {"a": A, "b": B},
        {"a": A, "whole": np.arange(ROWS)},
        {"a": A, "true": B > 0},
        {"a": A, "exact": [Decimal("0.5"), Decimal(2)] * (ROWS // 2)},
        {"a": A.astype(np.float32), "b": B.astype(np.float32)},
    ],
    ids=lambda columns: list(columns)[-1],
)
def test_every_frame_gives_the_same_plane_and_keeps_its_names(columns, kind):
    wanted = LinearSVM().fit(np.column_stack([np.asarray(cells, dtype=float) for cells in columns.values()]), Y)
    given = FRAMES[kind](columns)
    found = LinearSVM().fit(given, Y)
    assert list(getattr(found, "feature_names_in_", ())) == names_for_scikit_learn(given)
    assert found.certificate_.verify(given, Y)
    if columns["a"].dtype == np.float64:
        assert found.coef_.tobytes() == wanted.coef_.tobytes()
        assert found.intercept_.tobytes() == wanted.intercept_.tobytes()
    else:
        assert np.allclose(found.coef_, wanted.coef_)


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"a": A, "far": [BEYOND] + [0] * (ROWS - 1)}, f"row 0, column 'far' holds {BEYOND}, which float64 cannot"),
        ({"a": A, "price": [Decimal("0.1")] * ROWS}, "row 0, column 'price' holds 0.1, which float64 cannot hold"),
        ({"a": A, "b": gapped(B)}, "Input X contains NaN (NaN and inf are not allowed): row 3, column 'b'. Remove"),
        ({"a": A, "k": gapped(range(ROWS))}, "Input X contains NaN (NaN and inf are not allowed): row 3, column 'k'."),
        ({"a": A, "b": np.where(B[5] == B, np.inf, B)}, "contains infinity (NaN and inf are not allowed): row 5, col"),
        ({"a": A, "w": ["1.5", "red"] * (ROWS // 2)}, "row 1, column 'w' holds 'red', which is not a number (could"),
        ({"a": A, "day": [datetime.datetime(2020, 1, 1)] * ROWS}, "row 0, column 'day' holds a date or a time, which"),
    ],
    ids=lambda given: list(given)[-1] if isinstance(given, dict) else "",
)
def test_every_frame_is_refused_with_the_same_sentence(columns, sentence, kind):
    given = FRAMES[kind](columns)
    told = sentence_of(LinearSVM().fit, given, Y)
    assert sentence in told
    for work in (lambda: check_rows(given), lambda: Perceptron().fit(given, Y), lambda: separability(given, Y)):
        assert sentence_of(work) == told


@pytest.mark.parametrize("estimator", [LinearSVM(), Perceptron(), StochasticSVM()], ids=lambda one: type(one).__name__)
def test_two_columns_of_one_name(estimator):
    twins = pd.DataFrame(np.column_stack([A, B, A]), columns=["a", "b", "a"])
    arrow = pa.Table.from_arrays([pa.array(A), pa.array(B), pa.array(A)], names=["a", "b", "a"])
    told = sentence_of(estimator.fit, twins, Y)
    assert told.startswith("2 columns of X are called 'a': 0 and 2 (counted from 0).")
    assert sentence_of(estimator.fit, arrow, Y) == told
    other = pd.DataFrame(np.column_stack([A, B]), columns=[1, "1"])  # two names, though one text
    assert frame_of(other).names == [1, "1"]
    assert frame_of(other).cells(1).tolist() == B.tolist()


@pytest.mark.parametrize("kind", SERIES)
def test_labels_and_weights_in_a_series(kind):
    X = pd.DataFrame({"a": A, "b": B})
    for labels in (Y, np.where(Y > 0, "yes", "no"), Y > 0):
        wanted = LinearSVM().fit(X, labels.tolist())
        found = LinearSVM().fit(X, SERIES[kind](labels.tolist()))
        assert found.classes_.tolist() == wanted.classes_.tolist()
        assert [type(one) for one in found.classes_.tolist()] == [type(one) for one in labels[:1].tolist()] * 2
        assert found.coef_.tobytes() == wanted.coef_.tobytes()
        assert found.certificate_.verify(X, SERIES[kind](labels.tolist()))
    weights = (np.arange(ROWS) % 3).tolist()
    weighted = LinearSVM().fit(X, Y, sample_weight=SERIES[kind](weights))
    assert weighted.coef_.tobytes() == LinearSVM().fit(X, Y, sample_weight=weights).coef_.tobytes()


@pytest.mark.parametrize("kind", SERIES)
def test_a_label_or_a_weight_that_is_missing_is_named_by_its_row(kind):
    for labels in (Y, np.where(Y > 0, "yes", "no"), Y > 0):
        given = SERIES[kind](gapped(labels.tolist()))
        told = "Input y contains NaN: row 3 has no label."
        assert sentence_of(LinearSVM().fit, np.column_stack([A, B]), given) == told
        assert sentence_of(check_labels, given, ROWS) == told
    told = sentence_of(check_weights, SERIES[kind](gapped(range(ROWS))), ROWS)
    assert told == "sample_weight must not hold NaN, infinity or negative values: row 3 has nan"
    far = SERIES[kind]([BEYOND] + [1] * (ROWS - 1))
    assert sentence_of(check_weights, far, ROWS).startswith(f"entry 0 holds {BEYOND}, which float64 cannot hold")


@pytest.mark.parametrize("kind", SERIES)
@pytest.mark.parametrize("values", [[BEYOND, None], [True, None], ["u", None], [1.5, None]], ids=str)
def test_cells_are_neither_rounded_nor_made_up(kind, values):
    cells = array_of(SERIES[kind](values))
    assert cells[0] == values[0]
    assert cells[1] != cells[1]


def test_missing_categories_of_arrow_are_missing():
    words = pa.chunked_array([pa.array(["u", None, "v"]).dictionary_encode()])
    assert array_of(words).tolist()[::2] == ["u", "v"]
    assert array_of(words)[1] != array_of(words)[1]


@pytest.mark.parametrize("kind", [kind for kind in FRAMES if kind != "pandas"])  # which has rounded it already
def test_a_reader_rounds_no_whole_number_beside_a_missing_one(kind):
    columns = {"k": gapped([0] * 3 + [0, BEYOND]), "y": [0, 1, 0, 1, 0]}
    with pytest.raises(DataFileError):
        read_table(FRAMES[kind](columns), label="y", missing="keep")
    small = {"k": gapped(range(5)), "y": [0, 1, 0, 1, 0]}
    X = read_table(FRAMES[kind](small), label="y", missing="keep").X
    assert X[[0, 1, 2, 4], 0].tolist() == [0, 1, 2, 4]
    assert np.isnan(X[3, 0])


def test_what_is_no_frame_is_left_as_it_is():
    for given in (np.eye(2), [[1.0]], "text", 3.0, pa.array([1]), memoryview(b"ab")):
        assert frame_of(given) is None
    assert frame_of(pd.Series([1])) is None
    given = pd.DataFrame({"a": [1]})
    assert array_of(given) is given
    assert frame_of(given).native is given


def test_arrays_need_no_library_of_frames(monkeypatch):
    """Whoever gives arrays, lists or sparse matrices does not wait for narwhals."""

    def asked(_):
        raise ImportError("nobody should have asked")

    for name in ("frame_of", "array_of"):
        monkeypatch.setattr(f"maxmargin.data.checking.{name}", asked)
    for given in (np.eye(2), np.eye(2).tolist(), sparse.csr_array(np.eye(2)), sparse.csr_matrix(np.eye(2))):
        assert check_rows(given).shape == (2, 2)
    for given in (np.array([0, 1]), [0, 1], (0, 1)):
        assert check_labels(given, 2).tolist() == [0, 1]
        assert check_weights(given, 2).tolist() == [0.0, 1.0]
    with pytest.raises(ImportError):
        check_rows(pd.DataFrame(np.eye(2)))


def test_dates_are_no_weights():
    with pytest.raises(ValueError, match="dates or times"):
        check_weights(np.arange(3).astype("datetime64[ns]"), 3)


@pytest.mark.parametrize("estimator", [LinearSVM(), KernelSVM(), Perceptron(), StochasticSVM(tol=0.9)], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, object])
def test_masked_cells_are_missing_and_not_what_stands_below_the_mask(estimator, dtype):
    X = np.array([[1, 2], [3, 4], [-1, -2], [-3, -5]], dtype=dtype)
    masked = np.ma.masked_equal(X, 4)
    with pytest.raises(ValueError, match=r"NaN.*row 1, column 1"):
        clone(estimator).fit(masked, [1, 1, 0, 0])
    fitted = clone(estimator).fit(np.ma.masked_array(X, mask=False), [1, 1, 0, 0])
    with pytest.raises(ValueError, match=r"NaN.*row 1, column 1"):
        fitted.predict(masked)


def test_masked_labels_are_missing():
    X = np.array([[1.0, 2.0], [3.0, 4.0], [-1.0, -2.0], [-3.0, -5.0]])
    with pytest.raises(ValueError, match="y contains NaN: row 2"):
        LinearSVM().fit(X, np.ma.masked_array([1, 1, 0, 0], mask=[False, False, True, False]))


def test_masked_weights_are_missing():
    X, y = np.array([[1.0, 2.0], [3.0, 4.0], [-1.0, -2.0], [-3.0, -5.0]]), [1, 1, 0, 0]
    masked = np.ma.masked_array([1.0, 1.0, 2.0, 1.0], mask=[False, False, True, False])
    with pytest.raises(ValueError, match=r"sample_weight.*row 2 has nan"):
        LinearSVM().fit(X, y, sample_weight=masked)
    certificate = LinearSVM().fit(X, y, sample_weight=masked.filled()).certificate_
    assert certificate.verify(X, y, sample_weight=masked.filled())
    assert "row 2 has nan" in str(certificate.verify(X, y, sample_weight=masked))
