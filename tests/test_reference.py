"""The tables of the reference pages have what the code has: no more, no less."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from maxmargin.certificates.kernel_margin import KernelVerdict
from maxmargin.certificates.proof import Verdict
from maxmargin.certificates.soft_margin import SoftVerdict
from maxmargin.cli.console import ExitCode
from maxmargin.persistence.model_file import Document
from maxmargin.persistence.parts import PARTS
from maxmargin.run.control import Status

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
VERDICTS, MODEL_FORMAT = REFERENCE / "verdicts.md", REFERENCE / "model_format.md"


def first_column(page, after):
    """Of the first table behind this text."""
    told = page.read_text(encoding="utf-8").split(after, 1)[1]
    table = re.search(r"^\|---.*\n((?:\|.*\n?)+)", told, re.MULTILINE)[1]
    return [row.split("|")[1].strip(" `") for row in table.splitlines()]


@pytest.mark.parametrize(
    ("page", "after", "known"),
    [
        (VERDICTS, "**Separation**", [verdict.name for verdict in Verdict]),
        (VERDICTS, "**Soft margin**", [verdict.name for verdict in SoftVerdict]),
        (VERDICTS, "**Kernels**", [verdict.name for verdict in KernelVerdict]),
        (VERDICTS, "## Ends of a fit", [status.name for status in Status]),
        (VERDICTS, "## Exit codes", [str(int(code)) for code in ExitCode]),
        (MODEL_FORMAT, "## The document", [field.name for field in fields(Document)]),
        (MODEL_FORMAT, "## `fitted`", list(PARTS)),
    ],
    ids=lambda value: value.strip("#* `") if isinstance(value, str) else "",
)
def test_table_has_what_the_code_has(page, after, known):
    assert sorted(first_column(page, after)) == sorted(known)


def test_ends_of_a_fit_are_told_in_the_words_of_the_code():
    page = VERDICTS.read_text(encoding="utf-8")
    for status in Status:
        assert f"| {status.name} | {status.value.split(': ')[-1]} |" in page


def test_every_page_is_reached():
    """Each page of docs/ stands in some table of contents; Sphinx would warn, but only when the site is built."""
    pages = {
        path for path in REFERENCE.parent.rglob("*.md") if "_build" not in path.parts and "gallery" not in path.parts
    }
    reached = {REFERENCE.parent / "index.md"}
    for page in pages:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            reached |= {(page.parent / f"{name.split('<')[-1].strip('> ')}.md").resolve() for name in names}
    assert {page.resolve() for page in pages} <= {page.resolve() for page in reached}
