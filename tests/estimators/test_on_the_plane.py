"""Where w.x + b is exactly 0, a row belongs to the positive side: f(x) >= 0 is +1, whoever predicts."""

import itertools

import numpy as np
import pytest
from play_states import state_of, view_of
from sklearn.svm import SVC, LinearSVC

import maxmargin
from maxmargin import HardMarginSVM, KernelSVM, LinearSVM, path
from maxmargin.estimators.predictions import votes
from maxmargin.persistence.exchange.liblinear import read_liblinear, write_liblinear
from maxmargin.persistence.exchange.libsvm import read_libsvm, write_libsvm
from maxmargin.persistence.exchange.onnx import write_onnx
from maxmargin.playground.fits import fit_state
from maxmargin.playground.shown import picture_of, plane_in

X = np.array([[-2.0, 0.0], [-2.0, 1.0], [2.0, 0.0], [2.0, 1.0]])
MIDDLE = np.array([[0.0, 0.0], [0.0, 7.0], [0.0, -3.0]])
ESTIMATORS = [
    HardMarginSVM(),
    HardMarginSVM("l1"),
    LinearSVM(),
    LinearSVM(C=float("inf")),
    LinearSVM(fit_intercept=False),
    KernelSVM(kernel="linear"),
    KernelSVM(C=float("inf"), kernel="linear"),
    maxmargin.Perceptron(fit_intercept=False),
]


def in_the_middle(estimator, y):
    """The estimator with its plane at x_1 = 0 to the last bit: what is tested is who gets the zero."""
    estimator.fit(X, y)
    if hasattr(estimator, "coef_"):
        estimator.coef_, estimator.intercept_ = np.array([[1.0, 0.0]]), np.zeros(1)
    else:
        estimator.support_, estimator.support_vectors_ = np.array([0, 2]), X[[0, 2]]
        estimator.dual_coef_, estimator.intercept_ = np.array([[-0.25, 0.25]]), np.zeros(1)
    del estimator.certificate_  # which speaks of another plane
    assert np.array_equal(estimator.decision_function(MIDDLE), np.zeros(3))
    return estimator


@pytest.mark.parametrize("labels", [[0, 0, 1, 1], [1, 1, 0, 0], ["a", "a", "b", "b"]], ids=str)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_two_classes(estimator, labels):
    model = in_the_middle(estimator, np.array(labels))
    assert set(model.predict(MIDDLE)) == {model.classes_[1]}


def test_votes_of_pairs():
    """A pair's value of 0 is a vote for its positive side, the earlier of the two classes."""
    won = np.rint(votes(np.zeros((1, 3)), 3))
    assert won.tolist() == [[2.0, 1.0, 0.0]]
    for values in itertools.product([-1.0, 0.0, 1.0], repeat=3):
        counted = np.rint(votes(np.array([values]), 3))
        expected = np.zeros(3)
        for value, (k, j) in zip(values, itertools.combinations(range(3), 2), strict=True):
            expected[k if value >= 0.0 else j] += 1
        assert counted[0].tolist() == expected.tolist()


