"""One declaration for each parameter of an estimator: fit, model files, commands and the page all read it.

    accepts, check       what `fit` takes; or one sentence that names the parameter and says what it can be
    keeps                what a model file holds: plain values that `fit` takes, and no code
    written, restored    such a value as a document (JSON) holds it, and the way back
    read                 the value in the text of a command
    widget               what the page shows

A declaration of its own kind is a subclass that says which values `fits`. The words of a `Choice` are asked for where
they are at home, and when they are needed: what is registered there is known to fit, files, commands and the page.
Importing this loads neither NumPy nor the compiler: a command reads its help here.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

from maxmargin.estimators.widgets import Widget

LARGEST_COUNT = 2**62 - 1
LONGEST_TEXT = 1000
LONGEST_SHOWN = 200


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """What all kinds have.

    default         as in the constructor
    says            which values it can have: "<name> must be <says>, not <value>"
    why             what the sentence adds at its end
    also            values beside those of the kind (None, infinity, words), with their labels on the page; without a
                    label the page does not offer them
    takes           what `fit` takes beside all these, and no file can hold: a function, a random generator
    holds           what a file can hold, in words, where that is less than what `says` says
    label, help     on the page
    shown_if        another parameter, and those of its values at which this one has a meaning; or a function for it
    option          help of its option, where `maxmargin fit` has one
    later           older model files have none: it is written where it is not the default (`of_this_process`: never)
    """

    default: Any
    says: str = ""
    why: str = ""
    also: Mapping[Any, str] = field(default_factory=dict)
    takes: Callable[[Any], bool] | None = None
    holds: str = ""
    label: str = ""
    help: str = ""
    shown_if: tuple[str, tuple[Any, ...]] | Callable[[], tuple[str, tuple[Any, ...]]] | None = None
    option: str = ""
    later: bool = False
    of_this_process: bool = False

    def fits(self, value: Any) -> bool:
        """Whether a value, which is none of NumPy's, is of this kind."""
        raise NotImplementedError

    def is_special(self, value: Any) -> bool:
        """Whether it is one of those beside the kind."""
        is_plain = isinstance(value, str | Real)
        return any(value is one or (is_plain and is_word_or_infinity(one, value)) for one in self.also)

    def accepts(self, value: Any) -> bool:
        if self.takes is not None and self.takes(value):
            return True
        value = plain(value)
        return self.is_special(value) or self.fits(value)

    def check(self, name: str, value: Any) -> None:
        """A ValueError where `fit` does not take the value. Nobody is asked about the default."""
        is_default = type(value) is type(self.default) and value == self.default
        if not is_default and not self.accepts(value):
            raise ValueError(self.refusal(name, value))

    def refusal(self, name: str, value: Any) -> str:
        return f"{name} must be {self.words()}, not {shown(value)}{self.why}"

    def words(self) -> str:
        """What it can be."""
        return f"{self.says} or None" if None in self.also else self.says

    def words_for_a_file(self) -> str:
        return self.holds or self.words()

    def keeps(self, value: Any) -> bool:
        """Whether a file can hold the value, which is none of NumPy's: no function is a value of the kind."""
        return self.is_special(value) or (isinstance(value, bool | int | float | str) and self.fits(value))

    def written(self, value: Any) -> Any:
        """A value that is kept, as a document holds it."""
        return {"number": str(value)} if isinstance(value, float) and not math.isfinite(value) else value

    def restored(self, value: Any) -> Any:
        """The way back; a ValueError for an object that is not of this form."""
        if isinstance(value, dict) and value != {"number": "inf"}:
            raise ValueError("has a value that this version does not know")
        return math.inf if isinstance(value, dict) else value

    def read(self, text: str) -> Any:
        """The value in a text. What has no meaning here stays a text, for `check` to refuse."""
        return next((one for one in self.also if text.lower() == str(one).lower()), text)

    def widget(self, name: str, default: Any) -> Widget:
        """What the page shows, with a default of its own where it wants one."""
        also = tuple(("inf" if one == math.inf else one, label) for one, label in self.also.items() if label)
        shown_if = self.shown_if() if callable(self.shown_if) else self.shown_if
        return Widget(name, self.label, self.help, default=default, also=also, shown_if=shown_if, **self.shape())

    def shape(self) -> dict[str, Any]:
        """The kind of the widget, and its range or its choices."""
        raise NotImplementedError(f"the page has nothing to show a {type(self).__name__} with")


