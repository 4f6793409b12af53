"""DATA as several files, folders and patterns (`console.files_of`): their rows as one table.

The rows are in the order of the arguments, those of a folder or a pattern in the order of the names. All files are
written in one format and have the same columns; what CSV files mean by their labels is told by all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maxmargin.reading.columns import LabelledTable


def name_of_all(files: Sequence[str]) -> str:
    """What to call the table in a message.

    >>> name_of_all(["a.csv"]), name_of_all(["a.csv", "b.csv", "c.csv"])
    ('a.csv', 'a.csv and 2 more files')
    """
    more = len(files) - 1
    return files[0] if not more else f"{files[0]} and {more} more file{'s' if more > 1 else ''}"


def joined(files: Sequence[str], tables: Sequence[LabelledTable], meant: Any) -> LabelledTable:
    """The rows of all files, one after the other; a `DataFileError` names the file whose columns differ.

    `meant` makes labels of the words of all files; None where they are what they are.
    """
    import numpy as np

    from maxmargin.data.table import is_sparse, stacked
    from maxmargin.reading.files import DataFileError
    from maxmargin.reading.scanned_blocks import refuse_other_columns

    filled = [place for place, table in enumerate(tables) if len(table.lines)] or [0]
    first = tables[filled[0]]
    for place in filled[1:]:
        refuse_other_columns(files[place], tables[place], files[filled[0]], first)
    for place, table in enumerate(tables):
        if set(named(table)) != set(named(first)):  # of one without rows, too
            raise DataFileError(files[place], f"its columns are not those of {files[filled[0]]}")
    parts = [tables[place] for place in filled]
    width = max(part.X.shape[1] for part in parts)
    for part in parts:
        if is_sparse(part.X):
            part.X.resize((part.X.shape[0], width))

    def together(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        return None if values[0] is None else np.concatenate(values)

    y = together("y")
    y = y if y is None or meant is None else meant(y.tolist())
    return first._replace(
        X=stacked([part.X for part in parts]),
        y=y,
        lines=together("lines"),
        weights=together("weights"),
        ids=together("ids"),
        texts={name: np.concatenate([part.texts[name] for part in parts]) for name in first.texts},
        queries=together("queries") if all(part.queries is not None for part in parts) else None,
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def named(table: LabelledTable) -> tuple[str, ...]:
    return (*(table.feature_names or ()), *table.texts)
