"""How long the playground takes to answer: every algorithm at 200 points, while a point is dragged; or to a class.

    python benchmarks/play.py [--points 200] [--rounds 40]
    python benchmarks/play.py --seats 40 [--long 6] [--points 40] [--rounds 120]

Each round moves one point a little and asks anew, as a hand does. What is timed is the answer as the page gets it, from
the checked message to the text that is sent; `fit` is the part of it that the estimator takes. The processor time is
that of the thread: on a machine that has other things to do, the time on the clock says more about those.

With `--seats`, `maxmargin play` runs in a process of its own, compiled before, and so many students each drag a point
of a linear SVM at two edits a second. What is timed, on the clock, is how long a student waits for each edit: until its
answer has come over the network of this machine, or that of a later edit, which took its place. `--long` of them ask
instead for the steps of kernel perceptrons on 500 points, which take two seconds, as fast as they are answered.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np

from maxmargin.data import synthetic
from maxmargin.playground.catalogue import ALGORITHMS
from maxmargin.playground.messages import read_state, read_view, text_of
from maxmargin.playground.shown import answer

CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("perceptron", "street", {}),
    ("margin_perceptron", "street", {}),
    ("winnow", "street", {}),
    ("hard_margin", "street", {}),
    ("hard_margin", "overlapping", {}),
    ("hard_margin", "street", {"norm": "l1"}),
    ("linear_svm", "overlapping", {}),
    ("linear_svm", "overlapping", {"loss": "squared_hinge"}),
    ("linear_svm", "overlapping", {"solver": "coordinate_descent"}),
    ("kernel_svm", "rings", {"kernel": "rbf"}),
    ("kernel_svm", "overlapping", {"kernel": "rbf"}),
    ("kernel_svm", "overlapping", {"kernel": "poly", "coef0": 1.0}),
    ("kernel_svm", "overlapping", {"kernel": "linear"}),
    ("stochastic_svm", "overlapping", {}),
    ("stochastic_svm", "rings", {"kernel": "rbf"}),
    ("kernel_perceptron", "rings", {"kernel": "rbf"}),
]


def points_of(data: str, n: int) -> list[list[float]]:
    X, y = {"street": synthetic.street, "overlapping": synthetic.overlapping, "rings": synthetic.rings}[data](n)[:2]
    return [[float(x1), float(x2), int(label)] for (x1, x2), label in zip(X, y, strict=True)]


def times_of(name: str, data: str, parameters: dict[str, Any], n: int, rounds: int) -> np.ndarray:
    """Milliseconds on the clock, of the processor and of the fit, for each round."""
    points, random, found = points_of(data, n), np.random.default_rng(0), []
    for _ in range(rounds + 2):
        row = int(random.integers(n))
        points[row][:2] = (np.array(points[row][:2]) + random.normal(0.0, 0.01, 2)).tolist()
        begun, used = time.perf_counter(), time.thread_time()
        state = read_state({"points": points, "algorithm": name, "parameters": parameters})
        said = answer(state, read_view(None, state.points))
        text_of(said)
        found.append([1e3 * (time.perf_counter() - begun), 1e3 * (time.thread_time() - used), said["milliseconds"]])
    return np.array(found[2:])  # the first ones load the compiled code


class Student:
    """A page of a class; `waits` are the seconds until each edit was answered, or overtaken by a later answer."""

    def __init__(self, number: int, address: str) -> None:
        origin, token = address.split("/?token=")
        self.number, self.waits, self.overtaken, self.refused = number, [], 0, 0
        self.url, self.origin = origin.replace("http", "ws") + "/ws", origin
        self.words = ["maxmargin", token, f"a-seat-of-the-class-{number}"]
        self.random = np.random.default_rng(number)
        self.sent: dict[int, float] = {}

    async def drag(self, n_points: int, edits: int, span: float) -> None:
        """So many edits, one in each span of time, at any moment of it: hands are no clocks."""
        from websockets.asyncio.client import connect

        points = points_of("overlapping", n_points)
        async with connect(self.url, origin=self.origin, subprotocols=self.words, max_size=None) as line:
            listening = asyncio.create_task(self.listen(line, edits))
            begun = time.perf_counter()
            for number in range(1, edits + 1):
                moment = begun + span * (number - self.random.random())
                await asyncio.sleep(max(0.0, moment - time.perf_counter()))
                row = int(self.random.integers(n_points))
                points[row][:2] = (np.array(points[row][:2]) + self.random.normal(0.0, 0.05, 2)).tolist()
                self.sent[number] = time.perf_counter()
                await line.send(question(number, "answer", points, "linear_svm"))
            await listening

    async def listen(self, line: Any, edits: int) -> None:
        """Until the last edit is answered."""
        answered = 0
        while answered < edits:
            told, now = json.loads(await line.recv()), time.perf_counter()
            answered = told["id"]
            over = [number for number in self.sent if number <= answered]
            self.waits += [now - self.sent.pop(number) for number in over]
            self.overtaken += len(over) - 1
            self.refused += "error" in told

    async def ask_much(self) -> None:
        """Long questions, until nobody drags any more."""
        from websockets.asyncio.client import connect

        points = points_of("overlapping", 500)
        async with connect(self.url, origin=self.origin, subprotocols=self.words, max_size=None) as line:
            for number in range(10**6):
                begun = time.perf_counter()
                await line.send(question(number, "steps", points, "kernel_perceptron"))
                self.refused += "error" in json.loads(await line.recv())
                self.waits.append(time.perf_counter() - begun)


def question(number: int, kind: str, points: list[list[float]], algorithm: str) -> str:
    state = {"points": points, "algorithm": algorithm, "parameters": {}}
    return json.dumps({"id": number, "panel": "a", "ask": kind, "state": state})


async def in_class(address: str, seats: int, long: int, n_points: int, edits: int, span: float) -> list[Student]:
    """All students at once; the first `long` of them have long questions."""
    students = [Student(number, address) for number in range(seats)]
    others = [asyncio.create_task(student.ask_much()) for student in students[:long]]
    await asyncio.gather(*(student.drag(n_points, edits, span) for student in students[long:]))
    for other in others:
        other.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    return students


def print_class(seats: int, long: int, n_points: int, edits: int) -> None:
    command = [sys.executable, "-m", "maxmargin", "play", "--no-browser", "--port", "0", "--seats", str(seats)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"}) as server:
        address = re.search(r"http://\S+", server.stdout.readline())[0]
        while "compiled" not in (line := server.stdout.readline()):
            assert line, "the server has ended"
        used = processor_seconds(server.pid)
        students = asyncio.run(in_class(address, seats, long, n_points, edits, 0.5))
        used, memory = processor_seconds(server.pid) - used, peak_mebibytes(server.pid)
        server.send_signal(signal.SIGINT)
        begun = time.perf_counter()
        server.wait()
        ending = time.perf_counter() - begun
    dragging = students[long:]
    waits = 1e3 * np.concatenate([student.waits for student in dragging])
    p50, p95, most = np.quantile(waits, [0.5, 0.95, 1.0])
    medians = [1e3 * np.median(student.waits) for student in dragging]
    slow, fast = max(medians), min(medians)
    print(f"{len(dragging)} seats drag at 2 edits a second: {n_points} points, linear SVM, {edits} edits each;")
    print(f"{long} seats ask for the steps of kernel perceptrons on 500 points, without a pause\n")
    print(f"until an edit is answered    p50 {p50:.1f} ms, p95 {p95:.1f} ms, at most {most:.1f} ms")
    print(f"median of a seat             fastest {fast:.1f} ms, slowest {slow:.1f} ms: {slow / fast:.2f} times as long")
    print(f"edits                        {len(waits)}, of which {sum(s.overtaken for s in dragging)} were overtaken")
    if long:
        print(
            f"steps of kernel perceptrons  {', '.join(str(len(student.waits)) for student in students[:long])} answers"
        )
    print(f"refused                      {sum(student.refused for student in students)}")
    print(f"processor of the server      {used:.1f} s in {edits / 2:.0f} s")
    print(f"peak memory of the server    {memory:.0f} MiB")
    print(f"Ctrl-C to the end            {ending:.2f} s")


def processor_seconds(process: int) -> float:
    """That a process has used, as Linux knows it; elsewhere nan."""
    try:
        with open(f"/proc/{process}/stat") as stat:
            user, system = stat.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return np.nan


def peak_mebibytes(process: int) -> float:
    """The most memory that a process has had, as Linux knows it; elsewhere nan."""
    try:
        with open(f"/proc/{process}/status") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1]) / 1024
    except OSError:
        return np.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, help="200, and 40 in a class")
    parser.add_argument("--rounds", type=int, help="answers of each algorithm: 40; edits of each student: 120")
    parser.add_argument("--seats", type=int, default=0, help="how many students are in the class; 0: no class")
    parser.add_argument("--long", type=int, default=0, help="how many of them ask for what takes long")
    given = parser.parse_args()
    n_points, rounds = given.points or (40 if given.seats else 200), given.rounds or (120 if given.seats else 40)
    print(
        f"{time.strftime('%Y-%m-%d')}, {platform.processor() or platform.machine()}, Python {platform.python_version()}"
    )
    busy = f", load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores" if hasattr(os, "getloadavg") else ""
    if given.seats:
        print(f"a class{busy}\n")
        print_class(given.seats, given.long, n_points, rounds)
        return
    print(f"{n_points} points, {rounds} answers each, milliseconds{busy}\n")
    print(f"{'algorithm':<60} {'p50':>7} {'p95':>7} {'processor p50':>14} {'p95':>7} {'fit p50':>8}")
    for name, data, parameters in CASES:
        clock, used, fit = times_of(name, data, parameters, n_points, rounds).T
        chosen = ", ".join(f"{key}={value}" for key, value in parameters.items())
        title = f"{ALGORITHMS[name].title} ({data}{', ' + chosen if chosen else ''})"
        print(
            f"{title:<60} {np.median(clock):7.1f} {np.quantile(clock, 0.95):7.1f} {np.median(used):14.1f} "
            f"{np.quantile(used, 0.95):7.1f} {np.median(fit):8.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
