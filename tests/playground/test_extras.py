"""What is computed when asked for: exact verification, curves, the objective of a line, one multiplier, grades."""

import json

import numpy as np
import pytest
from play_states import fitted, state_of, view_of

from maxmargin import LinearSVM, path
from maxmargin.persistence.errors import Refusal
from maxmargin.playground import curves
from maxmargin.playground.challenge import challenge, objective_of_line
from maxmargin.playground.code import code
from maxmargin.playground.exercises import GivenExercise, graded, listed, names
from maxmargin.playground.fits import Stopped
from maxmargin.playground.messages import read_ask, read_line, text_of
from maxmargin.playground.multiplier import GivenMultiplier, multiplier
from maxmargin.playground.verification import verify

RATIONAL = [
    ("perceptron", {}),
    ("winnow", {}),
    ("hard_margin", {}),
    ("linear_svm", {"C": 0.5, "loss": "squared_hinge"}),
    ("stochastic_svm", {}),
    ("kernel_svm", {"kernel": "poly", "degree": 2, "coef0": 1.0}),
]


@pytest.mark.parametrize("case", RATIONAL, ids=lambda case: case[0])
@pytest.mark.parametrize("preset", ["separable", "overlapping"])
def test_a_proof_is_verified_exactly(case, preset):
    told = verify(state_of(case, preset))
    assert told["holds"] is True
    assert told["exact"] is True
    assert told["words"][0].startswith("Verified in exact rational arithmetic: the ")


def test_a_kernel_without_rational_values_is_checked_in_float64_and_that_is_said():
    told = verify(state_of(("kernel_svm", {"kernel": "rbf"}), "rings"))
    assert (told["holds"], told["exact"]) == (True, False)
    assert "exp of a rational number is none" in told["words"][1]


def test_what_nobody_waits_for_is_stopped():
    state = state_of(("linear_svm", {}))
    for work in (verify, curves.path, curves.loss):
        with pytest.raises(Stopped):
            work(state, lambda: True)


def test_the_loss_is_that_of_the_fit():
    state = state_of(("linear_svm", {"C": 0.5, "loss": "squared_hinge"}), "overlapping")
    told, model = curves.loss(state), fitted(state)
    margins = state.signs * model.decision_function(state.points)
    np.testing.assert_allclose([row["margin"] for row in told["rows"]], margins, rtol=1e-9)
    paid = sum(row["cost"] for row in told["rows"])
    w = model.coef_[0]
    assert 0.5 * w @ w + 0.5 * paid == pytest.approx(model.certificate_.primal, rel=1e-6)
    [own] = [curve for curve in told["curves"] if curve["own"]]
    x, cost = np.array(own["points"]).T
    np.testing.assert_allclose(cost, np.maximum(0.0, 1.0 - x) ** 2, atol=1e-12)


def test_without_a_plane_there_is_no_loss():
    with pytest.raises(Refusal, match="No plane separates the classes"):
        curves.loss(state_of(("hard_margin", {}), "xor"))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber_hinge"])
def test_the_path_is_the_library_s_and_proven(loss):
    parameters = {"C": 2.0, "loss": loss} | ({"huber_width": 0.25} if loss == "huber_hinge" else {})
    state = state_of(("linear_svm", parameters), "separable")
    told = curves.path(state)
    width = parameters.get("huber_width")
    own = path(state.points, state.signs, Cs=20, loss=loss, huber_width=width, tol=1e-4)
    np.testing.assert_allclose([point["C"] for point in told["points"]], own.Cs, rtol=1e-12)
    np.testing.assert_allclose([point["margin"] for point in told["points"]], own.margins, rtol=1e-3)
    assert all(point["proven"] and point["dual"] <= point["primal"] for point in told["points"])
    assert told["here"] == 2.0
    assert (told["end"] is None) == (loss != "hinge")


def test_the_programs_are_those_of_the_state_and_run():
    pytest.importorskip("cvxpy")
    state = state_of(("linear_svm", {"C": 0.5}), "overlapping")
    programs, optimum = code(state)["programs"], LinearSVM(C=0.5, tol=1e-9).fit(state.points, state.signs)
    assert [one["title"] for one in programs] == ["CVXPY, primal", "CVXPY, dual"]
    for one in programs:
        names: dict = {"print": lambda value: None}
        exec(one["text"], names)
        assert names["optimum"] == pytest.approx(optimum.certificate_.primal, rel=1e-5)
        np.testing.assert_allclose(names["w"], optimum.coef_[0], rtol=1e-3)


def test_kernels_have_the_dual_alone_and_perceptrons_no_program():
    [dual] = code(state_of(("kernel_svm", {"kernel": "rbf", "gamma": 0.7})))["programs"]
    assert dual["title"] == "CVXPY, dual"
    assert "np.exp(-0.7 * " in dual["text"]
    assert code(state_of(("perceptron", {})))["programs"] == []
    witness = code(state_of(("hard_margin", {}), "xor"))["programs"]
    assert all("there is no optimum" in one["text"] for one in witness)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "modified_huber"])
