"""The fingerprint of rows by blocks: as it is written down, and not as it happens to be computed."""

import numpy as np
import scipy.sparse as sparse

from maxmargin.certificates.fingerprint import MODULUS, mixed, odd, of_block, sum_of_rows


def test_the_numbers_that_look_like_chance_are_those_of_splitmix64():
    """Its first and its third output from the seed 0."""
    seeds = np.array([0, (2 * 0x9E3779B97F4A7C15) % MODULUS], dtype=np.uint64)
    assert mixed(seeds).tolist() == [0xE220A8397B1DCDAF, 0x06C45D188009454F]
    assert odd(np.arange(100)).min() % 2 == 1
    assert len(set(mixed(np.arange(10_000)).tolist())) == 10_000


def test_any_one_thing_that_changes_changes_the_sum():
    X, rows, columns = np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([0, 4]), odd(np.arange(2))
    signs, costs = np.array([1.0, -1.0]), np.array([1.0, 0.5])
    known = sum_of_rows(X, rows, signs, costs, columns)
    assert sum_of_rows(sparse.csr_array(X), rows, signs, costs, columns) == known
    others = {
        sum_of_rows(X[:, ::-1].copy(), rows, signs, costs, columns),
        sum_of_rows(np.nextafter(X, 9.0), rows, signs, costs, columns),
        sum_of_rows(X, rows + 1, signs, costs, columns),
        sum_of_rows(X, rows, -signs, costs, columns),
        sum_of_rows(X, rows, signs, 2.0 * costs, columns),
    }
    assert len(others - {known}) == 5
    assert len({of_block(k, known) for k in range(100)}) == 100
