"""Files: where they come from, how they are written and who reads them, their lines or pieces, and errors that name the
place.

A file is a path or an open file; gzip, bzip2 and xz are recognised by their first bytes, whatever the name says.
Importing this loads neither NumPy nor a library of tables: the command line reads its help here.
"""

from __future__ import annotations

import importlib
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

if TYPE_CHECKING:
    from maxmargin.reading.columns import LabelledTable, Roles

Source: TypeAlias = "str | os.PathLike[str] | IO[str] | IO[bytes]"

COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ": "lzma"}
NOT_TEXT = {
    b"PK\x03\x04": "a zip archive or a spreadsheet: export it as CSV",
    b"PAR1": "a Parquet file: export it as CSV",
    b"\xff\xfe": "UTF-16 text: save it as UTF-8",
    b"\xfe\xff": "UTF-16 text: save it as UTF-8",
}
COMPRESSORS = {".bz2": "bz2", ".gz": "gzip", ".xz": "lzma"}  # by the end of a name that is to be written
BYTE_ORDER_MARK = "\ufeff"
PIECE = 2**20  # bytes
LINES_AT_A_TIME = 1000


class Format(StrEnum):
    """How a table is written."""

    AUTO = "auto"
    CSV = "csv"
    SVMLIGHT = "svmlight"
    PARQUET = "parquet"
    ARROW = "arrow"
    NPY = "npy"
    NPZ = "npz"


MAGIC = {b"PAR1": Format.PARQUET, b"ARROW1": Format.ARROW, b"\x93NUMPY": Format.NPY, b"PK\x03\x04": Format.NPZ}
SUFFIXES = {
    ".arrow": Format.ARROW,
    ".arrows": Format.ARROW,
    ".csv": Format.CSV,
    ".feather": Format.ARROW,
    ".libsvm": Format.SVMLIGHT,
    ".npy": Format.NPY,
    ".npz": Format.NPZ,
    ".parquet": Format.PARQUET,
    ".svm": Format.SVMLIGHT,
    ".svml": Format.SVMLIGHT,
    ".svmlight": Format.SVMLIGHT,
    ".tsv": Format.CSV,
}
READERS = {  # "module:function", loaded when a file is of that format; function(source, roles, asked) gives the table
    Format.CSV: "csv:read_csv_columns",
    Format.SVMLIGHT: "read:read_sparse",
    Format.PARQUET: "frames:read_parquet",
    Format.ARROW: "frames:read_arrow",
    Format.NPY: "frames:read_npy",
    Format.NPZ: "frames:read_npz",
}
SVMLIGHT_ROW = re.compile(r"\s*[-+.\w]+(\s+qid:\d+)?(\s+\d+:\S+)+\s*(#.*)?")


class DataFileError(ValueError):
    """What is wrong with a data file, where, and what to do.

    `line` and `character` count from 1, as editors do. `column` is a name, or an index that counts from 0; so does
    `row`, which is for files that have no lines.

    >>> print(DataFileError("data.csv", "'abc' is not a number", 7, "height"))
    data.csv, line 7, column 'height': 'abc' is not a number
    """

    def __init__(
        self,
        file: str,
        problem: str,
        line: int | None = None,
        column: str | int | None = None,
        character: int | None = None,
        row: int | None = None,
    ) -> None:
        super().__init__(file, problem, line, column, character, row)
        self.file = file
        self.problem = problem
        self.line = line
        self.column = column
        self.character = character
        self.row = row

    def __str__(self) -> str:
        place = [self.file]
        if self.line is not None:
            place.append(f"line {self.line}")
        if self.character is not None:
            place.append(f"character {self.character}")
        if self.row is not None:
            place.append(f"row {self.row} (counted from 0)")
        if isinstance(self.column, str):
            place.append(f"column {shortened(self.column)}")
        elif self.column is not None:
            place.append(f"column {self.column} (counted from 0)")
        return f"{', '.join(place)}: {self.problem}"


class MissingValueError(DataFileError):
    """A cell that holds nothing, where missing values are not welcome."""


def shortened(text: str, longest: int = 40) -> str:
    """The text in quotes, cut where it is too long for a message."""
    return repr(text if len(text) <= longest else text[: longest - 3] + "...")


class Asked(NamedTuple):
    """What a file does not say of itself, as `read_table` explains it."""

    header: bool = True
    n_features: int | None = None
    zero_based: bool | Literal["auto"] = "auto"
    any_order: bool = False


AS_IT_IS = Asked()


def table_in(source: Source, roles: Roles, format: str, asked: Asked) -> LabelledTable:
    """The table in a file, by the reader of its format."""
    if format not in set(Format):
        raise ValueError(f"format must be one of {', '.join(Format)}, not {format!r}")
    if format not in {Format.CSV, Format.SVMLIGHT}:  # which are read as they come
        source = rewindable(source)
    reader = READERS[recognise(source) if format == Format.AUTO else Format(format)]
    module, _, function = reader.partition(":")
    table = getattr(importlib.import_module(f"maxmargin.reading.{module}"), function)(source, roles, asked)
    return checked_width(table, name_of(source), asked.n_features)


def checked_width(table: LabelledTable, file: str, n_features: int | None) -> LabelledTable:
    width = table.X.shape[1]
    if n_features is not None and width != n_features:
        raise DataFileError(file, f"there are {width} columns of numbers, and not {n_features}")
    return table


def name_of(source: Source) -> str:
    """What to call the source in a message."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    name = getattr(source, "name", None)
    if name in ("<stdin>", 0):
        return "standard input"
    return name if isinstance(name, str) else "the data"


def rewindable(source: Source) -> Source:
    """A path as text; an open file, as one that can be looked at before it is read."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    if isinstance(source, io.BytesIO | io.StringIO):
        return source
    content = source.read()
    stream = io.StringIO(content) if isinstance(content, str) else io.BytesIO(content)
    stream.name = getattr(source, "name", None)
    return stream


