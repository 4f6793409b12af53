"""Docstrings in the form of numpydoc: every parameter is told, in its order, and what is returned.

Of the functions that are public, of the methods of public classes, and of the estimators themselves. Records such as
certificates are made by the library: they tell their fields in their own way.
"""

import inspect

import pytest
from sklearn.base import BaseEstimator

import maxmargin

validate = pytest.importorskip("numpydoc.validate").validate
# Parameters that are not told, unknown or in another order; nothing about what is returned; no docstring.
ASKED = {"PR01", "PR02", "PR03", "RT01", "GL08"}


def public_docstrings():
    """The names below `maxmargin`, each docstring once: a method that inherits it is not asked again."""
    found = {}
    for name in maxmargin.__all__:
        thing = getattr(maxmargin, name)
        if inspect.isclass(thing):
            if issubclass(thing, BaseEstimator):
                found.setdefault(thing, name)
            for method, code in inspect.getmembers(thing, inspect.isroutine):
                code = getattr(code, "__func__", code)
                own = str(getattr(code, "__module__", "")).startswith("maxmargin")
                if own and not method.startswith("_") and (code.__doc__ or not inspect.getdoc(code)):
                    found.setdefault(code, f"{name}.{method}")
        else:
            found.setdefault(thing, name)
    return sorted(found.values())


def faults_of(name):
    return [f"{code}: {what}" for code, what in validate(f"maxmargin.{name}")["errors"] if code in ASKED]


NAMES = public_docstrings()


@pytest.mark.parametrize("name", NAMES)
def test_docstring(name):
    assert faults_of(name) == []


def test_names_are_looked_at():
    assert len(NAMES) > 100
