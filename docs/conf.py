"""The documentation site: `make docs` builds it into docs/_build/html, without the network.

Pages with a `file_format` at their top are notebooks, executed while the site is built; code behind >>> on the other
pages is executed by tests/test_documents.py. Links of a page to a file of the repository lead to its page here, if it
has one, and to the repository otherwise.
"""

import importlib
import importlib.util
import re
import shutil
import sys
import tomllib
from pathlib import Path

from docutils import nodes

import maxmargin

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "docs"), str(ROOT / "docs" / "reference")]
formulas = importlib.import_module("formulas")
HOME = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]
# Files outside of docs/ that are pages here.
PAGES = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "RELIABILITY.md": "project/reliability.md",
    "SECURITY.md": "project/security.md",
}

project, author, copyright = "maxmargin", "The maxmargin developers", "The maxmargin developers, BSD-3-Clause"
version = release = maxmargin.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "make_notebooks",
]
exclude_patterns = [
    "_build",
    "**.ipynb_checkpoints",
    "gallery/**.ipynb",
    "gallery/**.py",
    "gallery/**.zip",
    "sg_execution*",
]
templates_path = ["_templates"]
default_role = "literal"  # `tol` in a docstring

# Pages in Markdown.
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_dmath_allow_space = myst_dmath_allow_digits = False  # `$5` is no formula
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

# The reference.
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# The gallery.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "subsection_order": [f"../examples/{part}" for part in ("streets", "hulls", "duality", "runs", "models")],
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10**6,
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_",),  # not the address of an object
    "image_scrapers": ("matplotlib",),
    "default_thumb_file": str(ROOT / "docs" / "street.png"),
}

# How it looks.
html_theme = "pydata_sphinx_theme"
html_title = "maxmargin"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "maxmargin"},
    "icon_links": [{"name": "Source", "url": HOME, "icon": "fa-brands fa-github"}],
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": []}
mathjax_path = "mathjax/tex-chtml.js"
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True


def write_options_page(app):
    importlib.import_module("write_options").main()


def lead_links_somewhere(app, docname, source):
    """Links that leave docs/: to the page that shows the file, or to the repository."""
    depth = docname.count("/")

    def lead(match):
        steps, path, anchor = match.group(1).count("../"), match.group(2), match.group(3) or ""
        if steps <= depth or path.endswith(".png"):
            return match.group(0)
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        target = "../" * depth + PAGES[path] + anchor if path in PAGES else f"{HOME}/{kind}/main/{path}{anchor}"
        return f"]({target})"

    source[0] = re.sub(r"\]\(((?:\.\./)+)([^)#]+)(#[^)]*)?\)", lead, source[0])


def keep_plain_text(app, what, name, thing, options, lines):
    """Docstrings are read in terminals first: |w|, coef_ and *.csv are no markup in them. Code stays as it is.

    Columns of names with what they mean, which stand before the sections of numpydoc, become lists, and formulas TeX.
    """
    in_code = in_list = in_sections = False
    shown = []
    for line in lines:
        in_sections = in_sections or bool(re.fullmatch(r"-{3,}", line))
        in_code = line.lstrip().startswith(">>>") or (in_code and bool(line.strip()))
        if in_code:
            shown.append(line)
            continue
        parts = re.split(r"(`[^`]*`)", line)
        parts[::2] = [re.sub(r"(?<!\\)([|*])|(?<=\w)(_)(?!\w)", r"\\\1\2", part) for part in parts[::2]]
        text = "".join(parts)
        in_formula = line.startswith("    ") and not in_list and not in_sections
        entry = None if in_sections or in_formula else re.match(r"(\S(?:.*?\S)?)(?: {2,}:? ?| : )(\S.*)", text)
        if in_formula:
            shown += [".. math::", "", f"    {formulas.tex(line)}", ""]
        elif entry:
            shown += [entry[1], f"    {entry[2]}"]
        else:
            shown.append(f"    {text.strip()}" if in_list and line.startswith("  ") else text)
        in_list = bool(entry) or (in_list and line.startswith("  "))
    lines[:] = shown


def end_code_with_its_last_line(app, doctree):
    """Examples end with an empty line, which doctest asks for; nobody needs to see it."""
    for block in doctree.findall(nodes.literal_block):
        block.rawsource = block.astext().rstrip()
        block.children = [nodes.Text(block.rawsource)]


def copy_mathjax(app, failure):
    """The formulas of the site need no network."""
    if failure is None and app.builder.name == "html":
        source = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
        target = Path(app.outdir) / "_static" / "mathjax"
        for part in ("tex-chtml.js", "output/chtml/fonts/woff-v2"):
            (target / part).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (source / part).is_dir() else shutil.copy
            copy(source / part, target / part, **({"dirs_exist_ok": True} if (source / part).is_dir() else {}))


def setup(app):
    app.connect("builder-inited", write_options_page)
    app.connect("source-read", lead_links_somewhere)
    app.connect("doctree-read", end_code_with_its_last_line)
    app.connect("autodoc-process-docstring", keep_plain_text, priority=100)  # before numpydoc
    app.connect("build-finished", copy_mathjax)
