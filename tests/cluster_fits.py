"""Real fits for the tests of a cluster: a table that Dask makes, and what of a fit must have the same bits."""

import contextlib

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sparse

HEIGHT, N_BLOCKS = 600, 40
QUESTIONS = {
    "hinge": {"loss": "hinge", "tol": 1e-6},
    "squared hinge": {"loss": "squared_hinge", "tol": 1e-8},
}


def drawn(numbers):
    """Features and a label, not separable: a block by its number."""
    random = np.random.default_rng(int(numbers[0, 0]))
    X = random.standard_normal((HEIGHT, 6))
    return np.column_stack([X, X[:, 0] - X[:, 1] + 0.7 * random.standard_normal(HEIGHT) > 0.0])


def rows():
    """X and y, made on whichever worker needs them."""
    numbers = da.arange(N_BLOCKS, chunks=1)[:, None]
    table = numbers.map_blocks(drawn, chunks=((HEIGHT,) * N_BLOCKS, (7,)), dtype=float, meta=np.empty((0, 0)))
    return table[:, :6], table[:, 6].astype(int)


def sparse_words(numbers):
    """Few of many words, by the number of the block; the first two are more frequent in one class."""
    random = np.random.default_rng(int(numbers[0, 0]))
    X = (random.random((60, 3100)) < 0.01).astype(np.float32)
    X[:, 0], X[:, 1] = np.arange(60) % 2, random.random(60) < 0.2 + 0.5 * (np.arange(60) % 2)
    return sparse.csr_array(X * (random.random((60, 1)) < 0.9))


def text():
    """Many columns, more than a matrix of them has room for."""
    numbers = da.arange(4, chunks=1)[:, None]
    X = numbers.map_blocks(
        sparse_words, chunks=((60,) * 4, (3100,)), dtype=np.float32, meta=sparse.csr_array((0, 0), dtype=np.float32)
    )
    return X, da.arange(240, chunks=60) % 2


@contextlib.contextmanager
def in_one_process():
    """Also where a client is current, which a fit would use."""
    with pytest.MonkeyPatch.context() as patch, dask.config.set(scheduler="synchronous"):
        patch.setattr("maxmargin.data.cluster.current_client", lambda: None)
        yield


def bits(svm):
    certificate = svm.certificate_
    return svm.coef_.tobytes(), svm.intercept_.tobytes(), certificate.primal, certificate.dual, svm.n_iter_
