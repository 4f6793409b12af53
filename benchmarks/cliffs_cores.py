"""The second core: the same fit on one core and on two, by the clock.

Each side is a process of its own (`cliffs_cores_side.py`), held to its cores before anything counts them. They take
turns, five times each, and wait for each other: the least time of each side counts. Whether both find the same bits
stands beside.
"""

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import one_core
from cliffs_data import Sets
from cliffs_race import Cliff, Race

SIDE = Path(__file__).with_name("cliffs_cores_side.py")
TIMES = 5
ENDED = '{"seconds": NaN, "bits": "", "note": "the process ended"}'
QUESTIONS = [("hinge", 0.01), ("hinge", 1.0), ("hinge", 100.0), ("squared_hinge", 1.0)]  # loss and C
LARGE_SETS = ("skin_nonskin", "donors", "give_me_some_credit", "kddcup99_10pct")


class Case(NamedTuple):
    """A set, by the name of what makes it and its arguments; the estimator by its name, and its parameters."""

    on: str
    maker: str
    arguments: tuple[Any, ...]
    estimator: str
    parameters: dict[str, Any]
    method: str = "fit"


def planes(on: str, maker: str, *arguments: Any, questions: list[tuple[str, float]] = QUESTIONS) -> Iterator[Case]:
    for loss, C in questions:
        yield Case(f"{on}, {loss}, C={C:g}", maker, arguments, "LinearSVM", {"loss": loss, "C": C})


def large(sets: Sets) -> Iterator[Case]:
    """Dense sets with more than 100,000 rows; the columns of the last made ones are in units of their own."""
    yield from planes("200000 x 50", "clouds", 200_000, 50, 2, 3.0)
    yield from planes("500000 x 20", "clouds", 500_000, 20, 2, 2.0)
    yield from planes("150000 x 100 float32, unscaled", "units", 150_000, 100, 3.0, "float32", 2.0)
    for name in LARGE_SETS if sets.folder is not None else ():
        yield from planes(name, "of_folder", str(sets.folder), name, questions=QUESTIONS[1:])


def others(sets: Sets) -> Iterator[Case]:
    for rows, columns in ((270, 13), (5_000, 20), (20_000, 50), (100_000, 20)):
        yield from planes(f"{rows} x {columns}", "clouds", rows, columns, 2, 2.0, questions=QUESTIONS[1:])
    both = [("hinge", 1.0), ("squared_hinge", 1.0)]
    yield from planes("text 20000 x 40000", "text", 20_000, 40_000, 60, questions=both)
    for name in ("census_income_full", "news20_bydate") if sets.folder is not None else ():
        yield from planes(name, "of_folder", str(sets.folder), name, questions=both)
    yield Case("5000 x 20, rbf", "clouds", (5_000, 20, 2, 1.0), "KernelSVM", {})
    yield Case("images 3000 x 784, rbf", "images", (3_000,), "KernelSVM", {})
    yield Case("5000 x 20, 10 classes", "clouds", (5_000, 20, 10, 0.5), "LinearSVM", {})
    yield Case("3000 x 16, 10 classes, rbf", "clouds", (3_000, 16, 10, 0.5), "KernelSVM", {})
    yield Case("predict 1000000 x 50", "clouds", (1_000_000, 50, 2, 1.0), "LinearSVM", {}, "predict")


def races(sets: Sets, cases: Callable[[Sets], Iterator[Case]]) -> Iterator[Race]:
    """In the short form, the first of each set: the least that says something."""
    of_sets = itertools.groupby(cases(sets), key=lambda case: (case.maker, case.arguments))
    for case in itertools.chain.from_iterable([next(group)] if sets.short else group for _, group in of_sets):
        with Side(case, one_core.ALL) as ours, Side(case, one_core.ALL[:1]) as theirs:
            note = partial(agreement, ours, theirs)
            yield Race(case.on, "one core", ours.run, theirs.run, note, seconds_told, TIMES)


def seconds_told(run: Callable[[], dict[str, Any]]) -> tuple[float, Any]:
    answer = run()
    return answer["seconds"], answer


def agreement(ours: "Side", theirs: "Side", _: Any) -> str:
    """How the fit ended, and whether both sides found the same."""
    same = "the same bits" if ours.answer["bits"] == theirs.answer["bits"] else "OTHER BITS"
    return f"{ours.answer['note']}, {same}"


class Side:
    """A process on these cores that has a set, and fits it when it is told to."""

    def __init__(self, case: Case, cores: list[int]) -> None:
        command = [sys.executable, str(SIDE), ",".join(map(str, cores))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer = self.tell(json.dumps(case._asdict()))

    def __enter__(self) -> "Side":
        return self

    def __exit__(self, *_: Any) -> None:
        self.process.stdin.close()
        self.process.wait()

    def tell(self, line: str) -> dict[str, Any]:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline() or ENDED)

    def run(self) -> dict[str, Any]:
        self.answer = self.tell("run")
        return self.answer


CLIFFS = {
    "second_core": Cliff("1.5", partial(races, cases=large)),
    "second_core_elsewhere": Cliff("0.95", partial(races, cases=others)),
}
