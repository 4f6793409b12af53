"""Proximal points by passes: the optimum of rows in memory, and the same bits whatever is remembered."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sparse
from blocked_rows import Blocked
from labelled_rows import by_blocks, two_classes

from maxmargin import LinearSVM
from maxmargin.persistence.checkpoint import fit_with_checkpoints
from maxmargin.problems.block_margin import Ask, Facts, Proposal
from maxmargin.problems.losses import HINGE, SQUARED_HINGE, Loss, loss_named
from maxmargin.problems.protocol import restore, snapshot
from maxmargin.run.control import Clock, Status
from maxmargin.solve.by_blocks import Leader, Standing, answers_of
from maxmargin.solvers.by_passes import proximal_points
from maxmargin.solvers.by_passes.proximal_passes import Differ, Form, Product, StageDerivatives, Stages, remembered


def text(n=300, d=120, seed=0):
    """Rare words, some of which tell the class."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = sparse.random_array((n, d), density=0.05, rng=random, format="csr").toarray()
    X[:, :3] = np.where(y == 1, 1.0, -1.0)[:, None] * 0.4 + random.normal(size=(n, 3))
    return sparse.csr_array(X), y


LOSSES = {"hinge": HINGE, "squared_hinge": SQUARED_HINGE, "huber_hinge": loss_named("huber_hinge", 0.3)}
LOSSES["modified_huber"] = loss_named("modified_huber", None)


def question(table, loss=HINGE, fit_intercept=True):
    return dataclasses.replace(two_classes(table, fit_intercept=fit_intercept), loss=loss)


def led(X, y, loss=HINGE, tol=1e-6, fit_intercept=True, memory=1e7, **cut):
    table = by_blocks(X, y, **cut)
    problem = question(table, loss, fit_intercept)
    facts = Facts.of(table, problem)
    solver = proximal_points.start(problem, facts, memory, tol)
    standing = Standing.of(problem, facts, tol, solver.state)
    Leader(table, [standing], Clock(None, 0), tol, 0.0).lead([standing.led(solver, None)], 1)
    return standing


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("form", ["sparse", "dense", "float32"])
@pytest.mark.parametrize("loss", LOSSES)
def test_it_is_the_optimum_of_rows_in_memory(loss, form, fit_intercept):
    X, y = text()
    X = X.astype(np.float32) if form == "float32" else X.toarray() if form == "dense" else X
    standing = led(X, y, LOSSES[loss], tol=1e-5, blocks=3, fit_intercept=fit_intercept)
    width = {"huber_width": 0.3} if loss == "huber_hinge" else {}
    held = LinearSVM(loss=loss, tol=1e-8, fit_intercept=fit_intercept, **width).fit(X, y).certificate_
    assert standing.status == "PROVEN"
    assert standing.dual <= held.primal
    assert held.dual <= standing.primal


def test_blocks_that_are_empty_or_of_one_class_and_weights():
    X, y = text()
    order = np.argsort(y, kind="stable")
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=300)
    weights[7] = 0.0
    standing = led(X[order], y[order], edges=[0, 0, 1, 150, 150, 290, 300], weights=weights)
    held = LinearSVM(tol=1e-8).fit(X[order], y[order], weights).certificate_
    assert standing.status == "PROVEN"
    assert standing.dual <= held.primal
    assert held.dual <= standing.primal


def bits(standing):
    return standing.w.tobytes(), standing.b, standing.weights.listed.shares.tobytes(), standing.passes


def test_what_is_remembered_changes_no_bit(monkeypatch):
    """Nor whoever computes a pass twice, or forgets what he has seen in the midst of it."""
    X, y = text()
    want = bits(led(X, y))
    assert not remembered.kept
    assert remembered.bytes == 0
    monkeypatch.setattr(proximal_points, "REMEMBERED", 0.0)
    assert bits(led(X, y)) == want
    monkeypatch.setattr(proximal_points, "REMEMBERED", 8.0 * 130)  # two of ten vectors
    assert bits(led(X, y)) == want


def test_shares_are_replayed_and_an_earlier_stage_is_not_mistaken_for_a_later_one():
    X, y = text()
    table = by_blocks(X, y, blocks=1)
    block = question(table).of(table.block(0))
    random = np.random.default_rng(3)
    planes, widths = 0.3 * random.normal(size=(3, X.shape[1] + 1)), np.array([1.0, 0.5, 0.2])
    want = [np.zeros(300)]
    for plane, width in zip(planes, widths, strict=True):
        f = 1.0 - np.where(y == 1, 1.0, -1.0) * (X @ plane[:-1] + plane[-1])
        want.append(np.clip(want[-1] + f / width, 0.0, 1.0))
    for done in (3, 1, 2, 0, 3):
        found = Stages("a run", planes[:done], widths[:done], 1e6).shares(block)
        assert found == pytest.approx(want[done], abs=1e-12)
    remembered.forget("a run")


