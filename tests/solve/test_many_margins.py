"""Problems that are solved and judged together have the answers that each has by itself."""

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.exceptions import ConvergenceWarning
from soft_fits import proven

from maxmargin import LinearSVM, _loops
from maxmargin.certificates.certificate import Certificate
from maxmargin.problems.losses import HINGE
from maxmargin.problems.many_margins import Proposals
from maxmargin.run.control import Status
from maxmargin.solve import many_margins
from maxmargin.solvers import registry


def clouds(n=90, d=3, classes=4, spread=1.0, seed=0):
    random = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = random.normal(size=(classes, d))[y] + spread * random.normal(size=(n, d))
    return X, y


def one_at_a_time(monkeypatch, *arguments, **settings):
    """The same fit, nothing of it together."""
    with monkeypatch.context() as patched:
        patched.setattr(registry, "for_many", lambda *_: None)
        X, y, *weights = arguments
        return LinearSVM(**settings).fit(X, y, *weights)


def agree(svm, alone, X, y, weights=None):
    """Both are proven, and neither objective is outside what the other proves."""
    assert proven(svm, X, y, weights)
    for one, other in zip(parts(svm), parts(alone), strict=True):
        assert max(one.dual, other.dual) <= min(one.primal, other.primal)
        assert (one.positive, one.negative, one.n_rows, one.n_columns) == (
            other.positive, other.negative, other.n_rows, other.n_columns,
        )  # fmt: skip
    assert svm.status_ == alone.status_
    assert svm.dual_coef_.shape == (len(parts(svm)), len(svm.support_))
    size = max(1.0, float(np.abs(alone.decision_function(X)).max()))
    assert np.abs(svm.values_of_planes(X) - alone.values_of_planes(X)).max() <= 10.0 * np.sqrt(svm.tol) * size


def parts(svm):
    return [svm.certificate_] if len(svm.coef_) == 1 else list(svm.certificate_)


@pytest.fixture
def together(monkeypatch):
    """How many problems were answered together."""
    counts, honest = [], many_margins.judged

    def counted(*arguments):
        answers = list(honest(*arguments))
        counts.append(sum(answer is not None for answer in answers))
        return answers

    monkeypatch.setattr(many_margins, "judged", counted)
    return counts


