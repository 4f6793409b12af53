"""Where the commands write: results to stdout, messages and progress to stderr; never over a file that they read."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Any

from rich.console import Console, RenderableType

WIDTH_OF_A_FILE = 120  # where there is no terminal to ask

# Text is printed as it is: brackets in a label are no markup, and its numbers keep their colour.
results = Console(markup=False, highlight=False, emoji=False)
results_in_a_file = Console(markup=False, highlight=False, emoji=False, width=WIDTH_OF_A_FILE)
messages = Console(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True)


class ExitCode(IntEnum):
    """What a script learns; the docstring of the package explains them."""

    FINE = 0
    ERROR = 1
    UNPROVEN = 2
    NOT_SEPARABLE = 3
    INTERRUPTED = 130


class Answers:
    """Whether this command has printed its JSON: there is one document, an error or a result."""

    were_given = False


answers = Answers()


class UserError(Exception):
    """Something that the user can put right; the message is the one sentence that is shown."""


def say(text: str = "", style: str | None = None) -> None:
    """A line of the result, which is never wrapped."""
    results.print(text, style=style, soft_wrap=True)


def show(table: RenderableType) -> None:
    """A table of the result, at most as wide as the terminal."""
    (results if results.is_terminal else results_in_a_file).print(table)


def say_json(value: dict[str, Any]) -> None:
    """The result for machines: JSON as the standard has it, so that what is not finite is null."""
    answers.were_given = True
    for piece in pieces_of_json(value):
        results.file.write(piece)


def pieces_of_json(value: dict[str, Any]) -> Iterator[str]:
    """A line for each entry. An iterator becomes a list, an element a line, and is never held whole."""
    yield "{"
    for number, (name, entry) in enumerate(value.items()):
        yield f"{',' if number else ''}\n  {json.dumps(name)}: "
        if isinstance(entry, Iterator):
            yield "["
            for place, element in enumerate(entry):
                yield f"{',' if place else ''}\n    {json_line(element)}"
            yield "]"
        else:
            yield json_line(entry)
    yield "\n}\n"


def json_line(value: Any) -> str:
    """One line; the copy without infinities is made only where there are some."""
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False)
    except ValueError:
        return json.dumps(without_infinities(value), allow_nan=False, ensure_ascii=False)


def without_infinities(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: without_infinities(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [without_infinities(entry) for entry in value]
    return value


def speak_utf8() -> None:
    """Labels and names are Unicode. A file or a pipe gets UTF-8; a terminal that cannot show a letter gets its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def let_go_of_stdout() -> None:
    """What is still to be written to a full disk or a closed pipe must not complain once more when Python ends."""
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def refuse_to_write_over(output: str | None, *inputs: str | None, sql: str | None = None) -> None:
    """An output that is one of the inputs, whatever their names are, would cost the user that input.

    The first input is the data: - is standard input, and with `sql` it is no file but a query to that database.
    """
    if output is None or output == "-" or (written := file_at(output)) is None:
        return
    files = list(inputs) if sql is None else [sql.partition(":")[2], *inputs[1:]]
    for file in files:
        if file is not None and (read := file_at(file)) is not None and os.path.samestat(written, read):
            shown = "standard input" if file == "-" else file
            raise UserError(f"{output} is what is read ({shown}), and would be lost: write to another file")


def file_at(file: str) -> os.stat_result | None:
    """Of a file on the disk; None where there is none, and for pipes and devices."""
    try:
        status = os.fstat(sys.stdin.fileno()) if file == "-" else os.stat(file)
    except (OSError, AttributeError, ValueError):  # no such file; or a standard input that is none
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def write_text(pieces: Iterable[str], output: str) -> None:
    """To a file, or to standard output."""
    from maxmargin.persistence.atomic import replaced

    if output == "-":
        results.file.writelines(pieces)
        return
    try:
        with replaced(output) as path, open(path, "w", encoding="utf-8") as file:
            file.writelines(pieces)
    except OSError as error:
        raise UserError(f"{output} cannot be written: {(error.strerror or str(error)).lower()}") from None


def write_csv(output: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table of plain values to a file, or to standard output."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    write_text([text.getvalue()], output)


def name_of_output(output: str) -> str:
    """What to call an output in a message."""
    return "standard output" if output == "-" else output
