"""Words that stand for numbers in another notation than a program reads, and what to do about them:

    1,5    1,234    1.234,5    1'234    1 234    12%    $5    2024-01-31    10:30

A reader that takes such a word for a category makes one category of each number, and a proof about a table that nobody
meant. A comma can be a decimal comma or a separator of thousands: 1,234 is 1.234 or 1234, and only the user knows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from maxmargin.reading.columns import is_number

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
