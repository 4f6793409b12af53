"""The short form of the hunt, the hunt's own manners, and problems that once ended badly."""

import math
import os
import signal

import hunt_nasty_problems as hunter
import kernel_cases
import numpy as np
import pytest
import scipy.sparse as sparse
from nasty_problems import LEARNERS, nasty_problem
from solver_runs import iterates

from maxmargin import KernelSVM, LinearSVM, NotSeparableError, StochasticSVM, UndecidedError, separability
from maxmargin.data.executor import Threads
from maxmargin.data.table import row_squares
from maxmargin.problems.losses import SQUARED_HINGE
from maxmargin.problems.statement import Norm, Separation, SoftMargin
from maxmargin.run.control import Status
from maxmargin.solve import kernel_columns
from maxmargin.solvers.hulls.nearest import nearest_hulls
from maxmargin.solvers.newton.systems import FewColumns
from maxmargin.solvers.passes import RowPasses


def test_nasty_problems_end_well(capsys):
    assert hunter.main(["70", "--seed", "2"]) == 0, capsys.readouterr().out
    out = capsys.readouterr().out
    assert "70 problems" in out
    assert all(name in out for name in LEARNERS)


def test_a_number_makes_the_same_problem_again():
    for number in range(len(LEARNERS)):
        one, other = nasty_problem(7, number), nasty_problem(7, number)
        assert str(one) == str(other)
        assert np.array_equal(dense(one.X), dense(other.X))
        assert np.array_equal(one.y, other.y)


def dense(X):
    return X.toarray() if hasattr(X, "toarray") else X


class Scripted:
    """A worker of whom it is known what it says, and how it dies."""

    def __init__(self, lines, code, said=""):
        self.lines, self.code = lines, code
        self.stdout = self.stderr = self
        self.said = said

    def read(self):
        return self.said

    def close(self):
        pass

    def wait(self):
        return self.code


@pytest.mark.parametrize(("code", "outcome"), [(-signal.SIGPROF, "hang"), (-signal.SIGSEGV, "crash"), (3, "crash")])
def test_a_worker_that_dies_is_counted_and_the_next_goes_on(monkeypatch, code, outcome):
    begun = [{"number": number, "name": "hinge", "problem": "rows"} for number in range(3)]
    fine = [{**line, "outcome": "proven", "detail": "", "seconds": 0.0} for line in begun]
    stack = 'File "/src/maxmargin/solvers/some.py", line 3 in here'
    workers = [
        Scripted([begun[0], fine[0], begun[1]], code, f"Fatal\n  {stack}\n"),
        Scripted([begun[2], fine[2]], 0),
    ]
    asked = []
    monkeypatch.setattr(hunter, "start_worker", lambda seed, left: asked.append(list(left)) or workers.pop(0))
    monkeypatch.setattr(hunter, "lines_of", lambda worker: iter(worker.lines))
    found = list(hunter.hunt(0, range(3)))
    assert [line["outcome"] for line in found] == ["proven", outcome, "proven"]
    assert stack in found[1]["detail"]
    assert asked == [[0, 1, 2], [2]]


class Rogue:
    """An estimator that does what it is told."""

    kernel = None

    def __init__(self, deed):
        self.deed = deed

    def fit(self, X, y):
        return self.deed()


def fails(error):
    def deed():
        raise error

    return deed


def warns():
    np.log(np.zeros(1))
    return LinearSVM().fit([[0.0], [1.0]], [0, 1])


def forges():
    model = LinearSVM().fit([[0.0], [1.0]], [0, 1])
    model.intercept_ = np.array([math.nan])
    return model


