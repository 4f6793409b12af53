"""Tables as blocks: where they are cut, what is checked when they are first read, and how what they give is joined."""

import itertools
import pickle
import threading
import time
from functools import reduce
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.base import clone

from maxmargin import KernelPerceptron, KernelSVM, LinearSVM, LinearSVMCV
from maxmargin.certificates import passes as judge
from maxmargin.data import executor, table
from maxmargin.data.checking import Surveyed, checked_table, is_source
from maxmargin.data.executor import (
    OutOfTime,
    Serial,
    additions,
    executing,
    interruptible,
    join,
    parts_of,
    row_by_row,
)
from maxmargin.data.table import Block, InMemory, Part, as_table, column_at_hand, matrix_of, select
from maxmargin.data.threaded import Threaded
from maxmargin.problems.losses import HINGE, SQUARED_HINGE
from maxmargin.problems.statement import SoftMargin, at_hand
from maxmargin.solvers import passes as solver

FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


class Listed:
    """A source: blocks that are in a list."""

    def __init__(self, blocks, n_rows=None):
        self.given, self.n_rows = list(blocks), n_rows
        self.n_columns, self.n_blocks = self.given[0].shape[1], len(self.given)

    def block(self, k):
        return self.given[k]


def cut(X, edges):
    return Listed([X[start:stop] for start, stop in itertools.pairwise(edges)])


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


# ---------------------------------------------------------------------------------------------------------- in memory


def test_most_matrices_are_one_block_and_not_copied():
    for X in (np.ones((5, 3)), sparse.csr_array(np.eye(4)), np.ones((0, 3)), sparse.csr_array((0, 3)), np.ones((3, 0))):
        held = InMemory(X)
        assert held.edges == [0, X.shape[0]]
        assert (held.n_blocks, held.n_rows, held.n_columns, held.shape) == (1, *X.shape, X.shape)
        assert held.block(0).X is X
        assert held.in_memory() is X
    assert as_table(held) is held


def test_edges_follow_from_the_size_alone(monkeypatch):
    """As many rows as fit, and at least one; the rest is the last block."""
    assert table.BLOCK_NUMBERS == 2**24
    monkeypatch.setattr(table, "BLOCK_NUMBERS", 12)
    expected = {1: [0, 10], 2: [0, 6, 10], 4: [0, 3, 6, 9, 10], 5: [0, 2, 4, 6, 8, 10], 13: [*range(11)]}
    for d, edges in expected.items():
        X = np.arange(10.0 * d).reshape(10, d)
        held = InMemory(X)
        assert held.edges == edges
        assert all(np.shares_memory(block.X, X) and (X[block.rows] == block.X).all() for block in held.blocks())


def test_edges_of_a_sparse_table_follow_from_its_entries(monkeypatch):
    monkeypatch.setattr(table, "BLOCK_NUMBERS", 3)
    counts = [1, 1, 1, 1, 0, 2, 0, 4, 1, 0]
    X = sparse.csr_array(np.array([[1.0] * count + [0.0] * (5 - count) for count in counts]))
    held = InMemory(X)
    assert held.edges == [0, 3, 7, 8, 10]
    for block in held.blocks():
        assert (block.X.toarray() == X[block.rows].toarray()).all()
        assert np.shares_memory(block.X.data, X.data)
    assert (held.terms, held.numbers, held.largest) == (4, 11, 1.0)


@FORMS
def test_rows_come_in_the_order_that_is_asked(form, monkeypatch):
    monkeypatch.setattr(table, "BLOCK_NUMBERS", 6)
    X = form(np.arange(1.0, 31.0).reshape(10, 3))
    for held in (InMemory(X), Surveyed(cut(X, [0, 4, 4, 9, 10]))):
        for rows in ([9, 0, 4, 4, 3], [], [2], list(range(10))):
            assert (dense(held[np.array(rows, dtype=int)]) == dense(X)[rows]).all()
        assert (dense(held.in_memory()) == dense(X)).all()


# --------------------------------------------------------------------------------------------------- read for once


