"""What the page is told is what the library says."""

import itertools
import json
import math

import numpy as np
import pytest
from play_states import BENT, LINEAR, STRAIGHTENED, fitted, name_of, state_of, view_of

from maxmargin import HardMarginSVM, LinearSVM
from maxmargin.playground.messages import read_state, text_of
from maxmargin.playground.shown import answer

EXACTLY = {"rtol": 1e-12, "atol": 1e-12}


def answered(case, preset="separable"):
    """The answer as the page reads it, and the library's own."""
    state = state_of(case, preset)
    return json.loads(text_of(answer(state, view_of(state)))), fitted(state), state


@pytest.mark.parametrize("case", LINEAR, ids=name_of)
def test_the_plane_is_the_library_s(case):
    told, model, state = answered(case)
    np.testing.assert_allclose(told["plane"]["w"], model.coef_[0], **EXACTLY)
    np.testing.assert_allclose(told["plane"]["b"], model.intercept_[0], **EXACTLY)
    np.testing.assert_allclose([told["margin"], told["street"]], [model.margin_, model.street_], **EXACTLY)
    values = state.signs * (state.points @ model.coef_[0] + model.intercept_[0])
    assert told["mistakes"] == np.flatnonzero(values <= 0).tolist()
    for level, sign in (("minus", -1), ("zero", 0), ("plus", 1)):
        for line in told["lines"][level]:
            on_line = np.array(line) @ model.coef_[0] + model.intercept_[0]
            np.testing.assert_allclose(on_line, sign * told["reach"], atol=1e-9)
    corners = np.array(told["street_area"]) @ model.coef_[0] + model.intercept_[0]
    assert np.all(np.abs(corners) <= told["reach"] * (1 + 1e-9))
    assert told["field"] is None


@pytest.mark.parametrize("case", [*LINEAR, *BENT, *STRAIGHTENED], ids=name_of)
def test_the_proof_is_the_certificate_s(case):
    told, model, _ = answered(case)
    certificate, proof = model.certificate_, told["certificate"]
    assert proof["verdict"] == certificate.verdict.name
    assert proof["words"][0] == certificate.verdict.value
    about_margin = proof["quantity"] == "margin"
    bounds = ("margin_lower", "margin_upper") if about_margin else ("dual", "primal")
    np.testing.assert_allclose(
        [proof["lower"], proof["upper"]], [getattr(certificate, one) for one in bounds], **EXACTLY
    )
    np.testing.assert_allclose(proof["gap"], certificate.relative_gap, **EXACTLY)
    assert float(proof["lower_words"]) <= proof["lower"]
    assert float(proof["upper_words"]) >= proof["upper"]
    assert told["status"]["name"] == model.status_.name
    assert [one["count"] for one in told["theorems"]] == [one.measured for one in getattr(certificate, "theorems", ())]
    if certificate.kkt is not None:
        assert {one["condition"]: one["value"] for one in told["kkt"]} == {
            name: violation.value for name, violation in vars(certificate.kkt).items()
        }
    weights = {one["row"]: one["a"] for one in told["support"]}
    if hasattr(model, "dual_coef_"):
        expected = dict(zip(model.support_.tolist(), np.abs(model.dual_coef_[0]).tolist(), strict=True))
        assert weights == pytest.approx(expected, rel=1e-12)
    else:
        assert sorted(weights) == sorted(certificate.rows.tolist())


@pytest.mark.parametrize("case", BENT, ids=name_of)
def test_a_bent_boundary_is_where_the_library_s_values_are(case):
    told, model, _ = answered(case, "rings")
    assert told["plane"] is None
    assert told["lines"]["zero"]
    largest = max(abs(value) for value in told["field"]["values"])
    for level, sign in (("minus", -1), ("zero", 0), ("plus", 1)):
        for line in told["lines"][level]:
            on_line = model.decision_function(line)
            np.testing.assert_allclose(on_line, sign * told["reach"], atol=1e-6 * largest)
    assert len(told["field"]["values"]) == told["field"]["rows"] * told["field"]["columns"]


def test_each_shade_is_that_of_its_place_on_an_even_grid():
    state = state_of(("kernel_svm", {}), "rings")
    view = view_of(state)
    field = answer(state, view)["field"]
    across = np.linspace(view.left, view.right, field["columns"])
    up = np.linspace(view.bottom, view.top, field["rows"])
    places = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    own = fitted(state).decision_function(places)
    np.testing.assert_allclose(field["values"], own, rtol=2e-3, atol=1e-6)


