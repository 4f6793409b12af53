"""The file itself: a safetensors file that holds arrays and one JSON document.

    8 bytes        the length of the header
    the header     JSON: the name, type, shape and place of each array, and under `__metadata__` one text, "maxmargin":
                   a SHA-256 checksum, a newline, and the document
    the arrays     one after the other, little-endian

The checksum is over the document and the arrays with their names, types and shapes. It finds damage, not forgery:
whoever can write a file can write its checksum.

It is written so that, whenever the machine stops, either the old file or the new one is there, whole: the bytes go to
another file in the same folder, are forced to the disk, and only then take the name. A process that is killed in
between leaves its unfinished file behind, `.XXXXXXXX.NAME`, which can be removed. A pipe or a device, such as
/dev/null, is no file that could be replaced: it is written to as it is.

The header is read here before the safetensors library sees it, because the library accepts names that occur twice and
headers of 100 MB. Memory stays within a few times the arrays and, for a header made to fill it, some twenty times the
header.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as arrays_in
from safetensors.numpy import save as bytes_of

from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.schema import STRICT, Arrays, finite_number


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


LONGEST_FILE = 2**36
LONGEST_HEADER = 2**24
MOST_ARRAYS = 64
DEEPEST = 16  # objects and lists within each other
KEY = "maxmargin"
PREFIX = 8  # bytes before the header
TYPES = ("F64", "F32", "I64", "I32", "I8", "U64", "BOOL")


def pack(document: dict[str, Any], arrays: Arrays) -> bytes:
    """The bytes of a file."""
    text = json.dumps(document, allow_nan=False)
    metadata = {KEY: f"{checksum(text, arrays)}\n{text}"}
    data = bytes_of({name: np.ascontiguousarray(array) for name, array in arrays.items()}, metadata=metadata)
    header = int.from_bytes(data[:PREFIX], "little")
    if header > LONGEST_HEADER:
        raise Refusal(f"its description takes {header:,} bytes, and a file has room for {LONGEST_HEADER:,}")
    return data


def unpack(data: bytes, most_arrays: int = MOST_ARRAYS) -> tuple[dict[str, Any], Arrays]:
    """The document and the arrays of a file, or a `Refusal`."""
    if len(data) > LONGEST_FILE:
        raise Refusal(f"it has {len(data):,} bytes, and a model has at most {LONGEST_FILE:,}")
    header = read_json(text_of(data[PREFIX : PREFIX + header_length(data)]), "the header")
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict) or set(metadata) != {KEY} or not isinstance(metadata[KEY], str):
        raise Refusal("it is a safetensors file, but not a model of maxmargin")
    check_entries(header, most_arrays)
    try:
        arrays = {name: np.array(array) for name, array in arrays_in(data).items()}
    except (SafetensorError, ValueError, OverflowError) as error:
        raise Refusal(f"its arrays are damaged: {error}") from None
    stated, _, text = metadata[KEY].partition("\n")
    if stated != checksum(text, arrays):
        raise Refusal("its checksum does not agree with what it holds: the file was damaged or changed")
    return read_json(text, "the document"), arrays


def header_length(data: bytes) -> int:
    """The length that a file states, if the file can be as it says."""
    if len(data) < PREFIX:
        raise Refusal(f"it has {len(data)} bytes, too few for a model file")
    length = int.from_bytes(data[:PREFIX], "little")
    if length > LONGEST_HEADER or length > len(data) - PREFIX:
        if data[0] == 0x80 and 2 <= data[1] <= 5:  # the protocol
            raise Refusal(
                "it is a pickle, which can run anything and is never read here. Load it in Python, if you trust it, "
                "and ask there: maxmargin.audit(model, X, y)"
            )
        raise Refusal("it is not a model of maxmargin, or it is not complete: its header would not fit")
    return length


def check_entries(header: dict[str, Any], most_arrays: int) -> None:
    """The list of arrays, before anything is made of it."""
    if len(header) > most_arrays:
        raise Refusal(f"it has {len(header)} arrays, and a model has at most {most_arrays}")
    for name, entry in header.items():
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
            raise Refusal(f"the entry of the array {name[:40]!r} is not one of a safetensors file")
        if entry["dtype"] not in TYPES:
            raise Refusal(f"the array {name[:40]!r} is of a type that no model has")


def checksum(text: str, arrays: Arrays) -> str:
    """SHA-256 of the document and of the arrays by their names."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"\n{name} {array.dtype.name} {array.shape}\n".encode("utf-8", "surrogatepass"))
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).data if array.size else b"")
    return digest.hexdigest()


def text_of(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal("it is not a model of maxmargin: its header is not text") from None


def read_json(text: str, what: str) -> dict[str, Any]:
    """One JSON object: no name twice in it, no number that float64 cannot hold, nothing deep."""
    try:
        value = json.loads(text, parse_float=finite_number, **STRICT)
    except (ValueError, RecursionError) as error:
        raise Refusal(f"{what} is not as JSON must be: {str(error)[:200]}") from None
    if not isinstance(value, dict) or depth(value) > DEEPEST:
        raise Refusal(f"{what} is not an object of JSON, or it is nested too deeply")
    return value


def depth(value: Any) -> int:
    """How deep lists and objects are nested; never deeper than one more than is allowed."""
    level, inner = 0, [value]
    while inner and level <= DEEPEST:
        level += 1
        inner = [
            entry
            for outer in inner
            for entry in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(entry, dict | list)
        ]
    return level
