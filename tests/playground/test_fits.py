"""A fit that nobody waits for ends at its next moment; one that takes too long ends in time."""

import threading
import time

import numpy as np
import pytest
from play_states import state_of

from maxmargin import KernelSVM, LinearSVM, MarginPerceptron, StochasticSVM
from maxmargin.data import synthetic
from maxmargin.playground import fits
from maxmargin.playground.catalogue import ALGORITHMS, Algorithm
from maxmargin.playground.fits import Recording, Stopped, fit_state
from maxmargin.run.control import Status
from maxmargin.run.observation import observing

LONG = [
    LinearSVM(C=100.0, tol=1e-14, solver="coordinate_descent"),
    StochasticSVM(max_iter=2000, tol=1e-9),
    KernelSVM(C=1000.0, tol=1e-9),
    MarginPerceptron(),
]


def data_for(model):
    X, y = synthetic.overlapping(300)
    return (X + 3.0 * np.outer(y, [1.0, 0.0]), y) if isinstance(model, MarginPerceptron) else (X, y)


@pytest.mark.parametrize("model", LONG, ids=lambda model: type(model).__name__)
def test_a_listener_hears_each_breath_and_can_end_the_fit(model):
    heard = []
    with observing(lambda solution, _: bool(heard.append(solution.sweeps) or len(heard) == 2)):
        model.fit(*data_for(model))
    assert len(heard) == 2
    assert model.status_ is Status.STOPPED
    assert model.certificate_.verify(*data_for(model))


def test_listening_ends_with_its_block_and_stays_in_its_thread():
    heard, elsewhere = [], []
    X, y = synthetic.overlapping(50)
    with observing(lambda solution, _: heard.append(solution)):
        other = threading.Thread(target=lambda: elsewhere.append(LinearSVM().fit(X, y)))
        other.start()
        other.join()
    LinearSVM().fit(X, y)
    assert elsewhere
    assert not heard


def test_whoever_stops_waiting_gets_nothing():
    state = state_of(("linear_svm", {"solver": "coordinate_descent", "tol": 1e-9}), "overlapping")
    questions = iter(range(3))
    with pytest.raises(Stopped):
        fit_state(state, lambda: next(questions, None) is None)


def test_iterates_are_thinned_and_copied():
    recording = Recording(lambda: False)
    X, y = synthetic.overlapping(200)
    with observing(recording):
        LinearSVM(C=100.0, tol=1e-6, solver="coordinate_descent").fit(X, y)
    assert len(recording.kept) <= fits.MOST_ITERATES
    assert recording.seen >= len(recording.kept)
    assert not np.array_equal(recording.kept[1].iterate.a, recording.kept[-1].iterate.a)


def test_a_fit_takes_no_longer_than_an_answer_may(monkeypatch):
    monkeypatch.setattr(fits, "MOST_SECONDS", 0.05)
    state = state_of(("stochastic_svm", {"max_iter": 2000, "tol": 1e-9, "kernel": "rbf"}), "rings")
    fit_state(state)
    begun = time.perf_counter()
    fit = fit_state(state)
    assert fit.status in (Status.TIME, Status.BUDGET)
    assert time.perf_counter() - begun < 5.0


def test_what_is_fitted_to_warm_up_takes_no_longer_either(monkeypatch):
    made, make = [], Algorithm.make

    def keep(algorithm, parameters, **more):
        made.append(make(algorithm, parameters, **more))
        return made[-1]

    monkeypatch.setattr(Algorithm, "make", keep)
    monkeypatch.setattr(fits, "warm", set())
    monkeypatch.setattr(fits, "MOST_SECONDS", 1e-9)
    linear = ALGORITHMS["linear_svm"]
    fits.warm_up(linear, linear.read({"tol": 1e-9, "solver": "coordinate_descent"}))
    assert made[0].status_ is Status.TIME
