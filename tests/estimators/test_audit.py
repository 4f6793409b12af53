"""`audit`: the objective is the model's own, the bounds are true, and every kind of model is read as it is."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import maxmargin
from maxmargin.certificates.soft_margin import SoftVerdict
from maxmargin.data.synthetic import overlapping, street, xor
from maxmargin.estimators.audit import audit

IRIS = load_iris(return_X_y=True)
TWO = overlapping(120)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, 120)


def hinge(values, signs, squared=False):
    xi = np.maximum(0.0, 1.0 - signs * values)
    return xi * xi if squared else xi


def signs_of(model, y):
    return np.where(y == model.classes_[1], 1.0, -1.0)


def exact_linear_svc(**options):
    return LinearSVC(tol=1e-10, max_iter=1_000_000, random_state=0, **options)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("scaling", [1.0, 0.3, 4.0])
def test_linear_svc_by_its_own_objective(loss, scaling):
    X, y = TWO
    model = exact_linear_svc(C=0.7, loss=loss, intercept_scaling=scaling).fit(X, y)
    answer = audit(model, X, y)
    [part] = answer.parts
    w, b = model.coef_[0], model.intercept_[0]
    losses = hinge(X @ w + b, signs_of(model, y), loss == "squared_hinge")
    expected = 0.5 * (w @ w + (b / scaling) ** 2) + 0.7 * losses.sum()
    assert part.objective == pytest.approx(expected, rel=1e-12)
    assert part.objective >= part.objective_best_bias >= part.optimum_lower
    assert part.optimum_lower <= part.optimum_upper
    assert 0.0 <= answer.least_excess <= answer.excess < 2e-5
    assert "regularises its bias" in answer.report()


def test_the_best_bias_of_a_regularised_one():
    X, y = TWO
    model = exact_linear_svc().fit(X, y)
    optimum = audit(model, X, y, tol=1e-8)
    model.intercept_ = model.intercept_ + 1.0
    moved = audit(model, X, y, tol=1e-8)
    assert moved.least_excess > 1e-3
    assert moved.parts[0].objective_best_bias == pytest.approx(optimum.parts[0].objective, rel=1e-8)


def test_without_a_bias_nothing_is_noted():
    X, y = TWO
    answer = audit(exact_linear_svc(fit_intercept=False).fit(X, y), X, y)
    assert answer.notes == ()
    assert "squared hinge, C = 1, no bias" in answer.report()
    assert answer.excess < 2e-5


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 1: 3.0, 2: 0.5}], ids=["none", "balanced", "dict"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_svc_of_three_classes(class_weight, loss):
    X, y = StandardScaler().fit_transform(IRIS[0]), IRIS[1]
    answer = audit(exact_linear_svc(class_weight=class_weight, loss=loss, C=0.1).fit(X, y), X, y)
    assert [(part.positive, part.negative) for part in answer] == [(0, None), (1, None), (2, None)]
    assert answer.excess < 2e-5


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_svc_of_three_classes(kernel, class_weight):
    X, y = IRIS
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = SVC(kernel=kernel, tol=1e-8, class_weight=class_weight, C=0.5, coef0=1.0).fit(X, y, weights)
    answer = audit(model, X, y, weights)
    assert [(part.positive, part.negative) for part in answer] == [(0, 1), (0, 2), (1, 2)]
    assert answer.excess < 5e-5
    for part in answer:
        assert part.certificate.verify(X, y, sample_weight=weights)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_objective_of_an_svc(kernel, form):
    X, y = TWO
    given = X if form == "dense" else sparse.csr_array(X)
    model = SVC(kernel=kernel, gamma=0.5, degree=2, tol=0.1).fit(given, y)
    [part] = audit(model, given, y, tol=1e-4).parts
    gram = {"linear": X @ X.T, "poly": (0.5 * X @ X.T) ** 2}.get(kernel)
    if gram is None:
        gram = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    c = np.zeros(len(y))
    c[model.support_] = model.dual_coef_.toarray()[0] if form == "sparse" else model.dual_coef_[0]
    losses = hinge(gram @ c + model.intercept_[0], signs_of(model, y))
    assert part.objective == pytest.approx(0.5 * c @ gram @ c + losses.sum(), rel=1e-10)
    assert part.least_excess <= part.excess


def linear_function(A, B):
    return A @ B.T


@pytest.mark.parametrize("kernel", [linear_function, "precomputed"], ids=["function", "precomputed"])
def test_svc_with_a_kernel_of_its_own(kernel):
    X, y = TWO
    table = X @ X.T if kernel == "precomputed" else X
    model = SVC(kernel=kernel, tol=1e-6).fit(table, y)
    [part] = audit(model, table, y).parts
    [linear] = audit(SVC(kernel="linear", tol=1e-6).fit(X, y), X, y).parts
    assert part.optimum_lower == pytest.approx(linear.optimum_lower, rel=2e-5)
    assert part.excess < 5e-5
    with pytest.raises(ValueError, match="fitted on 120"):
        audit(model, table[:-1, :-1] if kernel == "precomputed" else X[:-1], y[:-1])


def test_a_column_in_which_all_rows_are_equal_changes_nothing():
    X, y = overlapping(60)
    constant = np.column_stack([X, np.full(60, 7.0)])
    plain, wider = (audit(SVC(gamma=0.5).fit(rows, y), rows, y) for rows in (X, constant))
    assert wider.parts[0].objective == pytest.approx(plain.parts[0].objective, rel=1e-9)
    assert wider.excess == pytest.approx(plain.excess, abs=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_sgd_minimises_a_mean(loss):
    X, y = TWO
    model = SGDClassifier(loss=loss, alpha=0.01, class_weight="balanced", random_state=0).fit(X, y, None, None, WEIGHTS)
    answer = audit(model, X, y, WEIGHTS)
    [part] = answer.parts
    w, b, signs = model.coef_[0], model.intercept_[0], signs_of(model, y)
    of_class = np.where(signs > 0, 120 / (2 * (signs > 0).sum()), 120 / (2 * (signs < 0).sum()))
    losses = hinge(X @ w + b, signs, loss == "squared_hinge") * WEIGHTS * of_class
    theirs = 0.005 * w @ w + losses.mean()
    assert part.objective * 0.01 == pytest.approx(theirs, rel=1e-10)
    assert 0.0 < answer.least_excess <= answer.excess


def test_perceptron_against_the_best_margin():
    X, y, plane = street(n=40)
    model = Perceptron().fit(X, y)
    answer = audit(model, X, y)
    [part] = answer.parts
    distances = signs_of(model, y) * (X @ model.coef_[0] + model.intercept_[0]) / np.linalg.norm(model.coef_[0])
    assert part.margin == pytest.approx(distances.min(), rel=1e-9)
    assert part.best_lower <= plane.margin * (1 + 1e-9) <= part.best_upper * (1 + 2e-9)
    assert answer.share == pytest.approx(distances.min() / plane.margin, rel=1e-6)
    assert math.isnan(answer.excess)
    assert part.margin <= part.margin_best_bias <= part.best_upper
    bound = re.fullmatch(r"margin at least (\S+); with the best bias for its plane at least (\S+)", part.lines()[0])
    assert float(bound[1]) <= part.margin <= float(bound[1]) * (1 + 1e-8)
    assert float(bound[2]) <= part.margin_best_bias <= float(bound[2]) * (1 + 1e-8)


@pytest.mark.filterwarnings("ignore:Maximum number of iteration")  # of scikit-learn, which looks for a plane in vain
@pytest.mark.parametrize("model", [Perceptron(), SGDClassifier(loss="perceptron")], ids=["perceptron", "sgd"])
def test_perceptron_where_no_plane_exists(model):
    X, y = xor()
    answer = audit(model.fit(X, y), X, y)
    assert answer.parts[0].is_separable is False
    assert answer.parts[0].mistakes > 0
    assert "no plane that separates" in answer.verdict


def test_perceptron_that_stopped_before_it_separates():
    X, y, _ = street(n=40)
    model = Perceptron().fit(X, y)
    model.intercept_ = model.intercept_ + 1e6
    answer = audit(model, X, y)
    assert answer.share == 0.0
    assert answer.parts[0].mistakes == np.count_nonzero(y == model.classes_[0])
    assert "misses 1 of 1 planes" in answer.report()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [
        maxmargin.LinearSVM(C=2.0, class_weight="balanced"),
        maxmargin.LinearSVM(loss="squared_hinge", fit_intercept=False),
        maxmargin.LinearSVMCV(Cs=[0.1, 1.0]),
        maxmargin.KernelSVM(C=2.0),
        maxmargin.KernelSVM(kernel=linear_function),
        maxmargin.StochasticSVM(class_weight={-1: 1.0, 1: 2.0}),
        maxmargin.StochasticSVM(kernel="rbf"),
    ],
    ids=["balanced", "squared", "cv", "kernel", "function", "stochastic", "stochastic-kernel"],
)
def test_our_own_objective_is_the_one_of_their_certificate(model):
    X, y = TWO
    certificate = model.fit(X, y).certificate_
    [part] = audit(model, X, y).parts
    assert part.objective == pytest.approx(certificate.primal, rel=1e-9)
    assert certificate.dual <= part.optimum_upper
    assert part.optimum_lower <= certificate.primal


@pytest.mark.parametrize(
    "model",
    [maxmargin.HardMarginSVM(), maxmargin.HardMarginSVM("l1"), maxmargin.Perceptron(), maxmargin.Winnow()],
    ids=["l2", "l1", "perceptron", "winnow"],
)
def test_our_own_margin(model):
    X, y, _ = street(n=40)
    certificate = model.fit(X, y).certificate_
    [part] = audit(model, X, y).parts
    assert part.certificate.norm == certificate.norm
    assert part.share >= 0.999 * certificate.margin_lower / certificate.margin_upper
    assert part.margin == pytest.approx(certificate.margin_lower, rel=1e-9)


def test_pipelines_and_searches():
    X, y = IRIS
    pipeline = make_pipeline(StandardScaler(), exact_linear_svc(loss="hinge"))
    search = GridSearchCV(pipeline, {"linearsvc__C": [0.1, 1.0]}, cv=2).fit(X, y)
    direct = exact_linear_svc(loss="hinge", C=search.best_params_["linearsvc__C"])
    scaled = StandardScaler().fit_transform(X)
    expected = audit(direct.fit(scaled, y), scaled, y)
    assert [part.objective for part in audit(search, X, y)] == [part.objective for part in expected]


def test_rows_of_weight_zero_do_not_count():
    X, y = TWO
    weights = np.ones(120)
    weights[::7] = 0.0
    model = exact_linear_svc(C=0.5).fit(X, y, weights)
    kept = weights > 0
    [part] = audit(model, X, y, weights).parts
    [other] = audit(model, X[kept], y[kept]).parts
    assert part.objective == pytest.approx(other.objective, rel=1e-12)


def test_float32_and_strings():
    X, y = TWO
    names = np.array(["no", "yes"])[(y > 0).astype(int)]
    model = exact_linear_svc(intercept_scaling=0.3).fit(X.astype(np.float32), names)
    [part] = audit(model, X.astype(np.float32), names).parts
    assert (part.positive, part.negative) == ("yes", "no")
    assert part.excess < 2e-5


def test_of_very_many_planes_those_that_fare_worst_are_shown():
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 8)
    X = random.normal(size=(6, 2))[y] + 0.3 * random.normal(size=(48, 2))
    for model in (LinearSVC(), Perceptron()):
        answer = audit(model.fit(X, y), X, y)
        assert len(answer) == 6
        assert "fare worst" not in str(answer)
        many = dataclasses.replace(answer, parts=tuple(answer.parts[k % 6] for k in range(24)))
        lines = str(many).splitlines()
        assert lines[2] == "  the 12 of 24 planes that fare worst; `parts` has all"
        shown = [int(line.split()[0]) for line in lines[3:] if line.endswith("against the rest")]
        worst = sorted(answer, key=lambda part: part.fares)[:3]
        assert shown == [part.positive for part in worst for _ in range(4)]
    assert max(part.excess for part in audit(LinearSVC().fit(X, y), X, y)) > 0.0


def test_how_a_plane_fares():
    parts = audit(
        Perceptron().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]), [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    )
    part = parts.parts[0]
    never = dataclasses.replace(part, is_separable=False, mistakes=1)
    misses, more = (dataclasses.replace(part, mistakes=count, share=0.0) for count in (1, 2))
    thin, wide = (dataclasses.replace(part, mistakes=0, share=share) for share in (0.1, 0.9))
    assert sorted([wide, misses, never, thin, more], key=lambda one: one.fares) == [never, more, misses, thin, wide]


def test_time_is_limited_and_bounds_stay_true():
    X, y = TWO
    model = exact_linear_svc().fit(X, y)
    [sharp], [quick] = audit(model, X, y).parts, audit(model, X, y, max_time=1e-9).parts
    assert quick.optimum_lower <= sharp.optimum_upper
    assert quick.excess >= sharp.least_excess


def test_for_machines():
    X, y = TWO
    answer = audit(exact_linear_svc().fit(X, y), X, y)
    read = json.loads(answer.to_json(), parse_constant=pytest.fail)
    assert read["model"] == "LinearSVC(C=1)"
    assert read["parts"][0]["objective"] == answer.parts[0].objective
    assert read["parts"][0]["certificate"]["n_columns"] == X.shape[1] + 1
    assert read["share"] == {"number": "nan"}
    assert "Audit(LinearSVC" in repr(answer)


@pytest.mark.parametrize(
    ("model", "part"),
    [
        (LogisticRegression(), "cannot be audited: LinearSVC, SVC"),
        (SVC(kernel="sigmoid"), "not positive semidefinite"),
        (SVC(kernel="poly", coef0=-1.0), "not positive semidefinite"),
        (LinearSVC(penalty="l1"), "penalty='l2' can"),
        (LinearSVC(multi_class="crammer_singer"), "one problem over all classes"),
        (SGDClassifier(loss="log_loss"), "hinge, squared_hinge, huber_hinge, modified_huber can"),
        (maxmargin.KernelPerceptron(), "certificate_.verify"),
    ],
    ids=["logistic", "sigmoid", "poly", "l1", "crammer", "log", "kernel-perceptron"],
)
def test_what_cannot_be_audited(model, part):
    X, y, _ = street(n=40)
    with pytest.raises(ValueError, match=part):
        audit(model.fit(X, y), X, y)


def test_wrong_rows_are_refused():
    X, y = IRIS
    model = exact_linear_svc(C=0.01).fit(X, y)
    with pytest.raises(ValueError, match="X has 3 columns, but the model was fitted on 4"):
        audit(model, X[:, :3], y)
    with pytest.raises(ValueError, match=r"y has no row of \[2\]"):
        audit(model, X[:100], y[:100])
    with pytest.raises(ValueError, match=r"y holds \[7\]"):
        audit(model, X, np.where(y == 0, 7, y))
    with pytest.raises(ValueError, match="tol must be"):
        audit(model, X, y, tol=0.0)
    with pytest.raises(ValueError, match="not fitted"):
        audit(LinearSVC(), X, y)


def test_an_audit_whose_time_was_over_says_what_it_does_not_know():
    """Bounds are true when the time is over, but they are no distance to be proud of."""
    X, y = overlapping(400, seed=3)
    model = SVC(kernel="linear").fit(X, y)
    known = audit(model, X, y)
    [part] = known.parts
    bounded = dataclasses.replace(part.certificate, verdict=SoftVerdict.BOUNDED)
    answer = dataclasses.replace(known, parts=(dataclasses.replace(part, excess=7.39e5, certificate=bounded),))
    assert "which is proven; nearer the optimum is not known. More time may tell." in answer.verdict
    between = f"is between {answer.least_excess:.2e} and {answer.excess:.2e} (relative) above the optimum"
    assert between in answer.verdict
    assert known.verdict.endswith("above the optimum, which is proven.")
    hurried = audit(model, X, y, max_time=1e-9)
    assert hurried.excess > 1.0 > hurried.least_excess
    assert hurried.verdict.endswith(("More time may tell.", "was proven in the time that there was."))


def test_an_unknown_distance_is_not_called_proven():
    X, y = overlapping(60, seed=3)
    known = audit(SVC(kernel="linear").fit(X, y), X, y)
    [part] = known.parts
    bounded = dataclasses.replace(part.certificate, verdict=SoftVerdict.BOUNDED)
    endless = dataclasses.replace(part, excess=math.inf, optimum_lower=0.0, certificate=bounded)
    said = str(dataclasses.replace(known, parts=(endless,)))
    assert "is at an unknown distance from the optimum: no bound was proven in the time that there was." in said
    assert said.endswith(" of it; no upper bound is proven")
    assert "inf" not in said
    many = dataclasses.replace(known, parts=(part, endless, endless))
    assert "no bound of 2 of 3 planes was proven" in many.verdict
