"""Certificates in a model file: their plain fields in the document, their planes, rows and weights as arrays.

All parts of a model are of one kind. Nothing is believed here: `verify` checks what was read against the data.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from maxmargin.certificates.form import WORDS
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.certificates.record import KINDS, LATER, Record
from maxmargin.certificates.slim import SlimCertificate
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.kinds import NOT_NEGATIVE, Arrays, Between, OneOf, Rule, Stored, shown
from maxmargin.persistence.schema import Reader, split, written

IN_ARRAYS = ("w", "rule_w", "rows", "weights", "shares", "heights")  # where a kind has them
ROWS, WEIGHTS = Stored("certificate rows", types=("int64",)), Stored("certificate rows")
HEIGHTS = Stored("blocks", types=("int64",))  # the same of all parts: they are about one table
LABEL = Rule("a label", lambda value: isinstance(value, str | int | float))
KINDS_OF_FIELDS: dict[str, Any] = {  # where the annotations of a certificate say less
    **{name: Annotated[str, OneOf(words)] for name, words in WORDS.items()},
    "class_weight": tuple[tuple[Annotated[Any, LABEL], float], ...],
    "row": Annotated[int, Between(-1)],
}


@dataclass
class Document:
    """What the document says of a certificate: each of its parts, and how many rows carry weight in each."""

    kind: Annotated[str, OneOf(KINDS)]
    sizes: list[int]
    parts: list[dict[str, Any]]


def write_certificate(certificate: Any, arrays: Arrays) -> Any:
    """What the document says of a certificate; its arrays are added to those of the file."""
    parts: tuple[Any, ...] = certificate.parts if isinstance(certificate, MulticlassCertificate) else (certificate,)
    if any(isinstance(part, SlimCertificate) for part in parts):
        raise Refusal("its certificate is slim, without the rows and weights that prove it: save it with its proof")
    kind = type(parts[0]).kind
    arrays["certificate.rows"] = np.concatenate([part.rows for part in parts]).astype(np.int64)
    for name in fields_of(KINDS[kind], "weights", "shares"):
        arrays[f"certificate.{name}"] = np.concatenate([getattr(part, name) for part in parts])
    for name in fields_of(KINDS[kind], "w", "rule_w"):
        arrays[f"certificate.{name}"] = np.stack([getattr(part, name) for part in parts])
    for _ in fields_of(KINDS[kind], "heights"):
        arrays["certificate.heights"] = parts[0].heights.astype(np.int64)
        if not all(np.array_equal(part.heights, parts[0].heights) for part in parts):
            raise Refusal("the parts of the certificate are about tables of different blocks")
    plain = [{name: value for name, value in part.to_dict().items() if name not in IN_ARRAYS} for part in parts]
    lacking = {"huber_width": None, **KINDS[kind].later}  # as older files
    fields = [{k: v for k, v in part.items() if k not in lacking or v != lacking[k]} for part in plain]
    return written(Document(kind, [len(part.rows) for part in parts], fields), arrays)


def read_certificate(reader: Reader, document: Any, sides: list[tuple[Any, Any]], n_columns: int) -> Any:
    """The certificate of a model whose planes have these sides."""
    said: Document = reader.value(Document, document, "certificate")
    kind = KINDS[said.kind]
    if not len(said.sizes) == len(said.parts) == len(sides):
        raise Refusal(f"the certificate must have {len(sides)} parts, one for each plane, each with a size")
    arrays: dict[str, Any] = {
        "rows": split(reader.array("certificate.rows", ROWS, [NOT_NEGATIVE]), said.sizes, "certificate.rows")
    }
    for name in fields_of(kind, "weights", "shares"):
        arrays[name] = split(reader.array(f"certificate.{name}", WEIGHTS), said.sizes, f"certificate.{name}")
    for name in fields_of(kind, "w", "rule_w"):
        planes = reader.array(f"certificate.{name}", Stored(len(sides), n_columns))
        arrays[name] = [plane.copy() for plane in planes]
    for name in fields_of(kind, "heights"):
        arrays[name] = [reader.array("certificate.heights", HEIGHTS, [NOT_NEGATIVE])] * len(sides)
    parts = dataclasses.replace(reader, kinds=KINDS_OF_FIELDS, missing={**LATER, **kind.later, "plane": ()})
    made = []
    for index, part in enumerate(said.parts):
        with parts.fields(part, f"certificate.parts[{index}]") as fields:
            made.append(fields.read(kind, **{name: of_parts[index] for name, of_parts in arrays.items()}))
        refuse_another_plane(made[-1], fields.place, sides[index], n_columns)
    return made[0] if len(made) == 1 else MulticlassCertificate(tuple(made))


def refuse_another_plane(part: Record, place: str, sides: tuple[Any, Any], n_columns: int) -> None:
    """A `Refusal` where a certificate is about another plane than that of its model, or asks for no gap."""
    if (part.positive, part.negative) != sides:
        raise Refusal(f"{place} is not about the labels of its plane, {shown(sides)}")
    if part.n_columns != n_columns:
        raise Refusal(f"{place} is about {part.n_columns} columns, and the model has {n_columns}")
    if not type(part).may_ask_for(tol := getattr(part, "tol", 0.5)):
        raise Refusal(f"{place}.tol must be above 0 and below 1, not {tol}")


def fields_of(kind: type[Record], *names: str) -> list[str]:
    """Those that this kind has."""
    own = {field.name for field in dataclasses.fields(kind)}
    return [name for name in names if name in own]
