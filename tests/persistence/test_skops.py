"""Our estimators in skops files: the same answers, the same certificates, and no type but those that are listed."""

import numpy as np
import pytest
import skops.io
from persistence.make_corpus import NAMES, POINTS, TWO, estimator_of, fitted, prepared
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from maxmargin import KernelSVM, LinearSVM
from maxmargin.persistence import ModelFileError, read_skops, write_skops
from maxmargin.persistence.exchange.skops import TRUSTED

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # short fits, on purpose


@pytest.mark.parametrize("name", NAMES)
def test_round_trip(name, tmp_path):
    model, X, y = fitted(name)
    write_skops(model, path := tmp_path / "model.skops")
    again = read_skops(path)
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert again.predict(X).tolist() == model.predict(X).tolist()
    before, after = (getattr(estimator_of(one), "certificate_", None) for one in (model, again))
    assert (before is None) == (after is None)
    if after is not None:
        assert after.to_json() == before.to_json()
        assert after.verify(prepared(again, X), y)
        assert estimator_of(again).status_ == estimator_of(model).status_


def test_a_model_that_was_read_can_be_fitted_again(tmp_path):
    write_skops(KernelSVM().fit(POINTS, TWO), path := tmp_path / "model.skops")
    again = read_skops(path).fit(POINTS, -TWO)
    assert again.predict(POINTS).tolist() == (-TWO).tolist()


def test_every_listed_type_exists():
    for name in TRUSTED:
        module, _, kind = name.rpartition(".")
        assert isinstance(getattr(__import__(module, fromlist=[kind]), kind), type)


def test_functions_are_refused_both_ways(tmp_path):
    path = tmp_path / "model.skops"
    model = make_pipeline(FunctionTransformer(np.linalg.norm), LinearSVM())
    with pytest.raises(ModelFileError, match=r"numpy\.linalg\S*norm, which a reader will not trust"):
        write_skops(model, path)
    assert not path.exists()
    skops.io.dump(model, path)
    with pytest.raises(ModelFileError, match=r"numpy\.linalg\S*norm, of which nobody has said"):
        read_skops(path)
