"""Files between releases of scikit-learn: a parameter that came later is written as what was done before it came."""

import numpy as np
import pytest
from persistence.make_corpus import POINTS, TWO
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from maxmargin import LinearSVM
from maxmargin.persistence import ModelFileError, load, save
from maxmargin.persistence.steps import STEPS


class OlderMaxAbsScaler(MaxAbsScaler):
    """Without `clip`."""

    clip = False

    def __init__(self, *, copy=True):
        self.copy = copy


@pytest.fixture
def older(monkeypatch):
    monkeypatch.setitem(STEPS, "max-abs scaler", STEPS["max-abs scaler"]._replace(made=OlderMaxAbsScaler))


def test_a_scaler_of_an_older_release_comes_back(older, tmp_path):
    model = make_pipeline(OlderMaxAbsScaler(), LinearSVM()).fit(POINTS, TWO)
    save(model, tmp_path / "model", POINTS, TWO)
    again = load(tmp_path / "model")
    assert type(again[0]) is OlderMaxAbsScaler
    assert np.array_equal(again.decision_function(POINTS), model.decision_function(POINTS))


@pytest.mark.skipif("clip" not in MaxAbsScaler().get_params(), reason="this scikit-learn is older itself")
def test_what_an_older_release_cannot_do_is_refused(tmp_path, monkeypatch):
    clipping = make_pipeline(MaxAbsScaler(clip=True), LinearSVM()).fit(POINTS, TWO)
    plain = make_pipeline(MaxAbsScaler(), LinearSVM()).fit(POINTS, TWO)
    save(clipping, tmp_path / "clipping")
    save(plain, tmp_path / "plain")
    monkeypatch.setitem(STEPS, "max-abs scaler", STEPS["max-abs scaler"]._replace(made=OlderMaxAbsScaler))
    assert np.array_equal(load(tmp_path / "plain").predict(POINTS), plain.predict(POINTS))
    with pytest.raises(ModelFileError, match="clip=True, which needs a newer scikit-learn"):
        load(tmp_path / "clipping")
