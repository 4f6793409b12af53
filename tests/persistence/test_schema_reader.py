"""The reader of the schema, with a dataclass of its own: what is written is read again, what is wrong is said."""

import dataclasses
import json
import math
import re
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pytest

from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.schema import (
    RISING,
    Between,
    OneOf,
    Reader,
    Rule,
    Size,
    Stored,
    later,
    without_numpy,
    words_for,
    written,
)


class Colour(Enum):
    RED = "the colour of blood"
    BLUE = "the colour of the sky"


class Pair(NamedTuple):
    left: float
    right: float


@dataclass
class Inner:
    flag: bool
    word: Literal["a", "b"]


POSITIVE_PAIR = Rule("a pair that rises", lambda pair: pair[0] < pair[1])


@dataclass
class Outer:
    count: Annotated[int, Between(1, 2**20), Size("columns")]
    share: Annotated[float, Between(0, 1)]
    price: float
    name: str | None
    names: Annotated[list[str], Size("columns")]
    colours: tuple[Colour, ...]
    pair: Annotated[tuple[int, int], POSITIVE_PAIR]
    inner: Inner
    inners: list[Inner]
    box: Pair
    chosen: list[int] | int
    whatever: Any
    rows: Annotated[np.ndarray, Stored("rows", types=("int64",)), RISING]
    table: Annotated[np.ndarray, Stored("rows", "columns", finite=False, name="the table")]
    shift: Annotated[np.ndarray | None, Stored("columns")]
    since: Annotated[str | None, OneOf(lambda: ["now", "then"])] = later(None)

    def __post_init__(self):
        if self.name == self.names[0]:
            raise Refusal("'name' must be none of 'names'")


def outer(**changes):
    usual = Outer(
        2, 0.5, math.inf, None, ["x", "y"], (Colour.RED, Colour.BLUE), (1, 3), Inner(True, "a"),
        [Inner(False, "b")], Pair(1.0, 2.0), [1, 2], {"free": [1]},
        np.array([0, 4]), np.array([[1.0, math.nan], [0.0, 1.0]]), None,
    )  # fmt: skip
    return dataclasses.replace(usual, **changes)


def as_read(document, arrays):
    return Reader(dict(arrays)).value(Outer, document, "")


@pytest.mark.parametrize(
    "given", [outer(), outer(shift=np.array([1.0, 2.0]), since="then", price=-0.0, name="z", chosen=7)]
)
def test_what_is_written_is_read_again(given):
    arrays = {}
    document = written(given, arrays)
    assert set(arrays) == {"rows", "the table", "shift"} - ({"shift"} if given.shift is None else set())
    assert ("since" in document) == (given.since is not None)
    again = as_read(json.loads(json.dumps(document, allow_nan=False)), arrays)
    for one in dataclasses.fields(Outer):
        np.testing.assert_equal(getattr(again, one.name), getattr(given, one.name))
        assert type(getattr(again, one.name)) is type(getattr(given, one.name))


def test_numbers_of_numpy_and_numbers_that_json_does_not_know_are_written():
    assert written([np.float64(0.1), np.int64(3), np.True_, -math.inf, (Colour.RED,)], {}) == [
        0.1, 3, True, {"number": "-inf"}, ["RED"],
    ]  # fmt: skip
    assert without_numpy((np.float32(0.5), np.arange(2), {np.int64(1): np.float64(2.0)})) == [0.5, [0, 1], {1: 2.0}]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"count": 0}, "count must be a whole number from 1 to 2^20, not 0"),
        ({"count": True}, "count must be a whole number from 1 to 2^20, not True"),
        ({"share": 1.5}, "share must be a number from 0 to 1, not 1.5"),
        ({"share": {"number": "nan"}}, "share must be a number from 0 to 1, not an object"),
        ({"price": 10**400}, "price is too large for 64 bits"),
        ({"name": 7}, "name must be a short text, not 7"),
        ({"name": "x"}, "the document: 'name' must be none of 'names'"),
        ({"names": ["x"]}, "names must be a list of 2, one for each of the columns, not a list of 1"),
        ({"names": ["x", None]}, "names[1] must be a short text, not None"),
        ({"colours": ["RED", "GREEN"]}, "colours[1] must be one of 'RED', 'BLUE', not 'GREEN'"),
        ({"pair": [1]}, "pair must be a pair that rises, not a list of 1"),
        ({"pair": [3, 1]}, "pair must be a pair that rises, not a list of 2"),
        ({"pair": [1, -3]}, "pair[1] must be a whole number from 0 to 2^62, not -3"),
        ({"inner": {"flag": True}}, "inner has no field 'word'"),
        ({"inner": {"flag": 1, "word": "a"}}, "inner.flag must be true or false, not 1"),
        ({"inners": [{"flag": True, "word": "c"}]}, "inners[0].word must be one of 'a', 'b', not 'c'"),
        ({"box": {"left": 0, "right": 1, "top": 2}}, "box has a field 'top', which this version does not know"),
        ({"chosen": "all"}, "chosen must be a list or a whole number from 0 to 2^62, not 'all'"),
        ({"since": None}, "since must be one of 'now', 'then', not None"),
        ({"since": "y" * 90}, f"since must be one of 'now', 'then', not '{'y' * 56}..."),
    ],
)
def test_sentences(change, sentence):
    arrays = {}
    document = written(outer(), arrays) | change
    with pytest.raises(Refusal) as refusal:
        as_read(document, arrays)
    assert str(refusal.value) == sentence
    assert re.findall(r"\w+", refusal.value.place)[:1] in ([], list(change))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rows": np.array([0.0, 1.0])}, "the array 'rows' is of type float64, where int64 is needed"),
        ({"rows": np.array([4, 4])}, "the array 'rows' must be numbers that rise"),
        ({"the table": np.zeros((2, 3))}, "the array 'the table' has the shape (2, 3), where 2 x 2 is needed"),
        ({"the table": np.zeros(2)}, "the array 'the table' has the shape (2,), where 2 x 2 is needed"),
        ({"shift": np.array([0.0, math.inf])}, "the array 'shift' holds NaN or infinity"),
    ],
)
def test_sentences_about_arrays(change, sentence):
    arrays = {}
    document = written(outer(), arrays)
    with pytest.raises(Refusal, match=re.escape(sentence)):
        as_read(document, arrays | change)
    with pytest.raises(Refusal, match="the array 'rows' is missing"):
        as_read(document, {})


def test_arrays_that_nobody_takes_are_refused():
    reader = Reader({"own": np.zeros(2), "more": np.zeros(1)})
    assert reader.array("own", Stored("any")).shape == (2,)
    assert reader.sizes == {"any": 2}
    with pytest.raises(Refusal, match="there is an array 'more', which does not belong to this model"):
        reader.close()


def test_an_error_within_a_block_is_not_hidden_by_what_is_left():
    with pytest.raises(ZeroDivisionError), Reader().fields({"left": 1}):
        raise ZeroDivisionError


def test_words():
    assert words_for(bool | None, {}) == "true or false or null"
    assert words_for(Literal["estimator"], {}) == "'estimator'"
    assert words_for(Annotated[float, Between(-(2**53), 2**53)], {}) == "a number from -2^53 to 2^53"
    assert words_for(dict[str, Any], {}) == "an object with fields"
    assert words_for(Annotated[list[int], Size("planes")], {}) == "a list"
