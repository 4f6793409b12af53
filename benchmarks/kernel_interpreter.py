"""Another Python for the processes that are measured: some peers need packages of versions that others do not bear."""

import contextlib
import json
import multiprocessing
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

WHERE = "import json, sys; print(json.dumps(sys.path[1:]))"
WHAT = """
import json, sys
from importlib import metadata
installed = {found.metadata["Name"].lower(): found.version for found in metadata.distributions()}
print(json.dumps({name: installed.get(name) for name in sys.argv[1:]}))
"""


@contextlib.contextmanager
def interpreter(python: Path | None) -> Iterator[None]:
    """Processes that are started meanwhile are run by that Python, with its packages; None: by this one.

    A new process takes over the path of its parent, so the parent has the other one's for as long.
    """
    if python is None:
        yield
        return
    ours = sys.path[:]
    sys.path[:] = [str(Path(__file__).parent), *ask(python, WHERE)]
    multiprocessing.set_executable(str(python))
    try:
        yield
    finally:
        multiprocessing.set_executable(sys.executable)
        sys.path[:] = ours


def versions(packages: Sequence[str], python: Path | None) -> dict[str, str | None]:
    """The versions of the packages that a Python has."""
    return ask(python or Path(sys.executable), WHAT, *packages)


def ask(python: Path, program: str, *arguments: str):
    answer = subprocess.run([str(python), "-c", program, *arguments], capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)
