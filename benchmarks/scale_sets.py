"""The sets of the scale benchmark, on disk: made ones of any number of rows, and real ones from a folder.

A set is a folder. A dense one has `rows.npy`: float32, the label (-1 or 1) in the last column. Where it is asked for,
the folder `parquet` has the same rows. A sparse one has `X.npz` (CSR) and `y.npy`, and `rows.svm`, the same as text.
They are written some rows at a time, and are kept: a folder that is complete is not written again. The rows of a real
set are shuffled once: some are sorted, which a learner that reads them in their order would not survive.

The made rows are drawn block by block, each from its own seed, so that the first rows of a long set are those of a
short one. Columns depend on each other; a third of them is normal, a third is skewed, a third is 0 or 1. The label is
the side of a plane after logistic noise: about a sixth of the rows are on the wrong side of any plane.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import datasets
import numpy as np
import scipy.sparse as sp

DRAWN = 50_000  # rows that are drawn and written at a time
GROUP_BYTES = 7_000_000  # of a row group, as float64
FILE_GROUPS = 32  # row groups of a file


class OnDisk(NamedTuple):
    """A set that has been written."""

    name: str
    folder: Path
    n_rows: int
    n_columns: int
    is_sparse: bool
    n_bytes: int  # in memory, as float32 or, of a sparse set, as CSR

    @property
    def rows(self) -> Path:
        return self.folder / ("rows.svm" if self.is_sparse else "rows.npy")

    def labelled(self) -> datasets.LabelledSet:
        """X and y; of a dense set they are maps of the file."""
        if self.is_sparse:
            return datasets.LabelledSet(sp.load_npz(self.folder / "X.npz").tocsr(), np.load(self.folder / "y.npy"))
        rows = np.load(self.rows, mmap_mode="r")
        return datasets.LabelledSet(rows[:, :-1], np.asarray(rows[:, -1], dtype=np.float64))

    def text(self) -> Path:
        """The same rows as SVMlight text, written now if they are not there."""
        path = self.folder / "rows.svm"
        if not path.exists():
            from maxmargin.reading.svmlight_writer import write_svmlight

            X, y = self.labelled()
            write_svmlight(path, X, y.astype(np.int64))
        return path

    def parquet(self) -> Path:
        """The same rows as a folder of Parquet files, written now if they are not there."""
        rows = np.load(self.rows, mmap_mode="r")
        return complete(self.folder / "parquet", lambda into: write_parquet(rows, into))


# Made rows.


def drawn(number: int, n_rows: int, n_columns: int) -> np.ndarray:
    """Rows with their label, as float32: block `number` of the made set with so many columns."""
    same, own = np.random.default_rng(n_columns), np.random.default_rng((n_columns, number))
    mixing = np.eye(n_columns) + 0.5 * same.standard_normal((n_columns, n_columns)) / np.sqrt(n_columns)
    normal = (3.0 * same.standard_normal(n_columns) / np.sqrt(n_columns)).astype(np.float32)
    middle = np.median(columns_of(same, 2_000, mixing) @ normal)
    X = columns_of(own, n_rows, mixing)
    y = np.where(X @ normal - middle - 0.5 + own.logistic(size=n_rows) > 0.0, 1.0, -1.0)
    return np.column_stack([X, y.astype(np.float32)])


def columns_of(random: np.random.Generator, n_rows: int, mixing: np.ndarray) -> np.ndarray:
    X = random.standard_normal((n_rows, len(mixing)), dtype=np.float32) @ mixing.astype(np.float32)
    third = len(mixing) // 3
    X[:, :third] = np.exp(0.5 * X[:, :third])
    X[:, third : 2 * third] = X[:, third : 2 * third] > 0.5
    return X


def made(folder: Path, n_rows: int, n_columns: int) -> OnDisk:
    name = f"made_{n_rows}_x_{n_columns}"
    blocks = (
        drawn(number, min(DRAWN, n_rows - start), n_columns) for number, start in enumerate(range(0, n_rows, DRAWN))
    )
    place = complete(folder / name, lambda into: write_npy(into / "rows.npy", blocks, n_rows, n_columns + 1))
    return OnDisk(name, place, n_rows, n_columns, False, 4 * n_rows * n_columns)


def made_sparse(folder: Path, n_rows: int, n_columns: int, entries: int) -> OnDisk:
    """Rows like those of text: columns by a power law, rows of length 1, the label a noisy plane's side."""
    name = f"made_{n_rows}_x_{n_columns}_sparse"
    random = np.random.default_rng((n_columns, entries))
    columns = (n_columns * random.random((n_rows, entries)) ** 2.5).astype(np.int32)
    values = (1.0 + random.random((n_rows, entries))) * np.log(1.0 + n_columns / (1.0 + columns))
    X = sp.csr_matrix((values.ravel(), columns.ravel(), np.arange(n_rows + 1) * entries), (n_rows, n_columns))
    X.sum_duplicates()
    X = sp.csr_matrix(sp.diags_array(1.0 / np.sqrt(X.multiply(X).sum(axis=1).A1)) @ X, dtype=np.float32)
    scores = X @ (random.standard_normal(n_columns) * (random.random(n_columns) < 0.3))
    y = np.where(5.0 * scores + random.logistic(size=n_rows) > 0.0, 1.0, -1.0)
    place = complete(folder / name, lambda into: write_sparse(into, X, y))
    return OnDisk(name, place, n_rows, n_columns, True, 8 * X.nnz + 8 * n_rows)


