"""Docstrings in the form of numpydoc: every parameter is told, in its order, what is returned, and an example.

Parameters and what is returned: of the functions that are public, of the methods of public classes, and of the
estimators themselves. Records such as certificates, and displays, are made by the library: they tell each of their
fields as a column of names beside what these mean, or as attributes. An example: of every public name.
"""

import enum
import inspect
import re

import pytest
from sklearn.base import BaseEstimator

import maxmargin

validate = pytest.importorskip("numpydoc.validate").validate
# Parameters that are not told, unknown or in another order; nothing about what is returned; no docstring.
ASKED = {"PR01", "PR02", "PR03", "RT01", "GL08"}


def public_docstrings():
    """The names below `maxmargin`, each function once."""
    found = {}
    for name in maxmargin.__all__:
        thing = getattr(maxmargin, name)
        if inspect.isclass(thing):
            if issubclass(thing, BaseEstimator):
                found.setdefault(thing, name)
            for method, code in inspect.getmembers(thing, inspect.isroutine):
                code = getattr(code, "__func__", code)
                own = str(getattr(code, "__module__", "")).startswith("maxmargin")
                if own and not method.startswith("_"):
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


def records():
    """Public classes that are made by the library; the values of an enumeration tell themselves."""
    classes = (name for name in maxmargin.__all__ if inspect.isclass(getattr(maxmargin, name)))
    skipped = (BaseEstimator, enum.Enum, Exception)
    return sorted(name for name in classes if not issubclass(getattr(maxmargin, name), skipped))


def fields_told(docstring):
    """The names at the beginnings of lines, before " : " or a column of what they mean."""
    lines = re.findall(r"^([A-Za-z_][\w, ]*?)(?: : |  +)\S", docstring, re.MULTILINE)
    return {name.strip() for line in lines for name in line.split(",")}


@pytest.mark.parametrize("name", records())
def test_record_tells_its_fields(name):
    thing = getattr(maxmargin, name)
    assert set(inspect.signature(thing).parameters) - fields_told(inspect.getdoc(thing)) == set()


def test_fields_are_seen():
    assert fields_told("w, b     the plane\nrun : numbers\n    more : no\nAll of it is told.") == {"w", "b", "run"}


@pytest.mark.parametrize("name", maxmargin.__all__)
def test_public_name_has_an_example(name):
    assert ">>> " in inspect.getdoc(getattr(maxmargin, name))


def test_names_are_looked_at():
    assert len(NAMES) > 100
    assert len(records()) > 20
