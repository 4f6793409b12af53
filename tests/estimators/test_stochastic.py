"""StochasticSVM: what it proves, streams, weights, kernels, and what it refuses."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sparse
from scikit_learn_checks import each_check
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import SGDClassifier

from maxmargin import KernelSVM, LinearSVM, StochasticSVM
from maxmargin.run.control import Status
from maxmargin.run.observation import observing

# Short runs on purpose: test_convergence.py has the warning.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@each_check([StochasticSVM(), StochasticSVM(kernel="rbf", average=True, multi_class="ovo")])
def test_estimator(estimator, check):
    check(estimator)


def noisy_table(n=300, d=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, np.where(X @ random.normal(size=d) + 0.5 * random.normal(size=n) > 0.2, "yes", "no")


@pytest.mark.parametrize("options", [{}, {"average": True}, {"project": True}, {"fit_intercept": False}])
def test_the_gap_is_proven_and_falls(options):
    X, y = noisy_table()
    gaps = []
    for sweeps in (2, 20, 200):
        svm = StochasticSVM(C=0.1, tol=1e-9, max_iter=sweeps, **options).fit(X, y)
        assert svm.certificate_.verify(X, y, exact=sweeps == 200)
        assert np.array_equal(svm.certificate_.w, svm.coef_[0])
        assert svm.n_iter_ == sweeps
        assert svm.status_ is Status.BUDGET
        gaps.append(svm.certificate_.relative_gap)
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2]
    assert gaps[2] < 0.01


def test_it_stops_when_the_gap_is_proven():
    X, y = noisy_table()
    svm = StochasticSVM(C=0.1, tol=0.05, average=True, max_iter=100).fit(X, y)
    assert svm.status_ is Status.PROVEN
    assert svm.certificate_.is_optimal
    assert svm.n_iter_ < 50
    best = LinearSVM(C=0.1, tol=1e-8).fit(X, y).certificate_
    assert svm.certificate_.dual <= best.primal <= svm.certificate_.primal <= best.primal * 1.05


TINY = noisy_table(100)
AS_THE_STEPS_ARE = [
    {"max_iter": 100},
    {"record": True},
    {"project": True},
    {"step": "damped"},
    {"max_time": 1e-9},
]


@pytest.mark.parametrize("options", [{}, {"average": True}, {"fit_intercept": False}, {"kernel": "rbf"}, {"C": 1e3}])
def test_the_last_plane_of_a_tiny_table_is_tightened(options):
    svm = StochasticSVM(**options).fit(*TINY)
    assert svm.status_ is Status.PROVEN
    assert svm.certificate_.relative_gap < 1e-9
    assert svm.certificate_.verify(*TINY)
    by_steps = StochasticSVM(max_iter=100, **options).fit(*TINY)
    assert by_steps.certificate_.primal > svm.certificate_.primal * (1 + 1e-6)
    assert (svm.n_iter_, svm.n_updates_) == (by_steps.n_iter_, by_steps.n_updates_)
    assert svm._runs[0].position == by_steps._runs[0].position  # which goes on from its own plane


@pytest.mark.parametrize("options", AS_THE_STEPS_ARE)
def test_steps_that_are_asked_for_are_shown_as_they_are(options):
    svm = StochasticSVM(tol=1e-9, **options).fit(*TINY)
    assert svm.certificate_.relative_gap > 1e-6
    assert np.array_equal(svm.coef_[0], svm._runs[0].w)


def test_a_table_that_is_not_tiny_is_not_tightened():
    X, y = noisy_table(501)
    svm = StochasticSVM().fit(X, y)
    assert np.array_equal(svm.coef_[0], svm._runs[0].w)
    assert np.array_equal(svm.coef_, StochasticSVM(max_iter=100).fit(X, y).coef_)


def test_many_rows_with_a_kernel_are_not_tightened():
    """However few columns they have: a kernel has a value for each pair."""
    X, y = noisy_table(101)
    svm = StochasticSVM(kernel="rbf", gamma=50.0).fit(X[:, :1], y)
    assert (
        svm.certificate_.primal
        == StochasticSVM(kernel="rbf", gamma=50.0, max_iter=100).fit(X[:, :1], y).certificate_.primal
    )


def test_whoever_looks_on_sees_the_steps_alone():
    seen = []
    with observing(lambda iterate, _: seen.append(iterate.sweeps)):
        watched = StochasticSVM(tol=1e-9).fit(*TINY)
    assert seen == sorted(seen)
    assert seen[-1] == watched.n_iter_ == 100
    assert np.array_equal(watched.coef_, StochasticSVM(tol=1e-9).fit(*TINY).coef_)


def test_the_same_seed_gives_the_same_plane():
    X, y = noisy_table()
    planes = [StochasticSVM(random_state=seed, max_iter=3).fit(X, y).coef_ for seed in (0, 0, 1, None)]
    assert np.array_equal(planes[0], planes[1])
    assert not np.array_equal(planes[0], planes[2])
    assert np.array_equal(StochasticSVM(max_iter=3).fit(sparse.csr_array(X), y).coef_.round(9), planes[0].round(9))


def test_a_heavier_row_costs_more():
    X, y = noisy_table()
    weights = np.random.default_rng(1).integers(0, 4, 300)
    svm = StochasticSVM(C=0.1, average=True, max_iter=300, tol=0.01).fit(X, y, sample_weight=weights)
    assert svm.certificate_.verify(X, y, sample_weight=weights)
    best = LinearSVM(C=0.1, tol=1e-6).fit(X, y, sample_weight=weights).certificate_
    assert svm.certificate_.primal == pytest.approx(best.primal, rel=0.01)
    by_class = StochasticSVM(C=0.1, average=True, class_weight={"yes": 3.0, "no": 1.0}).fit(X, y)
    by_row = StochasticSVM(C=0.1, average=True).fit(X, y, sample_weight=np.where(y == "yes", 3.0, 1.0))
    assert np.array_equal(by_class.coef_, by_row.coef_)
    assert StochasticSVM(class_weight="balanced", C=0.1).fit(X, y).certificate_.verify(X, y)


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_many_classes(strategy):
    X, y = load_iris(return_X_y=True)
    svm = StochasticSVM(multi_class=strategy, average=True, step=lambda t: 1 / math.sqrt(t)).fit(X, y)
    assert svm.coef_.shape == (3, 4)
    assert len(svm.certificate_) == 3
    assert svm.certificate_.verify(X, y)
    assert svm.score(X, y) > 0.93


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("step", ["damped", 0.05, "0.5/sqrt(t)"])
def test_a_stream_of_known_length_is_a_sweep_of_fit(average, project, step):
    X, y = noisy_table()
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 300)
    options = {"average": average, "project": project, "step": step}
    whole = StochasticSVM(**options, max_iter=3, tol=1e-9).fit(X, y, sample_weight=weights)
    stream = StochasticSVM(**options, stream_rows=300)
    for _ in range(3):
        stream.partial_fit(X, y, classes=["no", "yes"], sample_weight=weights)
    assert np.array_equal(stream.coef_, whole.coef_)
    assert np.array_equal(stream.intercept_, whole.intercept_)
    assert stream.n_iter_ == 3


def in_batches(stream, X, y, size):
    for start in range(0, len(y), size):
        stream.partial_fit(X[start : start + size], y[start : start + size], classes=np.unique(y))
    return stream


@pytest.mark.parametrize("rows", [None, 300])
def test_batches_that_are_not_shuffled_are_one_sweep(rows):
    X, y = noisy_table()
    options = {"shuffle": False, "stream_rows": rows, "average": True}
    planes = [in_batches(StochasticSVM(**options), X, y, size).coef_ for size in (1, 70, 300)]
    assert np.allclose(planes[0], planes[1], rtol=1e-12)
    assert np.allclose(planes[0], planes[2], rtol=1e-12)
    if rows is not None:
        sweep = StochasticSVM(step="damped", shuffle=False, max_iter=1, average=True).fit(X, y)
        assert np.allclose(planes[0], sweep.coef_, rtol=1e-12)


def words(n, seed):
    """Short texts: few of many columns, rows of length 1, and a tenth of the columns speaks for a class."""
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.5, 1, 0)
    columns = (2000 * random.random((n, 12)) ** 2).astype(np.int32)
    topical = random.random((n, 12)) < 0.25
    columns[topical] = (2 * random.integers(0, 100, (n, 12)) + y[:, None])[topical]
    X = sparse.csr_array(
        (np.full(n * 12, 12**-0.5), columns.ravel(), 12 * np.arange(n + 1, dtype=np.int32)), shape=(n, 2000)
    )
    X.sum_duplicates()
    return X, y


def cloud(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 20)) @ np.diag(np.linspace(0.5, 3.0, 20))
    noise = np.random.default_rng(seed + 1).normal(size=n)
    return X, np.where(X @ np.linspace(-1.0, 1.0, 20) + 2.0 * noise > 1.0, 1, 0)


@pytest.mark.parametrize("table", [words, cloud])
@pytest.mark.parametrize("size", [10, 1000])
def test_a_stream_of_unknown_length_learns_as_one_of_known_length(table, size):
    """One pass over shuffled rows, beside scikit-learn's, which is told n: the mean of three tables."""
    ours, peers, n = [], [], 2000
    for seed in (0, 10, 20):
        (X, y), new = table(n, seed), table(1000, seed + 2)
        stream = in_batches(StochasticSVM(), X, y, size)
        peer = in_batches(SGDClassifier(loss="hinge", alpha=1 / n, random_state=0), X, y, size)
        ours.append((stream.score(*new), stream.score(X, y)))
        peers.append((peer.score(*new), peer.score(X, y)))
    assert np.all(np.mean(ours, axis=0) > np.mean(peers, axis=0) - 0.01)
    assert stream.certify(X, y).verify(X, y)


