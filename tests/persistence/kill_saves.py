"""Processes that are killed while they save: is there ever a file that cannot be loaded?

    PYTHONPATH=src python tests/persistence/kill_saves.py [KILLS]        200 unless you say otherwise

A child saves one of two models over the other, again and again, and is killed without warning at a random moment. Then
the file is loaded: it must be one of the two, whole. Prints how many children were killed with a file half written.
"""

import dataclasses
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from maxmargin.persistence import load, save

SMALL = Path(__file__).parent / "corpus" / "v1" / "perceptron.safetensors"
COLUMNS = 200_000


def large_model(value):
    """A model of a few megabytes, whose coefficients tell which one it is."""
    model = load(SMALL)
    plane = np.full(COLUMNS, value)
    model.coef_, model.n_features_in_ = plane[None, :], COLUMNS
    model.certificate_ = dataclasses.replace(model.certificate_, w=plane, n_columns=COLUMNS)
    return model


def save_until_killed(models, path):
    while True:
        for model in models:
            save(model, path)


def main(kills):
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)  # and forks
    models, choose, unfinished = [large_model(-1.0), large_model(1.0)], random.Random(0), 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        save(models[0], path)
        for _ in range(kills):
            child = os.fork()
            if child == 0:
                save_until_killed(models, path)
            time.sleep(choose.uniform(0.0, 0.1))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            assert abs(load(path).coef_.sum()) == COLUMNS
            left = [other for other in path.parent.iterdir() if other != path]
            unfinished += len(left)
            for other in left:
                other.unlink()
    print(f"{kills} kills, {unfinished} of them with a file half written, 0 files that cannot be loaded")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
