"""Real fits on a cluster whose workers are killed at random moments: the bits are those of a fit in one process.

    PYTHONPATH=src:tests python tests/cluster/hunt_killed_workers.py 100 --seed 0
    PYTHONPATH=src:tests python tests/cluster/hunt_killed_workers.py 20 --still 30      # workers that stand still, only

Each round is a fit of one of the `QUESTIONS`, its blocks read or held, in which workers of its own cluster are killed
by SIGKILL, at most three; in every fifth they are stopped for two seconds instead, by SIGSTOP. With --still they are
stopped in every round, for so many seconds. It prints each round, and ends with 1 if bits differ.
"""

import argparse
import os
import random
import signal
import sys
import threading
import time

import dask
import distributed
from cluster_fits import QUESTIONS, bits, rows
from cluster_parts import PATIENT, own_workers

from maxmargin import LinearSVM
from maxmargin.data.dask_executor import OnDask


class Trouble:
    """While a fit goes on: a worker is killed, or stands still for some seconds, after a random time; not too many."""

    def __init__(self, client, random, longest, most, still):
        self.client, self.random, self.longest, self.most, self.still = client, random, longest, most, still
        self.over, self.hits = threading.Event(), 0
        self.thread = threading.Thread(target=self.go)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.over.set()
        self.thread.join()

    def go(self):
        while self.hits < self.most and not self.over.wait(self.random.uniform(0.05, self.longest)):
            workers = own_workers(self.client)
            if workers:
                self.hit(self.random.choice(workers))

    def hit(self, pid):
        try:
            os.kill(pid, signal.SIGSTOP if self.still else signal.SIGKILL)
            self.hits += 1
            if self.still:
                time.sleep(self.still)
                os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            return


def fit_in_trouble(client, question, hold, random, longest, most, still=0.0):
    """The bits of the fit, and how often a worker was hit."""
    executor = OnDask(client, hold=hold, blocks_a_task=random.choice([1, 8]))
    with Trouble(client, random, longest, most, still) as trouble:
        svm = LinearSVM(**QUESTIONS[question], client=executor).fit(*rows())
    return bits(svm), trouble.hits


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hits", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--still", type=float, default=0.0)
    asked = parser.parse_args()
    chance, hits, fits, wrong = random.Random(asked.seed), 0, 0, 0
    want = {name: bits(LinearSVM(**question).fit(*rows())) for name, question in QUESTIONS.items()}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 10, **PATIENT}),
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, dashboard_address=":0", memory_limit="1GB", silence_logs=60
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        while hits < asked.hits:
            question, hold, begun = chance.choice(list(QUESTIONS)), chance.random() < 0.5, time.monotonic()
            still, longest = asked.still or 2.0 * (fits % 5 == 4), chance.uniform(1.0, 8.0)
            found, new = fit_in_trouble(client, question, hold, chance, longest, 3, still)
            hits, fits, wrong = hits + new, fits + 1, wrong + (found != want[question])
            seconds = time.monotonic() - begun
            same = "the same bits" if found == want[question] else "OTHER BITS"
            print(f"{question}, {'held' if hold else 'read'}: {new} hits, {seconds:.1f} s, {same}", flush=True)
    print(f"{hits} hits in {fits} fits, {wrong} with other bits")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
