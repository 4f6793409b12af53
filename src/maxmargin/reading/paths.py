"""Where the rows of a table are: files, folders, patterns, datasets; what can be read once only, in a folder.

A stream, a lazy frame or a compressed file cannot be read twice, or not from its midst. So it is first written to a
folder of its own, and a warning says where.
"""

from __future__ import annotations

import glob
import os
import tempfile
import warnings
from collections.abc import Sequence
from typing import Any

from maxmargin.reading.files import COMPRESSED, DataFileError, Format, chunks_of, recognise, suffix_of
from maxmargin.reading.frames import optional


class SpooledWarning(UserWarning):
    """Rows that can be read once only were written to a folder first."""


def paths_of(source: Any, folder: str | os.PathLike[str] | None) -> tuple[list[str], str | None]:
    """The files, and the folder that is to be removed in the end, if rows were written to one."""
    if isinstance(source, str | os.PathLike):
        return plain_files(expanded(os.fspath(source)), folder)
    if isinstance(source, list | tuple) and not source:
        raise ValueError("a table to scan is at least one file, and this list is empty")
    if isinstance(source, list | tuple) and all(isinstance(part, str | os.PathLike) for part in source):
        return plain_files([path for part in source for path in expanded(os.fspath(part))], folder)
    files = getattr(source, "files", None)
    if files and all(os.path.exists(path) for path in files):  # a dataset of pyarrow, on this machine
        return list(files), None
    return spooled(source, folder)


def expanded(path: str) -> list[str]:
    """A folder, or a pattern, as the files in it, in the order of their names."""
    if os.path.isdir(path):
        found = [os.path.join(path, name) for name in sorted(os.listdir(path)) if not name.startswith((".", "_"))]
        found = [name for name in found if os.path.isfile(name)]
    else:
        found = sorted(glob.glob(path)) if glob.has_magic(path) and not os.path.exists(path) else [path]
    if not found:
        raise FileNotFoundError(f"there is no file in {path}" if os.path.isdir(path) else f"no file is called {path}")
    return found


def plain_files(paths: Sequence[str], folder: str | os.PathLike[str] | None) -> tuple[list[str], str | None]:
    """The files as they are; those that are compressed text, unpacked into a folder."""
    packed = [path for path in paths if is_compressed(path)]
    if not packed:
        return list(paths), None
    scratch, written = scratch_in(folder, f"{packed[0]} is compressed"), []
    for number, path in enumerate(paths):
        if path in packed:
            unpacked = os.path.join(scratch, f"{number:06}{suffix_of(path) or '.csv'}")
            with open(unpacked, "wb") as file:
                file.writelines(chunks_of(path))
            path = unpacked
        written.append(path)
    return written, scratch


def is_compressed(path: str) -> bool:
    with open(path, "rb") as file:
        start = file.read(8)
    return any(start.startswith(magic) for magic in COMPRESSED)


def spooled(source: Any, folder: str | os.PathLike[str] | None) -> tuple[list[str], str | None]:
    """Rows that come once, written as an Arrow file."""
    if hasattr(source, "sink_ipc"):  # a lazy frame of Polars
        scratch = scratch_in(folder, "the rows of a lazy frame are computed")
        path = os.path.join(scratch, "rows.arrow")
        source.sink_ipc(path)
        return [path], scratch
    if not hasattr(source, "__arrow_c_stream__"):
        raise TypeError(
            "a table to scan is a path, a folder, a pattern, a list of paths, a dataset or an Arrow stream, not "
            f"{type(source).__name__}"
        )
    pyarrow = optional("pyarrow")
    scratch = scratch_in(folder, "a stream can be read once")
    path = os.path.join(scratch, "rows.arrow")
    reader = pyarrow.RecordBatchReader.from_stream(source)
    with optional("pyarrow.ipc").new_file(path, reader.schema) as file:
        for batch in reader:
            file.write_batch(batch)
    return [path], scratch


def scratch_in(folder: str | os.PathLike[str] | None, reason: str) -> str:
    scratch = tempfile.mkdtemp(prefix="maxmargin-rows-", dir=folder)
    warnings.warn(f"{reason}: the rows are written to {scratch} and read from there", SpooledWarning, stacklevel=4)
    return scratch


def format_of(paths: Sequence[str], format: str) -> Format:
    if format not in set(Format):
        raise ValueError(f"format must be one of {', '.join(Format)}, not {format!r}")
    if format != Format.AUTO:
        return Format(format)
    found = [recognise(path) for path in paths]
    other = next((path for path, form in zip(paths, found, strict=True) if form is not found[0]), None)
    if other is not None:
        raise DataFileError(other, f"it is not written as {found[0]}, as {paths[0]} is: scan files of one format")
    return found[0]
