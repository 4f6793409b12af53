"""Documents show only what is executed, and cite only what is listed."""

import doctest
import importlib
import re
import tomllib
import warnings
from pathlib import Path

import pytest
from sklearn.exceptions import ConvergenceWarning

import maxmargin
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


class NumbersNearly(doctest.OutputChecker):
    """Text as it is; numbers of more than four digits are compared in three, because the others differ by machine."""

    def check_output(self, want, got, optionflags):
        same = super().check_output
        return same(want, got, optionflags) or same(three_digits(want), three_digits(got), optionflags)


def three_digits(text):
    return re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.3g}" if len(found[0]) > 5 else found[0], text)


def run_examples(page):
    """How many failed, of how many."""
    checker = NumbersNearly() if page.name in ("README.md", "audit.md") else None
    runner = doctest.DocTestRunner(checker, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    text = page.read_text(encoding="utf-8")
    return runner.run(doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, page.name, str(page), 0))


def test_numbers_are_compared_in_three_digits():
    nearly, shown = NumbersNearly(), "objective 115.249823, at most 1.31e+00\n"
    assert nearly.check_output(shown, "objective 115.249901, at most 1.31e+00\n", 0)
    assert not nearly.check_output(shown, "objective 116.249823, at most 1.31e+00\n", 0)
    assert not nearly.check_output(shown, "objective 115.249823, at most 1.32e+00\n", 0)
    assert not nearly.check_output(shown, "objective 115.249823, at least 1.31e+00\n", 0)


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/audit.md",
        "docs/certificate_format.md",
        "docs/choose_C.md",
        "docs/coming_from_scikit_learn.md",
        "docs/duality.md",
        "docs/explanation/bias.md",
        "docs/explanation/proof.md",
        "docs/explanation/running.md",
        "docs/explanation/solvers.md",
        "docs/explanation/tol.md",
        "docs/extending.md",
        "docs/five_minutes.md",
        "docs/kernels.md",
        "docs/models.md",
        "docs/pictures.md",
        "docs/probabilities.md",
        "docs/reference/model_format.md",
        "docs/scaling.md",
        "docs/teaching.md",
        "docs/text_and_categories.md",
    ],
)
@pytest.mark.usefixtures("own_registries")
def test_examples_run(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    with warnings.catch_warnings(record=True) as caught:
        if name in WARNING_PAGES:
            warnings.simplefilter("always", ConvergenceWarning)
        failures, tried = run_examples(ROOT / name)
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


def test_files_that_are_named_are_there():
    """Commands, scripts and results, as `benchmarks/linear.py`."""
    named = re.compile(r"(?<![\w/])(?:benchmarks|checker|docs|examples|tests)/[\w/.-]+\.(?:json|md|png|py|toml)\b")
    documents = [path for path in ROOT.rglob("*.md") if not SKIPPED & set(path.relative_to(ROOT).parts)]
    found = {(document, name) for document in documents for name in named.findall(document.read_text())}
    assert len(found) > 50
    assert [(path.name, name) for path, name in sorted(found) if not (ROOT / name).is_file()] == []


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


def test_there_is_one_version():
    """What is not released ends in .dev0, here, in the citation, and in the changelog."""
    told = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1]
    heading, unreleased = re.search(
        r"^## (\S+)( \(unreleased\))?$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    ).groups()
    assert told == maxmargin.__version__
    assert heading + (".dev0" if unreleased else "") == maxmargin.__version__


@pytest.mark.skipif(not (ROOT / "benchmarks").exists(), reason="a source distribution has no benchmarks")
def test_the_figures_of_the_readme_are_those_of_the_tables(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    chart = importlib.import_module("speed_chart")
    reports = [(chart.RESULTS / name).read_text() for name in ("linear.md", "kernel.md")]
    linear, kernel = (chart.mean_where_noticed(chart.dots_of(report)) for report in reports)
    told = f"is {linear:.1f} times as fast with a linear and {kernel:.1f} times with a kernel"
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert told in readme, f"run benchmarks/speed_chart.py, and let README.md say that it {told}"


@pytest.mark.skipif(not (ROOT / "benchmarks").exists(), reason="a source distribution has no benchmarks")
def test_the_tables_of_the_site_are_those_of_the_result_files(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    site_tables = importlib.import_module("site_tables")
    page = site_tables.PAGE.read_text(encoding="utf-8")
    assert site_tables.made(page) == page, "run make tables"
    assert page.count("*Measured 20") == len(site_tables.TABLES)
    changed = page.replace("| fits that ended with a proven 1e-6 | 90 |", "| fits that ended with a proven 1e-6 | 91 |")
    assert changed != page == site_tables.made(changed)


def headings_of(document):
    """As they stand in links: small letters, hyphens for spaces."""
    titles = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_reference_is_listed():
    listed = set(re.findall(r"\[([a-z]+\d{4})\]", (ROOT / "docs" / "references.md").read_text()))
    for path in (ROOT / "src").rglob("*.py"):
        cited = set(re.findall(r"\[([a-z]+\d{4})\]", path.read_text()))
        assert cited <= listed, f"{path.name} cites {sorted(cited - listed)}"