Declarations = Mapping[str, Declaration]


def declared(*groups: Declarations, **own: Declaration) -> Declarations:
    """The parameters of an estimator, each declared once."""
    found: dict[str, Declaration] = {}
    for group in (*groups, own):
        for name, declaration in group.items():
            if name in found:
                raise ValueError(f"the parameter {name} is declared twice")
            found[name] = declaration
    return found


def check_parameters(estimator: Any) -> None:
    """A ValueError that names the first parameter that is not what it is declared to be, or two that are at odds."""
    for name, declaration in estimator.parameters.items():
        declaration.check(name, getattr(estimator, name))
    for rule in estimator.rules:
        rule(estimator)


@dataclass(frozen=True, kw_only=True)
class Number(Declaration):
    """A number in an interval, whose ends are open "(" ")" or belong to it "[" "]". `shown` is the slider."""

    says: str = "a positive number"
    interval: tuple[float, float] = (0.0, math.inf)
    ends: str = "()"
    shown: tuple[float, float] = (0.0, 0.0)
    scale: str = "log"

    def fits(self, value: Any) -> bool:
        if not is_number(value):
            return False
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond float64
            return False
        low, high = self.interval
        is_an_end = (number == low and self.ends[0] == "[") or (number == high and self.ends[1] == "]")
        return is_an_end or low < number < high

    def read(self, text: str) -> Any:
        return number_in(super().read(text))

    def shape(self) -> dict[str, Any]:
        return {"kind": self.scale, "low": self.shown[0], "high": self.shown[1]}


@dataclass(frozen=True, kw_only=True)
class Integer(Declaration):
    """A whole number, as compiled loops can count."""

    says: str = "a positive whole number"
    least: int = 1
    most: int = LARGEST_COUNT
    shown: tuple[int, int] = (0, 0)

    def fits(self, value: Any) -> bool:
        return isinstance(value, Integral) and not isinstance(value, bool) and self.least <= int(value) <= self.most

    def refusal(self, name: str, value: Any) -> str:
        too_large = isinstance(value, Integral) and int(value) > self.most == LARGEST_COUNT
        return super().refusal(name, value) + (": it must be below 2^62" if too_large else "")

    def read(self, text: str) -> Any:
        return number_in(super().read(text))

    def shape(self) -> dict[str, Any]:
        return {"kind": "integer", "low": self.shown[0], "high": self.shown[1]}


@dataclass(frozen=True, kw_only=True)
class Flag(Declaration):
    """True or False."""

    says: str = "True or False"

    def fits(self, value: Any) -> bool:
        return isinstance(value, bool)

    def read(self, text: str) -> Any:
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)

    def shape(self) -> dict[str, Any]:
        return {"kind": "switch"}