@FORMS
def test_a_source_is_surveyed(form):
    """Uneven blocks and empty ones; nobody knows how many rows there are."""
    X = form(np.array([[1.0, 0.0], [0.0, -7.0], [2.0, 3.0], [0.0, 0.0], [4.0, 0.0]]))
    held = Surveyed(cut(X, [0, 0, 1, 4, 4, 5]))
    assert held.edges == [0, 0, 1, 4, 4, 5]
    assert (held.shape, held.n_blocks, held.largest, held.terms) == ((5, 2), 5, 7.0, 2)
    assert held.numbers == (5 if sparse.issparse(X) else 10)
    assert held.is_sparse is sparse.issparse(X)
    assert held.dtype == np.float64
    assert [span.start for span in held.spans] == held.edges[:-1]
    assert [block.start for block in held.blocks()] == held.edges[:-1]
    assert (dense(matrix_of(held)) == dense(X)).all()
    assert pickle.loads(pickle.dumps(held)).edges == held.edges


def test_numbers_keep_their_precision():
    assert Surveyed(Listed([np.ones((2, 2), np.float32)] * 3)).in_memory().dtype == np.float32
    mixed = Surveyed(Listed([np.ones((2, 2), np.float32), np.ones((1, 2)), np.ones((1, 2), dtype=int)]))
    assert mixed.in_memory().dtype == np.float64
    assert [block.X.dtype for block in mixed.blocks()] == [np.float32, np.float64, np.float64]


def test_entries_that_come_twice_are_added():
    twice = sparse.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 2))
    held = Surveyed(Listed([twice, sparse.csr_array([[0.0, 5.0]])]))
    assert (held.largest, held.terms) == (5.0, 1)
    assert held.in_memory().toarray().tolist() == [[3.0, 0.0], [0.0, 5.0]]


@FORMS
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_cell_that_is_not_finite_is_named_by_its_row(form, wrong):
    X = np.ones((9, 2))
    X[7, 1] = wrong
    with pytest.raises(ValueError, match="row 7, column 1"):
        Surveyed(cut(form(X), [0, 3, 6, 9]))


@pytest.mark.parametrize(
    ("blocks", "n_rows", "words"),
    [
        ([np.ones((2, 2)), np.array([[1, 2**53 + 1]])], None, "row 2, column 1 holds 9007199254740993"),
        ([np.ones((2, 2)), np.array([[1, "word"]], dtype=object)], None, "row 2, column 1 holds 'word'"),
        ([np.ones((2, 2)), np.array([[1, 2j]])], None, "row 2, column 1"),
        ([np.ones((2, 2)), np.ones((2, 3))], None, "block 1 of X has 3 columns, not 2"),
        ([np.ones((2, 2)), sparse.csr_array(np.ones((2, 2)))], None, "block 1 of X is sparse"),
        ([np.ones((2, 2)), np.ones((2, 2))], 5, "n_rows = 5, but its 2 blocks have 4 rows"),
        ([np.ones((0, 2)), np.ones((0, 2))], None, r"0 sample\(s\) in 2 blocks"),
        ([np.ones((2, 2)), np.ones(2)], None, "Expected 2D array"),
    ],
)
def test_what_is_no_table(blocks, n_rows, words):
    with pytest.raises((TypeError, ValueError), match=words):
        Surveyed(Listed(blocks, n_rows))


def test_an_estimator_knows_its_columns():
    svm = LinearSVM().fit(Listed([np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([[4.0, 0.0]])]), [0, 1, 1])
    assert svm.n_features_in_ == 2
    with pytest.raises(ValueError, match="X has 3 features, but LinearSVM is expecting 2"):
        svm.predict(Listed([np.ones((2, 3))]))
    with pytest.raises(ValueError, match="X has 3 rows but y has the shape"):
        checked_table(LinearSVM(), Listed([np.ones((3, 2))]), [0, 1])
    assert checked_table(LinearSVM(), Listed([np.ones((3, 2))])).y is None


