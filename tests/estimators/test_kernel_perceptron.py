"""KernelPerceptron: what it learns, proves and refuses."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sparse
from scikit_learn_checks import each_check
from sklearn.datasets import load_iris, make_circles
from sklearn.exceptions import ConvergenceWarning

from maxmargin import KernelPerceptron, Perceptron, Verdict
from maxmargin.run.control import Status


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # as scikit-learn tests its own
@each_check([KernelPerceptron(max_iter=100), KernelPerceptron("linear", multi_class="ovo", max_iter=100)])
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("options", [{"kernel": "rbf"}, {"kernel": "poly", "degree": 2, "coef0": 1.0}])
def test_rings_are_learnt_and_it_is_proven(form, bias, options):
    X, y = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    model = KernelPerceptron(fit_intercept=bias, **options).fit(form(X), y)
    certificate = model.certificate_
    assert model.status_ is Status.SETTLED
    assert certificate.verdict is Verdict.SEPARABLE
    assert certificate.verify(form(X), y)
    assert 0.0 < certificate.margin_lower <= certificate.margin_upper
    assert certificate.theorems[0].holds
    assert certificate.theorems[0].measured == model.n_updates_ == np.abs(model.dual_coef_).sum()
    assert model.score(form(X), y) == 1.0
    if not bias:
        assert model.intercept_ == [0.0]
    if options["kernel"] == "poly":
        assert certificate.verify(form(X), y, exact=True)


def test_with_a_linear_kernel_it_is_the_perceptron():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    y = np.where(X.sum(axis=1) > 0.3, 1, 0)
    X += 0.2 * np.where(y == 1, 1.0, -1.0)[:, None]
    one, other = KernelPerceptron("linear").fit(X, y), Perceptron().fit(X, y)
    assert one.n_updates_ == other.n_updates_
    assert np.allclose(one.dual_coef_ @ one.support_vectors_, other.coef_)
    assert np.allclose(one.intercept_, other.intercept_)


def test_xor_by_a_function_and_by_a_table():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), ["same", "other", "other", "same"]

    def squared(A, B):
        return (A @ B.T + 1.0) ** 2

    by_function, by_table = KernelPerceptron(squared).fit(X, y), KernelPerceptron("precomputed").fit(squared(X, X), y)
    assert by_function.predict(X).tolist() == by_table.predict(squared(X, X)).tolist() == y
    assert by_function.certificate_.verify(X, y, kernel=squared)
    assert not by_function.certificate_.verify(X, y)
    assert by_table.certificate_.verify(squared(X, X), y, exact=True)


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_many_classes(strategy):
    X, y = load_iris(return_X_y=True)
    X, places = np.unique(X, axis=0, return_index=True)
    model = KernelPerceptron(gamma=5.0, multi_class=strategy, order="shuffled").fit(X, y[places])
    assert model.dual_coef_.shape[0] == 3
    assert model.certificate_.is_separable
    assert model.certificate_.verify(X, y[places])
    assert model.score(X, y[places]) == 1.0


def test_equal_rows_with_different_labels_end_with_a_witness():
    X, y = [[0.0], [0.0], [1.0]], [0, 1, 1]
    model = KernelPerceptron(max_iter=30).fit(X, y)
    assert model.status_ is Status.WITNESS
    assert model.certificate_.verdict is Verdict.NOT_SEPARABLE
    assert model.certificate_.rows.tolist() == [0, 1]
    assert model.certificate_.verify(X, y)
    assert model.certificate_.verify(X, y, exact=True)


def test_spent_sweeps_without_a_witness_are_told():
    X, y = [[0.0], [1.0], [1.001], [2.0]], [0, 0, 1, 1]
    with pytest.warns(ConvergenceWarning, match="No plane that separates the classes was found.*raise max_iter"):
        model = KernelPerceptron(max_iter=2).fit(X, y)
    assert model.status_ is Status.BUDGET
    assert model.certificate_.verdict is Verdict.STOPPED
    assert model.certificate_.is_separable is None
    assert model.certificate_.verify(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_it_can_be_pickled_and_stopped():
    X, y = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    model = KernelPerceptron().fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), y)
    assert KernelPerceptron(max_time=1e-9).fit(X, y).status_ in (Status.TIME, Status.SETTLED)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "cosine"}, "kernel='cosine' is not known"),
        ({"max_iter": 0}, "max_iter must be a positive whole number"),
        ({"coef0": -1.0}, "coef0 must be 0 or more"),
        ({"degree": 2.5}, "degree must be a positive whole number"),
        ({"kernel": lambda A, B: np.ones(3)}, "must return a table of shape"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        KernelPerceptron(**options).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
