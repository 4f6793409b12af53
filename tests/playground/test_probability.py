"""Probabilities of the page are scikit-learn's calibration of the library's scores, and are called estimates."""

import numpy as np
import pytest
from play_states import fitted, state_of, view_of
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

from maxmargin import LinearSVM, logistic
from maxmargin.persistence.errors import Refusal
from maxmargin.playground.fits import Stopped
from maxmargin.playground.messages import read_state
from maxmargin.playground.probability import probability


def test_the_curve_is_platt_s_of_held_out_scores():
    state = state_of(("linear_svm", {"C": 0.5}), "overlapping")
    told = probability(state, view_of(state))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = CalibratedClassifierCV(LinearSVM(C=0.5, tol=1e-6), cv=folds, ensemble=False)
    own = model.fit(state.points, state.labels).predict_proba(state.points)
    np.testing.assert_allclose(told["rows"], own[np.arange(len(own)), (state.labels + 1) // 2], rtol=1e-3)
    scores = fitted(state).decision_function(state.points)
    positive = logistic(told["curve"]["slope"] * scores + told["curve"]["offset"])
    np.testing.assert_allclose(np.where(state.labels > 0, positive, 1 - positive), told["rows"], rtol=1e-3)


def test_lines_and_field_are_those_of_the_curve():
    state = state_of(("kernel_svm", {}), "rings")
    told, scores = probability(state, view_of(state)), fitted(state)
    checked = 0
    for entry in told["lines"]:
        for line in entry["lines"]:
            f = scores.decision_function(np.array(line))
            found = logistic(told["curve"]["slope"] * f + told["curve"]["offset"])
            np.testing.assert_allclose(found, entry["level"], atol=2e-3)
            checked += len(line)
    assert checked > 50
    values = np.array(told["field"]["values"])
    assert np.all((values >= 0.5) & (values <= 1.0))
    assert "not a proof" in told["words"][0]


def test_three_classes_share_what_there_is():
    state = state_of(("linear_svm", {}), "three")
    told = probability(state, view_of(state))
    assert told["curve"] is None
    assert told["lines"] == []
    assert set(told["field"]["labels"].tolist()) == {-1, 1, 2}
    assert np.min(told["field"]["values"]) >= 1 / 3 - 1e-9
    assert np.mean(told["rows"]) > 0.8


def test_a_class_of_one_point_cannot_be_held_out():
    points = [[0, 0, 1], [1, 0, -1], [1, 1, -1]]
    with pytest.raises(Refusal, match="each class needs two"):
        probability(
            state := read_state({"points": points, "algorithm": "linear_svm", "parameters": {}}), view_of(state)
        )


def test_without_a_plane_there_is_no_score():
    state = state_of(("linear_svm", {"C": "inf"}), "xor")
    with pytest.raises(Refusal, match="no score to calibrate"):
        probability(state, view_of(state))
    with pytest.raises(Stopped):
        probability(state, view_of(state), lambda: True)
