"""The search for a point that two hulls share: which rows are tried, in which order, and what is made of the answer."""

import math

import numpy as np
import pytest
import scipy.sparse as sparse

from maxmargin.certificates import exact
from maxmargin.certificates.exact import (
    null_vector,
    proves_intersection,
)

NOTHING = np.zeros(0, dtype=int)
up, down = (lambda x: math.nextafter(x, math.inf)), (lambda x: math.nextafter(x, -math.inf))


def objects(values):
    found = np.empty(np.shape(values), dtype=object)
    found[...] = values
    return found


def test_a_verdict_and_an_intersection_claim_nothing_more_by_default():
    assert exact.Verdict(True, "").off == 0
    assert exact.Verdict(True, "").row is None
    assert exact.Intersection(None, "").separable is False


def test_a_null_vector_whose_sum_vanishes_keeps_its_sign():
    assert null_vector(np.ones((2, 1)), np.array([1, 1]), False) == [-1, 1]
    assert null_vector(np.array([[1.0], [-1.0]]), np.array([-1, -1]), False, np.array([1.0, 2.0])) == [1, 1]
    assert null_vector(np.array([[3.0], [1.0]]), np.array([1, -1]), False) == [1, 3]
    assert null_vector(np.array([[1.0], [3.0]]), np.array([1, 1]), False) == [3, -1]
    assert null_vector(np.array([[1.0], [1.0], [5.0]]), np.array([1, -1, 1]), True) == [1, 1, 0]
    assert null_vector(np.array([[2.0], [1.0], [5.0]]), np.array([-1, -1, 1]), False) == [2, 1, 1]


class Search:
    """Takes the place of the exact search: notes what it is asked, and answers as it is told."""

    def __init__(self, monkeypatch, circuit, *answers):
        self.asked, self.given, self.answers = [], [], list(answers)

        def float_circuit(matrix, weights):
            self.given.append((matrix, weights))
            return np.array(circuit)

        def nonnegative_null_vector(matrix, exchanges):
            self.asked.append((matrix, exchanges))
            return self.answers.pop(0)

        monkeypatch.setattr(exact, "float_circuit", float_circuit)
        monkeypatch.setattr(exact, "nonnegative_null_vector", nonnegative_null_vector)


def test_rows_are_tried_in_the_order_of_their_weights(monkeypatch):
    search = Search(monkeypatch, [0, 1, 2], (None, True))
    X, signs = np.array([[1.0], [2.0], [4.0], [8.0]]), np.array([1, -1, 1, -1])
    found = proves_intersection(X, signs, np.array([0.5, 0.75, 0.0, 0.5], dtype=np.float32), True)
    ((matrix, weights),) = search.given
    assert matrix.tolist() == [[-2, 1, -8], [-1, 1, -1]]
    assert weights.tolist() == [0.75, 0.5, 0.5]
    assert weights.dtype == np.float64
    assert [exchanges for _, exchanges in search.asked] == [30]
    assert found.separable
    assert found.reason == "These rows are separable: no weights >= 0 make their sum vanish."


@pytest.mark.parametrize(("circuit", "rows", "tried"), [(100, 150, 110), (112, 150, 120), (50, 60, 60), (99, 150, 109)])
def test_rows_beyond_a_circuit_are_added_as_work_allows(monkeypatch, circuit, rows, tried):
    search = Search(monkeypatch, range(1, circuit + 1), (None, True), (None, True))
    X, signs = np.arange(float(rows))[:, None], np.where(np.arange(rows) % 2, 1, -1)
    found = proves_intersection(X, signs, np.ones(rows), True, exchanges=7)
    assert [matrix.shape[1] for matrix, _ in search.asked] == [circuit, tried]
    assert [exchanges for _, exchanges in search.asked] == [7, 7]
    added = search.asked[1][0][0, circuit:]
    assert abs(added).tolist() == [0, *range(circuit + 1, circuit + tried - circuit)]
    assert found.separable == (tried == rows)
    if tried < rows:
        assert found.reason == f"{tried} rows were tried and no intersection found; it stays open."


def test_what_is_found_at_once_is_not_sought_again(monkeypatch):
    search = Search(monkeypatch, [0, 1], (objects([1, 1]), False))
    found = proves_intersection(np.ones((3, 1)), np.array([1, -1, 1]), np.ones(3), True)
    assert found.weights == [1, 1, 0]
    assert len(search.asked) == 1


def test_a_search_that_ended_early_proves_nothing(monkeypatch):
    Search(monkeypatch, [0, 1, 2], (None, False))
    found = proves_intersection(np.ones((3, 1)), np.array([1, -1, 1]), np.ones(3), True)
    assert not found.separable
    assert "3 rows were tried" in found.reason


