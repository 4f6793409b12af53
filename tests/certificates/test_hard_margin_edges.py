"""The judge of a hard margin at the edge of each comparison: what is believed, refused, asked of exact arithmetic."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin.certificates import separation as judge
from maxmargin.certificates import verify
from maxmargin.certificates.certificate import FurtherLook, Verdict
from maxmargin.certificates.exact import Intersection
from maxmargin.certificates.exact import Verdict as Answer
from maxmargin.certificates.measure import HullDistance, PlaneMargin, objective
from maxmargin.certificates.proof import KKT, Violation
from maxmargin.certificates.verify import Data

X, SIGNS = np.array([[2.0], [-1.0], [3.0]]), np.array([1.0, -1.0, 1.0])
KEPT = np.array([4, 6, 9])  # the rows of the user's table
ROWS = np.array([0, 1])
PLANE = PlaneMargin(1.0, 0.75, 1, np.array([2.0, 1.0, 3.0]), np.array([1.0]), 0.0)
HULLS = HullDistance(2.0, 2.5, np.array([1.0]), np.array([0.5, 0.5]))


def claim(**fields):
    values = {
        "w": np.array([1.0]),
        "b": 0.5,
        "fit_intercept": True,
        "norm": "l2",
        "rows": KEPT[ROWS],
        "weights": np.array([0.5, 0.5]),
        "margin_lower": 0.75,
        "margin_upper": 2.5,
        "relative_gap": 0.7,
        "tol": 1e-3,
        "verdict": Verdict.SEPARABLE,
        "rows_off_plane": None,
        "further_look": FurtherLook.NOT_ASKED,
    }
    values |= fields
    values["is_separable"] = False if values["verdict"] in judge.WITNESSED else None
    values |= {"primal": objective(values["margin_lower"], "l2"), "dual": objective(values["margin_upper"], "l2")}
    return SimpleNamespace(**values)


def evaluator(c, plane=PLANE, hulls=HULLS, kept=KEPT):
    own = judge.SeparationEvaluator(c, Data(X, SIGNS, None, kept))
    vars(own).update(places=ROWS, plane=plane, hulls=hulls)
    return own


class Exactly:
    """In place of exact arithmetic: answers, and keeps what it was asked."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def __call__(self, *arguments):
        self.asked.append(arguments)
        return self.answer


@pytest.fixture
def margin(monkeypatch):
    """What is said of a lower bound, and what exact arithmetic was asked on the way."""

    def said(claimed, exactly=False, holds=True, plane=PLANE, kept=KEPT, **fields):
        asked = Exactly(Answer(holds, "The margin of row 1 is below it.", 1))
        monkeypatch.setattr(judge.exact, "exact_margin_at_least", asked)
        c = claim(margin_lower=claimed, **fields)
        bound = next(evaluator(c, plane=plane, kept=kept).bounds())
        return list(verify.bound_refused(bound, kept, exactly)), asked.asked

    return said


def test_a_lower_bound_is_believed_up_to_what_is_sure(margin):
    assert margin(0.75) == ([], [])
    assert margin(-math.inf) == ([], [])
    assert margin(-math.inf, exactly=True) == ([], [])
    for claimed, exactly in ((0.75, True), (math.nextafter(0.75, 1.0), False), (1.0, False), (2.0, False)):
        said, asked = margin(claimed, exactly)
        assert said == []
        assert [(one[3], one[4], one[5]) for one in asked] == [(0.5, claimed, "l2")]


def test_a_lower_bound_is_refused_at_once_beyond_what_rounding_can_do(margin):
    for exactly in (False, True):
        assert margin(math.nextafter(2.0, 3.0), exactly) == (["the plane's margin is 1 (row 6), not 2"], [])
        assert margin(math.nan, exactly) == (["the plane's margin is 1 (row 6), not nan"], [])
    nowhere = PLANE._replace(value=-math.inf, lower=-math.inf, row=-1)
    assert margin(0.5, plane=nowhere, w=np.zeros(1)) == (["the plane's margin is -inf, not 0.5"], [])
    assert margin(0.5, plane=nowhere, kept=KEPT[:0]) == (["the plane's margin is -inf, not 0.5"], [])


