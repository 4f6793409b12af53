"""Every message is read as it is meant, or refused with a sentence that names the field."""

import json
import math

import numpy as np
import pytest

from maxmargin.persistence.errors import Refusal
from maxmargin.playground.messages import (
    LARGEST,
    MOST_POINTS,
    field_of,
    plain,
    read_ask,
    read_message,
    return_address,
    text_of,
)

POINTS = [[0, 0, -1], [1.5, 2, 1]]
STATE = {"points": POINTS, "algorithm": "hard_margin", "parameters": {}}
ASK = {"id": 1, "panel": "a", "ask": "answer", "state": STATE}
VIEW = {"left": -1, "right": 2, "bottom": -1, "top": 3}


def test_a_question_is_read():
    ask = read_ask({**ASK, "view": VIEW})
    assert (ask.id, ask.panel, ask.question.value) == (1, "a", "answer")
    assert ask.state.points.tolist() == [[0.0, 0.0], [1.5, 2.0]]
    assert ask.state.signs.tolist() == [-1, 1]
    assert ask.state.algorithm.name == "hard_margin"
    assert ask.given[1] == (-1.0, 2.0, -1.0, 3.0)


def with_state(**changes):
    return {**ASK, "state": {**STATE, **changes}}


def with_points(*points):
    return with_state(points=[*POINTS, *points])


@pytest.mark.parametrize(
    ("message", "field", "words"),
    [
        ({}, "id", "the message has no field 'id'"),
        ({**ASK, "id": True}, "id", "whole number"),
        ({**ASK, "id": 2**60}, "id", "whole number"),
        ({**ASK, "panel": "c"}, "panel", "panel"),
        ({**ASK, "panel": ["a"]}, "panel", "panel"),
        ({**ASK, "ask": "everything"}, "ask", "one of 'answer', 'steps'"),
        ({**ASK, "ask": {}}, "ask", "one of 'answer', 'steps'"),
        ({**ASK, "more": 1}, "message", "the message has a field 'more'"),
        ({**ASK, "state": None}, "state", "object"),
        ({**ASK, "state": {"algorithm": "winnow"}}, "points", "state has no field 'points'"),
        (with_state(more=1), "state", "'more'"),
        (with_state(algorithm="magic"), "algorithm", "one of 'perceptron', "),
        (with_state(algorithm=["perceptron"]), "algorithm", "one of 'perceptron', "),
        (with_state(parameters=[]), "state", "object"),
        (with_state(parameters={"magic": 1}), "state", "no parameter 'magic'"),
        (with_state(parameters={"norm": "l3"}), "norm", "l2, l1"),
        (with_state(points={}), "points", "list"),
        (with_state(points=[]), "points", "Add a point"),
        (with_state(points=[[0, 0, 1]]), "points", "other class"),
        (with_state(points=[[0, 0, 1], [0, 0, -1]]), "points", "spread them out"),
        (with_state(points=[[0, 0, 1]] * (MOST_POINTS + 1)), "points", "501 points are too many"),
        (with_points([1, 2]), "points", "row 2"),
        (with_points([1, 2, 3, 4]), "points", "row 2"),
        (with_points([1, 2, 0]), "points", "row 2 has a label"),
        (with_points([1, "2", 1]), "points", "row 2"),
        (with_points([1, True, 1]), "points", "row 2"),
        (with_points([1, None, 1]), "points", "row 2"),
        (with_points([[1], 2, 1]), "points", "row 2"),
        (with_points([1, 2 * LARGEST, 1]), "points", "too far away"),
        (with_points([10**400, 0, 1]), "points", "too far away"),
        (with_points([math.inf, 0, 1]), "points", "too far away"),
        (with_points([math.nan, 0, 1]), "points", "too far away"),
        ({**ASK, "view": {**VIEW, "top": math.inf}}, "view", "view.top must be a number from"),
        ({**ASK, "view": {"left": 0}}, "view", "view has no field 'right'"),
        ({**ASK, "view": {**VIEW, "more": 0}}, "view", "view has a field 'more'"),
        ({**ASK, "view": [0, 1, 0, 1]}, "view", "an object with fields, not a list of 4"),
        ({**ASK, "view": {**VIEW, "right": -1}}, "view", "wider"),
        ({**ASK, "view": {**VIEW, "top": 1e12}}, "view", "view.top must be a number from -1e+08 to 1e+08"),
        ({**ASK, "view": {**VIEW, "top": 10**400}}, "view", "view.top is too large"),
        ({**ASK, "view": {**VIEW, "top": {"number": "nan"}}}, "view", "view.top must be a number from"),
        ({**ASK, "ask": "challenge"}, "line", "line must be an object"),
        ({**ASK, "ask": "challenge", "line": {"w": [1, 2]}}, "line", "line has no field 'b'"),
        ({**ASK, "ask": "challenge", "line": {"w": [1, "2"], "b": 0}}, "line", "line.w[1] must be a number"),
        ({**ASK, "ask": "challenge", "line": {"points": [[0, 0], [0, 0]]}}, "line", "two different points"),
        ({**ASK, "ask": "challenge", "line": {"points": [[0, 0], [0]]}}, "line", "line.points[1] must be a list of 2"),
        ({**ASK, "ask": "challenge", "line": {"w": [0, 0], "b": 1}}, "line", "zero"),
        ({**ASK, "ask": "challenge", "line": {"w": [1, 1], "b": 1e300}}, "line", "huge"),
        ({**ASK, "ask": "read_csv"}, "text", "text"),
        ({**ASK, "ask": "read_csv", "text": 7}, "text", "text"),
    ],
)
def test_what_is_wrong_is_refused_with_its_field(message, field, words):
    with pytest.raises(Refusal) as refused:
        read_ask(message)
    assert field_of(refused.value) == field
    assert words in str(refused.value)


NO_MESSAGES = ["", "no json", "[]", "7", '"text"', "null", "{", "[" * 100_000, "1" * 10_000, '{"a": 1}{}']


@pytest.mark.parametrize("text", [*NO_MESSAGES, '{"id": NaN}', '{"id": 1, "id": 2}'])
def test_what_is_no_object_is_refused(text):
    with pytest.raises(Refusal) as refused:
        read_message(text)
    assert field_of(refused.value) == "message"


def test_the_return_address_is_as_much_as_can_be_read():
    assert return_address({"id": 7, "panel": "b", "ask": "steps"}) == {"id": 7, "panel": "b", "ask": "steps"}
    assert return_address({"id": "7", "panel": {}, "ask": []}) == {"id": None, "panel": None, "ask": None}


def test_what_goes_out_is_json_as_the_standard_has_it():
    said = {"a": np.arange(2), "b": [np.float64(0.5), np.inf, (np.int64(1), math.nan)], "c": {"d": None, "e": True}}
    assert json.loads(text_of(said)) == {"a": [0, 1], "b": [0.5, None, [1, None]], "c": {"d": None, "e": True}}
    assert plain(np.array([1.0, np.inf])) == [1.0, None]
