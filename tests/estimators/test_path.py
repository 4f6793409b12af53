"""The path in C: proven at every point, true to its two ends, and honest where it was cut short."""

import math

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.exceptions import ConvergenceWarning

from maxmargin import HardMarginSVM, LinearSVM, MarginPath, path
from maxmargin.data.synthetic import overlapping, separable_gaussians, xor
from maxmargin.estimators.path import DEAR, check_Cs
from maxmargin.run.control import Status

LOSSES = ("hinge", "squared_hinge")


def balanced(n=40, d=3, seed=0):
    """Two overlapping clouds of equally many rows."""
    random = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    return random.normal(size=(n, d)) + 0.7 * y[:, None], y


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_every_point_is_proven_and_is_what_a_fit_gives(loss, bias, form):
    X, y = balanced()
    street = path(form(X), y, Cs=[1.0, 0.01, 10.0, 0.1], loss=loss, fit_intercept=bias, tol=1e-7)
    assert street.Cs.tolist() == [0.01, 0.1, 1.0, 10.0]
    assert all(status is Status.PROVEN for status in street.statuses)
    for point in street:
        alone = LinearSVM(point.C, loss=loss, fit_intercept=bias, tol=1e-7).fit(form(X), y)
        assert point.certificate.primal == pytest.approx(alone.certificate_.primal, rel=2e-7)
        assert point.certificate.verify(form(X), y, exact=True)
        assert point.margin == pytest.approx(1.0 / np.linalg.norm(point.coef))
        assert bias or point.intercept == 0.0
    assert np.all(np.diff(street.margins) <= 1e-3 * street.margins[:-1])


def test_the_counts_are_those_of_the_rows():
    X, y = overlapping(80, seed=2)
    street = path(X, y, Cs=[0.1, 1.0], tol=1e-6)
    for k, point in enumerate(street):
        slack = 1.0 - y * (X @ point.coef + point.intercept)
        assert point.n_mistakes == street.n_mistakes[k] == np.sum(slack > 1.0)
        assert point.n_inside == street.n_inside[k] == np.sum((slack > 1e-6) & (slack <= 1.0))
        assert point.n_support == street.n_support[k] == len(point.certificate.rows)
    assert street.n_support[0] >= street.n_support[1]


@pytest.mark.parametrize("bias", [True, False])
def test_below_the_low_end_only_the_length_changes(bias):
    X, y = balanced()
    low = path(X, y, Cs=5, fit_intercept=bias, tol=1e-9).Cs[0]
    s = y @ X
    below, at, above = path(X, y, Cs=[0.5 * low, low, 1.5 * low], fit_intercept=bias, tol=1e-9)
    for point in (below, at):
        assert np.allclose(point.coef, point.C * s, rtol=1e-4)
        assert point.n_support == len(y)
    assert not np.allclose(above.coef, above.C * s, rtol=1e-2)


def test_from_C_max_on_it_is_the_hard_margin():
    X, y, _ = separable_gaussians(80, 3, margin=0.4, seed=3)
    hard = HardMarginSVM().fit(X, y)
    C_max = float(np.abs(hard.dual_coef_).max())
    street = path(X, y, Cs=[0.5 * C_max, C_max, 2.0 * C_max, 1e4 * C_max], tol=1e-7)
    assert street.C_max == pytest.approx(C_max, rel=1e-6)
    assert street.separation.is_separable
    for point in street[1:]:
        assert point.margin == pytest.approx(hard.margin_, rel=1e-6)
        assert point.certificate.is_optimal
        assert point.certificate.verify(X, y, exact=True)
        assert point.n_inside == point.n_mistakes == 0
    assert street[0].certificate.primal < 0.999 * street[1].certificate.primal


def test_a_huge_C_is_called_proven_only_where_it_is():
    """1e15 times a rounding error is a loss: the plane must be steep enough that no row pays for one."""
    X, y, _ = separable_gaussians(80, 3, margin=0.4, seed=3)
    street = path(X, y, Cs=[1e15], tol=1e-12)
    assert (street.statuses == (Status.PROVEN,)) == street[0].certificate.is_optimal
    assert street[0].certificate.verify(X, y, exact=True)
    assert street[0].margin == pytest.approx(HardMarginSVM().fit(X, y).margin_, rel=1e-6)


@pytest.mark.parametrize("weights", [None, [1e-12, 1.0]])
def test_a_C_max_beyond_float64_is_infinite(weights):
    size = 1e-170 if weights is None else 1e-149  # C_max = 2 / size^2 / weight
    street = path([[-0.5 * size], [0.5 * size]], [0, 1], Cs=[1.0, 1e300], sample_weight=weights)
    assert street.separation.is_separable
    assert street.C_max == math.inf
    assert "From C =" not in street.report()
    assert [point.status for point in street] == [Status.PROVEN] * 2


def test_C_max_with_weights_is_where_the_last_bound_is_left():
    X, y, _ = separable_gaussians(60, 2, margin=0.4, seed=4)
    weights = np.random.default_rng(0).uniform(0.2, 3.0, 60)
    weights[7] = 0.0
    C_max = path(X, y, Cs=1, sample_weight=weights, class_weight={1: 2.0}).C_max
    before, after = path(X, y, Cs=[0.9 * C_max, 1.01 * C_max], sample_weight=weights, class_weight={1: 2.0}, tol=1e-9)
    kept = np.delete(np.arange(60), 7)
    hard = HardMarginSVM().fit(X[kept], y[kept])
    assert after.margin == pytest.approx(hard.margin_, rel=1e-6)
    assert before.certificate.primal < after.certificate.primal * (1.0 - 1e-5)
    assert after.certificate.verify(X, y, sample_weight=weights)


