"""Recorded runs of every learner that goes row by row: what they hold can be computed again, and read back."""

import csv
import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import KernelPerceptron, MarginPerceptron, Perceptron, StochasticSVM, Trace, Winnow
from maxmargin.data import synthetic
from maxmargin.problems import trace as trace_module
from maxmargin.problems.kernels import Rbf

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LEARNERS = [
    Perceptron(rate=0.5),
    MarginPerceptron(),
    Winnow(),
    KernelPerceptron(gamma=0.7),
    StochasticSVM(max_iter=4),
    StochasticSVM(max_iter=4, step="damped", fit_intercept=False),
    StochasticSVM(max_iter=3, kernel="rbf", gamma=0.7, step="0.5/sqrt(t)"),
]


@pytest.fixture(scope="module")
def narrow():
    X, y, _ = synthetic.separable_gaussians(40, 2, margin=0.15, seed=3)
    return X, y


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_a_record_changes_nothing_of_the_fit(learner, narrow):
    plain, recorded = clone(learner).fit(*narrow), clone(learner).set_params(record=True).fit(*narrow)
    assert plain.decision_function(narrow[0]).tobytes() == recorded.decision_function(narrow[0]).tobytes()
    assert plain.n_updates_ == recorded.n_updates_
    assert not hasattr(plain, "trace_")
    assert "_traces" not in vars(recorded)
    assert not hasattr(recorded.set_params(record=False).fit(*narrow), "trace_")


def test_the_counts_of_a_kernel_perceptron_are_replayed(narrow):
    X, y = narrow
    model = KernelPerceptron(gamma=5.0, order="shuffled", record=True).fit(X, y)
    kept = model.trace_.to_arrays()
    kernel = Rbf(5.0)
    K = kernel.values(kernel.points(X), kernel.points(X)) + 1.0
    c = np.zeros(len(y))
    for row, violation, after in zip(kept["row"], kept["violation"], kept["after"], strict=True):
        assert violation == pytest.approx(y[row] * (K @ (c * y))[row], abs=1e-9)
        assert violation <= 0.0
        c[row] += 1.0
        assert after.tolist() == [*(c * y), (c * y).sum()]
    assert len(kept["row"]) == model.n_updates_
    assert c[model.support_].tolist() == np.abs(model.dual_coef_[0]).tolist()


@pytest.mark.parametrize("step", ["pegasos", "damped", 0.05, "0.5/sqrt(t)"])
def test_every_visit_of_stochastic_steps_is_replayed_by_its_length(step, narrow):
    X, y = narrow
    weights = np.where(y > 0, 2.0, 1.0)
    model = StochasticSVM(C=0.5, step=step, max_iter=3, record=True).fit(X, y, sample_weight=weights)
    trace, about = model.trace_, model.trace_.subject
    kept, n = trace.to_arrays(), len(y)
    assert trace.n_updates == len(trace) == 3 * n
    assert about.shrink == pytest.approx(1.0 / (n * 0.5))
    for t, eta in enumerate(about.steps):
        row, (*w, b), after = kept["row"][t], kept["before"][t], kept["after"][t]
        value = y[row] * (X[row] @ w + b)
        assert kept["violation"][t] == pytest.approx(value, abs=1e-9)
        push = eta * weights[row] * y[row] if value < 1.0 else 0.0
        moved = (1.0 - eta * about.shrink) * np.array(w) + push * X[row]
        assert after[:-1] == pytest.approx(moved, abs=1e-9 * (1.0 + np.abs(moved).max()))
    assert np.sum(kept["violation"] < 1.0) == model.n_updates_
    assert kept["after"][-1].tolist() == pytest.approx([*model.coef_[0], model.intercept_[0]])


def test_a_warm_start_goes_on_with_the_lengths_of_its_steps(narrow):
    model = StochasticSVM(max_iter=2, warm_start=True, record=True).fit(*narrow)
    first = model.trace_.subject.steps
    later = model.fit(*narrow).trace_.subject.steps
    assert later[0] == pytest.approx(1.0 / (1.0 / 40 * 81.0))
    assert first[0] == pytest.approx(40.0)


def test_rows_of_a_stream_are_not_recorded(narrow):
    X, y = narrow
    model = StochasticSVM(record=True, max_iter=2).fit(X, y)
    assert not hasattr(model.partial_fit(X, y), "trace_")
    assert not hasattr(Perceptron(record=True).fit(X, y).partial_fit(X, y), "trace_")


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_a_run_is_read_back_to_the_last_bit(learner, narrow):
    trace = clone(learner).set_params(record=True).fit(*narrow).trace_
    text = trace.to_json()
    again = Trace.from_json(text)
    assert again.to_json() == text
    for name, column in trace.to_arrays().items():
        assert column.tobytes() == again.to_arrays()[name].tobytes(), name
    own, other = vars(trace.subject), vars(again.subject)
    for name, value in own.items():
        same = np.array_equal(value, other[name]) if isinstance(value, np.ndarray) else value == other[name]
        assert same, name
    assert pickle.loads(pickle.dumps(trace)).to_json() == text


def test_a_thinned_run_is_read_back(narrow):
    trace = MarginPerceptron(record=Trace(limit=50)).fit(*narrow).trace_
    again = Trace.from_json(trace.to_json().encode())
    assert (again.n_updates, again.stride, again.limit, len(again)) == (trace.n_updates, trace.stride, 50, len(trace))
    assert again.is_thinned


