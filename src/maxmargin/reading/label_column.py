"""Labels as a file writes them: whole numbers, or the text that they are; and as the labels of a model are.

1, +1 and 1.0 are the same whole number. 007 is no number but a name: whoever writes zeros in front wants them back. So
one label that is no plain number makes all of them text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.reading.notations import MISSING_LABELS, is_number

LARGEST_LABEL = 2**63
ZERO_IN_FRONT = re.compile(r"[-+]?0\d", re.ASCII)
TRUTH = {"true": True, "false": False}


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
