"""The numbers of a picture against what they mean, for every estimator."""

import math

import numpy as np
import pandas
import pytest
import scipy.sparse
from blocked_rows import Blocked, ColumnOf, uneven

from maxmargin import (
    HardMarginSVM,
    KernelPerceptron,
    KernelSVM,
    LinearSVM,
    Perceptron,
    StochasticSVM,
    Winnow,
    separability,
)
from maxmargin.data import synthetic
from maxmargin.estimators.model_verification import differences_from
from maxmargin.plots.geometry import ACROSS, certified_plane, conditions_of, hulls_of, plane_of, street_of, two_sides
from maxmargin.plots.shapes import nearest_on_lines

ESTIMATORS = [
    HardMarginSVM(),
    HardMarginSVM(norm="l1"),
    LinearSVM(C=0.1, tol=1e-8),
    LinearSVM(C=math.inf),
    LinearSVM(C=0.1, loss="squared_hinge", tol=1e-8, class_weight={-1: 3.0, 1: 1.0}),
    Perceptron(),
    Winnow(),
    StochasticSVM(),
    KernelSVM(C=5.0, tol=1e-6),
    KernelSVM(C=math.inf),
    KernelPerceptron(),
]
OPTIMAL = [one for one in ESTIMATORS if isinstance(one, LinearSVM | KernelSVM)]
SOFT = [one for one in [*OPTIMAL, StochasticSVM()] if math.isfinite(one.C)]


def name_of(estimator):
    return str(estimator)[:40]


each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@each_estimator
@pytest.mark.parametrize("columns", [2, 5])
def test_lines_are_where_the_plane_and_its_edges_are(estimator, columns):
    X, y, _ = synthetic.separable_gaussians(40, columns, seed=3)
    plane = plane_of(estimator.fit(X, y), X, y)
    assert plane.values == pytest.approx(estimator.decision_function(X), abs=1e-12)
    street = street_of(plane, mesh=32)
    assert len(street.boundary) >= 1
    for lines, level in ((street.boundary, 0.0), *zip(street.edges, (plane.reach, -plane.reach), strict=True)):
        for line in lines:
            values = plane.decide(line) if columns == 2 else plane.length * line[:, 1]
            assert np.allclose(values, level, atol=1e-9 * (1.0 + plane.length))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", SOFT, ids=name_of)
def test_slack_ends_on_the_own_edge(estimator):
    X, y = synthetic.overlapping(40, seed=2)
    plane = plane_of(estimator.fit(X, y), X, y)
    street = street_of(plane)
    assert len(street.late)
    for row, (start, end) in zip(street.late, street.slack, strict=True):
        assert start.tolist() == X[row].tolist()
        if plane.kernel is None:
            assert plane.decide(end[None])[0] == pytest.approx(y[row], abs=1e-9)
        else:
            own = street.edges[0 if y[row] > 0 else 1]
            assert end == pytest.approx(nearest_on_lines(end, own), abs=1e-12)


def test_slack_is_that_of_the_estimator():
    X, y = synthetic.overlapping(60, seed=4)
    svm = LinearSVM(tol=1e-8).fit(X, y)
    plane = plane_of(svm, X, y)
    assert plane.slack == pytest.approx(svm.slack(X, y), abs=2e-8)
    assert plane.distances == pytest.approx(svm.decision_function(X) * svm.margin_)


@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_the_nearest_row_is_on_the_edge(norm):
    X, y, _ = synthetic.street(seed=2)
    certificate = separability(X, y, norm=norm)
    plane = certified_plane(certificate, X, y)
    assert plane.reach == np.min(y * (X @ certificate.w + certificate.b))
    assert plane.reach / np.linalg.norm(certificate.w, 1 if norm == "l1" else 2) == pytest.approx(
        certificate.margin_lower, rel=1e-6
    )


