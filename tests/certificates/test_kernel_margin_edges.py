"""The judge of a margin in the space of a kernel at the very edge of each comparison."""

import dataclasses
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin.certificates import kernel_margin as judge
from maxmargin.certificates import verify
from maxmargin.certificates.duality import INSIDE
from maxmargin.certificates.kernel_duality import KernelMeasure
from maxmargin.certificates.kernel_margin import KernelVerdict
from maxmargin.certificates.proof import KKT, TheoremBound, Violation
from maxmargin.certificates.verify import Data, as_number

OWN, SIGNS = np.array([1, 2, 4]), np.array([1.0, -1.0, 1.0])
PROBLEM = SimpleNamespace(kernel=None, signs=SIGNS)
A = np.array([0.5, 0.0, 0.0])
MEASURE = KernelMeasure(
    values=np.zeros(3),
    b=0.0,
    slack=np.array([0.0, 3.0, 0.0]),
    square=4.0,
    primal=2.0,
    primal_error=0.25,
    dual=1.0,
    dual_error=0.125,
    factors=(1.0, 1.0),
    scales=(1.0, 1.0),
    off=np.array([0.0625, 0.03125, 100.0]),  # the last row carries nothing and pays nothing
    square_error=0.125,
)
MEETING = dataclasses.replace(MEASURE, square=0.0)


def evaluator(a, found, **fields):
    own = judge.KernelMarginEvaluator(SimpleNamespace(**fields), Data(None, SIGNS, None, OWN))
    vars(own).update(problem=PROBLEM, a=a, found=found)
    return own


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("holds", [False, True])
def test_exact_arithmetic_is_asked_where_float64_cannot_tell(asked, holds):
    for surely, surely_not in ((True, False), (False, True), (False, False)):
        assert verify.between(surely, surely_not, None, asked) is surely
        decided = holds if asked or not (surely or surely_not) else surely
        assert verify.between(surely, surely_not, lambda: holds, asked) is decided


@pytest.fixture
def bounds(monkeypatch):
    """What is said of two bounds, and which of them exact arithmetic was asked about."""

    def said(primal=9.0, dual=0.0, exactly=False, rational=True, holds=True, found=MEASURE):
        asked = []
        exact = judge.exact_kernel
        monkeypatch.setattr(exact, "has_exact_values", lambda _: rational)
        monkeypatch.setattr(exact, "primal_at_most", lambda *all: (asked.append(("primal", all[-1])), holds)[1])
        monkeypatch.setattr(exact, "dual_at_least", lambda *all: (asked.append(("dual", all[-1])), holds)[1])
        bounds = evaluator(A, found, primal=primal, dual=dual, b=0.0, verdict=KernelVerdict.BOUNDED).bounds()
        return [words for bound in bounds for words in verify.bound_refused(bound, OWN, exactly)], asked

    return said


def test_an_objective_is_believed_with_every_error_against_it(bounds):
    assert bounds(2.25) == ([], [])
    assert bounds(2.25, rational=False) == ([], [])
    below = math.nextafter(2.25, 0.0)
    for doubt in (below, 2.0, 1.75):
        words = f"the plane's objective is 2, not {doubt!r}"
        assert bounds(doubt) == ([], [("primal", doubt)])
        assert bounds(doubt, holds=False) == ([words], [("primal", doubt)])
        assert bounds(doubt, rational=False) == ([words], [])
    wrong = math.nextafter(1.75, 0.0)
    assert bounds(wrong) == ([f"the plane's objective is 2, not {wrong!r}"], [])


