"""Small tables that come with the package.

flowers.csv   150 invented flowers of three species, made by `maxmargin.data.synthetic.flowers()`: one species stands
              apart from the others, two overlap.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

NAMES = ("flowers.csv",)


def path_of(name: str) -> Path:
    """Where a bundled table lies.

    >>> path_of("flowers.csv").name
    'flowers.csv'
    """
    if name not in NAMES:
        raise ValueError(f"there is no bundled table {name!r}; there is {', '.join(NAMES)}")
    return Path(str(files(__name__) / name))
