"""LinearSVM on rows that are read by blocks within a budget of memory: the optimum of all rows, or a sentence."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sparse
from blocked_rows import Blocked, LastFirst, uneven
from sklearn.exceptions import ConvergenceWarning

from maxmargin import LinearSVM, load, save
from maxmargin.data.executor import executing
from maxmargin.data.threaded import Threaded
from maxmargin.run.control import Status
from maxmargin.run.observation import watching_passes

RANDOM = np.random.default_rng(3)
N = 600
X = RANDOM.normal(size=(N, 5)) * [1.0, 3.0, 0.2, 1.0, 1.0] + 2.0
Y = np.where(X @ [1.0, 0.5, -2.0, 0.0, 0.3] + RANDOM.normal(size=N) > 3.5, "yes", "no")
THREE = np.array([4, 7, 9])[np.argmax(X[:, [0, 3, 4]] + RANDOM.normal(size=(N, 3)), axis=1)]
WEIGHTS = RANDOM.integers(0, 4, N) * 0.5
EDGES = uneven(N)
FORMS = {
    "float64": X,
    "float32": X.astype(np.float32),
    "csr": sparse.csr_array(np.where(X > 2.0, X, 0.0)),
}
LOSSES = [("hinge", None), ("squared_hinge", None), ("huber_hinge", 0.3), ("modified_huber", None)]


def by_blocks(X=X, edges=EDGES, **parameters):
    return LinearSVM(**{"loss": "squared_hinge", "memory": "10MB", "tol": 1e-7} | parameters), Blocked(X, edges)


def agree(svm, held):
    """Each proves a bound that the other's plane must respect."""
    for own, other in zip(parts(svm), parts(held), strict=True):
        assert own.dual <= other.primal
        assert other.dual <= own.primal
        assert own.is_optimal


def parts(svm):
    return [svm.certificate_] if len(svm.classes_) == 2 else list(svm.certificate_)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("loss", "width"), LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_optimum_of_the_rows_in_memory(form, loss, width, fit_intercept):
    asked = {"loss": loss, "huber_width": width, "fit_intercept": fit_intercept, "C": 0.7}
    svm, table = by_blocks(FORMS[form], **asked)
    svm.fit(table, Y)
    agree(svm, LinearSVM(tol=1e-7, **asked).fit(FORMS[form], Y))
    assert svm.certificate_.verify(Blocked(FORMS[form], EDGES), Y)
    assert svm.status_ is Status.PROVEN
    assert svm.solver_ == ("working_set" if loss == "hinge" else "newton")


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_many_classes_with_weights_advance_in_the_same_passes(multi_class):
    asked = {"multi_class": multi_class, "class_weight": "balanced"}
    svm, table = by_blocks(**asked)
    svm.fit(table, THREE, sample_weight=WEIGHTS)
    held = LinearSVM(loss="squared_hinge", tol=1e-7, **asked).fit(X, THREE, sample_weight=WEIGHTS)
    agree(svm, held)
    assert np.allclose(svm.class_weight_, held.class_weight_, rtol=1e-12)
    assert svm.classes_.tolist() == [4, 7, 9]
    assert svm.n_iter_ == max(svm.n_updates_)
    survey, heights, judge = 1, 1, 1
    assert table.passes <= survey + heights + svm.n_iter_ + judge
    assert np.mean(svm.predict(X) == held.predict(X)) > 0.99


def test_class_weights_by_name():
    asked = {"class_weight": {"yes": 3.0}, "C": 2.0}
    svm, table = by_blocks(**asked)
    agree(svm.fit(table, Y), LinearSVM(loss="squared_hinge", tol=1e-7, **asked).fit(X, Y))


def test_blocks_of_one_class_each():
    order = np.argsort(Y, kind="stable")
    svm, table = by_blocks(X[order], [0, 0, 100, *np.flatnonzero(np.diff(Y[order] == "yes")) + 1, N])
    agree(svm.fit(table, Y[order]), LinearSVM(loss="squared_hinge", tol=1e-7).fit(X, Y))


def test_the_same_blocks_give_the_same_bits():
    bits = []
    for executor in (None, Threaded(2), LastFirst()):
        svm, table = by_blocks()
        if executor is None:
            svm.fit(table, Y)
        else:
            with executing(executor):
                svm.fit(table, Y)
        bits.append((svm.coef_.tobytes(), svm.intercept_.tobytes(), svm.certificate_.to_json()))
    assert bits[0] == bits[1] == bits[2]


def test_predictions_and_scores_read_each_block_once():
    svm, table = by_blocks()
    svm.fit(table, Y)
    fresh = Blocked(X, EDGES)
    assert np.array_equal(svm.predict(fresh), svm.predict(X))
    assert fresh.passes == 1
    assert svm.score(fresh, Y) == np.mean(svm.predict(X) == Y)


def test_a_nan_of_rows_to_be_predicted_is_named_with_its_block():
    svm, table = by_blocks()
    svm.fit(table, Y)
    broken = X.copy()
    broken[EDGES[-2] + 3, 1] = np.nan
    with pytest.raises(ValueError, match=rf"block {len(EDGES) - 2}: .*NaN.*row 3, column 1"):
        svm.predict(Blocked(broken, EDGES))


