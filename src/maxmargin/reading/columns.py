"""The columns of a table and what each is for: the label, a weight, an id, a number, a category, or nothing.

Whoever asks says which column holds the labels; a doubt is an error that lists the columns, and never a guess. A
column plays one part only. All others are features. No two that are read have one name: a cell comes from the place
that its name says, and nowhere else. Whether a cell is a number, or says that there is none, is told here for all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Matrix
from maxmargin.reading.files import DataFileError, MissingValueError, shortened

PARTS = {"label": "labels", "weight": "weights", "id": "ids"}  # what a column can be for, and what it holds then
LABEL_NAMES = ("label", "y", "target", "class")
COLUMNS_SHOWN = 20
NAMES_SHOWN = 8
ROW_NUMBERS = re.compile(r"|__index_level_\d+__|Unnamed: \d+", re.ASCII)  # how pandas calls what it saves with a table
WHOLE_NUMBER = re.compile(r"-?\d+", re.ASCII)
MISSING = {"", "?", "n/a", "na", "nan", "none", "null"}
MISSING_LABELS = {"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaT", "None", "NULL", "null"}

ColumnName: TypeAlias = "str | int"


class LabelledTable(NamedTuple):
    """What a table holds, and where it was: row i begins in line `lines[i]`, counted from 1.

    X             : the features that are numbers, a C-ordered array or CSR
    y             : the labels; None where no label column was asked for
    feature_names : the names of the columns of X; None in a sparse file, where they are indices
    label_name    : the name of the label column, or None
    lines         : in a file that has no lines, rows count as lines
    weights, ids  : these columns, or None; ids are the text that they are, from a CSV file
    texts         : the features that are no numbers but categories: name -> one string per row, for an encoder; where
                    missing values are kept, NaN stands for them here and in X
    asked         : the names of those of them that were asked for, and as what: "category" or "text"
    queries       : the qid of the rows of an SVMlight file, or None
    zero_based    : how the indices of a sparse file were counted
    notes         : sentences about what the file did not say and the reader decided
    weight_name, id_name : the names of these columns, or None
    has_names     : whether the names are those of the file; otherwise x0, x1 ... count its columns
    ignored       : the columns that were passed over because somebody asked for it
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
    weight_name: str | None = None
    id_name: str | None = None
    has_names: bool = True
    ignored: tuple[str, ...] = ()