def test_a_lower_bound_is_believed_with_every_error_against_it(bounds):
    assert bounds(dual=0.875) == ([], [])
    limit = (1.0 + 1e-9) * 1.25
    for doubt in (math.nextafter(0.875, 1.0), 1.0, limit):
        words = f"the weights prove a lower bound of 1, not {doubt!r}"
        assert bounds(dual=doubt) == ([], [("dual", doubt)])
        assert bounds(dual=doubt, holds=False) == ([words], [("dual", doubt)])
        assert bounds(dual=doubt, rational=False) == ([words], [])
    wrong = math.nextafter(limit, 2.0)
    assert bounds(dual=wrong) == ([f"the weights prove a lower bound of 1, not {wrong!r}"], [])
    nothing = dataclasses.replace(MEASURE, dual=0.0)
    assert bounds(dual=0.0, found=nothing) == ([], [])
    assert bounds(dual=math.ulp(0.0), found=nothing)[1] == [("dual", math.ulp(0.0))]


def test_exact_arithmetic_is_asked_for_both(bounds):
    assert bounds(exactly=True) == ([], [("primal", 9.0), ("dual", 0.0)])
    assert bounds(exactly=True, holds=False)[0] == [
        "the plane's objective is 2, not 9.0",
        "the weights prove a lower bound of 1, not 0.0",
    ]


def test_exact_values_beside_their_bounds(monkeypatch):
    for value in (Fraction(1, 2), None):
        monkeypatch.setattr(judge.exact_kernel, "primal_value", lambda *_, value=value: value)
        monkeypatch.setattr(judge.exact_kernel, "dual_value", lambda *_, value=value: value)
        above, below = math.nextafter(0.5, 1.0), math.nextafter(0.5, 0.0)
        for bound, right in ((0.5, True), (above, True), (below, False), (-math.inf, False), (math.nan, False)):
            assert judge.exact_kernel.primal_at_most(PROBLEM, A, 0.0, bound) is (right and value is not None)
        assert judge.exact_kernel.primal_at_most(PROBLEM, A, 0.0, math.inf) is True
        for bound, right in ((0.5, True), (below, True), (0.0, True), (-1.0, True), (above, False), (math.inf, False)):
            assert judge.exact_kernel.dual_at_least(PROBLEM, A, bound) is (right or value is None)


def test_nothing_is_worked_out_for_a_bound_of_0(monkeypatch):
    monkeypatch.setattr(judge.exact_kernel, "dual_value", lambda *_: Fraction(-1))
    assert judge.exact_kernel.dual_at_least(PROBLEM, A, 0.0) is True
    assert judge.exact_kernel.dual_at_least(PROBLEM, A, math.ulp(0.0)) is False


def test_a_value_beyond_float64_is_said_to_be():
    for value, error in ((math.inf, 0.0), (1.0, math.inf), (math.nan, 0.0), (1.7e308, 1e308)):
        assert as_number(value, error) == "beyond what float64 can tell"
    assert as_number(1.0 / 3.0, 1.0) == "0.333333333333"


@pytest.fixture
def witness(monkeypatch):
    """What is said of a witness, where exact arithmetic finds the combination or not."""

    def said(found=(1, 1), measure=MEETING, a=(0.5, 0.5, 0.0), **changes):
        rows = []
        monkeypatch.setattr(judge.exact_kernel, "exact_witness", lambda *all: (rows.append(all[1:]), found)[1])
        c = {
            "is_hard": True,
            "C": math.inf,
            "primal": math.inf,
            "dual": math.inf,
            "b": 0.0,
            "kkt": None,
            "theorems": (),
            "fit_intercept": True,
        }
        c["verdict"] = KernelVerdict.NOT_SEPARABLE
        refusals = list(evaluator(np.array(a), measure, **(c | changes)).verdict())
        if rows:
            assert [part.tolist() for part in rows[0]] == [np.flatnonzero(a).tolist(), [one for one in a if one]]
        return refusals

    return said


def test_a_witness_says_nothing_of_a_plane(witness):
    assert witness() == []
    words = ["where no plane separates, both bounds are infinite, and nothing is said of a plane"]
    told = (TheoremBound("a", 1.0, 1.0),)
    for wrong in ({"primal": 1.0}, {"dual": 1.0}, {"b": 0.5}, {"kkt": 0}, {"theorems": told}):
        assert witness(**wrong) == words
    words = "with C = 2.0 rows may be on the wrong side: only the hard margin, C = inf, can be impossible"
    assert witness(is_hard=False, C=2.0) == [words]


