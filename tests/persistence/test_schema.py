"""Every dataclass that is read from a document refuses what its annotations do not allow, and says where it stands.

The dataclasses are not listed here: they are found while the files of the corpus and messages of the page are read. For
each field of each of them documents are made in which it is missing, doubled, of another type, out of its bounds, NaN
or nested too deeply; the oracle below goes by the annotations, and knows nothing of the reader.
"""

import copy
import dataclasses
import importlib
import json
import math
import pkgutil
import re
import types
import typing
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pytest
from persistence.make_corpus import CORPUS

import maxmargin.persistence
from maxmargin.certificates.record import LATER
from maxmargin.persistence.container import DEEPEST, read_json, unpack
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.model_file import VERSION, read_model
from maxmargin.persistence.schema import Between, Fields, OneOf, Size, Stored
from maxmargin.playground.messages import read_ask, read_message

STATE = {"points": [[0, 0, -1], [1.5, 2, 1]], "algorithm": "hard_margin", "parameters": {}}
VIEW = {"left": -1, "right": 2, "bottom": -1, "top": 3}
MESSAGES = [
    {"id": 1, "panel": "a", "ask": "challenge", "state": STATE, "view": VIEW, "line": {"w": [1, 2], "b": 0.5}},
    {"id": 1, "panel": "a", "ask": "challenge", "state": STATE, "view": VIEW, "line": {"points": [[0, 1], [1, 0]]}},
]
FILES = [path.read_bytes() for path in sorted((CORPUS / f"v{VERSION}").glob("*.safetensors"))]


OF_THE_WHOLE = (
    *(f"the document has no field {name!r}" for name in unpack(FILES[0])[0]),
    *(f"the message has no field {name!r}" for name in MESSAGES[0]),
    "it is not a model of maxmargin",
    "version must be a whole number from 1 to 2^62, not None",
)


class Found(NamedTuple):
    """A dataclass, and an object of a document that it was read from."""

    kind: type
    place: str
    members: dict[str, Any]  # names and annotations of those fields that were read
    read: Any  # a document and its arrays are read, or refused
    document: Any
    arrays: dict[str, Any]


def read_as_message(document, arrays):
    return read_ask(read_message(json.dumps(document)))


def found_while_reading(documents):
    """Whatever `Fields.read` makes, one of each kind."""
    found, usual = {}, Fields.read

    def read(fields, kind, **known):
        hints = typing.get_type_hints(kind, include_extras=True)
        own = getattr(kind, "_fields", None) or [one.name for one in dataclasses.fields(kind)]
        members = {name: fields.reader.kinds.get(name, hints[name]) for name in own if name not in known}
        found.setdefault(kind, Found(kind, fields.place, members, *now))
        return usual(fields, kind, **known)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Fields, "read", read)
        for now in documents:
            reader, document, arrays = now
            reader(copy.deepcopy(document), dict(arrays))
    return list(found.values())


FOUND = found_while_reading(
    [(read_model, *unpack(data)) for data in FILES] + [(read_as_message, message, {}) for message in MESSAGES]
)


def keys_of(place):
    return [int(key) if key.isdigit() else key for key in re.findall(r"\w+", place)]


def at(document, place):
    for key in keys_of(place):
        document = document[key]
    return document


def parts_of(kind):
    """The kind, its rules, and its array."""
    kind, *rules = typing.get_args(kind) if typing.get_origin(kind) is Annotated else [kind]
    stored = next((rule for rule in rules if isinstance(rule, Stored)), None)
    return kind, [rule for rule in rules if rule is not stored], stored


UNIONS = (types.UnionType, typing.Union)
SAMPLES = {  # one value of each type of JSON
    "null": None,
    "bool": True,
    "int": 1,
    "float": 0.5,
    "str": "no such word",
    "list": [None],
    "object": {"no such": "field"},
}


