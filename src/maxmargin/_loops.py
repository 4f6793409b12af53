"""The door to compiled loops: `njit` and `overload` with the house defaults, and the compiler only when it pays.

A loop is the Python function that it was written as until it is compiled, and to load the compiler takes half a
second, to compile several. So the first small problems of a process, `UNCOMPILED_ROWS` in all, are solved by the same
functions as plain Python (`small_work`): many where nothing was compiled on this machine, one or two where the disk
has the code. A loop that costs NumPy no more than the compiler's code has a second form, in whole arrays (`at_once`),
which serves the first problems of up to `MOST_IN_ARRAYS` numbers as well. After these, and for everything larger,
`maxmargin._numba` is imported, and each loop is compiled when it is called. What is found either way is proven by the
same judge; the last digits may differ, because a compiled sum runs in vector registers. The count is of rows and
numbers and not of seconds, so that a program repeats its digits; only a small problem that takes longer than it should
is handed to the compiler in the middle.

Whoever wants compiled loops from the first on sets MAXMARGIN_UNCOMPILED_ROWS=0. With NUMBA_DISABLE_JIT=1 none is ever
compiled.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import math
import os
import sys
import threading
import time
import typing
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar

__all__ = [
    "Loop",
    "are_first_work",
    "are_small_work",
    "compiled_by_now",
    "compiler",
    "is_compiled",
    "is_plain",
    "is_record",
    "njit",
    "numbers_per_call",
    "overload",
    "small_work",
    "touch",
]


# Loops stand in these, and the numbers, enums and tuples that are compiled into them.
LAYERS_WITH_LOOPS = ("data", "reading", "problems", "solvers")


def first_rows() -> int:
    """How many rows a process solves without the compiler, over all its small problems: fewer where code is on disk."""
    if (wanted := os.environ.get("MAXMARGIN_UNCOMPILED_ROWS")) is not None:
        return int(wanted)
    return 150 if has_code_on_disk() else 1500


def has_code_on_disk() -> bool:
    """Whether a loop was compiled since its source was last written. What is older, of a version before this one, is
    compiled anew."""
    package = Path(__file__).parent
    found = written(os.environ.get("NUMBA_CACHE_DIR") or package / "solvers", ".nbi")  # Numba's index of a loop
    if (first := next(found, None)) is None:
        return False
    sources = max((when for layer in LAYERS_WITH_LOOPS for when in written(package / layer, ".py")), default=math.inf)
    return any(when >= sources for when in itertools.chain([first], found))


def written(folder: str | Path, ending: str) -> Iterator[float]:
    """When the files of a folder were written whose names end so."""
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith(ending):
                with suppress(OSError):  # another process is at work there
                    yield os.stat(os.path.join(place, name)).st_mtime


UNCOMPILED_ROWS = first_rows()
MOST_ROWS, MOST_NUMBERS = 300, 6_000  # of a small problem: it takes less time than loading the compiler
NUMBERS_PER_ROW = 700  # of a process, over all problems that are solved in whole arrays, for each of those rows
MOST_IN_ARRAYS = 200_000  # numbers of such a problem: a pass takes NumPy a millisecond
LEAST_IN_ARRAYS = 40_000  # as which a smaller one counts: the calls take as long as its numbers
LONGEST = 1.0  # CPU seconds that a small problem may take before it is handed to the compiler
SLOWER = 500  # times, roughly: an uncompiled loop

Function = TypeVar("Function", bound=Callable[..., Any])
Inline = Literal["always", "never"]

# These two let a sum run in vector registers. Others forget NaN and infinity, which are answers here.
FAST_MATH = frozenset({"contract", "reassoc"})

_in_arrays: ContextVar[bool] = ContextVar("in_arrays", default=False)
_uncompiled_until: ContextVar[tuple[float, float]] = ContextVar("uncompiled_until", default=(0.0, 0.0))  # CPU, wall
_rows_left, _numbers_left = UNCOMPILED_ROWS, UNCOMPILED_ROWS * NUMBERS_PER_ROW
_one_at_a_time = threading.RLock()


class Loop:
    """A function over arrays, numbers, IntEnums and importable NamedTuples that is compiled when it pays."""

    def __init__(
        self, function: Callable[..., Any], targetoptions: dict[str, Any], at_once: Callable[..., Any] | None
    ) -> None:
        functools.update_wrapper(self, function)
        self.at_once = at_once
        self.py_func, self.targetoptions = function, targetoptions  # by the names under which Numba looks for them
        self._compiled: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self._compiled is None:
            if self.at_once is not None and _in_arrays.get():
                return self.at_once(*arguments)
            if _is_uncompiled():
                return self.py_func(*arguments)
        return (self._compiled or self.compiled)(*arguments)

    def __reduce__(self) -> str:
        return self.py_func.__qualname__  # of its module

    @property
    def compiled(self) -> Any:
        """Numba's own object; under NUMBA_DISABLE_JIT the function."""
        with _one_at_a_time:
            if self._compiled is None:
                self._compiled = compiler().dispatcher_of(self.py_func, self.targetoptions)
            return self._compiled


