"""Which rows a certificate speaks of, and what is refused before and after anything is measured."""

import dataclasses
import math

import numpy as np
import pytest

from maxmargin.certificates import verify as judge
from maxmargin.certificates.certificate import Verdict, certify
from maxmargin.certificates.exact import Verdict as Answer
from maxmargin.certificates.measure import Claim, objective
from maxmargin.certificates.proof import TheoremBound
from maxmargin.certificates.report import Verification

X, Y = np.array([[2.0], [7.0], [-1.0], [3.0]]), np.array(["a", "c", "b", "a"])
OWN = np.array([0, 2, 3])  # the rows of a and b


def certificate(b=-0.5, fit_intercept=True, positive="a", negative="b"):
    claim = Claim(np.array([1.0]), b, np.array([0, 1]), np.array([0.5, 0.5]))
    made = certify(
        X[OWN],
        np.array([1.0, -1.0, 1.0]),
        claim,
        norm="l2",
        fit_intercept=fit_intercept,
        tol=0.0 if b else 1e-6,
        positive=positive,
        negative=negative,
    )
    where = {
        name: dataclasses.replace(violation, row=int(OWN[violation.row]))
        for name in ("primal", "dual", "slackness")
        if (violation := getattr(made.kkt, name))
    }
    kkt = dataclasses.replace(made.kkt, **where)
    return dataclasses.replace(made, rows=OWN[made.rows], kkt=kkt)


TRUE = certificate()
both = pytest.mark.parametrize("exact", [False, True])


@both
def test_the_truth_is_verified(exact):
    answer = TRUE.verify(X, Y, exact=exact)
    assert (bool(answer), answer.exact) == (True, exact)
    (words,) = answer.reasons
    assert words.startswith("the best margin lies between 1.49999999 and 1.5")
    assert certificate(0.0, False).verify(X, Y, exact=exact)
    zeros = dataclasses.replace(TRUE, positive="a", negative=None)
    assert zeros.verify(X, Y, exact=exact, sample_weight=[2.0, 0.0, 1.0, 0.5])


def test_what_is_printed():
    reasons = ("one", "two")
    assert str(Verification(True, True, reasons)) == "Verified in exact rational arithmetic: one; two."
    assert str(Verification(True, False, reasons)) == "Verified in float64, rounding included: one; two."
    assert str(Verification(False, True, reasons)) == "Refused (in exact rational arithmetic): one; two."
    assert str(Verification(False, False, reasons)) == "Refused (in float64, rounding included): one; two."
    assert not Verification(False, True, reasons)
    witness = dataclasses.replace(TRUE, verdict=Verdict.WEAKLY_SEPARABLE)
    assert judge.proven(witness).startswith("the hulls of the 2 witness rows meet")
    third = 1.0 / 3.0
    proven = dataclasses.replace(TRUE, margin_lower=third, margin_upper=third)
    assert judge.proven(proven) == "the best margin lies between 0.333333333 and 0.333333334"
    open_below = dataclasses.replace(TRUE, margin_lower=-np.inf, margin_upper=third)
    assert judge.proven(open_below) == "the best margin is at most 0.333333334"


@both
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"norm": "l3"}, ["the norm 'l3' is not known"]),
        ({"w": np.ones(2)}, ["the plane is not finite or has the wrong length"]),
        ({"w": np.ones((1, 1))}, ["the plane is not finite or has the wrong length"]),
        ({"w": np.array([math.inf])}, ["the plane is not finite or has the wrong length"]),
        ({"b": math.nan}, ["the plane is not finite or has the wrong length"]),
        (
            {"weights": np.array([0.5, -0.5])},
            ["the weight of row 2 is negative or not finite: not a point of the hulls"],
        ),
        ({"rows": np.array([0, 1])}, ["row 1 is not part of this problem"]),
        ({"norm": "l3", "tol": 2.0}, ["tol must be above 0 and below 1, not 2.0"]),
        ({"primal": 0.25}, ["primal and dual are not the values that follow from the margins"]),
        ({"dual": 0.25}, ["primal and dual are not the values that follow from the margins"]),
        ({"kkt": None}, ["the report of the optimality conditions is missing or out of place"]),
        ({"verdict": Verdict.STOPPED}, ["a positive margin is claimed with a verdict that denies it"]),
        ({"theorems": (TheoremBound("Murphy", 1.0, 1.0),)}, ["there is no theorem 'Murphy' about this problem"]),
    ],
)
def test_each_lie_alone(exact, changes, words):
    answer = dataclasses.replace(TRUE, **changes).verify(X, Y, exact=exact)
    assert (answer.holds, answer.exact, list(answer.reasons)) == (False, exact, words)


def test_every_coefficient_of_the_plane_is_finite():
    for w in ([1.0, math.nan], [math.inf, 1.0]):
        answer = dataclasses.replace(TRUE, n_columns=2, w=np.array(w)).verify(np.hstack([X, X]), Y)
        assert answer.reasons == ("the plane is not finite or has the wrong length",)


