"""A parameter is declared once, and fit, model files, commands and the page agree with the declaration."""

import ast
import importlib
import inspect
import json
import math
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import maxmargin
from maxmargin.cli.options import choice_of, kernel_named
from maxmargin.estimators.declarations import GAMMA, HUBER_WIDTH, KERNEL, LIMIT, LOSS, PRICE, SEED, TOL, VERBOSE
from maxmargin.estimators.parameters import Choice, Flag, Integer, Number, check_parameters, declared
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.record import read_parameters, write_parameters
from maxmargin.persistence.schema import Reader, without_numpy
from maxmargin.playground.catalogue import ALGORITHMS, value_read
from maxmargin.problems.kernels import KERNELS, Kernel
from maxmargin.problems.losses import LEAST, MOST
from maxmargin.solvers.registry import SOLVERS, Solver, register

public = [getattr(maxmargin, name) for name in maxmargin.__all__]
ESTIMATORS = [one for one in public if isinstance(one, type) and hasattr(one, "get_params")]
ORDER = maxmargin.Perceptron.parameters["order"]
DECLARED = [(kind, name) for kind in ESTIMATORS for name in kind.parameters]
each_estimator = pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
each_parameter = pytest.mark.parametrize(
    ("kind", "name"), DECLARED, ids=[f"{kind.__name__}-{name}" for kind, name in DECLARED]
)
VALUES = [
    *(None, True, False, np.True_, 0, 1, -1, 3, 2**31, 2**32, 2**62, 10**400, 0.0, 0.5, 0.75, 1.0, 1e-300, 1e300),
    *(math.inf, -math.inf, math.nan, np.float32(0.5), np.float64(math.inf), np.int64(3), Fraction(1, 2), 1j),
    *(
        "",
        "hinge",
        "l1",
        "auto",
        "scale",
        "rbf",
        "cyclic",
        "sigmoid",
        "ovo",
        "return",
        "balanced",
        "pegasos",
        "x" * 1001,
        b"ovr",
    ),
    *([], [1.0], [0.0], (1.0, 2.0), np.array([1.0, 2.0]), np.array(1.0), np.zeros(0), {}, {"a": 2}, {0: True}),
    *({None: 1.0}, {0: "1"}, maxmargin.Trace(), maxmargin.Trace(500), print, object(), np.random.RandomState(0)),
]


def parameters_in(docstring):
    """The part of a docstring that describes the parameters."""
    return inspect.cleandoc(docstring).partition("Parameters\n")[2].partition("Attributes\n")[0]


@each_estimator
def test_every_parameter_is_declared_and_nothing_else(kind):
    assert set(kind.parameters) == set(inspect.signature(kind).parameters) == set(kind().get_params())


def test_nothing_is_declared_twice():
    with pytest.raises(ValueError, match="the parameter C is declared twice"):
        declared({"C": PRICE}, C=PRICE)


@each_parameter
def test_default_is_that_of_the_constructor(kind, name):
    declaration, default = kind.parameters[name], inspect.signature(kind).parameters[name].default
    assert declaration.default == default
    assert type(declaration.default) is type(default)
    declaration.check(name, default)
    assert declaration.keeps(default)


@each_parameter
def test_docstring_names_it_with_its_default(kind, name):
    text = parameters_in(kind.__doc__)
    assert re.search(rf"\b{name}\b", text)
    told = re.search(rf"^{name} : .*default=(.*)$", text, re.MULTILINE)
    if told is not None:
        assert ast.literal_eval(told[1]) == kind.parameters[name].default


@each_parameter
def test_what_a_file_keeps_fit_takes_and_it_comes_back(kind, name):
    declaration = kind.parameters[name]
    kept = [value for value in map(without_numpy, VALUES) if declaration.keeps(value)]
    assert kept
    for value in kept:
        assert declaration.accepts(value)
        assert not callable(value)
        again = declaration.restored(json.loads(json.dumps(declaration.written(value))))
        assert type(again) is type(value)
        assert again == value or again.limit == value.limit


