"""A certificate by blocks is forged: every field that is changed is noticed, and the words say which."""

import dataclasses
import math

import numpy as np
import pytest
from block_certificates import HEIGHTS, certified, rows_of
from block_margin_oracle import answer_of, facts_of, problem_of, table_of, weights_of

from maxmargin.certificates import block_duality
from maxmargin.certificates.block_form import no_claim, no_list
from maxmargin.certificates.block_margin import certify_blocks
from maxmargin.certificates.block_verification import verify_together
from maxmargin.certificates.proof import KKT, TheoremBound, Violation
from maxmargin.certificates.soft_margin import SoftVerdict
from maxmargin.certificates.verify import EVALUATORS
from maxmargin.problems.losses import HINGE, SQUARED_HINGE

X, Y = rows_of()


@pytest.fixture(scope="module")
def hinge():
    return certified(X, Y)


def moved(values, place, to):
    values = values.copy()
    values[place] = to
    return values


def forgeries(c):
    """(what is changed, words of the refusal)"""
    largest = int(np.argmax(c.shares))
    yield {"shares": moved(c.shares, largest, 0.5 * c.shares[largest])}, "the weights prove a lower bound of"
    yield {"shares": moved(c.shares, 0, math.nextafter(1.0, 2.0))}, "not between 0 and 1"
    yield {"shares": moved(c.shares, 0, -1e-300)}, "not between 0 and 1"
    yield {"shares": moved(c.shares, 0, math.nan)}, "not between 0 and 1"
    yield {"shares": c.shares[:-1]}, "rows and shares do not match"
    yield {"rows": moved(c.rows, -1, c.rows[0])}, "not in increasing order"
    yield {"rows": c.rows[::-1].copy()}, "not in increasing order"
    yield {"rows": moved(c.rows, 0, -1)}, "not in increasing order"
    yield {"rows": moved(c.rows, 0, 13), "shares": c.shares}, "row 13 of block 0 is listed"
    yield {"rows": moved(c.rows, -1, 5 * 2**32)}, "row 0 of block 5 is listed"
    yield {"rows": c.rows[:0], "shares": c.shares[:0]}, "the weights prove a lower bound of"
    yield {"rule_w": 0.5 * c.rule_w}, "the weights prove a lower bound of"
    yield {"rule_w": c.rule_w[:-1]}, "the plane of the rule"
    yield {"rule_w": moved(c.rule_w, 0, math.inf)}, "the plane of the rule"
    yield {"rule_b": c.rule_b + 0.5}, "the weights prove a lower bound of"
    yield {"rule_b": math.nan}, "the plane of the rule"
    yield {"rule_width": -0.1}, "the width of the rule"
    yield {"rule_width": math.nan}, "the width of the rule"
    yield {"rule_width": 1e101}, "the width of the rule"
    yield {"rule_width": 0.5}, "the weights prove a lower bound of"
    yield {"rule_used": False}, "it is said not to be used"
    yield {"w": 1.01 * c.w}, "the plane's objective is"
    yield {"w": c.w[:-1]}, "the plane is not finite or has the wrong length"
    yield {"b": c.b + 0.01}, "the plane's objective is"
    yield {"b": math.inf}, "the plane is not finite"
    yield {"primal": c.primal * (1.0 - 1e-9)}, "the plane's objective is"
    yield {"dual": c.dual * (1.0 + 1e-9)}, "the weights prove a lower bound of"
    yield {"primal": math.nan}, "a bound is NaN"
    yield {"dual": math.inf}, "the weights prove a lower bound of"
    yield {"C": 2.0 * c.C}, "the plane's objective is"
    yield {"C": 0.5 * c.C}, "the weights prove a lower bound of"
    yield {"C": math.nextafter(c.C, 0.0)}, "the fingerprint of these rows"
    yield {"C": 0.0}, "C must be positive"
    yield {"C": math.inf}, "C must be positive"
    yield {"class_weight": (("yes", 2.0),)}, "the plane's objective is"
    yield {"class_weight": (("maybe", 1.0),)}, "class_weight names 'maybe'"
    yield {"class_weight": (("yes", 1.0), ("yes", 1.0))}, "each label once"
    yield {"class_weight": (("yes", 1e308), ("no", 1.0)), "C": 1e10}, "must be positive and finite"
    yield {"loss": "squared_hinge"}, "rows are listed"
    yield {"loss": "huber_hinge"}, "huber_width is None"
    yield {"loss": "huber_hinge", "huber_width": -1.0}, "huber_width must be a number between"
    yield {"loss": "modified_huber"}, "the plane's objective is"
    yield {"loss": "log"}, "the loss 'log' is not known"
    yield {"huber_width": 0.5}, "huber_width is 0.5"
    yield {"fit_intercept": False}, "should pass through the origin"
    yield {"fit_intercept": False, "b": 0.0}, "the plane's objective is"
    yield {"positive": "no", "negative": "yes"}, "the plane's objective is"
    yield {"positive": "maybe"}, "has no such row on a side"
    yield {"negative": "maybe"}, "has no such row on a side"
    yield {"negative": "yes"}, "is no question"
    yield {"positive": None}, "is no question"
    yield {"n_rows": c.n_rows - 1}, "the certificate is about 59 rows"
    yield {"n_rows": c.n_rows + 1}, "the blocks have 60 rows, and the problem has 61"
    yield {"n_columns": 4}, "wrong length"
    yield {"heights": np.array([60])}, "is listed, which the blocks of these heights do not have"
    yield {"heights": np.array([13, 30, 0, 1, 16])}, "is listed"
    yield {"heights": np.array([14, 0, 29, 1, 16])}, "the fingerprint of these rows"
    yield {"heights": np.array([13, 0, 30, 1, 17])}, "a table of 61 rows, these data have 60"
    yield {"heights": np.array([13, 0, 30, 18, -1])}, "none negative"
    yield {"heights": c.heights.reshape(1, -1)}, "none negative"
    yield {"fingerprint": "0" * 16}, "the fingerprint of these rows"
    yield {"fingerprint": "0" * 15}, "16 hexadecimal digits"
    yield {"fingerprint": c.fingerprint.upper() + " "}, "16 hexadecimal digits"
    yield {"verdict": SoftVerdict.BOUNDED}, "that is optimal, and not less"
    yield {"verdict": "OPTIMAL"}, "the verdict 'OPTIMAL' is not known"
    yield {"tol": 1e-13}, "not optimal"
    yield {"tol": 0.0}, "tol must be above 0"
    yield {"dual": 2.0 * c.primal}, "the lower bound"
    yield {"theorems": (TheoremBound("Murphy", 1.0, 1.0),)}, "there is no theorem 'Murphy'"
    yield {"kkt": KKT(*[Violation(0.0)] * 5)}, "kkt must be None"
    for name in ("heights", "rows", "w", "rule_w", "shares"):
        yield {name: getattr(c, name).tolist()}, f"{name} must be an array"
    for name in (
        "n_rows",
        "n_columns",
        "b",
        "rule_b",
        "C",
        "primal",
        "rule_used",
        "fit_intercept",
        "fingerprint",
        "loss",
    ):
        yield {name: None}, f"{name} must be"


