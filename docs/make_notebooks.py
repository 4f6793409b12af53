"""The tutorials of docs/course as notebooks: `python docs/make_notebooks.py [FOLDER]`.

A tutorial is one page of MyST Markdown: text, and code in fences that begin with ```{code-cell}. Sphinx (myst-nb)
executes it for the site, `tests/test_course.py` executes it for the tests, and here it becomes a notebook, without
outputs, that needs no extension: folds become <details>, and boxes become paragraphs with a title. Notebooks are made,
not kept: they are written to docs/_build/notebooks, which git ignores, and the pages link to them there.

As an extension of Sphinx this file writes them before a build begins.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
HOME = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]
COURSE = Path(__file__).parent / "course"
NOTEBOOKS = Path(__file__).parent / "_build" / "notebooks"
FENCE = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = re.compile(r"\A(?:---\n(?P<block>.*?)^---\n|(?P<short>(?::[\w-]+:[^\n]*\n)+))", re.MULTILINE | re.DOTALL)
BOX = re.compile(r"^:::\{([\w-]+)\} ?([^\n]*)\n((?::[\w-]+:[^\n]*\n)*)(.*?)^:::$", re.MULTILINE | re.DOTALL)
TITLES = {"note": "Note", "tip": "Tip", "important": "Important"}


class Cell(NamedTuple):
    """A piece of a tutorial: text or code, without its fence, and the options of the fence."""

    is_code: bool
    source: str
    options: str = ""


def pages() -> list[Path]:
    """The tutorials in their order."""
    return sorted(COURSE.glob("[0-9][0-9]-*.md"))


def cells_of(page: str) -> list[Cell]:
    """The cells of a page, from its first line after the front matter on."""
    body = re.sub(r"\A---\n.*?^---\n", "", page, count=1, flags=re.MULTILINE | re.DOTALL)
    cells, place = [], 0
    for fence in FENCE.finditer(body):
        cells.append(Cell(False, body[place : fence.start()].strip()))
        options = OPTIONS.match(fence[1])
        told = options[0] if options else ""
        cells.append(Cell(True, fence[1][len(told) :].strip(), told))
        place = fence.end()
    cells.append(Cell(False, body[place:].strip()))
    return [cell for cell in cells if cell.source]


def plain(text: str) -> str:
    """Markdown that every notebook renders; links to other pages lead to the repository.

    >>> print(plain("Read [on](02-x.md).\\n\\n:::{dropdown} Why\\nBecause.\\n:::"))
    Read [on](02-x.ipynb).
    <BLANKLINE>
    <details><summary>Why</summary>
    <BLANKLINE>
    Because.
    <BLANKLINE>
    </details>
    """

    def box(found: re.Match[str]) -> str:
        kind, title, _, inside = found.groups()
        if kind == "dropdown":
            return f"<details><summary>{title}</summary>\n\n{inside.strip()}\n\n</details>"
        return f"**{title or TITLES.get(kind, '')}**\n\n{inside.strip()}"

    text = re.sub(r"^[^\n]*\{download\}[^\n]*\n?", "", text, flags=re.MULTILINE)
    text = re.sub(r"\]\((\d\d-[\w-]+)\.md", r"](\1.ipynb", BOX.sub(box, text))
    return re.sub(r"\]\(\.\./(?=\w)", f"]({HOME}/blob/main/docs/", text)


def notebook_of(page: str) -> dict[str, Any]:
    """The page as a Jupyter notebook of format 4.5."""
    cells: list[dict[str, Any]] = []
    for number, cell in enumerate(cells_of(page)):
        source = cell.source if cell.is_code else plain(cell.source)
        one: dict[str, Any] = {"id": f"cell-{number}", "metadata": {}, "source": source.splitlines(keepends=True)}
        if cell.is_code:
            hidden = {"jupyter": {"source_hidden": True}} if "hide-cell" in cell.options else {}
            one |= {"cell_type": "code", "execution_count": None, "metadata": hidden, "outputs": []}
        else:
            one |= {"cell_type": "markdown"}
        cells.append(one)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def write(folder: Path = NOTEBOOKS) -> list[Path]:
    """A notebook for each tutorial."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for page in pages():
        path = folder / f"{page.stem}.ipynb"
        text = json.dumps(notebook_of(page.read_text(encoding="utf-8")), indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
        written.append(path)
    return written


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", lambda _: write())
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    for path in write(*map(Path, sys.argv[1:2])):
        print(path)
