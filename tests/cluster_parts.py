"""Made blocks and passes for the tests of a cluster: workers import them from here."""

import os
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

PATIENT = {
    "distributed.deploy.lost-worker-timeout": "24h"
}  # or a cluster closes workers that start slowly, or die twice


class MadeBlock(NamedTuple):
    number: int
    X: np.ndarray


class MadeBlocks(NamedTuple):
    """Numbers of very different size: another order of their sums would be seen."""

    n_blocks: int
    rows: int = 60
    columns: int = 4

    def block(self, k):
        random = np.random.default_rng(k)
        sizes = 10.0 ** random.integers(-8, 8, (self.rows, 1))
        return MadeBlock(k, random.standard_normal((self.rows, self.columns)) * sizes)


class Sums(NamedTuple):
    total: np.ndarray
    seen: tuple[int, ...]

    def and_of(self, other):
        return Sums(self.total + other.total, self.seen + other.seen)


class Look(NamedTuple):
    """w: what is sent; `last_first`: the seconds by which a block is faster than the one before it."""

    w: np.ndarray
    last_first: float = 0.0
    of: int = 0

    def __call__(self, block, own=1.0):
        time.sleep(self.last_first * max(0, self.of - block.number))
        return Sums(own * np.maximum(0.0, 1.0 - block.X @ self.w[: block.X.shape[1]]) @ block.X, (block.number,))


class Deadly(NamedTuple):
    """Block `number` ends the process that looks at it, so often as there are files to remove in the folder."""

    number: int
    folder: str
    look: Look

    def __call__(self, block):
        if block.number == self.number:
            for path in sorted(Path(self.folder).iterdir()):
                path.unlink(missing_ok=True)
                os._exit(1)
        return self.look(block)


class Slow(NamedTuple):
    """Says that it has begun, by a file, and takes its time."""

    seconds: float
    begun: str

    def __call__(self, block):
        Path(self.begun, str(block.number)).touch()
        time.sleep(self.seconds)
        return Sums(np.ones(1), (block.number,))


class Count(NamedTuple):
    """Rows of labelled blocks."""

    rows: int = 0

    def __call__(self, block):
        return Count(len(block.codes))

    def and_of(self, other):
        return Count(self.rows + other.rows)


def own_workers(client):
    """The processes of the cluster that the test has started, as far as they are at work: one that is killed while it
    starts is not started again."""
    known = client.scheduler_info(n_workers=-1)["workers"]
    nannies = [nanny for nanny in client.cluster.workers.values() if nanny.pid and nanny.worker_address in known]
    return [nanny.pid for nanny in nannies if {nanny.status.name, nanny.process.status.name} == {"running"}]


def bits(sums):
    return sums.total.tobytes(), sums.seen
