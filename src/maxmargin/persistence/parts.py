"""What a fit has left in an estimator, as parts: planes, support, a kernel and so on.

A part is a dataclass whose fields are what the file holds (`schema`). It is made `of` an estimator and `put` into one:
a field is the attribute of the same name with an underscore, unless the part says otherwise. Which parts an estimator
has after a fit is said by `parts_of`, and a file whose parts are not one of those combinations is refused.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.certificates.block_margin import BlockMarginCertificate
from maxmargin.certificates.normalized import NormalizedMargin
from maxmargin.data.table import Vector, is_sparse
from maxmargin.estimators.base import single
from maxmargin.estimators.declarations import KERNEL
from maxmargin.estimators.linear import LinearSVM
from maxmargin.estimators.stochastic import StochasticSVM
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.schema import (
    NOT_NEGATIVE,
    POSITIVE,
    RISING,
    Between,
    Fields,
    OneOf,
    Rule,
    Size,
    Sizes,
    Stored,
    shown,
    split,
)
from maxmargin.problems.descent import Descent, Position
from maxmargin.problems.kernels.base import KERNELS, Kernel, is_table

HARD = "hard margin"  # the name under which LinearSVM(C=inf) says which solver it took

SOFT_PARTS = ("planes", "support", "bounded", "class_weight", "solver", "table")
HARD_PARTS = ("planes", "support", "support_vectors", "bounded", "class_weight", "solver")
BLOCK_PARTS = ("planes", "class_weight", "solver")  # of rows by blocks: nothing has the length of the table
STREAM_PARTS = ("planes", "runs")  # or of steps over blocks
HULL_PARTS = ("planes", "support", "support_vectors")
KERNEL_PARTS = ("kernel", "support", "support_vectors")
COMBINATIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "Perceptron": (("planes",), ("planes", "normalized")),
    "MarginPerceptron": (("planes",), ("planes", "normalized")),
    "Winnow": (("planes",), ("planes", "normalized")),
    "HardMarginSVM": (HULL_PARTS, (*HULL_PARTS, "normalized")),
    "LinearSVM": (SOFT_PARTS, HARD_PARTS, BLOCK_PARTS),
    "LinearSVMCV": ((*SOFT_PARTS, "scores"), (*HARD_PARTS, "scores")),
    "KernelSVM": ((*KERNEL_PARTS, "bounded", "class_weight"),),
    "KernelPerceptron": (KERNEL_PARTS,),
    "StochasticSVM": (("planes", "support", "runs"), STREAM_PARTS, (*KERNEL_PARTS, "runs")),
}

Rows = NDArray[np.intp]
NOT_BELOW_ZERO = Rule("a number of 0 or more", lambda value: 0.0 <= value < math.inf)
POSITIVE_OR_INFINITE = Rule("a positive number or infinity", lambda value: value > 0.0)
INTEGERS, FLOATS, INDICES = ("int64",), ("float64", "float32"), ("int32", "int64")


def parts_of(estimator: Any) -> tuple[str, ...]:
    """The parts that this estimator's last fit has left; others may be there from fits before."""
    combinations = COMBINATIONS[type(estimator).__name__]
    if isinstance(estimator, LinearSVM):
        return combinations[1 if estimator.solver_ == HARD else 0 if "support_" in vars(estimator) else 2]
    if isinstance(estimator, StochasticSVM):
        if estimator._kernel is not None:
            return combinations[2]
        return combinations[0 if "support_" in vars(estimator) else 1]
    return combinations[1 if "normalized_margin_" in vars(estimator) else 0]


def refuse_other_parts(kind: str, parts: tuple[str, ...]) -> None:
    """Only a fit of rows by blocks has a certificate by blocks, and it has no other."""
    if (kind == BlockMarginCertificate.kind) != (parts in (BLOCK_PARTS, STREAM_PARTS)):
        raise Refusal("a certificate by blocks goes with a fit of rows by blocks, and with no other")


@dataclass
class Part:
    """The base of all parts. Sizes: planes, columns, classes, support, and `width`, that of the support vectors, which
    is 0 where the kernel is a table."""

    @classmethod
    def of(cls, estimator: Any) -> Self:
        return cls(**{one.name: getattr(estimator, f"{one.name}_") for one in dataclasses.fields(cls)})

    def put(self, estimator: Any, sizes: Sizes) -> None:
        for one in dataclasses.fields(self):
            setattr(estimator, f"{one.name}_", getattr(self, one.name))


