"""Fits that are killed, again and again: does what goes on from their checkpoints end with the same bits?

    PYTHONPATH=src python tests/persistence/kill_fits.py [KILLS]        200 unless you say otherwise

A child runs `maxmargin fit --checkpoint FILE --every 0 --resume` and is killed without warning at a random moment. Then
the checkpoint must be readable. When a child gets to its end, its model must be that of a fit that nobody disturbed,
byte for byte, and the next run begins. The first that is not so ends it all with an error.
"""

import contextlib
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from maxmargin.cli import main as maxmargin
from maxmargin.persistence import container
from maxmargin.persistence.checkpoint import MOST_ARRAYS

ROWS, COLUMNS = 9000, 8
RUNS = (
    ["--algorithm", "stochastic", "-e", "1e-9"],
    ["-c", "100", "-e", "1e-7"],
    ["-t", "rbf", "-c", "10", "-e", "1e-6"],
)


def make_data(path):
    random_numbers = np.random.default_rng(0)
    X = random_numbers.normal(size=(ROWS, COLUMNS))
    y = (X[:, 0] + 0.5 * random_numbers.normal(size=ROWS) > 0.0).astype(float)
    np.save(path, np.column_stack([X, y]))


def fit(arguments):
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        return maxmargin(["fit", *arguments, "--json"])


def main(kills):
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)  # and forks
    choose, killed, ended, largest = random.Random(0), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        data, calm, model, checkpoint = (Path(folder) / name for name in ("data.npy", "calm", "model", "checkpoint"))
        make_data(data)
        for options in RUNS:
            known = [str(data), "--label", "-1", *options]
            fit([*known, "-o", str(calm)])  # compiled from here on
            begun = time.perf_counter()
            fit([*known, "-o", str(calm)])
            duration, wanted = time.perf_counter() - begun, killed + -(-kills // len(RUNS))
            again = [*known, "-o", str(model), "--checkpoint", str(checkpoint), "--every", "0", "--resume"]
            while killed < wanted:
                child = os.fork()
                if child == 0:
                    fit(again)
                    os._exit(0)
                time.sleep(choose.uniform(0.0, 0.7 * duration))
                os.kill(child, signal.SIGKILL)
                _, status = os.waitpid(child, 0)
                killed += os.WIFSIGNALED(status)
                if checkpoint.exists():
                    container.unpack(checkpoint.read_bytes(), MOST_ARRAYS)  # or an error ends it all
                    largest = max(largest, checkpoint.stat().st_size)
                if model.exists():
                    assert model.read_bytes() == calm.read_bytes()
                    ended += 1
                    for file in (model, checkpoint):
                        file.unlink()
            fit(again)
            assert model.read_bytes() == calm.read_bytes()
            ended += 1
            for file in (model, checkpoint):
                file.unlink()
    print(f"{killed} kills, {ended} runs to the end with the same bits; checkpoints of up to {largest:,} bytes")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