def test_rows_of_one_call_are_shuffled():
    X, y = words(2000, 0)
    by_class = np.argsort(y, kind="stable")
    planes, scores = [], []
    for options in ({}, {}, {"random_state": 1}, {"shuffle": False}):
        stream = StochasticSVM(**options).partial_fit(X[by_class], y[by_class], classes=[0, 1])
        planes.append(stream.coef_)
        scores.append(stream.score(X, y))
    assert min(scores[:3]) > 0.9
    assert scores[3] < 0.8
    assert np.array_equal(planes[0], planes[1])
    assert not np.array_equal(planes[0], planes[2])


def test_how_many_rows_a_stream_has():
    X, y = noisy_table()
    begun = StochasticSVM().partial_fit(X[:100], y[:100], classes=["no", "yes"]).partial_fit(X[100:150], y[100:150])
    assert begun._runs[0].n_rows == 150
    known = StochasticSVM(stream_rows=100).partial_fit(X[:100], y[:100], classes=["no", "yes"])
    assert known.partial_fit(X[100:], y[100:])._runs[0].n_rows == 100
    after = StochasticSVM(max_iter=2, tol=1e-9).fit(X, y).partial_fit(X[:10], y[:10])
    assert after._runs[0].n_rows == 300
    absent = StochasticSVM(multi_class="ovo").partial_fit(X[:3], [0, 0, 0], classes=[0, 1, 2])
    assert [run.n_rows for run in absent._runs] == [3, 3, 1]
    absent.partial_fit(X[:4], [1, 2, 1, 2])
    assert [run.n_rows for run in absent._runs] == [5, 5, 4]


