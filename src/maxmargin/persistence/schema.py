"""Documents of a closed schema: the fields of a dataclass are read from JSON and arrays, and written to them.

    @dataclass
    class Support:
        support: Annotated[Rows, Stored("support", types=("int64",)), RISING]
        dual_coef: Annotated[Vector, Stored("planes", "support")]
        solver: Annotated[list[str], Size("planes")]

    with Reader(arrays, sizes={"planes": 3}).fields(document, "fitted") as fields:
        support = fields.read(Support)

The annotation of a field says what it must be (`kinds`); a `Refusal` names the place, "fitted.solver[2] must be a short
text". What is true of several fields together is checked by `__post_init__`, which raises a `Refusal`, too. A field
may be missing only if it is `later`. In the JSON itself, no name may stand twice in an object.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.estimators.parameters import Choice, Declarations
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.kinds import (
    NOTHING,
    UNIONS,
    Arrays,
    Member,
    Sizes,
    Stored,
    fits_plainly,
    form_of,
    is_enum,
    is_number,
    members_of,
    shown,
    words_for,
)

T = TypeVar("T")
DEEPEST = 16  # objects and lists within each other
SPELT = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


@dataclass
class Reader:
    """Reads values by their kinds. `arrays` are those that nobody has taken yet.

    `kinds` are what fields of these names must be, and `missing` what they are where a document lacks them, for
    dataclasses that are at home elsewhere and do not say it.
    """

    arrays: Arrays = field(default_factory=dict)
    sizes: Sizes = field(default_factory=dict)
    kinds: Mapping[str, Any] = field(default_factory=dict)
    missing: Mapping[str, Any] = field(default_factory=dict)
    root: str = "the document"

    def fields(self, value: Any, place: str = "") -> Fields:
        """An object, whose fields are taken one after the other."""
        if not isinstance(value, dict):
            raise Refusal(f"{place or self.root} must be an object with fields, not {shown(value)}", place)
        return Fields(self, dict(value), place)

    def value(self, kind: Any, value: Any, place: str) -> Any:
        """The value, if it is of this kind and as its rules say."""
        made = self.plain_value(kind, value, place)
        for rule in form_of(kind).rules:
            if not rule.fits(made, self.sizes):
                raise self.refusal(kind, value, place)
        return made

    def refusal(self, kind: Any, value: Any, place: str) -> Refusal:
        return Refusal(f"{place or self.root} must be {words_for(kind, self.sizes)}, not {shown(value)}", place)

    def plain_value(self, kind: Any, value: Any, place: str) -> Any:
        """The value as its kind has it, whatever the rules are."""
        origin, inner, _ = form_of(kind)
        if origin is Any or fits_plainly(origin, inner, value):
            return value
        if origin in UNIONS:
            return self.one_of_several(kind, value, place)
        if origin is float:
            return self.number(kind, value, place)
        if members_of(origin) is not None:
            with self.fields(value, place) as fields:
                return fields.read(origin)
        if origin in (list, tuple) and isinstance(value, list):
            return self.entries(kind, value, place)
        if is_enum(origin) and isinstance(value, str) and value in origin.__members__:
            return origin[value]
        raise self.refusal(kind, value, place)

    def one_of_several(self, kind: Any, value: Any, place: str) -> Any:
        """The value as the first kind that takes it."""
        kinds = form_of(kind).inner
        others = [one for one in kinds if one is not NOTHING]
        if value is None and len(others) < len(kinds):
            return None
        if len(others) == 1:  # which says best what is wrong
            return self.value(others[0], value, place)
        for one in others:
            try:
                return self.value(one, value, place)
            except Refusal:
                pass
        raise self.refusal(kind, value, place)

    def entries(self, kind: Any, value: list[Any], place: str) -> Any:
        """A list or tuple. Names of columns can be many: what is read as it is needs no place of its own."""
        origin, inner, _ = form_of(kind)
        has_own_kinds = origin is tuple and inner[-1] is not Ellipsis
        if has_own_kinds and len(inner) != len(value):
            raise self.refusal(kind, value, place)
        entry, of_entry, rules = form_of(inner[0])
        if not has_own_kinds and not rules and all(fits_plainly(entry, of_entry, one) for one in value):
            return origin(value)
        kinds = inner if has_own_kinds else inner[:1] * len(value)
        return origin(self.value(one, value[i], f"{place}[{i}]") for i, one in enumerate(kinds))

    def number(self, kind: Any, value: Any, place: str) -> float:
        if isinstance(value, dict) and set(value) == {"number"} and isinstance(value["number"], str):
            value = SPELT.get(value["number"], value)
        if not is_number(value):
            raise self.refusal(kind, value, place)
        try:
            return float(value)
        except OverflowError:
            raise Refusal(f"{place} is too large for 64 bits", place) from None

    def array(self, name: str, stored: Stored, rules: Iterable[Any] = ()) -> NDArray[Any]:
        """The array of this name; nobody else can take it."""
        if name not in self.arrays:
            raise Refusal(f"the array {name!r} is missing")
        array = self.arrays.pop(name)
        if (own := array.dtype.name) not in stored.types:
            raise Refusal(f"the array {name!r} is of type {own}, where {' or '.join(stored.types)} is needed")
        known = [self.sizes.get(size) if isinstance(size, str) else size for size in stored.shape]
        if array.ndim != len(known) or any(b not in (None, a) for a, b in zip(array.shape, known, strict=True)):
            needed = " x ".join("any" if size is None else str(size) for size in known)
            raise Refusal(f"the array {name!r} has the shape {array.shape}, where {needed} is needed")
        self.sizes.update({size: n for size, n in zip(stored.shape, array.shape, strict=True) if isinstance(size, str)})
        if stored.finite and array.dtype.kind == "f" and not np.all(np.isfinite(array)):
            raise Refusal(f"the array {name!r} holds NaN or infinity")
        for rule in rules:
            if not rule.fits(array, self.sizes):
                raise Refusal(f"the array {name!r} must be {rule.words('', self.sizes)}")
        return array

    def close(self) -> None:
        if self.arrays:
            raise Refusal(f"there is an array {next(iter(self.arrays))[:40]!r}, which does not belong to this model")


@dataclass
class Fields:
    """The fields of one object that nobody has taken yet. When the block ends, none may be left."""

    reader: Reader
    left: dict[str, Any]
    place: str

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self.left:
            what = f"a field {next(iter(self.left))[:40]!r}, which this version does not know"
            raise Refusal(f"{self.place or self.reader.root} has {what}", self.place)

    def take(self, name: str, kind: Any = Any) -> Any:
        """One field."""
        place = f"{self.place}.{name}" if self.place else name
        if name not in self.left:
            raise Refusal(f"{self.place or self.reader.root} has no field {name!r}", place)
        return self.reader.value(kind, self.left.pop(name), place)

    def read(self, kind: type[T], **known: Any) -> T:
        """Those of a dataclass, which may be some of them; `known` are values that come from elsewhere."""
        members = members_of(kind) or {}
        values = {name: self.member(name, member) for name, member in members.items() if name not in known}
        try:
            return kind(**values, **known)
        except Refusal as refusal:
            raise Refusal(f"{self.place or self.reader.root}: {refusal}", refusal.place or self.place) from None

    def member(self, name: str, member: Member) -> Any:
        """One field of a dataclass: an array, or a value of the document."""
        kind = self.reader.kinds.get(name, member.kind)
        if member.stored is not None:
            own, form = member.stored.name or name, form_of(kind)
            is_missing = own not in self.reader.arrays and NOTHING in form.inner
            return None if is_missing else self.reader.array(own, member.stored, form.rules)
        default = self.reader.missing.get(name, member.default)
        return default if name not in self.left and default is not dataclasses.MISSING else self.take(name, kind)


def written(value: Any, arrays: Arrays) -> Any:
    """A value as JSON holds it; the arrays of dataclasses are put aside, under the names by which they are read."""
    if isinstance(value, np.ndarray | np.generic):
        return written(value.tolist(), arrays)
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, float):
        return value if math.isfinite(value) else {"number": str(value)}
    if isinstance(value, dict):
        return {name: written(entry, arrays) for name, entry in value.items()}
    if (members := members_of(type(value))) is not None:
        return written_members(value, members, arrays)
    return [written(entry, arrays) for entry in value] if isinstance(value, list | tuple) else value


def written_members(value: Any, members: dict[str, Member], arrays: Arrays) -> dict[str, Any]:
    found = {}
    for name, (_, stored, default) in members.items():
        own = getattr(value, name)
        if stored is None and (default is dataclasses.MISSING or own != default):
            found[name] = written(own, arrays)
        elif stored is not None and own is not None:
            arrays[stored.name or name] = own if own.dtype.name in stored.types else own.astype(stored.types[0])
    return found


def read_json(text: str, what: str) -> dict[str, Any]:
    """One JSON object: no name twice in it, no number that float64 cannot hold, nothing deep."""
    try:
        value = json.loads(
            text, object_pairs_hook=without_duplicates, parse_float=finite_number, parse_constant=no_constant
        )
    except (ValueError, RecursionError) as error:
        raise Refusal(f"{what} is not as JSON must be: {str(error)[:200]}") from None
    if not isinstance(value, dict) or depth(value) > DEEPEST:
        raise Refusal(f"{what} is not an object of JSON, or it is nested too deeply")
    return value


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a name occurs twice")
    return fields


def finite_number(digits: str) -> float:
    number = float(digits)
    if abs(number) == float("inf"):
        raise ValueError(f"{digits[:20]} is too large for 64 bits")
    return number


def no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")


def depth(value: Any) -> int:
    """How deep lists and objects are nested; never deeper than one more than is allowed."""
    level, inner = 0, [value]
    while inner and level <= DEEPEST:
        level += 1
        inner = [
            entry
            for outer in inner
            for entry in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(entry, dict | list)
        ]
    return level


def without_numpy(value: Any) -> Any:
    """Python's own numbers, lists and dicts in place of NumPy's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [without_numpy(entry) for entry in value]
    if isinstance(value, dict):
        return {without_numpy(label): without_numpy(weight) for label, weight in value.items()}
    return value


def split(values: NDArray[Any], sizes: list[int], name: str) -> list[NDArray[Any]]:
    """Arrays that were written one after the other."""
    if sum(sizes) != len(values):
        raise Refusal(f"the array {name!r} has {len(values)} entries, where {sum(sizes)} are needed")
    return [part.copy() for part in np.split(values, np.cumsum(sizes)[:-1])] if sizes else []


def write_parameters(declarations: Declarations, values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as a document holds them, if it can: no function among them, which would be code."""
    found = {}
    for name, declaration in ((name, one) for name, one in declarations.items() if not one.of_this_process):
        value = without_numpy(values[name])
        if not declaration.keeps(value):
            can = f"a file can hold {declaration.words_for_a_file()}"
            code = "; a function is code, and a model file holds none" if callable(value) else ""
            raise Refusal(f"the parameter {name}={shown(value)} cannot be kept: {can}{code}")
        if not (declaration.later and value == declaration.default):
            found[name] = declaration.written(value)
    return found


def read_parameters(declarations: Declarations, fields: Fields) -> dict[str, Any]:
    """All parameters of the estimator, and no others."""
    values = {}
    for name, declaration in declarations.items():
        if declaration.of_this_process or (declaration.later and name not in fields.left):
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
