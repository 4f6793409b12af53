"""Solvers and the judge over the blocks of a table: what is kept, and how a run that was cut off goes on."""

import _thread
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from blocked_rows import Blocked, Made, uneven

from maxmargin import LinearSVM
from maxmargin.certificates.passes import soft_gap
from maxmargin.persistence import checkpoint, fit_with_checkpoints
from maxmargin.persistence.errors import ModelFileError
from maxmargin.run.control import Status
from maxmargin.run.observation import observing, watching_passes
from maxmargin.solve import by_blocks

RANDOM = np.random.default_rng(5)
N = 500
X = RANDOM.normal(size=(N, 4)) + 1.0
Y = (X @ [1.0, -1.0, 0.5, 0.0] + RANDOM.normal(size=N) > 0.5).astype(int)
THREE = np.argmax(X[:, :3] + RANDOM.normal(size=(N, 3)), axis=1)
EDGES = uneven(N, 7)


def asked(**parameters):
    return LinearSVM(**{"loss": "huber_hinge", "huber_width": 0.2, "memory": "5MB", "tol": 1e-8} | parameters)


def bits(svm):
    known = svm.coef_.tobytes(), svm.intercept_.tobytes(), svm.n_updates_, svm.n_iter_, svm.status_
    return *known, svm.certificate_.to_json()


@pytest.fixture
def files(monkeypatch):
    """All that is written in a run."""
    written = []

    def write_and_keep(path, identity, records):
        original(path, identity, records)
        written.append(Path(path).read_bytes())

    original = checkpoint.write
    monkeypatch.setattr(checkpoint, "write", write_and_keep)
    return written


@pytest.mark.parametrize(
    ("labels", "parameters"),
    [(Y, {}), (THREE, {}), (Y, {"loss": "hinge", "huber_width": None, "tol": 1e-6, "memory": "1.4MB"})],
    ids=["two", "three", "hinge"],
)
def test_taken_up_at_any_pass_it_ends_with_the_same_bits(labels, parameters, files, tmp_path):
    path, table, svm = tmp_path / "checkpoint", Blocked(X, EDGES), asked(**parameters)
    calm = bits(svm.fit(table, labels))
    assert bits(fit_with_checkpoints(svm, table, labels, path=path, every=0.0)) == calm
    kept = list(files)
    assert len(kept) > (3 if parameters else 8)
    for content in kept:
        path.write_bytes(content)
        fresh = Blocked(X, EDGES)
        assert bits(fit_with_checkpoints(svm, fresh, labels, path=path, every=0.0, resume=True)) == calm
    assert fresh.passes < table.passes // 2  # nothing but the measuring was done twice


def test_an_error_in_the_midst_leaves_a_checkpoint(files, tmp_path):
    path, failing = tmp_path / "checkpoint", Blocked(X, EDGES)
    failing.fails_at = (3, 9)
    calm = bits(asked().fit(Blocked(X, EDGES), Y))
    with pytest.raises(OSError, match="the disk is gone"):
        fit_with_checkpoints(asked(), failing, Y, path=path, every=1e9)
    assert len(files) == 2  # at the beginning, and at the end
    assert bits(fit_with_checkpoints(asked(), Blocked(X, EDGES), Y, path=path, resume=True)) == calm


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"X": X + 1e-9}, "it is of a run on other data"),
        ({"edges": [0, 200, 300, N]}, "it is of a run on other data"),
        ({"y": 1 - Y}, "it is of a run on other data"),
        ({"sample_weight": np.full(N, 2.0)}, "it is of a run on other data"),
        ({"memory": "6MB"}, "it is of a run with memory='5MB', and here it is '6MB'"),
        ({"C": 2.0}, "it is of a run with C=1.0, and here it is 2.0"),
    ],
    ids=["numbers", "blocks", "labels", "weights", "memory", "C"],
)
def test_a_checkpoint_of_another_run_is_refused(change, sentence, tmp_path):
    path, other = tmp_path / "checkpoint", dict(change)
    fit_with_checkpoints(asked(), Blocked(X, EDGES), Y, path=path)
    table = Blocked(other.pop("X", X), other.pop("edges", EDGES))
    labels, weights = other.pop("y", Y), other.pop("sample_weight", None)
    with pytest.raises(ModelFileError, match=sentence):
        fit_with_checkpoints(asked(**other), table, labels, weights, path=path, resume=True)


