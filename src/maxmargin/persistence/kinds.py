"""What a value of a document must be, as annotations say it, and in words.

    bool, int, float, str           an int from 0 to 2^62, any float (also {"number": "inf"}), a str of 1000 characters
    Literal["a", "b"], an Enum      one of these words; of an Enum its names
    list, tuple, dict, X | None     with what they hold; a dict is taken as it is, and Any is
    a dataclass, a named tuple      an object that has all of its fields, and no others
    Annotated[X, rule, ...]         what the rules take: `Between`, `OneOf`, `Size`, `Rule`
    Annotated[X, Stored(...)]       an array of the file; with X | None it may be missing

Rules are named outside of the class that they stand in: inside, a lambda would not see the module. What is found out
about an annotation is kept, so an annotation is made once and not for each document.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
Sizes = dict[str, int]

LARGEST_COUNT = 2**62
LONGEST_TEXT = 1000
UNIONS = (types.UnionType, typing.Union)
NOTHING = type(None)
NOUNS = {bool: "true or false", int: "a whole number", float: "a number", str: "a short text", NOTHING: "null"}


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
