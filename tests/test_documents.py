"""Documents show only what is executed, and cite only what is listed."""

import doctest
import re
from pathlib import Path

import pytest

from maxmargin.problems.kernels import KERNELS
from maxmargin.problems.losses import LOSSES
from maxmargin.solvers.registry import SOLVERS

ROOT = Path(__file__).parents[1]


@pytest.fixture
def own_registries():
    """What a page registers is not known to other tests."""
    registries = [LOSSES, KERNELS, *SOLVERS.values()]
    before = [dict(registry) for registry in registries]
    yield
    for registry, known in zip(registries, before, strict=True):
        registry.clear()
        registry.update(known)


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/certificate_format.md",
        "docs/coming_from_scikit_learn.md",
        "docs/duality.md",
        "docs/extending.md",
        "docs/kernels.md",
        "docs/models.md",
        "docs/pictures.md",
        "docs/probabilities.md",
        "docs/teaching.md",
    ],
)
@pytest.mark.usefixtures("own_registries")
def test_examples_run(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    failures, tried = doctest.testfile(
        str(ROOT / name), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    assert tried > 0
    assert failures == 0


def test_links_lead_somewhere():
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    assert len(documents) > 10
    for document in documents:
        for target in re.findall(r"\]\(([^)]+)\)", document.read_text()):
            place, _, heading = target.partition("#")
            if place.startswith("https://"):
                continue
            found = document.parent / place if place else document
            assert found.exists(), f"{document.name} links to {target}"
            if heading:
                assert heading in headings_of(found), f"{document.name} links to {target}"


def headings_of(document):
    """As they stand in links: small letters, hyphens for spaces."""
    titles = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_reference_is_listed():
    listed = set(re.findall(r"\[([a-z]+\d{4})\]", (ROOT / "docs" / "references.md").read_text()))
    for path in (ROOT / "src").rglob("*.py"):
        cited = set(re.findall(r"\[([a-z]+\d{4})\]", path.read_text()))
        assert cited <= listed, f"{path.name} cites {sorted(cited - listed)}"
