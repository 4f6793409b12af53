"""What a fit has left in an estimator, as parts: planes, support, a kernel and so on.

A part knows how it is written and read. Which parts an estimator has after a fit is said by `parts_of`, and a file
whose parts are not one of those combinations is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.certificates.proof import spell_out
from maxmargin.data.matrix import is_sparse
from maxmargin.estimators.base import single
from maxmargin.estimators.declarations import KERNEL
from maxmargin.estimators.linear import LinearSVM
from maxmargin.estimators.linear_cv import LinearSVMCV
from maxmargin.estimators.stochastic import StochasticSVM
from maxmargin.persistence.container import Arrays
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.fields import Fields, Shelf, is_text
from maxmargin.persistence.runs import read_runs, write_runs
from maxmargin.problems.kernels import KERNELS

HARD = "hard margin"  # the name under which LinearSVM(C=inf) says which solver it took

SOFT_PARTS = ("planes", "support", "bounded", "class_weight", "solver", "table")
HARD_PARTS = ("planes", "support", "support_vectors", "bounded", "class_weight", "solver")
STREAM_PARTS = ("planes", "runs")
KERNEL_PARTS = ("kernel", "support", "support_vectors")
COMBINATIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "Perceptron": (("planes",),),
    "MarginPerceptron": (("planes",),),
    "Winnow": (("planes",),),
    "HardMarginSVM": (("planes", "support", "support_vectors"),),
    "LinearSVM": (SOFT_PARTS, HARD_PARTS),
    "LinearSVMCV": ((*SOFT_PARTS, "scores"), (*HARD_PARTS, "scores")),
    "KernelSVM": ((*KERNEL_PARTS, "bounded", "class_weight"),),
    "KernelPerceptron": (KERNEL_PARTS,),
    "StochasticSVM": (("planes", "support", "runs"), STREAM_PARTS, (*KERNEL_PARTS, "runs")),
}


class Sizes(NamedTuple):
    """What the shapes of the arrays depend on."""

    planes: int
    columns: int
    classes: int


def parts_of(estimator: Any) -> tuple[str, ...]:
    """The parts that this estimator's last fit has left; others may be there from fits before."""
    combinations = COMBINATIONS[type(estimator).__name__]
    if isinstance(estimator, LinearSVM):
        return combinations[1 if estimator.solver_ == HARD else 0]
    if isinstance(estimator, StochasticSVM):
        if estimator._kernel is not None:
            return combinations[2]
        return combinations[0 if "support_" in vars(estimator) else 1]
    return combinations[0]


def write_planes(estimator: Any, fields: dict[str, Any], arrays: Arrays) -> None:
    arrays["coef"], arrays["intercept"] = estimator.coef_, estimator.intercept_


def read_planes(estimator: Any, fields: Fields, shelf: Shelf, sizes: Sizes) -> None:
    estimator.coef_ = shelf.take("coef", (sizes.planes, sizes.columns))
    estimator.intercept_ = shelf.take("intercept", (sizes.planes,))


def write_support(estimator: Any, fields: dict[str, Any], arrays: Arrays) -> None:
    arrays["support"] = estimator.support_.astype(np.int64)
    arrays["n_support"] = estimator.n_support_.astype(np.int64)
    arrays["dual_coef"] = estimator.dual_coef_


def read_support(estimator: Any, fields: Fields, shelf: Shelf, sizes: Sizes) -> None:
    support = shelf.take_rows("support")
    if np.any(np.diff(support) <= 0):
        raise Refusal("the array 'support' must rise")
    estimator.support_ = support
    estimator.n_support_ = shelf.take_rows("n_support", sizes.planes)
    estimator.dual_coef_ = shelf.take("dual_coef", (sizes.planes, len(support)))


def write_bounded(estimator: Any, fields: dict[str, Any], arrays: Arrays) -> None:
    arrays["bounded"] = estimator.bounded_