@dataclass
class Planes(Part):
    coef: Annotated[Vector, Stored("planes", "columns")]
    intercept: Annotated[Vector, Stored("planes")]


@dataclass
class Normalized(Part):
    """What is proven of the rows at length 1: two bounds for each plane."""

    normalized_margin: Annotated[Vector, Stored("planes", 2, finite=False)]

    @classmethod
    def of(cls, estimator: Any) -> Self:
        return cls(np.array(estimator.normalized_margin_, dtype=np.float64).reshape(-1, 2))

    def put(self, estimator: Any, sizes: Sizes) -> None:
        if not estimator.normalize_rows or not np.all(self.normalized_margin[:, 0] <= self.normalized_margin[:, 1]):
            raise Refusal("the array 'normalized_margin' must be bounds of rows at length 1, the lower ones first")
        estimator.normalized_margin_ = single([NormalizedMargin(*row) for row in self.normalized_margin.tolist()])


@dataclass
class Support(Part):
    support: Annotated[Rows, Stored("support", types=INTEGERS), NOT_NEGATIVE, RISING]
    n_support: Annotated[Rows, Stored("planes", types=INTEGERS), NOT_NEGATIVE]
    dual_coef: Annotated[Vector, Stored("planes", "support")]


@dataclass
class Bounded(Part):
    bounded: Annotated[NDArray[np.bool_], Stored("planes", "support", types=("bool",))]


@dataclass
class ClassWeight(Part):
    class_weight: Annotated[Vector, Stored("classes")]


@dataclass
class Scores(Part):
    """Of a grid of prices."""

    C: float
    Cs: Annotated[Vector, Stored("prices")]
    scores: Annotated[Vector, Stored("folds", "prices", finite=False)]

    def __post_init__(self) -> None:
        if self.C not in self.Cs:
            raise Refusal("'C' must be one of 'Cs'")


@dataclass
class Solver(Part):
    """The names of the solvers, one for each plane or one for all."""

    solver: list[str]

    @classmethod
    def of(cls, estimator: Any) -> Self:
        return cls(estimator.solver_ if isinstance(estimator.solver_, list) else [estimator.solver_])

    def put(self, estimator: Any, sizes: Sizes) -> None:
        if len(self.solver) not in (1, sizes["planes"]):
            raise Refusal("'solver' must be the name of a solver for each plane")
        estimator.solver_ = single(self.solver)


@dataclass
class Table(Part):
    """How many rows the table had: with the weights in the certificate, where a warm start begins."""

    table_rows: Annotated[int, Between(1)]

    @classmethod
    def of(cls, estimator: Any) -> Self:
        return cls(estimator._weights[0])

    def put(self, estimator: Any, sizes: Sizes) -> None:
        parts = [estimator.certificate_] if sizes["planes"] == 1 else list(estimator.certificate_)
        if any(np.any(part.rows >= self.table_rows) for part in parts):
            raise Refusal(f"the certificate speaks of rows beyond the {self.table_rows} of the table")
        estimator._weights = (self.table_rows, [(part.rows, part.weights) for part in parts])


@dataclass
class KernelForm:
    """A kernel as a document holds it."""

    name: Annotated[str, OneOf(KERNEL.names)]
    gamma: Annotated[float, POSITIVE]
    coef0: Annotated[float, NOT_BELOW_ZERO]
    degree: Annotated[int, Between(1)]
    is_shifted: bool
    shift: Annotated[Vector | None, Stored("columns", name="kernel.shift")]

    def __post_init__(self) -> None:
        if self.is_shifted != (self.shift is not None):
            raise Refusal("the array 'kernel.shift' must be there where the kernel is shifted, and only then")

    @classmethod
    def of(cls, kernel: Kernel) -> Self:
        if kernel.is_code:
            raise Refusal(
                "its kernel is a function, and a model file holds no code. Keep the function and pickle the model, or "
                'compute the kernel yourself, fit with kernel="precomputed" and save that'
            )
        return cls(kernel.name, kernel.gamma, kernel.coef0, kernel.degree, kernel.shift is not None, kernel.shift)

    def made(self) -> Kernel:
        return KERNELS[self.name](self.gamma, self.coef0, self.degree, self.shift)