FORMS = {
    "array": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "csr": lambda X: sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0)),
    "tied": lambda X: np.round(X),  # copies of rows, rows of both classes at the same place
    "constant": lambda X: np.column_stack([X, np.ones(len(X)), np.zeros(len(X))]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_together_or_alone(form, multi_class, together, monkeypatch):
    X, y = clouds()
    X = FORMS[form](X)
    svm = LinearSVM(multi_class=multi_class).fit(X, y)
    assert sum(together) == (6 if multi_class == "ovo" else 4)
    agree(svm, one_at_a_time(monkeypatch, X, y, multi_class=multi_class), X, y)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("spread", [0.1, 2.0])  # separable, and not
def test_prices_and_biases(C, bias, spread, together, monkeypatch):
    X, y = clouds(spread=spread, seed=1)
    settings = {"C": C, "fit_intercept": bias, "multi_class": "ovo"}
    agree(LinearSVM(**settings).fit(X, y), one_at_a_time(monkeypatch, X, y, **settings), X, y)
    assert sum(together) == 6


def test_weights_of_rows_and_classes(together, monkeypatch):
    X, y = clouds(seed=2)
    weights = np.random.default_rng(2).integers(0, 4, len(y)).astype(float)
    settings = {"multi_class": "ovo", "class_weight": {0: 2.0, 1: 0.1, 2: 1.0, 3: 7.0}}
    svm = LinearSVM(**settings).fit(X, y, weights)
    assert sum(together) == 6
    agree(svm, one_at_a_time(monkeypatch, X, y, weights, **settings), X, y, weights)
    assert not np.any(weights[svm.support_] == 0.0)


def test_two_classes_and_uneven_ones(together, monkeypatch):
    X, y = clouds(classes=2, seed=3)
    assert np.array_equal(LinearSVM().fit(X, y).coef_, one_at_a_time(monkeypatch, X, y).coef_)
    assert not together  # one problem has the same bits whether or not somebody looks
    uneven = np.where(np.arange(len(y)) < 80, 0, y + 1)
    svm = LinearSVM(multi_class="ovo").fit(X, uneven)
    assert together == [3]
    agree(svm, one_at_a_time(monkeypatch, X, uneven, multi_class="ovo"), X, uneven)


def test_in_several_groups_the_answers_are_the_same(together, monkeypatch):
    X, y = clouds(seed=4)
    whole = LinearSVM(multi_class="ovo").fit(X, y)
    monkeypatch.setattr(many_margins, "AT_ONCE", 300)  # numbers: two problems each
    cut = LinearSVM(multi_class="ovo").fit(X, y)
    assert together == [6, 2, 2, 2]
    assert np.array_equal(cut.coef_, whole.coef_)
    assert np.array_equal(cut.dual_coef_, whole.dual_coef_)
    assert cut.certificate_.relative_gap == whole.certificate_.relative_gap


def test_what_is_too_large_is_solved_beside_them(together, monkeypatch):
    """One class of many rows: its pairs go their own way, and the answers keep their order."""
    X, y = clouds(seed=5)
    solver = registry.for_many("auto", HINGE)
    solver = solver._replace(many=solver.many._replace(rows=60))
    monkeypatch.setattr(registry, "for_many", lambda *_: solver)
    y = np.where(np.arange(len(y)) < 50, 0, y)
    svm = LinearSVM(multi_class="ovo").fit(X, y)
    assert together == [3]
    agree(svm, one_at_a_time(monkeypatch, X, y, multi_class="ovo"), X, y)


def liar(lie):
    """A solver of many problems that proposes what it likes."""
    honest = registry.for_many("auto", HINGE)

    def proposals(many, tol):
        found = registry.loaded(honest.many.proposals)(many, tol)
        return lie(Proposals(*(np.array(part) for part in found)))

    return honest._replace(name="liar", many=honest.many._replace(proposals=proposals))


LIES = {
    "another plane": lambda found: found._replace(w=1.01 * found.w),
    "another bias": lambda found: found._replace(b=found.b + 0.1),
    "no plane": lambda found: found._replace(w=np.full_like(found.w, np.nan)),
    "weights beyond their box": lambda found: found._replace(a=10.0 * found.a),
    "half of the weights": lambda found: found._replace(a=0.5 * found.a),
    "no weights": lambda found: found._replace(a=0.0 * found.a),
    "negative weights": lambda found: found._replace(a=-found.a),
    "weights of other rows": lambda found: found._replace(a=found.a[::-1].copy()),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_solver_that_lies_is_not_believed(lie, together, monkeypatch):
    X, y = clouds(seed=6)
    solver = liar(LIES[lie])
    monkeypatch.setattr(registry, "for_many", lambda *_: solver)
    svm = LinearSVM(multi_class="ovo").fit(X, y)
    assert together == [0]
    assert "liar" not in svm.solver_
    assert proven(svm, X, y)


def test_one_lie_among_honest_answers(together, monkeypatch):
    def lie(found):
        found.b[2] += 1.0
        return found

    X, y = clouds(seed=7)
    solver = liar(lie)
    monkeypatch.setattr(registry, "for_many", lambda *_: solver)
    svm = LinearSVM(multi_class="ovo").fit(X, y)
    assert together == [5]
    agree(svm, one_at_a_time(monkeypatch, X, y, multi_class="ovo"), X, y)


@pytest.mark.parametrize("loss", ["squared_hinge", "huber_hinge", "modified_huber"])
@pytest.mark.parametrize("form", FORMS)
def test_losses_that_bend(loss, form, together, monkeypatch):
    X, y = clouds(classes=3, seed=15)
    settings = {"loss": loss, "fit_intercept": loss != "huber_hinge", "tol": 1e-6, "multi_class": "ovo"}
    X = FORMS[form](X)
    svm = LinearSVM(**settings).fit(X, y)
    assert together == [3]
    assert svm.solver_ == ["newton"] * 3
    agree(svm, one_at_a_time(monkeypatch, X, y, **settings), X, y)


@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("spread", [0.01, 1.0])
def test_a_bend_at_other_prices(C, spread, together, monkeypatch):
    """Separable or not; a row of each class, at the least."""
    X, y = clouds(n=40, spread=spread, seed=16)
    X, y, weights = X + 1e3, np.where(np.arange(40) < 5, 9, y), np.linspace(0.0, 3.0, 40)
    settings = {"loss": "squared_hinge", "C": C}
    svm = LinearSVM(**settings).fit(X, y, weights)
    assert together == [5]
    agree(svm, one_at_a_time(monkeypatch, X, y, weights, **settings), X, y, weights)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber_hinge"])
def test_what_needs_finer_sums_is_judged_with_them(loss, together, monkeypatch):
    """The conditions of optimality are reported as whoever verifies finds them: to the precision of the same sums."""
    X, y = clouds(n=38, d=1, classes=5, seed=18)
    finer, honest = [], many_margins.judged_by_itself

    def noted(*arguments):
        finer.append(honest(*arguments))
        return finer[-1]

    monkeypatch.setattr(many_margins, "judged_by_itself", noted)
    for tol in (1e-9, 1e-11):
        svm = LinearSVM(C=1e-4, loss=loss, tol=tol).fit(X + 1e4, y)
        assert svm.certificate_.verify(X + 1e4, y, exact=True)
        assert svm.certificate_.verify(X + 1e4, y)
    assert any(answer is not None for answer in finer)


def test_a_narrow_bend_goes_its_own_way(together):
    X, y = clouds(seed=17)
    LinearSVM(loss="huber_hinge", huber_width=0.01).fit(X, y)
    assert together == []


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_limit_of_steps_holds_for_each_problem(loss, together):
    """What would take more steps is solved by itself, and ends there."""
    X, y = clouds(seed=8)
    steps = LinearSVM(loss=loss).fit(X, y).n_updates_
    assert together.pop() == 4
    limit = sorted(steps)[1]
    with pytest.warns(ConvergenceWarning, match="as many sweeps or updates were made as are allowed"):
        LinearSVM(loss=loss, max_iter=limit).fit(X, y)
    assert together == [sum(one <= limit for one in steps)]
    assert 1 < together[0] < 4


@pytest.mark.parametrize("settings", [{"max_time": 60.0}, {"solver": "coordinate_descent"}])
def test_who_asks_for_single_steps_gets_them(settings, together):
    X, y = clouds(seed=8)
    assert proven(LinearSVM(multi_class="ovo", **settings).fit(X, y), X, y)
    assert together == []


@pytest.mark.parametrize("scale", [1e-40, 1e40])
def test_numbers_whose_squares_are_no_doubles_go_their_own_way(scale, together):
    X, y = clouds(seed=9)
    LinearSVM(multi_class="ovo", C=scale**-2.0).fit(scale * X, y)
    assert together == []


def test_entries_that_come_twice_are_added_up(together, monkeypatch):
    X, y = clouds(n=40, classes=3, seed=10)
    halves = sparse.csr_array(np.hstack([0.25 * X, 0.75 * X]))
    twice = sparse.csr_array((halves.data, halves.indices % X.shape[1], halves.indptr), X.shape)
    agree(LinearSVM().fit(twice, y), one_at_a_time(monkeypatch, twice, y), twice, y)
    assert together == [3]


def test_a_start_is_not_ignored(together):
    X, y = clouds(seed=11)
    svm = LinearSVM(multi_class="ovo", warm_start=True).fit(X, y)
    assert together == [6]
    svm.fit(X, y)
    assert together == [6]
    assert set(svm.solver_) == {"none needed"}


def test_the_hard_margin_is_untouched(together):
    X, y = clouds(spread=0.1, seed=12)
    svm = LinearSVM(C=float("inf"), multi_class="ovo").fit(X, y)
    assert together == []
    assert all(isinstance(part, Certificate) for part in svm.certificate_)


def test_a_gap_below_rounding_is_left_to_who_can_say_so(together):
    X, y = clouds(n=40, classes=2, seed=13)
    with pytest.warns(UserWarning, match="asked for"):
        svm = LinearSVM(tol=1e-16).fit(X, y)
    assert sum(together) == 0
    assert svm.status_ is Status.STALLED


def test_the_first_small_fits_of_a_process_compile_nothing(together, monkeypatch):
    X, y = clouds(seed=14)
    monkeypatch.setattr(_loops, "_rows_left", 1000)
    svm = LinearSVM(multi_class="ovo").fit(X, y)
    assert together == []
    monkeypatch.setattr(_loops, "_rows_left", 0)
    agree(LinearSVM(multi_class="ovo").fit(X, y), svm, X, y)
    assert together == [6]
