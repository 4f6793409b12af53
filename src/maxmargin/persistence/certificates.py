"""Certificates in a model file: their plain fields in the document, their planes, rows and weights as arrays.

All parts of a model are of one kind. Nothing is believed here: `verify` checks what was read against the data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.certificates.certificate import Certificate, FurtherLook
from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.certificates.kernel_separation import KernelSeparationCertificate
from maxmargin.certificates.multiclass import MulticlassCertificate, Part
from maxmargin.certificates.proof import KKT, TheoremBound, Violation, spell_out
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.persistence.container import Arrays
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.fields import Fields, Shelf, number_in, shown, split
from maxmargin.problems.kernels import KernelName
from maxmargin.problems.losses import LOSSES
from maxmargin.problems.statement import Norm

KINDS: dict[str, type[Part]] = {
    "separation": Certificate,
    "soft margin": SoftMarginCertificate,
    "kernel margin": KernelCertificate,
    "kernel separation": KernelSeparationCertificate,
}
IN_ARRAYS = ("w", "rows", "weights")


def write_certificate(certificate: Any, arrays: Arrays) -> dict[str, Any]:
    """What the document says of a certificate; its arrays are added to those of the file."""
    parts: tuple[Any, ...] = certificate.parts if isinstance(certificate, MulticlassCertificate) else (certificate,)
    kind = next(name for name, one in KINDS.items() if type(parts[0]) is one)
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


def read_part(kind: type[Part], fields: Fields, arrays: dict[str, Any], sides: tuple[Any, Any], n_columns: int) -> Part:
    """One certificate, field by field."""
    values = dict(arrays)
    with fields:
        for field in dataclasses.fields(kind):
            if field.name in arrays:
                continue
            if field.name == "verdict":
                values["verdict"] = kind.verdicts[fields.one_of("verdict", list(kind.verdicts.__members__))]
            elif field.name in kind.numbers:
                values[field.name] = fields.number(field.name)
            else:
                values[field.name] = READERS[field.name](fields)
    if (values["positive"], values["negative"]) != sides:
        raise Refusal(f"{fields.place} is not about the labels of its plane, {shown(sides)}")
    if values["n_columns"] != n_columns:
        raise Refusal(f"{fields.place} is about {values['n_columns']} columns, and the model has {n_columns}")
    if issubclass(kind, KernelSeparationCertificate) and values["kkt"] is not None:
        raise Refusal(f"'kkt' of {fields.place} must be null")
    if "tol" in values and not kind.may_ask_for(values["tol"]):
        raise Refusal(f"'tol' of {fields.place} must be above 0 and below 1, not {values['tol']}")
    return kind(**values)


def has_plane(kind: type[Part]) -> bool:
    return "w" in {field.name for field in dataclasses.fields(kind)}


def label(name: str) -> Callable[[Fields], Any]:
    return lambda fields: fields.take(name)  # compared with the labels of the model


def read_conditions(fields: Fields) -> KKT | None:
    value = fields.take("kkt")
    if value is None:
        return None
    violations = {}
    with Fields(value, f"'kkt' of {fields.place}") as conditions:
        for field in dataclasses.fields(KKT):
            with conditions.fields(field.name) as violation:
                violations[field.name] = Violation(violation.number("value"), violation.whole("row", least=-1))
    return KKT(**violations)


def read_theorems(fields: Fields) -> tuple[TheoremBound, ...]:
    if "theorems" not in fields.left:  # older files of a soft margin
        return ()
    theorems = []
    for entry in fields.list("theorems"):
        with Fields(entry, f"'theorems' of {fields.place}") as theorem:
            name, bound, measured = theorem.text("name"), theorem.number("bound"), theorem.number("measured")
            theorems.append(TheoremBound(name, bound, measured, theorem.flag("at_most")))
    return tuple(theorems)


def read_class_weight(fields: Fields) -> tuple[tuple[Any, float], ...]:
    pairs = fields.list("class_weight")
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str | int | float)):
            raise Refusal(f"'class_weight' of {fields.place} must be pairs of a label and a weight")
    return tuple((pair[0], number_in(pair[1], f"'class_weight' of {fields.place}")) for pair in pairs)


def read_rows_off_plane(fields: Fields) -> int | None:
    """Older files did not count them."""
    if fields.left.get("rows_off_plane") is None:
        fields.left.pop("rows_off_plane", None)
        return None
    return fields.whole("rows_off_plane")


def read_huber_width(fields: Fields) -> float | None:
    """Older files had no loss that has one."""
    if fields.left.get("huber_width") is None:
        fields.left.pop("huber_width", None)
        return None
    return fields.number("huber_width")


def read_further_look(fields: Fields) -> FurtherLook:
    if "further_look" not in fields.left:
        return FurtherLook.NOT_ASKED
    return FurtherLook[fields.one_of("further_look", list(FurtherLook.__members__))]


READERS: dict[str, Callable[[Fields], Any]] = {
    "norm": lambda fields: fields.one_of("norm", [norm.value for norm in Norm]),
    "loss": lambda fields: fields.one_of("loss", LOSSES),
    "huber_width": read_huber_width,
    "kernel": lambda fields: fields.one_of("kernel", [name.value for name in KernelName]),
    "degree": lambda fields: fields.whole("degree"),
    "fit_intercept": lambda fields: fields.flag("fit_intercept"),
    "n_rows": lambda fields: fields.whole("n_rows"),
    "n_columns": lambda fields: fields.whole("n_columns"),
    "positive": label("positive"),
    "negative": label("negative"),
    "kkt": read_conditions,
    "theorems": read_theorems,
    "class_weight": read_class_weight,
    "rows_off_plane": read_rows_off_plane,
    "further_look": read_further_look,
}
