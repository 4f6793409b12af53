"""A number is a number: True and False are refused at fit, for every numeric parameter of everything public."""

import math
import re

import numpy as np
import pytest

import maxmargin
from maxmargin.data.synthetic import overlapping
from maxmargin.estimators.parameters import Grid, Integer, Number

ESTIMATORS = [
    maxmargin.HardMarginSVM,
    maxmargin.KernelPerceptron,
    maxmargin.KernelSVM,
    maxmargin.LinearSVM,
    maxmargin.LinearSVMCV,
    maxmargin.MarginPerceptron,
    maxmargin.Perceptron,
    maxmargin.StochasticSVM,
    maxmargin.Winnow,
]
BOOLEANS = [True, False, np.True_, np.False_]
X, Y = overlapping(20)


def numeric_parameters(kind):
    """Those that are declared to be numbers; verbose is a switch, too."""
    numbers = [name for name, one in kind.parameters.items() if isinstance(one, Number | Integer | Grid)]
    return [name for name in numbers if name != "verbose"]


def test_these_are_all_estimators():
    public = {getattr(maxmargin, name) for name in maxmargin.__all__}
    assert {one for one in public if isinstance(one, type) and hasattr(one, "get_params")} == set(ESTIMATORS)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_declarations_tell_all_numbers(kind):
    """Whatever is a number by default is declared to be one; what is None by default is so by its name."""
    defaults = kind().get_params()
    numbers = {name for name, value in defaults.items() if isinstance(value, int | float) and value is not False}
    numbers -= {name for name, value in defaults.items() if isinstance(value, bool)} | {"verbose"}
    optional = {
        "approximation",
        "cv",
        "epsilon",
        "guess",
        "huber_width",
        "max_iter",
        "max_time",
        "max_updates",
        "stream_rows",
    }
    words = {"gamma", "step"}  # or a number
    assert set(numeric_parameters(kind)) == numbers | ((optional | words) & defaults.keys())


@pytest.mark.parametrize("value", BOOLEANS, ids=repr)
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in ESTIMATORS for name in numeric_parameters(kind)])
def test_a_boolean_is_refused_at_fit(kind, name, value):
    with pytest.raises(ValueError, match=rf"^{name} must be .*{re.escape(repr(value))}"):
        kind(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("kind", [maxmargin.Perceptron, maxmargin.StochasticSVM])
def test_a_boolean_is_refused_at_partial_fit(kind):
    for name in numeric_parameters(kind):
        with pytest.raises(ValueError, match=f"^{name} must be"):
            kind(**{name: True}).partial_fit(X, Y, classes=np.unique(Y))


@pytest.mark.parametrize("kind", [maxmargin.LinearSVM, maxmargin.KernelSVM, maxmargin.StochasticSVM])
@pytest.mark.parametrize("value", BOOLEANS, ids=repr)
def test_a_class_weight_is_a_number(kind, value):
    with pytest.raises(ValueError, match="class_weight must hold numbers"):
        kind(class_weight={Y[0]: value}).fit(X, Y)


@pytest.mark.parametrize("value", BOOLEANS, ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        lambda value: maxmargin.path(X, Y, Cs=value),
        lambda value: maxmargin.path(X, Y, Cs=[1.0, value]),
        lambda value: maxmargin.path(X, Y, Cs=np.array([value])),
        lambda value: maxmargin.path(X, Y, tol=value),
        lambda value: maxmargin.path(X, Y, max_time=value),
        lambda value: maxmargin.separability(X, Y, max_time=value),
        lambda value: maxmargin.audit(maxmargin.LinearSVM().fit(X, Y), X, Y, tol=value),
        lambda value: maxmargin.audit(maxmargin.LinearSVM().fit(X, Y), X, Y, max_time=value),
        lambda value: maxmargin.C_from(norm_factor=value),
        lambda value: maxmargin.C_from(mean_over=value),
        lambda value: maxmargin.norm_factor_from(value),
        lambda value: maxmargin.loss_factor_from(value),
        lambda value: maxmargin.Trace(limit=value),
    ],
)
def test_functions_refuse_booleans_too(call, value):
    with pytest.raises(ValueError, match=r"must|at least 2"):
        call(value)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_fit_takes_a_file_can_hold(tmp_path):
    """verbose=True is a switch that scikit-learn knows, and stays one."""
    for kind in ESTIMATORS:
        model = kind(verbose=False)
        if kind is maxmargin.HardMarginSVM:
            model.set_params(on_inseparable="return")
        maxmargin.save(model.fit(X, Y), tmp_path / "model")
        assert maxmargin.load(tmp_path / "model").verbose is False


def test_numbers_of_numpy_are_numbers():
    svm = maxmargin.LinearSVM(np.float32(1.0), max_iter=np.int64(1000), tol=np.float64(1e-3)).fit(X, Y)
    assert svm.certificate_.is_optimal
    assert maxmargin.LinearSVM(math.inf, tol=1e-3).fit([[0.0], [1.0]], [0, 1]).street_ == pytest.approx(1.0)
