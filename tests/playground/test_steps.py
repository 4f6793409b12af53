"""A run that is stepped through is the run of the library, and its arithmetic adds up."""

import itertools
import json

import numpy as np
import pytest
from play_states import BENT, LINEAR, STRAIGHTENED, fitted, name_of, state_of, view_of

from maxmargin.playground.messages import read_state, text_of
from maxmargin.playground.steps import MOST_BENT_STEPS, MOST_STEPS, steps


def stepped(case, preset="separable"):
    state = state_of(case, preset)
    return json.loads(text_of(steps(state, view_of(state)))), fitted(state), state


def cases(*names):
    return pytest.mark.parametrize("case", [case for case in LINEAR if case[0] in names], ids=name_of)


@cases("perceptron", "margin_perceptron")
def test_the_perceptrons_add_one_row_at_a_time(case):
    told, model, state = stepped(case)
    rate, has_bias = state.parameters.get("rate", 1.0), state.parameters["fit_intercept"]
    assert told["kind"] == "updates"
    assert told["total"] == model.n_updates_ == len(told["steps"])
    for one in told["steps"]:
        before, after = one["before"], np.array([*one["w"], one["b"]])
        moved = one["sign"] * rate * np.array([*state.points[one["row"]], 1.0 if has_bias else 0.0])
        np.testing.assert_allclose(after, np.array([*before["w"], before["b"]]) + moved, atol=1e-12)
        value = one["sign"] * (np.dot(before["w"], state.points[one["row"]]) + before["b"])
        if case[0] == "perceptron":
            assert one["violation"] == pytest.approx(value, abs=1e-12)
            assert value <= 0.0
    last = told["steps"][-1]
    np.testing.assert_allclose(last["w"], model.coef_[0], rtol=1e-12)
    np.testing.assert_allclose(last["b"], model.intercept_[0], rtol=1e-12)


def test_steps_of_a_perceptron_follow_on_each_other_and_count_the_weights():
    told, model, _ = stepped(("perceptron", {}))
    for earlier, later in itertools.pairwise(told["steps"]):
        assert later["before"]["w"] == earlier["w"]
        assert later["lines_before"] == earlier["lines"]
    counts = {one["row"]: one["a"] for one in told["steps"][-1]["support"]}
    certificate = model.certificate_
    assert counts == dict(zip(certificate.rows.tolist(), certificate.weights.tolist(), strict=True))


def test_the_margin_perceptron_names_the_guess_of_each_phase():
    told, _, state = stepped(("margin_perceptron", {}))
    longest = float(np.sqrt((state.points**2).sum(axis=1).max() + 1.0))
    begins = [one for one in told["steps"] if not any(one["before"]["w"])]
    assert len(begins) >= 2
    for phase, one in enumerate(begins):
        assert one["arithmetic"][0].startswith(f"G = {longest / 2**phase:.5g}, number {phase + 1} of ")


@cases("winnow")
def test_winnow_multiplies(case):
    told, model, state = stepped(case)
    assert told["total"] == model.n_updates_
    last = told["steps"][-1]
    shown = np.array([*last["w"], last["b"]])
    ours = np.array([*model.coef_[0], model.intercept_[0]])
    np.testing.assert_allclose(shown / np.abs(shown).sum(), ours / np.abs(ours).sum(), rtol=1e-9, atol=1e-12)
    for one in told["steps"]:
        assert one["violation"] <= 1e-12
        assert "^(-a" in one["rule"]
    assert state.algorithm.name == "winnow"


@cases("stochastic_svm")
def test_the_stochastic_visits_end_where_the_fit_ends(case):
    told, model, state = stepped(case)
    assert told["total"] == model.n_iter_ * len(state.points)
    assert len(told["steps"]) == min(told["total"], MOST_STEPS)
    last = told["steps"][-1]
    assert last["number"] == told["total"]
    if not state.parameters["average"]:
        np.testing.assert_allclose(last["w"], model.coef_[0], rtol=1e-9)
        np.testing.assert_allclose(last["b"], model.intercept_[0], rtol=1e-9)
    else:
        assert "mean" in told["words"]


def test_a_visit_shrinks_and_adds():
    told, _, state = stepped(("stochastic_svm", {"max_iter": 2}))
    lam = 1.0 / len(state.points)
    for one in told["steps"]:
        eta, x = 1.0 / (lam * one["number"]), state.points[one["row"]]
        value = one["sign"] * (np.dot(one["before"]["w"], x) + one["before"]["b"])
        assert one["violation"] == pytest.approx(value, abs=1e-9)
        inside = value < 1.0
        expected = (1.0 - eta * lam) * np.array(one["before"]["w"]) + inside * eta * one["sign"] * x
        np.testing.assert_allclose(one["w"], expected, atol=1e-9)
        assert one["b"] == pytest.approx(one["before"]["b"] + inside * min(eta, 1.0) * one["sign"], abs=1e-12)


