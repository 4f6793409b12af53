"""What a pickle of a fitted model holds: each number once, and no proof where none is wanted."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.datasets import load_iris, make_blobs, make_classification

from maxmargin import HardMarginSVM, KernelSVM, LinearSVM, ModelFileError, StochasticSVM, save
from maxmargin.estimators.model_verification import verify_model
from maxmargin.estimators.support_rows import SHORT
from maxmargin.sklearn import SVC, LinearSVC

X, Y = make_classification(3000, 20, random_state=0, flip_y=0.2)
X3, Y3 = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"], dtype=object)
ABOUT_ROWS = ("support_", "dual_coef_", "bounded_", "n_support_", "class_weight_")


def again(model):
    return pickle.loads(pickle.dumps(model))


def assert_equal_rows(one, other):
    for name in ABOUT_ROWS:
        if hasattr(one, name):
            mine, his = getattr(one, name), getattr(other, name)
            assert (mine.dtype, mine.shape) == (his.dtype, his.shape), name
            np.testing.assert_array_equal(mine, his, err_msg=name)


@pytest.mark.parametrize(
    ("model", "rows", "labels"),
    [
        (LinearSVM(), X, Y),
        (LinearSVM(loss="squared_hinge", class_weight={0: 2.0, 1: 1.0}), X, Y == 1),
        (LinearSVM(fit_intercept=False, C=0.01), sparse.csr_array(X[:500]), Y[:500]),
        (LinearSVM(), X3, NAMES[Y3]),
        (LinearSVM(multi_class="ovo", loss="huber_hinge"), X3, Y3),
        (StochasticSVM(), X3, Y3 == 2),
        (HardMarginSVM(), X3, Y3 == 0),
        (KernelSVM(), X3, NAMES[Y3]),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_all_comes_back_to_the_last_bit(model, rows, labels):
    model.fit(rows, labels)
    for twin in (again(model), copy.copy(model), copy.deepcopy(model)):
        assert set(vars(twin)) | {"_support_rows"} == set(vars(model)) | {"_support_rows"}
        assert_equal_rows(model, twin)
        np.testing.assert_array_equal(model.decision_function(rows), twin.decision_function(rows))
        assert twin.certificate_.to_json() == model.certificate_.to_json()
        assert verify_model(twin, rows, labels)
    assert len(pickle.dumps(again(model))) == pytest.approx(len(pickle.dumps(model)), abs=200)


def test_twelve_bytes_a_support_row_with_the_proof():
    few, many = (LinearSVM().fit(X[:n], Y[:n]) for n in (300, 3000))
    bytes_of_a_row = (len(pickle.dumps(many)) - len(pickle.dumps(few))) / (len(many.support_) - len(few.support_))
    assert len(many.support_) > 1000
    assert bytes_of_a_row <= 12.0
    assert SHORT in many.__getstate__()
    weights = 1.0 + np.arange(3000) % 5
    weighted = LinearSVM().fit(X, Y, sample_weight=weights)
    assert SHORT in weighted.__getstate__()


def test_numbers_that_do_not_follow_are_kept_as_they_are():
    model = LinearSVM().fit(X3, Y3 == 2)
    model.dual_coef_ = model.dual_coef_ * np.linspace(1.0, 2.0, len(model.support_))
    assert SHORT not in model.__getstate__()
    assert_equal_rows(model, again(model))


@pytest.mark.parametrize(("rows", "labels"), [(X, Y), (X3, NAMES[Y3])])
def test_slim_models_take_three_thousand_bytes(rows, labels):
    model = LinearSVM().fit(rows, labels)
    model.certificate_ = model.certificate_.slim()
    kept = again(model)
    assert len(pickle.dumps(model)) < 3000
    np.testing.assert_array_equal(kept.predict(rows), model.predict(rows))
    for name in ("support_", "dual_coef_", "bounded_"):
        assert not hasattr(kept, name)
    with pytest.raises(AttributeError, match="no support_vectors_"):
        _ = kept.support_vectors_
    assert kept.certificate_.is_optimal
    assert 0.0 <= kept.certificate_.relative_gap <= 1e-4
    answer = kept.certificate_.verify(rows, labels)
    assert not answer
    assert "slim()" in str(answer)
    assert not verify_model(kept, rows, labels)


def test_slim_certificate_says_what_it_is():
    whole = LinearSVM().fit(X, Y).certificate_
    slim = whole.slim()
    assert (slim.primal, slim.dual, slim.verdict, slim.n_rows) == (whole.primal, whole.dual, whole.verdict, 3000)
    assert slim.n_support == whole.n_support
    assert repr(slim) == f"{whole!r} without its proof"
    assert "left out" in str(slim)
    assert "left out" in slim._repr_html_()
    assert slim.slim() is slim
    for name in ("rows", "weights", "to_json"):
        with pytest.raises(AttributeError, match="left out"):
            getattr(slim, name)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(slim)


def test_slim_certificates_are_in_no_model_file(tmp_path):
    model = KernelSVM().fit(X3, Y3)
    model.certificate_ = model.certificate_.slim()
    with pytest.raises(ModelFileError, match="slim"):
        save(model, tmp_path / "model.maxmargin")
    assert again(model).predict(X3).tolist() == model.predict(X3).tolist()


@pytest.mark.parametrize("kind", [SVC, LinearSVC])
def test_classes_of_scikit_learn_can_leave_it_out_as_well(kind):
    rows, labels = make_blobs(2000, centers=2, cluster_std=8.0, random_state=0)
    model = kind().fit(rows, labels)
    whole = len(pickle.dumps(model))
    model.certificate_ = model.certificate_.slim()
    assert len(pickle.dumps(model)) < whole - 8 * len(labels) / 4
    assert not again(model).certificate_.verify(rows, labels)
