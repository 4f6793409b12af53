"""The display of a run: the planes of each update, the theorem, and the film."""

import numpy as np
import pytest
from matplotlib.animation import FFMpegWriter
from PIL import Image

from maxmargin import (
    HardMarginSVM,
    KernelPerceptron,
    LinearSVM,
    MarginPerceptron,
    Perceptron,
    StochasticSVM,
    Trace,
    TraceDisplay,
    Winnow,
)
from maxmargin.data import synthetic
from maxmargin.plots.run import mostly_early
from maxmargin.plots.updates import run_of


@pytest.fixture
def narrow():
    X, y, _ = synthetic.separable_gaussians(40, 2, margin=0.15, seed=3)
    return X, y


@pytest.mark.parametrize("learner", [Perceptron(), Perceptron(rate=0.1), MarginPerceptron(), Winnow()], ids=str)
def test_planes_are_in_the_units_of_the_rows(learner, narrow):
    X, y = narrow
    learner.set_params(record=True).fit(X, y)
    run = run_of(learner, X, y)
    last = y * (X @ run.after[-1] + run.b_after[-1])
    assert np.all(last > 0.0)
    before = y[run.row] * (np.einsum("ij,ij->i", X[run.row], run.before) + run.b_before)
    if not isinstance(learner, MarginPerceptron):
        assert np.all(before <= 1e-12)  # each was a mistake
    moved = run.after[:-1] if isinstance(learner, Perceptron) else run.after[:0]
    assert run.before[1:][: len(moved)] == pytest.approx(moved)


def test_novikov_squeezes_the_length_of_the_weights(narrow, style):
    X, y = narrow
    learner = Perceptron(rate=0.5, record=True).fit(X, y)
    display = TraceDisplay.from_estimator(learner, X, y, kind="bound")
    drawn = {line.get_label(): np.array(line.get_data()) for line in display.ax_.lines}
    run, theorem = display.run, learner.certificate_.theorems[0]
    t, norm = drawn["|w| after t updates"]
    assert np.all(norm <= np.sqrt(t) * run.radius * (1.0 + 1e-12))
    assert np.all(norm >= t * run.progress * (1.0 - 1e-12))
    [bound] = [place[0][0] for label, place in drawn.items() if label.startswith("the theorem allows")]
    assert bound == theorem.bound
    assert bound == pytest.approx((run.radius / run.progress) ** 2)
    for label, slope in (("at most R sqrt(t)", run.radius), ("at least g t", run.progress)):
        t, height = drawn[label]
        assert height == pytest.approx(slope * (np.sqrt(t) if "sqrt" in label else t))


@pytest.mark.parametrize("learner", [MarginPerceptron(), Winnow()], ids=str)
def test_other_theorems(learner, narrow):
    X, y = narrow
    display = TraceDisplay.from_estimator(learner.fit(X, y), X, y, kind="bound")
    [bound] = [line.get_xdata()[0] for line in display.ax_.lines if line.get_label().startswith("the theorem allows")]
    assert bound == learner.certificate_.theorems[0].bound
    proven = display.ax_.lines[0].get_ydata()
    rows = "rows (x/s, 1)" if isinstance(learner, Winnow) else "lifted rows"
    assert display.ax_.lines[0].get_label() == f"no margin of the {rows} is above this, after t updates"
    assert np.all(np.diff(proven) <= 0.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "learner",
    [KernelPerceptron(gamma=5.0), StochasticSVM(max_iter=2), StochasticSVM(max_iter=2, kernel="rbf")],
    ids=str,
)
def test_bent_planes_and_visits(learner, narrow):
    X, y = narrow
    learner.set_params(record=True).fit(X, y)
    noun = "visit" if isinstance(learner, StochasticSVM) else "update"
    display = TraceDisplay.from_estimator(learner, X, y, panels=3)
    run = display.run
    for ax, k in zip(display.axes_, mostly_early(len(run.update), 3), strict=True):
        assert ax.get_title() == f"{noun} {run.update[k]}"
        drawn = [
            line.get_xydata() for line in ax.lines if line.get_label() == "plane"
        ]  # none, where it is out of sight
        on_line = np.concatenate([*drawn, np.zeros((0, 2))])
        on_line = on_line[np.isfinite(on_line[:, 0])]
        assert len(on_line) > (0 if k == len(run.update) - 1 else -1)
        assert run.value(run.after[k], run.b_after[k], on_line) == pytest.approx(
            0.0, abs=1e-8 * np.abs(run.after).max()
        )
    one = TraceDisplay.from_estimator(learner, X, y, kind="update", update=2)
    value = y[run.row[1]] * run.value(run.after[1], run.b_after[1], X[run.row[1]][None])[0]
    assert one.axes_[1].get_title().endswith(f"has y (w.x + b) = {value:.4g}")
    if isinstance(learner, StochasticSVM):
        with pytest.raises(ValueError, match="bound no margin"):
            display.plot(kind="bound")
    else:
        assert display.plot(kind="bound").ax_.lines


