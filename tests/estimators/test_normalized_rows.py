"""Rows at length 1: the margin is a cosine, its bounds are proven, and the plane is one of the rows as they are."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import maxmargin
from maxmargin import HardMarginSVM, MarginPerceptron, Perceptron, Verdict, Winnow, two_margins
from maxmargin.certificates.normalized import NormalizedMargin, holds_exactly, normalized_margin
from maxmargin.persistence import ModelFileError, verify_model
from maxmargin.persistence.container import pack, unpack
from maxmargin.problems.choices import Order
from maxmargin.run.control import Status

LEARNERS = [Perceptron, MarginPerceptron, Winnow]
NORMS = pytest.mark.parametrize("norm", ["l2", "l1"])


def at_length_one(X, norm, bias):
    lifted = np.column_stack([X, np.ones(len(X))]) if bias else X
    return lifted / (np.linalg.norm(lifted, axis=1) if norm == "l2" else np.abs(lifted).max(axis=1))[:, None]


def separable(seed):
    """Rows of many lengths, on both sides of a line through the origin."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 2)) * random.uniform(0.1, 9.0, (60, 1))
    X = X[np.abs(X @ [1.0, -2.0]) > 0.15]
    return X, (X @ [1.0, -2.0] > 0.0).astype(int)


@NORMS
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
def test_the_hard_margin_of_rows_at_length_one(norm, bias, form):
    """The same as the hard margin of a table whose rows were divided before, and proven to tol."""
    X, y = separable(1)
    X = X.astype(np.float32).astype(float)
    svm = HardMarginSVM(norm, fit_intercept=bias, normalize_rows=True).fit(form(X), y)
    before = HardMarginSVM(norm, fit_intercept=False).fit(at_length_one(X, norm, bias), y)
    lower, upper = svm.normalized_margin_
    assert lower <= upper <= lower * (1.0 + 1e-9)
    assert lower == pytest.approx(before.margin_, rel=1e-8, abs=0.0)
    assert svm.status_ is Status.SETTLED
    assert np.array_equal(svm.predict(form(X)), y)
    assert svm.certificate_.verdict in (Verdict.SEPARABLE, Verdict.OPTIMAL)
    assert svm.certificate_.verify(form(X), y, exact=True)
    assert (
        svm.certificate_.margin_lower
        == svm.margin_
        <= HardMarginSVM(norm, fit_intercept=bias).fit(X, y).margin_ * (1.0 + 1e-9)
    )
    plane = np.append(svm.coef_[0], svm.intercept_ if bias else [])
    cosines = (2 * y - 1) * (at_length_one(X, norm, bias) @ plane) / np.linalg.norm(plane, 2 if norm == "l2" else 1)
    assert cosines.min() == pytest.approx(lower, rel=1e-9)
    assert np.abs(svm.dual_coef_).sum() == pytest.approx(1.0)
    if norm == "l2":  # the weights make the plane
        lifted = np.column_stack([X, np.ones(len(X))]) if bias else X
        made = svm.dual_coef_[0] @ lifted[svm.support_]
        assert made / np.linalg.norm(made) == pytest.approx(plane / np.linalg.norm(plane), abs=1e-6)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("bias", [True, False])
def test_learners_end_with_a_proof_in_both_spaces(learner, order, bias):
    X, y = separable(2)
    model = learner(order=order, fit_intercept=bias, normalize_rows=True).fit(X, y)
    assert model.status_ is Status.SETTLED
    assert np.array_equal(model.predict(X), y)
    assert model.certificate_.verify(X, y, exact=True)
    norm = model.norm_.value
    best = HardMarginSVM(norm, fit_intercept=bias, normalize_rows=True).fit(X, y).normalized_margin_
    assert 0.0 < model.normalized_margin_.lower <= best.upper
    assert model.normalized_margin_.upper >= best.lower
    theorem = model.certificate_.theorems[0]
    assert theorem.holds
    assert theorem.name.endswith("rows at length 1")
    factor = {Perceptron: 1.0, MarginPerceptron: 64.0, Winnow: 32.0 / 3.0 * math.log(4 + 2 * bias)}[learner]
    assert factor / best.upper**2 <= theorem.bound * (1.0 + 1e-9)
    assert theorem.bound <= factor / best.lower**2 * 1.03  # the best plane is known to a percent


