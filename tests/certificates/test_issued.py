"""Whatever is issued is true: in float64, in fractions, after a journey through JSON, and by the oracle."""

import math
from fractions import Fraction

import numpy as np
import pandas
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import NOT, SEPARABLE, WEAKLY, truth
from strategies import (
    any_rows,
    extreme,
    forms,
    grids,
    inseparable,
    namings,
    nearly_touching,
    separable,
    tables,
    weakly_separable,
)

from maxmargin import (
    Certificate,
    HardMarginSVM,
    MarginPerceptron,
    NotSeparableError,
    Perceptron,
    UndecidedError,
    Verdict,
    Winnow,
    separability,
)
from maxmargin.certificates.certificate import certify
from maxmargin.certificates.measure import Claim
from maxmargin.certificates.proof import KKT, TheoremBound, Violation
from maxmargin.data import synthetic

# What the oracle must say of data with this verdict; the others promise nothing but their bounds.
MEANS = {
    Verdict.OPTIMAL: {SEPARABLE},
    Verdict.SEPARABLE: {SEPARABLE},
    Verdict.WEAKLY_SEPARABLE: {WEAKLY},
    Verdict.NOT_SEPARABLE: {WEAKLY, NOT},
}


def hard_margin(X, y, fit_intercept, norm="l2"):
    try:
        return HardMarginSVM(norm, fit_intercept=fit_intercept).fit(X, y).certificate_
    except (NotSeparableError, UndecidedError) as error:
        return error.certificate


def learnt_by(learner):
    return lambda X, y, fit_intercept: learner(fit_intercept=fit_intercept, max_updates=2000).fit(X, y).certificate_


ISSUERS = {
    "separability": lambda X, y, fit_intercept: separability(X, y, fit_intercept=fit_intercept),
    "hard margin": hard_margin,
    "l1 margin": lambda X, y, fit_intercept: hard_margin(X, y, fit_intercept, norm="l1"),
    "perceptron": learnt_by(Perceptron),
    "margin perceptron": learnt_by(MarginPerceptron),
    "winnow": learnt_by(Winnow),
}
each_issuer = pytest.mark.parametrize("issue", ISSUERS.values(), ids=ISSUERS.keys())
with_and_without_bias = pytest.mark.parametrize("fit_intercept", [True, False])


def assert_true(certificate, X, y):
    """Verified in float64 and in fractions."""
    for exact in (False, True):
        answer = certificate.verify(X, y, exact=exact)
        assert answer, answer
        assert answer.exact is exact


