"""One verdict for one table: everyone says that no plane separates, with a witness; separability may go further."""

import numpy as np
import pytest
import scipy.sparse as sp
from random_sparse import random_sparse

import maxmargin
from maxmargin.certificates.certificate import FurtherLook, Verdict
from maxmargin.run import control as clock_module
from maxmargin.solvers import registry
from maxmargin.solvers.hulls import weak_plane

pytestmark = pytest.mark.filterwarnings("ignore:.* ended early:sklearn.exceptions.ConvergenceWarning")  # they shall


def contradicted(n=40, d=100):
    """More columns than rows, and one row once more with the other label: weakly separable, and not separable."""
    random = np.random.default_rng(1)
    X, y = random.standard_normal((n, d)), np.where(np.arange(n) % 2, 1, -1)
    return np.vstack([X, X[:1]]), np.append(y, -y[0])


EVERYONE = {
    "Perceptron": maxmargin.Perceptron,
    "MarginPerceptron": maxmargin.MarginPerceptron,
    "Winnow": maxmargin.Winnow,
    "HardMarginSVM": lambda: maxmargin.HardMarginSVM(on_inseparable="return"),
    "l1": lambda: maxmargin.HardMarginSVM("l1", on_inseparable="return"),
}


@pytest.mark.parametrize("name", EVERYONE)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_everyone_says_not_separable_with_a_witness(name, form):
    X, y = contradicted()
    certificate = EVERYONE[name]().fit(form(X), y).certificate_
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert certificate.is_separable is False
    assert set(certificate.rows) == {0, 40}
    assert certificate.further_look is FurtherLook.NOT_ASKED
    assert certificate.verify(X, y, exact=True)


def test_a_plane_that_happens_to_separate_weakly_is_not_called_so():
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([-1, 1, 1])
    assert maxmargin.Perceptron().fit(X, y).certificate_.verdict is Verdict.NOT_SEPARABLE
    assert maxmargin.separability(X, y).verdict is Verdict.WEAKLY_SEPARABLE


def test_a_row_of_zeros_hides_no_weak_plane():
    X, y = np.array([[-1.0, 1.0], [0.0, 0.0], [0.0, 2.0], [1.0, 2.0], [0.0, 2.0]]), np.array([-1, 1, -1, 1, -1])
    certificate = maxmargin.separability(X, y, fit_intercept=False)
    assert certificate.verdict is Verdict.WEAKLY_SEPARABLE
    assert certificate.verify(X, y, exact=True)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_separability_goes_further_and_keeps_the_witness(form, norm):
    X, y = contradicted()
    certificate = maxmargin.separability(form(X), y, norm=norm)
    assert certificate.verdict is Verdict.WEAKLY_SEPARABLE
    assert certificate.is_separable is False
    assert set(certificate.rows) == {0, 40}
    assert certificate.rows_off_plane == 39
    assert "39 of 41 rows" in certificate.report()
    for exact in (False, True):
        assert certificate.verify(X, y, exact=exact)


def test_above_its_size_separability_says_that_it_did_not_look(monkeypatch):
    X, y = contradicted()
    monkeypatch.setattr(weak_plane, "LARGEST_TABLE", 100)
    certificate = maxmargin.separability(X, y)
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert certificate.further_look is FurtherLook.TOO_LARGE
    assert "not looked for" in certificate.report()
    assert certificate.verify(X, y, exact=True)


@pytest.mark.parametrize("limit", [16, 24])
def test_separability_keeps_its_proof_when_the_time_is_over(limit, hand, monkeypatch):
    monkeypatch.setattr(weak_plane, "ROWS_AT_ONCE", 1)
    X, y = contradicted()
    hand.counts(monkeypatch, weak_plane, "check_interrupt", lambda: 1)
    certificate = maxmargin.separability(X, y, max_time=limit)
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert certificate.further_look is FurtherLook.NO_TIME
    assert "time was over" in certificate.report()
    assert hand.most <= 1
    assert hand.readings <= limit + 10
    assert certificate.verify(X, y, exact=True)


def test_where_no_plane_separates_even_weakly_it_says_that_none_was_found():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1, -1, 1, -1])
    certificate = maxmargin.separability(X, y)
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert certificate.further_look is FurtherLook.NONE_FOUND


@pytest.mark.parametrize("weak_rows", [1, 5])
def test_contradicting_rows_end_a_wide_perceptron(weak_rows, monkeypatch):
    """Where rows and columns are many, too, equal rows of both classes are noticed."""
    monkeypatch.setattr(registry, "LARGE", 10)
    random = np.random.default_rng(5)
    X = random_sparse((200, 400), 0.05, random)
    y = np.where(random.random(200) < 0.5, 1, -1)
    X, y = sp.csr_array(sp.vstack([X, X[:weak_rows]])), np.concatenate([y, -y[:weak_rows]])
    for model in (maxmargin.Perceptron(), maxmargin.MarginPerceptron()):
        model.fit(X, y)
        assert model.status_ is clock_module.Status.WITNESS
        assert model.n_iter_ <= 40
        assert model.certificate_.n_support == 2
        assert model.certificate_.verify(X, y, exact=True)


def test_other_witnesses_end_a_wide_perceptron(monkeypatch):
    """A row half way between two rows of the other class."""
    monkeypatch.setattr(registry, "LARGE", 10)
    random = np.random.default_rng(6)
    X, y = random.integers(-4, 5, (60, 100)) * 2.0, np.where(np.arange(60) < 30, 1, -1)
    X, y = np.vstack([X, 0.5 * (X[0] + X[1])]), np.append(y, -1)
    model = maxmargin.Perceptron().fit(X, y)
    assert model.status_ is clock_module.Status.WITNESS
    assert set(model.certificate_.rows) == {0, 1, 60}
    assert model.certificate_.verify(X, y, exact=True)


def test_separable_wide_data_are_still_learnt(monkeypatch):
    monkeypatch.setattr(registry, "LARGE", 10)
    random = np.random.default_rng(7)
    X, y = random.standard_normal((80, 100)), np.where(random.random(80) < 0.5, 1, -1)
    assert maxmargin.Perceptron().fit(X, y).certificate_.is_separable