@pytest.mark.parametrize("exact", [False, True])
def test_every_field_that_is_changed_is_noticed(hinge, exact):
    changed = set()
    for change, words in forgeries(hinge):
        answer = dataclasses.replace(hinge, **change).verify(X, Y, exact=exact)
        assert not answer, change
        assert words in str(answer), (change, words, str(answer))
        changed |= set(change)
    assert changed == {field.name for field in dataclasses.fields(hinge)}


def test_a_smooth_loss_has_a_rule_without_width_or_list():
    c = certified(X, Y, loss="squared_hinge")
    assert c.verify(X, Y)
    assert "which the slope of this loss does not need" in str(dataclasses.replace(c, rule_width=1e-9).verify(X, Y))
    listed = dataclasses.replace(c, rows=np.array([3]), shares=np.array([0.5]))
    assert "no largest weight" in str(listed.verify(X, Y))


def test_a_certificate_holds_no_number_of_a_rule_that_nobody_reads():
    table = table_of(X, Y, HEIGHTS)
    for loss, used in ((HINGE, False), (SQUARED_HINGE, True), (HINGE, True)):
        problem, told = problem_of(loss), weights_of([1.0, 2.0, 3.0], 0.5, 0.25, used=used)
        found = answer_of(table, problem, block_duality.both_sides(problem, facts_of(table), np.zeros(3), 0.0, told))
        c = certify_blocks(
            problem, (np.zeros(3), 0.0), told, (found.primal.upper, found.dual.lower), C=1.0, positive="yes",
            negative="no", n_rows=60, heights=np.array(HEIGHTS), fingerprint=found.fingerprint, tol=0.999,
        )  # fmt: skip
        assert (c.rule_used, c.rule_b, np.any(c.rule_w)) == (used, 0.5 * used, used)
        assert c.rule_width == (0.25 if used and loss is HINGE else 0.0)
        assert (
            c.is_optimal is (c.verdict is SoftVerdict.OPTIMAL) is bool(found.dual.lower >= 0.001 * found.primal.upper)
        )
        assert c.verify(X, Y)
        assert list(EVALUATORS[c.kind](c, None).bounds()) == []  # they are measured elsewhere