def bits(value):
    """A form in which only what is the same, bit for bit and type for type, is equal."""
    if isinstance(value, dict):
        return {key: bits(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value), [bits(entry) for entry in value]
    return type(value), value.hex() if isinstance(value, float) else value


def assert_survives(certificate):
    """to_dict and to_json lose nothing."""
    fields = certificate.to_dict()
    text = certificate.to_json()
    assert "\n" not in text
    for copy in (Certificate.from_dict(fields), Certificate.from_json(text)):
        assert bits(copy.to_dict()) == bits(fields)
        assert copy.to_json() == text
        for name in ("w", "weights", "rows"):
            ours, theirs = getattr(certificate, name), getattr(copy, name)
            assert ours.dtype == theirs.dtype
            assert ours.tobytes() == theirs.tobytes()


@st.composite
def any_data(draw, fit_intercept):
    return draw(st.one_of(tables(), separable(fit_intercept), weakly_separable(fit_intercept), inseparable()))


@each_issuer
@with_and_without_bias
@settings(max_examples=50)
@given(data=st.data(), form=forms, naming=namings)
def test_every_issued_certificate_is_true(issue, fit_intercept, data, form, naming):
    table = data.draw(any_data(fit_intercept))
    X, y = form(table.X), naming(table.y)
    certificate = issue(X, y, fit_intercept)
    assert_true(certificate, X, y)
    assert_survives(certificate)
    known = truth(table.X, table.y, fit_intercept=fit_intercept)
    assert known in MEANS.get(certificate.verdict, {known})
    assert certificate.margin_lower <= certificate.margin_upper
    assert certificate.report()


@each_issuer
@settings(max_examples=40)
@given(data=st.data(), fit_intercept=st.booleans(), form=forms)
def test_a_known_margin_lies_between_the_bounds(issue, data, fit_intercept, form):
    known = data.draw(separable(fit_intercept))
    certificate = issue(form(known.X), known.y, fit_intercept)
    if certificate.norm == "l2" or known.axis:
        assert certificate.margin_lower <= known.margin <= certificate.margin_upper
    if certificate.verdict is Verdict.OPTIMAL and certificate.norm == "l2":
        assert certificate.margin_lower >= known.margin * (1.0 - 2e-9)
        assert certificate.primal >= certificate.dual
        assert certificate.dual == pytest.approx(0.5 / known.margin**2, rel=1e-8)


@pytest.mark.parametrize("norm", ["l2", "l1"])
@with_and_without_bias
@settings(max_examples=50)
@given(data=st.data())
def test_the_hard_margin_is_optimal_where_a_plane_separates(norm, fit_intercept, data):
    known = data.draw(separable(fit_intercept))
    certificate = hard_margin(known.X, known.y, fit_intercept, norm)
    assert certificate.verdict is Verdict.OPTIMAL
    assert certificate.is_separable is True
    assert certificate.relative_gap <= certificate.tol


# ------------------------------------------------------------------------------------------ at the edge of float64


@each_issuer
@settings(max_examples=60)
@given(data=nearly_touching(), fit_intercept=st.booleans())
def test_rows_one_unit_in_the_last_place_apart(issue, data, fit_intercept):
    certificate = issue(data.X, data.y, fit_intercept)
    known = truth(data.X, data.y, fit_intercept=fit_intercept)
    assert known in MEANS.get(certificate.verdict, {known})
    assert_true(certificate, data.X, data.y)


whole_range = st.sampled_from([-1074, -1060, -1022, 990])  # from denormals to 1e300


@each_issuer
@pytest.mark.parametrize(
    ("rows", "scales"), [(any_rows(), extreme), (grids(), whole_range)], ids=["to 1e150", "all that doubles hold"]
)
@settings(max_examples=40)
@given(data=st.data(), fit_intercept=st.booleans())
def test_any_scale(issue, rows, scales, data, fit_intercept):
    table = data.draw(st.one_of(separable(fit_intercept, scales=scales), tables(rows=rows, scales=scales)))
    certificate = issue(table.X, table.y, fit_intercept)
    known = truth(table.X, table.y, fit_intercept=fit_intercept)
    assert known in MEANS.get(certificate.verdict, {known})
    assert_true(certificate, table.X, table.y)
    assert_survives(certificate)


@each_issuer
@with_and_without_bias
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "scale", [1e-320, 1e-300, 1e-200, 1e-150, 1e-100, 1e-50, 1.0, 1e50, 1e100, 1e150, 1e200, 1e300]
)
def test_a_street_of_any_width(issue, fit_intercept, form, scale):
    X = form(np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0], [-1.0, -1.0], [-2.0, 0.0], [-1.0, -3.0]]) * scale)
    y = [1, 1, 1, -1, -1, -1]
    certificate = issue(X, y, fit_intercept)
    assert certificate.is_separable
    assert_true(certificate, X, y)
    assert_survives(certificate)


@pytest.mark.parametrize("ulps", [1, 2, 1000])
def test_a_margin_below_float64_is_undecided_or_true(ulps):
    """Separable, by a street of one unit in the last place at 1e6: nobody may call it inseparable."""
    X = np.array([[1e6, 0.0], [1e6, 1.0], [1e6 + ulps * math.ulp(1e6), 0.5]])
    certificate = separability(X, [-1, -1, 1])
    assert certificate.is_separable is not False
    assert certificate.margin_upper >= 0.5 * ulps * math.ulp(1e6)
    assert_true(certificate, X, [-1, -1, 1])


def test_undecided_bounds_are_true_of_the_exact_margin():
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    certificate = separability(X, [0, 1])
    assert certificate.verdict in (Verdict.UNDECIDED, Verdict.SEPARABLE, Verdict.OPTIMAL)
    exact = (Fraction(X[1, 0]) - Fraction(X[0, 0])) / 2
    assert Fraction(certificate.margin_lower) <= exact <= Fraction(certificate.margin_upper)


@pytest.mark.parametrize("norm", ["l2", "l1"])
@with_and_without_bias
@settings(max_examples=50)
@given(data=st.data())
def test_separability_decides_small_integers(norm, fit_intercept, data):
    """What a person can see on squared paper must not be left undecided."""
    table = data.draw(st.one_of(separable(fit_intercept), weakly_separable(fit_intercept), inseparable()))
    verdict = separability(table.X, table.y, norm=norm, fit_intercept=fit_intercept).verdict
    known = truth(table.X, table.y, fit_intercept=fit_intercept)
    decided = {SEPARABLE: Verdict.OPTIMAL, WEAKLY: Verdict.WEAKLY_SEPARABLE, NOT: Verdict.NOT_SEPARABLE}
    assert verdict is decided[known]