def test_exact_arithmetic_decides_a_lower_bound(margin):
    words = "the plane's margin is 1 (row 6), not 1.5: the margin of row 6 is below it"
    assert margin(1.5, holds=False)[0] == [words]
    (asked,) = margin(1.5, fit_intercept=False)[1]
    assert asked[3] is None
    assert len(margin(1.5, w=np.array([1.0, 0.0]))[1]) == 1
    unknown = PLANE._replace(lower=-math.inf)
    assert len(margin(1e300, plane=unknown)[1]) == 1
    first = PLANE._replace(row=0)
    assert margin(9.0, plane=first)[0] == ["the plane's margin is 1 (row 4), not 9"]


@pytest.fixture
def street(monkeypatch):
    """What is said of an upper bound, and what exact arithmetic was asked on the way."""

    def said(claimed, exactly=False, holds=True, hulls=HULLS, **fields):
        asked = Exactly(Answer(holds, "The bound of row 0 is larger."))
        monkeypatch.setattr(judge.exact, "exact_upper_bound_holds", asked)
        c = claim(margin_upper=claimed, **fields)
        bounds = list(evaluator(c, hulls=hulls).bounds())[1:]
        return [words for bound in bounds for words in verify.bound_refused(bound, KEPT, exactly)], asked.asked

    return said


def test_an_upper_bound_is_believed_from_what_is_sure(street):
    assert street(2.5) == ([], [])
    assert street(math.inf) == ([], [])
    assert street(math.inf, exactly=True) == ([], [])
    near = HULLS._replace(upper=2.25)  # four times the rounding below the value: 1
    for claimed, exactly in ((2.25, True), (math.nextafter(2.25, 0.0), False), (1.0, False)):
        said, asked = street(claimed, exactly, hulls=near)
        assert said == []
        assert [(one[3], one[4], one[5]) for one in asked] == [(claimed, True, "l2")]
    below = math.nextafter(1.0, 0.0)
    words = f"the weighted rows prove an upper bound of 2, not {below:.12g}"
    assert street(below, hulls=near) == ([words], [])
    assert street(below, exactly=True, hulls=near) == ([words], [])


def test_exact_arithmetic_decides_an_upper_bound(street):
    words = "the weighted rows prove an upper bound of 2, not 2.25: the bound of row 0 is larger"
    assert street(2.25, holds=False)[0] == [words]
    unknown = HULLS._replace(upper=math.inf)
    assert len(street(1e-300, hulls=unknown)[1]) == 1


def test_no_upper_bound_is_0_without_a_witness(street):
    for claimed in (0.0, -1.0, math.nan):
        assert street(claimed) == (["only a witness that the hulls meet makes the upper bound 0"], [])
        for verdict in judge.WITNESSED:
            assert street(claimed, verdict=verdict) == ([], [])
    assert len(street(math.ulp(0.0), hulls=HULLS._replace(upper=9.0))[1]) == 1


def test_what_rounding_does():
    assert judge.rounding_of(PLANE) == 0.25
    assert judge.rounding_of(PLANE._replace(lower=-math.inf)) == 0.0
    assert judge.rounding_of_hulls(HULLS) == 0.5
    assert judge.rounding_of_hulls(HULLS._replace(upper=math.inf)) == 0.0


FOUND = KKT(Violation(1.0), Violation(1.0, 1), Violation(1.0, 4), Violation(1.0, 0), Violation(1.0))
TRUE = KKT(Violation(1.0), Violation(1.0, 6), Violation(1.0, 4), Violation(1.0, 4), Violation(1.0))


@pytest.fixture
def conditions(monkeypatch):
    """What is said of conditions, where these are found."""

    def said(kkt=TRUE, plane=PLANE, hulls=HULLS, found=FOUND, slack=(9.0, 9.0), **fields):
        monkeypatch.setattr(judge, "conditions", lambda *_: found)
        monkeypatch.setattr(judge, "slackness", lambda *_: np.array(slack))
        c = claim(kkt=kkt, **fields)
        return list(evaluator(c, plane, hulls).conditions())

    return said