def test_what_a_checkpoint_claims_is_measured_again(tmp_path, monkeypatch):
    """A file whose plane was changed misleads nobody: P is that of the plane, and the proof holds."""
    path = tmp_path / "checkpoint"
    original, changed = checkpoint.write, []

    def write_another_plane(path, identity, records):
        for record in records:
            if record.get("status") == "PROVEN":
                record["w"] = record["w"] * 3.0
                changed.append(record)
        original(path, identity, records)

    monkeypatch.setattr(checkpoint, "write", write_another_plane)
    honest = fit_with_checkpoints(asked(), Blocked(X, EDGES), Y, path=path)
    assert changed
    monkeypatch.undo()
    svm = fit_with_checkpoints(asked(), Blocked(X, EDGES), Y, path=path, resume=True)
    assert svm.certificate_.primal > 1.1 * honest.certificate_.primal
    assert not svm.certificate_.is_optimal
    assert svm.certificate_.verify(Blocked(X, EDGES), Y)


def test_bounds_never_get_worse(monkeypatch):
    """Of all that is judged, the best plane and the best weights are kept, each by itself."""
    bounds = []
    original = by_blocks.Standing.measure

    def measured(standing, proposed):
        proven = yield from original(standing, proposed)
        bounds.append((proven.primal, proven.dual))
        return proven

    def proposes_always(started):
        def run():
            answer = None
            while True:
                try:
                    wish = started.run.send(answer)
                except StopIteration:
                    return
                answer = yield wish
                if isinstance(wish, by_blocks.Ask) and (proposal := started.state.proposal()) is not None:
                    yield proposal
                    yield proposal._replace(w=0.5 * proposal.w)  # a worse plane beside the same weights

        return started._replace(run=run())

    monkeypatch.setattr(by_blocks.Standing, "measure", measured)
    led = by_blocks.Standing.led
    monkeypatch.setattr(
        by_blocks.Standing, "led", lambda self, solver, *most: led(self, proposes_always(solver), *most)
    )
    svm = asked().fit(Blocked(X, EDGES), Y)
    primal, dual = np.array(bounds).T
    assert len(bounds) > 8
    assert np.all(np.diff(primal) <= 0.0)
    assert np.all(np.diff(dual) >= 0.0)
    assert (svm.certificate_.primal, svm.certificate_.dual) == bounds[-1]
    assert svm.certificate_.relative_gap == soft_gap(*bounds[-1])
    assert svm.certificate_.verify(Blocked(X, EDGES), Y)


def test_ctrl_c_ends_a_pass_and_what_was_found_has_its_true_gap():
    svm = asked()

    def interrupt(progress):
        if (progress.number, progress.blocks) == (5, 2):
            _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt), watching_passes(interrupt):
        svm.fit(Blocked(X, EDGES), Y)
    assert svm.status_ is Status.INTERRUPTED
    assert 1e-8 < svm.certificate_.relative_gap < 1.0
    assert svm.certificate_.verify(Blocked(X, EDGES), Y)


def test_observers_see_planes_that_were_measured():
    shown = []
    with observing(lambda iterate, rows: shown.append((iterate.gap, iterate.w.copy(), rows.n_rows))):
        asked(tol=1e-12).fit(Blocked(X, EDGES), Y)
    assert all(gap < 1.0 and len(w) == 4 and n_rows == 0 for gap, w, n_rows in shown)


def peak_of(table, memory):
    """Bytes of a fit above what was there before it."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        svm = LinearSVM(loss="squared_hinge", memory=memory).fit(table, table.labels)
        return svm, tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def test_the_peak_of_the_memory_is_within_the_budget_and_flat_in_the_number_of_rows():
    height, columns = 4_000, 50
    memory = 4 * height * columns * 4 + 80 * height + 2**20 + 10**6
    peak_of(Made(2, height, columns), memory)  # whatever is imported or compiled once
    few, peak_of_few = peak_of(Made(6, height, columns), memory)
    many, peak_of_many = peak_of(Made(60, height, columns), memory)
    assert few.certificate_.is_optimal
    assert many.certificate_.is_optimal
    assert max(peak_of_few, peak_of_many) < memory
    assert peak_of_many < 1.1 * peak_of_few
    assert many.certificate_.n_rows == 60 * height
