"""A piece of an SVMlight file to arrays: one pass over its bytes, compiled, without the GIL.

The loop knows how a row is built and reads almost every number. What it cannot read it leaves to Python: a word for
float() (see decimals.py), and a row that is not as it should be, whose place is all that it tells.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin._loops import njit
from maxmargin.reading.decimals import ends_a_word, is_digit, powers_of_five, read_number

NUMBER = re.compile(rb"[-+.0-9a-zA-Z]+")  # whatever float() is to judge; no underscores
MOST_INDEX_DIGITS = 18
NO_QUERY = -1
USUAL_WORDS = 1000  # for float(); where there are more of them in a piece, it is read again


class BadRow(NamedTuple):
    """A line that is not a row, as it stands in the file; `line` counts from 1 within its piece."""

    text: bytes
    line: int


class Rows(NamedTuple):
    """The rows of a piece, or the first of its lines that is not one.

    Those of row i are the entries ends[i-1] to ends[i], read from line lines[i], counted from 1 within the piece.
    The arrays are the beginnings of longer ones: whoever keeps them copies them.
    """

    labels: NDArray[np.float64]
    queries: NDArray[np.int64]
    lines: NDArray[np.int64]
    ends: NDArray[np.int64]
    indices: NDArray[Any]
    values: NDArray[np.float64]
    line_count: int
    smallest: int
    largest: int
    bad: BadRow | None


def rows_of_piece(piece: bytes, any_order: bool) -> Rows:
    """Read a piece, which must end with the end of a line. Indices must ascend unless they may be in any order."""
    most_rows = piece.count(b"\n") + piece.count(b"\r")
    most_entries = len(piece) // 3 + 1  # " 1:", before float() has seen that there is no value
    labels, queries = np.empty(most_rows), np.empty(most_rows, np.int64)
    lines, ends = np.empty(most_rows, np.int64), np.empty(most_rows, np.int64)
    indices, values = np.empty(most_entries, np.int64), np.empty(most_entries)
    text, hard = np.frombuffer(piece, np.uint8), USUAL_WORDS
    while True:
        words, seen = np.empty((hard, 3), np.int64), np.empty(8, np.int64)
        read_rows(text, any_order, powers_of_five(), labels, queries, lines, ends, indices, values, words, seen)
        rows, entries, hard, line_count, stop, smallest, largest, foreign = seen.tolist()
        if hard <= len(words):
            break
    places = [stop] if stop >= 0 else []
    for target, start, end in words[:hard].tolist():
        number = float_or_none(piece[start:end])
        if number is None:
            places.append(start)
            break
        if target < 0:
            labels[-1 - target] = number
        else:
            values[target] = number
    if foreign:
        try:
            piece.decode("utf-8")
        except UnicodeDecodeError as error:
            places.append(error.start)
    return Rows(
        labels[:rows],
        queries[:rows],
        lines[:rows],
        ends[:rows],
        indices[:entries],
        values[:entries],
        line_count,
        smallest,
        largest,
        bad_row_at(piece, min(places)) if places else None,
    )


def float_or_none(word: bytes) -> float | None:
    """The number, if it is one and finite."""
    try:
        value = float(word) if NUMBER.fullmatch(word) else np.inf
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def bad_row_at(piece: bytes, place: int) -> BadRow:
    start = max(piece.rfind(b"\n", 0, place), piece.rfind(b"\r", 0, place)) + 1
    return BadRow(piece[start:].splitlines()[0], len(piece[:start].splitlines()) + 1)


@njit
def is_blank(byte: int) -> bool:
    return byte == 32 or byte == 9 or byte == 11 or byte == 12


@njit
def ends_a_line(byte: int) -> bool:
    return byte == 10 or byte == 13


@njit
def after_query(text: Any, place: int) -> tuple[Any, int]:
    """The number after qid: at this place, and where it ends; -1 and the same place if there is none."""
    if not (text[place] == 113 and text[place + 1] == 105 and text[place + 2] == 100 and text[place + 3] == 58):
        return NO_QUERY, place
    end, query = place + 4, np.int64(0)
    while is_digit(text[end]) and end - place - 4 < MOST_INDEX_DIGITS:
        query = 10 * query + np.int64(text[end] - 48)
        end += 1
    if end == place + 4 or not ends_a_word(text[end]):
        return NO_QUERY, place
    return query, end


@njit
def note_word(words: Any, count: int, target: int, start: int, end: int) -> int:
    if count < len(words):
        words[count, 0], words[count, 1], words[count, 2] = target, start, end
    return count + 1


@njit
def read_rows(
    text: Any,
    any_order: bool,
    powers: Any,
    labels: Any,
    queries: Any,
    lines: Any,
    ends: Any,
    indices: Any,
    values: Any,
    words: Any,
    seen: Any,
) -> None:
    """Fill the arrays, and tell how far: rows, entries, words for float(), lines, the place of the first bad row or -1,
    the smallest and the largest index, and whether a comment has bytes beyond ASCII.

    A word is [its entry, or -1 - its row if it is the label; where it begins; where it ends]. Those for which there is
    no room are only counted.
    """
    place, line, row, entry, hard, stop, foreign = 0, 0, 0, 0, 0, -1, 0
    smallest, largest = np.int64(2**62), np.int64(-1)
    while place < len(text) and stop < 0:
        line += 1
        beginning = place
        while is_blank(text[place]):
            place += 1
        if not ends_a_line(text[place]) and text[place] != 35:
            start = place
            label, place = read_number(text, place, powers)
            if label != label:
                hard = note_word(words, hard, -1 - row, start, place)
            while is_blank(text[place]):
                place += 1
            query, place = after_query(text, place)
            last = np.int64(-1)
            while True:
                while is_blank(text[place]):
                    place += 1
                if ends_a_line(text[place]) or text[place] == 35:
                    break
                start, index = place, np.int64(0)
                while is_digit(text[place]):
                    if place - start < MOST_INDEX_DIGITS:
                        index = 10 * index + np.int64(text[place] - 48)
                    place += 1
                digits = place - start
                falls = index <= last and not any_order
                if text[place] != 58 or digits == 0 or digits > MOST_INDEX_DIGITS or falls:
                    stop = beginning
                    break
                last = index
                start = place + 1
                value, place = read_number(text, start, powers)
                if value != value:
                    hard = note_word(words, hard, entry, start, place)
                indices[entry], values[entry] = index, value
                smallest, largest = min(smallest, index), max(largest, index)
                entry += 1
            if stop >= 0:
                break
            labels[row], queries[row], lines[row], ends[row] = label, query, line, entry
            row += 1
        while not ends_a_line(text[place]):  # a comment
            if text[place] == 0:
                stop = beginning
            if text[place] >= 128:
                foreign = 1
            place += 1
        if text[place] == 13 and place + 1 < len(text) and text[place + 1] == 10:
            place += 1
        place += 1
    seen[0], seen[1], seen[2], seen[3], seen[4] = row, entry, hard, line, stop
    seen[5], seen[6], seen[7] = smallest, largest, foreign