def test_conditions_stand_where_a_plane_separates_and_only_there(conditions):
    missing = ["the report of the optimality conditions is missing or out of place"]
    without = ({"margin_lower": 0.0}, {"hulls": HULLS._replace(value=0.0)}, {"hulls": HULLS._replace(value=math.inf)})
    assert conditions() == []
    assert conditions(None) == missing
    assert conditions(margin_lower=math.ulp(0.0)) == []
    for case in without:
        assert conditions(None, **case) == []
        assert conditions(**case) == missing
    cannot = ["float64 cannot measure the conditions of optimality that are reported"]
    assert conditions(plane=PLANE._replace(value=0.0)) == cannot
    assert conditions(plane=PLANE._replace(value=-1.0)) == cannot
    assert conditions(found=None) == cannot


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(KKT)])
def test_a_figure_may_differ_by_four_times_the_rounding(conditions, name):
    """Relative: 1/8 over 2 of the plane, and 1/2 over 4 of the hulls."""
    near = {"plane": PLANE._replace(value=2.0, lower=1.875), "hulls": HULLS._replace(value=4.0, upper=4.5)}
    allowed = 1e-6 * (1e-6 + 1.0) + (0.0 if name == "dual" else 4.0 * (0.0625 + 0.125))
    for factor, right in ((0.999, True), (1.001, False)):
        for value in (1.0 - factor * allowed, 1.0 + factor * allowed):
            other = dataclasses.replace(getattr(TRUE, name), value=value)
            assert (conditions(dataclasses.replace(TRUE, **{name: other}), **near) == []) == right


def named(**rows):
    return dataclasses.replace(TRUE, **{name: Violation(1.0, row) for name, row in rows.items()})


def test_the_row_that_is_nearest(conditions):
    words = "row 4 is not the nearest to the plane"
    for distance, right in ((1.5, True), (math.nextafter(1.5, 2.0), False)):
        plane = PLANE._replace(distances=np.array([distance, 1.0, 3.0]))
        assert conditions(named(primal=4), plane=plane) == ([] if right else [words])
    for row in (1, 5, -1):
        assert conditions(named(primal=row)) == [f"row {row} is not the nearest to the plane"]


def test_the_row_that_carries_least(conditions):
    for more, right in ((0.0, True), (0.9e-12, True), (1.1e-12, False)):
        hulls = HULLS._replace(weights=np.array([0.5, 0.5 + more]) * 2.0)
        said = conditions(named(dual=6), hulls=hulls)
        assert said == ([] if right else ["row 6 is not the one that carries least"])
        assert conditions(named(dual=4), hulls=hulls) == []
    three = {"rows": KEPT, "slack": (9.0, 9.0, 9.0)}
    for least, right in ((1e-12, True), (math.nextafter(1e-12, 1.0), False)):
        hulls = HULLS._replace(weights=np.array([0.0, least, 1.0 - 1e-12]))
        assert hulls.weights.sum() == 1.0
        assert (conditions(named(dual=6), hulls=hulls, **three) == []) == right
    for row in (9, 0, -1):
        assert conditions(named(dual=row)) == [f"row {row} is not the one that carries least"]


def test_the_row_that_has_most_slack(conditions):
    """Rounding is 1/4 of 1 and 1/2 of 2: four times their sum is 2."""
    words = "row 4 is not the one that has the most slack for its weight"
    edge = 9.0 - 1e-6 * (1e-6 + 9.0) - 2.0
    for slack, right in ((edge, True), (edge - 1e-9, False), (edge + 1e-9, True)):
        assert conditions(slack=(slack, 9.0)) == ([] if right else [words])
        assert conditions(named(slackness=6), slack=(slack, 9.0)) == []
    assert conditions(slack=(math.inf, 1.0)) == []
    assert conditions(slack=(1.0, math.inf)) == [words]
    exactly = {"plane": PLANE._replace(lower=-math.inf), "hulls": HULLS._replace(upper=math.inf)}
    for slack, right in ((-0.9e-12, True), (-1.1e-12, False)):
        assert conditions(slack=(slack, 0.0), **exactly) == ([] if right else [words])
    for row in (9, -1):
        assert conditions(named(slackness=row)) == [words.replace("row 4", f"row {row}")]


