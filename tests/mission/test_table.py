"""Every row of the mathematics through every door: each cell that applies is a test here, and this is the table.

A cell is a function test_<row>_<door>_...; `python -m pytest tests/mission -v` prints them.
"""

import ast
import re
from pathlib import Path

ROWS = [f"{part}{number}" for part, last in zip("ABCDE", (4, 5, 8, 7, 3), strict=True) for number in range(1, last + 1)]
DOORS = ("python", "command", "page")
ONE_DOOR = {"E2": "page", "E3": "command"}  # which are these doors themselves
NAME = re.compile(r"test_([A-E]\d)_(python|command|page)_\w+")


def test_every_cell_is_a_test():
    found = [
        NAME.fullmatch(node.name)
        for path in Path(__file__).parent.glob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    ]
    cells = {(match[1], match[2]) for match in found if match}
    asked = {(row, door) for row in ROWS for door in DOORS if ONE_DOOR.get(row, door) == door}
    assert len(ROWS) == 27
    assert cells == asked
