"""Documents show only what is executed, and cite only what is listed."""

import doctest
import importlib
import re
import tomllib
import warnings
from pathlib import Path

import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin.problems.kernels import KERNELS
from maxmargin.problems.losses import LOSSES
from maxmargin.solvers.registry import SOLVERS

ROOT = Path(__file__).parents[1]
# Pages about a model of scikit-learn that does not converge.
WARNING_PAGES = ("README.md", "docs/audit.md")
QUOTED_WARNING = "Liblinear failed to converge, increase the number of iterations."
OWNERS = re.compile(r"https://(?:github\.com/)?([\w-]+)(?:\.github\.io)?/maxmargin\b")
SKIPPED = {".git", ".hypothesis", ".matrix", ".venv", ".venv-demo", ".venv-docs", "_build"}


def home():
    """The address of the repository: a placeholder until there is one, and the same everywhere."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Source"]


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
        "docs/audit.md",
        "docs/certificate_format.md",
        "docs/coming_from_scikit_learn.md",
        "docs/duality.md",
        "docs/extending.md",
        "docs/five_minutes.md",
        "docs/kernels.md",
        "docs/models.md",
        "docs/pictures.md",
        "docs/probabilities.md",
        "docs/scaling.md",
        "docs/teaching.md",
    ],
)
@pytest.mark.usefixtures("own_registries")
def test_examples_run(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    with warnings.catch_warnings(record=True) as caught:
        if name in WARNING_PAGES:
            warnings.simplefilter("always", ConvergenceWarning)
        failures, tried = doctest.testfile(
            str(ROOT / name), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        )
    assert tried > 0
    assert failures == 0
    told = {str(warning.message) for warning in caught}
    assert told == ({QUOTED_WARNING} if name in WARNING_PAGES else set())


def test_links_lead_somewhere():
    documents = [path for path in ROOT.rglob("*.md") if not SKIPPED & set(path.relative_to(ROOT).parts)]
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


def test_readme_leads_somewhere_on_a_package_index_too():
    """There, a relative link is dead: each is the address of the repository and a file of it."""
    targets = re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    assert len(targets) > 10
    for target in targets:
        kind = "raw" if target.endswith(".png") else "blob"
        start = f"{home()}/{kind}/main/"
        assert target.startswith(start), f"{target} does not start with {start}"
        assert (ROOT / target.removeprefix(start)).is_file(), target


def test_readme_quotes_the_warning_and_tells_how_to_test():
    readme = (ROOT / "README.md").read_text()
    assert QUOTED_WARNING in readme
    assert "make test" in readme


def test_there_is_one_home():
    """Every address on GitHub that leads to this project is the one of the metadata."""
    owner = home().split("/")[-2]
    endings = {".cff", ".md", ".py", ".toml", ".yml"}
    files = [path for path in ROOT.rglob("*.*") if path.suffix in endings]
    files = [path for path in files if not SKIPPED & set(path.relative_to(ROOT).parts)]
    found = {path: OWNERS.findall(path.read_text()) for path in files}
    assert sum(map(len, found.values())) > 20
    for path, owners in found.items():
        assert set(owners) <= {owner}, f"{path} has an address of {sorted(set(owners))}"


@pytest.mark.skipif(not (ROOT / "benchmarks").exists(), reason="a source distribution has no benchmarks")
def test_the_figures_of_the_readme_are_those_of_the_tables(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    chart = importlib.import_module("speed_chart")
    reports = [(chart.RESULTS / name).read_text() for name in ("linear.md", "kernel.md")]
    linear, kernel = (chart.mean_where_noticed(chart.dots_of(report)) for report in reports)
    told = f"is {linear:.1f} times as fast with a linear and {kernel:.1f} times with a kernel"
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert told in readme, f"run benchmarks/speed_chart.py, and let README.md say that it {told}"


def headings_of(document):
    """As they stand in links: small letters, hyphens for spaces."""
    titles = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_reference_is_listed():
    listed = set(re.findall(r"\[([a-z]+\d{4})\]", (ROOT / "docs" / "references.md").read_text()))
    for path in (ROOT / "src").rglob("*.py"):
        cited = set(re.findall(r"\[([a-z]+\d{4})\]", path.read_text()))
        assert cited <= listed, f"{path.name} cites {sorted(cited - listed)}"
