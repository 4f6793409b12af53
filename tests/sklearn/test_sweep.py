"""Random settings and tables: what our classes leave is of the kind that scikit-learn's leave, and it is proven."""

import warnings
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sparse
import sklearn.svm._classes as theirs
from sklearn.linear_model._perceptron import Perceptron as TheirPerceptron
from sklearn.linear_model._stochastic_gradient import SGDClassifier as TheirSGDClassifier

from maxmargin.sklearn import SVC, LinearSVC, Perceptron, SGDClassifier

ORIGINAL = {
    SVC: theirs.SVC,
    LinearSVC: theirs.LinearSVC,
    SGDClassifier: TheirSGDClassifier,
    Perceptron: TheirPerceptron,
}
DRAWS = 24  # of each class
FORMS = {
    "float64": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "columns": np.asfortranarray,
    "lists": lambda X: X.tolist(),
    "integers": lambda X: np.round(3.0 * X).astype(np.int64),
    "csr_matrix": lambda X: sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0.0, X)),
    "csr_array": lambda X: sparse.csr_array(np.where(np.abs(X) < 0.5, 0.0, X)),
    "csc": lambda X: sparse.csc_matrix(np.where(np.abs(X) < 0.5, 0.0, X)),
    "frame": lambda X: pytest.importorskip("pandas").DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
}
LABELS = (
    lambda k: np.arange(k),
    lambda k: np.arange(k) - 1.0,
    lambda k: np.array(["z", "bb", "ccc", "a"][:k]),
    lambda k: np.array(["z", "bb", "ccc", "a"][:k], dtype=object),
)
OTHERWISE = {"support_", "support_vectors_", "dual_coef_", "_dual_coef_", "n_iter_", "_num_iter", "t_"}  # of any length


def drawn_table(random):
    k = int(random.integers(2, 5))
    codes = np.concatenate([np.arange(k), np.arange(k), random.integers(0, k, int(random.integers(4, 40)))])
    X = random.choice([0.5, 1.0, 4.0]) * random.normal(size=(k, 3))[codes] + random.normal(size=(len(codes), 3))
    form = list(FORMS)[random.integers(len(FORMS))]
    weights = None
    if random.random() < 0.4:
        weights = random.choice([0.0, 1.0, 0.8], size=len(codes))
        weights[:k] = 1.0
    return form, FORMS[form](X), LABELS[random.integers(len(LABELS))](k)[codes], weights


def drawn_settings(random, kind, labels):
    def maybe(**choices):
        return {name: values[random.integers(len(values))] for name, values in choices.items() if random.random() < 0.5}

    settings = maybe(class_weight=["balanced", {labels[0]: 3.0}])
    if kind is SVC:
        settings |= maybe(C=[0.1, 10.0], kernel=["linear", "poly"], gamma=["auto", 0.3], coef0=[1.0])
        return settings | maybe(decision_function_shape=["ovo", "ovr"], shrinking=[False], max_iter=[1000])
    if kind is LinearSVC:
        settings |= maybe(C=[0.1, 10.0], loss=["hinge"], intercept_scaling=[0.1, 5], fit_intercept=[False])
        return settings | {"max_iter": 50_000, "random_state": 0}
    settings |= maybe(fit_intercept=[False]) | {"random_state": 0}
    if kind is SGDClassifier:
        settings |= maybe(alpha=[1.0, 0.01], loss=["squared_hinge", "modified_huber"])
    return settings


def fitted(kind, settings, X, y, weights):
    """The model, and what else than a limit it warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = kind(**settings).fit(X, y, sample_weight=weights)
    words = [(one.category, str(one.message)) for one in told]
    return model, [one for one in words if "Convergence" not in one[0].__name__], len(words)


def form_of(value):
    if sparse.issparse(value):
        return type(value), value.dtype, value.ndim, value.indices.dtype
    if isinstance(value, np.ndarray):
        kind = value.dtype.kind if value.dtype.kind == "U" else value.dtype
        return kind, value.ndim, value.flags.c_contiguous, value.flags.f_contiguous
    return type(value)


def forms_of(model):
    """Of all that a fit has left, and of what can be asked for; the lengths where they do not hang on the solver."""
    names = {name for name in (*vars(model), *dir(type(model))) if name.endswith("_") and not name.startswith("__")}
    found = {}
    for name in sorted(names - {"certificate_", "probA_", "probB_"}):
        if hasattr(model, name) and not callable(value := getattr(model, name)):
            found[name] = form_of(value), None if name in OTHERWISE else np.shape(value)
    return found


@pytest.mark.parametrize("kind", ORIGINAL)
def test_what_a_fit_leaves_is_of_their_kind_and_proven(kind):
    seen = Counter()
    for draw in range(DRAWS):
        random = np.random.default_rng([17, draw])
        form, X, y, weights = drawn_table(random)
        settings = drawn_settings(random, kind, np.unique(y).tolist())
        where = f"draw {draw}: {form}, {settings}, {'weighted' if weights is not None else ''}"
        (ours, words, _), (original, their_words, n_told) = (
            fitted(one, settings, X, y, weights) for one in (kind, ORIGINAL[kind])
        )
        assert words == their_words, where
        assert set(vars(ours)) == {*vars(original), "certificate_"}, where
        assert ours.certificate_.verify(X, y, sample_weight=weights), where
        values, their_values = (model.decision_function(X) for model in (ours, original))
        assert values.shape == their_values.shape, where
        assert form_of(ours.predict(X)) == form_of(original.predict(X)), where
        if form != "float32" or kind in (SVC, LinearSVC):  # the others are proven as they are found, in float64
            assert forms_of(ours) == forms_of(original), where
            assert form_of(values) == form_of(their_values), where
        if kind in (SVC, LinearSVC) and "class_weight" not in settings and n_told == 0:
            np.testing.assert_allclose(values, their_values, atol=0.05 * max(1.0, np.abs(values).max()), err_msg=where)
            seen["values"] += 1
        seen[form] += 1
    assert len(seen) >= 8
    assert seen["values"] >= 5 or kind not in (SVC, LinearSVC)