@pytest.mark.parametrize("wrong", [[1, 2, 0], [-1, -1, 0], [0, 0, 0], [2, 1, -1]])
def test_a_combination_that_is_wrong_is_never_returned(monkeypatch, wrong):
    """It does not vanish; it is negative; it is nothing; one of its weights is negative."""
    Search(monkeypatch, [0, 1, 2], (objects(wrong), False))
    with pytest.raises(AssertionError, match="vanish"):
        proves_intersection(np.ones((3, 1)), np.array([1, -1, 1]), np.ones(3), True)
    Search(monkeypatch, [0, 1, 2], (objects([1, 1, 0]), False))
    with pytest.raises(AssertionError, match="vanish"):  # in the line of the bias alone
        proves_intersection(np.array([[1.0], [2.0], [1.0]]), np.array([1, -1, 1]), np.ones(3), True)


def test_a_right_combination_may_leave_rows_out(monkeypatch):
    Search(monkeypatch, [2, 0, 1], (objects([0, 4, 4]), False))
    found = proves_intersection(np.ones((3, 1)), np.array([1, -1, 1]), np.array([3.0, 2.0, 1.0]), True)
    assert found.weights == [1, 1, 0]


def test_integers_of_any_length_are_shortened_to_at_most_one():
    assert exact.shortened(objects([3, -4, 0])).tolist() == [3 / 8, -0.5, 0.0]
    assert exact.shortened(objects([0, 0])).tolist() == [0.0, 0.0]
    assert exact.shortened(objects([1])).tolist() == [0.5]
    assert exact.shortened(objects([2**2000, -(2**1999), 1])).tolist() == [0.5, -0.25, 0.0]
    assert exact.shortened(objects([2**1000 - 1, 5])).tolist() == [1.0, 5 / 2.0**1000]
    assert exact.shortened(objects([2**1001, 2**5])).tolist() == [0.5, 2.0**-997]
    assert exact.shortened(objects([2**1000, 1])).tolist() == [0.5, 0.0]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_columns_of_zeros_are_left_out(form):
    X = form(np.array([[0.0, 3.0, 0.0], [0.0, 0.0, 5.0]]))
    assert exact.signed_columns(X, np.array([1, -1]), True).tolist() == [[3, 0], [0, -5], [1, -1]]
    assert exact.signed_columns(X, np.array([1, -1]), False).tolist() == [[3, 0], [0, -5]]


def test_every_sign_is_checked():
    for signs in ([1, 0], [2, 1], [1, -2]):
        with pytest.raises(ValueError, match=r"\+1 or -1"):
            exact.check_signs(np.array(signs))
    exact.check_signs(np.array([1.0, -1.0]))


@pytest.mark.parametrize("few", [True, False])
def test_a_circuit_is_found_in_an_exact_combination(few):
    """The columns carry one null vector, up to a factor, and it has one sign; few: two null vectors to begin with."""
    random = np.random.default_rng(5)
    for trial in range(400 if few else 40):
        lines = int(random.integers(1, 5))
        width = lines + 1 if few else int(random.integers(2, 16))
        matrix = random.integers(-5, 6, (lines, width)) * 10 ** random.integers(0, 4, width)
        weights = random.integers(1, 9, width)
        matrix = np.hstack([matrix, -(matrix @ weights)[:, None]])
        weights = np.append(weights, 1.0) * 2.0 ** (50 * (trial % 40 - 20))
        columns = exact.float_circuit(matrix.astype(object), weights)
        assert np.all(np.diff(columns) > 0)
        part = matrix[:, columns].astype(float)
        _, sizes, vectors = np.linalg.svd(part / np.maximum(np.linalg.norm(part, axis=0), 1e-300))
        assert np.count_nonzero(sizes > 1e-9) == len(columns) - 1
        assert np.all(vectors[-1] > -1e-9) or np.all(vectors[-1] < 1e-9)


def test_a_circuit_of_columns_of_zeros_or_without_lines_is_one_column():
    zeros = objects(np.zeros((2, 3), dtype=int))
    assert len(exact.float_circuit(zeros, np.array([1.0, 2.0, 3.0]))) == 1
    assert exact.float_circuit(objects(np.zeros((0, 3), dtype=int)), np.array([0.0, 2.0, 3.0])).tolist() == [1]
    mixed = objects([[0, 1, -1], [0, 2, -2]])
    assert exact.float_circuit(mixed, np.array([1.0, 1.0, 1.0])).tolist() in ([0], [1, 2], [0, 1], [0, 2])