def types_of(kind):
    """The types of JSON that a kind can have."""
    base, _, _ = parts_of(kind)
    origin = typing.get_origin(base) or base
    if origin in UNIONS:
        return set().union(*map(types_of, typing.get_args(base)))
    if origin is Any:
        return set(SAMPLES)
    if origin is Literal:
        return {type(option).__name__ for option in typing.get_args(base)}
    if isinstance(origin, type) and issubclass(origin, Enum):
        return {"str"}
    known = {bool: {"bool"}, int: {"int"}, float: {"int", "float"}, str: {"str"}, type(None): {"null"}}
    return known.get(origin, {"list"} if origin in (list, tuple) and not hasattr(origin, "_fields") else {"object"})


def wrong_values(kind, value):
    """Values that the annotation does not allow, most of them by type, others by a rule."""
    base, rules, _ = parts_of(kind)
    origin, inner = typing.get_origin(base) or base, typing.get_args(base)
    yield from (sample for name, sample in SAMPLES.items() if name not in types_of(kind))
    if (
        origin in (types.UnionType, typing.Union)
        and len(others := [one for one in inner if one is not type(None)]) == 1
    ):
        yield from (wrong for wrong in wrong_values(others[0], value) if wrong is not None)
    if origin is int:
        bounds = next((rule for rule in rules if isinstance(rule, Between)), Between(0))
        yield from (bounds.low - 1, bounds.high + 1, {"number": "inf"})
    if origin is float:
        yield from ({"number": "infinite"}, {"number": 1}, {"number": "nan", "more": 1}, 10**400)
        yield from ({"number": "nan"} for rule in rules if isinstance(rule, Between))
        yield from (end for rule in rules if isinstance(rule, Between) for end in (2 * rule.low - 1, 2 * rule.high))
    if origin is str:
        yield "y" * 1001
    if origin is Literal or (isinstance(origin, type) and issubclass(origin, Enum)):
        yield from ("no such word", "")
    if origin in (list, tuple) and isinstance(value, list):
        if (origin is tuple and inner[-1] is not Ellipsis) or any(isinstance(rule, Size) for rule in rules):
            yield from (value[:-1], [*value, *value[:1]]) if value else ()
        of_entries = inner[0]
        yield from ([wrong, *value[1:]] for wrong in wrong_values(of_entries, value[0]) if value) if value else ()
    if any(isinstance(rule, OneOf) for rule in rules):
        yield from ("no such word", "")


def with_changed(found, name, value):
    document = copy.deepcopy(found.document)
    at(document, found.place)[name] = value
    return document


def refused(found, document, arrays=None):
    with pytest.raises(Refusal) as refusal:
        found.read(document, dict(found.arrays if arrays is None else arrays))
    return str(refusal.value)


def json_with_twice(value, place, name):
    """The JSON of a document in which one field of one object stands twice."""
    if isinstance(value, dict):
        twice = [name] if not place and name in value else []
        inner = {
            key: json_with_twice(entry, place[1:] if place and place[0] == key else [None], name)
            for key, entry in value.items()
        }
        return "{" + ", ".join(f"{json.dumps(key)}: {inner[key]}" for key in [*value, *twice]) + "}"
    if isinstance(value, list):
        inner = [
            json_with_twice(entry, place[1:] if place and place[0] == index else [None], name)
            for index, entry in enumerate(value)
        ]
        return f"[{', '.join(inner)}]"
    return json.dumps(value)


each_kind = pytest.mark.parametrize("found", FOUND, ids=lambda found: found.kind.__name__)
FIELDS = [
    (found, name, kind)
    for found in FOUND
    for name, kind in found.members.items()
    if name in at(found.document, found.place)
]
each_field = pytest.mark.parametrize(
    ("found", "name", "kind"), FIELDS, ids=[f"{found.kind.__name__}-{name}" for found, name, _ in FIELDS]
)
ARRAYS = [
    (found, stored.name or name, stored, type(None) in typing.get_args(base))
    for found in FOUND
    for name, (base, _, stored) in ((name, parts_of(kind)) for name, kind in found.members.items())
    if stored is not None and (stored.name or name) in found.arrays
]
each_array = pytest.mark.parametrize(
    ("found", "name", "stored", "is_optional"),
    ARRAYS,
    ids=[f"{found.kind.__name__}-{name}" for found, name, *_ in ARRAYS],
)


