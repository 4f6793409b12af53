"""Arrays and data frames of Dask: surveyed in this process and on the cluster, with the same answers."""

import pickle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from cluster_parts import Count

from maxmargin.data.dask_executor import OnDask
from maxmargin.data.dask_rows import DaskRows, is_dask
from maxmargin.data.executor import executing
from maxmargin.data.labelled import surveyed

random = np.random.default_rng(0)
X = random.standard_normal((100, 3))
Y = np.where(X[:, 0] + 0.3 * random.standard_normal(100) > 0, "yes", "no")
WEIGHTS = random.integers(0, 3, 100).astype(float)
CHUNKS = (40, 0, 35, 25)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y, w=WEIGHTS)


def array(values, cut=CHUNKS):
    return da.from_array(values, chunks=(cut, *values.shape[1:]))


def frame():
    return dd.from_pandas(FRAME, npartitions=4)


def same(table, X=X, y=Y, weights=None):
    """Rows, labels and weights, as they are in memory."""
    blocks = [table.block(k) for k in range(table.n_blocks)]
    labels = np.concatenate([table.classes[block.codes] for block in blocks])
    counting = np.ones(len(y), dtype=bool) if weights is None else weights > 0.0
    assert np.array_equal(np.concatenate([block.X for block in blocks]), X)
    assert labels[counting].tolist() == y[counting].tolist()
    if weights is not None:
        assert np.array_equal(np.concatenate([block.weights for block in blocks if len(block.codes)]), weights)
    return True


