"""Every write fails once, at every place: does a file that was there stay whole, and is nothing left behind?

    PYTHONPATH=src:tests python tests/persistence/hunt_write_errors.py [FAULTS] [SEED]        2000 and 0 by default

A fault is a disk that is full after so many bytes (the kernel's own limit on the size of a file, so that also writes
from compiled code fail), or a call of `open`, `fsync`, `replace` or `chmod` that fails. Each of the `Writers` writes
over an older file. Whatever happens, afterwards the file is the old or the new one, byte for byte, the folder holds
nothing else, and the error is an OSError; for checkpoints a warning, and the fit goes on.
"""

import contextlib
import errno
import io
import os
import resource
import sys
import tempfile
import warnings
from pathlib import Path
from unittest import mock

import numpy as np

from maxmargin import LinearSVM
from maxmargin.cli import main as maxmargin
from maxmargin.persistence import fit_with_checkpoints, save
from maxmargin.persistence.exchange.coefficients import write_coefficients
from maxmargin.persistence.exchange.liblinear import write_liblinear

CALLS = ("open", "fsync", "replace", "chmod")
ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS)
MODEL_BYTES = 6000  # about: where the disk may be full


def table(n=60):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.5 * random.normal(size=n) > 0, 1, -1)


def command(*arguments):
    """The command line in this process, quietly; what it could not write is an OSError again."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        code = maxmargin([str(argument) for argument in arguments])
    if code != 0:
        assert said.getvalue().count("\n") <= 6, said.getvalue()
        raise OSError(said.getvalue())


class Writers:
    """Each writes one file, given its path; what they write about is made before anything fails."""

    def __init__(self, folder):
        self.X, self.y = table()
        self.svm = LinearSVM().fit(self.X, self.y)
        self.rows, self.model = folder / "rows.npy", folder / "model"
        np.save(self.rows, np.column_stack([self.X, self.y]))
        save(self.svm, self.model, self.X, self.y)
        self.all = (
            lambda path: save(self.svm, path, self.X, self.y),
            lambda path: write_coefficients(self.svm, path),
            lambda path: write_liblinear(self.svm, path),
            lambda path: command("predict", self.model, self.rows, "--label", "-1", "-o", path),
            lambda path: command("fit", self.rows, "--label", "-1", "-o", path),
            self.checkpointed,
        )

    def checkpointed(self, path):
        """A fit that keeps checkpoints ends with its proof, wherever they go."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            svm = LinearSVM(solver="coordinate_descent")
            fit_with_checkpoints(svm, self.X, self.y, path=path, every=0.0)
        assert svm.certificate_.verify(self.X, self.y)


@contextlib.contextmanager
def full_disk(after):
    """No file may grow beyond so many bytes."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (after, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


@contextlib.contextmanager
def failing(name, at, code):
    """The call of this name with this number fails."""
    honest, calls = getattr(os, name), iter(range(10**6))

    def call(*arguments, **options):
        if next(calls) == at:
            raise OSError(code, os.strerror(code))
        return honest(*arguments, **options)

    with mock.patch.object(os, name, call):
        yield


def fault(random):
    if random.random() < 0.6:
        return full_disk(int(random.integers(MODEL_BYTES)))
    return failing(str(random.choice(CALLS)), int(random.integers(3)), int(random.choice(ERRORS)))


def main(faults=2000, seed=0):
    random, failed, wrong = np.random.default_rng(seed), 0, []
    with tempfile.TemporaryDirectory() as folder:
        writers = Writers(Path(folder))
        for number in range(faults):
            write = writers.all[number % len(writers.all)]
            with tempfile.TemporaryDirectory() as place:
                path = Path(place) / "written.csv"
                write(path)
                new = path.read_bytes() if path.exists() else b"older"  # a fit that has ended removes its checkpoint
                path.write_bytes(b"older")
                error = None
                try:
                    with fault(random):
                        write(path)
                except Exception as raised:
                    error = raised
                failed += error is not None
                found = path.read_bytes() if path.exists() else new
                left = [other.name for other in path.parent.iterdir() if other != path]
                whole = found == new or (error and found == b"older") or write == writers.checkpointed
                if left or not whole or not isinstance(error, OSError | None):
                    wrong.append(number)
                    print(f"fault {number}: left {left}, {len(found)} bytes, {error!r}")
    print(f"{faults:,} faults, {failed:,} of them told by an error: {len(wrong):,} files lost, broken or left behind")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
