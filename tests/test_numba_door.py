"""The door to the compiler, each case in a process of its own: Numba reads its settings once, at import."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from maxmargin import _loops, _numba

LOOPS = """
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from maxmargin._loops import is_record, njit, overload


class Rows(NamedTuple):
    values: np.ndarray


class Order(IntEnum):
    FORWARDS = 1
    BACKWARDS = 2


def entry(rows, i):
    return rows.values[i]


@overload(entry, fastmath={"reassoc"})
def compile_entry(rows, i):
    if is_record(rows, Rows):
        return lambda rows, i: rows.values[i]


@njit
def weigh(rows, order, scale=1.0):
    n = len(rows.values)
    total = 0.0
    for i in range(n):
        total += scale * i * entry(rows, i if order == Order.FORWARDS else n - 1 - i)
    return total


@njit(fastmath={"reassoc", "contract"}, inline="always")
def square(x):
    return x * x
"""

REPORT = """
import json
import sys
import time
import warnings

import numpy as np

from maxmargin._loops import compiled_by_now

assert "maxmargin._numba" not in sys.modules
begun = time.perf_counter()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from loops import Order, Rows, square, weigh

    answers = [
        weigh(Rows(np.arange(4.0)), Order.FORWARDS),
        weigh(Rows(np.arange(4.0, dtype=np.float32)), Order.BACKWARDS, 2.0),
        square(3.0),
    ]

weigh = weigh.compiled
compiled = hasattr(weigh, "stats")
json.dump(
    {
        "answers": [float(answer) for answer in answers],
        "hits": sum(weigh.stats.cache_hits.values()) if compiled else None,
        "misses": sum(weigh.stats.cache_misses.values()) if compiled else None,
        "folder": weigh.stats.cache_path if compiled else None,
        "warnings": [str(warning.message) for warning in caught],
        "seconds_compiling": sys.modules["maxmargin._numba"].compiler_watch.done and compiled_by_now(),
        "seconds": time.perf_counter() - begun,
    },
    sys.stdout,
)
"""

ANSWERS = [14.0, 8.0, 9.0]


@pytest.fixture
def run(tmp_path):
    """Runs the loops above in a new process; keyword arguments are its environment, None removes one."""
    (tmp_path / "loops.py").write_text(LOOPS)
    package = tmp_path / "maxmargin"  # the door alone: these tests see no edit elsewhere
    package.mkdir()
    (package / "__init__.py").touch()
    for door in (_loops, _numba):
        (package / Path(door.__file__).name).write_text(Path(door.__file__).read_text())

    def run(script=REPORT, **settings):
        defaults = {
            "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
            "NUMBA_DISABLE_JIT": None,
            "PYTHONPATH": str(tmp_path),
        }
        environment = {**os.environ, **defaults, **settings}
        finished = subprocess.run(
            [sys.executable, "-c", script],
            env={name: value for name, value in environment.items() if value is not None},
            capture_output=True,
            text=True,
        )
        assert finished.returncode == 0, finished.stderr
        return json.loads(finished.stdout)

    return run


def cache_files(folder, suffix):
    files = sorted((folder / "cache").rglob(f"*.{suffix}"))
    assert files
    return files


def test_second_process_hits_the_cache(run):
    first, second = run(), run()
    assert first["answers"] == second["answers"] == ANSWERS
    assert (first["hits"], first["misses"]) == (0, 2)
    assert (second["hits"], second["misses"]) == (2, 0)
    assert first["warnings"] == second["warnings"] == []


def test_compiling_is_timed_and_the_cache_costs_none_of_it(run):
    first, second, plain = run(), run(), run(NUMBA_DISABLE_JIT="1")
    assert 0.0 < first["seconds_compiling"] < first["seconds"]
    assert second["seconds_compiling"] == plain["seconds_compiling"] == 0.0


FIRST, *OTHERS = _numba.LAYERS_WITH_LOOPS


@pytest.mark.parametrize("layer", [FIRST, *(pytest.param(layer, marks=pytest.mark.long) for layer in OTHERS)])
def test_an_edit_elsewhere_among_the_loops_is_a_miss(run, tmp_path, layer):
    run()
    (tmp_path / "maxmargin" / layer).mkdir()
    (tmp_path / "maxmargin" / layer / "elsewhere.py").write_text("EDITED = True")
    assert run()["hits"] == 0


OUT_OF_BOUNDS = """
import json, sys
import numpy as np
from loops import Rows, entry, njit

@njit
def read(values, i):
    return values[i]

