"""The house rules, for the files of the page."""

import re
from pathlib import Path

import pytest

import maxmargin

PAGE = Path(maxmargin.__file__).parent / "playground" / "page"
FILES = sorted(path for path in PAGE.iterdir() if path.suffix in {".css", ".html", ".js"})
SCRIPTS = [path for path in FILES if path.suffix == ".js"]
LONGEST_FILE, LONGEST_LINE = 400, 120
OPENING = {".css": "/* ", ".html": "<!doctype html>", ".js": "// "}
SVG_NAMESPACE = "http://www.w3.org/2000/svg"

each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


@each_file
def test_file_is_short_and_opens_with_its_purpose(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith(OPENING[path.suffix])
    assert len(text.splitlines()) <= LONGEST_FILE
    assert max(map(len, text.splitlines())) <= LONGEST_LINE


@each_file
def test_file_names_no_other_place(path):
    text = path.read_text(encoding="utf-8").replace(SVG_NAMESPACE, "")
    assert not re.search(r"https?://", text)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_script_writes_text_and_never_markup(path):
    markup = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\.style\b"
    assert not re.search(markup, path.read_text(encoding="utf-8"))


def test_every_file_is_used():
    used = set(re.findall(r'(?:from "\./|href="|src=")([\w.]+)"', "".join(path.read_text() for path in FILES)))
    assert {path.name for path in PAGE.iterdir()} - used == {"index.html"}
