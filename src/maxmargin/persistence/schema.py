"""Documents of a closed schema: the fields of a dataclass are read from JSON and arrays, and written to them.

    @dataclass
    class Support:
        support: Annotated[Rows, Stored("support", types=("int64",)), RISING]
        dual_coef: Annotated[Vector, Stored("planes", "support")]
        solver: Annotated[list[str], Size("planes")]

    with Reader(arrays, sizes={"planes": 3}).fields(document, "fitted") as fields:
        support = fields.read(Support)

What a value must be is its kind, the annotation of its field:

    bool, int, float, str           an int from 0 to 2^62, any float (also {"number": "inf"}), a str of 1000 characters
    Literal["a", "b"], an Enum      one of these words; of an Enum its names
    list, tuple, dict, X | None     with what they hold; a dict is taken as it is, and Any is
    a dataclass, a named tuple      an object that has all of its fields, and no others
    Annotated[X, rule, ...]         what the rules take: `Between`, `OneOf`, `Size`, `Rule`
    Annotated[X, Stored(...)]       an array of the file; with X | None it may be missing

Rules are named outside of the class that they stand in: inside, a lambda would not see the module. What is found out
about an annotation is kept, so an annotation is made once and not for each document.

A `Refusal` names the place, "fitted.solver[2] must be a short text". What is true of several fields together is checked
by `__post_init__`, which raises a `Refusal`, too. A field may be missing only if it is `later`. In the JSON itself, no
name may stand twice in an object.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.persistence.errors import Refusal

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]
Sizes = dict[str, int]

LARGEST_COUNT = 2**62
LONGEST_TEXT = 1000
UNIONS = (types.UnionType, typing.Union)
NOTHING = type(None)
NOUNS = {bool: "true or false", int: "a whole number", float: "a number", str: "a short text", NOTHING: "null"}
SPELT = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


@dataclass(frozen=True, eq=False)
class Between:
    """Numbers from the one to the other."""

    low: float
    high: float = LARGEST_COUNT

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return bool(self.low <= value <= self.high)

    def words(self, noun: str, sizes: Sizes) -> str:
        return f"{noun} from {short(self.low)} to {short(self.high)}"


@dataclass(frozen=True, eq=False)
class OneOf:
    """Some words; a function gives those that are known when it is asked."""

    options: Iterable[str] | Callable[[], Iterable[str]]

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return value in self.listed()

    def words(self, noun: str, sizes: Sizes) -> str:
        return f"one of {', '.join(map(repr, self.listed()))}"

    def listed(self) -> list[str]:
        return [str(option) for option in (self.options() if callable(self.options) else self.options)]


@dataclass(frozen=True, eq=False)
class Size:
    """A number, or the length of a list, that has a name: the first says what it is, and all others must agree."""

    name: str

    def fits(self, value: Any, sizes: Sizes) -> bool:
        own = value if is_whole(value) else len(value)
        return bool(own == sizes.setdefault(self.name, own))

    def words(self, noun: str, sizes: Sizes) -> str:
        return f"{noun} of {sizes[self.name]}, one for each of the {self.name}" if self.name in sizes else noun


@dataclass(frozen=True, eq=False)
class Rule:
    """Whatever else there is to say of a value."""

    says: str
    takes: Callable[[Any], bool]

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return self.takes(value)

    def words(self, noun: str, sizes: Sizes) -> str:
        return self.says


class Stored:
    """An array of the file. Its sizes are names or numbers; it is called as the field is, or by a name of its own."""

    def __init__(
        self, *shape: str | int, types: tuple[str, ...] = ("float64",), finite: bool = True, name: str = ""
    ) -> None:
        self.shape, self.types, self.finite, self.name = shape, types, finite, name


POSITIVE = Rule("a positive number", lambda value: 0.0 < value < math.inf)
RISING = Rule("numbers that rise", lambda rows: bool(np.all(np.diff(rows) > 0)))
NOT_NEGATIVE = Rule("numbers of rows, none negative", lambda rows: bool(np.all(rows >= 0)))
HEXADECIMAL = set("0123456789abcdef")
Digest = Annotated[str, Rule("64 hexadecimal digits", lambda text: len(text) == 64 and set(text) <= HEXADECIMAL)]


class Member(NamedTuple):
    """A field: the kind of its value, its array, and the default of one that is `later`."""

    kind: Any
    stored: Stored | None
    default: Any


def later(default: Any) -> Any:
    """A field that older documents lack: it is written only where it is not the default."""
    return dataclasses.field(default=default, metadata={"later": True})


def find_members(kind: Any) -> dict[str, Member] | None:
    """The fields of a dataclass or a named tuple; None of anything else."""
    if not isinstance(kind, type) or not (dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")):
        return None
    hints = typing.get_type_hints(kind, include_extras=True)
    defaults = dict.fromkeys(getattr(kind, "_fields", ()), dataclasses.MISSING)
    if dataclasses.is_dataclass(kind):
        for one in dataclasses.fields(kind):
            defaults[one.name] = one.default if "later" in one.metadata else dataclasses.MISSING
    return {name: Member(hints[name], stored_in(hints[name]), default) for name, default in defaults.items()}


members_of: Callable[[Any], dict[str, Member] | None] = functools.cache(find_members)


def stored_in(kind: Any) -> Stored | None:
    metadata = typing.get_args(kind)[1:] if typing.get_origin(kind) is Annotated else ()
    return next((one for one in metadata if isinstance(one, Stored)), None)


class Form(NamedTuple):
    """A kind taken apart: list[int] is list of (int,); with the rules that stand beside it."""

    origin: Any
    inner: tuple[Any, ...]
    rules: tuple[Any, ...]


def take_apart(kind: Any) -> Form:
    """A whole number has some bounds in any case."""
    base, *rules = typing.get_args(kind) if typing.get_origin(kind) is Annotated else (kind,)
    if base is int and not any(isinstance(rule, Between) for rule in rules):
        rules = [Between(0), *rules]
    rules = [rule for rule in rules if not isinstance(rule, Stored)]
    return Form(typing.get_origin(base) or base, typing.get_args(base), tuple(rules))


form_of: Callable[[Any], Form] = functools.cache(take_apart)


def words_for(kind: Any, sizes: Sizes) -> str:
    """What a value of this kind is, in a sentence."""
    origin, inner, rules = form_of(kind)
    if origin in UNIONS:
        said = " or ".join(words_for(one, sizes) for one in inner)
    elif origin is Literal or is_enum(origin):
        options = [repr(option) for option in (inner or origin.__members__)]
        said = f"one of {', '.join(options)}" if len(options) > 1 else options[0]
    elif origin is tuple and inner[-1] is not Ellipsis:
        said = f"a list of {len(inner)}"
    else:
        said = NOUNS.get(origin, "a list" if origin in (list, tuple) else "an object with fields")
    for rule in rules:
        said = rule.words(said, sizes)
    return said


def fits_plainly(origin: Any, inner: tuple[Any, ...], value: Any) -> bool:
    """Whether a value is of a kind that is read as it is."""
    if origin is str:
        return is_text(value)
    if origin is int:
        return is_whole(value)
    if origin is Literal:
        return any(value == option and type(value) is type(option) for option in inner)
    if origin is list:
        return inner == (Any,) and isinstance(value, list)
    return origin in (bool, dict, NOTHING) and isinstance(value, origin)


def is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def short(number: float) -> str:
    """A bound in a message: a large power of two as one."""
    power = math.frexp(number)[1] - 1
    is_power = power > 16 and abs(number) == 2**power
    return f"{'-' if number < 0 else ''}2^{power}" if is_power else f"{number:g}"


def shown(value: Any) -> str:
    """A value in a message, cut where it is long."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


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
            with suppress(Refusal):
                return self.value(one, value, place)
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

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self.left:
            what = f"a field {next(iter(self.left))[:40]!r}, which this version does not know"
            raise Refusal(f"{self.place or self.reader.root} has {what}", self.place)

    def take(self, name: str, kind: Any = Any) -> Any:
        """One field."""
        place = f"{self.place}.{name}" if self.place else name
        if name not in self.left:
            raise Refusal(f"{self.place or self.reader.root} has no field {name!r}", place)
        return self.reader.value(kind, self.left.pop(name), place)

    def take_all(self, kinds: Mapping[str, Any]) -> dict[str, Any]:
        """Several fields, each of its kind."""
        return {name: self.take(name, kind) for name, kind in kinds.items()}

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


STRICT: dict[str, Any] = {"object_pairs_hook": without_duplicates, "parse_constant": no_constant}


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