@njit
def read_by_overload(rows, i):
    return entry(rows, i)

caught = []
for loop, rows in ((read, np.zeros(3)), (read_by_overload, Rows(np.zeros(3)))):
    loop(rows, 0)
    try:
        loop(rows, 3)
    except IndexError as error:
        caught.append(str(error))
json.dump(caught, sys.stdout)
"""


def test_bounds_are_checked_where_it_is_asked_for(run):
    """The place after the end can be read without harm; without checks nobody notices."""
    assert run(OUT_OF_BOUNDS, NUMBA_BOUNDSCHECK=None) == []
    assert run(OUT_OF_BOUNDS, NUMBA_BOUNDSCHECK="1") == ["index is out of bounds"] * 2


def test_code_without_checks_does_not_pass_for_checked(run):
    run(NUMBA_BOUNDSCHECK=None)
    checked = run(NUMBA_BOUNDSCHECK="1")
    assert (checked["answers"], checked["hits"]) == (ANSWERS, 0)
    assert run(NUMBA_BOUNDSCHECK="1")["misses"] == 0


def test_an_edit_above_the_loops_is_no_miss(run, tmp_path):
    run()
    (tmp_path / "maxmargin" / "cli.py").write_text("EDITED = True")
    assert run()["misses"] == 0


def test_every_loop_stands_in_a_layer_with_loops():
    package = Path(_numba.__file__).parent
    users = {path for path in package.rglob("*.py") if "_loops import" in path.read_text(encoding="utf-8")}
    makers = {
        path
        for path in users
        if "@njit" in path.read_text(encoding="utf-8") or "@overload(" in path.read_text(encoding="utf-8")
    }
    assert {path.relative_to(package).parts[0] for path in makers} == {"_numba.py", "data", "reading", "solvers"}
    assert set(_numba.LAYERS_WITH_LOOPS) >= {"data", "reading", "solvers"}


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("length", [pytest.param(0, marks=pytest.mark.long), 20])
def test_truncated_cache_file_is_compiled_anew_and_repaired(run, tmp_path, suffix, length):
    run()
    for file in cache_files(tmp_path, suffix):
        file.write_bytes(file.read_bytes()[:length])
    damaged, repaired = run(), run()
    assert damaged["answers"] == repaired["answers"] == ANSWERS
    assert damaged["hits"] == 0
    assert len(damaged["warnings"]) == 1
    assert "disk cache failed" in damaged["warnings"][0]
    assert (repaired["hits"], repaired["warnings"]) == (2, [])


def test_a_cache_of_an_older_version_whose_modules_have_moved_is_no_damage(run, tmp_path):
    run()
    for file in cache_files(tmp_path, "nbi"):
        version = pickle.loads(file.read_bytes())
        file.write_bytes(pickle.dumps(version) + b"cmaxmargin.a_module_that_was_moved\nRows\n.")
    upgraded, repaired = run(), run()
    assert upgraded["answers"] == repaired["answers"] == ANSWERS
    assert (upgraded["hits"], upgraded["warnings"]) == (0, [])
    assert (repaired["hits"], repaired["warnings"]) == (2, [])


def test_code_filed_under_the_wrong_signature_is_not_run(run, tmp_path):
    run()
    one, two = (file for file in cache_files(tmp_path, "nbc") if "weigh" in file.name)
    code_of_one, code_of_two = one.read_bytes(), two.read_bytes()
    one.write_bytes(code_of_two)
    two.write_bytes(code_of_one)
    assert run()["answers"] == ANSWERS


def test_unwritable_cache_folder_is_passed_over(run, tmp_path):
    (tmp_path / "file").touch()
    report = run(NUMBA_CACHE_DIR=str(tmp_path / "file" / "below"))
    assert report["answers"] == ANSWERS
    assert report["folder"] == str(tmp_path / "__pycache__")


def test_nowhere_to_cache_is_one_warning(run):
    """A read-only install with no writable home; refused by hand, since no mode bits stop a superuser."""
    refuse = """
from numba.core.caching import _CacheLocator

def refuse(locator):
    raise PermissionError("read-only")