@dataclass(frozen=True, kw_only=True)
class Choice(Declaration):
    """One of the words that are at home elsewhere, in "module:attribute": all that are known there when somebody asks.
    Where that is a function, it is asked for those `of` something.

    `labels` are those of the page, in its order; words without one follow, under their `title`. `shown` is the home of
    those that it offers, where it leaves some out. `hints` say why a word is none, and `says` what it can be beside
    these words.
    """

    home: str
    of: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    title: Callable[[str], str] = lambda word: word.replace("_", " ")
    shown: str = ""
    hints: Mapping[str, str] = field(default_factory=dict)

    def names(self, home: str = "") -> tuple[str, ...]:
        """All words, as they are now; or those of another home."""
        module, _, attribute = (home or self.home).partition(":")
        known = getattr(importlib.import_module(module), attribute)
        return tuple(str(name) for name in (known if isinstance(known, Iterable) else known(*self.of)))

    def names_to_choose(self) -> tuple[str, ...]:
        """The default first, then those of the page, then all others that are not left out there."""
        known = self.names(self.shown)
        return tuple(dict.fromkeys((self.default, *(name for name in self.labels if name in known), *known)))

    def fits(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.names()

    def refusal(self, name: str, value: Any) -> str:
        why = f": {self.hints[value]}" if isinstance(value, str) and value in self.hints else ""
        return f"{name}={shown(value)} is not known{why}; it can be {', '.join(map(repr, self.names()))}{self.says}"

    def words_for_a_file(self) -> str:
        return f"one of {', '.join(map(repr, self.names()))}"

    def shape(self) -> dict[str, Any]:
        names = self.names_to_choose()
        return {"kind": "choice", "choices": tuple((one, self.labels.get(one) or self.title(one)) for one in names)}


@dataclass(frozen=True, kw_only=True)
class Text(Declaration):
    """A short text."""

    says: str = "a text"

    def fits(self, value: Any) -> bool:
        return isinstance(value, str) and len(value) <= LONGEST_TEXT


@dataclass(frozen=True, kw_only=True)
class Size(Declaration):
    """Of memory: a number of bytes, or a text with a unit."""

    says: str = 'a size such as "512MB", a number of bytes'

    def fits(self, value: Any) -> bool:
        from maxmargin.reading.scan import bytes_of  # which loads NumPy

        try:
            return bytes_of(value) > 0
        except (TypeError, ValueError):
            return False


@dataclass(frozen=True, kw_only=True)
class ClassWeight(Declaration):
    """Weights of classes, by their labels. Whether they are positive is told where the labels are known."""

    default: Any = None
    says: str = 'None, "balanced" or a dict of labels and weights'
    holds: str = 'None, "balanced" or pairs of a label and a weight'
    also: Mapping[Any, str] = field(default_factory=lambda: {None: "", "balanced": ""})

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict) and all(is_number(plain(weight)) for weight in value.values())

    def words(self) -> str:
        return self.says

    def refusal(self, name: str, value: Any) -> str:
        if not isinstance(value, dict):
            return super().refusal(name, value)
        label, weight = next(pair for pair in value.items() if not is_number(plain(pair[1])))
        return f"{name} must hold numbers; class {plain(label)!r} has {weight!r}"

    def keeps(self, value: Any) -> bool:
        return self.is_special(value) or (self.fits(value) and all(isinstance(one, str | int | float) for one in value))

    def written(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {"pairs": [[label, super(ClassWeight, self).written(weight)] for label, weight in value.items()]}

    def restored(self, value: Any) -> Any:
        pairs = value.get("pairs") if isinstance(value, dict) and len(value) == 1 else None
        if isinstance(pairs, list) and all(map(is_pair, pairs)):
            return dict(pairs)
        return super().restored(value)


@dataclass(frozen=True, kw_only=True)
class Record(Flag):
    """Whether to keep the updates of a run, or a Trace that says how many of them."""

    says: str = "True, False or a maxmargin.Trace"
    holds: str = "True, False or a Trace"

    def accepts(self, value: Any) -> bool:
        from maxmargin.problems.trace import Trace

        return isinstance(value, bool | Trace)

    def keeps(self, value: Any) -> bool:
        return self.accepts(value)

    def written(self, value: Any) -> Any:
        return value if isinstance(value, bool) else {"limit": value.limit}

    def restored(self, value: Any) -> Any:
        from maxmargin.problems.trace import Trace

        limit = value.get("limit") if isinstance(value, dict) and len(value) == 1 else None
        return Trace(limit) if type(limit) is int and 2 <= limit < 2**31 else super().restored(value)


@dataclass(frozen=True, kw_only=True)
class Grid(Declaration):
    """How many numbers, or which: all positive and finite."""

    says: str = "a positive whole number, or values that are positive and finite, and at least one"
    holds: str = "a positive whole number or a list of positive numbers"

    def accepts(self, value: Any) -> bool:
        import numpy as np

        if isinstance(value, str | bytes):
            return False
        if isinstance(value, Integral) or is_boolean(value):
            return Integer(default=1).accepts(value)
        values = value if isinstance(value, list | tuple) else np.ravel(value).tolist()
        return len(values) > 0 and all(map(Number(default=1.0).accepts, values))

    def keeps(self, value: Any) -> bool:
        return isinstance(value, int | list) and self.accepts(value)


def is_pair(value: Any) -> bool:
    """A label and something else, as JSON holds them."""
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str | int | float)


def is_word_or_infinity(one: Any, value: Any) -> bool:
    """Whether they are the same word, or both infinite: 1 == True is neither."""
    return bool(value == one) and (isinstance(one, str) or one == math.inf)


def is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def is_boolean(value: Any) -> bool:
    """Python's, or NumPy's."""
    return isinstance(plain(value), bool)


def plain(value: Any) -> Any:
    """Python's own number, boolean or text in place of NumPy's."""
    import numpy as np

    return value.item() if isinstance(value, np.generic) else value


def shown(value: Any) -> str:
    """A value in a sentence, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of more than 4300 digits
        return "so long a number"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def number_in(text: Any) -> Any:
    """The number in a text; what is none stays as it is."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text) if isinstance(text, str) else text
    return text
