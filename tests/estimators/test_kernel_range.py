"""Kernel values that are not finite are refused in a sentence, at every door, before a solver meets them."""

import math

import numpy as np
import pytest
from sklearn.svm import SVC

from maxmargin import KernelPerceptron, KernelSVM, StochasticSVM, audit
from maxmargin.solvers.kernel_smo.working_set import place_of, solve_working_set

LEARNERS = {
    "svm": KernelSVM,
    "hard": lambda **kernel: KernelSVM(C=math.inf, **kernel),
    "approximate": lambda **kernel: KernelSVM(approximation=20, **kernel),
    "perceptron": KernelPerceptron,
    "stochastic": StochasticSVM,
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # a few rows, a few sweeps
each_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


def table(size=1.0, n=40):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 3))
    return size * X, np.where(X[:, 0] > 0.1 * X[:, 1], 1, -1)


@each_learner
@pytest.mark.parametrize(
    ("size", "kernel", "sentence"),
    [
        (1e5, {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "degree": 40}, "poly kernel of row 0 with itself is inf"),
        (1.0, {"kernel": "poly", "gamma": 1e200, "degree": 2}, "poly kernel of row 0 with itself is inf"),
        (1e160, {"kernel": "poly", "gamma": 1.0, "degree": 1}, "give a smaller gamma or degree"),
        (1e160, {"kernel": "rbf", "gamma": 1.0}, r"gamma \|x\|\^2 is inf"),
        (1e10, {"kernel": "rbf", "gamma": 1e300}, "give a smaller gamma"),
    ],
)
def test_beyond_float64(learner, size, kernel, sentence):
    X, y = table(size)
    with pytest.raises(ValueError, match=sentence):
        learner(**kernel).fit(X, y)


@pytest.mark.parametrize("learner", [KernelSVM, KernelPerceptron])
def test_a_linear_kernel_beyond_float64(learner):
    X, y = table(1e160)
    with pytest.raises(ValueError, match="the linear kernel of row 0 with itself is inf"):
        learner(kernel="linear").fit(X, y)


def test_the_row_is_named():
    X, y = table()
    X[17, 2] = 1e160
    for learner in (KernelSVM, KernelPerceptron):
        with pytest.raises(ValueError, match="kernel of row 17 with itself"):
            learner(kernel="poly", gamma=1.0).fit(X, y)
    with pytest.raises(ValueError, match="kernel of row 17 with itself"):  # in one pair of several
        KernelPerceptron(kernel="poly", gamma=1.0, multi_class="ovo").fit(X, np.where(np.arange(40) == 17, 5, y))


@each_learner
@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_function_that_is_not_finite(learner, wrong):
    X, y = table()
    X[:, 0] += np.arange(len(X))

    def kernel(A, B):
        values = A @ B.T
        values[np.ix_(A[:, 0] == X[30, 0], B[:, 0] == X[7, 0])] = wrong
        values[np.ix_(A[:, 0] == X[7, 0], B[:, 0] == X[30, 0])] = wrong
        return values

    with pytest.raises(ValueError, match=r"function returned (nan|-?inf) for row (7 and row 30|30 and row 7);"):
        learner(kernel=kernel).fit(X, y)


@each_learner
@pytest.mark.parametrize("wrong", [math.nan, math.inf, 1e305])
def test_a_table_that_is_not_finite(learner, wrong):
    X, y = table()
    K = X @ X.T
    K[3, 4] = K[4, 3] = wrong
    with pytest.raises(ValueError, match=r"NaN|inf|a value of the precomputed kernel has the size 1e\+305"):
        learner(kernel="precomputed").fit(K, y)


@each_learner
def test_new_rows_beyond_float64(learner):
    X, y = table()
    model = learner(kernel="poly", gamma=1.0, coef0=1.0, degree=4).fit(X, y)
    for decide in (model.predict, model.decision_function):
        with pytest.raises(ValueError, match="kernel of row 1 with the rows that were learnt from is beyond"):
            decide([[0.0, 0.0, 0.0], [1e160, 0.0, 0.0]])


@each_learner
def test_a_new_row_that_is_far_from_all_others_has_the_bias(learner):
    X, y = table()
    model = learner(kernel="rbf").fit(X, y)
    assert model.decision_function([[1e160, 0.0, 0.0]]) == model.intercept_


def test_new_rows_of_many_classes_beyond_float64():
    X, y = table()
    y = np.where(X[:, 2] > 0.8, 3, y)
    for multi_class in ("ovo", "ovr"):
        model = KernelSVM(kernel="poly", gamma=1.0, multi_class=multi_class).fit(X, y)
        with pytest.raises(ValueError, match="kernel of row 0 with the rows that were learnt from is beyond"):
            model.predict([[1e160, 0.0, 0.0]])


def test_an_audit_beyond_float64():
    X, y = table(1e5)
    with np.errstate(over="ignore"):
        svc = SVC(kernel="poly", gamma=1e-10, degree=2).fit(X, y)
    svc.degree, svc._gamma = 40, 1.0
    with pytest.raises(ValueError, match="poly kernel of row 0 with itself is inf"):
        audit(svc, X, y)


@pytest.mark.parametrize(
    ("size", "kernel"),
    [
        (1e10, {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "degree": 3}),
        (1e30, {"kernel": "poly", "gamma": 1.0, "coef0": 0.0, "degree": 3}),
        (1e100, {"kernel": "linear"}),
        (1e-30, {"kernel": "poly", "gamma": 1.0, "coef0": 0.0, "degree": 3}),
        (1e25, {"kernel": lambda A, B: (A @ B.T) ** 3}),
    ],
)
def test_beyond_float32_is_no_reason(size, kernel):
    """float64 holds these values: the rows are separated, and the hard margin is proven."""
    X, y = table(size)
    svm = KernelSVM(C=math.inf, **kernel).fit(X, y)
    assert svm.score(X, y) == 1.0
    assert svm.certificate_.is_optimal


@pytest.mark.parametrize("wrong", [np.nan, -np.nan, np.inf, -np.inf])
def test_a_working_set_stays_inside_its_arrays(wrong):
    """Whatever the kernel's values are, the loop ends and writes nothing beyond its rows."""
    random = np.random.default_rng(0)
    for place in (slice(None), 0, 3):
        K = random.normal(size=(8, 8)).astype(np.float32)
        K[place] = K[:, place] = wrong
        signs, costs, around = np.where(np.arange(8) < 4, 1.0, -1.0), np.ones(8), np.zeros(24)
        a = around[8:16]
        for v in (random.normal(size=8), np.full(8, wrong)):
            steps = solve_working_set(K, signs, v.astype(np.float32), a, costs, 0.1, 1000)
            assert 0 <= steps <= 1000
            assert np.all(around[:8] == 0.0)
            assert np.all(around[16:] == 0.0)


def test_the_place_of_what_is_nowhere():
    bits = np.array([1.0, 2.0, 3.0], dtype=np.float32).view(np.int32)
    assert [place_of(bits[k], bits) for k in range(3)] == [0, 1, 2]
    assert place_of(np.int32(7), bits) == 2
