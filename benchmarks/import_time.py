"""What a user waits for before the first answer: imports, and the first fit with and without a disk cache.

    python benchmarks/import_time.py [--rounds N]

Every number is the median over rounds. A round starts with an empty Numba cache and runs every case once,
each in a new process, so that a busy minute of the machine falls on all of them alike.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from datetime import date
from importlib.metadata import version
from pathlib import Path

BAR = 1.3  # the import may take this many times that of sklearn.svm

IMPORTS = ["import sklearn.svm", "import maxmargin", "from maxmargin import HardMarginSVM"]

TIME_IMPORT = """
from time import perf_counter
start = perf_counter()
{statement}
print([perf_counter() - start])
"""

TIME_FITS = """
from time import perf_counter
import numpy as np
from maxmargin import HardMarginSVM

rng = np.random.default_rng(0)
y = np.repeat([-1, 1], 100)
X = rng.normal(size=(200, 5)) + 4.0 * y[:, None]
seconds = []
for _ in range(2):
    start = perf_counter()
    HardMarginSVM().fit(X, y)
    seconds.append(perf_counter() - start)
print(seconds)
"""


def run(script: str, cache: str) -> list[float]:
    """The seconds that `script` prints, from a new process."""
    source = str(Path(__file__).parents[1] / "src")
    environment = os.environ | {"NUMBA_CACHE_DIR": cache, "PYTHONPATH": source}
    finished = subprocess.run(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(finished.stdout)


def measure_round() -> dict[str, float]:
    seconds = {}
    with tempfile.TemporaryDirectory() as cache:
        for statement in IMPORTS:
            (seconds[statement],) = run(TIME_IMPORT.format(statement=statement), cache)
        for process in ("first process", "second process"):
            seconds[f"first fit, {process}"], seconds[f"second fit, {process}"] = run(TIME_FITS, cache)
    return seconds


def describe_machine() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "numba"))
    return (
        f"{processor_name()}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}, {packages}, {date.today()}"
    )


def processor_name() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = [measure_round() for _ in range(parser.parse_args().rounds)]
    median = {case: statistics.median(seconds[case] for seconds in rounds) for case in rounds[0]}

    print(describe_machine())
    print(f"median of {len(rounds)} rounds, seconds\n")
    for case, seconds in median.items():
        print(f"{case:40} {seconds:8.4f}")

    peer, package, estimator = IMPORTS
    print()
    for statement in (package, estimator):
        ratio = median[statement] / median[peer]
        verdict = "within" if ratio <= BAR else "ABOVE"
        print(f"{statement}: {ratio:.2f} times {peer}, {verdict} the bar of {BAR}")
    added = median["first fit, second process"] - median["second fit, second process"]
    print(f"with a disk cache, the first fit of a process takes {added:.2f} s more than the second")


if __name__ == "__main__":
    main()
