"""The report of Karush, Kuhn and Tucker: tiny at the optimum, right rows, and closed forms away from it."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import separable

from maxmargin import HardMarginSVM, Perceptron, Winnow
from maxmargin.certificates.certificate import certify
from maxmargin.certificates.measure import Claim
from maxmargin.certificates.proof import KKT
from maxmargin.data import synthetic

NAMES = [field.name for field in dataclasses.fields(KKT)]
with_and_without_bias = pytest.mark.parametrize("fit_intercept", [True, False])


def kkt_of(X, signs, w, b, rows, weights, *, norm="l2", fit_intercept=True):
    claim = Claim(np.array(w), float(b), np.array(rows), np.array(weights, dtype=float))
    X, signs = np.array(X, dtype=float), np.array(signs, dtype=float)
    return certify(X, signs, claim, norm=norm, fit_intercept=fit_intercept, tol=1e-9).kkt


@with_and_without_bias
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "d"), [(40, 2), (60, 5), (20, 40)])
def test_all_violations_are_tiny_at_the_optimum(fit_intercept, seed, n, d):
    X, y, plane = synthetic.separable_gaussians(n=n, d=d, margin=0.3, seed=seed)
    X += 0.0 if fit_intercept else plane.b * plane.w
    kkt = HardMarginSVM(fit_intercept=fit_intercept).fit(X, y).certificate_.kkt
    for name in NAMES:
        assert 0.0 <= getattr(kkt, name).value < 1e-7, name


@with_and_without_bias
@settings(max_examples=40)
@given(data=st.data())
def test_they_are_tiny_whatever_the_scale(fit_intercept, data):
    known = data.draw(separable(fit_intercept))
    certificate = HardMarginSVM(fit_intercept=fit_intercept).fit(known.X, known.y).certificate_
    for name in NAMES:
        assert 0.0 <= getattr(certificate.kkt, name).value < 1e-6, name
    distances = known.y * (known.X @ certificate.w + certificate.b)
    assert distances[certificate.kkt.primal.row] == pytest.approx(distances.min(), rel=1e-6)
    assert certificate.kkt.slackness.row in certificate.rows
    assert certificate.kkt.dual.row in certificate.rows


# Two rows, one above and one below the origin; the plane (sin t, cos t).x + s = 0 turns by t and moves up by s.
ABOVE_AND_BELOW = [[0.0, 1.0], [0.0, -1.0]]


@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.1, 0.5])
@pytest.mark.parametrize("shift", [0.0, 1e-6, 0.1, -0.3])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e100])
def test_a_plane_that_turns_and_moves(angle, shift, scale):
    w, b = scale * np.array([math.sin(angle), math.cos(angle)]), scale * shift
    kkt = kkt_of(ABOVE_AND_BELOW, [1, -1], w, b, [0, 1], [3.0, 5.0])
    near, far = math.cos(angle) - abs(shift), math.cos(angle) + abs(shift)
    assert kkt.stationarity.value == pytest.approx(2.0 * math.sin(angle / 2.0), abs=1e-15)
    assert kkt.primal.value == 0.0
    assert kkt.dual.value == pytest.approx(0.0, abs=1e-15)
    assert kkt.slackness.value == pytest.approx(0.5 * (far / near - 1.0), rel=1e-9, abs=1e-15)
    assert kkt.bias.value == pytest.approx(2.0 * abs(shift) / near, rel=1e-9, abs=1e-15)
    if shift:
        assert kkt.primal.row == (1 if shift > 0 else 0)
        assert kkt.slackness.row == (0 if shift > 0 else 1)
    assert (kkt.stationarity.row, kkt.bias.row) == (-1, -1)


def test_violations_grow_with_the_angle_and_the_shift():
    turned = [
        kkt_of(ABOVE_AND_BELOW, [1, -1], [math.sin(t), math.cos(t)], 0.0, [0, 1], [1, 1]) for t in (0.1, 0.2, 0.4)
    ]
    moved = [kkt_of(ABOVE_AND_BELOW, [1, -1], [0.0, 1.0], s, [0, 1], [1, 1]) for s in (0.1, 0.2, 0.4)]
    for name, kkts in (("stationarity", turned), ("slackness", moved), ("bias", moved)):
        values = [getattr(kkt, name).value for kkt in kkts]
        assert values == sorted(values)
        assert values[0] > 0.01


def test_weight_on_a_row_beyond_the_street_is_slack():
    """Row 2 is at twice the margin and carries a tenth of the weight."""
    kkt = kkt_of([[1.0], [-1.0], [2.0]], [1, -1, 1], [1.0], 0.0, [0, 1, 2], [0.8, 1.0, 0.2])
    assert kkt.slackness.value == pytest.approx(0.1)
    assert kkt.slackness.row == 2
    assert kkt.primal.row in (0, 1)
    assert kkt.bias.value == pytest.approx(1.0)  # row 2 would like b = -1, in units of the margin


def test_without_a_bias_there_is_no_bias_to_disagree_about():
    kkt = kkt_of([[1.0, 0.0], [0.0, 1.0]], [1, 1], [1.0, 1.0], 0.0, [0, 1], [2.0, 2.0], fit_intercept=False)
    assert [getattr(kkt, name).value for name in NAMES] == pytest.approx([0.0] * 5, abs=1e-15)
    tilted = kkt_of([[1.0, 0.0], [0.0, 1.0]], [1, 1], [1.0, 2.0], 0.0, [0, 1], [1.0, 1.0], fit_intercept=False)
    assert tilted.bias.value == 0.0
    assert tilted.slackness.value == pytest.approx(0.5)
    assert (tilted.primal.row, tilted.slackness.row) == (0, 1)


def test_the_l1_margin_wants_p_to_be_largest_where_w_is_not_zero():
    X, signs = [[2.0, 1.0], [-2.0, -1.0]], [1, -1]
    assert kkt_of(X, signs, [1.0, 0.0], 0.0, [0, 1], [1, 1], norm="l1").stationarity.value == 0.0
    assert kkt_of(X, signs, [0.0, 1.0], 0.0, [0, 1], [1, 1], norm="l1").stationarity.value == 0.5
    assert kkt_of(X, signs, [1.0, 1.0], 0.0, [0, 1], [1, 1], norm="l1").stationarity.value == pytest.approx(0.25)


def test_rows_are_numbered_as_in_the_users_table():
    X, y = [[9.0], [0.0], [9.5], [1.0], [3.0]], ["c", "a", "c", "a", "b"]
    certificate = HardMarginSVM(multi_class="ovo").fit(X, y).certificate_
    for part, nearest in zip(certificate, ([3, 4], [0, 3], [0, 4]), strict=True):
        assert part.rows.tolist() == nearest
        assert part.kkt.primal.row in nearest
        assert part.kkt.slackness.row in nearest
    weighted = HardMarginSVM().fit(X[1:], ["c", *y[2:4], "c"], sample_weight=[0.0, 1.0, 1.0, 1.0]).certificate_
    assert weighted.rows.tolist() == [2, 3]
    assert weighted.kkt.primal.row in (2, 3)


@pytest.mark.parametrize("learner", [Perceptron(max_updates=1), Winnow(max_updates=1)])
def test_no_plane_no_report(learner):
    certificate = learner.fit([[0.0], [1.0], [2.0]], [0, 1, 0]).certificate_
    assert not certificate.margin_lower > 0.0
    assert certificate.kkt is None


def test_no_weights_no_report():
    assert kkt_of(ABOVE_AND_BELOW, [1, -1], [0.0, 1.0], 0.0, [0], [1.0]) is None


def test_a_nearest_row_too_near_for_ratios():
    """The other row is 1e320 times as far: infinite slack, in words and in JSON, and still verified."""
    X, signs = np.array([[1e-310], [-1e10]]), np.array([1.0, -1.0])
    claim = Claim(np.array([1.0]), 0.0, np.array([0, 1]), np.ones(2))
    certificate = certify(X, signs, claim, norm="l2", fit_intercept=False, tol=1e-9)
    assert certificate.kkt is None or certificate.kkt.slackness.value == math.inf
    for exact in (False, True):
        answer = certificate.verify(X, signs.astype(int), exact=exact)
        assert answer, answer
