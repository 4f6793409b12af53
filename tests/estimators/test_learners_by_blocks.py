"""Learners that go row by row, on tables that are read by blocks: sweeps over the blocks, and proofs by passes."""

import dataclasses
import os
import signal
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sparse
from blocked_rows import Blocked, Made, uneven
from labelled_rows import by_blocks, two_classes
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from maxmargin import (
    HardMarginSVM,
    LinearSVM,
    MarginPerceptron,
    Perceptron,
    StochasticSVM,
    Verdict,
    Winnow,
    load,
    save,
    scan_table,
)
from maxmargin.certificates.block_margin import BlockMarginCertificate
from maxmargin.persistence.checkpoint import fit_with_checkpoints
from maxmargin.persistence.errors import ModelFileError
from maxmargin.problems.block_margin import Facts
from maxmargin.problems.choices import Order
from maxmargin.problems.protocol import StateError, restore, snapshot
from maxmargin.run.control import Status
from maxmargin.solve.block_learners import BlockPerceptron
from maxmargin.solve.mistakes_by_blocks import Learning

RANDOM = np.random.default_rng(5)
N = 700
X = RANDOM.normal(size=(N, 4)) + np.eye(4)[1]
Y = np.where(X @ [1.0, 1.0, -0.5, 0.0] + 0.7 * RANDOM.normal(size=N) > 1.0, "yes", "no")
THREE = np.array([4, 7, 9])[np.argmax(X[:, :3] + 0.3 * RANDOM.normal(size=(N, 3)), axis=1)]
WEIGHTS = RANDOM.integers(0, 4, N) * 0.5
EDGES = uneven(N)
FORMS = {"float64": X, "float32": X.astype(np.float32), "csr": sparse.csr_array(np.where(X > 0.3, X, 0.0))}


class Budgeted(Blocked):
    """Rows by blocks with a memory budget of their own, as `scan_table` has it; somebody may press Ctrl-C at a read."""

    memory = "20MB"
    interrupts_at = -1

    def block(self, k):
        if sum(self.reads.values()) == self.interrupts_at:
            os.kill(os.getpid(), signal.SIGINT)
        return super().block(k)


def table(X=X, edges=EDGES):
    return Budgeted(X, edges)


def stochastic(**parameters):
    return StochasticSVM(**{"C": 0.02, "average": True} | parameters)


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("parameters", [{}, {"step": "damped"}, {"project": True, "fit_intercept": False}])
def test_one_block_takes_the_steps_of_rows_in_memory_to_the_last_bit(shuffle, parameters):
    asked = {"shuffle": shuffle, "tol": 1e-9, "max_iter": 7, **parameters}
    with pytest.warns(ConvergenceWarning):
        found, held = stochastic(**asked).fit(table(edges=[0, N]), Y), stochastic(**asked).fit(X, Y)
    np.testing.assert_array_equal(found.coef_, held.coef_)
    np.testing.assert_array_equal(found.intercept_, held.intercept_)
    assert (found.n_updates_, found.n_iter_, found.status_) == (held.n_updates_, 7, Status.BUDGET)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("average", [True, False])
def test_the_gap_is_proven_over_many_blocks(form, average):
    rows = FORMS[form]
    svm = stochastic(average=average, tol=0.03).fit(table(rows), Y)
    certificate, best = svm.certificate_, LinearSVM(C=0.02).fit(rows, Y).certificate_
    assert isinstance(certificate, BlockMarginCertificate)
    assert svm.status_ is Status.PROVEN
    assert certificate.relative_gap <= 0.03
    assert certificate.dual <= best.primal
    assert best.dual <= certificate.primal
    assert certificate.verify(table(rows), Y)
    assert certificate.verify(table(rows), Y, exact=True)
    assert not certificate.verify(table(2.0 * rows), Y)
    for forged in ({"dual": certificate.dual * 1.001}, {"primal": certificate.primal * 0.999}):
        assert not dataclasses.replace(certificate, **forged).verify(table(rows), Y)
    assert not hasattr(svm, "support_")


