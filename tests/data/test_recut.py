"""Sources that are cut again: the same rows, labels and weights, whatever the two cuts are."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sparse
from labelled_rows import Cut

from maxmargin.data.labelled import surveyed
from maxmargin.data.recut import Recut, sizes_of

random = np.random.default_rng(0)
X = random.standard_normal((40, 3)).round(1)
Y = random.choice(["a", "b"], 40)
WEIGHTS = random.integers(0, 3, 40).astype(float)
CUTS = [[40], [1] * 40, [0, 13, 0, 0, 26, 1, 0], [39, 1], [7, 8, 9, 10, 6]]


class Counted(Cut):
    def labelled_block(self, k):
        self.reads = [*getattr(self, "reads", []), k]
        return super().labelled_block(k)


def source(heights, rows=X, labels=Y, weights=WEIGHTS):
    return Counted(rows, labels, np.cumsum([0, *heights]), weights)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("heights", CUTS)
@pytest.mark.parametrize("own", CUTS)
def test_the_rows_are_the_same(own, heights, form):
    given = source(own, form(X))
    again = Recut(given, np.array(own), np.array(heights))
    assert (again.n_rows, again.n_columns, again.n_blocks) == (40, 3, len(heights))
    for k, first in enumerate(np.cumsum(heights) - heights):
        rows, labels, weights = again.labelled_block(k)
        place = slice(first, first + heights[k])
        assert np.array_equal(rows.toarray() if sparse.issparse(rows) else rows, X[place])
        assert sparse.issparse(rows) is (form is not np.asarray)
        assert np.array_equal(labels, Y[place])
        assert weights is None or np.array_equal(weights, WEIGHTS[place])
    assert len(given.reads) <= len(own)  # each once


def test_it_is_a_table_like_another():
    again = Recut(source([13, 27]), np.array([13, 27]), np.array([30, 10]))
    table = surveyed(again)
    assert table.seen.heights.tolist() == [30, 10]
    assert table.seen.totals.tolist() == [WEIGHTS[label == Y].sum() for label in "ab"]
    assert again.fingerprint()["heights"] == [30, 10]
    assert pickle.loads(pickle.dumps(again)).last is None  # no row travels
    assert again.last is not None


def test_sizes():
    heights, n_bytes = sizes_of(source([13, 0, 27]))
    assert (heights.tolist(), n_bytes) == ([13, 0, 27], X.nbytes)
    thin = sparse.csr_array(X)
    assert sizes_of(source([40], thin)).n_bytes == thin.data.nbytes + thin.indices.nbytes


def test_words_beside_numbers_are_refused():
    class Mixed(Cut):
        def labelled_block(self, k):
            rows = super().labelled_block(k)
            return rows if k else rows._replace(labels=np.arange(len(rows.labels)))

    again = Recut(Mixed(X, Y, [0, 10, 40]), np.array([10, 30]), np.array([40]))
    with pytest.raises(ValueError, match="the labels of some blocks are text, and of others numbers"):
        again.labelled_block(0)