@pytest.mark.parametrize("n_classes", [3, 10, 17])
def test_few_rows_have_the_votes_that_they_have_among_many(n_classes):
    """To the last bit, with zeros of either sign."""
    random = np.random.default_rng(n_classes)
    values = random.normal(size=(4 * n_classes, n_classes * (n_classes - 1) // 2)) * 10.0 ** random.integers(-9, 9)
    values = np.where(random.uniform(size=values.shape) < 0.2, np.copysign(0.0, values), values)
    found = votes(values, n_classes)
    assert np.array_equal(np.vstack([votes(row[None], n_classes) for row in values]), found)
    assert np.array_equal(votes(values[:n_classes], n_classes), found[:n_classes])


def test_a_path_counts_as_predict_does():
    found = path(X, [0, 0, 1, 1], Cs=[1.0])
    [point] = found.points
    point = point._replace(coef=np.array([1.0, 0.0]), intercept=0.0)
    found = maxmargin.MarginPath(found.classes, (point, point._replace(intercept=-1.0)), None, None)
    assert found.best(MIDDLE, np.ones(3)) is found.points[0]
    assert found.best(MIDDLE, np.zeros(3)) is found.points[1]


def test_the_page_marks_what_predict_gets_wrong():
    state = state_of(("perceptron", {}))
    fit = fit_state(state)
    fit.model.coef_, fit.model.intercept_ = np.zeros((1, 2)), np.zeros(1)  # every point is on it
    mistakes = picture_of(plane_in(fit), view_of(state))["mistakes"]
    assert mistakes.tolist() == np.flatnonzero(fit.model.predict(state.points) != state.signs).tolist()
    assert mistakes.tolist() == np.flatnonzero(state.signs < 0).tolist()


@pytest.mark.parametrize("model", [LinearSVM(), KernelSVM(kernel="linear")], ids=str)
def test_onnx(model, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    for y in ([0, 0, 1, 1], [0, 1, 2, 2]):
        model = type(model)(**model.get_params()).set_params(multi_class="ovo").fit(X, y)
        if len(set(y)) == 2:
            model = in_the_middle(model, np.array(y))
        else:
            del model.certificate_
            planes = "coef_" if hasattr(model, "coef_") else "dual_coef_"
            setattr(model, planes, np.zeros_like(getattr(model, planes)))
            model.intercept_ = np.zeros(3)
        write_onnx(model, tmp_path / "model.onnx")
        session = runtime.InferenceSession(str(tmp_path / "model.onnx"))
        decision, label = session.run(None, {"X": MIDDLE})
        assert np.array_equal(label, model.predict(MIDDLE))
        assert np.array_equal(decision, model.decision_function(MIDDLE))


def predicted_by_liblinear(file, rows):
    liblinear = pytest.importorskip("liblinear.liblinearutil")
    return np.array(liblinear.predict([0.0] * len(rows), rows, liblinear.load_model(str(file)), "-q")[0])


def predicted_by_libsvm(file, rows):
    libsvm = pytest.importorskip("libsvm.svmutil")
    return np.array(libsvm.svm_predict([0.0] * len(rows), rows, libsvm.svm_load_model(str(file)), "-q")[0])


@pytest.mark.parametrize(
    ("model", "write", "read", "predicted"),
    [
        (LinearSVM(), write_liblinear, read_liblinear, predicted_by_liblinear),
        (KernelSVM(kernel="linear"), write_libsvm, read_libsvm, predicted_by_libsvm),
    ],
    ids=["liblinear", "libsvm"],
)
def test_other_programs_give_a_zero_another_label_and_that_is_said(model, write, read, predicted, tmp_path):
    model = in_the_middle(model, np.array([-1, -1, 1, 1]))
    write(model, tmp_path / "model")
    rows = np.vstack([MIDDLE, X])
    assert model.predict(rows).tolist() == [1, 1, 1, -1, -1, 1, 1]
    assert predicted(tmp_path / "model", rows).tolist() == [-1, -1, -1, -1, -1, 1, 1]
    assert all("exactly 0" in function.__doc__ for function in (write, read))
    again = read(tmp_path / "model") if write is write_liblinear else read(tmp_path / "model", n_features=2)
    assert np.array_equal(again.decision_function(rows), model.decision_function(rows))


def test_models_of_others_keep_their_rule():
    """scikit-learn gives a zero to classes_[0], and an audit measures the model as it is."""
    for theirs in (LinearSVC().fit(X, [0, 0, 1, 1]), SVC(kernel="linear").fit(X, [0, 0, 1, 1])):
        before = theirs.predict(MIDDLE)
        maxmargin.audit(theirs, X, [0, 0, 1, 1])
        assert np.array_equal(theirs.predict(MIDDLE), before)
    zero = LinearSVC().fit(X, [0, 0, 1, 1])
    zero.coef_, zero.intercept_ = np.array([[1.0, 0.0]]), np.zeros(1)
    assert set(zero.predict(MIDDLE)) == {0}


def test_for_a_proof_and_for_an_update_a_zero_stays_a_mistake():
    rows, y = [[0.0, 1.0], [0.0, -1.0]], [0, 1]
    claimed = HardMarginSVM().fit(rows, y).certificate_
    assert claimed.is_separable
    learner = maxmargin.Perceptron(fit_intercept=False).fit(rows, y)
    assert learner.n_updates_ >= 1  # from w = 0, where every value is 0
    on_it = maxmargin.separability([[0.0], [0.0], [1.0]], [0, 1, 1])
    assert on_it.is_separable is False