def test_a_table_of_updates(narrow, tmp_path):
    X, y = narrow
    model = Perceptron(record=True).fit(X, y)
    text = model.trace_.to_csv(tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text() == text
    lines = list(csv.DictReader(text.splitlines()))
    kept = model.trace_.to_arrays()
    assert list(lines[0]) == ["update", "row", "violation", "norm", "cosine", "margin_bound", "w0", "w1", "b"]
    assert [float(line["w1"]) for line in lines] == kept["after"][:, 1].tolist()
    assert [int(line["row"]) for line in lines] == kept["row"].tolist()
    visits = StochasticSVM(max_iter=1, record=True).fit(X, y).trace_.to_csv()
    assert {line["margin_bound"] for line in csv.DictReader(visits.splitlines())} == {""}


def test_names_of_rows_and_columns_that_are_on_neither_side():
    X, y = synthetic.flowers()
    model = Perceptron(multi_class="ovo", record=True, max_updates=300).fit(X, y)
    for trace, names in zip(
        model.trace_, (("aster", "bellis"), ("aster", "crocus"), ("bellis", "crocus")), strict=True
    ):
        about = trace.subject
        assert about.names == names
        assert set(y[about.rows]) == set(names)
        assert np.array_equal(X[about.rows], about.X)
        assert np.array_equal(np.where(y[about.rows] == names[0], 1.0, -1.0), about.signs)


def test_of_a_large_table_some_rows_are_kept_and_those_of_the_updates(narrow, monkeypatch):
    X, y = narrow
    monkeypatch.setattr(trace_module, "MOST_NUMBERS_OF_ROWS", 30)
    trace = Perceptron(record=True).fit(X, y).trace_
    about = trace.subject
    assert len(about.X) <= 15
    assert about.n_rows == 40
    assert set(trace.to_arrays()["row"]) <= set(about.places)
    assert np.array_equal(about.X, X[about.rows])


def test_long_planes_are_thinned_before_memory_is_full(narrow, monkeypatch):
    monkeypatch.setattr(trace_module, "MOST_NUMBERS", 7 * 20)  # 3 numbers before, 3 after, and one more
    trace = MarginPerceptron(record=True).fit(*narrow).trace_
    assert len(trace) <= 20
    assert trace.n_updates == 538
    assert trace.stride >= 32


DAMAGES = {
    "no JSON": (lambda d: None, "it is no JSON"),
    "another format": (lambda d: d | {"format": "x"}, "no recorded run"),
    "a list": (lambda d: [d], "no recorded run"),
    "a later version": (lambda d: d | {"version": 2}, "version 2; this release reads version 1"),
    "phases that are none": (lambda d: d | {"phases": 7}, "phases"),
    "a phase of words": (lambda d: d | {"phases": [["x", 1, 2, 0.5, None]]}, "a phase is not five numbers"),
    "a huge phase": (lambda d: d | {"phases": [[10**400, 1, 2, 0.5, None]]}, "'phases' holds more than numbers"),
    "a phase of half an update": (lambda d: d | {"phases": [[0.5, 1, 2.5, 0.5, None]]}, "does not count its updates"),
    "phases that begin late": (lambda d: d | {"phases": [[0.5, 3, 2, 0.5, None]]}, "do not follow each other"),
    "a short column": (lambda d: with_update(d, row=[]), "different lengths"),
    "a word": (lambda d: with_update(d, violation=["x"] * 8), "'violation' holds more than numbers"),
    "a huge number": (lambda d: with_update(d, violation=[10**400] * 8), "'violation' holds more than numbers"),
    "a fraction of a row": (lambda d: with_update(d, row=[0.5] * 8), "'row' holds more than whole numbers"),
    "rows beyond the table": (lambda d: with_update(d, row=[40] * 8), "none of the 40"),
    "numbers that fall": (lambda d: with_update(d, update=[3, 2, 1, 4, 5, 6, 7, 8]), "not numbered upwards"),
    "planes of other widths": (lambda d: with_update(d, after=[[1.0]] * 8), "different lengths"),
    "wide planes": (lambda d: with_update(d, after=[[1.0] * 9] * 8, before=[[1.0] * 9] * 8), "have 9 numbers"),
    "no names": (lambda d: with_subject(d, names=["a"]), "'names' are not two"),
    "signs that are none": (lambda d: with_subject(d, signs=[0.5] * 40), "not about the same rows"),
    "places that repeat": (lambda d: with_subject(d, places=[0] * 40), "'places' are not places"),
    "a theorem that is a word": (lambda d: with_subject(d, theorems=["x"]), "no object"),
    "a subject that is a word": (lambda d: d | {"subject": "x"}, "'subject' is missing, or is no dict"),
    "a rate that is no number": (lambda d: with_subject(d, parameters={"rate": None}), "'rate' is no positive number"),
    "a rate of nothing": (lambda d: with_subject(d, parameters={"rate": 0}), "'rate' is no positive number"),
    "steps of another length": (lambda d: with_subject(d, steps=[1.0]), "another length"),
}


def with_update(document, **columns):
    return document | {"updates": document["updates"] | columns}


def with_subject(document, **fields):
    return document | {"subject": document["subject"] | fields}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_run_is_refused_in_a_sentence(name, narrow):
    damage, sentence = DAMAGES[name]
    document = damage(json.loads(Perceptron(record=True).fit(*narrow).trace_.to_json()))
    text = "{" if document is None else json.dumps(document)
    with pytest.raises(ValueError, match=sentence):
        Trace.from_json(text)


def test_deep_nonsense_is_refused():
    with pytest.raises(ValueError, match="it is no JSON"):
        Trace.from_json("[" * 200_000)
