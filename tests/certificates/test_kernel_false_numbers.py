"""Judge the judge of kernels: falsehoods about bounds, weights and conditions, refused for the right reason."""

import dataclasses
import math

import numpy as np
from falsehoods import (
    Falsehoods,
    changed,
    honest,
    refuse_in,
)
from kernel_certificates import (
    ALL,
    CLAIMED,
    HARD,
    LOOSE,
    OPTIMAL,
    PLANES,
    SOFT,
    WEIGHTED,
    WITNESS,
    equal_rows,
    hard_loose,
    lie,
    loose,
    no_conic,
    no_line,
)

from maxmargin.certificates.kernel_margin import (
    KernelVerdict,
)
from maxmargin.certificates.proof import KKT, Violation

falsehood = Falsehoods()

OBJECTIVE, BOUND = "the plane's objective is", "the weights prove a lower bound of .*, not"
NO_WITNESS = "the witness does not hold|their weights leave|differ by"


# bounds


@falsehood(PLANES, OBJECTIVE)
def primal_lowered_by_a_millionth(case):
    return lie(case, primal=case.certificate.primal * (1.0 - 1e-6))


@falsehood(PLANES, BOUND)
def dual_raised_by_a_millionth(case):
    return lie(case, dual=case.certificate.dual * (1.0 + 1e-6))


@falsehood(PLANES, OBJECTIVE)
def gap_closed_from_above(case):
    return lie(case, primal=case.certificate.dual)


@falsehood(PLANES, BOUND)
def gap_closed_from_below(case):
    return lie(case, dual=case.certificate.primal)


@falsehood(PLANES, OBJECTIVE)
def primal_is_zero(case):
    return lie(case, primal=0.0, dual=0.0)


@falsehood(PLANES, OBJECTIVE)
def primal_is_minus_infinity(case):
    return lie(case, primal=-math.inf)


@falsehood(PLANES, BOUND)
def dual_is_infinite(case):
    return lie(case, dual=math.inf, primal=math.inf)


@falsehood(ALL, "a bound is NaN")
def primal_is_nan(case):
    return lie(case, primal=math.nan)


@falsehood(ALL, "a bound is NaN")
def dual_is_nan(case):
    return lie(case, dual=math.nan)


@falsehood(WITNESS, "both bounds are infinite")
def finite_bound_where_no_plane_is(case):
    return lie(case, primal=1.0)


@falsehood(WITNESS, "both bounds are infinite")
def finite_dual_where_no_plane_is(case):
    return lie(case, dual=0.0)


@falsehood(OPTIMAL, "the relative gap is .* above the tol of .*: not optimal")
def primal_unknown_but_optimal(case):
    return lie(case, primal=math.inf)


@falsehood(LOOSE, "the relative gap is .* above the tol")
def verdict_upgraded(case):
    return lie(case, verdict=KernelVerdict.OPTIMAL)


@falsehood(WITNESS, f"{BOUND}|the relative gap")
def optimal_where_no_plane_is(case):
    return lie(case, verdict=KernelVerdict.OPTIMAL, dual=1.0)


@falsehood([*HARD, hard_loose], "both bounds are infinite|the witness does not hold")
def separable_denied(case):
    return lie(case, verdict=KernelVerdict.NOT_SEPARABLE)


@falsehood([*HARD, hard_loose], "the witness does not hold")
def separable_denied_in_every_field(case):
    return lie(case, verdict=KernelVerdict.NOT_SEPARABLE, primal=math.inf, dual=math.inf, kkt=None)


@falsehood([*SOFT, *WEIGHTED, loose], "rows may be on the wrong side: only the hard margin, C = inf, can be impossible")
def soft_margin_denied(case):
    return lie(case, verdict=KernelVerdict.NOT_SEPARABLE, primal=math.inf, dual=math.inf, kkt=None)


@falsehood(OPTIMAL, "the relative gap is .* above the tol of 1.0e-17: not optimal")
def tol_lowered(case):
    return lie(case, tol=1e-17)


for wrong in (math.nan, math.inf, 1e9, 1.0, 0.0, -1.0):

    @falsehood(ALL, "tol must be above 0 and below 1", name=f"tol_is_{wrong}")
    def tol_is_no_gap(case, wrong=wrong):
        return lie(case, tol=wrong)


@falsehood(ALL, "verdict 'best ever' is not known")
def verdict_made_up(case):
    return lie(case, verdict="best ever")


# the plane and the weights


@falsehood(PLANES, OBJECTIVE)
def plane_shifted(case):
    return lie(case, b=case.certificate.b + 0.1 * (1.0 + abs(case.certificate.b)))


@falsehood(ALL, "the bias inf is not finite")
def bias_is_infinite(case):
    return lie(case, b=math.inf)


@falsehood(ALL, "the bias nan is not finite")
def bias_is_nan(case):
    return lie(case, b=math.nan)


@falsehood([*SOFT, *WEIGHTED, loose], "the weight .* of row [0-9]+ is not between 0 and its cost")
def weight_above_its_cost(case):
    c = case.certificate
    return lie(case, weights=changed(c.weights, int(np.argmax(c.weights)), 1.001 * 3.0 * c.C * 4.0))


@falsehood([*HARD, hard_loose], f"{OBJECTIVE}|{BOUND}")
def weight_far_too_large(case):
    return lie(case, weights=changed(case.certificate.weights, 0, 1e6))