def test_sizes_are_dual_variables():
    X, y = synthetic.overlapping(60, seed=4)
    svm = LinearSVM().fit(X, y)
    street = street_of(plane_of(svm, X, y))
    assert street.rows.tolist() == svm.support_.tolist()
    assert street.sizes == pytest.approx(np.abs(svm.dual_coef_[0]) / np.abs(svm.dual_coef_).max())


def test_many_columns_are_seen_from_the_side():
    X, y, _ = synthetic.separable_gaussians(80, 6, seed=1)
    svm = HardMarginSVM().fit(X, y)
    street = street_of(plane_of(svm, X, y))
    w = svm.coef_[0] / np.linalg.norm(svm.coef_[0])
    assert street.axes[1] == ACROSS
    assert street.points[:, 1] == pytest.approx(svm.decision_function(X) * svm.margin_)
    in_plane = (X - X.mean(axis=0)) @ (np.eye(6) - np.outer(w, w))
    left, sizes, _ = np.linalg.svd(in_plane)
    assert np.abs(street.points[:, 0]) == pytest.approx(np.abs(left[:, 0] * sizes[0]), abs=1e-5)


def test_a_kernel_sees_what_its_columns_see():
    X, y, _ = synthetic.separable_gaussians(50, 4, seed=5)
    linear = street_of(plane_of(LinearSVM(tol=1e-9).fit(X, y), X, y))
    kernel = street_of(plane_of(KernelSVM(kernel="linear", tol=1e-9).fit(X, y), X, y))
    table = street_of(plane_of(KernelSVM(kernel="precomputed", tol=1e-9).fit(X @ X.T, y), X @ X.T, y))
    for other in (kernel, table):
        assert other.points == pytest.approx(linear.points, abs=1e-4)


def test_sparse_rows_lie_where_dense_ones_do():
    X, y, _ = synthetic.separable_gaussians(50, 5, seed=5)
    svm = LinearSVM().fit(X, y)
    sparse = street_of(plane_of(svm, scipy.sparse.csr_array(X), y))
    assert sparse.points == pytest.approx(street_of(plane_of(svm, X, y)).points)


def test_a_data_frame_brings_the_names_of_its_columns():
    X, y = synthetic.rings(40)
    frame = pandas.DataFrame(X, columns=["across", "up"])
    street = street_of(plane_of(KernelSVM().fit(frame, y), frame, y), mesh=8)
    assert street.axes == ("across", "up")
    assert len(street.boundary) == 1


def test_one_column_has_no_direction_in_the_plane():
    X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    street = street_of(plane_of(HardMarginSVM().fit(X, y), X, y))
    assert street.points[:, 0].tolist() == [0.0] * 4
    assert street.points[:, 1] == pytest.approx([-2.5, -1.5, 1.5, 2.5])


def test_nearest_points_of_hulls_are_a_street_apart():
    X, y, plane = synthetic.street(40, seed=10)
    found = hulls_of(separability(X, y), X, y)
    assert not found.meet
    assert np.linalg.norm(found.nearest[0] - found.nearest[1]) == pytest.approx(2.0 * plane.margin, rel=1e-9)
    for outline, sign in zip(found.outlines, (1, -1), strict=True):
        assert {tuple(corner) for corner in outline} <= {tuple(row) for row in X[y == sign]}


def test_a_witness_is_one_point_of_both_hulls():
    X, y = synthetic.overlapping(30, seed=1)
    found = hulls_of(separability(X, y), X, y)
    assert found.meet
    assert found.nearest[0] == pytest.approx(found.nearest[1], abs=1e-9)
    for outline in found.outlines:
        for start, end in zip(outline, np.roll(outline, -1, axis=0), strict=True):
            along, away = end - start, found.nearest[0] - start
            assert along[0] * away[1] - along[1] * away[0] >= -1e-9


def test_through_the_origin_the_hull_is_of_mirrored_rows():
    X, y, _ = synthetic.separable_gaussians(30, 2, seed=8)
    certificate = separability(X, y, fit_intercept=False)
    found = hulls_of(certificate, X, y)
    assert found.mirrored
    assert found.points == pytest.approx(X * y[:, None])