class Roles(NamedTuple):
    """What was asked of the columns, each by its name or its index (from 0; -1 is the last).

    Without a label, `usual_label` takes the one column that is called label, y, target or class. `categorical` are
    categories even if they look like numbers; `prose` is text to be read word by word, where nothing is an empty text.
    `texts` says whether a column of text is a category, or an error, and `missing` whether a feature may lack values.
    `written` is for columns as a command line has them, where 2 is an index or a name. `may_be_empty` allows for a
    table without rows, `is_part` for some rows of a table, which may all lack what others have.

    A model knows what it expects: the names of its features and of each whether it is a "number", a "category" or
    "text"; other columns are passed over then. `by_position` says that its columns had no names: then a table without
    names must have as many features, in the same order. Its labels are `classes`, whose type those of the table get.
    `remembered` are its label, weight and id, by name or (by position) by index, for where nobody asks for another; of
    these, the `needed` ones must be there.
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
    written: bool = False
    may_be_empty: bool = False
    is_part: bool = False
    by_position: bool | None = None
    classes: Sequence[Any] | None = None
    remembered: Mapping[str, str] | None = None
    needed: Collection[str] = ()


class Columns:
    """The columns of one file: their names (None if they have none), and the index of each that was asked for."""

    def __init__(self, file: str, names: Sequence[str] | None, width: int, roles: Roles, line: int | None = None):
        self.file, self.names, self.width, self.header_line = file, names, width, line
        self.roles = roles
        self.notes: tuple[str, ...] = ()
        self.roles = roles = self._with_what_the_model_remembers()
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
        left = [index for index in range(width) if index not in taken]
        self.called = self._called_by_the_model(left)
        self.features = [index for index in left if self._is_expected(index)]
        self.ignored = tuple(str(self.title_of(index)) for index in sorted(set(ignored)))
        self._refuse_features_without_a_name()
        self._refuse_two_of_one_name(sorted({*self.features, *taken} - set(ignored)))
        self._refuse_what_the_model_lacks()

    def __getitem__(self, index: int) -> str | int:
        """The name of a column, or its index where it has none."""
        return index if self.names is None else self.names[index]

    def shown(self, index: int) -> str:
        return str(index) if self.names is None else shortened(self.names[index])

    def name_of(self, index: int) -> str:
        """The name of a feature: x0, x1 ... where there are no names, or what the model calls it."""
        return self.called.get(index, f"x{index}") if self.names is None else self.names[index]

    def names_of(self, indices: Sequence[int]) -> tuple[str, ...]:
        return tuple([self.name_of(index) for index in indices])

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
        if len(missing) and missing.all() and self.roles.expected is None and not self.roles.is_part:
            problem = "the value is missing in every row; ignore the column"
            raise MissingValueError(self.file, problem, column=self[index])

    def _is_expected(self, index: int) -> bool:
        return self.roles.expected is None or self.name_of(index) in self.roles.expected

    def _called_by_the_model(self, features: list[int]) -> dict[int, str]:
        """Columns without names, by what a model that was fitted on such columns calls them: in their order."""
        if self.names is not None or self.roles.expected is None or self.roles.by_position is None:
            return {}
        expected = self.roles.expected
        if not self.roles.by_position:
            raise self._error(
                f"its columns have no names, and the model knows its columns by name: {listed(list(expected))}"
            )
        if len(features) != len(expected):
            raise self._error(
                f"there are {len(features)} columns without names besides those that are asked for, but the model was "
                f"fitted on {len(expected)}, by their order: say by its index which column is the label, the weight or "
                "the id, and which to ignore"
            )
        return dict(zip(features, sorted(expected, key=lambda name: int(name[1:])), strict=True))

    def _with_what_the_model_remembers(self) -> Roles:
        """The parts of columns in the fit, where they are not asked for and their columns play no other part."""
        roles = self.roles
        left = {part: name for part, name in (roles.remembered or {}).items() if getattr(roles, part) is None}
        asked = [name for name in (roles.label, roles.weight, roles.id, *roles.ignore) if name is not None]
        taken = {self._find(name, "numbers to pass over") for name in asked} if left else set()
        found: dict[str, Any] = {}
        if self.names is None and roles.by_position and roles.expected is not None:  # a place alone is no proof of it
            if "label" in roles.needed and self.width - len(taken) == len(roles.expected) + len(left):
                found = {part: int(index) for part, index in left.items()}
        elif self.names is not None and not roles.by_position:
            for part, name in left.items():
                if self.names.count(name) == 1:
                    found[part] = self.names.index(name)
                elif part in roles.needed or name in self.names:
                    said = f"{self.names.count(name)} columns are" if name in self.names else "no column is"
                    raise self._doubt(f"{said} called {name!r}, as the {PARTS[part]} of the fit were", PARTS[part])
                elif part == "id":
                    self.notes = (f"no column is called {name!r}, which named the rows of the fit: they have no ids",)
        return roles._replace(**{part: index for part, index in found.items() if index not in taken})

    @property
    def label_name(self) -> str | None:
        return self.title_of(self.label)

    def title_of(self, index: int | None) -> str | None:
        """What to call the column of labels, weights or ids."""
        if index is None:
            return None
        return f"column {index}" if self.names is None else self.names[index]

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
        if self.roles.written and isinstance(name, str) and WHOLE_NUMBER.fullmatch(name):
            name = self._index_or_name(name)
        if isinstance(name, int):
            if -width <= name < width:
                return name % width
            raise self._error(f"there is no column {name}: the {width} columns count from 0 to {width - 1}")
        if self.names is None:
            raise self._error(
                f"without a header the {'label column' if purpose == 'labels' else f'column of {purpose}'} has no name"
                f"{'' if name is None else f' {name!r}'}: give its index, 0 to {width - 1} (-1 is the last)"
            )
        asked = str(name)
        matches = [index for index, found in enumerate(self.names) if found == asked]
        matches = matches or [index for index, found in enumerate(self.names) if found == asked.strip()]
        if len(matches) == 1:
            return matches[0]
        problem = f"{len(matches) or 'no'} column{'s are' if matches else ' is'} called {name!r}"
        raise self._doubt(problem, purpose)

    def _index_or_name(self, text: str) -> ColumnName:
        """A whole number on a command line is an index, or the name of a column; where it could be both, a doubt."""
        index = int(text)
        if self.names is None or text not in self.names:
            return index
        place = self.names.index(text)
        if not -self.width <= index < self.width or index % self.width == place:
            return text
        from_the_end = f"{place - self.width} or {index % self.width - self.width}"
        raise self._error(
            f"{text} can be column {place}, which is called {text!r}, or column {index}, which is called "
            f"{self.shown(index)} (counted from 0): count from the end, {from_the_end}"
        )

    def _doubt(self, problem: str, purpose: str) -> DataFileError:
        names = self.names or []
        shown = ", ".join(f"{index} {shortened(name)}" for index, name in enumerate(names[:COLUMNS_SHOWN]))
        shown += f" and {self.width - COLUMNS_SHOWN} more" if self.width > COLUMNS_SHOWN else ""
        doubt = "; the first line looks like data: is there no header?" if count_numbers(names) else ""
        return self._error(f"{problem}. Say which one holds the {purpose}, by name or index: {shown}{doubt}")

    def _refuse_features_without_a_name(self) -> None:
        if self.names is None or self.roles.expected is not None:
            return
        for index in self.features:
            if ROW_NUMBERS.fullmatch(self.names[index]):
                told = "it has no name in the header" if not self.names[index] else "it had no name when it was saved"
                raise DataFileError(
                    self.file,
                    f"{told} (row numbers that were saved with the table?): name it, ignore it or remove it",
                    self.header_line,
                    self.names[index] or index,
                )

    def _refuse_two_of_one_name(self, used: Sequence[int]) -> None:
        """Who asks for such a name could get either."""
        places: dict[str, int] = {}
        for index in used if self.names is not None else ():
            name = self.names[index] if self.names is not None else ""
            if places.setdefault(name, index) != index:
                raise self._error(
                    f"2 columns are called {shortened(name)}: {places[name]} and {index} (counted from 0); rename one "
                    "of them, or ignore one by its index"
                )

    def _refuse_what_the_model_lacks(self) -> None:
        """A column that the model was fitted on and that is not here, perhaps because of a letter."""
        if self.roles.expected is None:
            return
        found = {self.name_of(index) for index in self.features}
        missing = [name for name in self.roles.expected if name not in found]
        if not missing:
            return
        near = {name.strip().casefold(): name for name in self.names or ()}
        similar = [near[name.strip().casefold()] for name in missing if name.strip().casefold() in near]
        advice = f"; it has {listed(similar)}: names must be the same to the letter" if similar else ""
        if taken := [name for name in missing if name in (self.names or ())]:
            advice = f"; {listed(taken)} cannot be asked for as something else"
        elif self.roles.by_position:
            advice = "; the columns of the model had no names, so give it a table without names, or with these"
        raise self._error(f"the table has no column {listed(missing)}, which the model was fitted on{advice}")

    def _error(self, problem: str) -> DataFileError:
        return DataFileError(self.file, problem, self.header_line)


def listed(names: Sequence[str]) -> str:
    """Names in a message."""
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(shortened(name) for name in names[:NAMES_SHOWN]) + more


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python reads 1_000 as a number, no one else does


def count_numbers(cells: Sequence[str]) -> int:
    return sum(map(is_number, cells))


def is_missing_label(word: str) -> bool:
    """Whether a word is how programs write that there is no label."""
    return word in MISSING_LABELS or word.lower() == "nan"


def problem_of_missing_label(word: str) -> str:
    if not word or word.lower() == "nan":
        return "the label is missing; write it, or remove the row"
    return f"the label {word!r} says that it is missing; remove the row, or give the class another name"


class Layout(NamedTuple):
    """What the cells of a row are: the places of the features that are numbers, and of those that are text."""

    columns: Columns
    numbers: list[int]
    texts: list[int]
    first_line: int  # of the rows
    delimiter: str = ","

    @property
    def words(self) -> list[int]:
        """The columns that are read as text: labels, ids, categories."""
        return [index for index in (self.columns.label, self.columns.id, *self.texts) if index is not None]
