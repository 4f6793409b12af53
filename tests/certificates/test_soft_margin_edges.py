"""The judge of a soft margin at the very edge of each comparison."""

import dataclasses
import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin.certificates import form, verify
from maxmargin.certificates import soft_margin as judge
from maxmargin.certificates.duality import INSIDE, DualValue, PrimalValue, dual_value, primal_value, soft_conditions
from maxmargin.certificates.passes import values_of
from maxmargin.certificates.proof import KKT, TheoremBound, Violation
from maxmargin.certificates.soft_margin import SoftMarginCertificate, SoftVerdict
from maxmargin.certificates.verify import Data, as_number, objective_at_least, objective_at_most
from maxmargin.problems.losses import HINGE, SQUARED_HINGE
from maxmargin.problems.statement import SoftMargin

X, Y = np.array([[9.0], [1.0], [-1.0], [0.5]]), np.array(["c", "a", "b", "a"])
OWN, SIGNS = np.array([1, 2, 3]), np.array([1.0, -1.0, 1.0])
A = np.array([0.5, 1.5, 1.0])
both = pytest.mark.parametrize("exact", [False, True])


def certificate(loss=HINGE, fit_intercept=True, w=1.5, b=0.25, C=1.5, class_weight=(), a=A, **changes):
    """Of a plane that is not the best."""
    costs = C * np.where(SIGNS > 0, *[dict(class_weight).get(label, 1.0) for label in "ab"])
    problem, plane = SoftMargin(X[OWN], SIGNS, costs, loss, fit_intercept), np.array([w])
    values = values_of(X[OWN], plane)
    primal, dual = primal_value(problem, plane, b, values=values, matters=0.1), dual_value(problem, a, matters=0.1)
    kkt = soft_conditions(problem, (plane, b), a, primal, dual, values)
    there = Violation(kkt.slackness.value, int(OWN[kkt.slackness.row]))
    fields = {
        "class_weight": class_weight,
        "rows": OWN[a > 0.0],
        "weights": a[a > 0.0],
        "primal": primal.upper,
        "dual": dual.lower,
        "kkt": dataclasses.replace(kkt, slackness=there),
    }
    fields |= {"positive": "a", "negative": "b", "n_rows": 3, "n_columns": 1, "w": plane, "b": b, "tol": 0.01}
    fields |= {"verdict": SoftVerdict.BOUNDED, "loss": loss.name, "C": C, "fit_intercept": fit_intercept}
    return SoftMarginCertificate(**(fields | changes))


TRUE = certificate()
NEEDED = "if the fit was given a sample_weight, it is needed here too"


@both
@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE])
def test_the_truth_is_verified(exact, loss):
    few = certificate(loss, a=np.array([1.0, 1.5, 0.0]))
    for case in (
        few,
        certificate(loss),
        certificate(loss, False, b=0.0),
        certificate(loss, class_weight=(("b", 2.0),)),
    ):
        answer = case.verify(X, Y, exact=exact)
        assert (answer.holds, answer.exact) == (True, exact), answer
        assert answer.reasons[0].startswith("the least objective lies between ")
        assert case.verify(X, Y, exact=exact, sample_weight=[0.0, 1.0, 1.0, 1.0])


@both
def test_a_missing_sample_weight_is_thought_of(exact):
    low, high = dataclasses.replace(TRUE, primal=1.0), dataclasses.replace(TRUE, dual=9.0, primal=9.5)
    said = low.verify(X, Y, exact=exact)
    assert (said.holds, said.exact, said.reasons[-1]) == (False, exact, NEEDED)
    assert said.reasons[0].startswith("the plane's objective is ")
    assert NEEDED not in low.verify(X, Y, exact=exact, sample_weight=np.ones(4)).reasons
    among_others = dataclasses.replace(TRUE, primal=0.125).verify(X, Y, exact=exact)
    assert len(among_others.reasons) > 2
    assert among_others.reasons[-1] == NEEDED
    said = high.verify(X, Y, exact=exact)
    assert NEEDED not in said.reasons
    assert "the weights prove a lower bound of" in said.reasons[0]
    assert str(said).startswith("Refused (in exact rational arithmetic)" if exact else "Refused (in float64")
    said = TRUE.verify(X, Y[:2], exact=exact)
    assert (said.holds, said.exact, len(said.reasons)) == (False, exact, 1)