def test_what_needs_a_number_a_row_is_not_there():
    svm, table = by_blocks()
    svm.fit(X, Y)
    assert len(svm.support_)
    svm.fit(table, Y)
    for name in ("support_", "dual_coef_", "bounded_", "n_support_"):
        assert not hasattr(svm, name)
        with pytest.raises(AttributeError, match="read by blocks"):
            getattr(svm, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing_'"):
        _ = svm.nothing_
    assert pickle.loads(pickle.dumps(svm)).margin_ == svm.margin_ == copy.deepcopy(svm).margin_
    svm.fit(X, Y)
    assert len(svm.dual_coef_)


@pytest.mark.parametrize(
    ("parameters", "fitted", "sentence"),
    [
        ({"memory": "1kB"}, {}, r"memory=1kB is too little for 5 columns .* give at least \d"),
        ({"warm_start": True}, {}, "warm_start=True starts from a dual variable of each row"),
        ({}, {"a0": np.zeros(N)}, "a0 starts from a dual variable of each row"),
        ({"solver": "coordinate_descent"}, {}, 'solver="coordinate_descent" has the rows in memory'),
        ({"memory": "a lot"}, {}, 'memory must be a size such as "512MB"'),
        ({"memory": True}, {}, 'memory must be a size such as "512MB"'),
        ({"class_weight": {"yes": 0.0}}, {}, "class_weight must be positive"),
    ],
)
def test_what_cannot_be_is_said_before_the_first_pass(parameters, fitted, sentence):
    svm, table = by_blocks(**parameters)
    with pytest.raises(ValueError, match=sentence):
        svm.fit(table, Y, **fitted)
    assert not hasattr(svm, "coef_")


def test_the_least_memory_that_is_named_is_enough():
    svm, table = by_blocks(memory="1kB")
    with pytest.raises(ValueError, match="give at least") as refused:
        svm.fit(table, Y)
    least = str(refused.value).split("at least ")[1].split(",")[0]
    assert svm.set_params(memory=least).fit(table, Y).certificate_.is_optimal


def test_problems_that_do_not_fit_side_by_side_go_in_groups():
    """The same bits: a problem knows nothing of the others."""
    svm, table = by_blocks(memory="1kB")
    with pytest.raises(ValueError, match="give at least") as refused:
        svm.fit(table, THREE)
    least = str(refused.value).split("at least ")[1].split(",")[0]
    together, own = by_blocks()
    together.fit(own, THREE)
    assert svm.set_params(memory=least).fit(table, THREE).coef_.tobytes() == together.coef_.tobytes()
    assert table.passes > own.passes


def test_numbers_whose_squares_leave_float64_are_refused():
    svm, table = by_blocks(X * 2.0**200)
    with pytest.raises(ValueError, match="squares of such numbers leave float64: scale the columns"):
        svm.fit(table, Y)


def test_a_weight_that_float64_cannot_hold_is_named():
    svm, table = by_blocks(C=1e-200)
    weights = np.ones(N)
    weights[EDGES[1]] = 1e-200
    with pytest.raises(ValueError, match=r"C times the weight of row 0 of block 1 is 1e-200 \* 1e-200"):
        svm.fit(table, Y, sample_weight=weights)


def test_a_nan_is_named_with_block_row_and_column():
    broken = X.copy()
    broken[EDGES[1] + 2, 4] = np.nan
    svm, table = by_blocks(broken)
    with pytest.raises(ValueError, match=r"NaN.*block 1, row 2, column 4"):
        svm.fit(table, Y)


def test_no_time_at_all_gives_the_true_gap():
    svm, table = by_blocks(max_time=1e-9)
    with pytest.warns(ConvergenceWarning, match="ended early: max_time was reached"):
        svm.fit(table, Y)
    assert svm.status_ is Status.TIME
    assert svm.certificate_.relative_gap == 1.0
    assert svm.certificate_.verify(Blocked(X, EDGES), Y)


def test_as_many_passes_as_are_allowed():
    svm, table = by_blocks(max_iter=3)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        svm.fit(table, Y)
    assert svm.n_iter_ == 3
    assert 1e-7 < svm.certificate_.relative_gap < 1.0
    assert svm.certificate_.verify(Blocked(X, EDGES), Y)


def test_whoever_watches_can_stop_it_and_what_was_found_is_measured():
    svm, table = by_blocks()
    seen = []

    def stop_in_pass_4(progress):
        seen.append(progress)
        return progress.number == 4 and progress.blocks == 2

    with watching_passes(stop_in_pass_4):
        svm.fit(table, Y)
    assert svm.status_ is Status.STOPPED
    assert 1e-7 < svm.certificate_.relative_gap < 1.0
    assert svm.certificate_.verify(Blocked(X, EDGES), Y)
    assert [entry.blocks for entry in seen if entry.number == 1] == list(range(1, table.n_blocks + 1))
    assert {entry.n_blocks for entry in seen} == {table.n_blocks}
    assert seen[-1].number == 5  # the judge's


def test_verbose_tells_pass_and_gap(capsys):
    svm, table = by_blocks(verbose=2)
    svm.fit(table, Y)
    told = capsys.readouterr().err.splitlines()
    assert f"pass 1, block {table.n_blocks} of {table.n_blocks}" in told[0]
    assert "gap" in told[-2]
    assert told[-1].endswith("proven: the gap that was asked for is reached")


@pytest.mark.parametrize("labels", [Y, THREE], ids=["two", "three"])
def test_a_model_of_blocks_is_saved_and_loaded(labels, tmp_path):
    svm, table = by_blocks()
    save(svm.fit(table, labels), tmp_path / "model")
    found = load(tmp_path / "model")
    assert found.coef_.tobytes() == svm.coef_.tobytes()
    assert found.certificate_.verify(Blocked(X, EDGES), labels)
    assert found.memory == "10MB"
    assert not hasattr(found, "support_")