@each_parameter
def test_what_fit_does_not_take_is_told_in_a_sentence(kind, name):
    refused = [value for value in VALUES if not kind.parameters[name].accepts(value)]
    assert refused or name == "scoring"
    for value in refused:
        with pytest.raises(ValueError, match=rf"^{name}( must |=.* is not known)") as told:
            check_parameters(kind(**{name: value}))
        assert len(str(told.value)) < 500


@pytest.mark.parametrize(
    ("declaration", "value", "sentence"),
    [
        (PRICE, True, "x must be a positive number (or infinity for the hard margin), not True"),
        (PRICE, 10**4000, f"x must be a positive number (or infinity for the hard margin), not 1{'0' * 199}..."),
        (TOL, 1, "x must be a number above 0 and below 1, not 1: it is a relative gap"),
        (LIMIT, 2**62, "x must be a positive whole number or None, not 4611686018427387904: it must be below 2^62"),
        (LIMIT, 2.0, "x must be a positive whole number or None, not 2.0"),
        (SEED, -1, "x must be a whole number from 0 to 2^32 - 1, a RandomState or None, not -1"),
        (VERBOSE, 1.0, "x must be a whole number, not 1.0"),
        (Flag(default=True), 1, "x must be True or False, not 1"),
        (ORDER, "last", "x='last' is not known; it can be 'cyclic', 'shuffled', 'worst_first', 'drawn'"),
        (
            KERNEL,
            "sigmoid",
            "x='sigmoid' is not known: it is not positive semidefinite, so that there is no margin; "
            "it can be 'linear', 'poly', 'rbf', 'laplacian', 'precomputed' or a function",
        ),
    ],
)
def test_sentences(declaration, value, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        declaration.check("x", value)


def test_a_number_that_python_cannot_write_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"C must be a positive number .*, not so long a number"):
        PRICE.check("C", 10**5000)


@pytest.mark.parametrize(
    ("interval", "ends", "inside", "outside"),
    [
        ((0.0, 1.0), "()", [0.5, 5e-324], [0.0, 1.0, -1.0]),
        ((0.0, 1.0), "[)", [0.0, -0.0, 0.5], [1.0, -5e-324]),
        ((0.0, 1.0), "(]", [0.5, 1.0, np.float32(1.0)], [0.0, 1.0000001]),
        ((0.0, math.inf), "()", [1e308], [math.inf, math.nan, "1", None]),
    ],
)
def test_ends_of_an_interval(interval, ends, inside, outside):
    number = Number(default=0.5, interval=interval, ends=ends)
    assert all(map(number.accepts, inside))
    assert not any(map(number.accepts, outside))


@pytest.mark.parametrize(
    ("declaration", "text", "value"),
    [
        (PRICE, "2", 2),
        (PRICE, "0.5", 0.5),
        (PRICE, "inf", math.inf),
        (PRICE, "dear", "dear"),
        (GAMMA, "scale", "scale"),
        (LIMIT, "None", None),
        (LIMIT, "1e3", 1000.0),
        (VERBOSE, "true", True),
        (Flag(default=True), "False", False),
        (Flag(default=True), "1", True),
        (Flag(default=True), "perhaps", "perhaps"),
        (LOSS, "1", "1"),
        (LOSS, "none", "none"),
    ],
)
def test_texts_of_a_command(declaration, text, value):
    found = declaration.read(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=list(ALGORITHMS))
def test_whatever_the_page_sends_fit_takes(algorithm):
    declarations = getattr(maxmargin, algorithm.estimator).parameters
    for widget in algorithm.parameters:
        numbers = [widget.low, widget.high] if widget.kind in ("log", "linear", "integer") else []
        words = [value for value, _ in (*widget.choices, *widget.also)]
        for value in (*numbers, *words, widget.default):
            declarations[widget.name].check(widget.name, value_read(widget, value))