@pytest.fixture
def verdict(monkeypatch):
    """What is said of a verdict, where the witness holds or not, and so many rows are off the plane."""

    def said(verdict, meeting=True, off=3, hulls=HULLS, **fields):
        answer = Intersection([1, 1] if meeting else None, "These rows are separable.")
        monkeypatch.setattr(judge.exact, "proves_intersection", lambda *_: answer)
        monkeypatch.setattr(judge, "weakly_separated", lambda *_: off)
        c = claim(verdict=verdict, **fields)
        return [*verify.verdict_refused(c), *evaluator(c, hulls=hulls).verdict()]

    return said


def test_a_verdict_is_one_that_the_bounds_allow(verdict):
    nothing = ["no positive margin is claimed, so nothing is separated"]
    denied = ["a positive margin is claimed with a verdict that denies it"]
    for word in (Verdict.OPTIMAL, Verdict.SEPARABLE):
        assert verdict(word, tol=0.99) == []
        assert verdict(word, tol=0.999, margin_lower=math.ulp(0.0))[1:] == []
        assert verdict(word, margin_lower=0.0)[-1:] == nothing
    for word in (Verdict.UNDECIDED, Verdict.STOPPED):
        assert verdict(word) == denied
        assert verdict(word, margin_lower=0.0) == []
    assert "not optimal" in verdict(Verdict.OPTIMAL)[0]
    assert "contradict" in verdict(Verdict.SEPARABLE, margin_lower=3.0)[0]
    near = HULLS._replace(value=1.0, upper=1.25)
    for word in judge.WITNESSED:
        assert verdict(word, hulls=near, margin_upper=0.0) == denied
        assert verdict(word, hulls=near, margin_upper=0.0, margin_lower=-1.0) == []


@pytest.mark.parametrize("word", judge.WITNESSED)
def test_a_witness_must_hold_with_its_own_weights(verdict, word):
    bounds = {"margin_lower": -1.0, "margin_upper": 0.0}
    far, near = HULLS._replace(value=1.0, upper=1.2499), HULLS._replace(value=1.0, upper=1.25)
    apart = ["the witness rows prove it, but their weights leave the hull points 1 apart"]
    assert verdict(word, hulls=far, **bounds) == apart
    assert verdict(word, hulls=near, **bounds) == []
    unsure = ["the witness does not hold: These rows are separable"]
    assert verdict(word, False, hulls=far, **bounds) == unsure
    for upper in (0.5, math.nan):
        above = ["a witness that the hulls meet makes the upper bound 0"]
        assert verdict(word, hulls=near, margin_lower=-1.0, margin_upper=upper) == above


def test_rows_off_a_weakly_separating_plane(verdict):
    proven = {"margin_lower": -1.0, "margin_upper": 0.0, "hulls": HULLS._replace(value=0.0)}
    weakly, found = Verdict.WEAKLY_SEPARABLE, FurtherLook.FOUND
    for count in (None, 3):
        for look in FurtherLook:
            assert verdict(weakly, rows_off_plane=count, further_look=look, **proven) == []
    assert verdict(weakly, rows_off_plane=2, **proven) == ["3 rows are counted off a weakly separating plane, not 2"]
    wrong = ["the plane has rows on its wrong side, or all rows on itself"]
    for count in (None, 0, 2):
        assert verdict(weakly, off=0, rows_off_plane=count, further_look=found, **proven) == wrong
    never = Verdict.NOT_SEPARABLE
    assert verdict(never, off=0, **proven) == []
    for count in (0, 3):
        words = f"no rows are counted off a weakly separating plane, not {count}"
        assert verdict(never, rows_off_plane=count, **proven) == [words]
    words = "a weakly separating plane is said to be found with a verdict that denies it"
    assert verdict(never, further_look=found, **proven) == [words]
    assert verdict(Verdict.SEPARABLE, further_look=found) == [words]
    assert verdict(never, further_look=FurtherLook.NO_TIME, **proven) == []
