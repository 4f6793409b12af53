"""A kernel: the inner product of two rows after a map phi that is never computed.

A plane in the space of phi is w = sum_j c_j phi(x_j), so that w.phi(x) = sum_j c_j k(x, x_j): rows are all it takes.

A kernel is a class that says what it is: its name, its numbers, its values in float64 and how far rounding can have
moved them. Whoever computes with one asks it. Solvers keep its values in float32; those of a `ProductKernel` they make
themselves, by matrix products. The judge adds them up in float64, with `rounding` in every bound. A class that is
registered here is known to estimators, model files, commands, the page and the judge:

    @register
    class RationalQuadratic(Kernel):
        name, parameters, formula = "rational_quadratic", ("gamma",), "1 / (1 + {gamma} |x - x'|^2)"
        def values(self, A, B): ...
        def rounding(self, A, B): ...

Values are made block by block, summed and forgotten. Users ask for a kernel by its name, or with a function of theirs;
gamma may be a word: "scale" is 1 / (columns * variance of X), "auto" 1 / columns.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.executor import Threads, block_edges, check_interrupt, one_thread_for_blas
from maxmargin.data.objects import Places
from maxmargin.data.table import Matrix, Vector, is_sparse, row_squares
from maxmargin.problems.kernels.limits import ADVICE, MOST, BeyondFloat64

UNIT_ROUNDOFF = 2.0**-53
LEAST = math.ulp(0.0)
EXP_ERROR = 4.0  # units in the last place that NumPy's exp may be off
BLOCK = (256, 256)  # of values at a time: in the cache
NUMBERS = {"gamma": 1.0, "coef0": 0.0, "degree": 1}  # that a kernel may have, and what stands where it has none
FAINT = 2.0**-1000  # added to weights: u times it is more than what a weight below the normal range can have lost
BLOCKS_AT_ONCE = 32  # of rows whose left factors are made together
ROWS = 1024  # at a time, for a variance: no second table is written


class Points(NamedTuple):
    """Rows as a kernel wants them, with |x|^2 if it is made of inner products, and their places.

    `places` are the numbers of these rows in the table that was learnt from, where they come from there.
    """

    X: Matrix
    squares: Vector
    places: NDArray[np.intp]

    @property
    def dense(self) -> NDArray[np.float64]:
        """The rows as an array, also where they are sparse."""
        return as_array(self.X)


def rows_of(points: Points, rows: slice | NDArray[np.intp]) -> Points:
    """Some of the rows."""
    squares = points.squares[rows] if len(points.squares) else points.squares
    return Points(points.X[rows], squares, points.places[rows])


def spans(start: int, stop: int, size: int) -> list[slice]:
    """start..stop in slices of that size."""
    return [slice(low, min(low + size, stop)) for low in range(start, stop, size)]


def as_array(values: Any) -> NDArray[np.float64]:
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Kernel:
    """k(x, x'), whose matrix k(X, X) is positive semidefinite, with its numbers.

    name                  by which it is asked for
    parameters            those of gamma, coef0 and degree that it has
    formula               in words, with {gamma}, {coef0} and {degree}, for reports and the page
    irrational            why it has no exact values for `verify(exact=True)`; "" where it has: by `exact_values`,
                          or, of a `ProductKernel` and a precomputed one, by the judge's own integers
    is_semidefinite       whether that is proven; if not, reports say that it is taken on trust
    is_positive           no value is below 0: sums of values are sums of their magnitudes
    is_shift_invariant    k(x - s, x' - s) = k(x, x'), so that every row may lose `shift`, and k(x, x) is one number
    is_table, is_code     the rows hold the values themselves; it is a user's function, which no file can hold
    block                 how many rows by how many rows `combine` takes at a time
    """

    name: ClassVar[str] = ""
    parameters: ClassVar[tuple[str, ...]] = ()
    formula: ClassVar[str] = ""
    irrational: ClassVar[str] = "its class has no exact values"
    is_semidefinite: ClassVar[bool] = False
    is_positive: ClassVar[bool] = False
    is_shift_invariant: ClassVar[bool] = False
    is_table: ClassVar[bool] = False
    is_code: ClassVar[bool] = False
    block: ClassVar[tuple[int, int]] = BLOCK
    suits_few: ClassVar[bool] = True  # `combine_few` is worth it

    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1
    shift: Vector | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a pickle. In older ones every kernel is a `Kernel`, told by its name, and has the fields of all."""
        if type(self) is Kernel:
            object.__setattr__(self, "__class__", KERNELS[str(state["name"])])
            known = {field.name for field in dataclasses.fields(self)}
            state = {name: value for name, value in state.items() if name in known}
        vars(self).update(state)

    # ------------------------------------------------------------------------------------ what a class must say

    def values(self, A: Points, B: Points) -> NDArray[np.float64]:
        """k(x, x') for every x of A and x' of B, in float64; a fresh array."""
        raise NotImplementedError

    def rounding(self, A: Points, B: Points) -> tuple[Vector, Vector]:
        """Bounds (r, s) for each row x of A: every computed k(x, x') of B is within r K + s of the real value.

        K is |k(x, x')|, or q(x) q(x') where the kernel has a `reach`. Where float64 may have overflowed, r is infinite.
        """
        raise NotImplementedError

    # ----------------------------------------------------------------------------------------- what it may say

    @classmethod
    def on(cls, X: Matrix, **numbers: Any) -> Self:
        """The kernel with these numbers on this table."""
        return cls(**numbers)

    def points(self, X: Matrix, places: NDArray[np.intp] | None = None) -> Points:
        """The rows X as this kernel wants them: in float64, so that the same is said of a row wherever it is met."""
        places = np.arange(X.shape[0]) if places is None else places
        return Points(X.astype(np.float64, copy=False), np.zeros(0), places)

    def compared(self, points: Points) -> Points:
        """The points as it needs them to compare them with each other."""
        return points

    def diagonal(self, A: Points) -> Vector:
        """k(x, x) of each row."""
        n = A.X.shape[0]
        own = (rows_of(A, slice(i, i + 1)) for i in range(min(n, 1) if self.is_shift_invariant else n))
        values = np.array([float(self.values(row, row)[0, 0]) for row in own])
        return np.full(n, values[0]) if n and self.is_shift_invariant else values

    def reach(self, A: Points) -> Vector | None:
        """q(x) of each row, with |k(x, x')| <= q(x) q(x') for the real values, if `rounding` speaks of it."""
        return None

    def dimension(self, n_columns: int) -> float:
        """Of the space of phi."""
        return math.inf

    def exact_values(
        self, A: NDArray[np.object_], B: NDArray[np.object_], unit: int
    ) -> tuple[NDArray[np.object_], int]:
        """The values of rows A 2^unit and B 2^unit, which are integers, as integers times a power of two."""
        raise NotImplementedError

    def refuse_beyond_float64(self, points: Points) -> None:
        """A ValueError about the first row whose values float64 cannot hold, or add up by the million."""
        with np.errstate(over="ignore", invalid="ignore"):
            own = self.diagonal(points)
        row = first_beyond(own)
        if row is not None:
            smaller = " or ".join(number for number in ("gamma", "degree") if number in self.parameters)
            raise BeyondFloat64(
                f"the {self.name} kernel of row {points.places[row]} with itself is {own[row]:.3g}, beyond what "
                f"float64 can add up; {ADVICE}{f', or give a smaller {smaller}' if smaller else ''}"
            )

    # ------------------------------------------------------------------------------------- sums over many rows

    def combine(
        self,
        A: Points,
        B: Points,
        coefficients: NDArray[np.float64],
        threads: Threads | None = None,
        sizes: Vector | None = None,
    ) -> NDArray[np.float64]:
        """sum_j k(x, x_j) c_j for each row x of A, and each column c of the coefficients; nothing large is kept.

        To `sizes`, if it is given, sum_j |k(x, x_j)| (|c_j| + 2^-1000) is added, |c_j| over all columns. Where A is B
        and there are no sizes, each value is made once and serves both of its rows.
        """

        def left_of(rows: slice) -> Any:
            return self.left_factor(rows_of(A, rows))

        def right_of(columns: slice) -> Any:
            return self.right_factor(rows_of(B, columns))

        both, weights = A is B and sizes is None, weights_of(coefficients)
        return block_sums(self, A.X.shape[0], left_of, right_of, coefficients, weights, threads, sizes, both)

    def kept(self, B: Points) -> Points:
        """What `combine_few` wants of these rows, for whoever asks for sums of few others again and again."""
        return B

    def values_beside(self, A: Points, kept: Points) -> NDArray[np.float64]:
        """The values of rows and of others that were `kept`."""
        return self.values(A, kept)

    @np.errstate(over="ignore", invalid="ignore")
    def combine_few(self, A: Points, kept: Points, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """As `combine`, of so few rows that their values are made at once."""
        return np.asarray(self.values_beside(A, kept) @ coefficients)

    def terms_of_sums(self, A: Points, B: Points) -> int:
        """How many terms `combine` adds up for a row."""
        return len(B.places)

    def left_factor(self, A: Points) -> Any:
        """What `from_factors` wants of the rows of a block."""
        return A

    def right_factor(self, B: Points) -> Any:
        """What it wants of the rows on the other side."""
        return B

    def from_factors(self, left: Any, right: Any) -> NDArray[np.float64]:
        """The values of the rows whose factors these are."""
        return self.values(left, right)


def weights_of(coefficients: NDArray[np.float64]) -> Vector:
    """|c_j| over all columns, and a little."""
    return np.asarray(np.abs(coefficients).sum(axis=1) + FAINT)


def block_sums(
    kernel: Kernel,
    n: int,
    left_of: Callable[[slice], Any],
    right_of: Callable[[slice], Any],
    coefficients: NDArray[np.float64],
    weights: Vector,
    threads: Threads | None,
    sizes: Vector | None,
    both: bool,
) -> NDArray[np.float64]:
    """The sums of each of n rows; `left_of` makes the factor of those in a slice, `right_of` that of the rows x_j.

    To `sizes`, if it is given, sum_j |k(x, x_j)| weights_j is added. With `both` the x_j are the n rows: each value
    is made once and serves both of its rows.
    """
    out = np.zeros((n, coefficients.shape[1]))
    (height, width), edges = kernel.block, block_edges(n, n * len(coefficients))
    mirrored = [np.zeros_like(out) for _ in edges] if both else []  # for each thread: its own

    @np.errstate(over="ignore", invalid="ignore")  # of this thread
    def run(block: int, start: int, stop: int) -> None:
        for some in spans(start, stop, BLOCKS_AT_ONCE * height):
            check_interrupt()
            run_some(block, some, left_of(some))

    def run_some(block: int, some: slice, left: Any) -> None:
        start, stop = some.start, some.stop
        cuts = [(slice(start + at.start, start + at.stop), at) for at in spans(0, stop - start, height)]
        parts = [(rows, rows_of(left, at) if isinstance(left, Points) else left[at]) for rows, at in cuts]
        for columns in spans(start if both else 0, len(coefficients), width):
            right = right_of(columns)
            for rows, part in parts:
                if both and columns.start < rows.start:
                    break  # these pairs, and those of the rows below, have had their turn the other way round
                check_interrupt()
                values = kernel.from_factors(part, right)
                out[rows] += values @ coefficients[columns]
                if sizes is not None:
                    sizes[rows] += np.abs(values) @ weights[columns]
                if both:
                    beyond = slice(max(rows.stop, columns.start), columns.stop)
                    mirrored[block][beyond] += values[:, beyond.start - columns.start :].T @ coefficients[rows]

    with Threads.shared(threads) as shared, one_thread_for_blas:
        shared.run(run, edges)
    return sum(mirrored, out)


def first_beyond(sizes: Vector) -> int | None:
    """The first of some numbers that is too large, or none."""
    too_large = ~(sizes <= MOST)
    return int(np.argmax(too_large)) if np.any(too_large) else None


KERNELS: dict[str, type[Kernel]] = {}
K = TypeVar("K", bound=Kernel)


def register(kind: type[K]) -> type[K]:
    """Make a class of kernels known by its name.

    >>> @register
    ... class Other(Kernel):
    ...     name = "rbf"
    Traceback (most recent call last):
        ...
    ValueError: there is a kernel 'rbf' already, another one: give yours a name of its own
    """
    if not (isinstance(kind.name, str) and kind.name.isidentifier()):
        raise ValueError(f"a kernel needs a name of letters, digits and underscores, not {kind.name!r}")
    known = KERNELS.get(kind.name, kind)
    if (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
        raise ValueError(f"there is a kernel {kind.name!r} already, another one: give yours a name of its own")
    unknown = [number for number in kind.parameters if number not in NUMBERS]
    if unknown:
        raise ValueError(f"the numbers of a kernel are {', '.join(NUMBERS)}; {kind.name} asks for {unknown[0]!r}")
    for method in ("values", "rounding"):
        if getattr(kind, method) is getattr(Kernel, method):
            raise ValueError(f"the kernel {kind.name} needs a method `{method}`")
    KERNELS[kind.name] = kind
    return kind


def names() -> tuple[str, ...]:
    """All that can be asked for by a word."""
    return tuple(name for name, kind in KERNELS.items() if not kind.is_code)


def names_of_points() -> tuple[str, ...]:
    """Those of them that compare rows, which a page can draw."""
    return tuple(name for name in names() if not KERNELS[name].is_table)


@dataclass(frozen=True, eq=False)
class KernelChoice:
    """A kernel before the data are known."""

    kernel: Any
    gamma: Any
    coef0: float
    degree: int

    def on(self, X: Matrix, weights: Vector | None = None) -> Kernel:
        """The kernel on this table; a row of weight k is k equal rows."""
        if callable(self.kernel):
            code: Any = next(kind for kind in KERNELS.values() if kind.is_code)
            return code(function=self.kernel, of_objects=isinstance(X, Places))  # type: ignore[no-any-return]
        read: dict[str, Callable[[Any], Any]] = {"gamma": partial(scale_of, X, weights), "coef0": float, "degree": int}
        kind = KERNELS[self.kernel]
        return kind.on(X, **{number: read[number](getattr(self, number)) for number in kind.parameters})


def is_table(kernel: Any) -> bool:
    """Whether rows are to hold the values of the kernel themselves; asked of whatever a user has given."""
    return isinstance(kernel, str) and kernel in KERNELS and KERNELS[kernel].is_table


def scale_of(X: Matrix, weights: Vector | None, gamma: Any) -> float:
    """gamma as a number."""
    if gamma == "auto":
        return 1.0 / int(X.shape[1])
    if gamma != "scale":
        return float(gamma)
    variance = variance_of(X, weights)
    if not variance < math.inf:
        raise BeyondFloat64(
            "gamma='scale' is 1 / (columns * variance of X), and the squares of these numbers are beyond float64; "
            "scale the columns first, for example with sklearn.preprocessing.StandardScaler, or give gamma as a number"
        )
    return 1.0 / (int(X.shape[1]) * variance) if variance > 0.0 else 1.0


def variance_of(X: Matrix, weights: Vector | None) -> float:
    """The variance of all numbers of the table; not finite where float64 cannot hold it."""
    if weights is None:
        weights = np.ones(int(X.shape[0]))
    with np.errstate(over="ignore", invalid="ignore"):
        size = float(weights.sum()) * int(X.shape[1])
        if not size > 0.0:
            return 0.0
        mean = float(weights @ np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()) / size
        if is_sparse(X):
            return float(weights @ row_squares(X)) / size - float(np.square(mean))
        total = 0.0
        for start in range(0, len(X), ROWS):
            block = np.subtract(X[start : start + ROWS], mean, dtype=np.float64)
            total += float(weights[start : start + ROWS] @ np.square(block).sum(axis=1))
        return total / size