@both
def test_margins_that_are_not(exact):
    wide = dataclasses.replace(TRUE, margin_lower=1.6, primal=objective(1.6, "l2"))
    assert "the plane's margin is 1.5 (row 0), not 1.6" in wide.verify(X, Y, exact=exact).reasons
    narrow = dataclasses.replace(TRUE, margin_upper=1.4, dual=objective(1.4, "l2"))
    words = "the weighted rows prove an upper bound of 1.5, not 1.4"
    assert words in narrow.verify(X, Y, exact=exact).reasons


def test_a_plane_through_the_origin():
    through = certificate(0.0, False)
    assert through.b == 0.0
    aside = dataclasses.replace(through, b=-0.5).verify(X, Y)
    assert aside.reasons[0] == "the plane should pass through the origin but has b = -0.5"
    one_side = dataclasses.replace(TRUE, b=0.0, fit_intercept=False).verify(X, Y)
    assert "origin" not in str(one_side)


@both
def test_rows_on_one_side_only(exact):
    answer = TRUE.verify(X[[0, 1, 3]], ["a", "c", "a"], exact=exact)
    assert "these data have 2 x 1" in str(answer)
    answer = TRUE.verify(X, ["a", "c", "a", "a"], exact=exact)
    assert (answer.holds, answer.exact) == (False, exact)
    assert answer.reasons[0] == "these data have rows on one side only"
    assert len(answer.reasons) > 1
    assert not any("one side" in reason for reason in TRUE.verify(-X, Y).reasons)


@both
def test_what_cannot_be_read(exact):
    answer = TRUE.verify(X, Y[:2], exact=exact)
    assert (answer.holds, answer.exact, len(answer.reasons)) == (False, exact, 1)


def problem(table=X, y=Y, weights=None, **changes):
    rows, signs, kept = judge.problem_of(dataclasses.replace(TRUE, **changes), table, y, weights)
    return rows.tolist(), signs.tolist(), kept.tolist()


def test_the_rows_of_a_problem():
    assert problem() == ([[2.0], [-1.0], [3.0]], [1.0, -1.0, 1.0], [0, 2, 3])
    assert problem(n_rows=4, negative=None) == (X.tolist(), [1.0, -1.0, -1.0, 1.0], [0, 1, 2, 3])
    weights = [1.0, 1.0, 1e-300, 0.0]
    assert problem(weights=weights, n_rows=2) == ([[2.0], [-1.0]], [1.0, -1.0], [0, 2])
    assert problem(weights=weights, negative=None) == ([[2.0], [7.0], [-1.0]], [1.0, -1.0, -1.0], [0, 1, 2])
    swapped = problem(positive="b", negative="a")
    assert swapped[1] == [-1.0, 1.0, -1.0]


def said(**changes):
    with pytest.raises(ValueError, match="the certificate is about") as error:
        problem(**changes)
    return str(error.value)


def test_another_size_is_refused_and_a_strange_label_named():
    size = "the certificate is about {} rows x 1 columns"
    words = "row 1 has the label 'c', which is none of 'a', 'b': "
    assert said(n_rows=2) == words + size.format(2) + " with these labels, these data have 3 x 1"
    assert said(n_rows=2, negative=None) == size.format(2) + ", these data have 4 x 1"
    assert said(y=np.array(["a", "a", "b", "a"])) == size.format(3) + ", these data have 4 x 1"
    with pytest.raises(ValueError, match="3 rows x 2 columns with these labels, these data have 3 x 1"):
        problem(n_columns=2)


@pytest.mark.parametrize("side", ["positive", "negative"])
def test_a_label_that_is_a_table_is_none(side):
    with pytest.raises(ValueError, match="y has no label"):
        problem(**{side: np.full((2, 1), "a")})


def test_the_first_label_that_is_not_known():
    words = "row {} has the label {}, which is none of 'a', 'b'"
    known = ("a", "b")
    assert judge.strange_label(Y, known) == words.format(1, "'c'")
    assert judge.strange_label(Y[[0, 2, 3]], known) is None
    assert judge.strange_label(np.array(["a", "x", "y", "a"]), known) == words.format(1, "'x'")
    assert judge.strange_label(np.array(["x", "x", "y", "a"]), known, [0.0, 0.0, 2.0, 1.0]) == words.format(2, "'y'")
    assert judge.strange_label(Y, known, [1.0, 0.0, 1.0, 1.0]) is None
    assert judge.strange_label(Y, known, [1.0, 1e-300, 1.0, 1.0]) == words.format(1, "'c'")
    assert judge.strange_label(Y, known, [0.0]) == words.format(1, "'c'")  # weights of another length: said elsewhere
    assert judge.strange_label(np.array([["c"]]), known) is None
    assert judge.strange_label(np.array([1, 2, 3]), (1, 2)) == "row 2 has the label 3, which is none of 1, 2"
    assert judge.strange_label(np.array([], dtype=int), (1, 2)) is None


def test_a_reason_names_the_row_of_the_users_table():
    kept = np.array([4, 6, 9])
    assert judge.clause(Answer(False, "Row 1 of row 1, not row 12.", 1), kept) == "row 6 of row 6, not row 12"
    assert judge.clause(Answer(False, "The margin of row 0 is low.", 0), kept) == "the margin of row 4 is low"
    assert judge.clause(Answer(False, "Nothing at row 0."), kept) == "nothing at row 0"
