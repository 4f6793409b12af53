"""Planes in the space of a kernel, on tables that can be checked by hand: bounds from both sides, and equalities."""

import dataclasses
import math

import numpy as np
import pytest

from maxmargin.certificates import kernel_separation as judge
from maxmargin.certificates.certificate import Verdict
from maxmargin.certificates.duality import total
from maxmargin.certificates.kernel_duality import combined
from maxmargin.certificates.kernel_separation import KernelPlane, kernel_separation, measure, radius_squared
from maxmargin.certificates.measure import objective
from maxmargin.problems.kernel_margin import KernelMargin
from maxmargin.problems.kernels import Kernel, KernelName, rows_of
from maxmargin.problems.multiclass import TwoClasses
from maxmargin.problems.soft_margin import Loss

U = 2.0**-53
LEAST = math.ulp(0.0)
TABLE = Kernel(KernelName.PRECOMPUTED)
FACING = np.array([[1.0, -1.0], [-1.0, 1.0]])  # rows 1 and -1 on a line
SIGNS = np.array([1.0, -1.0])
up, down = (lambda x: math.nextafter(x, math.inf)), (lambda x: math.nextafter(x, -math.inf))


def plane(functional, off, square, square_error=0.0, weight=1.0):
    return KernelPlane(np.array(functional), np.array(off), square, square_error, weight)


def test_the_margin_of_a_plane_some_errors_down():
    assert plane([1.0, 3.0], [0.5, 0.5], 1.0).lower(0.0) == 1.0 - 8 * U
    assert plane([-1.0, 3.0], [0.5, 0.5], 1.0).lower(0.0) == -1.0 - 8 * U
    assert plane([5.0, 3.0], [4.0, 1.0], 1.0).lower(1.0) == 1.0 - 8 * U
    assert plane([5.0, 3.0], [2.0, 1.0], 1.0).lower(2.0) == 1.0 - 8 * U
    assert plane([3.0], [0.0], 4.0, 5.0).lower(1.0) == 1.0 - 8 * U  # a longer w where the margin is positive
    assert plane([-3.0], [0.0], 9.0, 8.0).lower(1.0) == 3.0 * (-1.0 - 8 * U)  # and a shorter one where it is not
    assert plane([0.0], [0.0], 1.0, 2.0).lower(1.0) == -math.inf
    assert plane([1.0], [0.0], 0.0).lower(1.0) == -math.inf
    assert plane([1.0], [math.inf], 1.0).lower(0.0) == 1.0 - 8 * U
    assert plane([1.0], [math.inf], 1.0).lower(1.0) == -math.inf


def test_what_weights_prove_some_errors_up():
    assert plane([1.0], [0.0], 4.0, 5.0, 2.0).upper(0.0) == 1.0 + 8 * U
    assert plane([1.0], [0.0], 4.0, 5.0, 3.0).upper(1.0) == 1.0 + 8 * U
    assert plane([1.0], [0.0], 4.0, math.inf, 2.0).upper(0.0) == 1.0 + 8 * U
    assert plane([1.0], [0.0], 4.0, 0.0, 0.0).upper(1.0) == math.inf
    assert plane([1.0], [0.0], -4.0, 0.0, 1.0).upper(1.0) == 0.0
    assert plane([1.0], [0.0], 9.0, 2.5).size(-2.0) == 2.0


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_sums_and_their_errors(fit_intercept):
    table = np.array([[4.0, 1.0, 0.5], [1.0, 2.0, -1.0], [0.5, -1.0, 8.0]])
    signs, a = np.array([1.0, -1.0, 1.0]), np.array([0.5, 3.0, 0.0])
    points = TABLE.points(table)
    found = measure(TABLE, points, signs, a, fit_intercept)
    lift, lifted = (-2.5, 3.5) if fit_intercept else (0.0, 0.0)
    values = table[:, 0] * 0.5 - table[:, 1] * 3.0 + lift
    assert found.functional.tolist() == (signs * values).tolist()
    assert found.weight == 3.5
    assert found.square == 0.5 * values[0] - 3.0 * values[1]
    coefficients = np.array([[0.5, 0.0], [0.0, 3.0]])
    _, sizes, error = combined(TABLE, points, rows_of(points, np.array([0, 1])), coefficients, None)
    additions = total(np.ones(2))[1]
    gamma = (additions + 4) * U
    assert found.off == pytest.approx(error + gamma * (sizes + lifted), rel=1e-12)
    magnitude = abs(0.5 * values[0]) + abs(3.0 * values[1])
    expected = 1.01 * (0.5 * found.off[0] + 3.0 * found.off[1]) + gamma * magnitude
    assert found.square_error == pytest.approx(expected, rel=1e-12)


