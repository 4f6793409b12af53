"""Words as files write them: numbers, labels, and what says that there is none.

Some words stand for numbers in another notation than a program reads:

    1,5    1,234    1.234,5    1'234    1 234    12%    $5    2024-01-31    10:30

A reader that takes such a word for a category makes one category of each number, and a proof about a table that nobody
meant. A comma can be a decimal comma or a separator of thousands: 1,234 is 1.234 or 1234, and only the user knows.

Labels are whole numbers, or the text that they are. 1, +1 and 1.0 are the same whole number. 007 is no number but a
name: whoever writes zeros in front wants them back. So one label that is no plain number makes all of them text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING = {"", "?", "n/a", "na", "nan", "none", "null"}
MISSING_LABELS = {"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaT", "None", "NULL", "null"}
LARGEST_LABEL = 2**63
ZERO_IN_FRONT = re.compile(r"[-+]?0\d", re.ASCII)
TRUTH = {"true": True, "false": False}

SIGN = r"[-+\u2212]?"
MONEY = "[$\u20ac\u00a3\u00a5]"
DIGITS = r"\d[\d.,'\u2019 \u00a0\u202f]*"
GROUP = r"[ _'\u2019\u00a0\u202f]"
DATE = r"\d{4}([-/.])\d{1,2}(\1\d{1,2})?|\d{1,2}([-/.])\d{1,2}\3(\d{2}|\d{4})|\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{2,4}"
TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[-+]\d{2}:?\d{2})?"

# In this order: the first that fits speaks.
NOTATIONS = [
    (rf"{SIGN}{DIGITS}%|{SIGN}{DIGITS} %", "leave the per cent sign out, in all rows alike"),
    (rf"{SIGN}{MONEY} ?{DIGITS}|{SIGN}{DIGITS}{MONEY}", "leave the sign of the currency out"),
    (rf"(?:{DATE})(?:[T ]+(?:{TIME}))?|{TIME}", "a date or a time becomes a number first, such as a count of days"),
    (rf"{SIGN}\d{{1,3}}(,\d{{3}}){{2,}}(\.\d+)?|{SIGN}\d{{1,3}}(,\d{{3}})+\.\d+", "leave the separators out"),
    (rf"{SIGN}\d{{1,3}}(\.\d{{3}})+,\d+|{SIGN}\d{{1,3}}(\.\d{{3}}){{2,}}", "write a decimal point and no separators"),
    (
        rf"{SIGN}[1-9]\d{{0,2}},\d{{3}}",
        "its comma can be a decimal comma or a separator of thousands: write a decimal point for the first, and "
        "leave it out for the second",
    ),
    (rf"{SIGN}\d*,\d+([eE][-+]?\d+)?|{SIGN}\d+,", "write a decimal point"),
    (rf"{SIGN}\d+({GROUP}\d+)+([.,]\d+)?", "leave the separators out"),
]
COMPILED = [(re.compile(pattern, re.ASCII), advice) for pattern, advice in NOTATIONS]


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python reads 1_000 as a number, no one else does


def advice_on(word: str) -> str | None:
    """What to do about a word that is a number in another notation; None if it is none.

    >>> advice_on("1,5"), advice_on("12%"), advice_on("red")
    ('write a decimal point', 'leave the per cent sign out, in all rows alike', None)
    """
    word = word.strip()
    if not any(character.isdigit() for character in word):
        return None
    return next((advice for pattern, advice in COMPILED if pattern.fullmatch(word)), None)


def disguised_number(words: Sequence[str]) -> tuple[str, str] | None:
    """Of words most of which are numbers, whatever their notation: the first of these, and what to do about it."""
    found = [(word, "it is a number that is kept as text" if is_number(word) else advice_on(word)) for word in words]
    numbers = [(word, advice) for word, advice in found if advice is not None]
    if 2 * len(numbers) <= len(words):
        return None
    return max(numbers, key=lambda pair: len(pair[1]))  # the doubt about a comma, where it is among them


def is_missing_label(word: str) -> bool:
    """Whether a word is how programs write that there is no label."""
    return word in MISSING_LABELS or word.lower() == "nan"


def problem_of_missing_label(word: str) -> str:
    if not word or word.lower() == "nan":
        return "the label is missing; write it, or remove the row"
    return f"the label {word!r} says that it is missing; remove the row, or give the class another name"


def whole_numbers_or_strings(labels: Sequence[str]) -> NDArray[Any]:
    """int64 where every label is a plain whole number, otherwise the strings.

    >>> whole_numbers_or_strings(["1", "+2", "3.0"]).tolist(), whole_numbers_or_strings(["007", "010"]).tolist()
    ([1, 2, 3], ['007', '010'])
    """
    numbers = {}
    for label in set(labels):
        if not is_number(label) or ZERO_IN_FRONT.match(label):
            return np.array(labels)
        number = float(label)
        if not (number.is_integer() and abs(number) < LARGEST_LABEL):
            return np.array(labels)
        numbers[label] = int(label) if label.lstrip("+-").isdecimal() else int(number)
    return np.array([numbers[label] for label in labels], dtype=np.int64)


def labels_like(labels: Sequence[Any], classes: Sequence[Any]) -> NDArray[Any]:
    """The labels of a file in the type of those of a model: text as text, numbers as numbers, whatever the file has.

    A label that cannot be one of the model's stays as it is; then all of them are objects.

    >>> labels_like(["1", "2.0"], [1, 2]).tolist(), labels_like([1, 2], ["1", "x"]).tolist()
    ([1, 2], ['1', '2'])
    """
    if all(isinstance(one, str) for one in classes):
        return np.array([text_of(label) for label in labels], dtype=str)
    if all(isinstance(one, bool) for one in classes):
        known: dict[Any, Any] = {label: truth_of(label) for label in set(labels)}
    else:
        known = {label: number_of(label) for label in set(labels)}
    found = [known[label] for label in labels]
    kinds = {type(label) for label in known.values()}
    return np.array(found) if len(kinds) == 1 or kinds <= {int, float} else np.array(found, dtype=object)


def text_of(label: Any) -> str:
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def truth_of(label: Any) -> Any:
    if isinstance(label, str):
        return TRUTH.get(label.lower(), label)
    return bool(label) if label in (0, 1) else label


def number_of(label: Any) -> Any:
    if isinstance(label, str):
        if not is_number(label):
            return label
        label = int(label) if label.lstrip("+-").isdecimal() else float(label)
    return int(label) if isinstance(label, float) and label.is_integer() else label