def test_the_field_covers_the_view_row_by_row_from_the_bottom():
    told, model, state = answered(BENT[0], "rings")
    view, field = view_of(state), told["field"]
    corners = [[view.left, view.bottom], [view.right, view.bottom], [view.left, view.top], [view.right, view.top]]
    told_there = [field["values"][at] for at in (0, field["columns"] - 1, -field["columns"], -1)]
    np.testing.assert_allclose(told_there, model.decision_function(corners), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("case", STRAIGHTENED, ids=name_of)
def test_a_linear_kernel_has_a_plane(case):
    told, model, state = answered(case)
    np.testing.assert_allclose(
        state.points @ told["plane"]["w"] + told["plane"]["b"], model.decision_function(state.points), atol=1e-9
    )


def test_slack_leads_from_each_point_to_its_edge():
    told, model, state = answered(("linear_svm", {"C": 1.0}), "overlapping")
    slack = model.slack(state.points, state.signs)
    assert {one["row"] for one in told["slack"]} == set(np.flatnonzero(slack > 1e-6).tolist())
    for one in told["slack"]:
        assert one["xi"] == pytest.approx(slack[one["row"]], abs=1e-12)
        assert one["from"] == state.points[one["row"]].tolist()
        assert model.decision_function([one["to"]])[0] == pytest.approx(state.signs[one["row"]], abs=1e-9)
    bounded = {one["row"] for one in told["support"] if one["bounded"]}
    assert bounded == set(model.support_[model.bounded_[0]].tolist())


def test_the_nearest_points_of_the_hulls_are_as_far_apart_as_the_street_is_wide():
    told, model, _ = answered(("hard_margin", {}))
    p, q = np.array(told["hulls"]["nearest"])
    assert np.hypot(*(p - q)) == pytest.approx(told["hulls"]["distance"], rel=1e-12)
    assert told["hulls"]["distance"] == pytest.approx(model.street_, rel=1e-9)
    assert told["hulls"]["witness"] is None
    assert told["rounds"][-1]["primal"] == pytest.approx(told["rounds"][-1]["dual"], rel=1e-9)


def test_through_the_origin_there_is_one_hull():
    told, model, _ = answered(("hard_margin", {"fit_intercept": False}))
    hulls = told["hulls"]
    assert hulls["positive"] is hulls["negative"] is None
    assert len(hulls["mirrored"]) >= 3
    assert hulls["nearest"][1] == [0.0, 0.0]
    assert hulls["distance"] == pytest.approx(model.margin_, rel=1e-9)


@pytest.mark.parametrize(
    "case", [("hard_margin", {}), ("perceptron", {}), ("winnow", {}), ("linear_svm", {"C": "inf"})]
)
@pytest.mark.parametrize("preset", ["xor", "overlapping"])
def test_where_no_line_separates_the_witness_is_shown(case, preset):
    state = state_of(case, preset)
    told = json.loads(text_of(answer(state, view_of(state))))
    assert told["certificate"]["verdict"] == "NOT_SEPARABLE"
    assert told["certificate"]["proven"]
    assert told["margin"] is None
    witness = told["hulls"]["witness"]
    rows, weights = np.array(witness["rows"]), np.array(witness["weights"])
    assert len(rows) <= 4
    assert weights @ state.signs[rows] / weights.sum() == pytest.approx(0.0, abs=1e-9)
    for sign in (1, -1):
        side = state.signs[rows] == sign
        there = weights[side] @ state.points[rows][side] / weights[side].sum()
        np.testing.assert_allclose(there, witness["at"], atol=1e-9)
    if case[0] in ("hard_margin", "linear_svm"):
        assert told["plane"] is None


def test_a_kernel_without_a_plane_names_its_witness():
    state = state_of(("kernel_svm", {"C": "inf", "kernel": "linear"}), "xor")
    told = answer(state, view_of(state))
    assert told["certificate"]["verdict"] == "NOT_SEPARABLE"
    assert told["plane"] is None
    assert told["support"]


@pytest.mark.parametrize(
    "case", [("linear_svm", {}), ("kernel_svm", {}), ("linear_svm", {"solver": "coordinate_descent"})]
)
def test_the_values_close_round_by_round(case):
    told, model, _ = answered(case, "overlapping")
    rounds = told["rounds"]
    assert len(rounds) >= 2
    primal, dual = [one["primal"] for one in rounds], [one["dual"] for one in rounds]
    assert np.all(np.array(dual) <= np.array(primal))
    assert primal[-1] == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert dual[-1] == pytest.approx(model.certificate_.dual, rel=1e-12)
    assert all(earlier["round"] < later["round"] for earlier, later in itertools.pairwise(rounds))


def test_equal_points_of_both_classes_are_answered():
    points = [[0.0, 1.0, 1], [0.0, 1.0, -1], [1.0, 1.0, 1]]
    for name in (
        "hard_margin",
        "linear_svm",
        "perceptron",
        "kernel_svm",
        "kernel_perceptron",
        "stochastic_svm",
        "winnow",
    ):
        state = read_state({"points": points, "algorithm": name, "parameters": {}})
        assert json.loads(text_of(answer(state, view_of(state))))["certificate"]["words"]


def test_numbers_of_the_page_are_those_of_a_program():
    state = state_of(("hard_margin", {}))
    model = HardMarginSVM().fit(state.points, state.signs)
    assert answer(state, view_of(state))["margin"] == model.margin_
    soft = state_of(("linear_svm", {"C": 10.0}))
    model = LinearSVM(C=10.0, tol=1e-6).fit(soft.points, soft.signs)
    assert answer(soft, view_of(soft))["margin"] == model.margin_ < math.inf


@pytest.mark.parametrize("case", [*LINEAR, *BENT, *STRAIGHTENED], ids=name_of)
def test_a_margin_is_printed_within_its_bounds_as_they_are_printed(case):
    told, _, _ = answered(case)
    proof, words = told["certificate"], told["margin_words"]
    assert float(words) == pytest.approx(told["margin"], rel=1e-3)
    assert float(told["street_words"]) == pytest.approx(told["street"], rel=1e-3)
    if proof["quantity"] == "margin":
        low, high = float(proof["lower_words"]), float(proof["upper_words"])
        assert low <= float(words) <= high
        assert 2 * low <= float(told["street_words"]) <= 2 * high
    assert float(told["values"]["primal"]) >= told["rounds"][-1]["primal"] if told["rounds"] else True
    assert float(told["values"]["dual"]) <= float(told["values"]["primal"])


def test_a_margin_of_0_60002_is_not_printed_as_0_6():
    told, model, _ = answered(("hard_margin", {}))
    assert f"{model.margin_:.4g}" == "0.6"
    assert (told["margin_words"], told["certificate"]["lower_words"]) == ("0.60002", "0.60002")


def reasons(told):
    rows = told["rows"]
    return [rows["reasons"][why] for why in rows["why"]]


def test_each_row_of_a_soft_margin_has_its_distance_slack_and_reason():
    told, model, state = answered(("linear_svm", {}), "overlapping")
    own = state.signs * model.decision_function(state.points)
    np.testing.assert_allclose(told["rows"]["distances"], own / np.linalg.norm(model.coef_[0]), rtol=1e-5)
    np.testing.assert_allclose(told["rows"]["slack"], np.maximum(0.0, 1.0 - own), rtol=1e-5, atol=2e-6)
    carrying, full = set(model.support_.tolist()), set(model.support_[model.bounded_[0]].tolist())
    for row, why in enumerate(reasons(told)):
        if row not in carrying:
            assert why.startswith("No support vector"), row
            assert own[row] >= 1.0 - 1e-4
        elif row not in full:
            assert "on its edge" in why, row
            assert own[row] == pytest.approx(1.0, abs=1e-3)
        else:
            assert ("on the wrong side" if own[row] <= 0.0 else "inside the street") in why, row
            assert own[row] < 1.0


def test_a_row_on_the_edge_without_weight_is_no_support_vector():
    points = [[-1.0, 0.0, -1], [-1.0, 2.0, -1], [-1.0, 1.0, -1], [1.0, 1.0, 1], [3.0, 1.0, 1]]
    state = read_state({"points": points, "algorithm": "hard_margin", "parameters": {}})
    told = json.loads(text_of(answer(state, view_of(state))))
    np.testing.assert_allclose(told["rows"]["distances"], [1.0, 1.0, 1.0, 1.0, 3.0], atol=1e-6)
    assert told["rows"]["slack"] is None
    carrying = {one["row"] for one in told["support"]}
    found = reasons(told)
    assert found[3].startswith("A support vector")
    assert found[4].startswith("No support vector")
    for row in (0, 1, 2):
        assert found[row].startswith("A support vector" if row in carrying else "It lies on its edge")
    assert len(carrying) < 4


def test_rows_of_a_witness_and_rows_that_moved_a_perceptron():
    told, _, _ = answered(("perceptron", {}), "xor")
    parts = {row for row, why in enumerate(reasons(told)) if why.startswith("Part of the witness")}
    assert parts == set(told["hulls"]["witness"]["rows"])
    told, model, _ = answered(("perceptron", {}))
    moved = {row for row, why in enumerate(reasons(told)) if why.startswith("It carries weight")}
    assert moved == set(model.certificate_.rows.tolist())


@pytest.mark.parametrize("case", [case for case in BENT if case[0] == "kernel_svm"], ids=name_of)
def test_a_distance_in_the_space_of_a_kernel_is_the_margin_on_the_edge(case):
    told, model, state = answered(case, "rings")
    own = state.signs * model.decision_function(state.points)
    np.testing.assert_allclose(told["rows"]["distances"], own / told["reach"] * told["margin"], rtol=1e-3, atol=1e-6)