def costs(kept=(0, 1, 2, 3), weights=None, **changes):
    return verify.costs_of(dataclasses.replace(TRUE, **changes), Y, weights, np.array(kept)).tolist()


def test_what_a_row_costs():
    assert costs() == [1.5] * 4
    assert costs([1, 3], class_weight=(("c", 3.0), ("a", 2.0))) == [3.0, 3.0]
    assert costs(class_weight=(("c", 3.0), ("a", 2.0))) == [4.5, 3.0, 1.5, 3.0]
    assert costs(weights=[1.0, 2.0, 3.0, 4.0], class_weight=(("b", 2.0),)) == [1.5, 3.0, 9.0, 6.0]
    assert costs(C=1e300, weights=[1e300, 1.0, 1.0, 1.0])[:2] == [math.inf, 1e300]
    for wrong in ({"C": "1"}, {"C": True}, {"class_weight": (("a", 0.0),)}, {"class_weight": [("a", 1.0)]}):
        with pytest.raises(ValueError, match="C must be a number, and class_weight pairs of a label"):
            costs(**wrong)
    with pytest.raises(ValueError, match="class_weight names 'd', which is no label of these data"):
        costs(class_weight=(("d", 1.0),))


def evaluator(costs=(1.5, 1.5, 1.5), case=TRUE, **changes):
    case = dataclasses.replace(case, **changes)
    return judge.SoftMarginEvaluator(case, Data(X[OWN], SIGNS, np.array(costs), OWN))


def malformed(costs=(1.0, 1.0, 1.0), **changes):
    """The first reason is the one that is said."""
    own = evaluator(costs, **changes)
    said = itertools.chain(form.malformed(own.c, OWN), own.malformed(), verify.costs_refused(own))
    return list(said)[: 1 if "loss" in changes else None]


def test_what_is_no_claim():
    plane = ["the plane is not finite or has the wrong length"]
    assert malformed() == []
    assert malformed(loss="absolute") == ["the loss 'absolute' is not known"]
    for wrong in ({"w": np.ones(2)}, {"w": np.ones((1, 1))}, {"w": np.array([math.nan])}, {"b": math.inf}):
        assert malformed(**wrong) == plane
    for w in ([1.0, math.nan], [math.inf, 1.0]):
        assert malformed(w=np.array(w), n_columns=2) == plane
    for price in (0.0, -1.0, math.inf, math.nan):
        assert malformed(C=price) == [f"C must be positive and finite, not {price}"]
        words = f"C times the weights must be positive and finite; row 2 has {price}"
        assert malformed((1.0, price, 1.0)) == [words]
        assert malformed((1.0, price, price)) == [words]
    assert malformed((math.ulp(0.0),) * 3, C=math.ulp(0.0)) == []
    assert malformed(tol=0.0) == ["tol must be above 0 and below 1, not 0.0"]


def refused(exact=False, **changes):
    return list(verify.refusals_of(evaluator(case=certificate(), **changes), exact))


@both
def test_each_lie_alone(exact):
    assert refused(exact) == []
    assert refused(exact, loss="absolute", C=-1.0) == ["the loss 'absolute' is not known"]
    words = "the weight {} of row {} is not between 0 and its cost 1.5: not a point of the dual"
    for place in range(3):
        for wrong in (math.nextafter(1.5, 2.0), -math.ulp(0.0), math.inf, math.nan):
            weights = np.array([0.5, 1.5, 1.0])
            weights[place] = wrong
            assert refused(exact, weights=weights) == [words.format(f"{wrong:.9g}", OWN[place])]
    wrong = np.array([0.5, -0.25, 1.0])
    words = "the weight -0.25 of row 2 is not between 0 and infinity: not a point of the dual"
    assert refused(exact, loss="squared_hinge", weights=wrong) == [words]
    assert "relative gap" in refused(exact, verdict=SoftVerdict.OPTIMAL)[0]
    assert refused(exact, kkt=None) == []
    beautified = dataclasses.replace(TRUE.kkt, stationarity=Violation(0.0))
    assert "the condition of stationarity" in refused(exact, kkt=beautified)[0]
    told = (TheoremBound("Murphy", 1.0, 1.0),)
    assert refused(exact, theorems=told) == ["there is no theorem 'Murphy' about this problem"]
    aside = refused(exact, fit_intercept=False)
    assert aside[0] == "the plane should pass through the origin but has b = 0.25"
    assert "origin" not in str(refused(exact, fit_intercept=False, b=0.0))


