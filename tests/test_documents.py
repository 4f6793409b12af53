"""Documents show only what is executed, and cite only what is listed."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/coming_from_scikit_learn.md",
        "docs/duality.md",
        "docs/kernels.md",
        "docs/models.md",
        "docs/pictures.md",
        "docs/probabilities.md",
    ],
)
def test_examples_run(name):
    failures, tried = doctest.testfile(
        str(ROOT / name), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    assert tried > 0
    assert failures == 0


def test_links_lead_somewhere():
    for document in ROOT.glob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            assert (ROOT / target).exists(), f"{document.name} links to {target}"


def test_every_reference_is_listed():
    listed = set(re.findall(r"\[([a-z]+\d{4})\]", (ROOT / "docs" / "references.md").read_text()))
    for path in (ROOT / "src").rglob("*.py"):
        cited = set(re.findall(r"\[([a-z]+\d{4})\]", path.read_text()))
        assert cited <= listed, f"{path.name} cites {sorted(cited - listed)}"