def test_a_perceptron_on_divided_rows_takes_the_same_steps():
    X, y = separable(3)
    own = Perceptron(normalize_rows=True, record=True).fit(X, y)
    before = Perceptron(fit_intercept=False, record=True).fit(at_length_one(X, "l2", True), y)
    assert np.array_equal(own.trace_.to_arrays()["row"], before.trace_.to_arrays()["row"])
    assert np.allclose(own.trace_.to_arrays()["after"], before.trace_.to_arrays()["after"][:, :3])
    assert np.allclose(np.append(own.coef_, own.intercept_), before.coef_[0])
    assert own.certificate_.theorems[0].bound == pytest.approx(before.certificate_.theorems[0].bound, rel=0.03)


@pytest.mark.parametrize("learner", LEARNERS)
def test_lengths_of_rows_do_not_matter_through_the_origin(learner):
    """Each row times a power of two of its own: the same plane, to the bit."""
    X, y = separable(4)
    longer = X * 2.0 ** np.random.default_rng(0).integers(-3, 4, (len(X), 1))
    one, other = (learner(fit_intercept=False, normalize_rows=True).fit(table, y) for table in (X, longer))
    assert np.array_equal(one.coef_, other.coef_)
    assert one.normalized_margin_.lower == pytest.approx(other.normalized_margin_.lower, rel=1e-12)
    assert learner(fit_intercept=False).fit(X, y).n_updates_ != learner(fit_intercept=False).fit(longer, y).n_updates_


def test_data_that_no_plane_separates():
    X, y = [[0.0], [1.0], [2.0]], [1, 0, 1]
    for learner in LEARNERS:
        model = learner(normalize_rows=True).fit(X, y)
        assert model.certificate_.verdict is Verdict.NOT_SEPARABLE
        assert model.certificate_.verify(X, y, exact=True)
        assert model.normalized_margin_ == (-math.inf, 0.0)
    with pytest.raises(maxmargin.NotSeparableError):
        HardMarginSVM(normalize_rows=True).fit(X, y)
    svm = HardMarginSVM(normalize_rows=True, on_inseparable="return").fit(X, y)
    assert svm.normalized_margin_.upper == 0.0
    margins = two_margins(X, y)
    assert margins.verify(X, y, exact=True)
    assert "no plane separates" in str(margins)


@pytest.mark.parametrize("estimator", [Perceptron(normalize_rows=True), Winnow(normalize_rows=True),
                                       MarginPerceptron(normalize_rows=True, share=0.6),
                                       HardMarginSVM(normalize_rows=True)], ids=str)  # fmt: skip
def test_models_are_kept(estimator, tmp_path):
    X, y = separable(5)
    model = estimator.fit(X, y)
    maxmargin.save(model, tmp_path / "model", X, y)
    again = maxmargin.load(tmp_path / "model")
    assert again.normalize_rows is True
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.certificate_.verify(X, y, exact=True)
    assert again.normalized_margin_ == model.normalized_margin_
    assert verify_model(again, X, y)
    assert verify_model(again, X, y, exact=True)
    lower, upper = model.normalized_margin_
    for false in (NormalizedMargin(lower * 1.001, upper), NormalizedMargin(lower, upper * 0.999)):
        again.normalized_margin_ = false
        assert "as normalized_margin_ says" in str(verify_model(again, X, y))
        assert not verify_model(again, X, y, exact=True)
    document, arrays = unpack((tmp_path / "model").read_bytes())
    for damaged in ([[upper, lower - 1.0]], [[lower, math.nan]], [[lower, upper]] * 2):
        changed = pack(document, {**arrays, "normalized_margin": np.array(damaged)})
        (tmp_path / "model").write_bytes(changed)
        with pytest.raises(ModelFileError, match="normalized_margin"):
            maxmargin.load(tmp_path / "model")


def test_many_classes_have_a_margin_each(tmp_path):
    X, y = np.array([[0.0, 4.0], [4.0, 0.0], [2.0, 2.1], [-4.0, -4.0]]), np.array([0, 1, 0, 2])
    model = Perceptron(normalize_rows=True).fit(X, y)
    maxmargin.save(model, tmp_path / "model", X, y)
    again = maxmargin.load(tmp_path / "model")
    assert again.normalized_margin_ == model.normalized_margin_
    assert len(again.normalized_margin_) == 3
    assert verify_model(again, X, y, exact=True)
    again.normalized_margin_ = again.normalized_margin_[:2]
    assert "bounds for 2 planes, and there are 3" in str(verify_model(again, X, y))


def test_partial_fit_sees_rows_at_length_one():
    X, y = separable(6)
    one = Perceptron(normalize_rows=True, fit_intercept=False).partial_fit(X, y, classes=[0, 1])
    other = Perceptron(fit_intercept=False).partial_fit(at_length_one(X, "l2", False), y, classes=[0, 1])
    assert one.coef_ == pytest.approx(other.coef_)


# The judge.


