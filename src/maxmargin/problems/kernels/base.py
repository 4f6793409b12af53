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
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.executor import Threads
from maxmargin.data.table import Matrix, Vector
from maxmargin.problems.kernels.limits import ADVICE, MOST
from maxmargin.problems.kernels.points import Points, block_sums, rows_of, weights_of

UNIT_ROUNDOFF = 2.0**-53
LEAST = math.ulp(0.0)
EXP_ERROR = 4.0  # units in the last place that NumPy's exp may be off
BLOCK = (256, 256)  # of values at a time: in the cache
NUMBERS = {"gamma": 1.0, "coef0": 0.0, "degree": 1}  # that a kernel may have, and what stands where it has none


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
            raise ValueError(
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

        def right_of(columns: slice) -> Any:
            return self.right_factor(rows_of(B, columns))

        both = A is B and sizes is None
        return block_sums(self, A, right_of, coefficients, weights_of(coefficients), threads, sizes, both)

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