@pytest.mark.parametrize(
    ("deed", "outcome"),
    [
        (fails(ZeroDivisionError("division by zero")), "exception"),
        (fails(np.linalg.LinAlgError("a matrix is singular")), "exception"),
        (fails(ValueError("a sentence that is not the package's own")), "exception"),
        (lambda: math.sqrt(-1.0), "exception"),
        (lambda: LinearSVM(C=-1.0).fit([[0.0], [1.0]], [0, 1]), "refused"),
        (lambda: LinearSVM().fit([[0.0], [1.0]], [0, 1]), "proven"),
        (lambda: LinearSVM().fit([[0.0], [9.0]], [0, 1]), "unverified"),
        (warns, "warning"),
        (forges, "wrong"),
    ],
)
def test_what_the_hunt_calls_a_bad_end(deed, outcome):
    problem = nasty_problem(0, 0)._replace(
        estimator=Rogue(deed), X=np.array([[0.0], [1.0]]), y=np.array([0, 1]), weights=None
    )
    found, detail = hunter.outcome_of(problem)
    assert found == outcome, detail
    assert os.sep not in hunter.place(__file__, 3).replace("tests" + os.sep, "", 1)


# ----------------------------------------------------------------------------------- problems that once ended badly


def test_a_heavy_row_that_leaves_newtons_system_takes_no_digits_of_the_others_with_it():
    X = np.array([[0.0, 0.0], [1.0, 2.0], [-1.0, 1.0], [2.0, -1.0]])
    costs = np.array([1e12, 1e-12, 1e-12, 1e-12])
    problem = SoftMargin(X, np.array([1.0, -1.0, 1.0, -1.0]), costs, SQUARED_HINGE, True)
    light, g = np.arange(1, 4), np.array([1.0, -1.0])
    with Threads() as threads:
        passes = RowPasses(X, threads)
        system, fresh = FewColumns(problem, passes), FewColumns(problem, passes)
        answer_of(system.direction(np.arange(4), g, 0.0))
        dw, db = answer_of(system.direction(light, g, 0.0))
        expected = answer_of(fresh.direction(light, g, 0.0))
    assert np.allclose(dw, expected[0], rtol=1e-12)
    assert db == pytest.approx(expected[1], rel=1e-9)


def answer_of(work):
    try:
        while True:
            next(work)
    except StopIteration as found:
        return found.value


@pytest.mark.parametrize("size", [1e150, 1e100, 1e-100, 1e-150])
def test_the_hulls_of_rows_of_any_size(size):
    X, signs = np.array([[0.0, -1.0], [1.0, -1.0], [0.5, 1.0]]), np.array([1.0, 1.0, -1.0])
    *_, street = nearest_hulls(Separation(X * size, signs, Norm.L2, True))
    assert np.allclose(street.a, [0.5, 0.5, 1.0])
    assert not street.meets


def test_a_hard_margin_of_a_kernel_with_one_huge_row():
    X, y = np.array([[0.0, -1.0], [1e100, -1e100]]), [1, 0]
    svm = KernelSVM(math.inf, kernel="linear").fit(X, y)
    assert svm.certificate_.is_separable
    assert svm.certificate_.verify(X, y, exact=True)


def test_rounds_that_rise_by_rounding_alone_come_to_an_end():
    """Three rows of which float32 sees one: their dual objective rises for ever, and no plane is seen."""
    X, y = np.array([[1.0, 0.0], [1.0, 1.0], [np.nextafter(1.0, 2.0), 0.5]]), np.array([-1.0, -1.0, 1.0])
    problem = kernel_cases.problem_of(X, y, C=math.inf, kernel="linear")
    rounds = 0
    with Threads() as threads:
        shared = kernel_cases.shared_rows(problem.kernel, problem.points, threads)
        memories = [kernel_cases.room_for(shared.rows, 1e6) for _ in range(2)]
        cache = kernel_cases.RowCache(shared.rows, memories[0])
        for solution in iterates(kernel_cases.batch_smo(problem, cache, shared.scale, tol=1e-3, memory=memories[1])):
            rounds = solution.sweeps
            assert rounds < 200
    assert rounds > 0