def test_a_stream_has_no_certificate_but_can_be_certified():
    X, y = noisy_table()
    stream = StochasticSVM(C=0.1)
    with pytest.raises(AttributeError, match="nothing is fitted yet"):
        _ = stream.certificate_
    stream.fit(X, y).partial_fit(X[:100], y[:100])
    with pytest.raises(AttributeError, match=r"a stream has no objective.*certify\(X, y\)"):
        _ = stream.certificate_
    assert not hasattr(stream, "dual_coef_")
    certificate = stream.certify(X, y)
    assert certificate.verify(X, y, exact=True)
    assert np.array_equal(certificate.w, stream.coef_[0])
    best = LinearSVM(C=0.1, tol=1e-8).fit(X, y).certificate_
    assert best.dual * 0.99 <= certificate.dual <= best.primal <= certificate.primal
    with pytest.raises(ValueError, match="no row has the label 'yes'"):
        stream.certify(X[y == "no"], y[y == "no"])


def test_many_classes_in_a_stream():
    X, y = load_iris(return_X_y=True)
    stream = StochasticSVM(multi_class="ovo", class_weight={0: 1, 1: 2, 2: 1})
    stream.partial_fit(X[:50], y[:50], classes=[0, 1, 2])  # the first class alone: no row of the last pair
    assert stream.coef_.shape == (3, 4)
    for sweep in range(30):
        order = np.random.default_rng(sweep).permutation(150)
        stream.partial_fit(X[order], y[order])
    assert stream.score(X, y) > 0.85
    assert stream.certify(X, y).verify(X, y)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_warm_start_goes_on_at_the_next_visit(kernel):
    X, y = noisy_table(120)
    whole = StochasticSVM(kernel=kernel, average=True, max_iter=8, tol=1e-9).fit(X, y)
    parts = StochasticSVM(kernel=kernel, average=True, max_iter=5, tol=1e-9, warm_start=True).fit(X, y)
    parts.set_params(max_iter=3).fit(X, y)
    assert parts.n_iter_ == whole.n_iter_ == 8
    assert np.allclose(parts.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("options", [{"kernel": "rbf"}, {"kernel": "poly", "coef0": 1.0, "degree": 2}])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_kernel_learns_what_no_line_can(options, form):
    X, y = make_moons(200, noise=0.1, random_state=0)
    svm = StochasticSVM(C=1.0, max_iter=200, tol=0.02, **options).fit(form(X), y)
    assert svm.certificate_.verify(form(X), y)
    assert svm.certificate_.relative_gap < 0.1
    best = KernelSVM(C=1.0, tol=1e-6, **options).fit(form(X), y).certificate_
    assert svm.certificate_.dual <= best.primal
    assert best.dual <= svm.certificate_.primal <= best.primal * 1.1
    assert not hasattr(svm, "coef_")
    points = svm._kernel.points(form(X))
    values = svm._kernel.values(points, svm._kernel.points(svm.support_vectors_, svm.support_))
    assert np.allclose(values @ svm.dual_coef_[0] + svm.intercept_, svm.decision_function(form(X)))


def test_xor_by_a_table_and_by_a_function():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), np.array([0, 1, 1, 0])

    def squared(A, B):
        return (A @ B.T + 1.0) ** 2

    by_function = StochasticSVM(C=100, kernel=squared, max_iter=500).fit(X, y)
    by_table = StochasticSVM(C=100, kernel="precomputed", max_iter=500).fit(squared(X, X), y)
    assert by_function.predict(X).tolist() == y.tolist()
    assert np.allclose(by_table.decision_function(squared(X, X)), by_function.decision_function(X))
    assert by_function.certificate_.verify(X, y, kernel=squared)
    assert by_table.certificate_.verify(squared(X, X), y, exact=True)


