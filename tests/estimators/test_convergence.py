"""A fit that ends early warns once, with the gap that its certificate proves; and nobody else warns."""

import math
import re
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import maxmargin
from maxmargin import HardMarginSVM, KernelPerceptron, KernelSVM, LinearSVM, LinearSVMCV, StochasticSVM, path
from maxmargin.certificates.words import rounded_gap
from maxmargin.data.synthetic import flowers, overlapping, xor
from maxmargin.estimators.convergence import End, Ending
from maxmargin.problems.protocol import Anew, Iterate, Options, Run
from maxmargin.run.control import Clock, Status, collected, prove, told_of_ends
from maxmargin.run.observation import observing
from maxmargin.solvers.patience import UNLIMITED
from maxmargin.solvers.registry import while_it_pays


def warned_by(work):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    return [warning for warning in caught if warning.category is ConvergenceWarning]


SHORT = [
    LinearSVM(tol=1e-12, max_iter=1),
    LinearSVM(loss="squared_hinge", tol=1e-12, max_iter=1, multi_class="ovo"),
    LinearSVMCV([0.1, 1.0], cv=2, tol=1e-12, max_iter=1),
    LinearSVM(C=math.inf, tol=1e-17),
    KernelSVM(tol=1e-12, max_iter=1),
    KernelSVM(tol=1e-12, max_time=1e-9, multi_class="ovr"),
    StochasticSVM(tol=1e-9, max_iter=1),
    StochasticSVM(kernel="rbf", tol=1e-9, max_iter=1),
    KernelPerceptron(max_iter=1),
    HardMarginSVM(tol=1e-17),
    HardMarginSVM("l1", tol=1e-17, on_inseparable="return"),
    maxmargin.Perceptron(max_updates=1),
    maxmargin.MarginPerceptron(max_updates=1),
    maxmargin.Winnow(max_updates=1),
]


def three_clouds(n=40):
    """Every class can be told from the rest, but not by the first step of anything."""
    random = np.random.default_rng(0)
    centres = np.array([[0.0, 3.0], [3.0, 0.0], [-3.0, -3.0]])
    y = np.arange(n) % 3
    return centres[y] + 0.8 * random.normal(size=(n, 2)), y


@pytest.mark.parametrize("estimator", SHORT, ids=str)
def test_one_warning_for_a_fit_whatever_the_number_of_its_planes(estimator):
    X, y = three_clouds()
    [warning] = warned_by(lambda: estimator.fit(X, y))
    said = str(warning.message)
    assert said.startswith(f"{type(estimator).__name__} ended early in ")
    assert warning.filename == __file__  # shown where the user is, and not in the library
    statuses = [Status.TIME, Status.BUDGET, Status.STALLED]
    missed = sum(status in statuses for status in estimator.status_)
    parts = int(re.search(r"in (\d+) of (\d+) two-class problems", said)[2])
    if isinstance(estimator, LinearSVMCV):
        assert parts == 3 * (2 * 2 + 1)
    else:
        assert f"in {missed} of 3 two-class problems" in said
    gaps = [
        part.relative_gap
        for part, status in zip(estimator.certificate_, estimator.status_, strict=True)
        if status in statuses
    ]
    known = re.search(r"largest relative gap is (\S+?)[,.] ", said + " ")
    if known and not isinstance(estimator, LinearSVMCV):
        assert max(gaps) <= float(known[1]) <= 1.1 * max(gaps)
    assert known or "No plane that separates the classes was found" in said


def test_the_gap_of_two_classes_is_that_of_the_certificate():
    X, y = overlapping(100)
    svm = LinearSVM(tol=1e-12, max_iter=1)
    [warning] = warned_by(lambda: svm.fit(X, y))
    said = str(warning.message)
    assert "LinearSVM ended early: as many sweeps or updates were made as are allowed. The relative gap is " in said
    assert said.endswith(
        ", and 1.0e-12 was asked for. To come further: raise max_iter, or ask for less by a larger tol."
    )
    gap = svm.certificate_.relative_gap
    assert gap <= float(re.search(r"gap is (\S+),", said)[1]) <= 1.1 * gap


@pytest.mark.parametrize("gap", [1.0, 0.99999, 0.0951, 1.04e-7, 9.96e-3, 1e-300])
def test_the_gap_is_rounded_up(gap):
    assert gap <= float(rounded_gap(gap)) <= 1.11 * gap


def test_stalled_asks_for_other_columns():
    X, y = overlapping(40)
    [warning] = warned_by(lambda: LinearSVM(tol=1e-16).fit(X, y))
    assert "rounding errors leave no way to a smaller gap" in str(warning.message)
    assert "scale the columns" in str(warning.message)


def test_what_is_proven_does_not_warn():
    X, y = overlapping(60)
    corners, diagonals = xor()

    def work():
        LinearSVM().fit(X, y)
        KernelSVM().fit(X, y)
        HardMarginSVM(on_inseparable="return").fit(corners, diagonals)
        for learner in (maxmargin.Perceptron(max_updates=50), maxmargin.MarginPerceptron(), maxmargin.Winnow()):
            assert learner.fit(corners, diagonals).certificate_.is_separable is False
        maxmargin.Perceptron().partial_fit(corners, diagonals, classes=np.unique(diagonals))
        StochasticSVM().partial_fit(X, y, classes=np.unique(y))
        maxmargin.separability(X, y, max_time=1e-9)
        maxmargin.audit(LinearSVM().fit(X, y), X, y, max_time=1e-9)
        KernelSVM(approximation=1).fit(X, y)  # coarse on purpose
        path(X, y, Cs=3)

    assert warned_by(work) == []


