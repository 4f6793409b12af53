"""Both margins of the points at length 1, the cosine beside a fit, and Winnow's game, with the library's numbers."""

import math

import numpy as np
import pytest
from play_states import state_of, view_of

from maxmargin import HardMarginSVM, Winnow
from maxmargin.persistence.errors import Refusal
from maxmargin.playground.fits import Stopped
from maxmargin.playground.game import game
from maxmargin.playground.many_classes import answer_for_many
from maxmargin.playground.messages import read_ask
from maxmargin.playground.server import reply
from maxmargin.playground.shown import answer
from maxmargin.playground.steps import steps
from maxmargin.playground.two_margins import both_margins


def best_margins(state, bias):
    """g_P and g_W, as hard margins of the lifted rows at length 1."""
    X = np.column_stack([state.points, np.ones(len(state.points))]) if bias else state.points
    l2 = X / np.linalg.norm(X, axis=1, keepdims=True)
    l1 = X / np.abs(X).max(axis=1, keepdims=True)
    return (
        HardMarginSVM(fit_intercept=False).fit(l2, state.signs).margin_,
        HardMarginSVM("l1", fit_intercept=False).fit(l1, state.signs).margin_,
    )


@pytest.mark.parametrize("case", [("perceptron", {}), ("hard_margin", {"fit_intercept": False}), ("kernel_svm", {})])
def test_both_margins_are_those_of_the_rows_at_length_one(case):
    state = state_of(case)
    bias = case[1].get("fit_intercept", True)
    told, (l2, l1) = both_margins(state), best_margins(state, bias)
    assert (told["separable"], told["verified"], told["m"]) == (True, True, 3 if bias else 2)
    for name, best in (("l2", l2), ("l1", l1)):
        assert (told[name]["lower"], told[name]["upper"]) == pytest.approx((best, best), rel=1e-6)
        low, high = map(float, told[name]["words"].split(" … "))
        assert low <= told[name]["lower"] <= told[name]["upper"] <= high
    root = math.sqrt(told["m"])
    assert (told["tie"]["lower"], told["tie"]["upper"]) == pytest.approx((l2 / root, l2 * root), rel=1e-6)
    assert told["tie"]["lower"] <= told["l1"]["lower"] <= told["l1"]["upper"] <= told["tie"]["upper"]
    own = HardMarginSVM(fit_intercept=bias).fit(state.points, state.signs).margin_
    assert (told["own"]["lower"], told["own"]["upper"]) == pytest.approx((own, own), rel=1e-6)
    assert 0.0 < told["l2"]["in_own_space"] <= own
    assert told["l1"]["words"] in " ".join(told["words"])


def test_the_plane_of_the_cosine_has_its_margin_on_the_points_as_they_are():
    state = state_of(("perceptron", {}))
    model = HardMarginSVM(normalize_rows=True).fit(state.points, state.signs)
    w, b = model.coef_[0], model.intercept_[0]
    own = np.min(state.signs * (state.points @ w + b)) / np.linalg.norm(w)
    assert both_margins(state)["l2"]["in_own_space"] == pytest.approx(own, rel=1e-6)


def test_where_no_line_separates_both_are_nothing():
    told = both_margins(state_of(("perceptron", {}), "xor"))
    assert told["separable"] is False
    assert told["verified"] is True
    assert [told[name]["upper"] for name in ("l2", "l1", "tie", "own")] == [0.0] * 4
    assert told["l2"]["in_own_space"] is None
    assert "both margins are 0" in told["words"][-1]


@pytest.mark.parametrize("name", ["perceptron", "margin_perceptron", "winnow", "hard_margin"])
def test_an_answer_has_the_margin_at_length_one_beside_that_of_the_points(name):
    state = state_of((name, {"normalize_rows": True}))
    told, (l2, l1) = answer(state, view_of(state)), best_margins(state, True)
    best = l1 if name == "winnow" else l2
    normalized = told["normalized"]
    assert normalized["norm"] == ("l1" if name == "winnow" else "l2")
    assert normalized["lower"] <= best * (1 + 1e-9)
    assert best * (1 - 1e-9) <= normalized["upper"]
    if name == "hard_margin":
        assert normalized["lower"] == pytest.approx(best, rel=1e-6)
    w, b = np.array(told["plane"]["w"]), told["plane"]["b"]
    size = np.abs(w).sum() if name == "winnow" else np.linalg.norm(w)
    assert told["margin"] == pytest.approx(np.min(state.signs * (state.points @ w + b)) / size)
    plain = state_of((name, {}))
    assert answer(plain, view_of(plain))["normalized"] is None


