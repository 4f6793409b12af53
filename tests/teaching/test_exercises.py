"""Exercises: what the library answers is right, in three digits too; the same seed, the same data."""

import html
import json
import re

import numpy as np
import pytest
from teaching.library_answers import ANSWERS, NAMES, SEEDS

from maxmargin import (
    Exercise,
    exercise,
    exercises,
)
from maxmargin.teaching import exercise as registry


def test_every_exercise_has_an_answer_here():
    assert set(ANSWERS) == set(NAMES)
    assert [entry.number for entry in exercises()] == list(range(1, len(NAMES) + 1))
    assert len(NAMES) >= 15


@pytest.mark.parametrize("name", NAMES)
def test_what_the_library_answers_is_right(name):
    for seed in SEEDS:
        task = exercise(name, seed)
        grade = task.check(ANSWERS[name](task))
        assert grade.right, f"seed {seed}: {grade}"
        assert grade
        assert not grade.failures
        assert grade.proven
        assert grade.lower <= grade.upper


def three_digits(value):
    if isinstance(value, dict):
        return {key: three_digits(entry) for key, entry in value.items()}
    if np.ndim(value):
        return [three_digits(entry) for entry in value]
    return value if isinstance(value, np.integer) else float(f"{value:.3g}")


@pytest.mark.parametrize("name", NAMES)
def test_three_digits_are_enough(name):
    for seed in SEEDS:
        task = exercise(name, seed)
        grade = task.check(three_digits(ANSWERS[name](task)))
        assert grade.right, f"seed {seed}: {grade}"


def test_the_same_seed_gives_the_same_data_and_another_one_others():
    for name in NAMES:
        first, again = exercise(name, 5), exercise(name, 5)
        assert first.to_dict() == again.to_dict()
        assert any(exercise(name, seed).to_dict()["data"] != first.to_dict()["data"] for seed in range(5))
        assert json.loads(json.dumps(first.to_dict(), allow_nan=False))["name"] == name
        assert str(first).startswith(f"Exercise {first.number}, {name}")


def test_data_are_small_and_whole():
    for name in NAMES:
        for seed in SEEDS:
            data = exercise(name, seed).data
            if "X" in data:
                assert data["X"].shape[0] <= 8
                assert np.abs(data["X"]).max() <= 20
                assert np.array_equal(data["X"], np.round(data["X"]))
                assert set(data["y"]) == {-1.0, 1.0}
                assert len(np.unique(data["X"], axis=0)) == len(data["y"])


def test_by_number_or_name():
    assert exercise(1).name == exercise("separate").name == "separate"
    assert exercise(np.int64(2)).number == 2
    for unknown in (0, -1, 99, "nothing", None, 1.5, True):
        with pytest.raises(ValueError, match="there is no exercise"):
            exercise(unknown)
    for seed in (-1, 1.5, True, None):
        with pytest.raises(ValueError, match="seed must be"):
            exercise(1, seed)
    with pytest.raises(AttributeError, match="it has X, y"):
        _ = exercise(1).Z


def test_a_new_exercise_is_one_function(monkeypatch):
    monkeypatch.setattr(registry, "ENTRIES", dict(registry.ENTRIES))

    @registry.register("mine", "One of my own")
    def mine(variant):
        def grade(n):
            return registry.Grade(n == variant.seed)

        return registry.Task("Which seed?", {}, (registry.Field("n", whole=True),), grade)

    task = registry.made(registry.ENTRIES["mine"], 4)
    assert isinstance(task, Exercise)
    assert task.number == len(NAMES) + 1
    assert task.check(4)
    assert not task.check(5)
    with pytest.raises(ValueError, match="already"):
        registry.register("mine", "again")(mine)


def test_in_a_notebook_the_same_is_said_and_escaped():
    task = exercise("widest street")
    grade = task.check(w=["<b>", 0], b=0)
    for shown in (task, grade):
        text = re.sub(r"<[^>]*>", " ", shown._repr_html_())
        assert html.unescape(text).split() == str(shown).split()
    assert "&lt;b&gt;" in grade._repr_html_()