def test_a_witness_whose_weights_span_more_than_float64():
    """The third row carries 1e-400 of the weight: too little for a double, too much to leave out."""
    X, signs = np.array([[0.0], [-1e-200], [1e200]]), np.array([-1.0, 1.0, 1.0])
    claim = Claim(np.zeros(1), 0.0, np.arange(3), np.ones(3), hulls_meet=True)
    certificate = certify(X, signs, claim, norm="l2", fit_intercept=True, tol=1e-9)
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert certificate.rows.tolist() == [0, 1, 2]
    assert np.all(certificate.weights > 0.0)
    assert_true(certificate, X, signs.astype(int))


@pytest.mark.parametrize(
    "nonsense",
    [
        {"w": np.array([math.nan, 1.0])},
        {"w": np.array([math.inf, 1.0])},
        {"b": math.nan},
        {"weights": np.array([1.0, math.nan])},
        {"weights": np.array([1.0, -1e-30])},
        {"weights": np.array([1.0, math.inf])},
    ],
    ids=str,
)
@pytest.mark.parametrize("hulls_meet", [False, True])
def test_a_solver_that_talks_nonsense_gets_a_true_certificate(nonsense, hulls_meet):
    X, signs = np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([-1.0, 1.0])
    sense = {"w": np.array([1.0, 0.0]), "b": -1.0, "rows": np.arange(2), "weights": np.ones(2)}
    claim = Claim(**{**sense, **nonsense}, hulls_meet=hulls_meet)
    certificate = certify(X, signs, claim, norm="l2", fit_intercept=True, tol=1e-9)
    assert certificate.verdict is (Verdict.SEPARABLE if "weights" in nonsense else Verdict.UNDECIDED)
    assert_true(certificate, X, signs.astype(int))


def test_certify_needs_no_solver_and_takes_denormals():
    X, signs = np.array([[5e-324, 0.0], [2e-322, 0.0], [-5e-324, 1e-323]]), np.array([1.0, 1.0, -1.0])
    for form in (np.asarray, np.asfortranarray):
        claim = Claim(np.array([1.0, 0.0]), 0.0, np.array([0, 2]), np.ones(2))
        certificate = certify(form(X), signs, claim, norm="l2", fit_intercept=True, tol=1e-9)
        assert_true(certificate, X, signs.astype(int))
        assert_survives(certificate)


# ------------------------------------------------------------------------------------------------- the same, retold


def test_the_same_data_in_any_form():
    X, y, _ = synthetic.separable_gaussians(n=40, d=3, seed=1)
    X = X.astype(np.float32).astype(float)
    labels = np.where(y > 0, "spam", "ham")
    certificate = HardMarginSVM().fit(X, labels).certificate_
    unsorted = sparse.csr_array(X)
    unsorted.indices = unsorted.indices.reshape(-1, 3)[:, ::-1].ravel().copy()
    unsorted.data = unsorted.data.reshape(-1, 3)[:, ::-1].ravel().copy()
    unsorted.has_sorted_indices = False
    forms = [
        X,
        X.tolist(),
        np.asfortranarray(X),
        X.astype(np.float32),
        X.astype(np.longdouble),
        sparse.csr_array(X),
        sparse.csr_matrix(X),
        sparse.csc_array(X),
        unsorted,
        pandas.DataFrame(X),
        np.repeat(X, 2, axis=0)[::2],
    ]
    for form in forms:
        assert_true(certificate, form, labels)
    for retold in (labels.tolist(), labels.astype(object), pandas.Series(labels), pandas.Categorical(labels)):
        assert_true(certificate, X, retold)


def test_figures_that_rest_on_rounding_are_verified_in_any_form():
    """A street 1e-6 wide at 1e3: another order of summation changes every figure, but not the verdict."""
    random = np.random.default_rng(0)
    X = 1e3 + random.standard_normal((40, 6))
    y = np.where(np.arange(40) % 2 == 0, 1, -1)
    X[:, 0] = 1e3 + y * (0.5e-6 + 1e-6 * random.random(40))
    certificate = HardMarginSVM().fit(X, y).certificate_
    assert certificate.is_separable
    shuffled = np.asfortranarray(X)
    for form in (X, shuffled, sparse.csr_array(X), np.repeat(X, 2, axis=1)[:, ::2]):
        assert_true(certificate, form, y)