def test_a_later_parameter_is_missing_in_older_files():
    declarations = maxmargin.LinearSVM.parameters
    usual = maxmargin.LinearSVM().get_params()
    written = write_parameters(declarations, usual)
    assert usual.keys() - written.keys() == {"client", "huber_width", "memory"}
    assert read_parameters(declarations, Reader().fields(written, "parameters")) == usual
    chosen = usual | {"loss": "huber_hinge", "huber_width": 0.25}
    written = write_parameters(declarations, chosen)
    assert written["huber_width"] == 0.25
    assert read_parameters(declarations, Reader().fields(written, "parameters")) == chosen


CHOICES = [(kind, name) for kind, name in DECLARED if isinstance(kind.parameters[name], Choice)]


@pytest.mark.parametrize(("kind", "name"), CHOICES, ids=[f"{kind.__name__}-{name}" for kind, name in CHOICES])
def test_a_word_that_is_registered_later_is_known_to_all(kind, name, monkeypatch):
    choice = kind.parameters[name]
    assert not choice.accepts("of_my_own")
    if name == "solver":
        monkeypatch.setattr(
            "maxmargin.solvers.registry.SOLVERS", {kind: dict(known) for kind, known in SOLVERS.items()}
        )
        for problem in SOLVERS:
            register(Solver("of_my_own", "Nothing.", problem, "", ""))
    elif name == "kernel":
        monkeypatch.setitem(KERNELS, "of_my_own", type("OfMyOwn", (Kernel,), {"name": "of_my_own"}))
    else:
        module, _, attribute = choice.home.partition(":")
        monkeypatch.setattr(importlib.import_module(module), attribute, [*choice.names(), "of_my_own"])
    choice.check(name, "of_my_own")
    assert choice.keeps("of_my_own")
    written = write_parameters(kind.parameters, kind().get_params() | {name: "of_my_own"})
    assert read_parameters(kind.parameters, Reader().fields(written, "parameters"))[name] == "of_my_own"
    assert "of_my_own" in choice.words_for_a_file()
    assert ("of_my_own", "of my own") in choice.widget(name, choice.default).choices
    assert choice.read("of_my_own") == "of_my_own"
    assert choice_of(choice).parser("of_my_own") == "of_my_own"
    if name == "kernel":
        assert kernel_named("of_my_own") == "of_my_own"
    monkeypatch.undo()
    with pytest.raises(Refusal, match="not 'of_my_own'; what was registered for the fit must be registered here, too"):
        read_parameters(kind.parameters, Reader().fields(written, "parameters"))


def test_page_leaves_out_what_it_cannot_show():
    shown = dict(KERNEL.widget("kernel", "rbf").choices)
    assert list(shown) == ["rbf", "poly", "linear", "laplacian"]
    assert shown["laplacian"] == "laplacian, exp(-gamma |x - x'|_1)"
    with pytest.raises(NotImplementedError, match="nothing to show a ClassWeight with"):
        maxmargin.LinearSVM.parameters["class_weight"].widget("class_weight", None)


def test_a_kind_of_its_own():
    class Even(Integer):
        def fits(self, value):
            return super().fits(value) and value % 2 == 0

    even = Even(default=2, says="an even number")
    assert even.accepts(np.int64(4))
    with pytest.raises(ValueError, match="x must be an even number, not 3"):
        even.check("x", 3)


def test_declarations_load_nothing():
    script = "import sys, maxmargin.estimators.declarations; print(*sys.modules)"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not set(finished.stdout.split()) & {"numpy", "scipy", "sklearn", "numba"}


def test_help_names_all_members_that_are_ours():
    """Help is shown without loading the members, so that it names them by hand."""
    script = "from maxmargin.problems import kernels, losses; print(*losses.LOSSES, '/', *kernels.KERNELS)"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    losses, kernels = (names.split() for names in finished.stdout.split("/"))
    assert all(name in LOSS.option for name in losses)
    assert all(name in KERNEL.option for name in kernels if name != "function")  # code is in no command


def test_the_width_of_a_loss_ends_where_every_bend_does():
    assert HUBER_WIDTH.interval == (LEAST, MOST)
