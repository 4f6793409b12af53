# make demo    install into .venv-demo and watch it work
# make test    every check and every test, in .venv
# make check   the checks alone
# make matrix  every test on an installed wheel, for each supported Python and scikit-learn; prints a table
# make boundscheck   every test once more, with loops that raise where they would read or write out of bounds
# make clean   remove what these made

PYTHON ?= python3

.PHONY: demo test check boundscheck matrix clean

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

boundscheck: .venv/installed
	NUMBA_BOUNDSCHECK=1 .venv/bin/pytest -n 2 --dist loadfile

check: .venv/installed
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/lint-imports --no-logo

# An hour on two cores.
matrix:
	$(PYTHON) tests/version_matrix.py

clean:
	rm -rf .venv .venv-demo .matrix .numba_cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# The demo is what a user gets: a wheel, without the tools. The tests follow the source as it is edited.
.venv-demo/installed: pyproject.toml $(shell find src -name '*.py') | .venv-demo/bin/python
	$(call install,.venv-demo) '.[cli,plots]'
	touch $@

.venv/installed: pyproject.toml | .venv/bin/python
	$(call install,.venv) --editable '.[all,test]'
	touch $@

%/bin/python:
	$(call create_venv,$*)
