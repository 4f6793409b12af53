"""A job in a process of its own: any Python, any source tree, and what it cost.

    answer = alone("scale_peers:stochastic", {"folder": ...}, python=PYTHON, time_limit=600)

The job is a function of a module of this folder. It is called with the arguments as JSON has them, and its answer is a
dict that JSON can hold. Where it raises, crashes or takes too long, the answer is {"failure": why}. A library writes to
the standard output as it likes: the answer goes through a file.
"""

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def alone(
    job: str,
    arguments: dict[str, Any],
    *,
    time_limit: float,
    python: Path | str | None = None,
    source: Path | str | None = None,
) -> dict[str, Any]:
    """The answer of a job; `source`: the folder `src` of the maxmargin that it imports (default: as installed here)."""
    environment = os.environ | ONE_THREAD
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [str(python or sys.executable), __file__, job, json.dumps(arguments), str(answer)]
        with subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                _, said = process.communicate(timeout=time_limit)
            except subprocess.TimeoutExpired:
                return {"failure": f"more than {time_limit:g} s"}
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # with the processes that it started itself
        if answer.exists():
            return json.loads(answer.read_text())
        return {"failure": f"ended with code {process.returncode}: {said.strip().rpartition(chr(10))[2][:200]}"}


class Clock:
    """Seconds of CPU and of wall, of this process and of those that it has started, as Linux counts them."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), cpu_seconds()

    def read(self) -> dict[str, float]:
        return {"wall": time.perf_counter() - self.wall, "cpu": cpu_seconds() - self.cpu}


def cpu_seconds() -> float:
    """Of all threads here, of the processes below this one, and of those that have ended."""
    ended = os.times()
    return time.process_time() + ended.children_user + ended.children_system + sum(map(used_by, below(os.getpid())))


def below(pid: int) -> list[int]:
    """The processes that this one has started, and those that they have."""
    found = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, children.read_text().split()):
                found += [child, *below(child)]
    return found


def used_by(pid: int) -> float:
    """Seconds of CPU of a process that is still there, and of its own ended ones."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def work(job: str, arguments: str, answer: str) -> None:
    module, _, function = job.partition(":")
    try:
        found = getattr(importlib.import_module(module), function)(**json.loads(arguments))
    except ModuleNotFoundError as error:
        found = {"failure": f"not installed: {error.name}"}
    except Exception as error:
        found = {"failure": f"{type(error).__name__}: {error}"[:400]}
    Path(answer).write_text(json.dumps(found))


if __name__ == "__main__":
    work(*sys.argv[1:])
