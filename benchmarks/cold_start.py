"""What a user waits for before the first answer: imports, and a first fit with and without compiled loops on disk.

    python benchmarks/cold_start.py [--rounds N]

CPU seconds of a whole process, the least of all rounds. A round starts with an empty Numba cache and runs every case
once, each in a new process. Bytecode is written before, as an installation does.
"""

import argparse
import math
import os
import platform
import subprocess
import sys
import tempfile
from datetime import date
from importlib.metadata import version
from pathlib import Path

SKLEARN, COLD, WARM = "LinearSVC", "cold", "warm"
SIZES = ((150, 4), (2_000, 50))
ESTIMATORS = ("LinearSVM", "KernelSVM", "HardMarginSVM", "StochasticSVM", "Perceptron")
MOST_COLD = {("LinearSVM", (150, 4)): 3.0, ("LinearSVM", (2_000, 50)): 5.0, ("KernelSVM", (150, 4)): 3.0}
MOST_WARM = 1.2  # times the process of LinearSVC

FIT = """
import warnings
import numpy as np
from {package} import {name}
warnings.simplefilter("ignore")
random = np.random.default_rng(0)
X = random.standard_normal(({rows}, {columns}))
values = X @ random.standard_normal({columns})
{name}().fit(X, values {noise} > 0)
"""


def seconds_of(script: str, folder: str) -> float:
    """CPU seconds of a new process."""
    own = {
        "NUMBA_CACHE_DIR": os.path.join(folder, "loops"),
        "PYTHONPYCACHEPREFIX": os.path.join(folder, "..", "bytecode"),
        "PYTHONPATH": str(Path(__file__).parents[1] / "src"),
    }
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen([sys.executable, "-c", script], env=inherited | own)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise RuntimeError(f"the process ended with status {status}")
    return used.ru_utime + used.ru_stime


def script_of(name: str, size: tuple[int, int]) -> str:
    package = "sklearn.svm" if name == SKLEARN else "maxmargin"
    noise = "" if name == "HardMarginSVM" else "+ 0.5 * random.standard_normal(len(X))"
    return FIT.format(package=package, name=name, rows=size[0], columns=size[1], noise=noise)


def measure_round(folder: str) -> dict[tuple[str, tuple[int, int], str], float]:
    seconds = {}
    for size in SIZES:
        seconds[SKLEARN, size, WARM] = seconds_of(script_of(SKLEARN, size), folder)
        for name in ESTIMATORS:
            with tempfile.TemporaryDirectory(dir=folder) as own:
                for process in (COLD, WARM):
                    seconds[name, size, process] = seconds_of(script_of(name, size), own)
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
    parser.add_argument("--rounds", type=int, default=3)
    count = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        with tempfile.TemporaryDirectory(dir=folder) as own:  # for the bytecode
            for name in (SKLEARN, *ESTIMATORS):
                seconds_of(script_of(name, SIZES[0]), own)
                seconds_of(script_of(name, SIZES[1]), own)
        with tempfile.TemporaryDirectory(dir=folder) as own:
            rounds = [measure_round(own) for _ in range(count)]
    least = {case: min(seconds[case] for seconds in rounds) for case in rounds[0]}

    print(describe_machine())
    print(f"CPU seconds of a process that imports and fits once, the least of {count} rounds\n")
    print(f"{'':16}{'table':>12}{'cold':>8}{'warm':>8}{'warm / LinearSVC':>18}")
    for size in SIZES:
        peer = least[SKLEARN, size, WARM]
        table = f"{size[0]:,} x {size[1]}"
        print(f"{SKLEARN:16}{table:>12}{'':8}{peer:8.2f}{1.0:18.2f}")
        for name in ESTIMATORS:
            cold, warm = least[name, size, COLD], least[name, size, WARM]
            bars = [] if cold <= MOST_COLD.get((name, size), math.inf) else ["cold ABOVE the bar"]
            bars += [] if warm <= MOST_WARM * peer else ["warm ABOVE the bar"]
            print(f"{name:16}{table:>12}{cold:8.2f}{warm:8.2f}{warm / peer:18.2f}  {', '.join(bars)}")


if __name__ == "__main__":
    main()
