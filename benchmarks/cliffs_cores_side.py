"""One side of `cliffs_cores.py`: a process that is held to some cores, and fits when it is told to.

    cliffs_cores_side.py CORES        numbers with commas between

The first line that it reads is a case, each line after it says: run once. It answers each with its seconds by the
clock, a digest of what was found, and how it ended. One run goes ahead, for what is done only once.
"""

import hashlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.sched_setaffinity(0, {int(core) for core in sys.argv[1].split(",")})  # before anybody counts them

import numpy as np  # noqa: E402
from cliffs_data import Sets, clouds, images, text  # noqa: E402

import maxmargin  # noqa: E402


def units(rows: int, columns: int, spread: float, number: str, powers: float):
    """Clouds in this type of numbers, their columns in units that differ by so many powers of ten."""
    X, y = clouds(rows, columns, 2, spread)
    X *= np.logspace(0.0, powers, columns)
    return X.astype(number), y


def of_folder(folder: str, name: str):
    return Sets(Path(folder), False).load(name)


MAKERS: dict[str, Callable[..., Any]] = {
    "clouds": clouds, "units": units, "text": text, "images": images, "of_folder": of_folder
}  # fmt: skip


def main() -> None:
    warnings.simplefilter("ignore")
    case = json.loads(sys.stdin.readline())
    X, y = MAKERS[case["maker"]](*case["arguments"])
    model = getattr(maxmargin, case["estimator"])(**case["parameters"])
    if case["method"] == "predict":
        model.fit(X[:2000], y[:2000])
    run = partial(model.fit, X, y) if case["method"] == "fit" else partial(model.predict, X)
    first = True
    while first or sys.stdin.readline():
        first = False
        begun = time.perf_counter()
        result = run()
        seconds = time.perf_counter() - begun
        found = [result] if case["method"] == "predict" else [model.dual_coef_, model.intercept_]
        print(json.dumps({"seconds": seconds, "bits": digest(found), "note": status(model)}), flush=True)


def digest(found: list[Any]) -> str:
    said = hashlib.sha256()
    for numbers in found:
        said.update(np.ascontiguousarray(getattr(numbers, "data", numbers)).tobytes())
    return said.hexdigest()


def status(model) -> str:
    ends = model.status_ if isinstance(model.status_, list | tuple) else [model.status_]
    return ", ".join(sorted({str(end).split(":")[0] for end in ends}))


if __name__ == "__main__":
    main()