@falsehood(ALL, "the weight .* of row [0-9]+ is not between 0 and")
def weight_negative(case):
    return lie(case, weights=changed(case.certificate.weights, 1, -1e-300))


@falsehood(ALL, "the weight nan of row [0-9]+ is not between 0 and")
def weight_nan(case):
    return lie(case, weights=changed(case.certificate.weights, 0, math.nan))


@falsehood(ALL, "the weight inf of row [0-9]+ is not between 0 and")
def weight_infinite(case):
    return lie(case, weights=changed(case.certificate.weights, 0, math.inf))


@falsehood(ALL, f"{OBJECTIVE}|{BOUND}|{NO_WITNESS}|the condition of")
def weight_forgotten(case):
    weights = case.certificate.weights
    return lie(case, weights=changed(weights, int(np.argmax(weights)), 0.0))


@falsehood(ALL, f"{OBJECTIVE}|{BOUND}|{NO_WITNESS}")
def all_weights_forgotten(case):
    return lie(case, rows=np.zeros(0, np.intp), weights=np.zeros(0))


@falsehood([*SOFT, *WEIGHTED], f"{OBJECTIVE}|{BOUND}")
def weights_halved(case):
    return lie(case, weights=0.5 * case.certificate.weights)


@falsehood([*PLANES, no_line, no_conic], f"{OBJECTIVE}|{BOUND}|is not between|{NO_WITNESS}|the condition of")
def weights_of_other_rows(case):
    order = np.argsort(case.certificate.weights)
    weights = np.empty(len(order))
    weights[order] = case.certificate.weights[order[::-1]]
    return lie(case, weights=weights)


@falsehood(WITNESS, NO_WITNESS)
def witness_off_by_a_millionth(case):
    return lie(case, weights=changed(case.certificate.weights, 0, (1.0 + 1e-6) * case.certificate.weights[0]))


@falsehood([equal_rows], NO_WITNESS)
def witness_of_two_other_rows(case):
    return lie(case, rows=np.array([int(np.argmax(case.y == 1)), int(np.argmax(case.y == -1))]))


@falsehood(ALL, "rows and weights do not match, or a row comes twice")
def row_comes_twice(case):
    return lie(case, rows=changed(case.certificate.rows, 1, int(case.certificate.rows[0])))


@falsehood(ALL, "rows and weights do not match")
def weight_without_a_row(case):
    return lie(case, weights=np.append(case.certificate.weights, 1.0))


@falsehood(ALL, "rows and weights do not match")
def weights_in_a_table(case):
    c = case.certificate
    return lie(case, weights=c.weights[:, None], rows=c.rows[:, None])


@falsehood(ALL, "row 1000 is not part of this problem")
def row_beyond_the_table(case):
    return lie(case, rows=changed(case.certificate.rows, -1, 1000))


@falsehood(ALL, "row -1 is not part of this problem")
def row_from_the_end(case):
    return lie(case, rows=changed(case.certificate.rows, 0, -1))


# the conditions


def understated(name):
    @falsehood(LOOSE, f"the condition of {name} is violated by", f"{name}_understated")
    def tell(case):
        violation = getattr(case.certificate.kkt, name)
        smaller = Violation(0.9 * violation.value, violation.row)
        return lie(case, kkt=dataclasses.replace(case.certificate.kkt, **{name: smaller}))

    return tell


for condition in ("slackness", "dual", "bias"):
    understated(condition)


@falsehood([hard_loose], "the condition of stationarity is violated by")
def stationarity_understated(case):
    kkt = case.certificate.kkt
    return lie(case, kkt=dataclasses.replace(kkt, stationarity=Violation(0.9 * kkt.stationarity.value)))


@falsehood(PLANES, "the condition of slackness is violated by")
def condition_is_nan(case):
    return lie(case, kkt=dataclasses.replace(case.certificate.kkt, slackness=Violation(math.nan, 0)))


@falsehood(PLANES, "the condition of primal is violated by 0, not by -1")
def condition_below_zero(case):
    return lie(case, kkt=dataclasses.replace(case.certificate.kkt, primal=Violation(-1.0)))


@falsehood(LOOSE, "row [0-9]+ is not the one that adds most to the gap")
def slackness_blamed_on_another_row(case):
    slackness = case.certificate.kkt.slackness
    other = 0 if slackness.row else 1
    return lie(case, kkt=dataclasses.replace(case.certificate.kkt, slackness=Violation(slackness.value, other)))


@falsehood(PLANES, "row 1000 is not the one that adds most to the gap")
def slackness_blamed_on_nobody(case):
    slackness = case.certificate.kkt.slackness
    return lie(case, kkt=dataclasses.replace(case.certificate.kkt, slackness=Violation(slackness.value, 1000)))


@falsehood(WITNESS, "nothing is said of a plane")
def conditions_invented(case):
    return lie(case, kkt=KKT(*[Violation(9.0, 0)] * 5))


@falsehood.each_case
def test_falsehood_is_refused(told, make):
    case = told.tell(honest(make))
    for exact in case.ways:
        refuse_in(case, told.reason, exact)


def test_every_falsehood_is_told_under_its_own_name():
    assert falsehood.have_names_of_their_own()


def test_every_field_is_lied_about():
    assert falsehood.fields() >= CLAIMED
