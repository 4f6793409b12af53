"""Nonsense for an answer is a sentence, at once; odd numbers in the right shape are graded."""

import json
import math

import numpy as np
import pytest
from teaching.library_answers import NAMES, plane

from maxmargin import (
    exercise,
)

NONSENSE = [
    None, "", "street", b"1", 7, -1, True, 1e400, math.nan, [], [[]], [None], {}, {"w": 1}, {1: 2}, [math.inf] * 3,
    ["1/0"], [1 + 2j], [object()], np.zeros((2, 2, 2)), np.array(["a", "b"]), [[1, 2], [3]], {"w": [1, 2], "b": True},
    [10**400, 1], lambda: None, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], range(3), "1" * 100, {"a": {}, "b": []},
    (x for x in [1, 2]), np.arange(5000), [["1", "2"], "nan"], {"rows": ["0"], "w_after": [1]},
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_nonsense_is_a_sentence(name):
    task = exercise(name)
    for answer in NONSENSE:
        grade = task.check(answer)
        assert not grade.right, f"{answer!r}: {grade}"
        assert all(failure.sentence.endswith(".") for failure in grade.failures)
        assert len(str(grade)) < 2000


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0.0, 1e9, -1e9, 1e-300, 5e-324, -1.0])
def test_odd_numbers_in_the_right_shape_are_graded(name, value):
    for seed in (0, 1):
        task = exercise(name, seed)
        given = {
            field.name: np.full([size or 3 for size in field.shape], np.trunc(value) if field.whole else value)
            for field in task.fields
        }
        grade = task.check({key: value if np.ndim(value) else float(value) for key, value in given.items()})
        assert not grade.right or name in ("separate", "mistake bound"), str(grade)
        json.dumps(grade.to_dict(), allow_nan=False)


def test_parts_by_name_by_place_and_by_keyword_are_the_same():
    task = exercise("widest street")
    found = plane(task)
    for grade in (
        task.check(found), task.check([found["w"], found["b"]]), task.check(**found),
        task.check((found["w"].tolist(), str(float(found["b"])))),
    ):  # fmt: skip
        assert grade.right
    assert "b missing" in str(task.check(w=found["w"]))
    assert "c not asked for" in str(task.check(w=found["w"], b=0, c=1))
    assert "3 were given where 2 are needed" in str(task.check(w=[1, 2, 3], b=0))
    assert "at most 1e+09" in str(task.check(w=[1, 1e10], b=0))
    assert "is no number" in str(task.check(w=[1, True], b=0))
    assert "is not whole" in str(exercise("perceptron").check(mistakes=[0.5], w=[1, 2]))


@pytest.mark.parametrize("text", ["1e999999999", "1e-999999999", "1E+10000000", "1e9_999_999"])
def test_a_short_text_of_a_huge_power_is_refused_at_once(text):
    grade = exercise("widest street").check(w=[text, 0], b=0)
    assert not grade.right
    assert "numbers here are finite" in str(grade)