def told(monkeypatch, sums, sizes, error):
    given = np.array(sums, dtype=float), np.array(sizes, dtype=float), np.array(error, dtype=float)
    monkeypatch.setattr(judge, "combined", lambda *arguments: given)


def test_what_vanishes_is_a_least_number_for_each_row(monkeypatch):
    told(monkeypatch, np.zeros((2, 2)), [0.0, 0.0], [0.0, 0.0])
    found = measure(TABLE, TABLE.points(FACING), SIGNS, np.ones(2), False)
    assert found.square_error == 3 * LEAST
    told(monkeypatch, np.zeros((2, 2)), [1.0, 2.0], [0.0, 0.5])
    found = measure(TABLE, TABLE.points(FACING), SIGNS, np.ones(2), False)
    gamma = (total(np.ones(2))[1] + 4) * U
    assert found.off == pytest.approx([gamma, 0.5 + 2 * gamma], rel=1e-12)


def test_a_square_that_is_negative_beyond_its_error_is_refused(monkeypatch):
    points = TABLE.points(FACING)
    gamma = judge.rounding(total(np.ones(1))[1] + 4)
    error = (1.0 - gamma) / 1.01
    while 1.01 * error + gamma + 2 * LEAST < 1.0:
        error = up(error)
    while 1.01 * error + gamma + 2 * LEAST > 1.0:
        error = down(error)
    equal = 1.01 * error + gamma + 2 * LEAST
    told(monkeypatch, [[-equal, 0.0], [0.0, 0.0]], [0.0, 0.0], [error, 0.0])
    a = np.array([1.0, 0.0])
    if equal == 1.0:
        assert measure(TABLE, points, SIGNS, a, False).square == -1.0
    told(monkeypatch, [[-2.0, 0.0], [0.0, 0.0]], [0.0, 0.0], [0.5, 0.0])
    with pytest.raises(ValueError, match=r"\|w\|\^2 = -2 for"):
        measure(TABLE, points, SIGNS, a, False)


def test_numbers_that_overflow_are_bounded_by_nothing():
    table = np.array([[1e308, 0.0], [0.0, 1.0]])
    found = measure(TABLE, TABLE.points(table), np.ones(2), np.array([1e10, 1.0]), False)
    assert found.functional.tolist() == [0.0, 1.0]
    assert found.off[0] == math.inf
    assert math.isfinite(found.off[1])
    assert (found.square, found.square_error) == (0.0, math.inf)
    assert found.lower(1.0) == -math.inf
    assert found.upper(1.0) == math.inf
    huge = measure(TABLE, TABLE.points(np.eye(2) * 1e200), np.ones(2), np.full(2, 1e100), False)
    assert (huge.square, huge.square_error) == (0.0, math.inf)
    assert np.isfinite(huge.off).all()


def test_the_radius_is_rounded_up():
    table = np.diag([1.0, 4.0])
    assert radius_squared(TABLE, TABLE.points(table), False) == 4.0 * (1.0 + 8 * U)
    assert radius_squared(TABLE, TABLE.points(table), True) == pytest.approx(5.0 + 32 * U, abs=4 * U)
    linear = Kernel(KernelName.LINEAR)
    for X in (np.array([[1.0], [-1.0]]), np.zeros((2, 3))):
        points = linear.points(X)
        relative, absolute = linear.rounding(points, points)
        diagonal = float(X[0] @ X[0])
        expected = 2.0 * relative[0] + 8 * U if diagonal else absolute[0]
        assert radius_squared(linear, points, False) - diagonal == pytest.approx(expected, rel=0.1)


# -------------------------------------------------------------------------------------------------- the certificate


def issued(table=FACING, a=(1.0, 1.0), kernel=TABLE, X=None, **options):
    X = table if X is None else X
    two = TwoClasses(X, SIGNS, None, np.array([0, 1]), "p", "n", None)
    options = {"fit_intercept": False, "settled": True, "mistakes": 2} | options
    return kernel_separation(two, kernel, kernel.points(X), np.array(a), **options)


