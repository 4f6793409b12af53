"""A run that is taken up from any of its checkpoints ends with the same bits; a file of another run is refused."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.base import clone

import maxmargin.persistence.checkpoint as checkpoint
import maxmargin.run.snapshots as snapshots
from maxmargin import (
    HardMarginSVM,
    KernelPerceptron,
    KernelSVM,
    LinearSVM,
    MarginPerceptron,
    ModelFileError,
    Perceptron,
    StochasticSVM,
    Winnow,
)
from maxmargin.persistence import container, fit_with_checkpoints
from maxmargin.run.control import Status
from maxmargin.solvers.kernel_smo import active_rows as rows_in_play
from maxmargin.solvers.kernel_smo import method as batch_smo

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # short fits, on purpose

KILL_FITS = Path(__file__).parent / "kill_fits.py"
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(2500, 4))
NOISY = X[:, 0] + 0.4 * X[:, 1] ** 2 + 0.4 * RANDOM.normal(size=2500)
TWO, THREE = (NOISY > 0.0).astype(int), np.digitize(NOISY, [-0.5, 0.7])
APART = np.abs(X[:, 0]) > 0.05
CASES = {
    "descent": (LinearSVM(10, tol=1e-7, solver="coordinate_descent"), sparse.csr_array(X), THREE),
    "handed over": (LinearSVM(1e4, tol=1e-6), X, THREE),
    "interior point": (LinearSVM(10, tol=1e-7, solver="interior_point"), X, TWO),
    "sieve": (LinearSVM(10, tol=1e-7, solver="sieve"), np.tile(X, (11, 1)), np.tile(TWO, 11)),
    "newton": (LinearSVM(1, loss="squared_hinge"), np.tile(X, (4, 1)), np.tile(THREE, 4)),  # too many to go together
    "stochastic": (StochasticSVM(1, average=True, tol=1e-6, max_iter=12), X, THREE),
    "stochastic, kernel": (StochasticSVM(1, kernel="rbf", tol=1e-6, max_iter=4), X[:900], TWO[:900]),
    "perceptron": (Perceptron(order="shuffled", max_updates=9000), X, THREE),
    "drawn": (Perceptron(order="drawn", max_updates=9000), X, THREE),
    "drawn, to the end": (Perceptron(order="drawn"), X[APART], (X[APART, 0] > 0).astype(int)),
    "drawn winnow": (Winnow(epsilon=0.01, order="drawn"), X[APART], (X[APART, 0] > 0).astype(int)),
    "drawn, kernel": (KernelPerceptron(order="drawn", max_iter=8), X[:900], TWO[:900]),
    "margin perceptron": (MarginPerceptron(order="shuffled"), X[APART], (X[APART, 0] > 0).astype(int)),
    "winnow": (Winnow(epsilon=0.01, order="shuffled"), X[APART], (X[APART, 0] > 0).astype(int)),
    "kernel perceptron": (KernelPerceptron(order="shuffled", max_iter=8), X[:900], THREE[:900]),
    "kernel": (KernelSVM(10, tol=1e-6, cache_size=8), X, TWO),
    "kernel, three labels": (KernelSVM(1, tol=1e-5, multi_class="ovr"), X, THREE),
    "wide street": (HardMarginSVM(solver="coordinate_descent"), X[APART], (X[APART, 0] > 0).astype(int)),
    "street of three": (HardMarginSVM(multi_class="ovo"), X[:60] + 9.0 * np.eye(4)[THREE[:60]], THREE[:60]),
}


def bits(model):
    """All that a fit has left."""
    arrays = [np.asarray(getattr(model, name)).tobytes() for name in ("coef_", "intercept_") if hasattr(model, name)]
    return arrays, model.n_updates_, model.n_iter_, model.status_, model.certificate_.to_json()


@pytest.fixture
def every_rest(monkeypatch):
    """All that is written in a run, as the bytes of files."""
    monkeypatch.setattr(snapshots, "SHORTEST_REST", 0.0)
    written = []

    def write_and_keep(path, identity, records):
        original(path, identity, records)
        written.append(Path(path).read_bytes())

    original = checkpoint.write
    monkeypatch.setattr(checkpoint, "write", write_and_keep)
    return written


@pytest.mark.parametrize("name", CASES)
def test_taken_up_anywhere_it_ends_with_the_same_bits(name, every_rest, tmp_path):
    model, table, labels = CASES[name]
    calm, path = bits(model.fit(table, labels)), tmp_path / "checkpoint"
    fit_with_checkpoints(model, table, labels, path=path, every=0.0)
    assert bits(model) == calm
    files = list(every_rest)
    assert len(files) > 2
    for k in sorted({1, len(files) // 3, 2 * len(files) // 3, len(files) - 1}):
        every_rest.clear()
        path.write_bytes(files[k])
        fit_with_checkpoints(model, table, labels, path=path, every=0.0, resume=True)
        assert bits(model) == calm
        assert len(every_rest) <= len(files) - k + 1  # nothing was done twice


@pytest.mark.parametrize("cache_size", [0.1, 100.0])
@pytest.mark.parametrize("columns", [4, 150], ids=["cheap rows", "expensive rows"])
def test_a_kernel_fit_taken_up_at_any_rest(columns, cache_size, every_rest, tmp_path, monkeypatch):
    """From samples to all rows, with parts, looks around, and rows that were left: at every moment."""
    monkeypatch.setattr(batch_smo, "SMALLEST", 60)
    monkeypatch.setattr(rows_in_play, "SIZE", 64)
    table = np.column_stack([X[:800], np.random.default_rng(1).normal(size=(800, columns - 4))])
    model, labels, path = KernelSVM(30, tol=1e-3, cache_size=cache_size), TWO[:800], tmp_path / "checkpoint"
    calm = bits(model.fit(table, labels))
    fit_with_checkpoints(model, table, labels, path=path, every=0.0)
    assert bits(model) == calm
    files = list(every_rest)
    for k in range(0, len(files), max(1, len(files) // 8)):
        path.write_bytes(files[k])
        fit_with_checkpoints(model, table, labels, path=path, every=0.0, resume=True)
        assert bits(model) == calm, k


@pytest.mark.parametrize("name", ["descent", "stochastic", "kernel"])
def test_a_time_limit_changes_no_bit(name, tmp_path):
    model, table, labels = CASES[name]
    calm, path = bits(model.fit(table, labels)), tmp_path / "checkpoint"
    short = clone(model).set_params(max_time=1e-3)
    fit_with_checkpoints(short, table, labels, path=path)
    assert Status.TIME in (short.status_ if isinstance(short.status_, list) else [short.status_])
    fit_with_checkpoints(model, table, labels, path=path, resume=True)
    assert bits(model) == calm


STEPS = {"tol": 1e-9, "max_iter": 12}


@pytest.fixture
def stopped(every_rest, tmp_path):
    """A checkpoint from the middle of a run."""
    path = tmp_path / "checkpoint"
    fit_with_checkpoints(StochasticSVM(1, **STEPS), X, TWO, path=path, every=0.0)
    path.write_bytes(every_rest[6])
    return path


def refused(path, sentence, model=None, table=X, labels=TWO, **given):
    model = StochasticSVM(1, **STEPS) if model is None else model
    before = path.read_bytes()
    with pytest.raises(ModelFileError, match=sentence) as error:
        fit_with_checkpoints(model, table, labels, path=path, resume=True, **given)
    assert str(path) in str(error.value)
    assert path.read_bytes() == before


def test_a_run_of_something_else_is_refused(stopped):
    refused(stopped, "on other data", table=X[::-1])
    refused(stopped, "on other data", labels=1 - TWO)
    refused(stopped, "other weights of the rows", sample_weight=np.ones(len(X)))
    refused(stopped, "of a run with C=1, and here it is 2", StochasticSVM(2, **STEPS))
    refused(stopped, "estimator 'StochasticSVM', and here it is 'LinearSVM'", LinearSVM())
    refused(stopped, "another seed in each process", StochasticSVM(random_state=None))
    refused(stopped, "are not kept", StochasticSVM(warm_start=True))


def test_damage_is_refused_and_loses_nothing(stopped):
    whole = stopped.read_bytes()
    for place in range(0, len(whole), len(whole) // 40):
        stopped.write_bytes(whole[:place])
        refused(stopped, ".")
        stopped.write_bytes(whole[:place] + bytes([whole[place] ^ 8]) + whole[place + 1 :])
        refused(stopped, ".")


def change(path, edit):
    document, arrays = container.unpack(path.read_bytes())
    edit(document, arrays)
    path.write_bytes(container.pack(document, arrays))


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda document, arrays: document.update(version=3), "version 3, and here it is 2"),
        (lambda document, arrays: document.update(written_by="9.9"), "written by '9.9'"),
        (lambda document, arrays: document.update(format="other"), "not a checkpoint"),
        (lambda document, arrays: document.update(more=1), "a field 'more'"),
        (
            lambda document, arrays: document["problems"][0]["judge"]["state"]["plane"]["state"].pop("b"),
            "says nothing of 'b'",
        ),
        (
            lambda document, arrays: document["problems"][0]["judge"]["state"].update(c=1),
            "'c', which this run does not know",
        ),
        (
            lambda document, arrays: document["problems"][0]["judge"]["state"]["plane"]["state"].update(b=None),
            "must be a number",
        ),
        (
            lambda document, arrays: document["problems"][0]["judge"]["state"]["plane"]["state"].update(b="1"),
            "cannot be of this run",
        ),
        (lambda document, arrays: document["problems"][0].update(other=1), "'other', which this run does not know"),
        (lambda document, arrays: document["problems"].append([]), "must be an object"),
        (lambda document, arrays: arrays.pop("0/judge/a"), "is missing"),
        (lambda document, arrays: arrays.update({"0/judge/a": np.zeros(3)}), "cannot be of this run"),
        (lambda document, arrays: arrays.update({"0/judge/z": np.zeros(3)}), "does not belong"),
    ],
)
def test_what_is_not_exactly_right_is_refused(edit, sentence, stopped):
    change(stopped, edit)
    refused(stopped, sentence)


def test_rows_that_do_not_exist_are_refused(every_rest, tmp_path):
    path, model = tmp_path / "checkpoint", CASES["descent"][0]
    fit_with_checkpoints(model, X, TWO, path=path, every=0.0)
    path.write_bytes(every_rest[4])
    change(path, lambda document, arrays: arrays["0/solver/algorithm/descent/active"].__setitem__(0, len(X)))
    refused(path, "'active' of 'descent' of the state 'DescentState' cannot be of this run", model)


@pytest.mark.parametrize(
    ("name", "number", "sentence"),
    [
        ("part/table/working_set", len(X) - 1, "'working_set' of 'table' of the state 'Part' cannot be of this run"),
        ("chosen", -1, "at work on a part of the rows, and does not say on which"),
        ("part/cache/owner", len(X) - 1, "'owner' of 'cache' of the state 'Part' cannot be of this run"),
    ],
)
def test_rows_that_are_not_of_the_part_at_work_are_refused(name, number, sentence, every_rest, tmp_path):
    path, (model, table, labels) = tmp_path / "checkpoint", CASES["kernel"]
    fit_with_checkpoints(model, table, labels, path=path, every=0.0)
    for content in every_rest:  # until few rows are at work
        path.write_bytes(content)
        arrays = container.unpack(content, 1000)[1]
        if len(arrays.get("0/solver/run/part/table/working_set", ())) and len(arrays["0/solver/run/chosen"]) < len(
            table
        ):
            break
    change(path, lambda document, arrays: arrays[f"0/solver/run/{name}"].__setitem__(0, number))
    refused(path, sentence, model, table, labels)


def test_full_disk_ends_no_fit(tmp_path, monkeypatch):
    model, path = StochasticSVM(1, tol=1e-6, max_iter=5), tmp_path / "checkpoint"
    original, calls = checkpoint.write, []

    def full_at_the_second_call(*arguments):
        calls.append(1)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        original(*arguments)

    monkeypatch.setattr(checkpoint, "write", full_at_the_second_call)
    with pytest.warns(UserWarning, match="No space left on device"):
        fit_with_checkpoints(model, X, TWO, path=path, every=0.0)
    assert model.n_iter_ == 5


@pytest.mark.skipif(os.name != "posix", reason="fork is of POSIX systems")
def test_killed_fits_go_on_to_the_same_bits():
    finished = subprocess.run([sys.executable, KILL_FITS, "6"], capture_output=True, text=True, timeout=300)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert re.match(r"6 kills, [1-9]\d* runs to the end with the same bits", finished.stdout)


def test_the_document_is_plain(stopped):
    document, _ = container.unpack(stopped.read_bytes())
    assert json.loads(json.dumps(document)) == document
    assert document["problems"][0]["solver"]["state"]["run"]["state"]["sweeps"] > 0