class Exactly:
    """In place of exact arithmetic: answers, and counts how often it is asked."""

    def __init__(self, holds):
        self.holds, self.asked = holds, 0

    def primal_holds(self):
        self.asked += 1
        return self.holds

    dual_holds = primal_holds


def agrees(bound):
    return verify.between(bound.is_believed, bound.is_refuted, bound.exactly, False)


@pytest.mark.parametrize("holds", [False, True])
def test_what_float64_decides_and_what_it_does_not(holds):
    for claimed, sure in ((4.5, True), (math.inf, True), (math.nextafter(3.5, 0.0), False), (3.5, None), (4.4, None)):
        exact = Exactly(holds)
        assert agrees(objective_at_most(claimed, 4.0, 0.5, exact.primal_holds)) is (holds if sure is None else sure)
        assert exact.asked == (sure is None)
    limit = (1.0 + 1e-9) * 5.0
    above = math.nextafter(limit, 9.0)
    for claimed, sure in ((3.5, True), (0.0, True), (above, False), (limit, None), (math.nextafter(3.5, 9.0), None)):
        exact = Exactly(holds)
        assert agrees(objective_at_least(claimed, 4.0, 0.5, exact.dual_holds)) is (holds if sure is None else sure)
        assert exact.asked == (sure is None)
    for claimed, asked in ((0.0, 0), (math.ulp(0.0), 1)):
        exact = Exactly(True)
        assert agrees(objective_at_least(claimed, 0.0, 1.0, exact.dual_holds))
        assert exact.asked == asked


def test_a_value_beyond_float64_is_said_to_be():
    for value, error in ((math.inf, 0.0), (1.0, math.inf), (math.nan, 0.0), (1.7e308, 1e308)):
        assert as_number(value, error) == "beyond what float64 can tell"
    assert as_number(1.0 / 3.0, 1.0) == "0.333333333333"


FOUND = KKT(Violation(1.0), *[Violation(10.0)] * 2, Violation(10.0, 0), Violation(10.0))
SAID = dataclasses.replace(FOUND, slackness=Violation(10.0, 2))
PRIMAL = PrimalValue(2.0, 0.25, np.array([3.0, -1.0, 1.0]), 0.125)
DUAL = DualValue(1.0, 0.125, (1.0, 2.0), np.array([2.0]), 0.25)


@pytest.fixture
def conditions(monkeypatch):
    """What is said of conditions, where these are found, and these shares of the rows."""

    def said(kkt=SAID, shares=(6.0, 18.0, 6.0), primal=PRIMAL, dual=DUAL, w=1.0, widest=FOUND):
        insides, sums = [], []
        monkeypatch.setattr(
            judge, "soft_conditions", lambda *all: (insides.append(all[-1]), (FOUND, widest)[len(insides) - 1])[1]
        )
        monkeypatch.setattr(judge, "row_shares", lambda *all: (sums.append(all[1:]), np.array(shares))[1])
        c = SimpleNamespace(kkt=kkt, w=np.array([w]), b=0.25)
        problem = SoftMargin(X[OWN], SIGNS, np.full(3, 1.5), HINGE, True)
        values = np.array([1.0, 2.0, 3.0])
        own = judge.SoftMarginEvaluator(c, Data(X[OWN], SIGNS, np.full(3, 1.5), OWN))
        vars(own).update(problem=problem, a=A, primal=primal, dual=dual, values=values)
        refusals = list(own.conditions())
        if insides:
            assert insides == [INSIDE * (1.0 + 1e-6), INSIDE * (1.0 - 1e-6)]
            (feasible, slack, functional) = sums[0]
            assert feasible.tolist() == [0.5, 3.0, 1.0]
            assert slack.tolist() == primal.slack.tolist()
            assert functional.tolist() == [1.25, -2.25, 3.25]
        return refusals

    return said


