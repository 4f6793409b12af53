"""scikit-learn's callbacks hear of a fit, and can end it."""

import math

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from soft_fits import each_loss, mixed

from maxmargin import LinearSVM
from maxmargin.certificates.soft_margin import SoftVerdict
from maxmargin.run.control import Status

callback = pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")


class Counting:
    """Counts rounds; may ask to stop, or raise as Ctrl-C does."""

    def __init__(self, stop_after=math.inf, interrupt_after=math.inf):
        self.stop_after, self.interrupt_after = stop_after, interrupt_after
        self.names, self.scores = [], []

    def setup(self, estimator, context):
        self.names.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.names.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.names.append(f"end {context.task_name}")
        if fitted_estimator is not None:
            self.scores.append(fitted_estimator.score(X, y))
        if self.rounds >= self.interrupt_after:
            raise KeyboardInterrupt
        return self.rounds >= self.stop_after

    def teardown(self, estimator, context):
        self.names.append("teardown")

    @property
    def rounds(self):
        return self.names.count("end round")


@each_loss
def test_callbacks_hear_of_every_round(loss):
    X, y = mixed(seed=20)
    counting = Counting()
    assert isinstance(counting, callback.FitCallback)
    svm = LinearSVM(loss=loss, tol=1e-9).set_callbacks(counting).fit(X, np.where(y > 0, "yes", "no"))
    assert counting.rounds >= 1
    assert counting.names[:2] == ["setup", "begin fit"]
    assert counting.names[-2:] == ["end fit", "teardown"]
    assert counting.names.count("begin round") == counting.rounds
    assert counting.scores[-1] == svm.score(X, np.where(y > 0, "yes", "no"))
    plain = LinearSVM(loss=loss, tol=1e-9).fit(X, np.where(y > 0, "yes", "no"))
    assert np.array_equal(svm.coef_, plain.coef_)


def test_a_callback_stops_the_fit():
    X, y = mixed(seed=21)
    counting = Counting(stop_after=2)
    svm = LinearSVM(100.0, solver="interior_point", tol=1e-10).set_callbacks(counting).fit(X, y)
    assert counting.rounds == 2
    assert svm.status_ is Status.STOPPED
    assert svm.certificate_.verdict is SoftVerdict.BOUNDED
    assert svm.certificate_.verify(X, y)


def test_callbacks_of_scikit_learn():
    X, y = mixed(seed=22)
    monitor = callback.ScoringMonitor(scoring="accuracy")
    LinearSVM(tol=1e-8, solver="interior_point").set_callbacks(monitor).fit(X, y)
    assert len(monitor.get_logs(select="most_recent").data) > 2
    for C in (1.0, math.inf):
        LinearSVM(C).set_callbacks(Counting()).fit(X[:, :1], np.where(X[:, 0] > 0, 3, 4))
    three = Counting()
    LinearSVM(multi_class="ovo").set_callbacks(three).fit(X, np.where(X[:, 0] > 1, 2, y))
    assert three.rounds >= 3
    assert len(three.scores) == 1  # of the whole: one of three planes predicts nothing


def test_the_progress_bar_of_scikit_learn(capsys):
    pytest.importorskip("rich")
    X, y = mixed(seed=23)
    svm = LinearSVM().set_callbacks(callback.ProgressBar()).fit(X, y)
    assert svm.status_ is Status.PROVEN
    assert "LinearSVM" in capsys.readouterr().out
    search = GridSearchCV(LinearSVM(), {"C": [0.1, 1.0]}, cv=2)
    search.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(X, y)
    assert "GridSearchCV" in capsys.readouterr().out


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_interrupt_leaves_a_fitted_estimator_with_its_true_gap(strategy):
    X, y = mixed(seed=24)
    y = np.where(X[:, 0] > 1, 2, y)
    svm = LinearSVM(100.0, solver="interior_point", tol=1e-10, multi_class=strategy)
    svm.set_callbacks(Counting(interrupt_after=2))
    with pytest.raises(KeyboardInterrupt):
        svm.fit(X, y)
    assert svm.status_[0] is Status.INTERRUPTED
    assert svm.certificate_.verify(X, y)
    assert all(0.0 < part.relative_gap <= 1.0 for part in svm.certificate_)
    assert svm.class_weight_.tolist() == [1.0, 1.0, 1.0]
    svm.predict(X[:3])
