"""Three classes: each plane is drawn and proven as the library's, in the rows of the page."""

import numpy as np
import pytest
from play_states import fitted, state_of, view_of

from maxmargin.persistence.errors import Refusal
from maxmargin.playground.catalogue import ALGORITHMS
from maxmargin.playground.code import code
from maxmargin.playground.many_classes import answer_for_many
from maxmargin.playground.messages import read_ask, read_state, text_of
from maxmargin.playground.server import reply
from maxmargin.playground.verification import verify

NAMES = {1: "circles", -1: "squares", 2: "triangles", None: "the rest"}
STRATEGIES = ["ovr", "ovo"]


def three(algorithm, strategy, **parameters):
    return state_of((algorithm, {**parameters, "multi_class": strategy}), "three")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_each_plane_is_the_library_s(algorithm, strategy):
    state = three(algorithm, strategy)
    told, model = answer_for_many(state, view_of(state)), fitted(state)
    assert told["classes"].tolist() == [-1, 1, 2]
    assert len(told["planes"]) == len(model.certificate_.parts) == 3
    for k, (plane, part) in enumerate(zip(told["planes"], model.certificate_.parts, strict=True)):
        assert plane["title"] == f"{NAMES[part.positive]} against {NAMES[part.negative]}"
        assert plane["certificate"]["verdict"] == part.verdict.name
        members = (state.labels == part.positive) | (part.negative is None) | (state.labels == part.negative)
        support = {entry["row"]: entry["a"] for entry in plane["support"]}
        assert all(members[row] for row in support)
        if plane["plane"] is not None:
            direction = np.append(plane["plane"]["w"], plane["plane"]["b"])
            if hasattr(model, "coef_"):
                np.testing.assert_allclose(direction, [*model.coef_[k], model.intercept_[k]], rtol=1e-9)
        if hasattr(model, "dual_coef_"):
            own = {int(row): abs(a) for row, a in zip(model.support_, model.dual_coef_[k], strict=True) if a != 0.0}
            assert support == pytest.approx(own, rel=1e-9)
        assert plane["margin"] == pytest.approx(float(np.ravel(model.margin_)[k]), rel=1e-9)
    np.testing.assert_array_equal(told["mistakes"], np.flatnonzero(model.predict(state.points) != state.labels))
    text_of(told)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_regions_are_the_predictions(strategy):
    state = three("linear_svm", strategy)
    view = view_of(state)
    field = answer_for_many(state, view)["field"]
    columns, rows = np.meshgrid(
        np.linspace(view.left, view.right, field["columns"]), np.linspace(view.bottom, view.top, field["rows"])
    )
    places = np.column_stack([columns.ravel(), rows.ravel()])
    np.testing.assert_array_equal(field["labels"], fitted(state).predict(places))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_all_planes_are_verified_exactly_by_their_names(strategy):
    told = verify(three("linear_svm", strategy))
    assert (told["holds"], told["exact"]) == (True, True)
    assert "circles against" in told["words"][0]
    assert "[" not in told["words"][0]


def test_a_pair_that_no_plane_separates_has_its_witness_in_rows_of_the_page():
    """Triangles among the squares: the pair squares and triangles has a witness, the two others have a plane."""
    points = [[-3, 0, 1], [-3, 1, 1], [-4, 2, 1], [0, 0, -1], [2, 0, -1], [1, 2, -1], [1, 0.5, 2], [1.2, 0.6, 2]]
    parameters = {"multi_class": "ovo"}
    state = read_state({"points": points, "algorithm": "hard_margin", "parameters": parameters})
    told = answer_for_many(state, view_of(state))
    witnesses = [plane["hulls"]["witness"] for plane in told["planes"]]
    assert [witness is None for witness in witnesses] == [True, False, True]
    rows, weights = witnesses[1]["rows"], np.array(witnesses[1]["weights"])
    labels = state.labels[rows]
    assert set(labels) == {-1, 2}
    signed = np.where(labels == -1, weights, -weights)
    lifted = np.column_stack([state.points[rows], np.ones(len(rows))])
    np.testing.assert_allclose(signed @ lifted, 0.0, atol=1e-9)
    assert [entry["row"] for entry in told["planes"][1]["support"]] == rows.tolist()


def test_what_is_for_two_classes_says_so():
    state = {"points": [[0, 0, 1], [3, 0, -1], [0, 3, 2]], "algorithm": "linear_svm", "parameters": {}}
    ask = {"id": 1, "panel": "a", "state": state, "line": {"points": [[0, 1], [1, 0]]}}
    for kind in ("challenge", "loss", "path"):
        with pytest.raises(Refusal, match="two classes"):
            reply(read_ask({**ask, "ask": kind}), lambda: False)
    told = reply(read_ask({**ask, "ask": "steps"}), lambda: False)
    assert told["steps"] == []
    assert "two classes" in told["words"]


def test_triangles_need_circles_and_squares():
    for labels in ((1, 2), (-1, 2), (2, 2)):
        points = [[float(k), 1.0, label] for k, label in enumerate(labels)]
        with pytest.raises(Refusal, match="Triangles are the third class"):
            read_state({"points": points, "algorithm": "hard_margin", "parameters": {}})


def test_the_code_fits_the_three_classes():
    shown, names = code(three("linear_svm", "ovo")), {"print": lambda certificate: None}
    exec(shown["python"], names)
    assert names["model"].multi_class == "ovo"
    assert len(names["model"].certificate_.parts) == 3
    assert "--multi-class ovo" in shown["command"]
    assert shown["programs"] == []


def test_a_command_spells_its_options_with_hyphens():
    state = state_of(("linear_svm", {"loss": "huber_hinge", "huber_width": 0.25}))
    assert "--huber-width 0.25" in code(state)["command"]