def test_a_fit_that_is_stopped_or_interrupted_does_not_warn():
    X, y = overlapping(200)

    def stopped():
        with observing(lambda solution, problem: True):
            assert LinearSVM(tol=1e-12).fit(X, y).status_ is Status.STOPPED
            path(X, y, Cs=3, tol=1e-12)

    def interrupted():
        def press(solution, problem):
            raise KeyboardInterrupt

        with observing(press), pytest.raises(KeyboardInterrupt):
            LinearSVM(tol=1e-12).fit(X, y)

    assert warned_by(stopped) == warned_by(interrupted) == []


def test_a_path_says_which_points_are_missing():
    X, y = overlapping(100)
    [warning] = warned_by(lambda: path(X, y, Cs=7, max_time=1e-9))
    assert "path ended early: max_time was reached. 6 of 7 points were not begun." in str(warning.message)


def test_points_that_were_not_begun_are_said_though_all_others_are_proven():
    X, y = overlapping(40)
    end = End(Status.PROVEN, LinearSVM().fit(X, y).certificate_)
    said = Ending("path", {"max_time": 1.0}, [end, end], "points", not_begun=3).sentence()
    assert (
        said == "path ended early: max_time was reached. 3 of 5 points were not begun. To come further: raise max_time."
    )
    assert Ending("path", {}, [end, end], "points").sentence() is None


def test_in_a_pipeline_it_is_shown_at_the_line_of_the_user():
    X, y = overlapping(60)
    model = make_pipeline(StandardScaler(), LinearSVM(tol=1e-12, max_iter=1))
    [one] = warned_by(lambda: model.fit(X, y))
    assert one.filename == __file__
    assert len(warned_by(lambda: cross_val_score(model, X, y, cv=3))) == 3


def test_whoever_listens_is_told_instead():
    X, y = overlapping(60)
    heard = []
    with told_of_ends(heard.append):
        LinearSVM(tol=1e-12, max_iter=1).fit(X, y)
    with collected() as ends:
        LinearSVM(tol=1e-12, max_iter=1).fit(X, y)
        LinearSVM().fit(X, y)
    assert [ending.name for ending in heard] == ["LinearSVM"]
    assert heard[0].sentence({"tol": "--tol"}.get).endswith("To come further: ask for less by a larger --tol.")
    assert [end.is_early for end in ends] == [True, False]


# ------------------------------------------------------------------------------------------ whose StopIteration it is

ESTIMATORS = [
    LinearSVM(tol=1e-9),
    LinearSVM(loss="squared_hinge", tol=1e-9),
    LinearSVM(C=math.inf),
    LinearSVM(tol=1e-9, multi_class="ovo"),
    LinearSVMCV([1.0], cv=2),
    KernelSVM(tol=1e-9),
    KernelSVM(C=math.inf),
    KernelSVM(approximation=3),
    StochasticSVM(),
    StochasticSVM(kernel="rbf"),
    KernelPerceptron(),
    HardMarginSVM(),
    maxmargin.Perceptron(),
    maxmargin.MarginPerceptron(),
    maxmargin.Winnow(),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_a_listener_whose_next_is_exhausted_is_an_error(estimator):
    X, y = flowers(60)
    wishes = iter([])
    with observing(lambda solution, problem: next(wishes)), pytest.raises((StopIteration, RuntimeError)):
        estimator.fit(X, y)


def test_a_callback_whose_next_is_exhausted_is_an_error():
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")

    class Exhausted:
        def setup(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
            return next(iter([]))

    X, y = overlapping(60)
    with pytest.raises((StopIteration, RuntimeError)):
        LinearSVM(tol=1e-9).set_callbacks(Exhausted()).fit(X, y)


def test_a_kernel_whose_next_is_exhausted_is_an_error():
    X, y = overlapping(30)
    for calls in range(12):
        values = iter([np.dot] * calls)

        def kernel(A, B, values=values):
            return next(values)(A, B.T)

        with pytest.raises((StopIteration, RuntimeError)):
            KernelSVM(kernel=kernel, tol=1e-9).fit(X, y).predict(X)


def test_the_end_of_a_solver_is_its_own():
    """An iterator, not a generator: Python itself guards generators alone."""

    class Solver:
        def send(self, answer):
            raise StopIteration

        def close(self): ...

    class Judge:
        tol, gap = 1e-9, 1.0
        problem = type("Problem", (), {"X": np.zeros((2, 1)), "n_columns": 1, "n_rows": 2})

        def seconds_for(self, solution):
            return 0.0

    solution, status = prove(Run(Anew(Options()), Solver()), Judge(), Clock(None, 0), None)
    assert status is Status.STALLED
    assert not solution.proposes
    assert list(while_it_pays(Solver(), "none", UNLIMITED, 1e-3, [(0.0, math.inf, 1.0)])) == []

    class Angry(Judge):
        def evaluate(self, iterate, **how):
            raise StopIteration("of the judge")

    class Proposing(Solver):
        def send(self, answer):
            return Iterate(np.zeros(1), 0.0, np.zeros(2), True)

    with pytest.raises(StopIteration, match="of the judge"):
        prove(Run(Anew(Options()), Proposing()), Angry(), Clock(None, 0), None)


def test_a_status_is_known_by_its_first_word():
    """Pickles keep the text, which may be worded in another way later."""
    assert Status("stalled: rounding errors leave no way to a smaller gap") is Status.STALLED
    assert Status("budget: as many updates were made as are allowed") is Status.BUDGET
    for text in ("stopped", "over: it is", "", 3):
        with pytest.raises(ValueError, match="is not a valid Status"):
            Status(text)