ALLOWED = {"stationarity": 0.5, "primal": 0.0, "dual": 0.0, "slackness": 0.75, "bias": 0.5 + 0.75 * 3.0}


@pytest.mark.parametrize("name", ALLOWED)
def test_a_figure_may_differ_by_what_rounding_does(conditions, name):
    own = getattr(FOUND, name).value
    allowed = ALLOWED[name] + 1e-6 * (1e-6 + own)
    for factor, right in ((0.999, True), (1.001, False)):
        for value in (own - factor * allowed, own + factor * allowed):
            other = dataclasses.replace(getattr(SAID, name), value=value)
            assert (conditions(dataclasses.replace(SAID, **{name: other})) == []) == right


def test_rows_at_the_limit_may_be_counted_or_not(conditions):
    wide = dataclasses.replace(FOUND, dual=Violation(12.0))
    for value, right in ((10.0, True), (11.0, True), (12.0, True), (12.1, False), (9.9, False)):
        said = conditions(dataclasses.replace(SAID, dual=Violation(value)), widest=wide)
        assert (said == []) == right


def test_the_stationarity_is_relative_to_the_longer_w(conditions):
    nothing = dataclasses.replace(DUAL, w=np.zeros(1))
    exactly = dataclasses.replace(nothing, w_error=0.0)
    unknown = dataclasses.replace(nothing, w_error=math.inf)
    cases = ((8.0, DUAL, 0.125), (-8.0, nothing, 0.125), (0.5, DUAL, 0.5), (0.0, exactly, 0.0))
    cases += ((0.0, nothing, 1.0), (8.0, unknown, 1.0))  # anything that such a figure can be: at most 2
    for w, dual, allowed in cases:
        for factor, right in ((0.999, True), (1.001, False), (math.inf, False)):
            value = 1.0 + factor * (allowed + 1e-6)
            assert (conditions(dataclasses.replace(SAID, stationarity=Violation(value)), dual=dual, w=w) == []) == right


def test_the_row_that_adds_most_to_the_gap(conditions):
    edge = 9.0 - 1e-6 * (1e-6 + 9.0) - 0.75
    words = "row {} is not the one that adds most to the gap"
    at_first = dataclasses.replace(SAID, slackness=Violation(10.0, 1))
    for share, right in ((edge, True), (math.nextafter(edge, 0.0), False)):
        assert conditions(at_first, (2.0 * share, 18.0, 6.0)) == ([] if right else [words.format(1)])
    assert conditions(shares=(6.0, math.inf, 6.0)) == []
    assert conditions(at_first, (6.0, math.inf, 6.0)) == [words.format(1)]
    for share, right in ((-0.9e-12, True), (-1.1e-12, False)):
        said = conditions(
            at_first,
            (2.0 * share, 0.0, -1.0),
            primal=dataclasses.replace(PRIMAL, error=0.0),
            dual=dataclasses.replace(DUAL, error=0.0),
        )
        assert said == ([] if right else [words.format(1)])
    for row in (0, 4, -1):
        other = dataclasses.replace(SAID, slackness=Violation(10.0, row))
        assert conditions(other) == [words.format(row)]


def test_an_objective_of_0_divides_nothing(conditions):
    free = dataclasses.replace(PRIMAL, value=0.0)
    edge = 18.0 - 1e-6 * (1e-6 + 18.0) - 1.0  # and not 1.5: no row pays more than all
    at_first = dataclasses.replace(SAID, slackness=Violation(10.0, 1))
    for share, right in ((edge, True), (math.nextafter(edge, 0.0), False)):
        assert (conditions(at_first, (share, 18.0, 6.0), primal=free) == []) == right
    cannot = ["float64 cannot measure the conditions of optimality that are reported"]
    assert conditions(primal=dataclasses.replace(PRIMAL, value=math.inf)) == cannot