def exact_margin(X, signs, w, b, norm, bias):
    """min f / (|v| |a|), its square with its sign, in fractions."""
    v = [Fraction(float(one)) for one in w] + [Fraction(float(b))] * bias
    size = sum(one * one for one in v) if norm == "l2" else sum(map(abs, v)) ** 2
    found = []
    for x, sign in zip(X, signs, strict=True):
        a = [Fraction(float(cell)) for cell in x] + [Fraction(1)] * bias
        f = int(sign) * sum(one * cell for one, cell in zip(v, a, strict=True))
        found.append(f * abs(f) / size / (sum(c * c for c in a) if norm == "l2" else max(map(abs, a)) ** 2))
    return min(found)


@NORMS
@pytest.mark.parametrize("bias", [True, False])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_bounds_are_on_their_sides_and_near(norm, bias, seed):
    random = np.random.default_rng(seed)
    n, d = int(random.integers(2, 9)), int(random.integers(1, 5))
    X = random.normal(size=(n, d)) * 10.0 ** random.integers(-6, 7, (n, 1))
    signs, w, b = np.where(random.random(n) < 0.5, 1.0, -1.0), random.normal(size=d), float(random.normal()) * bias
    weights = random.random(n) * (random.random(n) < 0.7)
    found = normalized_margin(X, signs, w, b, weights, norm, bias)
    true = exact_margin(X, signs, w, b, norm, bias)
    low = Fraction(found.lower)
    assert low * abs(low) <= true
    near = math.copysign(math.sqrt(abs(true)), true)
    assert found.lower >= near - 1e-13 * (1.0 + d * 1e6 / min(1.0, np.abs(X).max(axis=1).min()))
    units = at_length_one(X, norm, bias) * signs[:, None]
    lengths = np.linalg.norm(np.column_stack([X, np.ones(n) * bias]), axis=1, ord=2 if norm == "l2" else np.inf)
    if np.any(weights):
        p = (weights * lengths) @ units / (weights @ lengths)
        upper = np.linalg.norm(p, 2 if norm == "l2" else np.inf)
        assert upper * (1.0 - 1e-12) <= found.upper <= upper + 1e-13 * (1.0 + upper)
    else:
        assert found.upper == math.inf
    given = X, signs, w, b, weights, norm, bias
    assert holds_exactly(*given, found)
    assert not holds_exactly(*given, found._replace(lower=near + 1e-9 * abs(near) + 1e-12))
    if np.any(weights):
        assert not holds_exactly(*given, found._replace(upper=upper * (1.0 - 1e-9) - 1e-12))


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_both_ends_of_the_tie_are_reached(m):
    """By the rows e_1, ..., e_m, and by all rows (1, +-1, ..., +-1): with their negatives as the other class."""
    ends = {"low": np.eye(m), "high": np.array([[1.0, *rest] for rest in itertools.product([1.0, -1.0], repeat=m - 1)])}
    for end, rows in ends.items():
        X, y = np.vstack([rows, -rows]), np.repeat([1, 0], len(rows))
        margins = two_margins(X, y, fit_intercept=False)
        assert margins.m == m
        assert margins.l2.lower == pytest.approx(1.0 / math.sqrt(m), rel=1e-8)
        assert margins.l1.lower == pytest.approx(1.0 / m if end == "low" else 1.0, rel=1e-8)
        assert margins.is_tied
        assert margins.verify(X, y, exact=True)


@given(seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_the_two_margins_are_tied(seed):
    X, y = separable(seed)
    margins = two_margins(X, y)
    root = math.sqrt(3.0)
    assert margins.l2.lower / root <= margins.l1.upper
    assert margins.l1.lower <= root * margins.l2.upper
    assert margins.is_tied
    assert margins.verify(X, y)


def test_forged_margins_are_refused():
    X, y = separable(7)
    margins = two_margins(X, y)
    assert margins.verify(X, y, exact=True)
    for forged in (
        dataclasses.replace(margins, l2=margins.l2._replace(lower=margins.l2.lower * 1.001)),
        dataclasses.replace(margins, l1=margins.l1._replace(upper=margins.l1.upper * 0.999)),
        dataclasses.replace(margins, l2=NormalizedMargin(math.nan, math.nan)),
        dataclasses.replace(margins, m=7),
        dataclasses.replace(margins, l2=margins.l1, l1=margins.l2),
    ):
        assert not forged.verify(X, y)
        assert not forged.verify(X, y, exact=True)
    assert not margins.verify(X, 1 - y)


def test_two_margins_are_of_two_classes():
    with pytest.raises(ValueError, match="two_margins compares two classes, and y has 3: ask about one of them"):
        two_margins([[0.0], [1.0], [2.0]], [0, 1, 2])
