"""The compiler of the loops (`_loops`): Numba, with a disk cache that forgives.

A compiled loop is cached on disk, so that a second process loads it in milliseconds. The cache is a convenience and
never a condition: where it cannot be read or written, the loop is compiled anew, one warning says so, and the answer is
the same.

No other file imports Numba, and none imports this one before a loop is to be compiled.
"""

from __future__ import annotations

import functools
import hashlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import event, sigutils
from numba.core.caching import FunctionCache
from numba.extending import intrinsic, is_jitted, typeof_impl
from numba.extending import overload as numba_overload

from maxmargin._loops import LAYERS_WITH_LOOPS, Loop, overload, overloads, touch

__all__ = ["compiler_watch", "dispatcher_of"]

# How long the compiler has worked, of all loops and threads: it compiles one loop at a time, and those that it calls
# within its time. A loop that comes from the disk cache costs nothing. Before it is `done` once there is no duration.
compiler_watch = event.TimingListener()
event.register("numba:compile", compiler_watch)


def dispatcher_of(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Numba's object for a loop; the plain function under NUMBA_DISABLE_JIT."""
    _install_overloads()
    dispatcher = numba.njit(no_cfunc_wrapper=True, **options)(function)
    if is_jitted(dispatcher):
        _enable_cache(dispatcher)
    return dispatcher


@typeof_impl.register(Loop)  # type: ignore[untyped-decorator]
def _type_of_loop(loop: Loop, context: Any) -> Any:
    """Where a loop calls another."""
    return typeof_impl(called_by_loops(loop), context)


@functools.cache
def called_by_loops(loop: Loop) -> Any:
    """The loop as others call it: without what Python needs to call it, and on disk within its callers only."""
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **loop.targetoptions)(loop.py_func)


_installed = 0  # overloads that Numba knows


def _install_overloads() -> None:
    """Those that were written since the last time."""
    global _installed
    new, _installed = overloads[_installed:], len(overloads)
    for one in new:
        numba_overload(one.stub, jit_options=one.jit_options, inline=one.inline)(one.choose)


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(_: Any, array: Any, index: Any) -> Any:
    """LLVM's own prefetch: of data, to be read, worth keeping in every cache."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        offset = context.cast(builder, arguments[1], signature.args[1], types.intp)
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        of_type = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = builder.module.globals.get("llvm.prefetch.p0") or ir.Function(
            builder.module, of_type, "llvm.prefetch.p0"
        )
        builder.call(function, [builder.bitcast(builder.gep(start, [offset]), byte), flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate


@overload(touch)
def _compile_touch(array: Any, index: Any) -> Any:
    def body(array: Any, index: Any) -> None:
        _prefetch(array, index)

    return body


class _ForgivingCache(FunctionCache):
    """Numba's disk cache, which sees edits in all that a loop can call, and for which damage is a miss."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # A loop holds the code of all that it calls, but Numba stamps it with its own file alone.
        own_file = self._cache_file._source_stamp
        self._cache_file._source_stamp = (own_file, _hash_of_loops())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            loaded = super().load_overload(sig, target_context)
        except (AttributeError, ImportError):  # of an older version: what a loop's arguments are made of was moved
            pass
        except Exception as damage:  # a broken pickle can raise anything
            _warn_once(damage)
        else:
            # Processes that save at the same time can file one signature's code under the key of another.
            if loaded is None or loaded.signature.args == sigutils.normalize_signature(sig)[0]:
                return loaded
        self._start_over()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as damage:
            _warn_once(damage)
            self.disable()

    def _start_over(self) -> None:
        try:
            self.flush()
        except OSError:
            self.disable()


def _enable_cache(dispatcher: Any) -> None:
    try:
        dispatcher._cache = _ForgivingCache(dispatcher.py_func)
    except (RuntimeError, OSError) as refusal:  # no folder is writable, or there is no source file to stamp
        _warn_once(refusal)


@functools.cache
def _hash_of_loops() -> bytes:
    """Of this file, the door, and the layers that hold loops or what loops are made of; nothing above is compiled.

    And of NUMBA_BOUNDSCHECK, which overrides the option of every loop: code without checks must not pass for checked.
    """
    package = Path(__file__).parent
    digest = hashlib.sha256(Path(__file__).read_bytes())
    digest.update((package / "_loops.py").read_bytes())
    digest.update(repr(numba.config.BOUNDSCHECK).encode())
    for layer in LAYERS_WITH_LOOPS:
        for path in sorted((package / layer).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.digest()


_warned = False


def _warn_once(reason: Exception) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"Numba's disk cache failed ({type(reason).__name__}: {reason}). Loops are compiled anew, which "
            "costs seconds and changes no answer. If this comes back, set NUMBA_CACHE_DIR to a folder that "
            "you can write to.",
            RuntimeWarning,
            stacklevel=3,
        )