@typing.overload
def njit(function: Function) -> Function: ...
@typing.overload
def njit(
    *, fastmath: Collection[str] = ..., inline: Inline = ..., at_once: Callable[..., Any] | None = ...
) -> Callable[[Function], Function]: ...
def njit(
    function: Function | None = None,
    *,
    fastmath: Collection[str] = (),
    inline: Inline = "never",
    at_once: Callable[..., Any] | None = None,
) -> Function | Callable[[Function], Function]:
    """Make a loop of a function.

    Written `@njit` or `@njit(fastmath={"reassoc", "contract"})`. It releases the GIL and keeps IEEE arithmetic. With
    `at_once`, the same in whole arrays, it runs so where a problem is not worth the compiler.
    """
    options = {"nogil": True, "boundscheck": False, "inline": inline, **_fast_math_option(fastmath)}

    def loop(function: Function) -> Function:
        return typing.cast(Function, Loop(function, options, at_once))

    return loop if function is None else loop(function)


class Overload(typing.NamedTuple):
    """A function that chooses the compiled body of `stub`."""

    stub: Callable[..., Any]
    choose: Callable[..., Any]
    jit_options: dict[str, set[str]]
    inline: Inline


overloads: list[Overload] = []  # all of them, in the order in which they were written


def overload(
    stub: Callable[..., Any], *, fastmath: Collection[str] = (), inline: Inline = "never"
) -> Callable[[Function], Function]:
    """Choose the compiled body of `stub` by the types of its arguments.

    The stub's own body must compute the same: it is what runs when nothing is compiled.
    """
    options = _fast_math_option(fastmath)

    def note(choose: Function) -> Function:
        overloads.append(Overload(stub, choose, options, inline))
        return choose

    return note


def _fast_math_option(flags: Collection[str]) -> dict[str, set[str]]:
    if not FAST_MATH.issuperset(flags):
        raise ValueError(f"fastmath takes {sorted(FAST_MATH)}, got {sorted(flags)}")
    # Given even when empty: a function without flags inherits those of whichever caller compiles it first.
    return {"fastmath": set(flags)}


def is_record(argument: Any, kind: type) -> bool:
    """For the choice of an overload: whether an argument's type is this NamedTuple."""
    return getattr(argument, "instance_class", None) is kind


def touch(array: Any, index: Any) -> None:
    """Ask for the cache line of array[index], of a contiguous array of one or two dimensions, before it is needed.

    Nothing is read and nothing waits. A loop that visits rows in random order spends most of its time waiting.
    """


_seconds_loading = 0.0


def compiler() -> ModuleType:
    """Numba's side of the door, loaded when it is first asked for."""
    global _seconds_loading
    begun = time.perf_counter()
    loaded = importlib.import_module("maxmargin._numba")
    _seconds_loading += time.perf_counter() - begun
    return loaded


def compiled_by_now() -> float:
    """How long this process has loaded the compiler and compiled so far: not at all, if nobody has asked for it."""
    loaded = sys.modules.get("maxmargin._numba")
    watch = getattr(loaded, "compiler_watch", None)
    return _seconds_loading + (float(watch.duration) if watch is not None and watch.done else 0.0)


def are_small_work(shapes: Collection[tuple[int, int]]) -> bool:
    """Whether problems of so many rows and columns are among the first small ones, all of them."""
    rows = sum(n_rows for n_rows, _ in shapes)
    return rows <= _rows_left and all(n <= MOST_ROWS and n * d <= MOST_NUMBERS for n, d in shapes)


def are_first_work(shapes: Collection[tuple[int, int]]) -> bool:
    """Whether problems of these sizes do without the compiler, which nobody has loaded yet: all of them small, or such
    that whole arrays serve them."""
    numbers = [max(n_rows * n_columns, LEAST_IN_ARRAYS) for n_rows, n_columns in shapes]
    are_modest = sum(numbers) <= _numbers_left and max(numbers) <= MOST_IN_ARRAYS
    return are_small_work(shapes) or (are_modest and "maxmargin._numba" not in sys.modules)


@contextmanager
def small_work(n_rows: int, n_columns: int) -> Iterator[None]:
    """Within, loops that nobody has compiled yet run in whole arrays, where they can, if the problem is one of the
    first that are not large; and as plain Python, if it is one of the first small ones."""
    global _rows_left, _numbers_left
    numbers = max(n_rows * n_columns, LEAST_IN_ARRAYS)
    is_small = are_small_work([(n_rows, n_columns)])
    is_modest = numbers <= min(MOST_IN_ARRAYS, _numbers_left)
    _rows_left -= n_rows if is_small else 0
    _numbers_left -= numbers if is_modest else 0
    in_arrays = _in_arrays.set(is_small or is_modest)
    ends = (time.thread_time() + LONGEST, time.perf_counter() + LONGEST) if is_small else (0.0, 0.0)
    until = _uncompiled_until.set(ends)
    try:
        yield
    finally:
        _in_arrays.reset(in_arrays)
        _uncompiled_until.reset(until)


def _is_uncompiled() -> bool:
    until, at_least_until = (
        _uncompiled_until.get()
    )  # the second clock is never behind, and is read in a tenth of the time
    return until > 0.0 and (time.perf_counter() < at_least_until or time.thread_time() < until)


def is_compiled(loop: Any) -> bool:
    """Whether the loop has been compiled by now."""
    return loop._compiled is not None


def is_plain(loop: Any) -> bool:
    """Whether this problem does without the compiler, as far as it can: what is written for it does not pay then."""
    return loop._compiled is None and (_in_arrays.get() or _is_uncompiled())


def numbers_per_call(compiled: int) -> int:
    """How many numbers one call may read, if so many of a compiled loop are few enough: a call cannot be stopped."""
    return compiled // SLOWER if _is_uncompiled() else compiled
