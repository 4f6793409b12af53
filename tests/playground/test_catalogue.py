"""What the page offers can be asked for, and shows what it says."""

import json
import math

import pytest

import maxmargin
from maxmargin.persistence.errors import Refusal
from maxmargin.playground.answers import catalogue
from maxmargin.playground.catalogue import ALGORITHMS, value_read
from maxmargin.playground.fits import all_choices, key_of
from maxmargin.playground.lessons import lessons
from maxmargin.playground.messages import MOST_POINTS, read_state, read_view, text_of
from maxmargin.playground.presets import presets
from maxmargin.problems.losses import LOSSES

each_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=list(ALGORITHMS))
each_lesson = pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson["name"])


def test_every_algorithm_of_the_library_is_there():
    found = {algorithm.estimator for algorithm in ALGORITHMS.values()}
    named = {name for name in maxmargin.__all__ if name.endswith(("SVM", "Perceptron", "Winnow"))}
    assert found == named


@each_algorithm
def test_parameters_are_those_of_the_estimator(algorithm):
    known = getattr(maxmargin, algorithm.estimator)().get_params()
    for parameter in algorithm.parameters:
        assert parameter.name in known
        assert parameter.default == algorithm.defaults.get(parameter.name, known[parameter.name])
        assert parameter.help.endswith(".")


@each_algorithm
def test_ends_of_ranges_and_all_choices_are_taken(algorithm):
    for parameter in algorithm.parameters:
        values = [value for value, _ in (*parameter.choices, *parameter.also)]
        values += [parameter.low, parameter.high] if parameter.kind in ("log", "linear", "integer") else []
        values += [True, False] if parameter.kind == "switch" else []
        for value in values:
            value_read(parameter, value)
        for wrong in ("no such thing", [], {}, 1e99, -1e99, math.nan):
            with pytest.raises(Refusal) as refused:
                algorithm.read({parameter.name: wrong})
            assert refused.value.place == parameter.name


def test_a_parameter_that_has_no_meaning_is_left_out():
    kernel = ALGORITHMS["kernel_svm"]
    assert "degree" not in kernel.read({"kernel": "rbf"})
    assert "gamma" not in kernel.read({"kernel": "linear"})
    assert "fit_intercept" not in ALGORITHMS["stochastic_svm"].read({"kernel": "rbf", "fit_intercept": False})


def test_the_catalogue_is_json_and_complete():
    told = json.loads(text_of(catalogue()))
    assert [one["name"] for one in told["algorithms"]] == list(ALGORITHMS)
    assert len(told["lessons"]) == 10
    assert len(told["exercises"]) == 17
    assert len(told["presets"]) == 7
    assert told["limits"]["points"] == MOST_POINTS
    assert told["version"] == maxmargin.__version__


@pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset["name"])
def test_presets_are_what_they_are_called(preset):
    points = [list(point) for point in preset["points"]]
    state = read_state({"points": points, "algorithm": "hard_margin", "parameters": {}})
    certificate = maxmargin.separability(state.points, state.signs)
    assert certificate.is_separable == (preset["name"] in ("separable", "narrow", "outlier", "three"))
    widths = {"separable": (1.1, 1.3), "narrow": (0.1, 0.2), "outlier": (0.1, 0.6)}
    if preset["name"] in widths:
        narrowest, widest = widths[preset["name"]]
        assert narrowest < 2.0 * certificate.margin_lower < widest


@each_lesson
def test_lessons_are_states_that_can_be_asked(lesson):
    state = read_state(lesson["state"])
    read_view(None, state.points)
    assert len(lesson["sentences"]) == 3
    assert all(sentence.endswith(".") for sentence in [*lesson["sentences"], lesson["answer"]])
    assert lesson["question"].endswith("?")
    assert lesson["mode"] in ("answer", "steps", "challenge", "multiplier")
    if lesson["b"] is not None:
        read_state({**lesson["state"], **lesson["b"]})


def test_every_choice_is_kept_warm():
    keys = {key_of(algorithm, parameters) for algorithm, parameters in all_choices()}
    assert {key[0] for key in keys} == set(ALGORITHMS)
    finite_or_not, solvers = 2, 2
    assert sum(key[0] == "linear_svm" for key in keys) == finite_or_not * len(LOSSES) * solvers