@dataclass
class KernelPlanes(Part):
    kernel: KernelForm
    intercept: Annotated[Vector, Stored("planes")]

    @classmethod
    def of(cls, estimator: Any) -> Self:
        return cls(KernelForm.of(estimator._kernel), estimator.intercept_)

    def put(self, estimator: Any, sizes: Sizes) -> None:
        if self.kernel.name != estimator.kernel:
            raise Refusal(f"the kernel is {self.kernel.name}, and the parameter {estimator.kernel!r}")
        estimator._kernel, estimator.intercept_ = self.kernel.made(), self.intercept


@dataclass
class SupportVectors(Part):
    """One array, or the three of a sparse one."""

    support_vectors: Literal["dense", "sparse array", "sparse matrix"]
    dense: Annotated[NDArray[Any] | None, Stored("support", "width", types=FLOATS, name="support_vectors")] = None
    data: Annotated[NDArray[Any] | None, Stored("entries", types=FLOATS, name="support_vectors.data")] = None
    indices: Annotated[NDArray[Any] | None, Stored("entries", types=INDICES, name="support_vectors.indices")] = None
    indptr: Annotated[NDArray[Any] | None, Stored("ends", types=INDICES, name="support_vectors.indptr")] = None

    def __post_init__(self) -> None:
        own = [self.dense is not None, *(part is not None for part in (self.data, self.indices, self.indptr))]
        if own != [self.support_vectors == "dense"] + 3 * [self.support_vectors != "dense"]:
            raise Refusal(
                f"an array of support vectors that are {self.support_vectors} is missing, or there are others"
            )

    @classmethod
    def of(cls, estimator: Any) -> Self:
        vectors: Any = estimator.support_vectors_
        if not is_sparse(vectors):
            return cls("dense", vectors)
        form: Any = "sparse matrix" if sparse.isspmatrix(vectors) else "sparse array"
        return cls(form, None, vectors.data, vectors.indices, vectors.indptr)

    def put(self, estimator: Any, sizes: Sizes) -> None:
        if sizes["width"] == 0 and np.any(estimator.support_ >= sizes["columns"]):
            raise Refusal("the array 'support' speaks of rows that the precomputed kernel did not have")
        if self.data is None or self.indices is None or self.indptr is None:
            estimator.support_vectors_ = self.dense
            return
        shape = sizes["support"], sizes["width"]
        check_sparse(self.indices, self.indptr, shape)
        made = sparse.csr_array if self.support_vectors == "sparse array" else sparse.csr_matrix
        estimator.support_vectors_ = made((self.data, self.indices, self.indptr), shape=shape)


def check_sparse(indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]) -> None:
    """Rows one after the other, the columns of each rising: compiled code reads on wherever they point."""
    n_rows, n_columns = shape
    if len(indptr) != n_rows + 1 or indptr.dtype != indices.dtype:
        raise Refusal(f"the array 'support_vectors.indptr' must have {n_rows + 1} entries, of the type of the indices")
    if indptr[0] != 0 or indptr[-1] != len(indices) or np.any(np.diff(indptr) < 0):
        raise Refusal("the array 'support_vectors.indptr' must rise from 0 to the number of entries")
    if len(indices) and (indices.min() < 0 or indices.max() >= n_columns):
        raise Refusal(f"the array 'support_vectors.indices' must be columns from 0 to {n_columns - 1}")
    falls = np.flatnonzero(np.diff(indices) <= 0) + 1
    if not np.all(np.isin(falls, indptr)):
        raise Refusal("the array 'support_vectors.indices' must rise within each row")


@dataclass
class Run:
    """A run of a `StochasticSVM` without its vectors, but with their sizes."""

    C: Annotated[float, POSITIVE]
    n_rows: Annotated[int, Between(1)]
    has_kernel: bool
    average: bool
    radius: Annotated[float, POSITIVE_OR_INFINITE]
    sizes: tuple[int, int, int, int]
    visits: int
    sweeps: int
    violations: int

    @classmethod
    def of(cls, run: Descent) -> Self:
        sizes = len(run.v), len(run.a), len(run.v_lag), len(run.a_lag)
        others = {one.name: getattr(run, one.name) for one in dataclasses.fields(cls) if one.name != "sizes"}
        return cls(sizes=sizes, **others)


