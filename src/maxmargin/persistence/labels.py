"""The labels of a model: numbers, truth values or strings, sorted; never objects of another kind."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.fields import Fields, shown

NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
TYPES = (*NUMBERS, "bool", "str", "object")  # object: strings, as data frames hold them


def write_labels(classes: NDArray[Any]) -> dict[str, Any]:
    """The labels as a document holds them."""
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    values = classes.tolist()
    strange = [value for value in values if kind == "object" and not isinstance(value, str)]
    if kind not in TYPES or strange:
        example = strange[0] if strange else values[0]
        raise Refusal(
            f"labels such as {shown(example)} cannot be kept: a file can hold numbers, strings, True and False"
        )
    return {"type": kind, "values": [str(value) if isinstance(value, str) else value for value in values]}


def read_labels(fields: Fields) -> NDArray[Any]:
    """The way back: two or more labels, rising."""
    with fields:
        kind, values = fields.one_of("type", TYPES), fields.list("values")
    is_string, is_truth = kind in ("str", "object"), kind == "bool"
    for value in values:
        fits = isinstance(value, str) if is_string else isinstance(value, int | float)
        if not fits or (isinstance(value, bool) != is_truth) or (isinstance(value, float) != kind.startswith("float")):
            raise Refusal(f"the label {shown(value)} is not of type {kind}")
    if len(values) < 2 or any(not low < high for low, high in itertools.pairwise(values)):
        raise Refusal("the labels must be two or more, each larger than the one before")
    try:
        classes = np.array(values, dtype=kind)
    except OverflowError:
        raise Refusal(f"a label does not fit into {kind}") from None
    if kind == "float32" and classes.tolist() != values:
        raise Refusal("a label does not fit into float32")
    return classes
