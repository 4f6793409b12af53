"""The columns of a table and what each is for: the label, a weight, an id, a number, a category, or nothing.

Whoever asks says which column holds the labels; a doubt is an error that lists the columns, and never a guess. A
column plays one part only. All others are features.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.files import DataFileError, MissingValueError, shortened
from maxmargin.data.matrix import Matrix

LABEL_NAMES = ("label", "y", "target", "class")
COLUMNS_SHOWN = 20
LARGEST_LABEL = 2**63

ColumnName: TypeAlias = "str | int"


class LabelledTable(NamedTuple):
    """What a table holds, and where it was: row i begins in line `lines[i]`, counted from 1.

    X             : the features that are numbers, a C-ordered array or CSR
    y             : the labels; None where no label column was asked for
    feature_names : the names of the columns of X; None in a sparse file, where they are indices
    label_name    : the name of the label column, or None
    lines         : in a file that has no lines, rows count as lines
    weights, ids  : these columns, or None
    texts         : the features that are no numbers but categories: name -> one string per row, for an encoder; where
                    missing values are kept, NaN stands for them here and in X
    asked         : the names of those of them that were asked for, and as what: "category" or "text"
    queries       : the qid of the rows of an SVMlight file, or None
    zero_based    : how the indices of a sparse file were counted
    notes         : sentences about what the file did not say and the reader decided
    """

    X: Matrix
    y: Any
    feature_names: tuple[str, ...] | None
    label_name: str | None
    lines: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    ids: NDArray[Any] | None = None
    texts: Mapping[str, NDArray[Any]] = MappingProxyType({})
    asked: Mapping[str, str] = MappingProxyType({})
    queries: NDArray[np.int64] | None = None
    zero_based: bool = True
    notes: tuple[str, ...] = ()


class Roles(NamedTuple):
    """What was asked of the columns, each by its name or its index (from 0; -1 is the last).

    Without a label, `usual_label` takes the one column that is called label, y, target or class. `categorical` are
    categories even if they look like numbers; `prose` is text to be read word by word, where nothing is an empty text.
    `texts` says whether a column of text is a category, or an error, and `missing` whether a feature may lack values. A
    model knows what it expects: the names of its features and of each whether it is a "number", a "category" or
    "text"; other columns are passed over then.
    """

    label: ColumnName | None = None
    weight: ColumnName | None = None
    id: ColumnName | None = None
    ignore: Collection[ColumnName] = ()
    categorical: Collection[ColumnName] = ()
    prose: Collection[ColumnName] = ()
    usual_label: bool = False
    texts: bool = True
    missing: bool = False
    expected: Mapping[str, str] | None = None


class Columns:
    """The columns of one file: their names (None if they have none), and the index of each that was asked for."""

    def __init__(self, file: str, names: Sequence[str] | None, width: int, roles: Roles, line: int | None = None):
        self.file, self.names, self.width, self.header_line = file, names, width, line
        self.roles = roles
        self.label = self._find_label(roles.label) if roles.label is not None or roles.usual_label else None
        self.weight = None if roles.weight is None else self._find(roles.weight, "weights")
        self.id = None if roles.id is None else self._find(roles.id, "ids")
        ignored = [self._find(name, "numbers to pass over") for name in roles.ignore]
        categories = {self._find(name, "categories") for name in roles.categorical}
        prose = {self._find(name, "text") for name in roles.prose}
        self.asked = dict.fromkeys(categories, "category") | dict.fromkeys(prose, "text")
        taken = [index for index in (self.label, self.weight, self.id, *set(ignored)) if index is not None]
        parts = [*taken, *categories, *prose]
        for index in parts:
            if parts.count(index) > 1:
                raise self._error(f"column {self.shown(index)} is asked for twice: it can play one part only")
        self.features = [index for index in range(width) if index not in taken and self._is_expected(index)]
        self._refuse_features_without_a_name()

    def __getitem__(self, index: int) -> str | int:
        """The name of a column, or its index where it has none."""
        return index if self.names is None else self.names[index]

    def shown(self, index: int) -> str:
        return str(index) if self.names is None else shortened(self.names[index])

    def name_of(self, index: int) -> str:
        """The name of a feature: x0, x1 ... where there are no names."""
        return f"x{index}" if self.names is None else self.names[index]

    def holds_text(self, index: int) -> bool | None:
        """Whether a feature is text, if that was said; None: its cells tell."""
        if self.roles.expected is not None:
            return self.roles.expected[self.name_of(index)] != "number"
        if index in self.asked:
            return True
        return None if self.roles.texts else False

    def is_prose(self, index: int) -> bool:
        """Whether a feature is text to be read word by word."""
        if self.roles.expected is not None:
            return self.roles.expected.get(self.name_of(index)) == "text"
        return self.asked.get(index) == "text"

    def may_lack(self, index: int) -> bool:
        """Whether a column may lack values."""
        return index in self.features and (self.roles.missing or self.is_prose(index))

    def with_gaps(self, index: int, words: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
        """Strings; where some are missing, objects, and NaN for these. In prose they are empty."""
        if self.is_prose(index) or not missing.any():
            return np.where(missing, "", words)
        self.refuse_without_values(index, missing)
        return np.where(missing, np.nan, words.astype(object))

    def refuse_without_values(self, index: int, missing: NDArray[np.bool_]) -> None:
        """A feature that no row has; what would it be filled in with?"""
        if len(missing) and missing.all() and self.roles.expected is None:
            problem = "the value is missing in every row; ignore the column"
            raise MissingValueError(self.file, problem, column=self[index])

    def _is_expected(self, index: int) -> bool:
        return self.roles.expected is None or self.name_of(index) in self.roles.expected

    @property
    def label_name(self) -> str | None:
        if self.label is None:
            return None
        return f"column {self.label}" if self.names is None else self.names[self.label]

    def _find_label(self, label: ColumnName | None) -> int:
        """The index of the label column; every doubt is an error that lists the columns."""
        if self.names is None or label is not None:
            return self._find(label, "labels")
        features = self.roles.expected or ()
        matches = [i for i, name in enumerate(self.names) if name.lower() in LABEL_NAMES and name not in features]
        if len(matches) == 1:
            return matches[0]
        problem = f"no column is called {', '.join(LABEL_NAMES[:-1])} or {LABEL_NAMES[-1]}"
        if matches:
            named = " and ".join(repr(self.names[index]) for index in matches)
            problem = f"{named} could each be the label column"
        raise self._doubt(problem, "labels")

    def _find(self, name: ColumnName | None, purpose: str) -> int:
        width = self.width
        if isinstance(name, int):
            if -width <= name < width:
                return name % width
            raise self._error(f"there is no column {name}: the {width} columns count from 0 to {width - 1}")
        if self.names is None:
            raise self._error(
                f"without a header the {'label column' if purpose == 'labels' else f'column of {purpose}'} has no name"
                f"{'' if name is None else f' {name!r}'}: give its index, 0 to {width - 1} (-1 is the last)"
            )
        asked = str(name).strip()
        matches = [index for index, found in enumerate(self.names) if found == asked]
        if len(matches) == 1:
            return matches[0]
        problem = f"{len(matches) or 'no'} column{'s are' if matches else ' is'} called {name!r}"
        raise self._doubt(problem, purpose)

    def _doubt(self, problem: str, purpose: str) -> DataFileError:
        names = self.names or []
        shown = ", ".join(f"{index} {shortened(name)}" for index, name in enumerate(names[:COLUMNS_SHOWN]))
        shown += f" and {self.width - COLUMNS_SHOWN} more" if self.width > COLUMNS_SHOWN else ""
        doubt = "; the first line looks like data: is there no header?" if count_numbers(names) else ""
        return self._error(f"{problem}. Say which one holds the {purpose}, by name or index: {shown}{doubt}")

    def _refuse_features_without_a_name(self) -> None:
        for index in self.features:
            if self.names is not None and not self.names[index]:
                raise DataFileError(
                    self.file,
                    "it has no name in the header (row numbers that were saved with the table?): "
                    "name it, ignore it or remove it",
                    self.header_line,
                    index,
                )

    def _error(self, problem: str) -> DataFileError:
        return DataFileError(self.file, problem, self.header_line)


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python reads 1_000 as a number, no one else does


def count_numbers(cells: Sequence[str]) -> int:
    return sum(map(is_number, cells))


def whole_numbers_or_strings(labels: Sequence[str]) -> NDArray[Any]:
    """int64 where every label is a whole number (1, +1 and 1.0 are the same one), otherwise the strings."""
    numbers = {}
    for label in set(labels):
        if not is_number(label):
            return np.array(labels)
        number = float(label)
        if not (number.is_integer() and abs(number) < LARGEST_LABEL):
            return np.array(labels)
        numbers[label] = int(label) if label.lstrip("+-").isdecimal() else int(number)
    return np.array([numbers[label] for label in labels], dtype=np.int64)
