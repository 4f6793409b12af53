"""The form of a certificate: each kind of field, the edges of a gap, and what conditions may differ by."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin.certificates import form, passes, verify
from maxmargin.certificates.certificate import FurtherLook, Verdict, certify
from maxmargin.certificates.measure import Claim
from maxmargin.certificates.proof import KKT, TheoremBound, Violation
from maxmargin.problems.losses import loss_named

X, SIGNS = np.array([[2.0], [-1.0], [3.0]]), np.array([1.0, -1.0, 1.0])
ROWS = np.arange(3)
TRUE = certify(
    X,
    SIGNS,
    Claim(np.array([1.0]), -0.5, np.array([0, 1]), np.array([0.5, 0.5])),
    norm="l2",
    fit_intercept=True,
    tol=1e-6,
)
ZERO, ONE = Violation(0.0), Violation(1.0, 3)
KKT_OF_ZEROS = KKT(*[ZERO] * 5)
FLAGS, WHOLES, FLOATS = (True, np.True_), (3, np.int32(3)), (0.5, np.float64(0.5), math.nan)
NEITHER = ("1", None, 1j, [1], np.ones(1))
HUGE = (2**1024, -(2**1024), 10**400)  # which float() does not take
NO_DOUBLES = (np.int32(3), np.int64(3), np.float32(0.5), np.float16(0.5), np.longdouble(0.5))
MASKED = np.ma.masked_array([1.0, 2.0], mask=[True, False])


@pytest.mark.parametrize(
    ("fits", "yes", "no"),
    [
        (form.is_flag, FLAGS, (*WHOLES, *FLOATS, *NEITHER)),
        (form.is_whole, (*WHOLES, 2**1023), (*FLAGS, *FLOATS, *NEITHER, *HUGE)),
        (form.is_number, (3, 2**1023, *FLOATS), (*FLAGS, *NEITHER, *HUGE, *NO_DOUBLES)),
        (form.is_word, ("l2",), (b"l2", None, 2)),
        (form.is_of_numbers, (np.ones(2),), ([1.0], np.ones(2, np.float32), np.ones(2, int), None, MASKED)),
        (
            form.is_of_rows,
            (np.ones(2, int), np.ones(2, np.int8)),
            ([1], np.ones(2), np.ones(2, bool), None, np.ones(2, np.uint8), MASKED.astype(int)),
        ),
        (
            form.is_label,
            (None, "a", 1.5, True),
            (math.nan, np.float64("nan"), np.array([1.0, math.nan]), np.ones(2), [1]),
        ),
        (form.is_conditions, (None, KKT_OF_ZEROS), (0, ZERO, "none")),
        (form.is_theorems, ((), (TheoremBound("a", 1, 2.0),)), (None, [], [TheoremBound("a", 1.0, 2.0)], (1,))),
        (form.is_class_weight, ((), ((1, 2.0), ("a", 3))), (None, [], ((1, 2.0), 3), ((1, 2.0, 3),), ((1,),))),
    ],
)
def test_each_kind_knows_its_own(fits, yes, no):
    for value in yes:
        assert fits(value) is True, value
    for value in no:
        assert fits(value) is False, value


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(KKT)])
@pytest.mark.parametrize(
    "wrong", [None, 0.0, Violation("0"), Violation(True), Violation(0.0, 1.5), Violation(0.0, None)]
)
def test_every_condition_must_be_a_number_at_a_row(name, wrong):
    assert not form.is_conditions(dataclasses.replace(KKT_OF_ZEROS, **{name: wrong}))


@pytest.mark.parametrize("wrong", [{"name": 1}, {"bound": "1"}, {"measured": None}, {"at_most": 1}])
def test_every_part_of_a_theorem_has_its_kind(wrong):
    good = TheoremBound("a", 1.0, 2.0)
    assert not form.is_theorems((dataclasses.replace(good, **wrong),))
    assert not form.is_theorems((good, dataclasses.replace(good, **wrong)))


def test_weights_of_classes_are_positive_and_each_class_has_one():
    assert form.is_class_weight(((1, math.ulp(0.0)), (2, 1.7e308), (3, 0.5)))
    for wrong in (0.0, -1.0, math.inf, math.nan, "1", True):
        assert not form.is_class_weight(((1, 1.0), (2, wrong)))
        assert not form.is_class_weight(((2, wrong), (1, 1.0)))
    for twice in ((0, 0, 2), (0, 2, 0), (2, 0, 0), (0, 1, 2, 2)):
        assert not form.is_class_weight(tuple((label, 1.0) for label in twice))


def refusals(**changes):
    return list(form.malformed(dataclasses.replace(TRUE, **changes), ROWS))


def test_a_true_certificate_is_well_formed():
    assert refusals() == []
    assert refusals(rows_off_plane=2) == []
    assert refusals(negative=None) == []
    assert refusals(verdict=Verdict.STOPPED) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verdict": "OPTIMAL"}, "the verdict 'OPTIMAL' is not known"),
        ({"fit_intercept": 1}, "fit_intercept must be True or False, not 1"),
        ({"n_rows": 3.0}, "n_rows must be a whole number, not 3.0"),
        ({"b": "0"}, "b must be a number, not 0"),
        ({"norm": 2}, "norm must be a word, not 2"),
        ({"rows_off_plane": 1.5}, "rows_off_plane must be a whole number or None, not 1.5"),
        ({"further_look": "found"}, "further_look must be a word about a further look, not found"),
        ({"positive": math.nan}, "positive must be a label, not nan"),
        ({"w": [1.0]}, "w must be an array of float64, not [1.0]"),
        ({"rows": np.zeros(2)}, "rows must be an array of whole numbers, not [0. 0.]"),
        ({"kkt": 0}, "kkt must be the conditions of optimality, or None, not 0"),
        ({"theorems": []}, "theorems must be theorems, not []"),
        ({"norm": ["a" * 90]}, "norm must be a word, not ['" + "a" * 78),
        ({"positive": None}, "None against -1 is no question: the two sides must have labels of their own"),
        ({"negative": 1}, "1 against 1 is no question: the two sides must have labels of their own"),
        ({"rows": np.array([0])}, "rows and weights do not match, or a row comes twice"),
        ({"rows": np.array([1, 1])}, "rows and weights do not match, or a row comes twice"),
        (
            {"rows": np.array([[0, 1]]), "weights": np.array([[0.5, 0.5]])},
            "rows and weights do not match, or a row comes twice",
        ),
        ({"rows": np.array([0, 3])}, "row 3 is not part of this problem"),
        ({"rows": np.array([-1, 0])}, "row -1 is not part of this problem"),
        *(({name: math.nan}, "a bound is NaN") for name in ("margin_lower", "margin_upper", "primal", "dual")),
        ({"theorems": (TheoremBound("a", 1.0, math.nan),)}, "the theorem's figures are NaN"),
        (
            {"theorems": (TheoremBound("a", 1.0, 1.0), TheoremBound("a", math.nan, 1.0))},
            "the theorem's figures are NaN",
        ),
        ({"tol": 1.0}, "tol must be above 0 and below 1, not 1.0"),
    ],
)
def test_a_field_that_is_none_is_refused_by_its_name(changes, words):
    assert refusals(**changes) == [words]


def test_only_the_rows_of_the_problem_can_carry():
    apart = dataclasses.replace(TRUE, rows=np.array([4, 9]))
    assert list(form.malformed(apart, np.array([2, 4, 9]))) == []
    assert list(form.malformed(apart, np.array([4, 8]))) == ["row 9 is not part of this problem"]


def test_a_kind_that_is_always_none_and_a_further_look():
    fits = form.FITS["None"].fits
    assert fits(None)
    assert not fits(0)
    assert form.FITS["FurtherLook"][0](FurtherLook.FOUND)


@pytest.mark.parametrize("wrong", [-math.ulp(0.0), -1.0, math.nan, math.inf])
@pytest.mark.parametrize("place", [0, 1])
def test_a_weight_that_is_none_is_refused_at_its_row(wrong, place):
    c = SimpleNamespace(rows=np.array([5, 7]), weights=np.array([0.0, 0.0]))
    evaluator = SimpleNamespace(c=c, a=c.weights, upper=np.full(2, np.inf), data=SimpleNamespace(kept=c.rows))
    assert list(verify.box_refused(evaluator)) == []
    c.weights[place] = wrong
    (words,) = verify.box_refused(evaluator)
    assert words == f"the weight of row {c.rows[place]} is negative or not finite: not a point of the hulls"


@pytest.mark.parametrize(("loss", "times"), [("hinge", ""), ("modified_huber", "4 times ")])
def test_a_weight_beyond_its_box_is_refused_with_its_cost(loss, times):
    costs = np.array([2.0, 0.5])
    upper = loss_named(loss).bounds(costs)
    data = SimpleNamespace(kept=np.array([5, 7]), costs=costs)
    for place in (0, 1):
        a = upper.copy()
        evaluator = SimpleNamespace(c=SimpleNamespace(C=1.0), a=a, upper=upper, data=data)
        assert list(verify.box_refused(evaluator)) == []
        a[place] = math.nextafter(upper[place], math.inf)
        (words,) = verify.box_refused(evaluator)
        said = f"the weight {upper[place]:.9g} of row {data.kept[place]} is not between 0 and {times}its cost "
        assert words == said + f"{costs[place]:g}: not a point of the dual"


def test_a_row_that_is_named_must_have_the_largest_value():
    numbers, values = np.array([4, 6, 9]), np.array([1.0, 2.0, 2.0])
    for row in (6, 9):
        assert list(form.row_refused(row, numbers, values, 2.0, "the one")) == []
    for row in (4, 0, -1):
        assert list(form.row_refused(row, numbers, values, 2.0, "the one")) == [f"row {row} is not the one"]
    assert form.almost(2.0, 0.5) == 2.0 - 1e-6 * (1e-6 + 2.0) - 0.5
    assert form.almost(math.inf, 0.5) == math.inf


def test_words_that_are_not_known():
    for name, known in form.WORDS.items():
        for word in known:
            assert list(form.malformed(dataclasses.replace(TRUE, norm=word), ROWS)) == (
                [] if name == "norm" else [f"the norm {word!r} is not known"]
            )


def test_a_gap_is_proven_up_to_its_very_edge():
    assert passes.proves_gap(0.75, 1.0, 0.25)
    assert not passes.proves_gap(math.nextafter(0.75, 0.0), 1.0, 0.25)
    assert passes.proves_gap(3.0, 4.0, np.float64(0.25))
    assert not passes.proves_gap(2.999, 4.0, 0.25)
    assert passes.proves_gap(2.0, 2.0, 0.0)
    assert passes.proves_gap(0.0, 0.0, 0.5)
    for low, high in (
        (2.0, 1.0),
        (-math.inf, 1.0),
        (1.0, math.inf),
        (math.inf, math.inf),
        (math.nan, 1.0),
        (1.0, math.nan),
    ):
        assert not passes.proves_gap(low, high, 0.5), (low, high)


def test_a_verdict_and_its_gap():
    def said(verdict, low, high):
        c = SimpleNamespace(tol=0.25, relative_gap=1.0 - low / high, verdict=SimpleNamespace(name=verdict))
        return list(form.gap_refused(c, low, high))

    for verdict, low in (("OPTIMAL", 3.0), ("OPTIMAL", 4.0), ("BOUNDED", 2.9), ("SEPARABLE", 4.0), ("SEPARABLE", 2.0)):
        assert said(verdict, low, 4.0) == []
    assert said("OPTIMAL", 2.0, 4.0) == ["the relative gap is 5.0e-01, above the tol of 2.5e-01: not optimal"]
    (words,) = said("BOUNDED", 3.0, 4.0)
    assert words == "the relative gap is 2.5e-01, within the tol of 2.5e-01: that is optimal, and not less"
    words = "the lower bound 4.5 is above the upper bound 4.0: they contradict each other"
    assert said("SEPARABLE", 4.5, 4.0) == [words]
    assert said("BOUNDED", 4.5, 4.0) == [words]
    assert said("OPTIMAL", 4.5, 4.0)[0] == words


def figures(name, own, least, most=None, rounding=None):
    """What is refused of one condition, all others being right."""
    least, most = Violation(*least), Violation(*(most or least))
    kkts = (dataclasses.replace(KKT_OF_ZEROS, **{name: one}) for one in (Violation(*own), least, most))
    return list(form.figures_refused(*kkts, rounding or {}))


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(KKT)])
def test_a_condition_is_what_it_is_said_to_be(name):
    allowed = 1e-6 * (1e-6 + 1.0)
    for own in (0.5, 0.75, 1.0, 0.5 - allowed, 1.0 + allowed):
        assert figures(name, (own, 0), (0.5, 0), (1.0, 0)) == []
    for own in (math.nextafter(0.5 - allowed, 0.0), math.nextafter(1.0 + allowed, 9.0), math.nan, math.inf):
        (words,) = figures(name, (own, 0), (0.5, 0), (1.0, 0))
        assert words == f"the condition of {name} is violated by 0.5, not by {own:.3g}"
    assert figures(name, (1.4, 0), (1.0, 0), rounding={name: 0.5}) == []
    assert figures(name, (0.6, 0), (1.0, 0), rounding={name: 0.5}) == []
    assert figures(name, (1.6, 0), (1.0, 0), rounding={name: 0.5}) != []
    assert figures(name, (0.4, 0), (1.0, 0), rounding={name: 0.5}) != []
    assert figures(name, (1.4, 0), (1.0, 0), rounding={"of another": 0.5}) != []


def test_two_vectors_are_no_farther_apart_than_twice_the_longer_one():
    for rounding in (1.5, 1e9, math.inf):
        assert figures("stationarity", (2.0,), (1.0,), rounding={"stationarity": rounding}) == []
        for own in (2.001, 1e300, math.inf):
            assert figures("stationarity", (own,), (1.0,), rounding={"stationarity": rounding}) != []
            assert (figures("bias", (own,), (1.0,), rounding={"bias": rounding}) == []) == (own <= 1.0 + rounding)


def test_a_condition_at_zero_is_nearly_exact_and_never_negative():
    assert figures("bias", (0.99e-12,), (0.0,)) == []
    assert figures("bias", (1.01e-12,), (0.0,)) != []
    assert figures("bias", (-0.5e-12,), (0.0,)) != []
    assert figures("bias", (-0.5,), (0.0,), rounding={"bias": 1.0}) != []
    assert figures("bias", (0.0,), (0.5,), rounding={"bias": 1.0}) == []


def test_a_condition_that_is_infinite_is_said_to_be():
    assert figures("slackness", (math.inf, 0), (math.inf, 0)) == []
    assert figures("slackness", (1.0, 0), (math.inf, 0)) != []


def test_a_condition_without_a_row_names_none():
    assert figures("bias", (0.0, -1), (0.0, -1)) == []
    assert figures("bias", (0.0, 7), (0.0, 0)) == []
    assert figures("bias", (0.0, -1), (0.0, 0)) == []
    for row in (0, 7, -2):
        words = f"the condition of bias has no row of its own, and row {row} is named"
        assert figures("bias", (0.0, row), (0.0, -1)) == [words]