def test_a_block_that_changes_is_noticed():
    source = Listed([np.ones((2, 2)), np.ones((3, 2))])
    held = Surveyed(source)
    assert held.block(0).X.shape == (2, 2)
    for other in (np.ones((4, 2)), np.full((3, 2), 1.5), np.full((3, 2), np.nan)):
        source.given[1] = other
        with pytest.raises(ValueError, match="block 1 of X has changed"):
            held.block(1)
    sparse_rows = Listed([sparse.csr_array(np.eye(2))])
    held = Surveyed(sparse_rows)
    sparse_rows.given[0] = sparse.csr_array(np.ones((2, 2)))
    with pytest.raises(ValueError, match="block 0 of X has changed"):
        held.block(0)


def test_what_is_read_by_blocks():
    class Frame:  # a data frame has its columns as attributes
        n_rows = n_columns = n_blocks = 1

        def __getattr__(self, name):
            return lambda k: None

    assert is_source(Listed([np.ones((1, 1))]))
    assert not any(map(is_source, (np.ones((2, 2)), [[1.0]], None, Frame())))


@pytest.mark.parametrize("missing", ["n_rows", "n_columns", "n_blocks"])
def test_a_table_that_lacks_something_says_so(missing):
    source = Listed([np.ones((2, 2))])
    delattr(source, missing)
    with pytest.raises(TypeError, match=f"read by blocks has {missing}, too: Listed has not"):
        LinearSVM().fit(source, [0, 1])


def test_a_later_block_of_another_width_is_named_to_an_estimator():
    with pytest.raises(ValueError, match="block 1 of X has 3 columns, not 2"):
        LinearSVM().fit(Listed([np.ones((2, 2)), np.ones((2, 3))]), [0, 1, 0, 1])


class Column(NamedTuple):
    """Labels or weights that stay with the blocks of a table: all that it must have."""

    rows: Listed
    parts: list

    def block(self, k):
        return self.parts[k]


@pytest.mark.parametrize("estimator", [KernelSVM(), KernelPerceptron(), LinearSVMCV(cv=2)], ids=repr)
def test_labels_that_stay_with_the_blocks_suit_those_who_need_all_rows(estimator):
    X, y = np.array([[0.0, 1.0], [2.0, 3.0], [0.5, 1.5], [4.0, 0.0]]), ["no", "maybe", "no", "maybe"]
    source = Listed([X[:2], X[2:2], X[2:]])
    labels, weights = Column(source, [y[:2], [], y[2:]]), Column(source, [[1.0, 2.0], [], [1.0, 1.0]])
    if isinstance(estimator, KernelSVM):
        whole, own = clone(estimator).fit(X, y, [1.0, 2.0, 1.0, 1.0]), estimator.fit(source, labels, weights)
    else:
        whole, own = clone(estimator).fit(X, y), estimator.fit(source, labels)
    assert own.classes_.tolist() == ["maybe", "no"]
    assert (own.decision_function(X) == whole.decision_function(X)).all()


def test_a_column_may_know_what_its_labels_mean():
    class Numbers(Column):
        def meant(self, labels):
            return labels.astype(float)

    source = Listed([np.ones((2, 1)), np.ones((2, 1))])
    assert column_at_hand(Numbers(source, [["1", "1.0"], ["2", "1"]])).tolist() == [1.0, 1.0, 2.0, 1.0]
    assert column_at_hand(Numbers(Listed([np.ones((0, 1))]), [[]])).tolist() == []
    for other in ([1, 2], np.ones(2), source):
        assert column_at_hand(other) is other


def test_reading_can_be_ended():
    held = Surveyed(Listed([np.ones((2, 2))] * 3))

    def over():
        raise OutOfTime

    with interruptible(over), pytest.raises(OutOfTime):
        held.block(0)
    with interruptible(over), pytest.raises(OutOfTime):
        Surveyed(held.source)


# ---------------------------------------------------------------------------------------------------- parts of a table


