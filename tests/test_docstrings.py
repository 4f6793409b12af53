"""Docstrings in the form of numpydoc: every parameter is told, in its order, what is returned, and an example.

Parameters and what is returned: of the functions that are public, of public classes, be they estimators, records,
displays or errors, and of their methods. Methods that Python or scikit-learn define are theirs, as is the making of an
enumeration. An example: of every public name.
"""

import enum
import inspect

import pytest

import maxmargin

validate = pytest.importorskip("numpydoc.validate").validate
# Parameters that are not told, unknown or in another order; nothing about what is returned; no docstring.
ASKED = {"PR01", "PR02", "PR03", "RT01", "GL08"}


def public_docstrings():
    """The names below `maxmargin`, each function once."""
    found = {}
    for name in maxmargin.__all__:
        thing = getattr(maxmargin, name)
        if not (inspect.isclass(thing) and issubclass(thing, enum.Enum)):
            found.setdefault(thing, name)
        if inspect.isclass(thing):
            for method, code in inspect.getmembers(thing, inspect.isroutine):
                code = getattr(code, "__func__", code)
                own = str(getattr(code, "__module__", "")).startswith("maxmargin")
                if own and not method.startswith("_"):
                    found.setdefault(code, f"{name}.{method}")
    return sorted(found.values())


def faults_of(name):
    return [f"{code}: {what}" for code, what in validate(f"maxmargin.{name}")["errors"] if code in ASKED]


NAMES = public_docstrings()


@pytest.mark.parametrize("name", NAMES)
def test_docstring(name):
    assert faults_of(name) == []


@pytest.mark.parametrize("name", maxmargin.__all__)
def test_public_name_has_an_example(name):
    assert ">>> " in inspect.getdoc(getattr(maxmargin, name))


def test_names_are_looked_at():
    assert len(NAMES) > 150
    assert {"LinearSVM", "LinearSVM.fit", "Certificate", "StreetDisplay", "ModelFileError", "audit"} <= set(NAMES)
    assert not any(name.startswith(("Verdict", "SoftVerdict")) or name.endswith(".verdicts") for name in NAMES)
