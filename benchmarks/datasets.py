"""The sets that the benchmarks run on: real ones from a folder, and made ones: of a known gap, or noisy.

A folder of real sets holds, for a dense set, `NAME.npz` with the arrays X, y and perhaps y_bin; for a
sparse one, `NAME_X.npz` (written by scipy.sparse.save_npz), `NAME_y.npy` and perhaps `NAME_y_bin.npy`.
Where a set has many classes, y_bin is a binary task made of them, and it is the one that is loaded.

Dense sets are standardised in float64, then given back their own float type (integers become float64).
Sparse sets are divided by their largest absolute value, which keeps their zeros.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp


class LabelledSet(NamedTuple):
    """Rows X (a C-ordered array or CSR) and their labels y, -1.0 or +1.0."""

    X: np.ndarray | sp.csr_matrix
    y: np.ndarray


class SeparableGaussians(NamedTuple):
    """A standard normal cloud, cut by a plane and moved off it by `gap` on either side: the least margin."""

    n_rows: int
    n_columns: int
    gap: float
    seed: int

    def make(self) -> LabelledSet:
        random = np.random.default_rng(self.seed)
        X = random.standard_normal((self.n_rows, self.n_columns))
        normal = random.standard_normal(self.n_columns)
        normal /= np.linalg.norm(normal)
        y = np.where(X @ normal + 0.1 > 0, 1.0, -1.0)
        for column, component in zip(X.T, normal, strict=True):
            column += y * (self.gap * component)
        return LabelledSet(X, y)


MADE = {
    "gaussians_2k_x_10": SeparableGaussians(2_000, 10, gap=0.5, seed=1),
    "gaussians_3k_x_50": SeparableGaussians(3_000, 50, gap=0.2, seed=2),
    "gaussians_5k_x_20": SeparableGaussians(5_000, 20, gap=0.1, seed=3),
    "gaussians_100k_x_50": SeparableGaussians(100_000, 50, gap=0.2, seed=4),
    "gaussians_1M_x_20": SeparableGaussians(1_000_000, 20, gap=0.1, seed=5),
    "gaussians_500_x_20k": SeparableGaussians(500, 20_000, gap=0.0, seed=6),
}


class NoisyGaussians(NamedTuple):
    """A standard normal cloud, cut by a plane whose place each row sees blurred; some labels are flipped."""

    n_rows: int
    n_columns: int
    blur: float
    flipped: float
    seed: int

    def make(self) -> LabelledSet:
        random = np.random.default_rng(self.seed)
        X = random.standard_normal((self.n_rows, self.n_columns))
        normal = random.standard_normal(self.n_columns)
        normal /= np.linalg.norm(normal)
        scores = X @ normal + 0.1 + self.blur * random.standard_normal(self.n_rows)
        is_flipped = random.random(self.n_rows) < self.flipped
        return LabelledSet(X, np.where((scores > 0) ^ is_flipped, 1.0, -1.0))


NOISY = {
    "noisy_500k_x_54": NoisyGaussians(500_000, 54, blur=0.3, flipped=0.05, seed=7),
    "noisy_5M_x_18": NoisyGaussians(5_000_000, 18, blur=0.3, flipped=0.05, seed=8),
}


def load(name: str, folder: Path | None) -> LabelledSet:
    """The set of that name: a made one, or one of the real sets in the folder."""
    if name in MADE:
        return MADE[name].make()
    if name in NOISY:
        return NOISY[name].make()
    if folder is None:
        raise ValueError(f"{name} is a real set: say where it is with --data DIR")
    if (folder / f"{name}_X.npz").exists():
        return _load_sparse(name, folder)
    return _load_dense(name, folder)


def _load_dense(name: str, folder: Path) -> LabelledSet:
    with np.load(folder / f"{name}.npz") as arrays:
        X = standardise(arrays["X"])
        y = arrays["y_bin"] if "y_bin" in arrays else arrays["y"]
    return LabelledSet(X, y.astype(np.float64))


def _load_sparse(name: str, folder: Path) -> LabelledSet:
    X = sp.csr_matrix(sp.load_npz(folder / f"{name}_X.npz"))
    X.sort_indices()
    X.data /= abs(X.data).max()
    binary = folder / f"{name}_y_bin.npy"
    y = np.load(binary if binary.exists() else folder / f"{name}_y.npy")
    return LabelledSet(X, y.astype(np.float64))


def standardise(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and deviation 1; a constant column becomes 0."""
    dtype = X.dtype if np.issubdtype(X.dtype, np.floating) else np.float64
    X = X.astype(np.float64)
    constant = X.max(axis=0) == X.min(axis=0)  # asked exactly: the deviation of a constant may round to 1e-17
    X -= X.mean(axis=0)
    X /= np.where(constant, 1.0, X.std(axis=0))
    X[:, constant] = 0.0
    return np.ascontiguousarray(X, dtype=dtype)