KINDS = {
    "arrays": lambda: DaskRows(array(X), array(Y), array(WEIGHTS)),
    "labels in memory": lambda: DaskRows(array(X), Y, WEIGHTS.tolist()),
    "series": lambda: DaskRows(frame()[["a", "b", "c"]], frame()["y"], frame()["w"]),
    "names of columns": lambda: DaskRows(frame(), "y", "w"),
    "one in memory": lambda: DaskRows(array(X), array(Y), WEIGHTS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_dask_in_this_process(kind):
    source = KINDS[kind]()
    table = surveyed(source)
    assert same(table, weights=WEIGHTS)
    assert table.n_blocks == 4
    assert source.fingerprint() == KINDS[kind]().fingerprint()
    part = pickle.loads(pickle.dumps(source.between(2, 3)))
    assert np.array_equal(part.labelled_block(2).X, source.labelled_block(2).X)
    assert len(part.graph) < len(source.graph)


@pytest.mark.parametrize("kind", ["arrays", "labels in memory", "names of columns"])
@pytest.mark.parametrize("hold", [False, True, None])
def test_the_survey_is_the_same_on_a_cluster(client, kind, hold):
    here = surveyed(KINDS[kind]())
    with OnDask(client, hold=hold) as executor, executing(executor):
        there = surveyed(KINDS[kind]())
        assert executor.runs.are_held is (bool(hold) or (hold is None and kind != "names of columns"))
    for one, other in zip(here.seen, there.seen, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("hold", [None, True])
def test_rows_that_the_cluster_has_already_stay_there(client, hold):
    rows, labels = client.persist([frame()[["a", "b", "c"]], frame()["y"] + ""])
    here = surveyed(DaskRows(frame()[["a", "b", "c"]], frame()["y"]))
    source = DaskRows(rows, labels)
    assert source.is_in_cluster
    with OnDask(client, hold=hold) as executor, executing(executor):
        there = surveyed(source)
        assert executor.runs.length == 1
    assert np.array_equal(there.seen.counts, here.seen.counts)
    assert there.seen.largest == here.seen.largest
    assert same(there)  # in this process


def test_without_a_cluster_the_scheduler_of_the_user_computes():
    """Such as that of Ray."""
    asked = []

    def get(graph, keys, **more):
        asked.append(list(keys))
        return dask.get(graph, keys)

    source = KINDS["arrays"]()
    with dask.config.set(scheduler=get):
        assert same(surveyed(source), weights=WEIGHTS)
    assert asked == source.keys * 2  # by the survey, and by `same`


def test_what_is_held_is_read_once(client, tmp_path):
    """By the survey; the table after it takes over what was held for it."""

    def read(rows, folder=str(tmp_path)):
        import tempfile

        tempfile.mkstemp(dir=folder)
        return rows

    source = DaskRows(array(X).map_blocks(read, meta=np.empty((0, 0))), array(Y))
    before = len(list(tmp_path.iterdir()))
    with OnDask(client) as executor, executing(executor):
        table = surveyed(source)
        for _ in range(3):
            assert executor.fold(Count(), table, {}) == Count(100)
        assert executor.runs.are_held
    assert len(list(tmp_path.iterdir())) - before == 4


def test_sparse_chunks(client):
    rows = array(X * (X > 0.5)).map_blocks(sparse.csr_array, meta=sparse.csr_array((0, 0)))
    with OnDask(client) as executor, executing(executor):
        table = surveyed(DaskRows(rows, array(Y)))
    assert table.seen.is_sparse
    assert np.array_equal(table.block(2).X.toarray(), (X * (X > 0.5))[40:75])


def test_a_nan_in_a_block_is_named(client):
    spoilt = X.copy()
    spoilt[42, 1] = np.nan
    with (
        OnDask(client) as executor,
        executing(executor),
        pytest.raises(ValueError, match=r"NaN .*block 2, row 2, column 1"),
    ):
        surveyed(DaskRows(array(spoilt), array(Y)))


def test_whole_numbers_beside_fractions_are_not_rounded():
    wide = dd.from_pandas(FRAME.assign(a=2**53 + 1), npartitions=2)
    with pytest.raises(ValueError, match="block 0: row 0, column 'a' holds 9007199254740993"):
        surveyed(DaskRows(wide, "y", "w"))


WRONG = {
    "cut across": (lambda: DaskRows(array(X).rechunk((25, 2)), array(Y)), "2 chunks of columns.*rechunk"),
    "one dimension": (lambda: DaskRows(array(Y), array(Y)), "a table has two dimensions"),
    "other chunks": (lambda: DaskRows(array(X), array(Y, (50, 50))), "blocks of y are not those of X: give y.rechunk"),
    "other partitions": (lambda: DaskRows(frame()[["a"]], frame()["y"].repartition(npartitions=2)), "y.repartition"),
    "labels of two dimensions": (lambda: DaskRows(array(X), array(X)), "y must have one dimension"),
    "lengths unknown": (lambda: DaskRows(frame()[["a"]], Y), "not known how many rows each block"),
    "too few labels": (lambda: DaskRows(array(X), Y[:99]), "X has 100 rows but y has the shape"),
    "text": (lambda: DaskRows(frame(), frame()["y"]), "column 'y' of X is string.*leave it out"),
    "categories": (lambda: DaskRows(frame().astype({"a": "category"}), "y"), "column 'a' of X is category"),
    "no such column": (lambda: DaskRows(frame(), "z"), "no column 'z'; it has 'a', 'b', 'c', 'y', 'w'"),
    "a name beside an array": (lambda: DaskRows(array(X), "y"), "names a column, and an array of Dask has no columns"),
    "a series as X": (lambda: DaskRows(frame()["a"], frame()["y"]), "give a data frame"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_said(wrong):
    make, sentence = WRONG[wrong]
    with pytest.raises((TypeError, ValueError), match=sentence):
        make()


def test_labels_of_another_length_are_named_by_their_block():
    unknown = array(X)[array(X)[:, 0] > -10.0]
    with pytest.raises(ValueError, match="block 0: X has 40 rows but y has the shape"):
        surveyed(DaskRows(unknown, array(Y, (39, 1, 35, 25))))


def test_what_is_of_dask():
    assert is_dask(array(X))
    assert is_dask(frame())
    assert not is_dask(X)
    assert not is_dask(FRAME)