@pytest.mark.parametrize(
    "case", [case for case in [*BENT, *STRAIGHTENED] if case[0] == "kernel_perceptron"], ids=name_of
)
def test_the_kernel_perceptron_counts_as_the_library_does(case):
    told, model, _ = stepped(case, "rings" if case in BENT else "separable")
    assert told["total"] == model.n_updates_
    counts = {one["row"]: one["a"] for one in told["steps"][-1]["support"]}
    assert counts == dict(zip(model.support_.tolist(), np.abs(model.dual_coef_[0]).tolist(), strict=True))
    assert all(one["violation"] <= 0.0 for one in told["steps"])
    assert len(told["steps"]) <= MOST_BENT_STEPS


@pytest.mark.parametrize("case", [case for case in BENT if case[0] == "stochastic_svm"], ids=name_of)
def test_bent_steps_are_drawn(case):
    told, _, state = stepped(case, "rings")
    assert len(told["steps"]) == MOST_BENT_STEPS
    assert told["steps"][-1]["number"] == told["total"] == state.parameters["max_iter"] * len(state.points)
    assert told["steps"][-1]["lines"]
    assert "evenly" in told["words"]


@pytest.mark.parametrize(
    "case", [("linear_svm", {}), ("linear_svm", {"solver": "coordinate_descent"}), BENT[0], BENT[1]]
)
def test_rounds_close_the_gap(case):
    told, model, _ = stepped(case, "overlapping")
    assert told["kind"] == "rounds"
    primal = [one["primal"] for one in told["steps"]]
    dual = [one["dual"] for one in told["steps"]]
    assert primal == sorted(primal, reverse=True)
    assert dual == sorted(dual)
    certificate = model.certificate_
    assert dual[-1] <= certificate.primal * (1 + 1e-12)
    assert certificate.dual <= primal[-1] * (1 + 1e-12)
    assert all(one["lines"] for one in told["steps"][1:])


@pytest.mark.parametrize("case", [("hard_margin", {"solver": "coordinate_descent"}), ("hard_margin", {"norm": "l1"})])
def test_rounds_of_a_hard_margin(case):
    told, model, _ = stepped(case)
    assert told["steps"]
    last = told["steps"][-1]
    assert last["dual"] <= model.certificate_.primal * (1 + 1e-9)
    assert last["primal"] >= model.certificate_.dual * (1 - 1e-9)


@pytest.mark.parametrize("name", ["perceptron", "hard_margin", "kernel_perceptron", "linear_svm"])
def test_a_run_without_a_plane_ends_with_a_sentence(name):
    parameters = {"kernel": "linear"} if name == "kernel_perceptron" else {"C": "inf"} if name == "linear_svm" else {}
    told, _ = steps_only((name, parameters), "xor"), None
    assert told["words"]
    assert told["steps"]


def steps_only(case, preset):
    state = state_of(case, preset)
    return json.loads(text_of(steps(state, view_of(state))))


def test_a_long_run_is_thinned_evenly_and_says_so():
    told = steps_only(("perceptron", {}), "rings")
    assert len(told["steps"]) <= MOST_STEPS < told["total"]
    assert f"{len(told['steps'])} of {told['total']:,}" in told["words"]
    numbers = [one["number"] for one in told["steps"]]
    assert (numbers[0], numbers[-1], len(numbers)) == (1, told["total"], MOST_STEPS)
    gaps = np.diff(numbers)
    assert gaps.max() - gaps.min() <= 1
    for one in told["steps"]:  # the counts are known at every step, those of the updates between as well
        assert sum(carrying["a"] for carrying in one["support"]) == one["number"]


def test_the_stepped_run_is_the_run_that_is_answered():
    """Winnow on points that no line separates: who looks at its updates must not change when the witness is asked."""
    for case in (("winnow", {}), ("perceptron", {"order": "shuffled"}), ("margin_perceptron", {})):
        told, model, _ = stepped(case, "overlapping")
        assert told["total"] == model.n_updates_ == told["steps"][-1]["number"]


def test_one_mistake_is_one_step():
    state = read_state({"points": [[1.0, 1.0, 1], [-1.0, -1.0, -1]], "algorithm": "perceptron", "parameters": {}})
    told = steps(state, view_of(state))
    assert told["steps"][0]["rule"].startswith("Row 0 is a mistake")
    assert told["steps"][0]["lines_before"] == []