def test_the_form_alone_is_refused_before_any_row_is_read(hinge):
    for change in ({"shares": hinge.shares + 1.0}, {"rule_width": 2e100}, {"rows": hinge.rows + 2**40}, {"C": -1.0}):
        assert next(no_claim(dataclasses.replace(hinge, **change)), None) is not None
    for change in ({"shares": np.ones(len(hinge.rows))}, {"rule_width": 1e100}, {"shares": 0.0 * hinge.shares}):
        assert next(no_claim(dataclasses.replace(hinge, **change)), None) is None


def test_weights_without_a_rule():
    c = certified(X, Y)
    nothing = {"rule_used": False, "rule_w": np.zeros(3), "rule_b": 0.0, "dual": 0.0, "verdict": SoftVerdict.BOUNDED}
    for exact in (False, True):
        assert dataclasses.replace(c, **nothing).verify(X, Y, exact=exact)
    assert not dataclasses.replace(c, **nothing | {"dual": c.dual}).verify(X, Y)


@pytest.mark.parametrize("share", [1e-12, 1e-9, 1e-6])
def test_bounds_may_be_moved_outwards_but_not_inwards(hinge, share):
    assert dataclasses.replace(hinge, primal=hinge.primal * (1 + share), dual=hinge.dual * (1 - share)).verify(X, Y)
    for inwards in ({"primal": hinge.primal * (1 - share)}, {"dual": hinge.dual * (1 + share)}):
        assert not dataclasses.replace(hinge, **inwards).verify(X, Y)
        assert not dataclasses.replace(hinge, **inwards).verify(X, Y, exact=True)


def test_the_form_alone_refuses_listed_rows_of_a_loss_without_a_largest_weight(hinge):
    c = certified(X, Y, loss="squared_hinge")
    assert list(no_list(c)) == list(no_list(hinge)) == []
    [said] = no_list(dataclasses.replace(c, rows=np.array([3]), shares=np.array([0.5])))
    assert "no largest weight" in said


def test_what_is_no_table_is_an_answer_for_each_certificate(hinge):
    answers, labels = verify_together([hinge, hinge], np.full_like(X, math.nan), Y, None, False)
    assert labels == []
    assert [bool(answer) for answer in answers] == [False, False]
    assert all("NaN" in str(answer) for answer in answers)