def suffix_of(file: str) -> str:
    """The end of a name that says how the file is written, before that of its compression."""
    suffixes = [suffix.lower() for suffix in Path(file).suffixes]
    while suffixes and suffixes[-1] in COMPRESSORS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def opener_of(file: str | os.PathLike[str]) -> Callable[..., Any]:
    """What opens a file to be written: `open`, or that of the compression which its name says."""
    compressor = COMPRESSORS.get(Path(file).suffix.lower())
    return open if compressor is None else cast("Callable[..., Any]", importlib.import_module(compressor).open)


def recognise(source: Source) -> Format:
    """By the first bytes; by the name; where both say nothing, by the first line that is not empty."""
    if isinstance(source, str):
        with open(source, "rb") as file:
            start: bytes | str = file.read(8)
    else:
        start = cast("IO[bytes]", source).read(8)
        cast("IO[bytes]", source).seek(0)
    for magic, found in MAGIC.items():
        if isinstance(start, bytes) and start.startswith(magic):
            return found
    if isinstance(source, str) and (suffix := suffix_of(source)) in SUFFIXES:
        return SUFFIXES[suffix]
    with closing(lines_of(source)) as lines:
        told = (line for line in chain.from_iterable(lines) if line.strip() and not line.startswith("#"))
        is_svmlight = SVMLIGHT_ROW.fullmatch(next(told, "").strip())
    if not isinstance(source, str | os.PathLike):
        source.seek(0)
    return Format.SVMLIGHT if is_svmlight else Format.CSV


def lines_of(source: Source) -> Generator[list[str], None, None]:
    """The lines, some at a time, decoded as UTF-8, each with its end; a byte order mark is dropped.

    A line ends with \\n, \\r\\n or \\r. What is not text is refused with its line, once the lines before it are given.
    """
    name = name_of(source)
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as file:
            yield from lines_of(file)
        return
    some: list[str] = []
    problem = None
    try:
        for line in decoded_lines(source, name):
            some.append(line)
            if len(some) == LINES_AT_A_TIME:
                yield some
                some = []
    except DataFileError as error:
        problem = error
    yield some
    if problem is not None:
        raise problem


def decoded_lines(source: IO[str] | IO[bytes], name: str) -> Iterator[str]:
    if isinstance(source.read(0), str):
        for number, text in enumerate(cast("IO[str]", source), 1):
            yield checked(text, name, number)
        return
    number = 0
    with damage_refused(name):
        for chunk in unpacked(cast("IO[bytes]", source), name):
            for raw in chunk.splitlines(keepends=True) if b"\r" in chunk else (chunk,):
                number += 1
                yield decoded(raw, name, number)


def pieces_of(source: Source) -> Iterator[bytes]:
    """The bytes, unpacked, in pieces of about 1 MB, each of which ends with the end of a line; no byte order mark.

    Pieces are read and not mapped: a file that shrinks meanwhile would kill a process that has mapped it, memory is
    held for a few pieces at a time, and a pipe or a compressed file is read in the same way.
    """
    begun: list[bytes] = []
    for number, chunk in enumerate(chunks_of(source)):
        told = chunk.removeprefix(BYTE_ORDER_MARK.encode()) if number == 0 else chunk
        # After a \r only where another byte follows: \r\n is one end.
        cut = told.rfind(b"\n") + 1 or told.rfind(b"\r", 0, len(told) - 1) + 1
        if cut:
            yield b"".join([*begun, told[:cut]])
            begun = []
        begun.append(told[cut:])
    last = b"".join(begun)
    if last:
        yield last + b"\n"


def chunks_of(source: Source) -> Iterator[bytes]:
    name = name_of(source)
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as file:
            yield from chunks_of(file)
        return
    if isinstance(source.read(0), str):
        for text in iter(lambda: cast("IO[str]", source).read(PIECE), ""):
            yield text.encode("utf-8", "surrogatepass")
        return
    with damage_refused(name):
        file = unpacked(cast("IO[bytes]", source), name)
        yield from iter(lambda: cast("bytes", file.read(PIECE)), b"")


@contextmanager
def damage_refused(name: str) -> Iterator[None]:
    """Errors of the decompression, as what they are."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataFileError(name, f"the compressed file is damaged or cut off ({error})") from None
    except OSError as error:
        if error.errno is not None:  # a matter of the disk and not of the compression
            raise
        raise DataFileError(name, f"the compressed file is damaged ({error})") from None


def decoded(raw: bytes, name: str, number: int) -> str:
    """A line of text."""
    try:
        line = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"byte {raw[error.start]:#04x} at position {error.start}"
        raise DataFileError(name, f"{byte} is not UTF-8; save the file as UTF-8", number) from None
    return checked(line, name, number)


def checked(line: str, name: str, number: int) -> str:
    if "\0" in line:
        raise DataFileError(name, "there is a NUL byte: this is not a text file", number)
    return line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line


def unpacked(file: IO[bytes], name: str) -> Any:
    """The same bytes, decompressed where they are compressed."""
    buffered = file if isinstance(file, io.BufferedReader | io.BytesIO) else io.BytesIO(file.read())
    start = buffered.getvalue()[:8] if isinstance(buffered, io.BytesIO) else buffered.peek(8)[:8]
    for magic, meaning in NOT_TEXT.items():
        if start.startswith(magic):
            raise DataFileError(name, f"this is {meaning}")
    for magic, module in COMPRESSED.items():
        if start.startswith(magic):
            return importlib.import_module(module).open(buffered)
    return buffered