def read_bounded(estimator: Any, fields: Fields, shelf: Shelf, sizes: Sizes) -> None:
    estimator.bounded_ = shelf.take("bounded", estimator.dual_coef_.shape, ("bool",))


def write_class_weight(estimator: Any, fields: dict[str, Any], arrays: Arrays) -> None:
    arrays["class_weight"] = estimator.class_weight_


def read_class_weight(estimator: Any, fields: Fields, shelf: Shelf, sizes: Sizes) -> None:
    estimator.class_weight_ = shelf.take("class_weight", (sizes.classes,))


def write_solver(estimator: Any, fields: dict[str, Any], arrays: Arrays) -> None:
    fields["solver"] = estimator.solver_ if isinstance(estimator.solver_, list) else [estimator.solver_]


def read_solver(estimator: Any, fields: Fields, shelf: Shelf, sizes: Sizes) -> None:
    names = fields.list("solver")
    if len(names) not in (1, sizes.planes) or not all(map(is_text, names)):
        raise Refusal("'solver' must be the name of a solver for each plane")
    estimator.solver_ = single(names)


def write_table(estimator: Any, fields: dict[str, Any], arrays: Arrays) -> None:
    fields["table_rows"] = estimator._weights[0]


def read_table(estimator: Any, fields: Fields, shelf: Shelf, sizes: Sizes) -> None:
    """How many rows the table had: with the weights in the certificate, where a warm start begins."""
    n_rows = fields.whole("table_rows", least=1)
    parts = [estimator.certificate_] if sizes.planes == 1 else list(estimator.certificate_)
    if any(np.any(part.rows >= n_rows) for part in parts):
        raise Refusal(f"the certificate speaks of rows beyond the {n_rows} of the table")
    estimator._weights = (n_rows, [(part.rows, part.weights) for part in parts])


def write_scores(estimator: Any, fields: dict[str, Any], arrays: Arrays) -> None:
    assert isinstance(estimator, LinearSVMCV)
    fields["C"] = estimator.C_
    arrays["Cs"], arrays["scores"] = estimator.Cs_, estimator.scores_


def read_scores(estimator: Any, fields: Fields, shelf: Shelf, sizes: Sizes) -> None:
    estimator.C_ = fields.number("C")
    estimator.Cs_ = shelf.take("Cs", (None,))
    estimator.scores_ = shelf.take("scores", (None, len(estimator.Cs_)), finite=False)
    if estimator.C_ not in estimator.Cs_:
        raise Refusal("'C' must be one of 'Cs'")


def write_kernel(estimator: Any, fields: dict[str, Any], arrays: Arrays) -> None:
    kernel = estimator._kernel
    if kernel.is_code:
        raise Refusal(
            "its kernel is a function, and a model file holds no code. Keep the function and pickle the model, or "
            'compute the kernel yourself, fit with kernel="precomputed" and save that'
        )
    fields["kernel"] = {
        "name": kernel.name,
        "gamma": kernel.gamma,
        "coef0": kernel.coef0,
        "degree": kernel.degree,
        "is_shifted": kernel.shift is not None,
    }
    arrays["intercept"] = estimator.intercept_
    if kernel.shift is not None:
        arrays["kernel.shift"] = kernel.shift


def read_kernel(estimator: Any, fields: Fields, shelf: Shelf, sizes: Sizes) -> None:
    with fields.fields("kernel") as kernel:
        name = kernel.one_of("name", KERNEL.names())
        gamma, coef0 = kernel.number("gamma"), kernel.number("coef0")
        degree, is_shifted = kernel.whole("degree", 1), kernel.flag("is_shifted")
    if not (0.0 < gamma < math.inf and 0.0 <= coef0 < math.inf):
        raise Refusal("the kernel must have a positive gamma, and a coef0 of 0 or more")
    if name != estimator.kernel:
        raise Refusal(f"the kernel is {name}, and the parameter {estimator.kernel!r}")
    shift = shelf.take("kernel.shift", (sizes.columns,)) if is_shifted else None
    estimator._kernel = KERNELS[name](gamma, coef0, degree, shift)
    estimator.intercept_ = shelf.take("intercept", (sizes.planes,))


