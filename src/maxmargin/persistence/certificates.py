"""Certificates in a model file: their plain fields in the document, their planes, rows and weights as arrays.

All parts of a model are of one kind. Nothing is believed here: `verify` checks what was read against the data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.certificates.form import WORDS
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.certificates.proof import KKT, FurtherLook, TheoremBound, Violation, spell_out
from maxmargin.certificates.record import KINDS, Record
from maxmargin.persistence.container import Arrays
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.fields import Fields, Shelf, number_in, shown, split

IN_ARRAYS = ("w", "rows", "weights")


def write_certificate(certificate: Any, arrays: Arrays) -> dict[str, Any]:
    """What the document says of a certificate; its arrays are added to those of the file."""
    parts: tuple[Any, ...] = certificate.parts if isinstance(certificate, MulticlassCertificate) else (certificate,)
    kind = type(parts[0]).kind
    arrays["certificate.rows"] = np.concatenate([part.rows for part in parts]).astype(np.int64)
    arrays["certificate.weights"] = np.concatenate([part.weights for part in parts])
    if has_plane(KINDS[kind]):
        arrays["certificate.w"] = np.stack([part.w for part in parts])
    plain = [{name: value for name, value in part.to_dict().items() if name not in IN_ARRAYS} for part in parts]
    fields = [{k: v for k, v in part.items() if (k, v) != ("huber_width", None)} for part in plain]  # as older files
    return {"kind": kind, "sizes": [len(part.rows) for part in parts], "parts": spell_out(fields)}


def read_certificate(fields: Fields, shelf: Shelf, sides: list[tuple[Any, Any]], n_columns: int) -> Any:
    """The certificate of a model whose planes have these sides."""
    with fields:
        kind = KINDS[fields.one_of("kind", KINDS)]
        sizes, parts = fields.list("sizes"), fields.list("parts")
    if not len(sizes) == len(parts) == len(sides) or not all(isinstance(size, int) and size >= 0 for size in sizes):
        raise Refusal(f"the certificate must have {len(sides)} parts, one for each plane, each with a size")
    rows = split(shelf.take_rows("certificate.rows"), sizes, "certificate.rows")
    weights = split(shelf.take("certificate.weights", (None,)), sizes, "certificate.weights")
    planes = shelf.take("certificate.w", (len(sides), n_columns)) if has_plane(kind) else None
    made = []
    for index, part in enumerate(parts):
        arrays: dict[str, Any] = {"rows": rows[index].copy(), "weights": weights[index].copy()}
        if planes is not None:
            arrays["w"] = planes[index].copy()
        made.append(read_part(kind, Fields(part, f"part {index} of the certificate"), arrays, sides[index], n_columns))
    return made[0] if len(made) == 1 else MulticlassCertificate(tuple(made))


def read_part(
    kind: type[Record], fields: Fields, arrays: dict[str, Any], sides: tuple[Any, Any], n_columns: int
) -> Record:
    """One certificate, field by field."""
    values = dict(arrays)
    with fields:
        for field in dataclasses.fields(kind):
            if field.name in arrays:
                continue
            if field.name == "verdict":
                values["verdict"] = kind.verdicts[fields.one_of("verdict", list(kind.verdicts.__members__))]
            else:
                values[field.name] = READERS[str(field.type)](fields, field.name)
    if (values["positive"], values["negative"]) != sides:
        raise Refusal(f"{fields.place} is not about the labels of its plane, {shown(sides)}")
    if values["n_columns"] != n_columns:
        raise Refusal(f"{fields.place} is about {values['n_columns']} columns, and the model has {n_columns}")
    if "tol" in values and not kind.may_ask_for(values["tol"]):
        raise Refusal(f"'tol' of {fields.place} must be above 0 and below 1, not {values['tol']}")
    return kind(**values)


def has_plane(kind: type[Record]) -> bool:
    return "w" in {field.name for field in dataclasses.fields(kind)}


def read_nothing(fields: Fields, name: str) -> None:
    if fields.take(name) is not None:
        raise Refusal(f"{name!r} of {fields.place} must be null")


def read_conditions(fields: Fields, name: str) -> KKT | None:
    value = fields.take(name)
    if value is None:
        return None
    violations = {}
    with Fields(value, f"{name!r} of {fields.place}") as conditions:
        for field in dataclasses.fields(KKT):
            with conditions.fields(field.name) as violation:
                violations[field.name] = Violation(violation.number("value"), violation.whole("row", least=-1))
    return KKT(**violations)


def read_theorems(fields: Fields, name: str) -> tuple[TheoremBound, ...]:
    if name not in fields.left:  # older files of a soft margin
        return ()
    theorems = []
    for entry in fields.list(name):
        with Fields(entry, f"{name!r} of {fields.place}") as theorem:
            words, bound, measured = theorem.text("name"), theorem.number("bound"), theorem.number("measured")
            numbers = theorem.list("plane") if "plane" in theorem.left else []
            plane = tuple(number_in(one, f"'plane' of {theorem.place}") for one in numbers)
            theorems.append(TheoremBound(words, bound, measured, theorem.flag("at_most"), plane))
    return tuple(theorems)


def read_class_weight(fields: Fields, name: str) -> tuple[tuple[Any, float], ...]:
    pairs = fields.list(name)
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str | int | float)):
            raise Refusal(f"{name!r} of {fields.place} must be pairs of a label and a weight")
    return tuple((pair[0], number_in(pair[1], f"{name!r} of {fields.place}")) for pair in pairs)


def read_further_look(fields: Fields, name: str) -> FurtherLook:
    if name not in fields.left:
        return FurtherLook.NOT_ASKED
    return FurtherLook[fields.one_of(name, list(FurtherLook.__members__))]


def unless_missing(read: Callable[[Fields, str], Any]) -> Callable[[Fields, str], Any]:
    """None where an older file does not have it."""

    def reader(fields: Fields, name: str) -> Any:
        if fields.left.get(name) is None:
            fields.left.pop(name, None)
            return None
        return read(fields, name)

    return reader


READERS: dict[str, Callable[[Fields, str], Any]] = {  # by annotation
    "bool": Fields.flag,
    "int": Fields.whole,
    "float": Fields.number,
    "str": lambda fields, name: fields.one_of(name, WORDS[name]),
    "float | None": unless_missing(Fields.number),
    "int | None": unless_missing(Fields.whole),
    "FurtherLook": read_further_look,
    "Any": Fields.take,  # compared with the labels of the model
    "KKT | None": read_conditions,
    "None": read_nothing,
    "tuple[TheoremBound, ...]": read_theorems,
    "tuple[tuple[Any, float], ...]": read_class_weight,
}
