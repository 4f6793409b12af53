"""What the text models of LIBSVM and LIBLINEAR share: a header of names and values, labels that are whole numbers.

Both programs call the first label of the header positive, and write numbers with 17 digits, which float64 survives.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from maxmargin.estimators.base import MarginClassifier
from maxmargin.persistence.container import read_whole, write_atomically
from maxmargin.persistence.errors import ModelFileError, Refusal
from maxmargin.persistence.record import refuse_another_plane
from maxmargin.problems.statement import plain

LARGEST_LABEL = 2**31
LONGEST_TEXT = 2**33


class TextModel:
    """The lines of a text model and where we are in them; a problem names the line."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.file, self.line = os.fspath(path), 0
        try:
            text = read_whole(path, LONGEST_TEXT).decode("ascii")
        except (Refusal, UnicodeDecodeError) as problem:
            reason = problem if isinstance(problem, Refusal) else "it is not text"
            raise ModelFileError(self.file, f"this is not a model that can be read: {reason}") from None
        self.lines = text.splitlines()

    def error(self, problem: str) -> ModelFileError:
        return ModelFileError(self.file, problem, self.line or None)

    def header(self, known: Sequence[str], last: str) -> dict[str, list[str]]:
        """Names and values up to the line that says `last`; no name twice, none that is unknown."""
        fields: dict[str, list[str]] = {}
        for text in self.lines:
            self.line += 1
            name, *values = text.split() or [""]
            if name == last:
                return fields
            if name not in known or name in fields:
                raise self.error(f"{name[:40]!r} is not a field of this header, or it is there twice")
            fields[name] = values
        raise self.error(f"the header does not end with a line {last!r}")

    def rows(self, count: int) -> Iterator[list[str]]:
        """The words of the lines that follow, which must be so many."""
        found = len(self.lines) - self.line
        if found != count:
            raise ModelFileError(self.file, f"{count} lines must follow the header, and there are {found}")
        for text in self.lines[self.line :]:
            self.line += 1
            yield text.split()

    def numbers(self, words: Sequence[str], count: int, what: str) -> list[float]:
        """So many finite numbers."""
        if len(words) != count:
            raise self.error(f"{what} must be {count} numbers, and there are {len(words)}")
        try:
            values = [float(word) if "_" not in word else math.nan for word in words]  # Python alone reads 1_000
        except ValueError as error:
            raise self.error(f"{what}: {str(error)[:100]}") from None
        if not all(map(math.isfinite, values)):
            raise self.error(f"{what} must be finite numbers")
        return values

    def whole(self, words: Sequence[str], count: int, what: str, least: int = 0) -> list[int]:
        """So many whole numbers."""
        values = self.numbers(words, count, what)
        if not all(value.is_integer() and least <= value < LARGEST_LABEL for value in values):
            raise self.error(f"{what} must be whole numbers, at least {least}")
        return [int(value) for value in values]

    def needed(self, fields: dict[str, list[str]], *names: str) -> None:
        missing = [name for name in names if name not in fields]
        if missing:
            raise self.error(f"the header has no {', '.join(missing)}")

    def labels(self, fields: dict[str, list[str]]) -> list[int]:
        """Two or more labels, all different."""
        (count,) = self.whole(fields["nr_class"], 1, "nr_class", least=2)
        labels = self.whole(fields["label"], count, "label", least=-LARGEST_LABEL)
        if len(set(labels)) != count:
            raise self.error("a label occurs twice")
        return labels


def check_is_ours(estimator: Any) -> None:
    """Only the estimators of this library have the planes that these programs know."""
    if not isinstance(estimator, MarginClassifier):
        raise Refusal(
            f"a {type(estimator).__name__} is not an estimator of this library; of a Pipeline give the last step, "
            "and prepare the data as its other steps do"
        )
    check_is_fitted(estimator, "classes_")
    refuse_another_plane(estimator)


def whole_labels(classes: NDArray[Any], program: str) -> list[int]:
    """The labels as these programs know them."""
    labels = [plain(label) for label in classes]
    for label in labels:
        is_number = isinstance(label, int | float) and not isinstance(label, bool)
        if not is_number or not float(label).is_integer() or abs(label) >= LARGEST_LABEL:
            raise Refusal(f"the label {label!r} is not a whole number, and {program} knows no others")
    return [int(label) for label in labels]


def write_lines(path: str | os.PathLike[str], lines: list[str]) -> None:
    write_atomically(path, "".join(f"{line}\n" for line in lines).encode())


def digits(values: Any) -> str:
    """Numbers with 17 digits."""
    return " ".join(f"{value:.17g}" for value in np.atleast_1d(values))
