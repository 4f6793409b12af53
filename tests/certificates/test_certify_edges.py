"""From a claim to a certificate: every condition and every verdict on numbers that can be checked by hand."""

import dataclasses
import math

import numpy as np
import pytest

from maxmargin.certificates import certificate as judge
from maxmargin.certificates import measure
from maxmargin.certificates.certificate import Certificate, FurtherLook, Verdict, certify, relative_gap
from maxmargin.certificates.measure import Claim, PlaneMargin, plane_margin

LINE, SIGNS = np.array([[1.0], [3.0], [-2.0]]), np.array([1.0, 1.0, -1.0])


def certified(X, signs, w, b, rows, weights, *, norm="l2", fit_intercept=True, tol=1e-6, **claim):
    claimed = Claim(np.array(w), b, np.array(rows, dtype=int), np.array(weights, dtype=float), **claim)
    return certify(
        np.array(X, dtype=float), np.array(signs, dtype=float), claimed, norm=norm, fit_intercept=fit_intercept, tol=tol
    )


def test_every_field_of_an_optimal_certificate():
    """Rows at 1 and -2: the plane at -1/2 has the margin 3/2, and so have the hulls."""
    c = certified(LINE, SIGNS, [2.0], 1.0, [0, 2], [4.0, 4.0])
    assert c.verdict is Verdict.OPTIMAL
    assert (c.norm, c.fit_intercept, c.positive, c.negative, c.n_rows, c.n_columns) == ("l2", True, 1, -1, 3, 1)
    assert (c.w.tolist(), c.b, c.rows.tolist(), c.weights.tolist()) == ([2.0], 1.0, [0, 2], [4.0, 4.0])
    assert c.margin_lower < 1.5 < c.margin_upper
    assert (c.margin_lower, c.margin_upper) == (pytest.approx(1.5, rel=1e-14), pytest.approx(1.5, rel=1e-14))
    assert (c.primal, c.dual) == (0.5 / c.margin_lower / c.margin_lower, 0.5 / c.margin_upper / c.margin_upper)
    assert (c.tol, c.theorems, c.rows_off_plane, c.further_look) == (1e-6, (), None, FurtherLook.NOT_ASKED)
    assert [getattr(c.kkt, field.name).value for field in dataclasses.fields(c.kkt)] == pytest.approx(
        [0.0] * 5, abs=1e-15
    )


def test_verdicts_without_a_proof():
    wide = certified(LINE, SIGNS, [2.0], 0.0, [0, 2], [4.0, 4.0], tol=0.5)
    assert (wide.verdict, wide.is_separable) == (Verdict.OPTIMAL, True)
    assert certified(LINE, SIGNS, [2.0], 0.0, [0, 2], [4.0, 4.0], tol=0.3).verdict is Verdict.SEPARABLE
    assert certified(LINE, SIGNS, [2.0], 0.0, [0], [4.0], tol=0.3).kkt is None  # one class has no weight
    undecided = certified(LINE, SIGNS, [2.0], -2.0, [0, 2], [1.0, 1.0])
    assert (undecided.verdict, undecided.kkt, undecided.is_separable) == (Verdict.UNDECIDED, None, None)
    assert (undecided.rows_off_plane, undecided.primal) == (None, math.inf)
    stopped = certified(LINE, SIGNS, [2.0], -2.0, [0, 2], [1.0, 1.0], stopped=True)
    assert stopped.verdict is Verdict.STOPPED
    meeting = certified(LINE, SIGNS, [2.0], -2.0, [0, 2], [1.0, 1.0], hulls_meet=True)  # they do not
    assert meeting.verdict is Verdict.UNDECIDED
    assert meeting.weights.tolist() == [1.0, 1.0]
    separated = certified(LINE, SIGNS, [2.0], 1.0, [0, 2], [1.0, 1.0], hulls_meet=True)
    assert (separated.verdict, separated.margin_upper > 1.0) == (Verdict.OPTIMAL, True)


MET, MET_SIGNS = np.array([[0.0], [0.0], [1.0], [-3.0]]), np.array([1.0, -1.0, 1.0, -1.0])


