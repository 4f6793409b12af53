# make demo    install into .venv-demo and watch it work
# make test    every check and every test, in .venv
# make check   the checks alone
# make long    the tests that `make test` leaves out, because they take long beside what they add
# make matrix  every test on an installed wheel, for each supported Python and scikit-learn; ONLY="lowest": one of them
# make docs    the documentation site, in docs/_build/html: every page executed, no warnings, no dead links, no network but for the venv
# make tables  the tables and the chart of the site's benchmarks, from the files in benchmarks/results
# make dist    the wheel and the source distribution, checked as the package index checks them
# make boundscheck   every test once more, with loops that raise where they would read or write out of bounds
# make reliability   every campaign that tries to break the library, in its short form; writes RELIABILITY.md
# make clean   remove what these made

PYTHON ?= python3

.PHONY: demo test long check boundscheck matrix docs tables dist reliability clean

# uv where it is present, pip where it is not.
ifneq ($(shell command -v uv 2>/dev/null),)
create_venv = uv venv --quiet --python $(PYTHON) $(1)
install = uv pip install --quiet --reinstall-package maxmargin --python $(1)/bin/python
else
create_venv = $(PYTHON) -m venv $(1)
install = $(1)/bin/python -m pip install --quiet
endif

demo: .venv-demo/installed
	.venv-demo/bin/maxmargin demo

test: check
	.venv/bin/pytest -n 2 --dist loadfile

long: .venv/installed
	.venv/bin/pytest -n 2 --dist loadfile -m long

boundscheck: .venv/installed
	NUMBA_BOUNDSCHECK=1 .venv/bin/pytest -n 2 --dist loadfile

check: .venv/installed
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/lint-imports --no-logo
	.venv/bin/pytest -n 0 -q tests/test_docstrings.py

# An hour on two cores.
matrix:
	$(PYTHON) tests/version_matrix.py $(if $(ONLY),--only "$(ONLY)")

docs: .venv-docs/installed
	.venv-docs/bin/python -m sphinx -W --keep-going --quiet -j auto -b html docs docs/_build/html
	.venv-docs/bin/python docs/check_links.py
	@echo "The site is in docs/_build/html/index.html"

tables: .venv/installed
	.venv/bin/python benchmarks/site_tables.py

dist: .venv/bin/python
	rm -rf dist
	$(call install,.venv) build twine
	.venv/bin/python -m build --outdir dist
	.venv/bin/python -m twine check --strict dist/*

# A quarter of an hour on two cores; the long profile takes a night.
reliability: .venv/installed
	.venv/bin/python tests/reliability.py

clean:
	rm -rf .venv .venv-demo .venv-docs .matrix dist docs/_build docs/gallery docs/reference/names .numba_cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# The demo is what a user gets: a wheel, without the tools. The tests follow the source as it is edited.
.venv-demo/installed: pyproject.toml $(shell find src -name '*.py') | .venv-demo/bin/python
	$(call install,.venv-demo) '.[cli,plots]'
	touch $@

.venv/installed: pyproject.toml | .venv/bin/python
	$(call install,.venv) --editable '.[all,test]'
	touch $@

.venv-docs/installed: pyproject.toml | .venv-docs/bin/python
	$(call install,.venv-docs) --editable '.[all,docs]'
	touch $@

%/bin/python:
	$(call create_venv,$*)