def test_blocks_come_in_another_order_in_each_sweep_and_rows_as_the_seed_says():
    fits = [stochastic(random_state=seed, tol=0.03).fit(table(), Y) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    assert np.any(fits[0].coef_ != fits[2].coef_)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_many_classes_with_weights_sweep_together(multi_class):
    rows = table()
    asked = {"multi_class": multi_class, "class_weight": "balanced", "tol": 1e-9, "max_iter": 6}
    with pytest.warns(ConvergenceWarning, match="in 3 of 3"):
        svm = stochastic(**asked).fit(rows, THREE, sample_weight=WEIGHTS)
    heights_and_survey, looks = 2, 3
    assert rows.passes == heights_and_survey + 6 + looks
    assert svm.certificate_.verify(table(), THREE, sample_weight=WEIGHTS)
    assert svm.score(X, THREE) > 0.7


def test_blocks_of_one_class_each_and_an_empty_one():
    order = np.argsort(Y, kind="stable")
    edge = int(np.sum(Y == "no"))
    svm = stochastic(tol=0.1).fit(table(X[order], [0, 0, edge, N]), Y[order])
    assert svm.certificate_.verify(table(X[order], [0, 0, edge, N]), Y[order])


def test_rows_labels_and_weights_stay_in_their_file(tmp_path):
    np.save(tmp_path / "rows.npy", np.column_stack([X, Y == "yes"]))
    rows, labels, _ = scan_table(tmp_path / "rows.npy", label=-1, memory="10MB")
    svm = stochastic(tol=0.03).fit(rows, labels)
    assert svm.certificate_.verify(rows, labels)
    assert svm.score(rows, labels) == svm.score(X, (Y == "yes").astype(float))


def test_a_model_is_saved_goes_on_and_can_be_fitted_in_memory_again(tmp_path):
    svm = stochastic(tol=0.03).fit(table(), Y)
    save(svm, tmp_path / "model")
    found = load(tmp_path / "model")
    assert found.certificate_.verify(table(), Y)
    np.testing.assert_array_equal(found.predict(X), svm.predict(X))
    assert found.partial_fit(X, Y).n_iter_ == svm.n_iter_ + 1
    assert len(svm.fit(X, Y).support_)
    going_on = stochastic(tol=0.03, warm_start=True).fit(table(), Y)
    before = going_on.n_iter_
    assert going_on.fit(table(), Y).n_iter_ > before


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"kernel": "rbf"}, "a kernel keeps the rows that it learnt from, and this table is read by blocks"),
        ({"record": True}, "record keeps visits to rows in memory"),
        ({"step": 1e300}, "the steps are too long"),
        ({"C": -1.0}, "C must be a positive number"),
    ],
)
def test_what_cannot_be_is_said(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        stochastic(**parameters).fit(table(), Y)


def test_a_nan_is_named_with_block_row_and_column():
    broken = X.copy()
    broken[EDGES[1] + 2, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*block 1, row 2, column 3"):
        stochastic().fit(table(broken), Y)


def test_no_time_at_all_gives_the_true_gap():
    with pytest.warns(ConvergenceWarning, match="max_time was reached"):
        svm = stochastic(max_time=1e-9).fit(table(), Y)
    assert svm.status_ is Status.TIME
    assert svm.certificate_.verify(table(), Y)


def test_ctrl_c_within_a_sweep_keeps_what_was_found():
    rows, svm = table(), stochastic(tol=1e-9)
    rows.interrupts_at = 5 * rows.n_blocks + 3
    with pytest.raises(KeyboardInterrupt):
        svm.fit(rows, Y)
    assert svm.status_ is Status.INTERRUPTED
    assert svm.certificate_.verify(table(), Y)
    assert svm.score(X, Y) > 0.7


@pytest.mark.parametrize("learner", [stochastic(max_iter=2, tol=0.9), Perceptron(max_updates=200)])
def test_nothing_has_the_length_of_the_table(learner):
    def peak(n_blocks):
        made = Made(n_blocks, 2000)
        made.memory = "2MB"
        tracemalloc.start()
        learner.fit(made, made.labels)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(2)
    small, large = peak(4), peak(60)
    assert large - small < 56 * 2000 * 4  # bytes for each row more: half of a number


# Learning by mistakes.

APART = X[np.abs(X @ [1.0, 1.0, -0.5, 0.0] - 1.0) > 0.1]
SIDES = np.where(APART @ [1.0, 1.0, -0.5, 0.0] > 1.0, "yes", "no")
CUT = uneven(len(SIDES))
LEARNERS = [
    Perceptron(),
    Perceptron(order="shuffled"),
    Perceptron(average=True),
    MarginPerceptron(),
    MarginPerceptron(share=0.5, order="shuffled"),
    MarginPerceptron(0.05),
    Winnow(),
    Winnow(0.1, order="shuffled"),
]


@pytest.mark.parametrize("form", ["float64", "float32", "csr"])
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_plane_that_separates_with_the_certificate_of_rows_in_memory(learner, form):
    rows = {"float64": APART, "float32": APART.astype(np.float32), "csr": sparse.csr_array(APART)}[form]
    svm = learner.fit(table(rows, CUT), SIDES)
    certificate = svm.certificate_
    assert svm.status_ is Status.SETTLED
    assert certificate.verdict is Verdict.SEPARABLE
    assert np.all(svm.predict(rows) == SIDES)
    best = HardMarginSVM(norm=learner.norm_).fit(rows, SIDES).margin_
    assert certificate.margin_lower <= best <= certificate.margin_upper < np.inf
    assert certificate.verify(rows, SIDES, exact=True)
    assert certificate.verify(table(rows, CUT), SIDES)
    for forged in (
        {"margin_lower": certificate.margin_lower * 1.01},
        {"margin_upper": certificate.margin_upper * 0.99},
    ):
        assert not dataclasses.replace(certificate, **forged).verify(table(rows, CUT), SIDES)


@pytest.mark.parametrize("edges", [[0, len(SIDES)], CUT])
@pytest.mark.parametrize(
    "learner",
    [Perceptron(), MarginPerceptron(0.05), Perceptron(rate=0.3), Winnow(), Winnow(0.01)],
    ids=repr,
)
def test_in_cyclic_order_it_does_not_matter_how_the_rows_are_cut(learner, edges):
    held = learner.fit(APART, SIDES)
    known = held.coef_, held.intercept_, held.n_updates_
    found = learner.fit(table(APART, edges), SIDES)
    np.testing.assert_array_equal(found.coef_, known[0])
    np.testing.assert_array_equal(found.intercept_, known[1])
    assert found.n_updates_ == known[2]


def test_winnow_without_negative_weights():
    rows = APART * [1.0, 1.0, -1.0, 1.0]
    held, found = (Winnow(balanced=False).fit(given, SIDES) for given in (rows, table(rows, CUT)))
    assert np.all(found.coef_ >= 0.0)
    np.testing.assert_array_equal(found.coef_, held.coef_)
    assert found.certificate_.verify(rows, SIDES, exact=True)


def test_a_shuffled_order_of_one_block_is_that_of_rows_in_memory():
    found, held = (Perceptron(order="shuffled").fit(rows, SIDES) for rows in (table(APART, [0, len(SIDES)]), APART))
    np.testing.assert_array_equal(found.coef_, held.coef_)


@pytest.mark.parametrize(
    "learner",
    [Perceptron(), MarginPerceptron(), Perceptron(max_updates=30), Winnow(), Winnow(max_updates=30)],
    ids=repr,
)
def test_rows_that_no_plane_separates_end_with_an_exact_witness(learner):
    svm = learner.fit(table(), Y)
    assert svm.certificate_.verdict is Verdict.NOT_SEPARABLE
    assert svm.status_ is Status.WITNESS
    assert svm.certificate_.verify(X, Y, exact=True)
    assert svm.certificate_.verify(table(), Y, exact=True)
    assert svm.score(X, Y) > 0.7


@pytest.mark.parametrize("learner", [Perceptron(), Winnow(), Winnow(multi_class="ovo")], ids=repr)
def test_many_classes_with_blocks_of_one_class_and_an_empty_one(learner):
    labels = np.array(["a", "b", "c"])[np.arange(90) // 30]
    rows = np.repeat([[0.0, 5.0], [5.0, 0.0], [-5.0, -5.0]], 30, axis=0) + RANDOM.uniform(-1, 1, size=(90, 2))
    svm = learner.fit(table(rows, [0, 30, 30, 60, 90]), labels)
    assert svm.certificate_.verify(rows, labels, exact=True)
    assert svm.score(rows, labels) == 1.0


def test_perceptrons_out_of_time_or_interrupted_tell_what_they_have():
    with pytest.warns(ConvergenceWarning, match="max_time was reached"):
        svm = Perceptron(max_time=1e-9).fit(table(), Y)
    assert svm.certificate_.verify(table(), Y)
    rows, svm = table(), Perceptron()
    rows.interrupts_at = 4 * rows.n_blocks + 3
    with pytest.raises(KeyboardInterrupt):
        svm.fit(rows, Y)
    assert svm.status_ is Status.INTERRUPTED
    assert svm.certificate_.verify(table(), Y)


def test_mistakes_that_the_memory_does_not_hold_are_forgotten():
    rows = table(APART, CUT)
    rows.memory = 100
    svm = Perceptron().fit(rows, SIDES)
    assert svm.certificate_.margin_upper == np.inf
    assert svm.certificate_.margin_lower > 0.0
    assert svm.certificate_.verify(APART, SIDES)


@pytest.mark.parametrize(
    "learner", [Winnow(order="drawn"), Perceptron(order="drawn"), Perceptron(normalize_rows=True)], ids=repr
)
def test_other_learners_have_the_rows_in_memory(learner):
    found = learner.fit(table(APART, CUT), SIDES)
    np.testing.assert_array_equal(found.coef_, learner.fit(APART, SIDES).coef_)


# Kept between two sweeps.

SEPARABLE = (APART, CUT, SIDES)
MIXED = (X, EDGES, Y)
THREE_CLASSES = (X, EDGES, THREE)
RUNS = {
    "shuffled steps": (stochastic(tol=1e-9, max_iter=9), MIXED),
    "proven on the way": (stochastic(tol=0.03, multi_class="ovr"), THREE_CLASSES),
    "a perceptron": (Perceptron(order="shuffled"), SEPARABLE),
    "a witness": (Perceptron(), MIXED),
    "a search": (MarginPerceptron(share=0.5), SEPARABLE),
    "winnow": (Winnow(), SEPARABLE),
    "classes": (Winnow(max_updates=3000, multi_class="ovo"), THREE_CLASSES),
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_run_that_was_ended_goes_on_to_the_same_bits(name, tmp_path):
    learner, (rows, edges, labels) = RUNS[name]
    known = clone(learner).fit(table(rows, edges), labels)
    ended, reads = 0, iter([4, 6, 9, 15])
    for read, sweep in enumerate(reads):
        broken = table(rows, edges)
        broken.interrupts_at = sweep * broken.n_blocks + 3
        try:
            fit_with_checkpoints(clone(learner), broken, labels, path=tmp_path / "run", every=0.0, resume=read > 0)
        except KeyboardInterrupt:
            ended += 1
    assert ended
    found = fit_with_checkpoints(clone(learner), table(rows, edges), labels, path=tmp_path / "run", resume=True)
    np.testing.assert_array_equal(found.coef_, known.coef_)
    np.testing.assert_array_equal(found.intercept_, known.intercept_)
    assert (found.n_updates_, found.n_iter_, found.status_) == (known.n_updates_, known.n_iter_, known.status_)
    told = [one.certificate_ if len(one.coef_) > 1 else [one.certificate_] for one in (found, known)]
    for one, other in zip(*told, strict=True):
        assert (one.primal, one.dual, one.verdict) == (other.primal, other.dual, other.verdict)
    assert found.certificate_.verify(table(rows, edges), labels)


@pytest.mark.parametrize("learner", [Perceptron(), stochastic()], ids=repr)
def test_a_run_on_other_rows_does_not_go_on(learner, tmp_path):
    with pytest.warns(ConvergenceWarning):
        fit_with_checkpoints(clone(learner).set_params(max_time=1e-9), table(), Y, path=tmp_path / "run")
    with pytest.raises(ModelFileError, match="it is of a run on other data"):
        fit_with_checkpoints(clone(learner), table(2.0 * X), Y, path=tmp_path / "run", resume=True)


def test_a_file_that_names_rows_that_do_not_exist_is_refused():
    problem, rows = two_classes(by_blocks(X, Y)), by_blocks(X, Y)
    learner = BlockPerceptron(1.0, 0.0, 0.25, Order.CYCLIC, 0, 100, False)
    one, other = (Learning(rows, problem, Facts.of(rows, problem), learner, 1.0, 1e6) for _ in range(2))
    one.ids, one.counts = np.array([2**40], dtype=np.uint64), np.ones(1)
    with pytest.raises(StateError, match="cannot be of this table"):
        restore(other, snapshot(one), N)


@pytest.mark.parametrize("learner", [Perceptron(), Winnow(), MarginPerceptron()], ids=repr)
def test_the_judge_has_read_the_table_before_the_time_is_over(learner, monkeypatch):
    """The clock goes on by a second with each block that is read."""
    rows = table()
    monkeypatch.setattr("maxmargin.run.control.now", lambda: float(sum(rows.reads.values())))
    monkeypatch.setattr("maxmargin.solve.by_blocks.now", lambda: float(sum(rows.reads.values())))
    with pytest.warns(ConvergenceWarning, match="max_time was reached"):
        svm = clone(learner).set_params(max_time=6.0 * rows.n_blocks).fit(rows, Y)
    assert svm.status_ is Status.TIME
    assert sum(rows.reads.values()) <= 7 * rows.n_blocks  # with the pass that counts the rows, before the clock runs
    assert svm.certificate_.verify(table(), Y)
