"""The parameters of an estimator in a document: as it declares them, and without code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maxmargin.estimators.parameters import Choice, Declarations
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.fields import Fields, shown, without_numpy


def write_parameters(declarations: Declarations, values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as a document holds them, if it can."""
    written = {}
    for name, declaration in declarations.items():
        value = without_numpy(values[name])
        if not declaration.keeps(value):
            can = f"a file can hold {declaration.words_for_a_file()}"
            code = "; a function is code, and a model file holds none" if callable(value) else ""
            raise Refusal(f"the parameter {name}={shown(value)} cannot be kept: {can}{code}")
        if not (declaration.later and value == declaration.default):
            written[name] = declaration.written(value)
    return written


def read_parameters(declarations: Declarations, fields: Fields) -> dict[str, Any]:
    """The way back: all parameters of the estimator, and no others."""
    values = {}
    with fields:
        for name, declaration in declarations.items():
            if declaration.later and name not in fields.left:
                values[name] = declaration.default
                continue
            try:
                value = declaration.restored(fields.take(name))
            except ValueError as problem:
                raise Refusal(f"the parameter {name} {problem}") from None
            if not declaration.keeps(value):
                foreign = isinstance(declaration, Choice) and isinstance(value, str)
                why = "; what was registered for the fit must be registered here, too" if foreign else ""
                raise Refusal(f"the parameter {name} must be {declaration.words_for_a_file()}, not {shown(value)}{why}")
            values[name] = value
    return values
