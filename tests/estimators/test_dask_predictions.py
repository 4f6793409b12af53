"""Rows of Dask without a cluster: fitted in this process, block by block; predictions are lazy."""

import numpy as np
import pytest

from maxmargin import HardMarginSVM, KernelSVM, LinearSVM, Perceptron, StochasticSVM, separability

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

random = np.random.default_rng(3)
X = np.round(random.standard_normal((90, 3)), 2)
TWO = np.where(X[:, 0] - X[:, 1] + 0.1 > 0.0, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
CHUNKS = (30, 0, 60)
ROWS = da.from_array(X, chunks=(CHUNKS, 3))
FRAME = pd.DataFrame(X, columns=["p", "q", "r"], index=np.arange(90) * 2)
PARTITIONS = dd.from_pandas(FRAME, npartitions=4)
SQUARED = LinearSVM(loss="squared_hinge", tol=1e-8)


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "estimator", [SQUARED, HardMarginSVM(on_inseparable="return"), Perceptron(max_updates=500), StochasticSVM(tol=0.5)]
)
@pytest.mark.parametrize("ovo", [False, True])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_lazy_predictions_are_those_of_rows_in_memory(estimator, labels, ovo):
    fitted = estimator.set_params(multi_class="ovo" if ovo else "ovr").fit(X, labels)
    for method in ("predict", "decision_function"):
        here, lazy = getattr(fitted, method)(X), getattr(fitted, method)(ROWS)
        assert (lazy.shape, lazy.dtype, lazy.chunks[0]) == (here.shape, here.dtype, CHUNKS)
        assert np.array_equal(lazy.compute(scheduler="sync"), here)


def test_predictions_of_a_frame_have_its_index():
    fitted = SQUARED.fit(FRAME, THREE)
    labels, scores = fitted.predict(PARTITIONS), fitted.decision_function(PARTITIONS)
    assert labels.npartitions == 4
    found = labels.compute(scheduler="sync")
    assert labels.dtype == found.dtype
    assert found.index.tolist() == FRAME.index.tolist()
    assert found.tolist() == fitted.predict(FRAME).tolist()
    table = scores.compute(scheduler="sync")
    assert table.columns.tolist() == ["a", "b", "c"]
    assert np.array_equal(table.to_numpy(), fitted.decision_function(FRAME))


def test_nothing_is_computed_before_it_is_asked_for():
    def never(block):
        raise AssertionError

    fitted = SQUARED.fit(X, TWO)
    fitted.predict(ROWS.map_blocks(never, meta=np.empty((0, 0))))


def test_a_kernel_predicts_lazily_too():
    fitted = KernelSVM().fit(X, TWO)
    assert np.array_equal(fitted.predict(ROWS).compute(scheduler="sync"), fitted.predict(X))


def test_what_predictions_take_with_them_is_small():
    import pickle

    from maxmargin.estimators.dask_predictions import light

    fitted = LinearSVM().fit(np.tile(X, (50, 1)), np.tile(TWO, 50))
    assert len(pickle.dumps(light(fitted))) < 3000 < len(pickle.dumps(fitted))


def test_rows_that_cannot_be_predicted():
    fitted = SQUARED.fit(FRAME, TWO)
    with pytest.raises(ValueError, match="X has 2 features"):
        SQUARED.fit(X, TWO).predict(ROWS[:, :2])
    with pytest.raises(ValueError, match="feature names"):
        SQUARED.fit(FRAME, TWO).predict(PARTITIONS.rename(columns={"p": "z"}))
    with pytest.raises(ValueError, match="chunks of columns"):
        SQUARED.fit(X, TWO).predict(ROWS.rechunk((30, 2)))
    assert fitted is SQUARED


@pytest.mark.parametrize("weighted", [False, True])
def test_a_fit_without_a_cluster(weighted):
    """The blocks are those of Dask; the plane is that of the rows in memory, within both gaps."""
    weights = np.arange(90.0) % 3 if weighted else None
    lazy = None if weights is None else da.from_array(weights, chunks=(CHUNKS,))
    there = LinearSVM(loss="squared_hinge", tol=1e-10).fit(ROWS, da.from_array(TWO, chunks=(CHUNKS,)), lazy)
    here = LinearSVM(loss="squared_hinge", tol=1e-10).fit(X, TWO, weights)
    assert there.coef_ == pytest.approx(here.coef_, rel=1e-4, abs=1e-6)
    assert there.certificate_.verify(ROWS, da.from_array(TWO, chunks=(CHUNKS,)), sample_weight=lazy)
    assert not hasattr(there, "feature_names_in_")


def test_a_frame_and_the_name_of_its_labels():
    frame = dd.from_pandas(FRAME.assign(label=TWO), npartitions=3)
    fitted = LinearSVM(loss="squared_hinge", tol=1e-6).fit(frame, "label")
    assert fitted.feature_names_in_.tolist() == ["p", "q", "r"]
    assert np.mean(fitted.predict(frame[["p", "q", "r"]]).compute(scheduler="sync").to_numpy() == TWO) > 0.9
    assert fitted.certificate_.verify(frame, "label")
    assert not fitted.certificate_.verify(frame.repartition(npartitions=1), "label")


def test_the_score_of_a_frame_knows_its_columns():
    labelled = PARTITIONS.assign(y=dd.from_pandas(pd.Series(TWO, index=FRAME.index), npartitions=4))
    fitted = LinearSVM(memory="20MB").fit(labelled, "y")
    assert fitted.score(labelled, "y") == fitted.score(FRAME, TWO)
    assert hasattr(fitted, "feature_names_in_")
    with pytest.raises(ValueError, match="the columns of X are 'q', 'p', 'r', and it was fitted on 'p', 'q', 'r'"):
        fitted.score(labelled[["q", "p", "r", "y"]], "y")


def test_the_hard_margin_of_rows_of_dask():
    labels = da.from_array(TWO, chunks=(CHUNKS,))
    there, here = HardMarginSVM().fit(ROWS, labels), HardMarginSVM().fit(X, TWO)
    assert there.margin_ == pytest.approx(here.margin_, rel=1e-8)
    assert there.certificate_.verify(ROWS, labels)
    assert separability(ROWS, labels).is_separable
    assert LinearSVM(C=float("inf")).fit(ROWS, labels).margin_ == pytest.approx(here.margin_, rel=1e-8)