def test_the_squared_hinge_only_comes_near():
    X, y, _ = separable_gaussians(60, 2, margin=0.5, seed=5)
    street = path(X, y, Cs=6, loss="squared_hinge")
    assert street.C_max == math.inf
    assert street.margins[-1] == pytest.approx(HardMarginSVM().fit(X, y).margin_, rel=0.02)


def test_where_no_plane_separates_there_is_a_witness():
    X, y = xor()
    street = path(X, y, Cs=3)
    assert street.C_max is None
    assert street.separation.is_separable is False
    assert street.separation.verify(X, y, exact=True)
    assert np.allclose(street.coefs, 0.0)
    assert np.all(street.margins > 1e6)
    assert "Not separable" in street.report()


def test_the_hard_margin_is_asked_where_it_is_quick_or_by_wish(monkeypatch):
    monkeypatch.setattr("maxmargin.solvers.registry.LARGE", 5)
    X, y, _ = separable_gaussians(30, 8, seed=6)
    assert path(X, y, Cs=2).separation is None
    assert "was not asked" in path(X, y, Cs=2).report()
    assert path(X, y, Cs=2, hard_margin=True).C_max > 0.0
    assert path(X[:, :2], y, Cs=2, hard_margin=False).separation is None


def test_the_grid_has_its_two_ends():
    X, y = balanced()
    assert len(path(X, y, Cs=7)) == 7
    assert path(X, y, Cs=7).Cs[-1] == pytest.approx(DEAR / np.var(X, axis=0).sum(), rel=1e-9)
    X, y, _ = separable_gaussians(60, 2, seed=7)
    street = path(X, y)
    assert len(street) == 10
    assert street.Cs[-1] == pytest.approx(street.C_max)
    assert np.allclose(np.diff(np.log(street.Cs)), np.log(street.Cs[1] / street.Cs[0]))
    assert path(X, y, Cs=1).Cs.tolist() == [street.C_max]


@pytest.mark.parametrize("scale", [1e-150, 1e-40, 1e40, 1e150])
def test_numbers_of_any_size(scale):
    """The grid is that of the same rows in other units; where float64 cannot hold its C, it is at least a grid."""
    X, y = balanced()
    street = path(X * scale, y, Cs=3)
    assert np.all(np.isfinite(street.Cs) & (street.Cs > 0.0))
    assert np.all(np.diff(street.Cs) > 0.0)
    if 1e-100 < scale < 1e100:
        assert np.allclose(street.Cs * scale**2, path(X, y, Cs=3).Cs)


@pytest.mark.parametrize("X", [np.zeros((4, 2)), np.full((4, 2), 3.3)], ids=["zeros", "equal rows"])
def test_rows_without_any_difference(X):
    street = path(X, [0, 1, 0, 1], Cs=3)
    assert np.allclose(street.coefs, 0.0)
    assert street.C_max is None


def test_it_chooses_and_predicts():
    X, y = overlapping(200, seed=8)
    labels = np.where(y > 0, "b", "a")
    street = path(X[:100], labels[:100], Cs=6)
    assert street.classes == ("a", "b")
    values = street.decision_function(X[100:])
    assert values.shape == (100, 6)
    right = np.mean((values > 0) == (labels[100:] == "b")[:, None], axis=0)
    chosen = street.best(X[100:], labels[100:])
    assert street.Cs[np.argmax(right)] == chosen.C
    with pytest.raises(ValueError, match="3 columns, but the path was made with 2"):
        street.decision_function(np.ones((2, 3)))


def test_it_can_be_read():
    X, y, _ = separable_gaussians(60, 2, seed=9)
    street = path(X, y, Cs=4)
    assert isinstance(street, MarginPath)
    assert "\n" not in repr(street)
    assert repr(street).startswith("MarginPath(4 points, C from ")
    report = street.report().splitlines()
    assert len(report) == 1 + 4 + 2
    assert all("proven" in line for line in report[1:5])
    assert report[-1].startswith(f"From C = {street.C_max:.6g} on")
    with pytest.raises(AttributeError):
        street.C_max = 3.0


def test_no_time_leaves_a_shorter_path():
    X, y = overlapping(400, seed=10)
    with pytest.warns(
        ConvergenceWarning, match="path ended early: max_time was reached. 19 of 20 points were not begun"
    ):
        street = path(X, y, Cs=20, max_time=1e-9)
    assert len(street) == 1
    assert street.statuses[0] in (Status.TIME, Status.PROVEN)
    assert street.certificates[0].verify(X, y)


def test_what_cannot_be_a_path():
    X, y = overlapping(20)
    with pytest.raises(ValueError, match="two classes; y has 3"):
        path(X, np.arange(20) % 3)
    for wrong in (0, -2, [], [1.0, -1.0], [math.inf], [math.nan], True):
        with pytest.raises(ValueError, match="Cs must be"):
            path(X, y, Cs=wrong)
    with pytest.raises(ValueError, match="loss='log' is not known"):
        path(X, y, loss="log")
    with pytest.raises(ValueError, match="max_time must be"):
        path(X, y, max_time=-1.0)


def test_values_are_taken_once_and_rising():
    assert check_Cs([3, 1, 3])[1].tolist() == [1.0, 3.0]
