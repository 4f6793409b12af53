"""Perceptron, MarginPerceptron and Winnow as estimators: their certificates, ends, traces and many classes."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from solver_runs import iterates

from maxmargin import HardMarginSVM, MarginPerceptron, Perceptron, Trace, Verdict, Winnow
from maxmargin.problems.choices import Order
from maxmargin.run.control import Status

LEARNERS = [Perceptron, MarginPerceptron, Winnow]


def two_clouds(n=60, d=3, gap=0.4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    w = np.ones(d) / np.sqrt(d)
    y = np.where(X @ w > 0.1, "up", "down")
    return X + gap * np.outer(np.where(y == "up", 1.0, -1.0), w), y


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("bias", [True, False])
def test_separable_data_end_with_a_proof(learner, order, bias):
    X, y = two_clouds()
    if not bias:
        y = np.where(X.sum(axis=1) > 0, "up", "down")
    model = learner(order=order, fit_intercept=bias).fit(X, y)
    assert model.status_ is Status.SETTLED
    assert model.certificate_.verdict is Verdict.SEPARABLE
    assert 0 < model.certificate_.margin_lower <= model.certificate_.margin_upper
    assert model.certificate_.verify(X, y, exact=True)
    assert np.array_equal(model.predict(X), y)
    assert model.certificate_.theorems[0].holds
    assert model.certificate_.theorems[0].measured == model.n_updates_
    if not bias:
        assert model.intercept_ == [0.0]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_inseparable_data_end_with_the_witness(learner, form):
    X, y = two_clouds(200, gap=-0.5)
    model = learner().fit(form(X), y)
    assert model.status_ is Status.WITNESS
    assert model.certificate_.verdict is Verdict.NOT_SEPARABLE
    assert len(model.certificate_.rows) <= 5
    assert model.certificate_.verify(form(X), y, exact=True)
    assert model.score(form(X), y) > 0.5


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_budget_is_kept_and_then_a_witness_is_sought(learner):
    X, y = two_clouds(200, gap=-0.5)
    model = learner(max_updates=7).fit(X, y)
    assert model.n_updates_ == 7
    assert model.status_ is Status.BUDGET
    assert model.certificate_.verdict is Verdict.NOT_SEPARABLE


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_spent_budget_on_separable_data_says_stopped(learner):
    X, y = two_clouds(200, gap=0.01, seed=3)
    with pytest.warns(ConvergenceWarning, match="ended early: as many sweeps or updates were made as are allowed"):
        model = learner(max_updates=1).fit(X, y)
    assert model.certificate_.verdict in (Verdict.STOPPED, Verdict.SEPARABLE)
    assert model.certificate_.verify(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learner", LEARNERS)
def test_max_time(learner):
    X, y = two_clouds(5000, 10, gap=0.0005)
    model = learner(max_time=1e-9).fit(X, y)
    assert model.status_ in (Status.TIME, Status.SETTLED)
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_many_classes(learner, strategy):
    random = np.random.default_rng(4)
    centres = np.array([[0, 8], [8, 0], [-8, -8]])
    X = np.vstack([random.normal(size=(20, 2)) + centre for centre in centres])
    y = np.repeat(["n", "e", "s"], 20)
    model = learner(multi_class=strategy).fit(X, y)
    assert model.coef_.shape == (3, 2)
    assert len(model.certificate_) == 3
    assert model.certificate_.verify(X, y, exact=True)
    assert model.score(X, y) > 0.9


def test_margin_perceptron_proves_its_share():
    X, y = two_clouds(300, 4, gap=0.3, seed=5)
    certificate = MarginPerceptron().fit(X, y).certificate_
    updates, quarter = certificate.theorems
    assert updates.holds
    assert quarter.bound == 0.25
    assert 0.25 <= quarter.measured <= 1.0
    assert certificate.margin_lower / certificate.margin_upper > 0.25


@pytest.mark.parametrize("share", [0.04, 0.5, 0.8, 0.95])
def test_margin_perceptron_reaches_the_share_that_is_asked_for(share):
    """Beside the best margin of the lifted rows, which the hull solver finds."""
    X, y = two_clouds(60, 2, gap=0.5, seed=5)
    model = MarginPerceptron(share=share).fit(X, y)
    updates, reached = model.certificate_.theorems
    assert updates.holds
    assert repr(share) in updates.name
    assert reached.bound == share <= reached.measured <= 1.0
    lifted = np.column_stack([X, np.ones(60)])
    best = HardMarginSVM(fit_intercept=False).fit(lifted, y).margin_
    plane = np.append(model.coef_[0], model.intercept_)
    margin = np.min(np.where(y == "up", 1.0, -1.0) * (lifted @ plane)) / np.linalg.norm(plane)
    assert share <= margin / best <= 1.0 + 1e-9
    assert reached.measured <= margin / best * (1.0 + 1e-9)
    assert model.certificate_.verify(X, y, exact=True)
    forged = dataclasses.replace(updates, name=updates.name.replace(repr(share), "0.3"))
    assert not dataclasses.replace(model.certificate_, theorems=(forged, reached)).verify(X, y)
    forged = dataclasses.replace(reached, bound=0.3)
    assert not dataclasses.replace(model.certificate_, theorems=(updates, forged)).verify(X, y)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, "half"])
def test_a_share_is_between_nothing_and_all(share):
    with pytest.raises(ValueError, match="share must be a number above 0 and below 1"):
        MarginPerceptron(share=share).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("order", list(Order))
def test_a_budget_that_is_just_enough(learner, order):
    X, y = two_clouds(40, gap=0.3)
    free = learner(order=order).fit(X, y)
    just = learner(order=order, max_updates=free.n_updates_).fit(X, y)
    assert just.status_ is Status.SETTLED
    assert np.array_equal(just.coef_, free.coef_)


def test_drawn_rows_depend_on_the_seed_alone():
    X, y = two_clouds(80, gap=0.1, seed=7)
    one, same, other = (Perceptron(order="drawn", random_state=seed).fit(X, y) for seed in (1, 1, 2))
    assert np.array_equal(one.coef_, same.coef_)
    assert one.n_updates_ == same.n_updates_
    assert not np.array_equal(one.coef_, other.coef_)
    assert one.score(X, y) == other.score(X, y) == 1.0


@pytest.mark.parametrize("learner", [MarginPerceptron, Winnow])
def test_a_trace_has_the_phases_of_the_search(learner):
    X, y = two_clouds(80, gap=0.1, seed=7)
    model = learner(record=Trace(limit=20)).fit(X, y)
    phases, columns = model.trace_.phases, model.trace_.to_arrays()
    assert len(phases) > 1
    assert sum(phase.updates for phase in phases) == model.n_updates_
    firsts = np.cumsum([1, *(phase.updates for phase in phases)])
    assert [phase.first for phase in phases] == firsts[:-1].tolist()
    tried = np.array([phase.tried for phase in phases])
    if learner is MarginPerceptron:
        assert np.array_equal(tried[1:], tried[:-1] / 2)
        assert tried[0] == pytest.approx(np.sqrt((X**2).sum(axis=1).max() + 1.0))
    else:
        assert tried[0] == 0.5
        assert np.allclose(np.log1p(-tried[1:]), np.log1p(-tried[:-1]) / 2)
    assert np.array_equal(columns["tried"], tried[np.digitize(columns["update"], firsts[1:])])
    assert len(np.unique(columns["tried"])) > 1
    again = Trace.from_json(model.trace_.to_json())
    assert again.phases == phases
    assert np.array_equal(again.to_arrays()["tried"], columns["tried"])
    assert model.trace_.to_csv().splitlines()[1].split(",")[6] == repr(float(tried[0]))
    with pytest.raises(ValueError, match="a phase is not five numbers"):
        Trace.from_json(model.trace_.to_json().replace('"phases": [[', '"phases": [[0.5, ', 1))
    assert "tried" not in Perceptron(record=True).fit(X, y).trace_.to_arrays()


def test_margin_perceptron_with_a_guess_keeps_its_promise():
    X, y = two_clouds(300, 4, gap=0.3, seed=5)
    model = MarginPerceptron(guess=0.2).fit(X, y)
    lifted = np.linalg.norm(np.append(model.coef_[0], model.intercept_))
    distances = np.where(y == "up", 1, -1) * model.decision_function(X) / lifted
    assert distances.min() >= 0.1 * (1 - 1e-9)


def test_average_weights_are_shown():
    X, y = two_clouds(300, seed=6)
    last, mean = Perceptron().fit(X, y), Perceptron(average=True).fit(X, y)
    assert not np.allclose(last.coef_, mean.coef_)
    assert mean.certificate_.verify(X, y)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_trace_can_be_replayed(learner):
    X, y = two_clouds(80, gap=0.1, seed=7)
    model = learner(record=True).fit(X, y)
    arrays = model.trace_.to_arrays()
    assert len(arrays["row"]) == model.n_updates_ == model.trace_.n_updates
    assert np.array_equal(arrays["update"], np.arange(1, model.n_updates_ + 1))
    assert not model.trace_.is_thinned
    if learner is not MarginPerceptron and learner is not Winnow:  # these start anew when they halve
        assert np.array_equal(arrays["before"][1:], arrays["after"][:-1])
        signs = np.where(y == "up", 1.0, -1.0)
        lifted = np.column_stack([X, np.ones(80)]) * signs[:, None]
        assert np.allclose(arrays["after"] - arrays["before"], lifted[arrays["row"]], rtol=1e-9, atol=1e-12)
        assert np.allclose(arrays["violation"], np.einsum("ij,ij->i", lifted[arrays["row"]], arrays["before"]))
        assert np.all(arrays["violation"] <= 0)
        assert np.allclose(arrays["margin_bound"], arrays["norm"] / arrays["update"])
    assert arrays["cosine"][-1] == pytest.approx(1.0)


def test_a_long_trace_is_thinned_and_says_so():
    X, y = two_clouds(300, gap=0.001, seed=8)
    model = Perceptron(record=Trace(limit=16)).fit(X, y)
    recorder = model.trace_
    assert len(recorder) <= 17
    assert recorder.is_thinned
    assert recorder.n_updates == model.n_updates_
    assert f"every {recorder.stride}" in repr(recorder)
    arrays = recorder.to_arrays()
    assert arrays["update"][0] == 1
    assert arrays["update"][-1] == model.n_updates_
    assert np.all(np.diff(arrays["update"])[:-1] == recorder.stride)


def test_traces_of_many_classes():
    random = np.random.default_rng(9)
    X = np.vstack([random.normal(size=(10, 2)) + centre for centre in ([0, 9], [9, 0], [-9, -9])])
    model = Perceptron(record=True).fit(X, np.repeat([0, 1, 2], 10))
    assert [trace.n_updates for trace in model.trace_] == model.n_updates_


def test_a_trace_needs_room():
    with pytest.raises(ValueError, match="at least 2 updates"):
        Trace(limit=1)


def test_partial_fit_learns_from_batches():
    X, y = two_clouds(200, gap=0.5, seed=10)
    model = Perceptron()
    for _ in range(30):
        for start in range(0, 200, 50):
            model.partial_fit(X[start : start + 50], y[start : start + 50], classes=["down", "up"])
    assert model.score(X, y) == 1.0
    assert model.certificate_.verify(X[150:], y[150:])


def test_partial_fit_in_one_batch_is_one_sweep():
    X, y = two_clouds(200, gap=0.5, seed=11)
    batch, whole = Perceptron().partial_fit(X, y, classes=["down", "up"]), Perceptron(max_updates=10**6)
    from maxmargin.problems.statement import Norm, Separation
    from maxmargin.solvers.mistakes.perceptron import perceptron

    solution = next(iterates(perceptron(Separation(X, np.where(y == "up", 1.0, -1.0), Norm.L2, True), max_sweeps=1)))
    assert np.array_equal(batch.coef_[0], solution.w)
    with pytest.raises(NotFittedError):
        whole.predict(X)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_partial_fit_visits_each_row_of_a_small_batch_once(fit_intercept):
    X, y = np.array([[1.0, 2.0], [3.0, 4.0], [-5.0, 6.0], [1.0, 2.0]]), np.array([0, 1, 0, 1])  # nothing separates them
    model, w, b = Perceptron(fit_intercept=fit_intercept), np.zeros(2), 0.0
    for call in range(3):
        model.partial_fit(X, y, classes=[0, 1])
        mistakes = 0
        for x, sign in zip(X, 2.0 * y - 1.0, strict=True):
            if sign * (w @ x + b) <= 0.0:
                w, b, mistakes = w + sign * x, b + sign * fit_intercept, mistakes + 1
        assert np.array_equal(model.coef_[0], w), call
        assert model.intercept_[0] == b
        assert (model.n_iter_, model.n_updates_) == (1, mistakes)


def test_partial_fit_of_rows_beyond_float64_is_refused_and_changes_nothing():
    model = Perceptron().partial_fit([[1.0], [-1.0]], [1, 0], classes=[0, 1])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match=r"too long: w\.x \+ b of row 1 is beyond"):
        model.partial_fit([[0.0], [1e200]], [0, 0])
    assert np.array_equal(model.coef_, before)


@pytest.mark.parametrize(
    ("labels", "classes", "words"),
    [
        (["a", "b"], None, "needs classes="),
        (["a", "c"], ["a", "b"], "row 1 has the label 'c'"),
        (["a", "a"], ["a"], "one class"),
    ],
)
def test_partial_fit_refuses_by_name(labels, classes, words):
    with pytest.raises(ValueError, match=words):
        Perceptron().partial_fit([[0.0], [1.0]], labels, classes=classes)


def test_partial_fit_takes_batches_of_one_class():
    model = Perceptron()
    model.partial_fit([[1.0], [2.0]], [1, 1], classes=[0, 1])
    model.partial_fit([[-1.0], [-2.0]], [0, 0])
    model.partial_fit([[-1.0], [1.5]], [0, 1])
    with pytest.raises(ValueError, match="differ from those of the first call"):
        model.partial_fit([[1.0]], [1], classes=[1, 2])


def test_partial_fit_with_a_class_missing_from_every_pair():
    model = Perceptron(multi_class="ovo")
    model.partial_fit([[1.0, 0.0]], ["a"], classes=["a", "b", "c"])
    assert model.coef_.shape == (3, 2)
