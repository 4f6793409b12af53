"""The scripts of the gallery, which `make docs` runs for the site: what breaks one is noticed where it is made. And the
check of the built site's links, and the formulas of docstrings."""

import ast
import doctest
import importlib.util
import inspect
import re
import runpy
from pathlib import Path

import matplotlib
import pytest

import maxmargin

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "examples").glob("*/plot_*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_draws(script):
    matplotlib.use("Agg")
    from matplotlib import pyplot

    try:
        runpy.run_path(str(script))
        assert pyplot.get_fignums()
    finally:
        pyplot.close("all")


def test_there_is_a_gallery():
    assert len(SCRIPTS) >= 20


def test_every_folder_of_the_gallery_is_in_its_order():
    """conf.py names them; sphinx-gallery would put others at the end, or stop."""
    folders = {script.parent.name for script in SCRIPTS}
    named = re.search(r"for part in (\(.*?\))", (ROOT / "docs" / "conf.py").read_text())[1]
    assert set(ast.literal_eval(named)) == folders
    assert all((ROOT / "examples" / folder / "GALLERY_HEADER.rst").is_file() for folder in folders)


def module_of(name):
    found = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture
def check_links():
    return module_of("check_links")


@pytest.mark.parametrize(
    ("line", "formula"),
    [
        ("min |w|_1", r"\min \lvert w\rvert_1"),
        ("f(x) = sum_j a_j k(x_j, x) + b", r"f(x) = \sum_j a_j k(x_j, x) + b"),
        ("g(a) <=  the optimum  <=  f(x)", r"g(a) \le \quad \text{the optimum} \quad \le \quad f(x)"),
        ("w <- w - eta_t x,   t = 1/2", r"w \leftarrow w - \eta_t x, \qquad t = \tfrac12"),
        ("w += rate y x", r"w \mathrel{{+}{=}}\text{ rate }y x"),
        ("a row is a violation", r"\text{a row is a violation}"),
        ("loss_factor |x_ij|", r"\text{loss\_factor }\lvert x_{ij}\rvert"),
    ],
)
def test_formula_of_a_docstring_is_typeset(line, formula):
    assert module_of("formulas").tex(f"    {line}") == formula


@pytest.mark.parametrize("name", ["formulas", "make_notebooks"])
def test_examples_of_the_tools_run(name):
    failed, tried = doctest.testmod(module_of(name))
    assert tried > 0
    assert failed == 0


def test_formulas_keep_their_letters():
    """Of the public estimators: what is no sign or name of mathematics is in the formula as it was written."""
    tex = module_of("formulas").tex
    lines = {
        line
        for name in ("HardMarginSVM", "KernelSVM", "LinearSVM", "Perceptron", "StochasticSVM", "Winnow")
        for line in inspect.getdoc(getattr(maxmargin, name)).partition("Parameters\n")[0].splitlines()
        if line.startswith("    ")
    }
    assert len(lines) >= 6
    for line in lines:
        shown = tex(line)
        assert shown.count("{") == shown.count("}")
        assert re.findall(r"\b[wbCxy]\b", line) == re.findall(r"(?<!\\)\b[wbCxy]\b", shown)


def site_of(folder, **pages):
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page)
    return folder


def test_links_that_lead_somewhere_are_accepted(check_links, tmp_path, capsys):
    (tmp_path / "my picture.png").touch()
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "index.html").write_text('<a href="../home.html#top">')
    home = '<h1 id="top"><a href="#top"><a href="part/"><img src="my%20picture.png"><a href="https://elsewhere/gone">'
    assert check_links.main(site_of(tmp_path, home=home)) == 0
    assert capsys.readouterr().out == "4 links within the site, none of them dead; 1 links to others, not followed\n"


@pytest.mark.parametrize("target", ["gone.html", "other.html#gone", "#gone", "../outside.html", "gone.png"])
def test_dead_link_is_found(check_links, tmp_path, capsys, target):
    folder = tmp_path / "site"
    folder.mkdir()
    (tmp_path / "outside.html").touch()
    assert check_links.main(site_of(folder, home=f'<a href="{target}">', other='<p id="here">')) == 1
    assert capsys.readouterr().err == f"home.html links to {target}: nothing is there\n"


def test_an_empty_site_is_not_accepted(check_links, tmp_path):
    assert check_links.main(tmp_path) == 1