def test_a_witness_is_scaled_to_one_and_rows_without_weight_are_left_out():
    c = certified(MET, MET_SIGNS, [1.0], 0.0, [3, 1, 0, 2], [1e-9, 3.0, 9.0, 1e-9], hulls_meet=True, weakly=False)
    assert (c.verdict, c.is_separable) == (Verdict.NOT_SEPARABLE, False)
    assert (c.rows.tolist(), c.weights.tolist()) == ([1, 0], [0.5, 0.5])
    assert (c.margin_upper, c.dual, c.rows_off_plane, c.further_look) == (0.0, math.inf, None, FurtherLook.NOT_ASKED)
    weak = certified(MET, MET_SIGNS, [1.0], 0.0, [0, 1], [1.0, 1.0], hulls_meet=True)
    assert (weak.verdict, weak.is_separable) == (Verdict.WEAKLY_SEPARABLE, False)
    assert (weak.rows_off_plane, weak.further_look, weak.margin_upper) == (2, FurtherLook.FOUND, 0.0)
    tiny = certified(
        [[2.0**-1074], [-1.0], [-1.0]],
        [1.0, 1.0, 1.0],
        [0.0],
        0.0,
        [0, 1],
        [1.0, 1.0],
        hulls_meet=True,
        fit_intercept=False,
    )
    assert tiny.weights.tolist() == [1.0, 2.0**-1074]


def test_a_plane_with_a_row_on_its_wrong_side_is_not_weak():
    for w, b in (([1.0], 0.5), ([-1.0], 0.0), ([0.0], 0.0), ([1.0], 1e-8)):
        c = certified(MET, MET_SIGNS, w, b, [0, 1], [1.0, 1.0], hulls_meet=True)
        assert (c.verdict, c.rows_off_plane) == (Verdict.NOT_SEPARABLE, None)
    nearly = certified(MET, MET_SIGNS, [1.0], 1e-9, [0, 1], [1.0, 1.0], hulls_meet=True)  # moved onto the rows
    assert (nearly.verdict, nearly.rows_off_plane) == (Verdict.WEAKLY_SEPARABLE, 2)
    flat = certified([[0.0], [0.0]], [1.0, -1.0], [1.0], 0.0, [0, 1], [1.0, 1.0], hulls_meet=True)
    assert flat.verdict is Verdict.NOT_SEPARABLE
    origin = certified(
        [[0.0], [0.0], [1.0]], [1.0, -1.0, 1.0], [1.0], 0.5, [0], [1.0], hulls_meet=True, fit_intercept=False
    )
    assert origin.rows_off_plane is None


def test_a_margin_of_zero_separates_nothing(monkeypatch):
    plain = judge.measured_plane
    monkeypatch.setattr(judge, "measured_plane", lambda *given: plain(*given)._replace(lower=0.0))
    c = certified(LINE, SIGNS, [2.0], 1.0, [0, 2], [4.0, 4.0])
    assert (c.verdict, c.kkt, c.primal) == (Verdict.UNDECIDED, None, math.inf)


@pytest.mark.parametrize("scale", [0.125, 8.0])
def test_conditions_and_weak_planes_do_not_depend_on_the_scale(scale):
    kkt = certified(LINE * scale, SIGNS, [2.0], 0.0, [0, 1, 2], [1.0, 1.0, 3.0]).kkt
    assert (kkt.slackness.value, kkt.bias.value) == (0.5, pytest.approx(3.0))
    weak = certified(MET * scale, MET_SIGNS, [1.0], 0.0, [0, 1], [1.0, 1.0], hulls_meet=True)
    assert weak.rows_off_plane == 2


def margin_of(*distances):
    return PlaneMargin(min(distances), min(distances), 0, np.array(distances), np.ones(1), 0.0)


def test_rows_on_a_plane_are_within_a_share_of_the_farthest():
    assert measure.rows_on(margin_of(-4.0, 4e-9, 4.1e-9, -4e-9, -4.1e-9, 0.0)).tolist() == [1, 3, 5]
    assert measure.rows_on(margin_of(0.0, 0.0)).tolist() == [0, 1]


@pytest.mark.parametrize(("nearest", "asked"), [(-4e-9, True), (-4.1e-9, False), (0.0, True), (-math.inf, False)])
def test_a_weak_plane_is_asked_for_where_float64_sees_one(monkeypatch, nearest, asked):
    given = []
    monkeypatch.setattr(
        measure.exact,
        "exact_weak_plane",
        lambda *args: given.append(args) or measure.exact.Verdict(True, "", off=7),
    )
    claim = Claim(np.ones(1), 0.25, np.array([0]), np.ones(1))
    for fit_intercept, b in ((True, 0.25), (False, None)):
        found = measure.weakly_separated(LINE, SIGNS, margin_of(nearest, 4.0), claim, fit_intercept)
        assert found == (7 if asked else 0)
        assert not asked or given[-1][-1] == b
    assert measure.weakly_separated(LINE, SIGNS, margin_of(0.0, 0.0), claim, True) == 0
    assert measure.ON_THE_PLANE == 1e-9