def test_a_hard_margin_that_creeps_comes_to_an_end(monkeypatch):
    """A dual objective that rises by a little in each of ten thousand rounds, over kernel values of 1e18."""
    ended, prove = [], kernel_columns.prove

    def watched(run, judge, clock, max_iter, *most_updates):
        iterate, status = prove(run, judge, clock, max_iter, *most_updates)
        ended.append((iterate.updates, status))
        return iterate, status

    monkeypatch.setattr(kernel_columns, "prove", watched)
    X, y = np.random.default_rng(0).standard_normal((24, 6)), np.arange(24) % 2
    with pytest.raises(UndecidedError):
        KernelSVM(math.inf, kernel="poly", degree=3, coef0=1e6, gamma="auto", tol=1e-3).fit(X, y)
    ((updates, status),) = ended
    assert status is Status.STALLED
    most_steps = kernel_columns.STEPS_OF_A_ROW * len(y)
    assert most_steps < updates < 1.1 * most_steps


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_a_kernel_fit_proposes_only_numbers(kernel):
    X = np.array([[1e12, 1e12], [1e12 + 1, 1e12], [1e12, 1e12 + 2], [1e12 + 5, 1e12 + 1]])
    try:
        certificate = KernelSVM(math.inf, kernel=kernel, gamma=1.0, coef0=1.0).fit(X, [0, 1, 0, 1]).certificate_
    except (NotSeparableError, UndecidedError) as error:
        certificate = error.certificate
    assert np.all(np.isfinite(certificate.weights))
    assert certificate.verify(X, [0, 1, 0, 1])


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("C", [1.0, math.inf])
def test_a_sparse_table_without_any_entry(kernel, C):
    X, y = sparse.csr_array((4, 2)), [0, 0, 1, 1]
    assert row_squares(X).dtype == np.float64
    if math.inf == C:
        with pytest.raises(NotSeparableError):
            KernelSVM(C, kernel=kernel).fit(X, y)
    else:
        assert KernelSVM(C, kernel=kernel).fit(X, y).certificate_.verify(X, y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_linear_kernel_of_the_least_numbers_there_are(form):
    X, y = form(np.array([[5e-324, 0.0], [0.0, 1e-320], [0.0, 0.0]])), [0, 1, 0]
    with np.errstate(all="raise", under="ignore"):
        svm = KernelSVM(kernel="linear").fit(X, y)
    assert np.all(np.isfinite(svm.dual_coef_))
    assert svm.certificate_.verify(X, y, exact=True)


@pytest.mark.parametrize(
    ("seed", "number"),
    [
        (0, 104),
        (0, 1131),
        (0, 1546),
        (0, 2287),
        (0, 3542),
        (0, 3769),
        (0, 3822),
        (4, 199),
        (77, 75),
        (100, 1195),
        (100, 3400),
    ],
)
def test_one_that_the_hunt_found(seed, number):
    outcome, detail = hunter.outcome_of(nasty_problem(seed, number))
    assert outcome in hunter.GOOD, detail


def test_a_weak_plane_between_columns_of_any_size():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [2.0, 3.0], [-2.0, -3.0]]) * [1e-300, 1e3]
    y = [1, 1, 0, 0, 1, 0]
    with np.errstate(all="raise", under="ignore"):
        certificate = separability(X, y)
    assert certificate.is_separable is False
    assert certificate.verify(X, y, exact=True)


def test_steps_beyond_float64_are_refused_in_a_sentence():
    X = np.array([[1e300, 0.0], [0.0, 1e300], [1e300, 1e300], [0.0, 0.0]])
    with pytest.raises(ValueError, match="too long"):
        StochasticSVM(C=0.01, average=True).fit(X, [0, 1, 1, 0])


def test_rounds_whose_dual_objective_fell_end():
    """Float32 takes the rows of both classes for equal: one step makes weights of 1e43, and no later one moves."""
    problem = nasty_problem(9001, 3)
    with pytest.raises(UndecidedError):
        problem.estimator.set_params(max_time=20).fit(problem.X, problem.y, sample_weight=problem.weights)
