"""Set-up of all tests: a Numba cache that belongs to exactly this source, and Ctrl-C as it is in a terminal."""

import hashlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

from hypothesis import HealthCheck, settings

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts tests in the background ignores Ctrl-C

ROOT = Path(__file__).parents[1]
CACHES = ROOT / ".numba_cache"
LAYERS_WITH_LOOPS = ("data", "reading", "problems", "solvers")  # as in _numba.py, which must not be imported yet
A_DAY = 24 * 60 * 60


def choose_numba_cache() -> Path:
    """A folder named by a hash of the layers with loops and of Numba's settings, which its own key does not see."""
    package = ROOT / "src" / "maxmargin"
    digest = hashlib.sha256((package / "_numba.py").read_bytes() + (package / "_loops.py").read_bytes())
    for layer in LAYERS_WITH_LOOPS:
        for path in sorted((package / layer).rglob("*.py")):
            digest.update(path.read_bytes())
    for name in sorted(os.environ):
        if name.startswith("NUMBA_") and name != "NUMBA_CACHE_DIR":
            digest.update(f"{name}={os.environ[name]}".encode())
    return CACHES / digest.hexdigest()[:16]


def remove_old_caches() -> None:
    """A day is kept, because another run may be using the folder of an older source."""
    for folder in CACHES.iterdir():
        if folder.stat().st_mtime < time.time() - A_DAY:
            shutil.rmtree(folder, ignore_errors=True)


# The workers of pytest-xdist inherit the choice, so that all agree even when a file is saved meanwhile.
if "PYTEST_XDIST_WORKER" not in os.environ:
    assert "numba" not in sys.modules, "Numba reads NUMBA_CACHE_DIR once, when it is imported"
    cache = choose_numba_cache()
    cache.mkdir(parents=True, exist_ok=True)
    cache.touch()
    remove_old_caches()
    os.environ["NUMBA_CACHE_DIR"] = str(cache)

# Loops are compiled from the first on, so that a test does not depend on those before it; test_uncompiled.py does not.
os.environ["MAXMARGIN_UNCOMPILED_ROWS"] = "0"

# The package is that of src/, in the tests and in the processes that they start; or, on request, the installed one.
if "MAXMARGIN_INSTALLED" not in os.environ:
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    sys.path.insert(0, str(ROOT / "src"))

# The same examples in every run: a red test is red for everybody. No deadlines: the first example compiles.
settings.register_profile(
    "house", deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("house")