def test_nonsense_is_taken_out_of_a_claim():
    def sane(w=(1.0, 2.0), b=0.5, weights=(1.0, 0.0)):
        return judge.without_nonsense(Claim(np.array(w), b, np.array([3, 4]), np.array(weights), hulls_meet=True))

    good = sane()
    assert (good.w.tolist(), good.b, good.rows.tolist(), good.weights.tolist()) == ([1.0, 2.0], 0.5, [3, 4], [1.0, 0.0])
    assert good.hulls_meet
    for bad in ({"w": (1.0, math.nan)}, {"w": (math.inf, 1.0)}, {"b": math.nan}, {"b": -math.inf}):
        claim = sane(**bad)
        assert (claim.w.tolist(), claim.b, claim.rows.tolist(), claim.hulls_meet) == ([0.0, 0.0], 0.0, [3, 4], True)
    for weights in ((1.0, -1.0), (math.nan, 1.0), (math.inf, 1.0)):
        claim = sane(weights=weights)
        assert (claim.w.tolist(), claim.b) == ([1.0, 2.0], 0.5)
        assert (claim.rows.tolist(), claim.weights.tolist(), claim.hulls_meet) == ([], [], False)
    default = Claim(np.ones(1), 0.0, np.array([0]), np.ones(1))
    assert (default.hulls_meet, default.stopped, default.weakly) == (False, False, True)


def test_conditions_on_a_line():
    """Rows at 1, 3 and -2, the plane at 0: margin 1. Weights 1, 1 and 3, that is 1/4, 1/4 and 1/2 of the whole."""
    kkt = certified(LINE, SIGNS, [2.0], 0.0, [0, 1, 2], [1.0, 1.0, 3.0]).kkt
    assert kkt.stationarity.value == pytest.approx(0.0, abs=1e-15)
    assert (kkt.primal.value, kkt.primal.row) == (0.0, 0)
    assert (kkt.dual.value, kkt.dual.row) == (0.0, 0)
    assert (kkt.slackness.value, kkt.slackness.row) == (0.5, 1)  # 1/4 of 2 and 1/2 of 1: the first of equals
    assert kkt.bias.value == pytest.approx(3.0)  # 0, -2 and 1
    kkt = certified(LINE, SIGNS, [2.0], 0.0, [2, 1, 0], [3.0, 0.0, 1.0], fit_intercept=False).kkt
    assert (kkt.slackness.value, kkt.slackness.row) == (0.75, 2)
    assert (kkt.dual.value, kkt.dual.row, kkt.bias.value) == (0.0, 1, 0.0)
    kkt = certified(LINE, SIGNS, [2.0], 0.0, [2, 1, 0], [3.0, 0.0, 1.0]).kkt
    assert kkt.bias.value == pytest.approx(1.0)  # a row without weight has nothing to say
    assert (kkt.primal.row, kkt.dual.row) == (0, 1)


def test_stationarity_is_an_angle():
    X, signs = [[1.0, 0.0], [-1.0, 0.0]], [1.0, -1.0]
    kkt = certified(X, signs, [3.0, 4.0], 0.0, [0, 1], [1.0, 1.0]).kkt
    assert kkt.stationarity.value == pytest.approx(math.hypot(0.6 - 1.0, 0.8))
    kkt = certified(X, signs, [3.0, 1.0], 0.0, [0, 1], [1.0, 1.0], norm="l1").kkt
    assert kkt.stationarity.value == pytest.approx(0.25)
    kkt = certified([[1.0, 1.0], [-1.0, -1.0]], signs, [3.0, 1.0], 0.0, [0, 1], [1.0, 1.0], norm="l1").kkt
    assert kkt.stationarity.value == pytest.approx(0.0, abs=1e-15)


def test_points_that_meet_have_no_conditions():
    """A plane that separates and weights that all but vanish: p = 0 has no direction."""
    margin = plane_margin(LINE, SIGNS, np.ones(1), 0.0, "l2")
    claim = Claim(np.ones(1), 0.0, np.array([0, 2]), np.ones(2))
    hulls = judge.hull_distance(LINE[[0, 2]], SIGNS[[0, 2]], np.ones(2), "l2", True)
    for value in (0.0, math.inf, math.nan):
        assert measure.conditions(SIGNS, claim, margin, hulls._replace(value=value), "l2", True) is None
    assert measure.conditions(SIGNS, claim, margin, hulls, "l2", True) is not None