VECTORS = ("v", "a", "v_lag", "a_lag")


@dataclass
class Runs(Part):
    """What a stream goes on from, and a warm start; the vectors of all runs stand one after the other."""

    runs: Annotated[list[Run], Size("planes")]
    v: Annotated[Vector, Stored("numbers of v", name="runs.v")]
    a: Annotated[Vector, Stored("numbers of a", name="runs.a")]
    v_lag: Annotated[Vector, Stored("numbers of v_lag", name="runs.v_lag")]
    a_lag: Annotated[Vector, Stored("numbers of a_lag", name="runs.a_lag")]
    position: Annotated[Vector, Stored("planes", len(Position._fields), name="runs.position")]

    @classmethod
    def of(cls, estimator: Any) -> Self:
        runs: list[Descent] = estimator._runs
        entries = [Run.of(run) for run in runs]
        vectors = {name: np.concatenate([getattr(run, name) for run in runs]) for name in VECTORS}
        return cls(entries, **vectors, position=np.array([run.position for run in runs], dtype=np.float64))

    def put(self, estimator: Any, sizes: Sizes) -> None:
        vectors = {
            name: split(getattr(self, name), [run.sizes[index] for run in self.runs], f"runs.{name}")
            for index, name in enumerate(VECTORS)
        }
        estimator._runs = []
        for index, run in enumerate(self.runs):
            v, a, v_lag, a_lag = run.sizes  # v is as long as a row, or with a kernel as the table
            if (v != a if run.has_kernel else v != sizes["columns"]) or v_lag not in (0, v) or a_lag not in (0, a):
                raise Refusal("the sizes of a run do not fit each other")
            own: dict[str, Any] = {name: value for name, value in vars(run).items() if name != "sizes"}
            own |= {name: parts[index] for name, parts in vectors.items()}
            estimator._runs.append(Descent(**own, position=Position(*self.position[index].tolist())))


PARTS: dict[str, type[Part]] = {
    "planes": Planes,
    "normalized": Normalized,
    "kernel": KernelPlanes,
    "support": Support,
    "support_vectors": SupportVectors,
    "bounded": Bounded,
    "class_weight": ClassWeight,
    "solver": Solver,
    "table": Table,
    "scores": Scores,
    "runs": Runs,
}


def put_back(estimator: Any, names: tuple[str, ...], fields: Fields) -> None:
    """These parts of a document; each is read before any is put."""
    sizes = fields.reader.sizes
    sizes["width"] = 0 if "kernel" in names and is_table(estimator.kernel) else sizes["columns"]
    for part in [fields.read(PARTS[name]) for name in names]:
        part.put(estimator, sizes)


NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
TYPES = (*NUMBERS, "bool", "str", "object")  # object: strings, as data frames hold them


@dataclass
class Labels:
    """The labels of a model: numbers, truth values or strings, sorted; never objects of another kind."""

    type: Annotated[str, OneOf(TYPES)]
    values: list[Any]

    @classmethod
    def of(cls, classes: NDArray[Any]) -> Self:
        kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
        values = classes.tolist()
        strange = [value for value in values if kind == "object" and not isinstance(value, str)]
        if kind not in TYPES or strange:
            example = shown(strange[0] if strange else values[0])
            raise Refusal(f"labels such as {example} cannot be kept: a file can hold numbers, strings, True and False")
        return cls(kind, [str(value) if isinstance(value, str) else value for value in values])

    def classes(self) -> NDArray[Any]:
        """Two or more labels, rising."""
        kind, values = self.type, self.values
        is_string, is_truth, is_float = kind in ("str", "object"), kind == "bool", kind.startswith("float")
        for value in values:
            fits = isinstance(value, str) if is_string else isinstance(value, int | float)
            if not fits or isinstance(value, bool) != is_truth or isinstance(value, float) != is_float:
                raise Refusal(f"the label {shown(value)} is not of type {kind}")
        if len(values) < 2 or any(not low < high for low, high in itertools.pairwise(values)):
            raise Refusal("the labels must be two or more, each larger than the one before")
        try:
            classes = np.array(values, dtype=kind)
        except OverflowError:
            raise Refusal(f"a label does not fit into {kind}") from None
        if kind == "float32" and classes.tolist() != values:
            raise Refusal("a label does not fit into float32")
        return classes