def test_a_witness_holds_with_its_own_weights(witness):
    missing = "the witness does not hold: no combination of its rows was found that vanishes in the space of the kernel"
    assert witness(None) == [missing]
    for square in (0.5, -0.5):
        assert witness(measure=dataclasses.replace(MEASURE, square=square)) == []
    far = dataclasses.replace(MEASURE, square=0.5625, square_error=0.140624)
    assert witness(measure=far) == ["the witness rows prove it, but their weights leave the hull points 0.75 apart"]
    for more, right in ((1.9e-9, True), (-1.9e-9, True), (2.1e-9, False), (-2.1e-9, False)):
        words = f"the weights of the witness differ by {more:.3g} between the classes"
        assert witness(a=(1.0 + more, 1.0, 0.0)) == ([] if right else [words])
    edge = 2e-9
    for _ in range(5):
        edge = 1e-9 * (2.0 + edge)
    assert witness(a=(1.0, 1.0, edge)) == []
    assert witness(a=(1.0, 1.0, math.nextafter(edge, 1.0))) != []


FOUND = KKT(Violation(1.0), *[Violation(10.0)] * 2, Violation(10.0, 0), Violation(10.0))
SAID = dataclasses.replace(FOUND, slackness=Violation(10.0, 2))
CLOSE = dataclasses.replace(MEASURE, primal_error=0.125, dual_error=0.03125, square_error=0.0625)


@pytest.fixture
def conditions(monkeypatch):
    """What is said of conditions, where these are found, and these shares of the rows."""

    def said(kkt=SAID, shares=(3.0, 9.0, 3.0), found=CLOSE, widest=FOUND, a=A):
        insides = []

        def both(*all):
            insides.append(all[-1])
            return (FOUND, widest)[len(insides) - 1]

        monkeypatch.setattr(judge, "kernel_conditions", both)
        monkeypatch.setattr(judge, "nearest", lambda *_: 2.0)
        monkeypatch.setattr(judge, "factor", lambda *_: 3.0)
        monkeypatch.setattr(judge, "shares_of", lambda *_: np.array(shares))
        refusals = list(evaluator(a, found, kkt=kkt, verdict=KernelVerdict.BOUNDED).conditions())
        assert insides in ([], [INSIDE * (1.0 + 1e-6), INSIDE * (1.0 - 1e-6)])
        return refusals

    return said


def worth(found=CLOSE, off=0.0625, heaviest=0.5):
    """What rounding does to each figure: m = 2 and t = 3."""
    objective = found.primal or 1.0
    value = 4.0 * (0.125 + 0.03125 + 0.0625) / objective + 4.0 * off / 2.0 * 3.0 * heaviest / objective
    value = min(1.0, value)
    stationarity = 4.0 * (0.0625 / 4.0 + off / 2.0)
    bias = 4.0 * off / 2.0 + value * 3.0
    return {"stationarity": stationarity, "primal": 0.0, "dual": 0.0, "slackness": value, "bias": bias}


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(KKT)])
def test_a_figure_may_differ_by_what_rounding_does(conditions, name):
    cases = [(CLOSE, worth()), (dataclasses.replace(CLOSE, primal=0.0), worth(dataclasses.replace(CLOSE, primal=0.0)))]
    paying = dataclasses.replace(CLOSE, off=np.array([0.0625, 0.125, 100.0]), slack=np.array([3.0, 0.5, 0.0]))
    cases += [(paying, worth(off=0.125))]
    own = getattr(FOUND, name).value
    for found, allowances in cases:
        allowed = allowances[name] + 1e-6 * (1e-6 + own)
        for factor, right in ((0.999, True), (1.001, False)):
            for value in (own - factor * allowed, own + factor * allowed):
                other = dataclasses.replace(getattr(SAID, name), value=value)
                said = conditions(dataclasses.replace(SAID, **{name: other}), found=found)
                assert (said == []) == right, (found, value)