@FORMS
def test_some_rows_of_a_table(form):
    X = form(np.arange(1.0, 21.0).reshape(10, 2))
    held = Surveyed(cut(X, [0, 3, 3, 7, 10]))
    rows = np.array([0, 2, 7, 8])
    part = select(held, rows)
    assert part.edges == [0, 2, 2, 2, 4]
    assert (dense(matrix_of(part)) == dense(X)[rows]).all()
    assert (dense(part[np.array([3, 0])]) == dense(X)[[8, 0]]).all()
    assert part.largest >= 18.0
    assert select(held, np.arange(10)) is held
    scaled = Part(held, rows, 0.5)
    assert (dense(matrix_of(scaled)) == 0.5 * dense(X)[rows]).all()
    assert (scaled.largest, scaled.dtype) == (10.0, np.float64)
    assert (dense(select(X, rows)) == dense(X)[rows]).all()


def test_a_problem_at_hand():
    X, signs, costs = np.arange(8.0).reshape(4, 2), np.array([1.0, -1.0, 1.0, -1.0]), np.ones(4)
    problem = SoftMargin(X, signs, costs, HINGE, True)
    assert at_hand(problem) is problem
    assert problem.table.block(0).X is X
    far = SoftMargin(Surveyed(cut(X, [0, 1, 4])), signs, costs, HINGE, True)
    assert (far.n_rows, far.n_columns, far.table.n_blocks) == (4, 2, 2)
    assert (at_hand(far).X == X).all()


# ----------------------------------------------------------------------------------------------------------- the tree


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 16, 63, 64, 65, 72, 73, 512, 513, 600])
def test_the_tree_is_one_of_eight_neighbours(n):
    def slowly(parts):
        while len(parts) > 1:
            parts = [reduce(lambda a, b: (a, b), parts[k : k + 8]) for k in range(0, len(parts), 8)]
        return parts[0]

    assert join(iter(range(n)), lambda a, b: (a, b)) == slowly(list(range(n)))

    def most(tree):
        return 0 if isinstance(tree, int) else 1 + max(map(most, tree))

    if n < 600:
        assert additions(n) == most(slowly(list(range(n))))


def test_no_more_than_eight_of_a_level_are_held():
    alive, most = 0, 0

    class Counted:
        def __init__(self):
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __del__(self):
            nonlocal alive
            alive -= 1

    join((Counted() for _ in range(512)), lambda a, b: Counted())
    assert most <= 8 * 4 + 2


class Start(NamedTuple):
    """Where a block begins, after a while: the first blocks take longest."""

    wait: float

    def __call__(self, block, *slices):
        time.sleep(self.wait * (8 - block.number % 8))
        return block.start, [part.tolist() for part in slices], threading.get_ident()


def test_parts_come_in_the_order_of_the_blocks():
    X = np.arange(20.0).reshape(20, 1)
    held = Surveyed(cut(X, range(0, 21, 2)))
    for who, threads in ((Serial(), 1), (Threaded(3), 3)):
        with executing(who):
            found = list(parts_of(Start(0.002), held, X[:, 0], X[:, 0] > 10))
        assert [start for start, _, _ in found] == held.edges[:-1]
        assert [part for _, (part, _), _ in found] == X.reshape(10, 2).tolist()
        assert len({thread for _, _, thread in found}) == threads


def test_one_block_is_called_directly(monkeypatch):
    monkeypatch.setattr(executor, "EXECUTOR", None)  # nobody is asked
    X, weights = np.arange(4.0).reshape(2, 2), np.ones(2)
    [found] = parts_of(lambda block, c: (block, c), InMemory(X), weights)
    assert found[0] == Block(0, 0, X)
    assert found[1] is weights
    assert row_by_row(lambda block: weights, InMemory(X)) is weights


def test_an_error_in_a_thread_is_an_error():
    held = Surveyed(Listed([np.ones((1, 1))] * 9))

    def fails(block):
        raise ZeroDivisionError(f"block {block.number}")

    with executing(Threaded(2)), pytest.raises(ZeroDivisionError, match="block 0"):
        list(parts_of(fails, held))


# ------------------------------------------------------------------------------------------------------------- passes