@pytest.mark.parametrize("estimator", OPTIMAL, ids=name_of)
def test_rows_lie_on_the_line_of_the_conditions(estimator):
    X, y, _ = synthetic.separable_gaussians(40, 2, margin=0.2, seed=3)
    plane = plane_of(estimator.fit(X, y), X, y)
    found = conditions_of(plane)
    assert max(found.gap) < 1e-3
    places = np.column_stack([found.margins, found.shares])
    off = [np.linalg.norm(place - nearest_on_lines(place, [found.rule])) for place in places]
    assert max(off) < 0.05


def test_the_shares_of_the_rows_are_the_slackness_of_the_certificate():
    X, y = synthetic.overlapping(60, seed=4)
    svm = LinearSVM(tol=1e-2).fit(X, y)
    found = conditions_of(plane_of(svm, X, y))
    slackness = svm.certificate_.kkt.slackness
    assert int(np.argmax(found.gap)) == slackness.row
    assert found.gap.max() == pytest.approx(slackness.value, rel=1e-6)


def test_one_plane_of_many():
    X, y = synthetic.flowers()
    pairs = LinearSVM(multi_class="ovo").fit(X, y)
    plane = plane_of(pairs, X, y, plane=2)
    assert plane.names == ("bellis", "crocus")
    assert np.all(np.isnan(plane.margins) == (y == "aster"))
    with pytest.raises(ValueError, match="there are 3 planes"):
        plane_of(pairs, X, y, plane=3)


def test_what_cannot_be_shown():
    X, y, _ = synthetic.street(40)
    svm = KernelSVM().fit(X, y)
    with pytest.raises(ValueError, match="fit it first"):
        plane_of(LinearSVM(), X, y)
    with pytest.raises(ValueError, match="40 rows but y"):
        plane_of(svm, X, y[:-1])
    with pytest.raises(ValueError, match="give the rows of the fit"):
        plane_of(svm, X[:4], y[:4])
    with pytest.raises(ValueError, match="between 1 and -1; y has 7"):
        plane_of(svm, X, np.full(40, 7))
    with pytest.raises(ValueError, match="from_estimator"):
        certified_plane(svm.certificate_, X, y)
    with pytest.raises(ValueError, match="certify"):
        plane_of(StochasticSVM().partial_fit(X, y, classes=[-1, 1]), X, y)
    with pytest.raises(ValueError, match="two columns"):
        hulls_of(separability(np.ones((2, 3)), [0, 1]), np.ones((2, 3)), [0, 1])


def test_labels_and_weights_that_lie_beside_the_blocks_of_a_table_count_as_in_memory():
    X, y = synthetic.overlapping(60)
    y, weights = np.where(X[:, 1] > 0.8, 2, y), np.linspace(0.5, 2.0, 60)
    rows = Blocked(X, uneven(60), 60)
    beside = ColumnOf(rows, y), ColumnOf(rows, weights)
    svm = LinearSVM(class_weight={1: 2.0}).fit(X, y, weights)
    for number in range(3):
        ours = plane_of(svm, X, y, plane=number, sample_weight=weights)
        for theirs in (
            plane_of(svm, rows, beside[0], plane=number, sample_weight=beside[1]),
            certified_plane(svm.certificate_[number], rows, beside[0], sample_weight=beside[1]),
        ):
            np.testing.assert_array_equal(theirs.signs, ours.signs)
            np.testing.assert_array_equal(theirs.costs, ours.costs)
        theirs = two_sides(svm, rows, beside[0], number, beside[1])
        for mine, other in zip(two_sides(svm, X, y, number, weights), theirs, strict=True):
            np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(svm.slack(rows, beside[0]), svm.slack(X, y))
    assert not list(differences_from(svm, X, beside[0]))
    for exact in (False, True):
        for part in (svm.certificate_, svm.certificate_[1]):
            assert part.verify(X, beside[0], exact=exact, sample_weight=beside[1])
            assert not part.verify(X, beside[0], exact=exact)