@pytest.mark.parametrize(
    ("square", "error", "told"),
    [
        (4.0, 0.0625, 1.187),
        (0.0, 0.0, 1.12),  # what the values of the rows are off, alone
        (0.0, 1e-300, 2.0),  # where the square is nothing but an error, anything that such a figure can be
        (1e-9, 1.0, 2.0),
        (0.0, math.inf, 2.0),
    ],
)
def test_the_stationarity_is_relative_to_the_square(conditions, square, error, told):
    found = dataclasses.replace(CLOSE, square=square, square_error=error)
    low = 1.0 - (told - 1.0 if told < 2.0 else 1.0)
    for value, right in ((told, True), (low, True), (told + 0.1, False), (math.inf, False), (math.nan, False)):
        said = conditions(dataclasses.replace(SAID, stationarity=Violation(value)), found=found)
        assert (said == []) == right, value


def test_no_row_adds_more_than_all_to_the_gap(conditions):
    for found in (dataclasses.replace(CLOSE, primal_error=100.0), dataclasses.replace(CLOSE, dual_error=math.inf)):
        for value, right in ((9.1, True), (10.9, True), (8.9, False), (11.1, False), (math.inf, False)):
            said = conditions(dataclasses.replace(SAID, slackness=Violation(value, 2)), found=found)
            assert (said == []) == right, value


def test_rows_at_the_limit_may_be_counted_or_not(conditions):
    wide = dataclasses.replace(FOUND, dual=Violation(12.0))
    for value, right in ((10.0, True), (11.0, True), (12.0, True), (12.1, False), (9.9, False)):
        said = conditions(dataclasses.replace(SAID, dual=Violation(value)), widest=wide)
        assert (said == []) == right


def test_the_row_that_adds_most_to_the_gap(conditions):
    edge = 9.0 - 1e-6 * (1e-6 + 9.0) - worth()["slackness"]
    words = "row {} is not the one that adds most to the gap"
    at_first = dataclasses.replace(SAID, slackness=Violation(10.0, 1))
    for share, right in ((edge, True), (math.nextafter(edge, 0.0), False)):
        assert conditions(at_first, (share, 9.0, 3.0)) == ([] if right else [words.format(1)])
    assert conditions(shares=(3.0, math.inf, 3.0)) == []
    assert conditions(at_first, (3.0, math.inf, 3.0)) == [words.format(1)]
    exactly = dataclasses.replace(CLOSE, primal_error=0.0, dual_error=0.0, square_error=0.0, off=np.zeros(3))
    for share, right in ((-0.9e-12, True), (-1.1e-12, False)):
        said = conditions(at_first, (share, 0.0, -1.0), found=exactly)
        assert said == ([] if right else [words.format(1)])
    for row in (0, 3, -1):
        other = dataclasses.replace(SAID, slackness=Violation(10.0, row))
        assert conditions(other) == [words.format(row)]


def test_without_a_plane_there_are_no_conditions(conditions):
    words = ["no plane is known that could meet the conditions of optimality"]
    assert conditions(found=dataclasses.replace(MEASURE, primal=math.inf)) == words
    assert conditions(a=np.zeros(3), found=dataclasses.replace(MEASURE, slack=np.zeros(3))) == []


def test_what_is_proven():
    def said(verdict, is_hard):
        c = {"n_support": 2, "margin_lower": 1.0, "margin_upper": 2.0, "dual": 3.0, "primal": 4.0, "kernel": "rbf"}
        is_separable = False if verdict is KernelVerdict.NOT_SEPARABLE else None
        return verify.proven(SimpleNamespace(is_separable=is_separable, is_about_margin=is_hard, **c))

    words = "the hulls of the 2 witness rows meet in the space of the kernel: no plane separates them"
    assert said(KernelVerdict.NOT_SEPARABLE, True) == words
    assert said(KernelVerdict.OPTIMAL, True) == "the best margin lies between 1 and 2"
    assert said(KernelVerdict.BOUNDED, False) == "the least objective lies between 3 and 4"
