"""LinearSVM with the hinge on rows that are read by blocks: from the least memory on, the optimum of all rows."""

import re

import numpy as np
import pytest
import scipy.sparse as sparse
from blocked_rows import Blocked, uneven

from maxmargin import LinearSVM
from maxmargin.persistence.checkpoint import fit_with_checkpoints
from maxmargin.reading.scan import bytes_of
from maxmargin.run.control import Status

N = 6000
RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(N, 4)) * [1.0, 2.0, 0.3, 1.0] + 1.0
SCORE = X @ [1.0, -0.4, 2.0, 0.1] + RANDOM.logistic(size=N)
Y = np.where(SCORE > 2.0, "yes", "no")
THREE = np.digitize(SCORE, [0.5, 2.5])
WEIGHTS = RANDOM.integers(0, 3, N) * 0.5
EDGES = uneven(N)


def least_memory(table, y, **parameters):
    """What the refusal names."""
    with pytest.raises(ValueError, match="give at least") as refused:
        LinearSVM(memory="1kB", **parameters).fit(table, y)
    return str(refused.value).split("at least ")[1].split(",")[0]


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_the_least_memory_that_is_named_is_enough(form):
    rows = X if form == "dense" else sparse.csr_array(np.where(X > 0.5, X, 0.0))
    table = Blocked(rows, EDGES)
    svm = LinearSVM(memory=least_memory(table, Y), tol=1e-6).fit(table, Y)
    held = LinearSVM(tol=1e-6).fit(rows, Y).certificate_
    assert svm.status_ is Status.PROVEN
    assert svm.solver_ == "working_set"
    assert svm.certificate_.dual <= held.primal
    assert held.dual <= svm.certificate_.primal
    assert svm.certificate_.verify(Blocked(rows, EDGES), Y)
    assert svm.certificate_.verify(rows, Y)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_many_classes_with_weights(multi_class):
    asked = {"multi_class": multi_class, "class_weight": "balanced", "C": 0.1, "tol": 1e-6}
    table = Blocked(X, EDGES)
    svm = LinearSVM(memory="8MB", **asked).fit(table, THREE, sample_weight=WEIGHTS)
    held = LinearSVM(**asked).fit(X, THREE, sample_weight=WEIGHTS)
    for own, other in zip(svm.certificate_, held.certificate_, strict=True):
        assert own.is_optimal
        assert own.dual <= other.primal
        assert other.dual <= own.primal


def test_rows_at_the_margin_are_proven_in_fractions():
    """The weights are a rule of one plane and one width, or of few listed rows; here also decided exactly."""
    table, y = Blocked(X[:400], [0, 150, 400]), Y[:400]
    svm = LinearSVM(memory="8MB", tol=1e-6).fit(table, y)
    assert svm.certificate_.verify(Blocked(X[:400], [0, 150, 400]), y, exact=True)


def test_a_fit_that_was_stopped_goes_on_to_the_same_bits(tmp_path):
    path, table = tmp_path / "run.checkpoint", Blocked(X, EDGES)
    asked = {"memory": least_memory(table, Y), "tol": 1e-6}
    whole = LinearSVM(**asked).fit(table, Y)
    for passes in (1, 2, 3, 5):
        broken = Blocked(X, EDGES)
        broken.fails_at = (4, passes + 2)
        with pytest.raises(OSError, match="the disk is gone"):
            fit_with_checkpoints(LinearSVM(**asked), broken, Y, path=path, every=0.0)
        resumed = fit_with_checkpoints(LinearSVM(**asked), Blocked(X, EDGES), Y, path=path, resume=True)
        assert resumed.coef_.tobytes() == whole.coef_.tobytes()
        assert resumed.certificate_.to_json() == whole.certificate_.to_json()


def test_rows_that_pile_up_at_the_margin_are_told_before_the_third_pass(capsys):
    """30 % positive rows that weak columns hardly tell from the rest: nearly all rows lie at the margin."""
    random = np.random.default_rng(3)
    y = (random.random(8000) < 0.3).astype(int)
    rows, edges = random.normal(size=(8000, 4)) + 0.05 * y[:, None], uneven(8000)
    least = least_memory(Blocked(rows, edges), y)
    with pytest.warns(UserWarning, match="gap"):
        svm = LinearSVM(memory=least, tol=1e-9, max_iter=5, verbose=2).fit(Blocked(rows, edges), y)
    told = capsys.readouterr().err
    sentence = re.search(r"([0-9,]+) rows lie near the margin, and ([0-9,]+) fit: about (\S+) more memory", told)
    assert told.index(sentence[0]) < told.index("pass 3, block")
    assert 4000 < int(sentence[1].replace(",", "")) <= 8000
    assert told.count("lie near the margin") == 1
    proof = svm.certificate_
    assert svm.status_ is not Status.PROVEN
    assert proof.dual <= LinearSVM(tol=1e-9).fit(rows, y).certificate_.primal <= proof.primal * (1.0 + 1e-9)
    assert proof.relative_gap > 1e-9
    enough = bytes_of(least) + bytes_of(sentence[3])
    more = LinearSVM(memory=enough, tol=1e-6).fit(Blocked(rows, edges), y)
    assert more.status_ is Status.PROVEN
    assert more.n_iter_ <= 8


ODD = {
    "a column of zeros": (X * [1.0, 0.0, 1.0, 1.0], Y, 1.0),
    "a rare column": (np.where((np.arange(N) < 2)[:, None] | (np.arange(4) != 2), X, 0.0), Y, 1.0),
    "duplicated rows": (X[np.arange(N) // 7], Y[np.arange(N) // 7], 1.0),
    "a small C": (X, Y, 1e-4),
    "a large C": (X, Y, 1e4),
    "separable, with a large C": (X, np.where(X @ [1.0, -0.4, 2.0, 0.1] > 2.0, "yes", "no"), 1e4),
}


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kind", ODD)
def test_odd_tables_have_the_optimum_of_rows_in_memory(kind, loss):
    """Among the blocks are empty ones, and some of one row."""
    rows, labels, C = ODD[kind]
    held = LinearSVM(C, loss=loss, tol=1e-6).fit(rows, labels).certificate_
    svm = LinearSVM(C, loss=loss, tol=1e-5, memory="2.4MB").fit(Blocked(rows, EDGES), labels)
    assert svm.status_ is Status.PROVEN
    assert svm.certificate_.dual <= held.primal
    assert held.dual <= svm.certificate_.primal
    assert svm.certificate_.verify(Blocked(rows, EDGES), labels)
