"""Writing a file so that, whenever the machine stops, either the old file or the new one is there, whole.

The bytes go to another file in the same folder, are forced to the disk, and only then take the name. A process that is
killed in between leaves its unfinished file behind, `.XXXXXXXX.NAME`, which can be removed. A pipe or a device, such as
/dev/null, is no file that could be replaced: it is written to as it is.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from maxmargin.persistence.errors import Refusal


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace the file, or leave it as it was."""
    with replaced(path) as written, open(written, "wb") as file:
        file.write(data)


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[str]:
    """Where to write: a file that takes the name, and the rights, of the old one once it is whole."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        yield os.fspath(path)
        return
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no folder to write the file into: make it first", str(path))
    unfinished = target.with_name(f".{secrets.token_hex(4)}.{target.name}")  # the suffix says how it is written
    try:
        yield str(unfinished)
        if mode is not None:
            unfinished.chmod(stat.S_IMODE(mode))
        force_to_disk(unfinished)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
    force_to_disk(target.parent)


def force_to_disk(path: Path) -> None:
    """A file, or the names in a folder; other systems than POSIX ones have no such call."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_whole(path: str | os.PathLike[str], most: int) -> bytes:
    """The bytes of a file on disk; a pipe or a device could be without end."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise Refusal("it is not a file, but a folder, a pipe or a device")
    if status.st_size > most:
        raise Refusal(f"it has {status.st_size:,} bytes, and a model has at most {most:,}")
    with open(path, "rb") as file:
        return file.read(status.st_size)