def test_rows_of_no_weight_are_no_part_of_it():
    X = [[0.0], [1.0], [0.5], [3.0]]
    y, weight = ["a", "a", "b", "b"], [1.0, 2.0, 0.0, 1.0]
    certificate = HardMarginSVM().fit(X, y, sample_weight=weight).certificate_
    assert (certificate.n_rows, certificate.rows.tolist()) == (3, [1, 3])
    for exact in (False, True):
        assert certificate.verify(X, y, exact=exact, sample_weight=weight)
        assert certificate.verify(X, y, exact=exact, sample_weight=[0.5, 1e-300, 0.0, 7.0])
        assert not certificate.verify(X, y, exact=exact)


def test_a_batch_of_one_class_is_certified_too():
    perceptron = Perceptron().partial_fit([[1.0], [-1.0]], [1, 0], classes=[0, 1])
    assert_true(perceptron.certificate_, [[1.0], [-1.0]], [1, 0])
    perceptron.partial_fit([[2.0], [3.0]], [1, 1])
    assert_true(perceptron.certificate_, [[2.0], [3.0]], [1, 1])
    assert not perceptron.certificate_.verify([[2.0], [3.0]], [0, 0])


def test_a_batch_without_rows_of_a_pair_proves_nothing_about_it():
    perceptron = Perceptron(multi_class="ovo").partial_fit([[1.0], [5.0], [9.0]], [0, 1, 2], classes=[0, 1, 2])
    perceptron.partial_fit([[8.0], [9.0]], [2, 2])
    pair = perceptron.certificate_[0]
    assert (pair.n_rows, pair.verdict, pair.is_separable) == (0, Verdict.STOPPED, None)
    assert_true(perceptron.certificate_, [[8.0], [9.0]], [2, 2])


# -------------------------------------------------------------------------------------------------- as text and back


@pytest.mark.parametrize("labels", [("inf", "nan"), (1, 0), (1.5, -0.0), (True, False), ("ü", '"'), (2**60, None)])
@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan, 5e-324, -0.0, 0.1])
def test_what_json_cannot_hold(labels, number):
    certificate = Certificate(
        Verdict.STOPPED, "l1", True, *labels, 3, 2,
        w=np.array([number, 0.1 + 0.2]), b=number, rows=np.array([2], dtype=np.intp), weights=np.array([number]),
        margin_lower=number, margin_upper=number, primal=number, dual=number, tol=0.5,
        kkt=KKT(*(Violation(number, row) for row in range(5))),
        theorems=(TheoremBound("ünïcode", number, number, at_most=False),),
    )  # fmt: skip
    assert_survives(certificate)
    copy = Certificate.from_json(certificate.to_json())
    assert (copy.positive, copy.negative) == labels
    assert type(copy.positive) is type(labels[0])


def test_numbers_of_numpy_are_written_too():
    """A grid search hands over numpy's numbers and booleans."""
    X, y = [[0.0], [1.0], [3.0]], np.array([0, 0, 1], dtype=np.int8)
    svm = HardMarginSVM(tol=np.float32(1e-6), fit_intercept=np.bool_(True)).fit(X, y)
    assert_survives(svm.certificate_)
    assert_true(svm.certificate_, X, y)


def a_certificate():
    return HardMarginSVM().fit([[0.0], [1.0], [3.0]], [0, 0, 1]).certificate_.to_dict()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"verdict": "PERFECT"}, "unknown verdict 'PERFECT'; known are"),
        ({"surplus": 1}, r"missing \[\], unknown \['surplus'\]"),
        ({"rows": [0.5, 1.0]}, "not a certificate: 'float' object"),
        ({"margin_lower": "high"}, "not a certificate: 'high' is no number"),
        ({"margin_upper": None}, "not a certificate: 'None' is no number"),
        ({"w": ["a"]}, r"not a certificate: \['a'\] is no array of numbers"),
        ({"kkt": {"primal": {"value": 0.0, "row": 1}}}, "not a certificate: .* missing 4 required"),
        ({"kkt": 3}, "not a certificate: 'int' object has no attribute"),
        ({"theorems": [{"name": "Novikov"}]}, "not a certificate: .* missing 2 required"),
    ],
)
def test_what_is_not_a_certificate(change, reason):
    with pytest.raises(ValueError, match=reason):
        Certificate.from_dict({**a_certificate(), **change})


def test_a_missing_field_is_named():
    fields = a_certificate()
    del fields["weights"]
    with pytest.raises(ValueError, match=r"missing \['weights'\], unknown \[\]"):
        Certificate.from_dict(fields)