def test_the_best_plane_drawn_by_hand_costs_the_least(loss):
    state = state_of(("linear_svm", {"C": 0.3, "loss": loss}), "overlapping")
    best = LinearSVM(C=0.3, loss=loss, tol=1e-9).fit(state.points, state.signs)
    w, b = best.coef_[0], float(best.intercept_[0])
    size = float(np.hypot(*w))
    told = objective_of_line(state, w / size, b / size)
    assert told["scale"] == pytest.approx(size, rel=1e-4)
    assert told["value"] == pytest.approx(best.certificate_.primal, rel=1e-6)
    assert 0.0 <= told["excess"] < 1e-5


def test_no_line_costs_less_than_what_is_proven():
    state, random = state_of(("linear_svm", {"C": 2.0}), "overlapping"), np.random.default_rng(0)
    for _ in range(10):
        line = read_line({"points": random.normal(0.0, 2.0, (2, 2)).tolist()})
        told = challenge(state, line, view_of(state))["objective"]
        w, b = told["scale"] * line.w, told["scale"] * line.b
        cost = [
            0.5 * w @ w + 2.0 * np.maximum(0.0, 1.0 - sign * state.signs * (state.points @ w + b)).sum()
            for sign in (1.0, -1.0)
        ]
        assert told["value"] == pytest.approx(min(cost, key=lambda one: abs(one - told["value"])), rel=1e-9)
        assert told["lower"] <= told["upper"] <= told["value"] * (1 + 1e-9)
        assert told["excess"] == pytest.approx(told["value"] / told["lower"] - 1.0, rel=1e-3)


def test_without_a_price_a_line_has_no_objective():
    state = state_of(("hard_margin", {}))
    assert challenge(state, read_line({"points": [[0, 3], [3, 0]]}), view_of(state))["objective"] is None


def test_the_values_of_the_notes_are_the_saddles():
    """min 0.2 x^2 - x + 1: with x >= 5 the price is the slope 0.4 * 5 - 1, with x >= -3 it is 0 and x = 2.5."""
    for c, x, a, value in ((5.0, 5.0, 1.0, 1.0), (-3.0, 2.5, 0.0, -0.25)):
        told = multiplier(GivenMultiplier(c, x, a))
        assert told["saddle"] == pytest.approx({"x": x, "a": a, "value": value})
        assert all(condition["holds"] for condition in told["conditions"])
        assert told["bounds"]["lower"] == pytest.approx(told["bounds"]["upper"])
        assert "This is the saddle" in told["words"][-1]


def test_any_point_and_any_price_bound_the_optimum():
    for x in (5.0, 6.5, 9.0):
        for a in (0.0, 0.5, 1.7):
            bounds = multiplier(GivenMultiplier(5.0, x, a))["bounds"]
            assert bounds["lower"] <= 1.0 + 1e-12
            assert bounds["upper"] >= 1.0 - 1e-12
    assert multiplier(GivenMultiplier(5.0, 2.0, 0.5))["bounds"]["upper"] is None
    assert multiplier(GivenMultiplier(5.0, 6.0, -0.2))["bounds"]["lower"] is None


@pytest.mark.parametrize("name", names())
def test_every_exercise_comes_with_its_points_and_grades_nonsense(name):
    told = graded(GivenExercise(name, 1, None))
    assert told["grade"] is None
    assert all(point[2] in (1, -1) for point in told["points"] or [])
    answered = graded(GivenExercise(name, 1, {field["name"]: "1/0, nan" for field in told["exercise"]["fields"]}))
    assert answered["grade"]["right"] is False
    assert answered["grade"]["failures"]
    json.loads(text_of(answered))


def test_exercises_are_listed_and_asked_for_by_name():
    assert [one["name"] for one in listed()] == names()
    ask = {"id": 1, "panel": "a", "ask": "exercise"}
    with pytest.raises(Refusal, match="one of 'separate'"):
        read_ask({**ask, "given": {"name": "magic", "seed": 0, "answer": None}})
    with pytest.raises(Refusal, match=r"given\.seed must be a whole number from 0"):
        read_ask({**ask, "given": {"name": "xor", "seed": -1, "answer": None}})
    long = read_ask({**ask, "given": {"name": "xor", "seed": 0, "answer": {"a": "1" * 3000, "b": "0"}}})
    with pytest.raises(Refusal, match="at most 2000 letters"):
        graded(*long.given)


def test_lists_of_lists_are_read():
    """Rows lifted and signed: y (x, 1)."""
    told = graded(GivenExercise("lifting", 0, None))
    data = told["exercise"]["data"]
    X, y = np.array(data["X"]), np.array(data["y"])
    lifted = y[:, None] * np.column_stack([X, np.ones(len(X))])
    text = "; ".join(", ".join(f"{value:g}" for value in row) for row in lifted)
    bracketed = str(lifted.tolist())
    for written in (text, bracketed):
        failures = graded(GivenExercise("lifting", 0, {"lifted": written, "l2": "1", "l1": "1"}))["grade"]["failures"]
        assert "lifted" not in " ".join(failure["condition"] for failure in failures)
        assert "form of the answer" not in [failure["condition"] for failure in failures]
