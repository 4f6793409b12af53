"""Where the commands write: results to stdout, messages and progress to stderr; never over a file that they read.

Progress is the gap as it falls: one line, where somebody looks, which is gone when the work is done. How long a command
worked, and how much of --max-time is left, is measured here as well.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType

if TYPE_CHECKING:
    from maxmargin.estimators.convergence import Ending
    from maxmargin.problems.protocol import Iterate
    from maxmargin.problems.statement import SignedRows
    from maxmargin.run.observation import PassProgress

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


@contextmanager
def in_a_sentence(name: str) -> Iterator[None]:
    """What an estimator says against the data or its parameters, as the user's error."""
    from maxmargin.estimators.no_plane import NoPlaneError

    try:
        yield
    except NoPlaneError:
        raise
    except ValueError as error:
        raise UserError(f"{name}: {str(error).splitlines()[0]}") from None


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
    """A line for each entry. An iterator becomes a list, an element a line, and is never held whole; what is
    called gives its value when its turn comes."""
    yield "{"
    for number, (name, entry) in enumerate(value.items()):
        yield f"{',' if number else ''}\n  {json.dumps(name)}: "
        if callable(entry):  # known when what is before it is written
            yield json_line(entry())
        elif isinstance(entry, Iterator):
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


def refuse_to_write_over(
    output: str | None, data: str | Sequence[str], *others: str | None, sql: str | None = None
) -> None:
    """An output that is one of the inputs, whatever their names are, would cost the user that input.

    Of the data, - is standard input, and with `sql` they are no files but a query to that database.
    """
    if output is None or output == "-" or (written := file_at(output)) is None:
        return
    for file in (*(files_of(data) if sql is None else [sql.partition(":")[2]]), *others):
        if file is not None and (read := file_at(file)) is not None and os.path.samestat(written, read):
            shown = "standard input" if file == "-" else file
            raise UserError(f"{output} is what is read ({shown}), and would be lost: write to another file")


def files_of(data: str | Sequence[str], sql: str | None = None) -> list[str]:
    """The files that are meant: a pattern that the shell has not expanded, too. A query stays what it is."""
    given = [data] if isinstance(data, str) else list(data)
    if sql is not None:
        if len(given) > 1:
            raise UserError("--sql asks one query: put it in quotes, so that it is one argument")
        return given
    if "-" in given:
        if len(given) > 1:
            raise UserError("- is standard input, one table: give it alone, or name files only")
        return given
    if all(map(os.path.isfile, given)):
        return given
    from maxmargin.reading.paths import expanded

    try:
        return [file for one in given for file in expanded(one)]
    except FileNotFoundError as error:
        raise UserError(str(error)) from None


def file_at(file: str) -> os.stat_result | None:
    """Of a file on the disk; None where there is none, and for pipes and devices."""
    try:
        status = os.fstat(sys.stdin.fileno()) if file == "-" else os.stat(file)
    except (OSError, AttributeError, ValueError):  # no such file; or a standard input that is none
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def write_text(pieces: Iterable[str], output: str) -> None:
    """To a file, or to standard output."""
    from maxmargin.persistence.container import replaced

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


BETWEEN = 0.1  # seconds
OPTIONS = {
    "max_time": "--max-time",
    "tol": "--tol",
    "max_iter": "--set max_iter=NUMBER",
    "max_updates": "--set max_updates=NUMBER",
}
WORTH_TELLING = 0.1  # seconds of compiling
LEAST = 1e-3  # seconds that a solver gets
USUAL_END = 1e-4  # where the bar ends if no gap is asked for


@contextmanager
def gap_shown(work: str, tol: float | None = None, options: Mapping[str, str] = OPTIONS) -> Iterator[None]:
    """Within it, every fit is observed. The bar runs from a gap of 1 to `tol`, each digit as long as the others.

    A fit that ended early is told in a sentence when the bar is gone; `options` are how the command spells parameters.
    """
    from maxmargin.run.control import EARLY, told_of_ends

    endings: list[Ending] = []
    with told_of_ends(endings.append), bar_shown(work, tol):
        yield
    for ending in endings:
        may_be_early = ending.not_begun or not EARLY.isdisjoint(end.status for end in ending.ends)
        if may_be_early and (sentence := ending.sentence(options.get)) is not None:
            messages.print(f"maxmargin: {sentence}")


