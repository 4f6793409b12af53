"""Reading a sparse text file: scikit-learn's loader and ours, each in its own process.

    python benchmarks/parse.py [--mb 100] [--folder DIR]

Two files of the same size: one whose values have all their digits (17, as a program writes them) and one whose values
have four (as a person or a scaled data set has them). Each is read from the cache of the disk, best of three. What the
two loaders return must be the same bits. Memory is the highest while reading, less what the process held before; it
is given in units of the table that comes out.

The bars: ten times the speed of scikit-learn, and less than three times the memory of the result.
"""

import argparse
import hashlib
import os
import platform
import tempfile
from datetime import date
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse
import sklearn
from isolation import measure

from maxmargin.reading.svmlight_writer import write_svmlight

COLUMNS, ENTRIES = 50_000, 60  # of a row
BYTES_OF_A_ROW = {"17 digits": 1550, "4 digits": 780}  # about
TIMES_FASTER, MOST_MEMORY = 10.0, 3.0
TIME_LIMIT = 300.0
TINY = "1 1:0.5\n-1 2:1\n"


class Reading(NamedTuple):
    """What was read: a digest of all of it, its size, and the memory that it took, in bytes."""

    digest: str
    size: int
    peak: int


# Who reads: a path, into X and y.


def load_sklearn(path: str):
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(path, n_features=COLUMNS, zero_based=False)


def load_maxmargin(path: str):
    from maxmargin.reading.svmlight import read_svmlight

    table = read_svmlight(path, n_features=COLUMNS, zero_based=False)
    return table.X, table.y


READERS = {"scikit-learn": load_sklearn, "maxmargin": load_maxmargin}


def prepare(load, path: str):
    """Warm, so that neither imports nor the compiler are timed; then forget how much memory that took."""
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder) / "tiny.svm"
        tiny.write_text(TINY)
        load(str(tiny))
    Path("/proc/self/clear_refs").write_text("5")
    held = memory("VmRSS")
    return partial(load, path), partial(describe, held)


def describe(held: int, table) -> Reading:
    peak = memory("VmHWM") - held
    X, y = table
    digest = hashlib.sha256()
    for part in (X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64), y.astype(np.float64)):
        digest.update(part.tobytes())
    return Reading(digest.hexdigest(), sum(part.nbytes for part in (X.data, X.indices, X.indptr, y)), peak)


def memory(field: str) -> int:
    """A line of /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


def write_file(path: Path, kind: str, megabytes: float) -> None:
    random = np.random.default_rng(0)
    rows = max(1, int(megabytes * 1e6 / BYTES_OF_A_ROW[kind]))
    step = COLUMNS // ENTRIES
    indices = np.arange(ENTRIES) * step + random.integers(0, step, (rows, ENTRIES))
    values = random.normal(size=rows * ENTRIES)
    values = values if kind == "17 digits" else np.round(values, 4)
    X = sparse.csr_array((values, indices.ravel(), np.arange(rows + 1) * ENTRIES), shape=(rows, COLUMNS))
    write_svmlight(path, X, random.choice([-1, 1], rows))


def report(kind: str, path: Path) -> None:
    size = path.stat().st_size / 1e6
    measured = {name: measure(prepare, load, str(path), time_limit=TIME_LIMIT) for name, load in READERS.items()}
    print(f"\nvalues of {kind}, {size:.0f} MB\n")
    print("| reader | seconds | MB/s | peak MB | result MB | peak / result |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, (seconds, told, failure) in measured.items():
        if seconds is None:
            print(f"| {name} | {failure} | | | | |")
            continue
        cells = f"{seconds:.2f} | {size / seconds:.0f} | {told.peak / 1e6:.0f} | {told.size / 1e6:.0f}"
        print(f"| {name} | {cells} | {told.peak / told.size:.2f} |")
    theirs, ours = measured.values()
    if theirs.seconds is None or ours.seconds is None:
        return
    ratio, share = theirs.seconds / ours.seconds, ours.value.peak / ours.value.size
    same = theirs.value.digest == ours.value.digest
    print(f"\nThe tables are {'the same, bit for bit' if same else 'NOT THE SAME'}. ", end="")
    print(
        f"{ratio:.1f} times as fast: the bar of {TIMES_FASTER:g} {'holds' if ratio >= TIMES_FASTER else 'FAILS'}. ",
        end="",
    )
    print(f"{share:.2f} times the result: the bar of {MOST_MEMORY:g} {'holds' if share < MOST_MEMORY else 'FAILS'}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mb", type=float, default=100, help="size of each file (default: 100)")
    parser.add_argument("--folder", help="where the files are made (default: a temporary folder)")
    options = parser.parse_args()
    versions = f"numpy {np.__version__}, scikit-learn {sklearn.__version__}"
    print(f"{date.today()}, {os.cpu_count()} processors, {platform.machine()}, {versions}")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for kind in BYTES_OF_A_ROW:
            path = Path(folder) / "rows.svm"
            write_file(path, kind, options.mb)
            report(kind, path)


if __name__ == "__main__":
    main()