def test_every_field_of_a_certificate():
    c = issued()
    plane = measure(TABLE, TABLE.points(FACING), SIGNS, np.ones(2), False)
    assert (c.verdict, c.is_separable) == (Verdict.SEPARABLE, True)
    assert (c.kernel, c.gamma, c.coef0, c.degree, c.fit_intercept) == ("precomputed", 1.0, 0.0, 1, False)
    assert (c.positive, c.negative, c.n_rows, c.n_columns) == ("p", "n", 2, 2)
    assert (c.rows.tolist(), c.weights.tolist(), c.kkt) == ([0, 1], [1.0, 1.0], None)
    assert (c.margin_lower, c.margin_upper) == (plane.lower(4.0), plane.upper(4.0))
    assert (c.primal, c.dual) == (objective(c.margin_lower, "l2"), objective(c.margin_upper, "l2"))
    assert c.relative_gap == (c.margin_upper - c.margin_lower) / c.margin_upper
    (novikov,) = c.theorems
    assert (novikov.measured, novikov.at_most) == (2.0, True)
    radius = radius_squared(TABLE, TABLE.points(FACING), False)
    assert novikov.bound == radius / c.margin_lower / c.margin_lower * (1.0 + judge.rounding(8))
    assert issued(FACING, (0.0, 3.0)).rows.tolist() == [1]
    assert repr(dataclasses.replace(c, margin_lower=1.0, margin_upper=2.0)) == (
        "KernelSeparationCertificate(SEPARABLE, precomputed, margin in [1, 2], 2 of 2 rows carry weight)"
    )


def test_without_a_margin_nothing_is_separated(monkeypatch):
    together = np.ones((2, 2))
    for settled, verdict in ((True, Verdict.UNDECIDED), (False, Verdict.STOPPED)):
        c = issued(together, (1.0, 0.0), settled=settled)
        assert (c.verdict, c.is_separable, c.theorems[0].bound) == (verdict, None, math.inf)
        c = issued(measured=False, settled=settled)
        assert (c.verdict, c.margin_lower, c.margin_upper) == (verdict, -math.inf, math.inf)
    monkeypatch.setattr(judge, "measure", lambda *arguments: plane([0.0], [0.0], 1.0))
    c = issued()
    assert (c.margin_lower, c.verdict, c.theorems[0].bound) == (0.0, Verdict.UNDECIDED, math.inf)


def stating(c, lower=None, upper=None, **changes):
    lower, upper = c.margin_lower if lower is None else lower, c.margin_upper if upper is None else upper
    values = {"margin_lower": lower, "margin_upper": upper, "theorems": ()}
    values |= {"primal": objective(lower, "l2"), "dual": objective(upper, "l2")}
    return dataclasses.replace(c, **(values | changes))


LABELS = np.array(["p", "n"])


def test_bounds_are_judged_in_float64_at_equality():
    """A function has no exact values: one error from the computed number is accepted, and not one double more."""

    def product(A, B):
        return A @ B.T

    X = np.array([[1.0], [-1.0]])
    kernel = Kernel(KernelName.FUNCTION, function=product)
    c = issued(X=X, kernel=kernel)
    plane = measure(kernel, kernel.points(X), SIGNS, np.ones(2), False)
    lower, upper = plane.lower(1.0), plane.upper(1.0)
    assert stating(c, lower, upper).verify(X, LABELS, kernel=product)
    low, high = stating(c, up(lower)).verify(X, LABELS, kernel=product), stating(c, upper=down(upper))
    assert str(low).count("the plane's margin is") == 1
    assert "(row 0)" in str(low)
    assert "upper bound of 1, not" in str(high.verify(X, LABELS, kernel=product))
    with pytest.raises(ValueError, match="rational values"):
        c.verify(X, LABELS, kernel=product, exact=True)


@pytest.mark.parametrize("exact", [False, True])
def test_what_is_true_to_the_last_digit_is_decided_in_integers(exact):
    """Lower and upper bound are 1, both exactly."""
    c = issued()
    assert stating(c, 1.0, 1.0).verify(FACING, LABELS, exact=exact)
    assert "upper bound" in str(stating(c, 1.0, down(1.0)).verify(FACING, LABELS, exact=exact))
    assert "plane's margin" in str(stating(c, up(1.0), 2.0).verify(FACING, LABELS, exact=exact))
    assert stating(c, 0.0, 1.0, verdict=Verdict.STOPPED).verify(FACING, LABELS, exact=exact)
    assert stating(c, -1.0, 1.0, verdict=Verdict.UNDECIDED).verify(FACING, LABELS, exact=exact)
    assert "nothing is separated" in str(stating(c, 0.0, 1.0).verify(FACING, LABELS, exact=exact))
    assert "denies it" in str(stating(c, 0.5, 1.0, verdict=Verdict.STOPPED).verify(FACING, LABELS, exact=exact))
    for verdict in (Verdict.OPTIMAL, Verdict.NOT_SEPARABLE):
        answer = stating(c, verdict=verdict).verify(FACING, LABELS, exact=exact)
        assert answer.reasons == (f"weights of the rows cannot prove the verdict {verdict!r}",)
    for name in ("primal", "dual"):
        assert "primal and dual" in str(stating(c, **{name: 9.0}).verify(FACING, LABELS, exact=exact))