@pytest.mark.parametrize("learner", [Perceptron(rate=0.5), MarginPerceptron(), Winnow(), KernelPerceptron()], ids=str)
def test_a_run_from_a_file_is_drawn_without_its_data(learner, narrow):
    X, y = narrow
    model = learner.set_params(record=True).fit(X, y)
    read = Trace.from_json(model.trace_.to_json())
    for kind in ("run", "bound"):
        own = TraceDisplay.from_estimator(model, X, y, kind=kind)
        other = TraceDisplay.from_trace(read, kind=kind)
        assert [ax.get_title() for ax in own.axes_] == [ax.get_title() for ax in other.axes_]
        for one, two in zip(own.ax_.lines, other.ax_.lines, strict=True):
            assert np.array_equal(one.get_xydata(), two.get_xydata(), equal_nan=True)
    with pytest.raises(ValueError, match="made no update"):
        TraceDisplay.from_trace(Trace())


def test_small_pictures_of_a_run(narrow, style):
    X, y = narrow
    display = TraceDisplay.from_estimator(Perceptron(record=True).fit(X, y), X, y, panels=4)
    shown = mostly_early(display.run.n_updates, 4)
    assert [ax.get_title() for ax in display.axes_] == [f"update {k + 1}" for k in shown]
    for ax, k in zip(display.axes_, shown, strict=True):
        ends = np.array(ax.lines[-1].get_data()).T
        assert ends @ display.run.after[k] + display.run.b_after[k] == pytest.approx(0.0, abs=1e-9)


def test_one_update_before_and_after(narrow):
    X, y = narrow
    display = TraceDisplay.from_estimator(Perceptron(record=True).fit(X, y), X, y, kind="update", update=3)
    run, row = display.run, display.run.row[2]
    ring = np.asarray(display.axes_[0].collections[-1].get_offsets())[0]
    assert ring.tolist() == X[row].tolist()
    for ax, w, b in zip(display.axes_, (run.before[2], run.after[2]), (run.b_before[2], run.b_after[2]), strict=True):
        assert f"has y (w.x + b) = {y[row] * (X[row] @ w + b):.4g}" in ax.get_title()
    with pytest.raises(ValueError, match="update 99 is not in the record"):
        display.plot(kind="update", update=99)


def test_a_film(narrow, tmp_path):
    X, y = narrow
    display = TraceDisplay(run_of(Perceptron(record=True).fit(X, y), X, y))
    file = display.animate(tmp_path / "run.gif")
    with Image.open(file) as film:
        assert film.n_frames >= 2
    with pytest.raises(ValueError, match=r"a film is a \.gif or an \.mp4"):
        display.animate(tmp_path / "run.png")


def test_an_mp4_needs_ffmpeg(narrow, tmp_path, monkeypatch):
    X, y = narrow
    display = TraceDisplay(run_of(Perceptron(record=True).fit(X, y), X, y))
    monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    with pytest.raises(ValueError, match="ffmpeg, which is not installed"):
        display.animate(tmp_path / "run.mp4")
    assert not (tmp_path / "run.mp4").exists()


def test_one_plane_of_many():
    X, y = synthetic.flowers()
    learner = Perceptron(multi_class="ovo", record=True, max_updates=300).fit(X, y)
    run = run_of(learner, X, y, plane=0)
    assert set(y[run.row]) <= {"aster", "bellis"}


def test_what_has_no_trace(narrow):
    X, y = narrow
    with pytest.raises(ValueError, match="ConvergenceDisplay"):
        TraceDisplay.from_estimator(LinearSVM().fit(X, y), X, y)
    with pytest.raises(ValueError, match="ConvergenceDisplay"):
        TraceDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y)
    wide = np.column_stack([X, X[:, 0]])
    with pytest.raises(ValueError, match="two columns; these data have 3"):
        TraceDisplay.from_estimator(Perceptron().fit(wide, y), wide, y)
    with pytest.raises(ValueError, match="kind='film' is not known"):
        TraceDisplay.from_estimator(Perceptron().fit(X, y), X, y, kind="film")


@pytest.mark.parametrize(("count", "most"), [(1, 6), (6, 6), (8, 6), (1000, 6), (5, 60)])
def test_first_and_last_are_shown(count, most):
    chosen = mostly_early(count, most)
    assert chosen[0] == 0
    assert chosen[-1] == count - 1
    assert len(chosen) == len(set(chosen)) == min(count, most)