def random_table(form, n=211, d=5):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.5)
    edges = [0, 0, 1, *sorted(random.integers(2, n, 17).tolist()), n, n]
    return form(X), Surveyed(cut(form(X), edges)), random


@FORMS
def test_passes_by_blocks_agree_with_those_over_the_matrix(form):
    X, held, random = random_table(form)
    w, a = random.normal(size=5), random.random(211)
    assert (judge.values_of(held, w) == judge.values_of(X, w)).all()
    assert (judge.sizes_of(held, abs(w)) == judge.sizes_of(X, abs(w))).all()
    assert (judge.lengths_of(held, 9.0) == judge.lengths_of(X, 9.0)).all()
    assert judge.longest_row(held) == judge.longest_row(X)
    assert np.allclose(judge.margins_of(held, w)[0], X @ w, rtol=1e-13)
    assert judge.margins_of(held, w)[1] == abs(X).max()
    assert np.allclose(judge.combination(held, a).value, X.T @ a, rtol=1e-12)
    assert (solver.values_of(held, w) == solver.values_of(X, w)).all()


@FORMS
def test_sums_count_the_additions_of_the_tree(form):
    """21 blocks: eight neighbours, then three of these."""
    _, held, random = random_table(form)
    a = random.random(211)
    assert held.n_blocks == 21
    longest = max(judge.combined(block, a[block.rows]).roundings for block in held.blocks())
    assert judge.combination(held, a).roundings == longest + 7 + 2
    found = judge.row_total(held, lambda rows: a[rows])
    assert found.roundings == max(judge.total(a[span])[1] for span in held.spans) + 9
    assert found.value == pytest.approx(a.sum(), rel=1e-14)


@FORMS
def test_newtons_sums_by_blocks(form):
    X, held, random = random_table(form)
    chosen = np.flatnonzero(random.random(211) < 0.3)
    c, v, centre = random.random(len(chosen)), random.normal(size=5), np.zeros(5)
    with solver.Threads() as threads:
        whole, blocks = solver.passes_over(X, threads), solver.passes_over(held, threads)
        assert (type(whole), type(blocks)) == (solver.RowPasses, solver.BlockPasses)
        assert (blocks.sparse, blocks.n_columns) == (whole.sparse, 5)
        assert blocks.numbers_per_row == pytest.approx(whole.numbers_per_row)
        assert np.allclose(blocks.combine(chosen, c), whole.combine(chosen, c))
        assert np.allclose(blocks.squares(chosen, c), whole.squares(chosen, c))
        for one, other in zip(blocks.curve(chosen, c, v), whole.curve(chosen, c, v), strict=True):
            assert np.allclose(one, other)
        one, other = (np.tril(sum(passes.outer(chosen, c, centre))) for passes in (blocks, whole))
        assert np.allclose(one, other)
        assert list(blocks.outer(chosen[:0], c[:0], centre)) == []


@FORMS
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE], ids=lambda loss: loss.name)
def test_bounds_hold_whatever_the_blocks(form, loss):
    """Of a plane and weights that have nothing to do with the rows: equal within the errors, never beyond them."""
    from maxmargin.certificates.duality import dual_value, primal_value

    X, held, random = random_table(form)
    signs = np.where(np.arange(211) < 100, 1.0, -1.0)  # many blocks have rows of one class only
    costs, w, a = random.random(211) + 0.5, random.normal(size=5), 0.4 * random.random(211)
    whole, blocks = (SoftMargin(rows, signs, costs, loss, True) for rows in (X, held))
    for one, other in (
        (primal_value(whole, w, 0.3), primal_value(blocks, w, 0.3)),
        (dual_value(whole, a), dual_value(blocks, a)),
    ):
        assert abs(one.value - other.value) <= one.error + other.error
        assert other.error <= 10.0 * one.error
        assert other.value > 0.0
    with executing(Threaded(3)):
        again = primal_value(blocks, w, 0.3), dual_value(blocks, a)
    assert again[0].value == primal_value(blocks, w, 0.3).value
    assert again[1].value == dual_value(blocks, a).value
    assert (again[1].w == dual_value(blocks, a).w).all()