def test_every_dataclass_of_the_room_is_found():
    """But for those that are no documents: whoever adds one that is read adds a file to the corpus that has it."""
    names = [one.name for one in pkgutil.iter_modules(maxmargin.persistence.__path__, "maxmargin.persistence.")]
    modules = [importlib.import_module(name) for name in (*names, "maxmargin.playground.messages")]
    declared = {
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type) and dataclasses.is_dataclass(one) and one.__module__ == module.__name__
    }
    rules = {"Between", "OneOf", "Size", "Rule"}
    made_by_code = rules | {"Reader", "Fields", "ModelInfo", "Part", "State", "Line", "Ask"}
    found = {one.kind for one in FOUND}
    assert {one.__name__ for one in declared - found} == made_by_code
    assert {"KKT", "Violation", "SoftMarginCertificate", "Box"} <= {one.__name__ for one in found - declared}


@each_field
def test_a_field_that_is_missing(found, name, kind):
    document = copy.deepcopy(found.document)
    del at(document, found.place)[name]
    declared = getattr(found.kind, "__dataclass_fields__", {}).get(name)
    may_be_missing = name in LATER or (declared is not None and "later" in declared.metadata)
    if may_be_missing and name in LATER:
        found.read(document, dict(found.arrays))
    elif not may_be_missing:
        sentence = refused(found, document)
        assert f"{found.place} has no field" in sentence or sentence in OF_THE_WHOLE


@each_field
def test_a_field_of_another_kind(found, name, kind):
    tried = 0
    for wrong in wrong_values(kind, at(found.document, found.place)[name]):
        sentence = refused(found, with_changed(found, name, wrong))
        assert name in sentence or "not a model of maxmargin" in sentence or "install a newer one" in sentence
        tried += 1
    assert tried or types_of(kind) == set(SAMPLES)


@each_field
def test_a_field_that_stands_twice(found, name, kind):
    text = json_with_twice(found.document, keys_of(found.place), name)
    assert json.loads(text) == found.document
    reader = read_message if found.read is read_as_message else lambda text: read_json(text, "the document")
    with pytest.raises(Refusal, match="a name occurs twice"):
        reader(text)


@each_field
def test_a_field_that_is_nested_too_deeply(found, name, kind):
    deep: Any = []
    for _ in range(DEEPEST):
        deep = [deep]
    if found.read is read_as_message:
        if types_of(kind) != set(SAMPLES) and "list" not in types_of(kind):
            refused(found, with_changed(found, name, deep))
    else:
        with pytest.raises(Refusal, match="nested too deeply"):
            read_json(json.dumps(with_changed(found, name, deep)), "the document")


@each_kind
def test_a_field_that_nobody_knows(found):
    sentence = refused(found, with_changed(found, "more", 0))
    assert "has a field 'more', which this version does not know" in sentence
    assert sentence.startswith(found.place)


@pytest.mark.parametrize("found", [found for found in FOUND if found.place], ids=lambda found: found.kind.__name__)
def test_what_is_no_object(found):
    for wrong in (0, "x", [], [{}]):
        document = copy.deepcopy(found.document)
        *before, last = keys_of(found.place)
        holder = document
        for key in before:
            holder = holder[key]
        holder[last] = wrong
        assert found.place in refused(found, document)


@each_array
def test_an_array_that_is_wrong(found, name, stored, is_optional):
    own = found.arrays[name]
    wrong = [own.astype(kind) for kind in {"float64", "float32", "int64", "int32", "bool"} - set(stored.types)]
    wrong += [own[..., None], own[..., None, None]]
    wrong += [np.concatenate([own, own[:1]])] if stored.shape[0] in ("planes", "columns", "support", "classes") else []
    if stored.finite and own.dtype.kind == "f" and own.size:
        for value in (math.nan, math.inf):
            wrong.append(own.copy())
            wrong[-1].flat[0] = value
    for array in wrong:
        refused(found, found.document, {**found.arrays, name: array})
    sentence = refused(found, found.document, {key: array for key, array in found.arrays.items() if key != name})
    assert f"the array {name!r}" in sentence or is_optional
