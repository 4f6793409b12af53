"""What a certificate in the space of a kernel says of its kernel and its problem, before any bound is measured."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin.certificates import exact_kernel, form, verify
from maxmargin.certificates import kernel_statement as judge
from maxmargin.certificates.kernel_duality import measure
from maxmargin.certificates.kernel_margin import (
    KernelMarginEvaluator,
    KernelVerdict,
    kernel_certificate,
    no_plane_certificate,
)
from maxmargin.certificates.proof import TheoremBound, Violation
from maxmargin.certificates.verify import Data
from maxmargin.problems.kernels import KernelChoice
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin

X, Y = np.array([[9.0], [1.0], [-1.0], [0.5]]), np.array(["c", "a", "b", "a"])
OWN, SIGNS = np.array([1, 2, 3]), np.array([1.0, -1.0, 1.0])
A = np.array([0.5, 1.5, 1.0])
ROW_NUMBERS = X @ X.T  # as a precomputed kernel
both = pytest.mark.parametrize("exact", [False, True])


def dot(left, right):
    return left @ right.T


def certificate(kernel="linear", C=1.5, a=A, table=X, numbers=(1.0, 0.0, 1), **changes):
    rows = table[OWN]
    chosen = KernelChoice(kernel, *numbers).on(rows)
    costs = np.full(3, C)
    problem = KernelMargin(rows, SIGNS, costs, HINGE, True, chosen, chosen.points(rows, OWN))
    two = SimpleNamespace(positive="a", negative="b", X=rows, rows=OWN)
    made = kernel_certificate(two, problem, np.asarray(a), measure(problem, np.asarray(a)), C, (), 0.01)
    return dataclasses.replace(made, **changes)


def witness(**changes):
    """Three points on a line, and the one of the other class is halfway between: -1 is the mean of -3 and 1."""
    table = np.array([[9.0], [-3.0], [-1.0], [1.0]])
    rows = table[OWN]
    chosen = KernelChoice("linear", 1.0, 0.0, 1).on(rows)
    problem = KernelMargin(rows, SIGNS, np.full(3, math.inf), HINGE, True, chosen, chosen.points(rows, OWN))
    two = SimpleNamespace(positive="a", negative="b", X=rows, rows=OWN)
    made = no_plane_certificate(two, problem, np.array([0.25, 0.5, 0.25]), math.inf, (), 0.01)
    return dataclasses.replace(made, **changes), table


TRUE = certificate()
NEEDED = "if the fit was given a sample_weight, it is needed here too"


@both
def test_the_truth_is_verified(exact):
    hard = certificate(C=math.inf, a=[0.0, 1.0, 1.0])
    poly = certificate("poly", numbers=(0.5, 1.0, 2))
    for case in (TRUE, hard, poly):
        answer = case.verify(X, Y, exact=exact)
        assert (answer.holds, answer.exact) == (True, exact), answer
    assert certificate("precomputed", table=ROW_NUMBERS).verify(ROW_NUMBERS, Y, exact=exact)
    meeting, table = witness()
    answer = meeting.verify(table, Y, exact=exact)
    assert (answer.holds, answer.exact) == (True, exact), answer
    assert certificate("rbf").verify(X, Y)
    assert certificate(dot).verify(X, Y, kernel=dot)


def test_exact_arithmetic_needs_rational_values():
    for kernel, words in (("rbf", "rbf: exp of a rational"), (dot, "a function: nothing is known of what a function")):
        case = certificate(kernel)
        with pytest.raises(ValueError, match=f"and this one is {words}"):
            case.verify(X, Y, exact=True, kernel=kernel if callable(kernel) else None)
    meeting, table = witness(kernel="rbf")
    assert not meeting.verify(table, Y, exact=True)
    for nonsense in (np.zeros(2), ["rbf"], None):
        for case in (dataclasses.replace(TRUE, kernel=nonsense), dataclasses.replace(meeting, kernel=nonsense)):
            assert "kernel must be a word" in str(case.verify(X, Y, exact=True))
    most = exact_kernel.MOST_DEGREE
    poly = {"kernel": "poly", "verdict": KernelVerdict.BOUNDED}
    judge.refuse_what_is_not_rational(SimpleNamespace(degree=most, **poly))
    judge.refuse_what_is_not_rational(SimpleNamespace(degree=most + 0.5, **poly))
    assert not certificate("poly", numbers=(0.5, 1.0, 2), degree=most + 1).verify(X, Y[:2])
    with pytest.raises(ValueError, match=f"a degree of at most {most}, and this one has {most + 1}"):
        judge.refuse_what_is_not_rational(SimpleNamespace(degree=most + 1, **poly))
    with pytest.raises(ValueError, match="its values would fill the memory"):
        certificate("poly", numbers=(0.5, 1.0, 2), degree=most + 1).verify(X, Y, exact=True)


@both
def test_a_missing_sample_weight_is_thought_of(exact):
    low = dataclasses.replace(TRUE, primal=1.0)
    said = low.verify(X, Y, exact=exact)
    assert (said.holds, said.exact, said.reasons[-1]) == (False, exact, NEEDED)
    assert NEEDED not in low.verify(X, Y, exact=exact, sample_weight=np.ones(4)).reasons
    among_others = dataclasses.replace(TRUE, primal=0.125).verify(X, Y, exact=exact)
    assert len(among_others.reasons) > 2
    assert among_others.reasons[-1] == NEEDED
    said = dataclasses.replace(TRUE, dual=9.0, primal=9.5).verify(X, Y, exact=exact)
    assert (said.holds, said.exact) == (False, exact)
    assert NEEDED not in said.reasons
    said = TRUE.verify(X, Y[:2], exact=exact)
    assert (said.holds, said.exact, len(said.reasons)) == (False, exact, 1)
    skew = ROW_NUMBERS + np.triu(np.ones((4, 4)))
    said = certificate("precomputed", table=ROW_NUMBERS).verify(skew, Y, exact=exact)
    assert (said.holds, said.exact) == (False, exact)
    assert said.reasons[0].startswith("a precomputed kernel is symmetric")


@both
def test_each_lie_alone(exact):
    def refused(case=TRUE, **changes):
        return list(dataclasses.replace(case, **changes).verify(X, Y, exact=exact).reasons)

    words = "the weight {} of row {} is not between 0 and {}: not a point of the dual"
    for place in range(3):
        for wrong in (math.nextafter(1.5, 2.0), -math.ulp(0.0), math.inf, math.nan):
            weights = np.array([0.5, 1.5, 1.0])
            weights[place] = wrong
            assert refused(weights=weights) == [words.format(f"{wrong:.9g}", OWN[place], "its cost 1.5")]
    hard = certificate(C=math.inf, a=[0.0, 1.0, 1.0])
    for wrong in (-0.25, math.inf):
        said = refused(hard, weights=np.array([1.0, wrong]))
        assert said == [words.format(wrong, 3, "infinity")]
    assert refused(C=0.0, b=math.nan) == ["C must be positive, not 0.0"]
    assert "relative gap" in refused(verdict=KernelVerdict.OPTIMAL)[0]
    assert refused(verdict=KernelVerdict.NOT_SEPARABLE)[0].startswith("with C = 1.5 rows may be on the wrong side")
    assert len(refused(verdict=KernelVerdict.NOT_SEPARABLE)) == 1
    beautified = dataclasses.replace(TRUE.kkt, dual=Violation(0.5))
    assert refused(kkt=beautified)[0].startswith("the condition of dual")
    assert dataclasses.replace(TRUE, kkt=None).verify(X, Y, exact=exact)
    assert refused(theorems=(TheoremBound("Murphy", 1.0, 1.0),)) == ["there is no theorem 'Murphy' about this problem"]
    no_bias = "Pegasos, no theorem because the last sweep was cut short: loss met per sweep"
    assert len(refused(theorems=(TheoremBound(no_bias, math.inf, 1.0),))) == 1
    with_bias = "Pegasos, no theorem because the bias is not regularised: loss met per sweep"
    assert dataclasses.replace(TRUE, theorems=(TheoremBound(with_bias, math.inf, 1.0),)).verify(X, Y, exact=exact)


def malformed(costs=(1.5, 1.5, 1.5), **changes):
    """The first reason is the one that is said."""
    c = dataclasses.replace(TRUE, **changes)
    own = KernelMarginEvaluator(c, Data(X[OWN], SIGNS, np.array(costs), OWN))
    if (first := next(form.malformed(c, OWN), None)) is not None:
        return [first]
    return [*own.malformed(), *verify.costs_refused(own)]


def test_what_is_no_claim():
    assert malformed() == []
    assert malformed(kernel="cosine") == ["the kernel 'cosine' is not known"]
    assert malformed(b=math.nan) == ["the bias nan is not finite"]
    assert malformed(b=-math.inf) == ["the bias -inf is not finite"]
    assert malformed(C=math.ulp(0.0)) == []
    assert malformed(tol=0.0) == ["tol must be above 0 and below 1, not 0.0"]
    for price in (0.0, -1.0, math.nan):
        assert malformed(C=price) == [f"C must be positive, not {price}"]
    for price in (0.0, -1.0, math.nan, math.inf):
        words = f"C times the weights must be positive and finite; row 2 has {price}"
        assert malformed((1.0, price, 1.0)) == [words]
        assert malformed((1.0, price, price)) == [words]
        hard = malformed((math.inf, price, math.inf), C=math.inf)
        assert hard == ([] if price == math.inf else [words])
    assert malformed((math.ulp(0.0),) * 3) == []


def of_kernel(function=None, shape=(3, 3), **numbers):
    c = SimpleNamespace(**({"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 2} | numbers))
    return list(judge.kernel_malformations(c, np.zeros(shape), function))


PLAIN = {"gamma": 1.0, "coef0": 0.0, "degree": 1}


def test_the_numbers_of_a_kernel():
    assert of_kernel() == []
    assert of_kernel(gamma=0.0, coef0=0.0, degree=0) == []
    assert of_kernel(gamma=1.7e308, coef0=1.7e308) == []
    for wrong in (-math.ulp(0.0), math.inf, math.nan):
        assert of_kernel(gamma=wrong) == [f"gamma must be at least 0 and finite, not {wrong}"]
        (words,) = of_kernel(coef0=wrong)
        assert words.startswith(f"coef0 must be at least 0 and finite, not {wrong}")
    for wrong in (-1, 2.0, True, "2"):
        assert of_kernel(degree=wrong) == [f"degree must be a whole number of at least 0, not {wrong!r}"]


@pytest.mark.parametrize("kernel", ["linear", "rbf", "function", "precomputed"])
def test_numbers_that_a_kernel_does_not_have(kernel):
    function = dot if kernel == "function" else None
    assert of_kernel(function, kernel=kernel, **PLAIN) == []
    for number, value in (("gamma", 0.5), ("coef0", 0.5), ("degree", 2)):
        words = f"the {kernel} kernel has no {number}, and here it is {value}"
        has = kernel == "rbf" and number == "gamma"
        assert of_kernel(function, kernel=kernel, **(PLAIN | {number: value})) == ([] if has else [words])


def test_the_kernel_that_is_given_again():
    assert of_kernel("poly") == []
    words = "the certificate is about the poly kernel, not about the one that was given"
    for other in ("rbf", dot):
        assert of_kernel(other) == [words]
    for nothing in (None, "function"):
        (words,) = of_kernel(nothing, kernel="function", **PLAIN)
        assert words.startswith("the kernel is a function, which a certificate cannot hold")


def test_a_precomputed_kernel_has_a_column_for_every_row():
    for shape, right in (((3, 3), True), ((3, 4), True), ((4, 3), False)):
        words = "a precomputed kernel needs a value for every pair of rows, and X has 3 columns"
        assert of_kernel(kernel="precomputed", shape=shape, **PLAIN) == ([] if right else [words])
        assert of_kernel(kernel="linear", shape=shape, **PLAIN) == []
    c = SimpleNamespace(kernel="precomputed", **PLAIN)
    assert judge.kernel_on(c, ROW_NUMBERS[OWN], OWN, None).name == "precomputed"
    with pytest.raises(ValueError, match="needs a column for row 3, and X has 3 columns"):
        judge.kernel_on(c, ROW_NUMBERS[OWN, :3], OWN, None)
    skew = ROW_NUMBERS.copy()
    skew[2, 3] += 1.0
    with pytest.raises(ValueError, match="a precomputed kernel is symmetric; row 2, column 3"):
        judge.kernel_on(c, skew[OWN], OWN, None)
    other = SimpleNamespace(kernel="linear", **PLAIN)
    assert judge.kernel_on(other, skew[OWN], OWN, None).name == "linear"


def test_a_function_is_taken_only_where_the_certificate_names_one():
    assert judge.kernel_on(SimpleNamespace(kernel="function", **PLAIN), X, OWN, dot).function is dot
    assert judge.kernel_on(SimpleNamespace(kernel="linear", **PLAIN), X, OWN, dot).name == "linear"
