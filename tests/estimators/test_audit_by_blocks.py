"""Audits of rows that are read by blocks: the objective and the bounds are those of rows in memory."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC, LinearSVC

from maxmargin import HardMarginSVM, scan_table
from maxmargin.data.synthetic import overlapping
from maxmargin.estimators.audit import audit

X, Y = overlapping(600)
THREE = np.where(X[:, 0] > 1.0, 2, (Y > 0).astype(int))


def scanned(folder, y):
    np.save(folder / "t.npy", np.column_stack([X, y, 1.0 + np.arange(600) % 2]))
    return scan_table(folder / "t.npy", label=-2, weight=-1, memory=2_000_000)


MODELS = [
    LinearSVC(loss="squared_hinge", intercept_scaling=2.0),
    LinearSVC(loss="squared_hinge", fit_intercept=False),
    SGDClassifier(loss="squared_hinge", random_state=0, alpha=0.01),
    SGDClassifier(loss="modified_huber", random_state=0, alpha=0.01),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_audits_agree(model, weighted, tmp_path):
    weights = 1.0 + np.arange(600) % 2 if weighted else None
    model.fit(X, THREE, sample_weight=weights)
    table = scanned(tmp_path, THREE)
    held = audit(model, X, THREE, weights)
    found = audit(model, table.X, table.y, table.weights if weighted else None)
    assert len(found.parts) == len(held.parts) == 3
    for one, other in zip(found, held, strict=True):
        assert one.objective == pytest.approx(other.objective, rel=1e-9)
        assert one.optimum_lower <= other.optimum_upper * (1.0 + 1e-12)
        assert other.optimum_lower <= one.optimum_upper * (1.0 + 1e-12)
        assert one.least_excess <= other.excess * (1.0 + 1e-9)
        assert other.least_excess <= one.excess * (1.0 + 1e-9)
        assert one.excess == pytest.approx(other.excess, rel=1e-2, abs=1e-4)
        assert (one.positive, one.negative) == (other.positive, other.negative)


def test_weights_of_two_classes(tmp_path):
    table, model = scanned(tmp_path, Y), LinearSVC(loss="squared_hinge", class_weight={-1: 2.0, 1: 0.5}).fit(X, Y)
    (held,), (found,) = audit(model, X, Y), audit(model, table.X, table.y)
    assert found.objective == pytest.approx(held.objective, rel=1e-9)
    assert found.excess == pytest.approx(held.excess, rel=1e-2, abs=1e-4)
    table = scanned(tmp_path, THREE)
    model = LinearSVC(loss="squared_hinge", class_weight={0: 2.0}).fit(X, THREE)
    with pytest.raises(ValueError, match="weighs a class by itself only"):
        audit(model, table.X, table.y)


def test_models_that_need_their_rows(tmp_path):
    table = scanned(tmp_path, Y)
    with pytest.raises(ValueError, match="has a kernel: its audit needs the rows in memory"):
        audit(SVC().fit(X, Y), table.X, table.y)
    far = X + 5.0 * Y[:, None]
    with pytest.raises(ValueError, match="is measured by its margin"):
        audit(HardMarginSVM().fit(far, Y), table.X, table.y)
    with pytest.raises(ValueError, match=r"class_weight='balanced'\) counts rows"):
        audit(LinearSVC(loss="squared_hinge", class_weight="balanced").fit(X, Y), table.X, table.y)