# Real rows.


def real(folder: Path, name: str, data: Path) -> OnDisk:
    """A real set as the other benchmarks load it, written as a table on disk."""
    X, y = datasets.load(name, data)
    n_rows, n_columns = X.shape
    order = np.random.default_rng(0).permutation(n_rows)
    X, y = X[order], y[order]
    if sp.issparse(X):
        place = complete(folder / name, lambda into: write_sparse(into, X.astype(np.float32), y))
        return OnDisk(name, place, n_rows, n_columns, True, 8 * X.nnz + 8 * n_rows)
    blocks = (
        np.column_stack([X[start : start + DRAWN], y[start : start + DRAWN]]).astype(np.float32)
        for start in range(0, n_rows, DRAWN)
    )
    place = complete(folder / name, lambda into: write_npy(into / "rows.npy", blocks, n_rows, n_columns + 1))
    return OnDisk(name, place, n_rows, n_columns, False, 4 * n_rows * n_columns)


# Files.


def complete(place: Path, write) -> Path:
    """The folder, written under another name first: if it is there, it is whole."""
    if not place.exists():
        half = place.with_name(place.name + ".half")
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(parents=True)
        write(half)
        half.rename(place)
    return place


def write_npy(path: Path, blocks: Iterator[np.ndarray], n_rows: int, width: int) -> None:
    header = {"descr": "<f4", "fortran_order": False, "shape": (n_rows, width)}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks:
            block.tofile(file)


def write_sparse(folder: Path, X: sp.csr_matrix, y: np.ndarray) -> None:
    from maxmargin.reading.svmlight_writer import write_svmlight

    sp.save_npz(folder / "X.npz", X, compressed=False)
    np.save(folder / "y.npy", y)
    write_svmlight(folder / "rows.svm", X, y.astype(np.int64))


def write_parquet(rows: np.ndarray, folder: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    names = [*(f"x{j}" for j in range(rows.shape[1] - 1)), "label"]
    schema = pyarrow.schema([(name, pyarrow.float32()) for name in names])
    height = GROUP_BYTES // (8 * rows.shape[1])
    for number, first in enumerate(range(0, len(rows), FILE_GROUPS * height)):
        path, last = folder / f"part-{number:05}.parquet", min(len(rows), first + FILE_GROUPS * height)
        with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as writer:
            for start in range(first, last, height):
                group = np.array(rows[start : min(last, start + height)])
                writer.write_table(pyarrow.table([group[:, j] for j in range(group.shape[1])], schema=schema))
