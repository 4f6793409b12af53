"""Reading a CSV file: pandas, Polars, pyarrow and ours, with and without pyarrow, alternating in one process.

    python benchmarks/parse_csv.py [--mb 100] [--folder DIR]

CPU time on one thread, the least of three rounds; the file is in the cache of the disk. pandas must read the same bits.

The bar: at least a third of the speed of pandas.
"""

import argparse
import os
import platform
import tempfile
import time
from datetime import date
from pathlib import Path
from unittest import mock

import numpy as np
import pandas
import polars
import pyarrow.csv

from maxmargin import read_table
from maxmargin.reading import csv

COLUMNS = 20
ROUNDS = 3
SHARE = 1 / 3


def write_file(path: Path, megabytes: float) -> None:
    """Numbers with all their digits, and a label of two words."""
    rng = np.random.default_rng(0)
    rows = max(1, int(megabytes * 1e6 / (COLUMNS * 19.7)))
    with path.open("w") as file:
        file.write(",".join([*(f"x{place}" for place in range(COLUMNS)), "label"]) + "\n")
        for row in rng.normal(size=(rows, COLUMNS)).tolist():
            file.write(",".join([*map(repr, row), "yes" if row[0] > 0 else "no"]) + "\n")


def read_in_python(path: Path):
    with mock.patch.object(csv, "WORTH_IT", 2**62):
        return read_table(path, label="label")


READERS = {
    "pandas": pandas.read_csv,
    "Polars": polars.read_csv,
    "pyarrow": lambda path: pyarrow.csv.read_csv(path, pyarrow.csv.ReadOptions(use_threads=False)),
    "maxmargin": lambda path: read_table(path, label="label"),
    "maxmargin, without pyarrow": read_in_python,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mb", type=float, default=100, help="size of the file (default: 100)")
    parser.add_argument("--folder", help="where it is made (default: a temporary folder)")
    options = parser.parse_args()
    versions = f"pandas {pandas.__version__}, Polars {polars.__version__}, pyarrow {pyarrow.__version__}"
    print(f"{date.today()}, {os.cpu_count()} processors, {platform.machine()}, {versions}")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "rows.csv"
        write_file(path, options.mb)
        size = path.stat().st_size / 1e6
        seconds = dict.fromkeys(READERS, float("inf"))
        for _ in range(ROUNDS):
            for name, read in READERS.items():
                begun = time.process_time()
                read(path)
                seconds[name] = min(seconds[name], time.process_time() - begun)
        theirs = pandas.read_csv(path).iloc[:, :COLUMNS].to_numpy()
        same = theirs.tobytes() == READERS["maxmargin"](path).X.tobytes()
    print(
        f"\n{size:.0f} MB, {COLUMNS} columns of 17 digits and a label\n\n| reader | CPU s | MB a CPU s |\n|---|--:|--:|"
    )
    for name, best in seconds.items():
        print(f"| {name} | {best:.2f} | {size / best:.0f} |")
    share = seconds["pandas"] / seconds["maxmargin"]
    print(f"\nThe numbers are {'the same, bit for bit' if same else 'NOT THE SAME'}. ", end="")
    print(f"{share:.2f} of the speed of pandas: the bar of a third {'holds' if share >= SHARE else 'FAILS'}.")


if __name__ == "__main__":
    main()