def test_integers_are_asked_where_they_are_wanted_or_needed(monkeypatch):
    asked = []
    plain = judge.exactly
    monkeypatch.setattr(judge, "exactly", lambda *arguments: asked.append(1) or plain(*arguments))
    c = issued()
    for certificate, exact, count in (
        (c, False, 0),
        (c, True, 1),
        (stating(c, 1.0), False, 1),
        (stating(c, upper=1.0), False, 1),
    ):
        asked.clear()
        assert certificate.verify(FACING, LABELS, exact=exact)
        assert len(asked) == count


def test_rows_are_those_of_the_users_table():
    table = np.zeros((4, 4))
    table[1:3, 1:3] = FACING
    table[0, 0] = table[3, 3] = 9.0
    c = dataclasses.replace(issued(), rows=np.array([1, 2]), n_rows=2, n_columns=4)
    y, weight = np.array(["p", "p", "n", "n"]), np.array([0.0, 1.0, 1.0, 0.0])
    answer = stating(c, up(1.0), 2.0).verify(table, y, sample_weight=weight)
    assert "(row 1)" in str(answer), str(answer)


def decided(lower, upper, table=FACING, a=(1.0, 1.0), fit_intercept=False):
    points = TABLE.points(np.array(table))
    problem = KernelMargin(points.X, SIGNS, np.full(2, math.inf), Loss.HINGE, True, TABLE, points)
    claim = stating(issued(), lower, upper, fit_intercept=fit_intercept)
    return judge.exactly(claim, problem, np.array(a))


@pytest.mark.parametrize("scale", [1.0, 2.0**-7, 2.0**9])
@pytest.mark.parametrize("share", [1.0, 2.0**-4, 2.0**6])
def test_bounds_in_integers_at_equality(scale, share):
    """w has the length 2 share sqrt(scale) and the value 2 share scale on both rows; lifted alike, as the sum is 0."""
    root = math.sqrt(scale * scale)
    table, a = FACING * scale * scale, np.full(2, share)
    for fit_intercept in (False, True):
        assert decided(root, root, table, a, fit_intercept) == (True, True)
        assert decided(up(root), down(root), table, a, fit_intercept) == (False, False)
    # one row alone: values 1 + 1 and -1 + 1, lifted; |w|^2 = 2 share^2
    lifted = decided(0.0, 2.0, FACING, (share, 0.0), True)
    assert lifted == (True, True)
    assert decided(LEAST, 1.41, FACING, (share, 0.0), True) == (False, False)
    assert decided(-0.671, 1.119, FACING * 0.25, (share, 0.0), True) == (True, True)  # values 5/4 and -(3/4)
    assert decided(-0.670, 1.118, FACING * 0.25, (share, 0.0), True) == (False, False)
    assert decided(1.0, 1.0, FACING, (share, 0.0)) == (True, True)


def test_bounds_in_integers_of_nothing_and_of_everything():
    assert decided(-math.inf, math.inf, a=(0.0, 0.0)) == (True, True)
    assert decided(-5.0, 5.0, a=(0.0, 0.0)) == (False, False)
    assert decided(-5.0, 0.0, np.zeros((2, 2))) == (False, True)
    assert decided(math.inf, -1.0) == (False, False)
    assert decided(math.nan, math.nan) == (False, False)
    assert decided(-1.0, 1.0, np.ones((2, 2)), (1.0, 0.0)) == (True, True)
    assert decided(up(-1.0), 1.0, np.ones((2, 2)), (1.0, 0.0)) == (False, True)
    with pytest.raises(ValueError, match=r"\|w\|\^2 = -4"):
        decided(0.0, 1.0, -FACING)
    assert judge.signed_square(-3) == -9
    assert judge.signed_square(3) == 9