def test_it_can_be_cloned_pickled_and_stopped():
    X, y = noisy_table()
    svm = StochasticSVM(C=0.3, average=True).fit(X, y)
    copy = pickle.loads(pickle.dumps(svm))
    assert np.array_equal(copy.decision_function(X), svm.decision_function(X))
    assert copy.partial_fit(X, y).n_iter_ == svm.n_iter_ + 1
    assert clone(svm).get_params() == svm.get_params()
    quick = StochasticSVM(max_time=1e-9, max_iter=10**6, tol=1e-12).fit(X, y)
    assert quick.status_ is Status.TIME
    assert quick.certificate_.verify(X, y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"C": 0}, "C must be a positive number, not 0"),
        ({"C": math.inf}, "LinearSVM finds the hard margin"),
        ({"step": "newton"}, 'step must be "pegasos", "damped", a positive number, a text like "0.1/sqrt'),
        ({"step": "0/sqrt(t)"}, "step must be"),
        ({"step": -1.0}, "step must be"),
        ({"tol": 0}, "tol must be a number above 0 and below 1"),
        ({"max_iter": 1.5}, "max_iter must be a positive whole number or None, not 1.5"),
        ({"stream_rows": 0}, "stream_rows must be a positive whole number or None"),
        ({"kernel": "sigmoid"}, "it is not positive semidefinite"),
        ({"kernel": "rbf", "gamma": -1}, "gamma must be a positive number"),
        ({"kernel": "rbf", "fit_intercept": False}, "a plane in the space of a kernel has a bias"),
        ({"kernel": "precomputed"}, "a precomputed kernel is a square matrix"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        StochasticSVM(**options).fit(*noisy_table())


def test_what_a_stream_cannot_have_is_said_in_a_sentence():
    X, y = noisy_table()
    with pytest.raises(AttributeError, match="partial_fit"):
        StochasticSVM(kernel="rbf").partial_fit(X, y, classes=["no", "yes"])
    with pytest.raises(ValueError, match="give a dict"):
        StochasticSVM(class_weight="balanced").partial_fit(X, y, classes=["no", "yes"])
    with pytest.raises(ValueError, match="needs classes="):
        StochasticSVM().partial_fit(X, y)
    with pytest.raises(ValueError, match="row 0 has the label"):
        StochasticSVM().partial_fit(X, y, classes=["a", "b"])
    with pytest.raises(ValueError, match="differ from those of the first call"):
        StochasticSVM().partial_fit(X, y, classes=["no", "yes"]).partial_fit(X, y, classes=["no", "maybe"])
    with pytest.raises(ValueError, match="certificate_ speaks of the rows of fit"):
        StochasticSVM(kernel="rbf").fit(X, y).certify(X, y)


@pytest.mark.parametrize("average", [True, False])
def test_steps_beyond_float64_in_a_stream_are_refused_and_change_nothing(average):
    svm = StochasticSVM(step=1e6, average=average).partial_fit([[1.0], [-1.0]], [1, 0], classes=[0, 1])
    before = svm.coef_.copy()
    with pytest.raises(ValueError, match="the steps are too long"):
        svm.partial_fit([[1e200], [-1e200]], [0, 1])
    assert np.array_equal(svm.coef_, before)


def test_a_ball_that_float64_cannot_measure_is_refused():
    X = np.array([[1e200, 0.0], [0.0, 1e200], [1e200, 1e200], [0.0, 0.0]])
    with pytest.raises(ValueError, match=r"too long: after .* \|w\|\^2 is beyond what float64 can hold"):
        StochasticSVM(C=1e-90, average=True, project=True).fit(X, [0, 1, 1, 0])
    svm = StochasticSVM(C=1e-90, average=True, project=True).fit(1e-100 * X, [0, 1, 1, 0])
    assert np.linalg.norm(svm.coef_) <= math.sqrt(4e-90)