_CacheLocator.ensure_cache_path = refuse
"""
    report = run(refuse + REPORT)
    assert report["answers"] == ANSWERS
    assert (report["folder"], report["hits"], report["misses"]) == (None, 0, 2)
    assert len(report["warnings"]) == 1
    assert "no locator available" in report["warnings"][0]


def test_read_only_install(run, tmp_path):
    tmp_path.chmod(0o500)
    if os.access(tmp_path, os.W_OK):
        pytest.skip("mode bits do not stop this user")
    try:
        report = run(NUMBA_CACHE_DIR=None, XDG_CACHE_HOME=None, HOME=str(tmp_path / "nowhere"))
    finally:
        tmp_path.chmod(0o700)
    assert report["answers"] == ANSWERS
    assert len(report["warnings"]) == 1


def test_folder_that_turns_unwritable_is_one_warning(run):
    """Disks fill up after the import, too."""
    refuse = """
from numba.core.caching import IndexDataCacheFile

def refuse(*arguments):
    raise OSError("no space left")

IndexDataCacheFile._save_data = refuse
"""
    report = run(refuse + REPORT)
    assert report["answers"] == ANSWERS
    assert len(report["warnings"]) == 1


def test_uncompiled(run):
    report = run(NUMBA_DISABLE_JIT="1")
    assert report["answers"] == ANSWERS
    assert report["hits"] is None
    assert report["warnings"] == []


def test_flags_of_a_caller_are_not_inherited(run):
    script = """
import json
import sys

import numpy as np

from maxmargin._loops import njit

@njit
def exact(x):
    total = 0.0
    for value in x:
        total += value
    return total

@njit(fastmath={"reassoc"})
def fast(x):
    return exact(x)

fast(np.ones(3))
called = sys.modules["maxmargin._numba"].called_by_loops(exact)
json.dump("reassoc" in called.inspect_llvm(called.signatures[0]), sys.stdout)
"""
    assert run(script) is False


@pytest.mark.parametrize("flag", ["fast", "nnan", "ninf"])
def test_flags_that_forget_nan_are_refused(flag):
    with pytest.raises(ValueError, match="fastmath takes"):
        _loops.njit(fastmath={flag})
    with pytest.raises(ValueError, match="fastmath takes"):
        _loops.overload(len, fastmath={flag})


SMALL_WORK = """
import json, pickle, sys
import numpy as np
from maxmargin import _loops
import loops

rows, order = loops.Rows(np.arange(4.0)), loops.Order.FORWARDS
seen = []

def weigh(n_rows, n_columns=1):
    with _loops.small_work(n_rows, n_columns):
        seen.append((float(loops.weigh(rows, order)), "numba" in sys.modules, _loops.numbers_per_call(10_000)))

weigh(10)                             # small
weigh(10, _loops.MOST_NUMBERS)        # too many numbers: compiled
weigh(10)                             # small, but it is compiled by now
seen.append(pickle.loads(pickle.dumps(loops.weigh)) is loops.weigh)
json.dump(seen, sys.stdout)
"""


def test_a_small_problem_loads_no_compiler(run):
    few = 10_000 // _loops.SLOWER
    small, large, again, same = run(SMALL_WORK, MAXMARGIN_UNCOMPILED_ROWS="100")
    assert small == [14.0, False, few]
    assert large == [14.0, True, 10_000]
    assert again == [14.0, True, few]
    assert same is True


def test_after_so_many_rows_small_problems_are_compiled_too(run):
    once_more = SMALL_WORK.replace("weigh(10, _loops.MOST_NUMBERS)", "weigh(10)")
    first, second, third, _ = run(once_more, MAXMARGIN_UNCOMPILED_ROWS="20")
    assert [loaded for _, loaded, _ in (first, second, third)] == [False, False, True]


def test_a_small_problem_that_takes_too_long_is_compiled(run):
    late = SMALL_WORK.replace("seen = []", "seen = []; _loops.LONGEST = -1.0")
    assert [loaded for _, loaded, _ in run(late, MAXMARGIN_UNCOMPILED_ROWS="100")[:3]] == [True, True, True]


def test_where_nothing_is_compiled_yet_more_rows_do_without_the_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("MAXMARGIN_UNCOMPILED_ROWS", "7")
    assert _loops.first_rows() == 7
    monkeypatch.delenv("MAXMARGIN_UNCOMPILED_ROWS")
    nothing_yet = _loops.first_rows()
    (tmp_path / "solvers").mkdir()
    index = tmp_path / "solvers" / "loop.nbi"
    index.touch()
    assert 0 < _loops.first_rows() < nothing_yet
    os.utime(index, (0.0, 0.0))
    assert _loops.first_rows() == nothing_yet  # of loops as they were before: they are compiled anew
    (tmp_path / "of this version.nbi").touch()
    assert _loops.first_rows() < nothing_yet