@pytest.mark.parametrize("preset", ["separable", "narrow", "outlier", "rings", "xor"])
def test_a_hard_margin_steps_through_the_corrals_of_the_hulls(preset):
    """Wolfe's algorithm: the row that is farthest inside enters, and the way between the hulls becomes shorter."""
    told, _, state = stepped(("hard_margin", {}), preset)
    assert told["total"] == len(told["steps"]) >= 3
    ways = [np.subtract(*one["nearest"]) for one in told["steps"]]
    assert np.all(np.diff([np.hypot(*way) for way in ways]) < 0.0)
    for one, way in zip(told["steps"], ways, strict=True):
        rows = np.array([entry["row"] for entry in one["support"]])
        a = np.array([entry["a"] for entry in one["support"]])
        for sign, end in zip((1, -1), one["nearest"], strict=True):
            side = state.signs[rows] == sign
            assert a[side].sum() == pytest.approx(1.0, abs=1e-5)
            np.testing.assert_allclose(a[side] @ state.points[rows][side], end, atol=1e-4)
        assert f"corral: row {rows[0]} with" in one["arithmetic"][0]
        if np.hypot(*way) > 1e-9:
            np.testing.assert_allclose(one["w"] / np.linalg.norm(one["w"]), way / np.hypot(*way), atol=1e-9)
    for earlier, later, way in zip(told["steps"], told["steps"][1:], ways, strict=False):
        before = {entry["row"] for entry in earlier["support"]}
        after = {entry["row"] for entry in later["support"]}
        assert after - before == {later["row"]}
        assert f"Row {later['row']} enters the corral" in later["rule"]
        for left in before - after:
            assert f"Row {left} leaves" in later["rule"]
        height = state.signs * (state.points @ way)
        same = state.signs == state.signs[later["row"]]
        assert height[later["row"]] == pytest.approx(height[same].min(), abs=1e-12)


def test_the_last_corral_is_the_answer():
    told, model, _ = stepped(("hard_margin", {}))
    last = told["steps"][-1]
    assert np.hypot(*np.subtract(*last["nearest"])) == pytest.approx(model.street_, rel=1e-9)
    assert {one["row"] for one in last["support"]} == set(model.certificate_.rows.tolist())
    scale = np.linalg.norm(model.coef_[0]) / np.linalg.norm(last["w"])
    np.testing.assert_allclose(np.array(last["w"]) * scale, model.coef_[0], rtol=1e-9)


def test_hulls_that_meet_end_in_the_witness():
    told, _, _ = stepped(("hard_margin", {}), "overlapping")
    p, q = told["steps"][-1]["nearest"]
    np.testing.assert_allclose(p, q, atol=1e-9)
    assert "they meet" in told["steps"][-1]["arithmetic"][2]
    assert told["steps"][-1]["dual"] is None
    assert "the hulls were found to meet" in told["words"]


def test_through_the_origin_the_corral_has_one_hull():
    told, model, _ = stepped(("hard_margin", {"fit_intercept": False}))
    assert all(one["nearest"][1] == [0.0, 0.0] for one in told["steps"])
    assert np.hypot(*told["steps"][-1]["nearest"][0]) == pytest.approx(model.margin_, rel=1e-9)


def test_a_linear_program_is_not_called_wolfe_s():
    told, _, _ = stepped(("hard_margin", {"norm": "l1"}))
    assert all("linear program" in one["rule"] and one["nearest"] is None for one in told["steps"])


SCHEDULES = {
    "pegasos": lambda lam, t, x: 1.0 / (lam * t),
    "damped": lambda lam, t, x: 1.0 / (lam * t + x @ x),
    "1/sqrt(t)": lambda lam, t, x: t**-0.5,
    "1/t": lambda lam, t, x: 1.0 / t,
    0.01: lambda lam, t, x: 0.01,
}


@pytest.mark.parametrize("step", SCHEDULES, ids=str)
def test_every_schedule_of_the_stochastic_subgradient_is_stepped_through(step):
    """w after a visit is (1 - eta lambda) w + eta y x where the row was inside the street."""
    state = state_of(("stochastic_svm", {"step": step, "max_iter": 2, "shuffle": False}))
    told = steps(state, view_of(state))["steps"]
    lam, inside = 1.0 / len(state.points), 0
    for one in told[1:30]:
        x, eta = state.points[one["row"]], SCHEDULES[step](lam, one["number"], state.points[one["row"]])
        pushed = eta * one["sign"] * x if one["violation"] < 1.0 else 0.0
        inside += one["violation"] < 1.0
        np.testing.assert_allclose(one["w"], (1.0 - eta * lam) * np.array(one["before"]["w"]) + pushed, rtol=1e-9)
        [length] = [line for line in one["arithmetic"] if line.startswith("eta")]
        assert float(length.split("= ")[-1]) == pytest.approx(eta, rel=1e-4)
    assert inside > 0


def test_a_damped_step_in_the_space_of_a_kernel():
    state = state_of(("stochastic_svm", {"step": "damped", "kernel": "rbf", "max_iter": 2, "shuffle": False}), "rings")
    third = steps(state, view_of(state))["steps"][2]
    [length] = [line for line in third["arithmetic"] if line.startswith("eta")]
    assert "k(x, x)" in length
    assert float(length.split("= ")[-1]) == pytest.approx(1.0 / (3 / len(state.points) + 1.0), rel=1e-4)
