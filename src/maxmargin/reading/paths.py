"""Where the rows of a table are: files, folders, patterns, datasets; what can be read once only, in a folder.

A stream, a lazy frame or a compressed file cannot be read twice, or not from its midst; the rows of a dataset that was
filtered are not those of its files. So they are first written to a folder of their own, and a warning says where.
"""

from __future__ import annotations

import glob
import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from maxmargin.reading.files import COMPRESSED, DataFileError, Format, chunks_of, recognise, suffix_of
from maxmargin.reading.frames import optional

ONCE = "a stream can be read once"
SPOOLED_BYTES = 4 * 2**20  # of a batch that is written: a block of its own


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
    files = getattr(source, "files", None)  # a dataset of pyarrow
    if files and has_the_rows_of_its_files(source) and all(os.path.exists(path) for path in files):
        return list(files), None
    return spooled(source, folder)


def has_the_rows_of_its_files(dataset: Any) -> bool:
    """And their columns: nothing was filtered, and the names of folders tell no column."""
    try:
        first = next(dataset.get_fragments())
    except ValueError:  # it was filtered
        return False
    return bool(dataset.schema.equals(first.physical_schema))


def expanded(path: str) -> list[str]:
    """A folder, or a pattern, as the files in it, in the order of their names."""
    if os.path.isdir(path):
        found = [os.path.join(path, name) for name in sorted(os.listdir(path)) if not name.startswith((".", "_"))]
        found = [name for name in found if os.path.isfile(name)]
    elif glob.has_magic(path) and not os.path.exists(path):
        found = sorted(name for name in glob.glob(path, recursive=True) if os.path.isfile(name))
    else:
        found = [path]
    if not found and os.path.isdir(path) and any(os.path.isdir(os.path.join(path, name)) for name in os.listdir(path)):
        raise FileNotFoundError(
            f"there is no file in {path} itself, but there are folders: give a pattern such as {path}/**/*.parquet; or "
            "pyarrow.dataset.dataset(..., partitioning=...), if the names of the folders are a column"
        )
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
    batches = stream_of(source)
    if batches is None:
        raise TypeError(
            "a table to scan is a path, a folder, a pattern, a list of paths, a dataset, an Arrow stream or data "
            f"frames that come one after the other, not {type(source).__name__}"
        )
    scratch = scratch_in(folder, "the rows of a dataset are chosen" if hasattr(source, "scanner") else ONCE)
    path = os.path.join(scratch, "rows.arrow")
    with optional("pyarrow.ipc").new_file(path, batches.schema) as file:
        for batch in as_large_as_blocks(batches):
            file.write_batch(batch)
    return [path], scratch


def stream_of(source: Any) -> Any:
    """A reader of record batches; None: it gives none."""
    pyarrow = optional("pyarrow")
    if hasattr(source, "scanner"):  # a dataset
        source = source.scanner()
    if hasattr(source, "to_reader"):
        return source.to_reader()
    if hasattr(source, "__arrow_c_stream__"):
        return pyarrow.RecordBatchReader.from_stream(source)
    if not isinstance(source, Iterator):
        return None
    first = next(source, None)
    if not hasattr(first, "__arrow_c_stream__") and not hasattr(first, "__arrow_c_array__"):
        return None
    schema = pyarrow.table(first).schema
    tables = (pyarrow.table(part).cast(schema) for part in chain([first], source))
    return pyarrow.RecordBatchReader.from_batches(schema, (batch for table in tables for batch in table.to_batches()))


def as_large_as_blocks(batches: Any) -> Iterator[Any]:
    """The rows again, in batches of SPOOLED_BYTES and a little less: each is read as one block."""
    pyarrow, waiting, size = optional("pyarrow"), [], 0
    for batch in chain(batches, [None]):
        if batch is not None:
            waiting.append(batch)
            size += batch.nbytes
        if waiting and (batch is None or size >= SPOOLED_BYTES):
            table = pyarrow.Table.from_batches(waiting).combine_chunks()
            pieces = -(-size // SPOOLED_BYTES)
            yield from table.to_batches(max_chunksize=max(1, -(-table.num_rows // max(1, pieces))))
            waiting, size = [], 0


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
