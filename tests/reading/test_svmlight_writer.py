"""What is written is read back as the same bits."""

import gzip
import io

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.reading.svmlight import read_svmlight
from maxmargin.reading.svmlight_writer import write_svmlight

finite = st.floats(allow_nan=False, allow_infinity=False)
rows = st.lists(st.dictionaries(st.integers(0, 9), finite, max_size=5), min_size=1, max_size=8)


def matrix_of(entries):
    starts = np.cumsum([0, *(len(row) for row in entries)])
    indices = [index for row in entries for index in sorted(row)]
    values = [row[index] for row in entries for index in sorted(row)]
    return sparse.csr_array((np.array(values, float), np.array(indices, int), starts), shape=(len(entries), 10))


@given(rows, st.booleans(), st.data())
def test_round_trips_to_the_bit(entries, zero_based, data):
    X = matrix_of(entries)
    labels = np.array(data.draw(st.lists(finite, min_size=len(entries), max_size=len(entries))))
    queries = data.draw(st.lists(st.integers(0, 10**17), min_size=len(entries), max_size=len(entries)))
    text = io.BytesIO()
    write_svmlight(text, X, labels, zero_based=zero_based, queries=queries, comment="written\nhere")
    text.seek(0)
    table = read_svmlight(text, n_features=10, zero_based=zero_based)
    assert table.X.data.tobytes() == X.data.tobytes()  # stored zeros and their signs too
    assert np.array_equal(table.X.indices, X.indices)
    assert np.array_equal(table.X.indptr, X.indptr)
    assert np.array_equal(table.y, labels)
    assert table.queries.tolist() == queries
    assert table.lines.tolist() == [line + 3 for line in range(len(entries))]


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_paths(tmp_path, suffix):
    path = tmp_path / f"rows.svm{suffix}"
    write_svmlight(path, np.array([[0.1, 0], [0, -2.5]], np.float32), [True, False])
    table = read_svmlight(path)
    assert table.X.toarray().tolist() == [[float(np.float32(0.1)), 0.0], [0.0, -2.5]]
    assert table.y.tolist() == [1, 0]
    assert (path.read_bytes()[:2] == gzip.compress(b"")[:2]) == (suffix == ".gz")


def test_indices_are_sorted_and_must_be_unique():
    text = io.StringIO()
    write_svmlight(text, sparse.csr_array(([1.0, 2.0], [3, 0], [0, 2]), shape=(1, 4)), [1])
    assert text.getvalue() == "1 1:2 4:1\n"
    with pytest.raises(ValueError, match="row 0 has two entries"):
        write_svmlight(text, sparse.csr_array(([1.0, 2.0], [3, 3], [0, 2]), shape=(1, 4)), [1])


@pytest.mark.parametrize(
    ("X", "y", "part"),
    [
        ([[1.0]], ["cat"], "encode it first"),
        ([[1.0]], [np.nan], "label 0 is nan"),
        ([[1.0, np.inf]], [1], "value 1 is inf"),
        ([[2**60]], [1], "beyond 2"),
        ([[1.0]], [1, 2], "give one for each"),
    ],
)
def test_what_the_format_cannot_hold(X, y, part):
    with pytest.raises(ValueError, match=part):
        write_svmlight(io.StringIO(), X, y)