def test_violations_are_never_negative():
    margin = margin_of(2.0, 1.0)._replace(value=1.5)
    hulls = judge.hull_distance(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), np.ones(2), "l1", True)
    claim = Claim(np.ones(1), 0.0, np.array([0, 1]), np.ones(2))
    kkt = measure.conditions(np.array([1.0, -1.0]), claim, margin, hulls, "l1", True)
    assert kkt.primal.value == 0.0
    low = measure.conditions(np.array([1.0, -1.0]), claim, margin._replace(row=1), hulls, "l1", True)
    assert low.primal.value == pytest.approx(1.0 / 3.0)
    under = measure.conditions(np.array([1.0, -1.0]), claim, margin_of(1.0, 1.0)._replace(value=2.0), hulls, "l1", True)
    assert under.slackness.value == 0.0
    skew = hulls._replace(weights=np.array([3.0, -1.0]))
    kkt = measure.conditions(np.array([1.0, -1.0]), claim, margin_of(1.0, 1.0), skew, "l1", True)
    assert (kkt.dual.value, kkt.dual.row) == (2.0, 1)
    kkt = measure.conditions(np.array([1.0, -1.0]), claim, margin_of(1.0, 1.0), skew, "l1", False)
    assert (kkt.dual.value, kkt.dual.row) == (0.5, 1)
    wide = margin_of(1.0, 1.0)
    steep = measure.conditions(np.array([1.0, -1.0]), claim, wide._replace(w=np.array([2.0])), hulls, "l1", True)
    assert steep.stationarity.value == 0.0


# -------------------------------------------------------------------------------------------------------- certificate


@pytest.mark.parametrize(
    ("lower", "upper", "gap"),
    [
        (1.0, 4.0, 0.75),
        (0.25, 0.5, 0.5),
        (-2.0, 4.0, 1.5),
        (1.0, math.inf, math.inf),
        (1.0, -1.0, math.inf),
        (1.0, math.nan, math.inf),
    ],
)
def test_relative_gaps(lower, upper, gap):
    assert relative_gap(lower, upper) == gap
    assert math.isnan(relative_gap(-1.0, 0.0))


def test_a_certificate_on_its_way_to_a_file_and_back():
    c = certified(MET, MET_SIGNS, [1.0], 0.0, [0, 1], [1.0, 1.0], hulls_meet=True)
    fields = c.to_dict()
    again = Certificate.from_dict(fields)
    assert (again.rows_off_plane, again.further_look, again.verdict) == (2, FurtherLook.FOUND, Verdict.WEAKLY_SEPARABLE)
    old = {name: value for name, value in fields.items() if name not in ("rows_off_plane", "further_look")}
    again = Certificate.from_dict(old)
    assert (again.rows_off_plane, again.further_look) == (None, FurtherLook.NOT_ASKED)
    assert Certificate.from_dict({**fields, "rows_off_plane": 0}).rows_off_plane == 0
    for wrong in ({"rows_off_plane": -1}, {"rows_off_plane": 1.0}, {"rows_off_plane": True}, {"further_look": "else"}):
        with pytest.raises(ValueError, match=r"not a certificate: (.* is no count|further_look)"):
            Certificate.from_dict({**fields, **wrong})
    assert Certificate.from_dict({**fields, "tol": 0.0}).tol == 0.0  # none was asked for
    state = {
        **vars(c),
        "verdict": "Not separable: a point lies in the hulls of both classes; the witness rows prove it.",
    }
    state = {name: value for name, value in state.items() if name not in ("rows_off_plane", "further_look")}
    blank = object.__new__(Certificate)
    blank.__setstate__(state)
    assert (blank.verdict, blank.rows_off_plane, blank.further_look) == (
        Verdict.NOT_SEPARABLE,
        None,
        FurtherLook.NOT_ASKED,
    )
    blank.__setstate__({**state, "rows_off_plane": 3, "further_look": FurtherLook.NO_TIME.value})
    assert (blank.rows_off_plane, blank.further_look) == (3, FurtherLook.NO_TIME)
    assert isinstance(blank.further_look, FurtherLook)  # and not a text that is equal to it
    assert isinstance(blank.verdict, Verdict)


def test_a_certificate_in_one_line():
    c = dataclasses.replace(certified(LINE, SIGNS, [2.0], 1.0, [0, 2], [4.0, 4.0]), margin_lower=1.0, margin_upper=3.0)
    assert not c.verify(LINE, SIGNS).exact
    assert repr(c) == "Certificate(OPTIMAL, margin in [1, 3], relative gap 0.67, 2 of 3 rows carry weight)"
    assert (c.may_ask_for(0.0), c.may_ask_for(1.0), c.may_ask_for(0.5), c.may_ask_for(-0.1)) == (
        True,
        False,
        True,
        False,
    )