@contextmanager
def bar_shown(work: str, tol: float | None) -> Iterator[None]:
    if not messages.is_terminal:
        yield
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from maxmargin.run.observation import observing, watching_passes

    standing = TextColumn("{task.fields[standing]}", markup=False)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        standing,
    )
    with Progress(*columns, console=messages, transient=True) as progress:
        task = progress.add_task(work, total=1.0, standing="")
        shown, gap = 0.0, math.nan

        def show(iterate: Iterate, _: SignedRows) -> None:
            nonlocal shown, gap
            gap = iterate.gap if iterate.gap_is_known else gap  # the last one that is known: not every iterate has one
            if (now := time.perf_counter()) - shown >= BETWEEN:
                shown = now
                progress.update(task, completed=share(gap, tol or USUAL_END), standing=told(iterate, gap))

        def show_pass(progress_of: PassProgress) -> None:
            nonlocal shown, gap
            gap = progress_of.gap
            if (now := time.perf_counter()) - shown >= BETWEEN:
                shown = now
                done = share(gap, tol or USUAL_END)
                progress.update(task, completed=done, standing=pass_told(progress_of, done))

        with observing(show), watching_passes(show_pass):
            yield


def share(gap: float, tol: float) -> float:
    """How much of the way is gone, in digits."""
    return min(1.0, max(0.0, math.log(gap) / math.log(min(tol, 0.5)))) if 0.0 < gap < math.inf else 0.0


def told(iterate: Iterate, gap: float) -> str:
    counts = f"{iterate.sweeps:,} sweeps  {iterate.updates:,} updates"
    return f"gap {gap:.1e}  {counts}" if 0.0 < gap < math.inf else counts


def pass_told(progress: PassProgress, done: float) -> str:
    """Which pass, the gap, and how long it may take from here: as each digit so far, but no less than this pass.

    >>> from maxmargin.run.observation import PassProgress
    >>> pass_told(PassProgress(3, 5, 10, 1e-2, 30.0), 0.5)
    'pass 3, 50%  gap 1.0e-02  about 30 s left'
    >>> pass_told(PassProgress(1, 9, 10, float("inf"), 30.0), 0.0)
    'pass 1, 90%'
    """
    standing = f"pass {progress.number}, {progress.blocks / max(1, progress.n_blocks):.0%}"
    if not 0.0 < progress.gap < math.inf:
        return standing
    standing += f"  gap {progress.gap:.1e}"
    if done == 0.0:
        return standing
    rest = progress.seconds * (1.0 - done) / done
    this_pass = progress.seconds / progress.number * (1.0 - progress.blocks / max(1, progress.n_blocks))
    return f"{standing}  about {max(rest, this_pass):.2g} s left"


class Stopwatch:
    """How long a command worked since this was made, and apart from that how long its loops were compiled, which
    happens once."""

    def __init__(self) -> None:
        from maxmargin.run import control

        self._compiled_by_now = control.compiled_by_now
        self._compiled_before, self._begun = control.compiled_by_now(), time.perf_counter()

    @property
    def compiling(self) -> float:
        return self._compiled_by_now() - self._compiled_before

    @property
    def seconds(self) -> float:
        return max(0.0, time.perf_counter() - self._begun - self.compiling)


def time_told(seconds: float, compiling: float) -> str:
    """As a report says it.

    >>> time_told(0.0123, 0.0), time_told(0.0123, 29.7)
    ('0.0123 s', '0.0123 s (its loops were compiled once in 29.7 s)')
    """
    apart = f" (its loops were compiled once in {compiling:.3g} s)" if compiling >= WORTH_TELLING else ""
    return f"{seconds:.3g} s{apart}"


class TimeLimit:
    """The seconds of --max-time, from when the data are read: what prepares, proves and prints is part of the work."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds, self.begun = seconds, time.perf_counter()

    def left(self, share: float = 1.0, reserve: float = 0.0) -> float | None:
        """What a solver may take of the rest: a share, or all but a reserve, which is half of it at most.

        None where there is no limit. Where the time is over, still a little, to say anything.
        """
        if self.seconds is None:
            return None
        rest = self.seconds - (time.perf_counter() - self.begun)
        return max(share * rest - min(reserve, 0.5 * rest), min(self.seconds, LEAST))

    @property
    def is_over(self) -> bool:
        return self.seconds is not None and time.perf_counter() - self.begun >= self.seconds


def check_time(max_time: float | None) -> None:
    """One sentence where a time limit is none."""
    if max_time is not None and not max_time > 0.0:
        raise UserError(f"--max-time must be a positive number of seconds, not {max_time:g}")
