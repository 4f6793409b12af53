"""`maxmargin doctor`: what is installed, where compiled loops are kept, and whether proofs come out right."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import tempfile
import typing
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

import maxmargin
from maxmargin._loops import Loop
from maxmargin.cli.console import ExitCode, Stopwatch, messages, say, say_json, show, time_told

NEEDED = ("numpy", "scipy", "scikit-learn", "numba", "llvmlite")
EXTRAS = {
    "cli": ("typer", "rich"),
    "dask": ("dask", "distributed"),
    "data": ("pyarrow",),
    "onnx": ("onnx",),
    "play": ("starlette", "uvicorn", "websockets"),
    "plots": ("matplotlib",),
    "reference": ("cvxpy", "clarabel"),
    "skops": ("skops",),
    "sql": ("duckdb", "pyarrow"),
}


def doctor(
    warm: Annotated[
        bool, typer.Option("--warm", help="Compile the loops of all estimators into the cache, as for an image.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The findings, for machines.")] = False,
) -> int:
    """Show versions, the cache and threads, and check that proofs come out right.

    Exit code 1 if they do not.
    """
    warming = warm_up() if warm else None
    with messages.status("Fitting two tiny tables and verifying their proofs"):
        checks = self_check()
    findings = {
        "maxmargin": maxmargin.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: version_of(name) for name in NEEDED},
        "extras": {extra: {name: version_of(name) for name in names} for extra, names in EXTRAS.items()},
        "cache": cache() | ({} if warming is None else {"warmed": warming}),
        "threads": threads(),
        "self_check": checks,
        "healthy": all(check["passed"] for check in checks),
    }
    if as_json:
        say_json(findings)
    else:
        print_answer(findings)
    return ExitCode.FINE if findings["healthy"] else ExitCode.ERROR


def version_of(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def cache() -> dict[str, Any]:
    """Where compiled loops are kept between processes, as the compiler tells it."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return {"folder": None, "writable": False, "note": "NUMBA_DISABLE_JIT is set: nothing is compiled, all is slow"}
    from maxmargin.solvers import passes

    loop = typing.cast(Loop, passes.values_of_block)
    folder = getattr(getattr(loop.compiled, "stats", None), "cache_path", None)
    if folder is None:
        note = "no folder is writable: loops are compiled in every process; set NUMBA_CACHE_DIR"
        return {"folder": None, "writable": False, "note": note}
    try:
        with tempfile.TemporaryFile(dir=folder):
            return {"folder": folder, "writable": True, "note": None}
    except OSError as error:
        return {"folder": folder, "writable": False, "note": f"{error.strerror}; set NUMBA_CACHE_DIR to another folder"}


def warm_up() -> dict[str, Any]:
    """Fit every estimator on tables of each kind, compiled: the next process finds their loops in the cache."""
    from maxmargin._loops import compiled_by_now
    from maxmargin.cli.warming import fits

    before, count = compiled_by_now(), 0
    for name, fit in fits():
        with messages.status(f"Compiling what {name} needs"):
            fit()
        count += 1
    return {"fits": count, "seconds_compiling": compiled_by_now() - before}


def threads() -> dict[str, Any]:
    """How many this process may use, and what limits it."""
    from maxmargin.data.executor import cores

    limits = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    return {"usable": cores(), "limits": {name: os.environ[name] for name in limits if name in os.environ}}


def self_check() -> list[dict[str, Any]]:
    """A tiny table of each kind: is the answer right, and does its proof hold in exact arithmetic?"""
    from maxmargin.data import synthetic

    X, y, plane = synthetic.street(n=8)
    square, diagonals = synthetic.xor()
    return [
        examine("a table that a plane separates", X, y, True, plane.margin),
        examine("a table that no plane separates", square, diagonals, False, 0.0),
    ]


def examine(name: str, X: Any, y: Any, separable: bool, margin: float) -> dict[str, Any]:
    seconds = compiling = 0.0
    try:
        watch = Stopwatch()
        certificate: Any = maxmargin.separability(X, y)
        verification = certificate.verify(X, y, exact=True)
        right = certificate.is_separable is separable and abs(certificate.margin_upper - margin) <= 1e-9
        passed, found = bool(verification) and right, str(verification)
        seconds, compiling = watch.seconds, watch.compiling
    except Exception as error:  # whatever is broken here, the other findings are still wanted
        passed, found = False, f"{type(error).__name__}: {error}"
    times = {"seconds": seconds, "seconds_compiling": compiling}
    return {"name": name, "passed": passed, "found": found, **times}


def print_answer(findings: dict[str, Any]) -> None:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    rows = [
        ("maxmargin", f"{findings['maxmargin']}, in {os.path.dirname(maxmargin.__file__)}"),
        ("python", f"{findings['python']}, {sys.executable}"),
        ("platform", findings["platform"]),
    ]
    rows += [(name, version or "MISSING") for name, version in findings["packages"].items()]
    for extra, versions in findings["extras"].items():
        missing = [name for name, version in versions.items() if version is None]
        found = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
        advice = f'without {", ".join(missing)}: pip install "maxmargin[{extra}]"' if missing else ""
        rows.append((f"extra {extra}", "; ".join(part for part in (found, advice) if part)))
    kept = findings["cache"]
    rows.append(("cache", f"{kept['folder'] or 'none'}{', writable' if kept['writable'] else ''}"))
    if "warmed" in kept:
        rows.append(
            ("", f"warmed by {kept['warmed']['fits']} fits, {kept['warmed']['seconds_compiling']:.1f} s of compiling")
        )
    if kept["note"]:
        rows.append(("", kept["note"]))
    limits = "".join(f", {name}={value}" for name, value in findings["threads"]["limits"].items())
    rows.append(("threads", f"{findings['threads']['usable']}{limits}"))
    for check in findings["self_check"]:
        passed = "ok" if check["passed"] else "FAILED"
        rows.append(
            ("self-check", f"{passed} ({time_told(check['seconds'], check['seconds_compiling'])}): {check['name']}")
        )
        rows.append(("", check["found"]))
    for name, finding in rows:
        table.add_row(Text(name), Text(finding))
    show(table)
    say()
    if findings["healthy"]:
        say("All is well.")
    else:
        say("The self-check failed: answers of this installation cannot be trusted. Please report the lines above.")
