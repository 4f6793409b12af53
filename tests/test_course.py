"""The tutorials run, say what their cells print, and are graded as they claim."""

import ast
import contextlib
import html
import importlib.util
import io
import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import matplotlib
import pytest
from matplotlib import pyplot

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("make_notebooks", ROOT / "docs" / "make_notebooks.py")
notebooks = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(notebooks)
PAGES = notebooks.pages()
WIDEST = 79  # characters of code, beside two columns of links

each_page = pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])


class Executed(NamedTuple):
    """A cell of a page, what it printed and showed as text, what it showed as HTML, and how many figures it drew."""

    cell: object
    text: str
    html: str
    figures: int


@cache
def executed(page):
    """Every code cell of the page in turn, in one namespace, as a notebook would."""
    namespace, found = {"__name__": "__main__"}, []
    matplotlib.use("Agg")
    for cell in notebooks.cells_of(page.read_text(encoding="utf-8")):
        if not cell.is_code:
            continue
        body = ast.parse(cell.source).body
        shows = isinstance(body[-1], ast.Expr) and not cell.source.rstrip().endswith(";")
        last = ast.Expression(body.pop().value) if shows else None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(ast.Module(body, []), str(page), "exec"), namespace)
            value = eval(compile(last, str(page), "eval"), namespace) if last else None
        shown = (
            value._repr_html_() if hasattr(value, "_repr_html_") else html.escape("" if value is None else repr(value))
        )
        read = html.unescape(re.sub(r"<iframe.*</iframe>|<style>.*?</style>|<[^>]*>", "\n", shown, flags=re.DOTALL))
        found.append(Executed(cell, printed.getvalue() + read, shown, len(pyplot.get_fignums())))
        pyplot.close("all")
    return found


def prose_of(page):
    """The text of a page without code, links, and the headings' numbers."""
    text = "\n".join(cell.source for cell in notebooks.cells_of(page.read_text("utf-8")) if not cell.is_code)
    text = re.sub(r"\]\([^)]*\)|<[^>]*>|^#+ .*$|^\d+\. ", "", text, flags=re.MULTILINE)
    return re.sub(r"\[tutorial \d", "", text)


def test_there_are_pages():
    assert [int(page.stem[:2]) for page in PAGES] == list(range(1, len(PAGES) + 1))


@each_page
def test_it_runs_and_shows_a_picture_and_a_run(page):
    cells = executed(page)
    assert sum(cell.figures for cell in cells) > 0
    assert any("<iframe" in cell.html and "A recorded run" in cell.html for cell in cells)


@each_page
def test_solutions_are_right_and_attempts_are_not(page):
    """Solutions are folded; what stands open is an attempt that the judge does not accept."""
    graded = [cell for cell in executed(page) if ".check(" in cell.cell.source]
    solved = [cell for cell in graded if "hide-cell" in cell.cell.options]
    attempts = [cell for cell in graded if "hide-cell" not in cell.cell.options]
    assert len(solved) >= 2
    assert len(attempts) >= 2
    assert all("Right." in cell.text and "Not yet." not in cell.text for cell in solved)
    assert all("Not yet." in cell.text for cell in attempts)


@each_page
def test_numbers_in_the_text_come_from_the_cells(page):
    """Decimals, and whole numbers of two digits and more, are typed or printed by some cell of the page."""
    known = "\n".join(f"{cell.cell.source}\n{cell.text}" for cell in executed(page))
    stated = re.findall(r"(?<![\w.^{_])\d+(?:[.,]\d+)+|(?<![\w.^{_])\d{2,}(?![\w.])", prose_of(page))
    assert [number for number in stated if not re.search(rf"(?<![\d.]){re.escape(number)}", known)] == []


@each_page
def test_it_says_its_goals_and_what_to_take_home(page):
    text = page.read_text(encoding="utf-8")
    assert "\nAfter this tutorial you can\n" in text
    assert "\n## Exercises\n" in text
    assert "\n## What to take with you\n" in text
    assert f"<../_build/notebooks/{page.stem}.ipynb>" in text


@each_page
def test_code_fits_the_page(page):
    lines = [line for cell in executed(page) for line in cell.cell.source.splitlines()]
    assert [line for line in lines if len(line) > WIDEST] == []


@each_page
def test_a_notebook_has_the_same_code_and_plain_text(page, tmp_path):
    notebook = notebooks.notebook_of(page.read_text(encoding="utf-8"))
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    text = "".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    assert code == [cell.cell.source for cell in executed(page)]
    assert ":::" not in text
    assert "](../" not in text
    assert "{download}" not in text
    assert "```{" not in text
    assert text.count("<details>") == text.count("</details>")


def test_notebooks_are_written_by_one_command(tmp_path):
    written = notebooks.write(tmp_path)
    assert [path.stem for path in written] == [page.stem for page in PAGES]
    assert all(json.loads(path.read_text("utf-8"))["nbformat"] == 4 for path in written)