def write_support_vectors(estimator: Any, fields: dict[str, Any], arrays: Arrays) -> None:
    vectors: Any = estimator.support_vectors_
    if not is_sparse(vectors):
        fields["support_vectors"] = "dense"
        arrays["support_vectors"] = vectors
        return
    fields["support_vectors"] = "sparse matrix" if sparse.isspmatrix(vectors) else "sparse array"
    arrays["support_vectors.data"] = vectors.data
    arrays["support_vectors.indices"] = vectors.indices
    arrays["support_vectors.indptr"] = vectors.indptr


def read_support_vectors(estimator: Any, fields: Fields, shelf: Shelf, sizes: Sizes) -> None:
    form = fields.one_of("support_vectors", ("dense", "sparse array", "sparse matrix"))
    kernel = getattr(estimator, "_kernel", None)
    is_precomputed = kernel is not None and kernel.is_table
    if is_precomputed and np.any(estimator.support_ >= sizes.columns):
        raise Refusal("the array 'support' speaks of rows that the precomputed kernel did not have")
    shape = len(estimator.support_), 0 if is_precomputed else sizes.columns
    if form == "dense":
        estimator.support_vectors_ = shelf.take("support_vectors", shape, ("float64", "float32"))
        return
    data = shelf.take("support_vectors.data", (None,), ("float64", "float32"))
    indices = shelf.take("support_vectors.indices", data.shape, ("int32", "int64"))
    indptr = shelf.take("support_vectors.indptr", (shape[0] + 1,), (indices.dtype.name,))
    check_sparse(indices, indptr, shape[1])
    made = sparse.csr_array if form == "sparse array" else sparse.csr_matrix
    estimator.support_vectors_ = made((data, indices, indptr), shape=shape)


def check_sparse(indices: NDArray[Any], indptr: NDArray[Any], n_columns: int) -> None:
    """Rows one after the other, the columns of each rising: compiled code reads on wherever they point."""
    if indptr[0] != 0 or indptr[-1] != len(indices) or np.any(np.diff(indptr) < 0):
        raise Refusal("the array 'support_vectors.indptr' must rise from 0 to the number of entries")
    if len(indices) and (indices.min() < 0 or indices.max() >= n_columns):
        raise Refusal(f"the array 'support_vectors.indices' must be columns from 0 to {n_columns - 1}")
    falls = np.flatnonzero(np.diff(indices) <= 0) + 1
    if not np.all(np.isin(falls, indptr)):
        raise Refusal("the array 'support_vectors.indices' must rise within each row")


def write_stochastic(estimator: Any, fields: dict[str, Any], arrays: Arrays) -> None:
    fields["runs"] = spell_out(write_runs(estimator._runs, arrays))


def read_stochastic(estimator: Any, fields: Fields, shelf: Shelf, sizes: Sizes) -> None:
    estimator._runs = read_runs(fields.list("runs"), shelf, sizes.planes, sizes.columns)


WRITERS: dict[str, Callable[[Any, dict[str, Any], Arrays], None]] = {
    "planes": write_planes,
    "kernel": write_kernel,
    "support": write_support,
    "support_vectors": write_support_vectors,
    "bounded": write_bounded,
    "class_weight": write_class_weight,
    "solver": write_solver,
    "table": write_table,
    "scores": write_scores,
    "runs": write_stochastic,
}
READERS: dict[str, Callable[[Any, Fields, Shelf, Sizes], None]] = {
    "planes": read_planes,
    "kernel": read_kernel,
    "support": read_support,
    "support_vectors": read_support_vectors,
    "bounded": read_bounded,
    "class_weight": read_class_weight,
    "solver": read_solver,
    "table": read_table,
    "scores": read_scores,
    "runs": read_stochastic,
}
