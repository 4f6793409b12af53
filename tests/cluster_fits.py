"""Real fits for the tests of a cluster: a table that Dask makes, and what of a fit must have the same bits."""

import dask.array as da
import numpy as np

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


def bits(svm):
    certificate = svm.certificate_
    return svm.coef_.tobytes(), svm.intercept_.tobytes(), certificate.primal, certificate.dual, svm.n_iter_