def test_a_look_is_the_slope_and_the_curvature_of_its_stage():
    X, y = text(n=60)
    table = by_blocks(X, y, blocks=3)
    problem, d, random = question(table), X.shape[1], np.random.default_rng(4)
    signs, plane, step = np.where(y == 1, 1.0, -1.0), 0.2 * random.normal(size=d + 1), 0.1 * random.normal(size=d + 1)
    stages, h = Stages("another", 0.3 * random.normal(size=(1, d + 1)), np.array([0.7]), 0.0), 0.4
    rows = np.column_stack([X.toarray(), np.ones(60)])
    p = np.clip((1.0 - signs * (rows @ stages.planes[0])) / 0.7, 0.0, 1.0)

    def value(at):
        z = p + (1.0 - signs * (rows @ at)) / h
        return h * np.where(z < 0.0, 0.0, np.where(z < 1.0, 0.5 * z * z, z - 0.5)).sum()

    form, tried = Form.of(HINGE), np.array([1.0, 0.25])
    asks = [
        Ask(StageDerivatives(form, HINGE, stages, h, 7, plane, step, tried)),
        Ask(Product(form, stages, h, 7, plane, step[:-1])),
        Ask(Differ(stages, plane, 5)),
    ]
    seen, product, listed = (answers_of(table, [problem], [one])[0] for one in asks)
    assert seen.stage == pytest.approx([value(plane - (1.0 - s) * step) for s in tried])
    assert seen.primal == pytest.approx(
        [np.maximum(0.0, 1.0 - signs * (rows @ (plane - (1.0 - s) * step))).sum() for s in tried]
    )
    z = p + (1.0 - signs * (rows @ plane)) / h
    a, t = np.clip(z, 0.0, 1.0), np.where((z > 0.0) & (z < 1.0), 1.0 / h, 0.0)
    assert (seen.totals[0] - seen.totals[1])[:-1] == pytest.approx(rows.T @ (signs * a))
    assert seen.change == pytest.approx(h * np.square(a - p).sum())
    assert seen.curved == pytest.approx(rows.T @ t)
    assert seen.diagonal == pytest.approx((rows[:, :-1] ** 2).T @ t)
    assert product.total == pytest.approx(rows.T @ (t * (rows[:, :-1] @ step[:-1])))
    differ = np.abs(p - (1.0 - signs * (rows @ plane) > 0.0))
    assert len(listed.ids) == 5
    assert sorted(listed.sizes) == pytest.approx(np.sort(differ)[-5:])
    remembered.forget("another")


def test_the_form_of_a_loss():
    assert Form.of(HINGE) == (1.0, 1.0, 0.0)
    assert Form.of(Loss("steep", box=2.0, bend=0.0)) == (2.0, 1.0, 0.0)
    assert Form.of(SQUARED_HINGE) == (1.0, np.inf, 0.5)
    assert Form.of(LOSSES["modified_huber"]) == (4.0, 1.0, 2.0)


def test_a_run_goes_on_from_its_state_with_the_same_bits():
    X, y = text()
    table = by_blocks(X, y)
    problem = question(table)
    facts = Facts.of(table, problem)

    def proposal(solver, passes):
        """Until so many passes were asked for: then the state is complete."""
        answer = None
        while True:
            wish = solver.run.send(answer)
            if isinstance(wish, Proposal) or not passes:
                return wish
            (answer,), passes = answers_of(table, [problem], [wish]), passes - 1

    whole = proposal(proximal_points.start(problem, facts, 1e7, 1e-6), 10_000)
    for passes in (1, 5, 20, 60):
        first = proximal_points.start(problem, facts, 1e7, 1e-6)
        assert isinstance(proposal(first, passes), Ask)
        second = proximal_points.start(problem, facts, 1e7, 1e-6)
        restore(second.state, snapshot(first.state), table.n_rows)
        resumed = proposal(second, 10_000)
        np.testing.assert_array_equal(resumed.w, whole.w)
        np.testing.assert_array_equal(resumed.weights.listed.shares, whole.weights.listed.shares)


def test_a_list_with_too_little_room_ends_with_the_true_gap(monkeypatch):
    monkeypatch.setattr(proximal_points, "LEAST_LISTED", 3)
    X, y = text()
    standing = led(X, y, memory=0.0)
    held = LinearSVM(tol=1e-8).fit(X, y).certificate_
    assert standing.status == "STALLED"
    assert len(standing.weights.listed.ids) <= 3
    assert standing.dual <= held.primal
    assert held.dual <= standing.primal
    assert standing.gap > 1e-6


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_svm_of_many_columns_and_little_memory(loss, tmp_path):
    """Stopped at a pass, it goes on from its checkpoint."""
    X, y = text(n=400, d=3100)
    cut, asked = (
        [0, 0, 1, *range(50, 401, 50)],
        {"loss": loss, "memory": "3MB", "tol": 1e-3, "class_weight": "balanced"},
    )
    svm = LinearSVM(**asked).fit(Blocked(X, cut), y)
    assert (svm.solver_, svm.status_) == ("proximal_points", Status.PROVEN)
    held = LinearSVM(loss=loss, tol=1e-6, class_weight="balanced").fit(X, y).certificate_
    assert svm.certificate_.dual <= held.primal
    assert held.dual <= svm.certificate_.primal
    assert svm.certificate_.verify(Blocked(X, cut), y, exact=True)
    broken = Blocked(X, cut)
    broken.fails_at = (2, 10)
    with pytest.raises(OSError, match="the disk is gone"):
        fit_with_checkpoints(LinearSVM(**asked), broken, y, path=tmp_path / "run", every=0.0)
    resumed = fit_with_checkpoints(LinearSVM(**asked), Blocked(X, cut), y, path=tmp_path / "run", resume=True)
    assert resumed.coef_.tobytes() == svm.coef_.tobytes()


def test_many_classes_have_what_they_remember_each_for_itself():
    X, y = text(n=150, d=3050)
    labels = y + (np.arange(150) % 5 == 0)
    svm = LinearSVM(memory="20MB", tol=1e-2, loss="squared_hinge").fit(Blocked(X, [0, 80, 150]), labels)
    held = LinearSVM(tol=1e-4, loss="squared_hinge").fit(X, labels)
    assert svm.solver_ == ["proximal_points"] * 3
    for own, other in zip(svm.certificate_, held.certificate_, strict=True):
        assert own.is_optimal
        assert own.dual <= other.primal
        assert other.dual <= own.primal