def test_each_plane_of_three_classes_has_its_own():
    state = state_of(("hard_margin", {"normalize_rows": True, "multi_class": "ovo"}), "three")
    planes = answer_for_many(state, view_of(state))["planes"]
    own = HardMarginSVM(normalize_rows=True, multi_class="ovo").fit(state.points, state.labels).normalized_margin_
    assert [plane["normalized"]["upper"] for plane in planes] == [one.upper for one in own]


@pytest.mark.parametrize("parameters", [{}, {"normalize_rows": True}, {"balanced": False}, {"epsilon": 0.1}], ids=str)
def test_the_game_is_that_of_the_run_and_its_value_the_l1_margin(parameters):
    state = state_of(("winnow", parameters))
    told = game(state)
    own = Winnow(record=True, **parameters).fit(state.points, state.signs).game_
    balanced, normalized = parameters.get("balanced", True), parameters.get("normalize_rows", False)
    names = ["x", "y", "bias", "-x", "-y", "-bias"]
    kept = [i for i, name in enumerate(names) if balanced or name not in ("-x", "-y")]
    assert [one["name"] for one in told["weights"]] == [names[i] for i in kept]
    assert [one["share"] for one in told["weights"]] == pytest.approx(own.strategy[kept].tolist())
    assert sum(one["times"] for one in told["rows"]) == told["rounds"] == own.rounds
    for one in told["rows"]:
        assert one["share"] == pytest.approx(one["times"] / told["rounds"])
    largest = np.maximum(np.abs(state.points).max(axis=1, keepdims=True), 1.0)
    bias = np.ones((len(state.points), 1))
    rows = np.hstack([state.points, bias]) / largest if normalized else state.points / np.abs(state.points).max()
    rows = rows if normalized else np.hstack([rows, bias])
    if balanced:
        best = HardMarginSVM("l1", fit_intercept=False).fit(rows, state.signs).margin_
        assert told["value"]["lower"] <= best * (1 + 1e-9)
        assert best * (1 - 1e-9) <= told["value"]["upper"]
    assert told["regret"]["measured"] <= told["regret"]["bound"]


def test_the_game_is_winnow_s_and_both_are_of_two_classes():
    with pytest.raises(Refusal, match="choose Winnow"):
        game(state_of(("perceptron", {})))
    three = [[0, 0, 1], [1, 0, -1], [0, 1, 2]]
    for ask in ("two_margins", "game"):
        state = {"points": three, "algorithm": "winnow", "parameters": {}}
        with pytest.raises(Refusal, match="two classes"):
            reply(read_ask({"id": 1, "panel": "a", "ask": ask, "state": state}), lambda: False)


def test_what_nobody_waits_for_is_stopped():
    for work in (both_margins, game):
        with pytest.raises(Stopped):
            work(state_of(("winnow", {})), lambda: True)


@pytest.mark.parametrize(("name", "given"), [("margin_perceptron", "guess"), ("winnow", "epsilon")])
def test_each_step_says_to_which_try_of_the_search_it_belongs(name, given):
    state = state_of((name, {}))
    phases = state.algorithm.make({"record": True}).fit(state.points, state.signs).trace_.phases
    for step in steps(state, view_of(state))["steps"]:
        at = max(k for k, phase in enumerate(phases) if phase.first <= step["number"])
        letter = "G" if name == "margin_perceptron" else "epsilon"
        own = f"{letter} = {phases[at].tried:.5g}, number {at + 1} of {len(phases)} that the search tried"
        assert step["arithmetic"][0] == own
    fixed = state_of((name, {given: 0.1}))
    assert "as it was given" in steps(fixed, view_of(fixed))["steps"][0]["arithmetic"][0]
