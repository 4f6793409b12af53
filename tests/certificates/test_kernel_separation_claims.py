"""Certificates of planes in the space of a kernel: every field, and claims decided at equality, in integers too."""

import dataclasses
import math

import numpy as np
import pytest

from maxmargin.certificates import kernel_separation as judge
from maxmargin.certificates.certificate import Verdict
from maxmargin.certificates.kernel_separation import KernelPlane, kernel_separation, measure, radius_squared
from maxmargin.certificates.measure import objective
from maxmargin.problems.kernels import Function, Linear, Precomputed
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin, TwoClasses

U = 2.0**-53
LEAST = math.ulp(0.0)
TABLE = Precomputed()
FACING = np.array([[1.0, -1.0], [-1.0, 1.0]])  # rows 1 and -1 on a line
SIGNS = np.array([1.0, -1.0])
up, down = (lambda x: math.nextafter(x, math.inf)), (lambda x: math.nextafter(x, -math.inf))


def plane(functional, off, square, square_error=0.0, weight=1.0):
    return KernelPlane(np.array(functional), np.array(off), square, square_error, weight)


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
    kernel = Function(function=product)
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
    for verdict in (Verdict.OPTIMAL, Verdict.WEAKLY_SEPARABLE):
        answer = stating(c, verdict=verdict).verify(FACING, LABELS, exact=exact)
        assert answer.reasons == (f"weights of the rows cannot prove the verdict {verdict!r}",)
    for name in ("primal", "dual"):
        assert "primal and dual" in str(stating(c, **{name: 9.0}).verify(FACING, LABELS, exact=exact))


@pytest.mark.parametrize("exact", [False, True])
def test_a_witness_is_decided_in_integers(exact):
    """Three rows on a line, the middle one against the others: w = 0, exactly, and 0 is the upper bound."""
    X, signs, y = np.array([[0.0], [1.0], [3.0]]), np.array([1.0, -1.0, 1.0]), np.array(["p", "n", "p"])
    two, kernel = TwoClasses(X, signs, None, np.arange(3), "p", "n", None), Linear()
    options = {"fit_intercept": True, "settled": False, "mistakes": 5}

    def witnessed(a):
        return kernel_separation(two, kernel, kernel.points(X), np.ones(3), witness=np.array(a), **options)

    c = witnessed([2.0 / 6.0, 3.0 / 6.0, 1.0 / 6.0])
    assert (c.verdict, c.is_separable, c.rows.tolist()) == (Verdict.NOT_SEPARABLE, False, [0, 1, 2])
    assert (c.margin_lower, c.margin_upper, c.primal, c.dual) == (-math.inf, 0.0, math.inf, math.inf)
    assert (c.theorems[0].measured, c.theorems[0].bound) == (5.0, math.inf)
    assert c.verify(X, y, exact=exact)
    assert "leave the hull points" in str(witnessed([0.3, 0.5, 0.2]).verify(X, y, exact=exact))
    assert "no combination of its rows" in str(witnessed([0.5, 0.5, 0.0]).verify(X, y, exact=exact))
    assert "no combination of its rows" in str(witnessed([0.0, 0.0, 0.0]).verify(X, y, exact=exact))
    assert "no combination of its rows" in str(c.verify(X, y[[0, 2, 1]], exact=exact))
    for lower, upper in ((-1.0, 0.0), (-math.inf, 1.0), (-math.inf, math.inf)):
        assert "nothing is said of a plane" in str(stating(c, lower, upper).verify(X, y, exact=exact))
    assert "denies it" in str(stating(c, 1.0, 0.0).verify(X, y, exact=exact))


def test_a_refusal_is_no_proof_and_names_the_nearest_row():
    """A kernel far from zero: what float64 computes is shown, not what is left of it after its error."""

    def far(A, B):
        return A @ B.T + 1e8

    X = np.array([[3.0], [-1.0]])
    kernel = Function(function=far)
    c = issued(X=X, kernel=kernel)
    answer = stating(c, 3.0, 1.0).verify(X, LABELS, kernel=far)
    assert not answer
    assert answer.reasons == (
        "the plane's margin is 1 (row 1), not 3",
        "the weighted rows prove an upper bound of 2, not 1",
        "the lower bound is above the upper one: the kernel is not positive semidefinite",
    )
    outside = dataclasses.replace(c, rows=np.array([0, 5])).verify(X, LABELS, kernel=far)
    assert not outside
    assert len(outside.reasons) == 1
    long = dataclasses.replace(issued(), kernel="poly", degree=10**9)
    with pytest.raises(ValueError, match="degree"):
        long.verify(X, LABELS, exact=True)


def test_a_bound_of_mistakes_that_does_not_follow_is_refused():
    c = issued()
    (novikov,) = c.theorems
    assert c.verify(FACING, LABELS)
    answer = dataclasses.replace(c, theorems=(dataclasses.replace(novikov, bound=0.5, measured=0.0),)).verify(
        FACING, LABELS
    )
    assert not answer
    assert len(answer.reasons) == 1


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
    problem = KernelMargin(points.X, SIGNS, np.full(2, math.inf), HINGE, True, TABLE, points)
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
