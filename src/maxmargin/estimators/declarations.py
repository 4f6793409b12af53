"""The parameters of every estimator, each declared once: those that several share, then one table for each.

It is read by estimators, model files, commands and the page, and says nothing of how they are used. Nothing heavy is
imported, so that the help of a command can be made of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from maxmargin.estimators.parameters import (
    Choice,
    ClassWeight,
    Declarations,
    Flag,
    Grid,
    Integer,
    Number,
    Record,
    Size,
    Text,
    declared,
    is_boolean,
)
from maxmargin.problems.step_lengths import inverse_scaling

MAX_TIME = Number(
    default=None,
    says="a positive number of seconds",
    also={None: ""},
    option="Stop then, with the bounds that are proven so far.",
)
VERBOSE = Integer(default=0, says="a whole number", least=1 - 2**31, most=2**31 - 1, also={True: "", False: ""})
COMMON: Declarations = {"max_time": MAX_TIME, "verbose": VERBOSE}

MULTI_CLASS = Choice(
    default="ovr",
    home="maxmargin.problems.choices:Strategy",
    label="Three classes",
    help="A plane for each class against the rest, or for each pair of classes.",
    labels={"ovr": "each against the rest", "ovo": "each pair"},
    option="A plane for each class against the rest, or for each pair.",
)
BIAS = Flag(
    default=True,
    label="Bias",
    help="Whether to fit an intercept.",
    option="Only planes through the origin.",
)
UNIT_ROWS = Flag(
    default=False,
    later=True,
    label="Rows at length 1",
    help="Each row, with the 1 of the bias, is divided by its length: the margin is then a cosine.",
)
AVERAGE = Flag(
    default=False,
    label="Average",
    help="Show the mean of all planes on the way instead of the last one.",
    option="Of perceptron and stochastic: the mean of all planes on the way, not the last one.",
)
TOL = Number(
    default=1e-4,
    says="a number above 0 and below 1",
    why=": it is a relative gap",  # from 1 on it says nothing, because w = 0 or no plane at all has it
    interval=(0.0, 1.0),
    label="Gap to prove",
    help="The relative gap between the proven bounds at which to stop.",
    shown=(1e-9, 0.1),
    option="The relative gap that is to be proven.",
)
LIMIT = Integer(default=None, also={None: ""})
SWEEPS = Integer(default=1000, label="Sweeps", shown=(1, 2000))
CLASS_WEIGHT = ClassWeight(option="Repeat it for each class; or: balanced.")
WARM_START = Flag(default=False)
MEMORY = Size(default=None, also={None: ""}, later=True)
CLIENT = Text(
    default=None,
    says="a distributed.Client, the address of a scheduler",
    also={None: ""},
    takes=lambda given: any(callable(getattr(type(given), name, None)) for name in ("submit", "fold")),
    later=True,
    of_this_process=True,
)

PRICE = Number(
    default=1.0,
    says="a positive number (or infinity for the hard margin)",
    also={math.inf: "infinite: the hard margin"},
    label="C, the price of slack",
    help="How much a unit of slack costs: a small C buys a wide street, a large C few violations.",
    shown=(1e-3, 1e4),
    option="The price of slack; inf: the hard margin.",
)
LOSS = Choice(
    default="hinge",
    home="maxmargin.problems.losses:LOSSES",
    label="Loss",
    help="What slack costs: its amount, its square, or a square that becomes a straight line at its knee.",
    option="What slack costs: hinge, squared_hinge, huber_hinge or modified_huber.",
)
HUBER_WIDTH = Number(
    default=None,
    says="a number between 1e-09 and 1e+09",
    interval=(1e-9, 1e9),
    ends="[]",
    also={None: ""},
    later=True,
    label="Width",
    help="Of the Huber hinge: how much slack is paid by its square before the line is straight.",
    shown=(0.01, 10.0),
    shown_if=("loss", ("huber_hinge",)),
    option="Of huber_hinge: the slack from which on it is straight.",
)
NORM = Choice(
    default="l2",
    home="maxmargin.problems.choices:Norm",
    label="Distance",
    help="l2 is the usual distance; l1 of w measures by the largest coordinate, and gives sparse planes.",
)


def is_random_state(value: Any) -> bool:
    """What scikit-learn takes beside numbers."""
    import numpy as np

    return value is np.random or isinstance(value, np.random.RandomState)


class Step(Number):
    """The length of a step: a number, or a text that says how it falls with t."""

    def fits(self, value: Any) -> bool:
        return super().fits(value) or (isinstance(value, str) and inverse_scaling(value) is not None)


SHUFFLE = Flag(default=False, label="Shuffle", help="Visit the rows in a new order in each sweep.")
SEED = Integer(
    default=0,
    says="a whole number from 0 to 2^32 - 1, a RandomState",
    holds="a whole number from 0 to 2^32 - 1 or None",
    least=0,
    most=2**32 - 1,
    also={None: ""},
    takes=is_random_state,
    label="Seed",
    help="Of the shuffled order: another seed, another run.",
    shown=(0, 999),
    shown_if=("shuffle", (True,)),
)


def kernels_with(number: str) -> Callable[[], tuple[str, tuple[Any, ...]]]:
    """Where the number of a kernel has a meaning: at all kernels that have it when somebody asks."""

    def condition() -> tuple[str, tuple[Any, ...]]:
        from maxmargin.problems.kernels import KERNELS

        return "kernel", tuple(name for name, kind in KERNELS.items() if number in kind.parameters)

    return condition


def title_of_kernel(name: str) -> str:
    from maxmargin.problems.kernels import KERNELS

    formula = KERNELS[name].formula.format(gamma="gamma", coef0="r", degree="p")
    return f"{name.replace('_', ' ')}, {formula}" if formula else name.replace("_", " ")


KERNEL = Choice(
    default="rbf",
    home="maxmargin.problems.kernels.base:names",
    says=" or a function",
    takes=callable,
    hints={"sigmoid": "it is not positive semidefinite, so that there is no margin"},
    label="Kernel",
    help="The space in which the plane is flat; here it is seen bent.",
    labels={"rbf": "rbf, exp(-gamma |x - x'|²)", "poly": "poly, (gamma x.x' + r)^p", "linear": "linear, x.x'"},
    title=title_of_kernel,
    shown="maxmargin.problems.kernels.base:names_of_points",
    option="linear (0), poly (1), rbf (2), laplacian; or precomputed (4): DATA is the table of its values.",
)
LINEAR_KERNEL = replace(KERNEL, default="linear")
GAMMA = Number(
    default="scale",
    says='a positive number, "scale" or "auto"',
    also={"scale": "1 / (2 variance of the points)", "auto": ""},
    label="gamma",
    help="How fast the kernel falls with distance (rbf, laplacian), or how much x.x' counts (poly).",
    shown=(1e-3, 1e3),
    shown_if=kernels_with("gamma"),
    option="Of poly, rbf and laplacian: a number, scale or auto.",
)
COEF0 = Number(
    default=0.0,
    says="0 or more",
    why=": otherwise the kernel has no space",
    holds="a number that is 0 or more",
    ends="[)",
    label="r",
    help="The constant of the polynomial: it lets lower powers in.",
    shown=(0.0, 10.0),
    scale="linear",
    shown_if=kernels_with("coef0"),
    option="Of poly.",
)
DEGREE = Integer(
    default=3,
    label="p, the degree",
    help="The power of the polynomial.",
    shown=(1, 8),
    shown_if=kernels_with("degree"),
    option="Of poly.",
)
NUMBERS_OF_A_KERNEL: Declarations = {"gamma": GAMMA, "coef0": COEF0, "degree": DEGREE}

ORDER = Choice(
    default="cyclic",
    home="maxmargin.problems.choices:Order",
    label="Order",
    help="Which row is visited next: as they lie, in a new order in each sweep, the worst one, or any one, drawn anew.",
    labels={"cyclic": "as they lie", "drawn": "drawn at random"},
)
SEED_OF_THE_ORDER = replace(SEED, shown_if=("order", ("shuffled", "drawn")))

MISTAKE_DRIVEN = declared(
    COMMON,
    multi_class=MULTI_CLASS,
    order=ORDER,
    fit_intercept=BIAS,
    normalize_rows=UNIT_ROWS,
    max_updates=LIMIT,
    record=Record(default=False),
    random_state=SEED_OF_THE_ORDER,
)
PERCEPTRON = declared(
    MISTAKE_DRIVEN,
    rate=Number(
        default=1.0,
        label="Rate",
        help="How far an update moves: from zero it scales w, and changes no decision.",
        shown=(0.01, 100.0),
    ),
    average=AVERAGE,
)
MARGIN_PERCEPTRON = declared(
    MISTAKE_DRIVEN,
    guess=Number(
        default=None,
        also={None: "none: start from R and halve"},
        label="Guess G of the margin",
        help="A row nearer to the plane than G/2 is a violation.",
        shown=(1e-3, 1e3),
    ),
    share=Number(
        default=0.25,
        says="a number above 0 and below 1",
        interval=(0.0, 1.0),
        later=True,
        label="Share of the best margin",
        help="What is guaranteed: a row nearer to the plane than sqrt(share) G is a violation, and G shrinks by that.",
        shown=(0.05, 0.95),
    ),
)
WINNOW = declared(
    MISTAKE_DRIVEN,
    epsilon=Number(
        default=None,
        says="a number in (0, 1/2]",
        interval=(0.0, 0.5),
        ends="(]",
        also={None: "none: start from 1/2 and halve"},
        label="epsilon",
        help="The step: a weight is multiplied by (1 - epsilon)^(-a).",
        shown=(1e-3, 0.5),
    ),
    balanced=Flag(default=True, label="Balanced", help="Two weights for each column, so that w can have either sign."),
)
HARD_MARGIN_SVM = declared(
    COMMON,
    multi_class=MULTI_CLASS,
    norm=NORM,
    fit_intercept=BIAS,
    normalize_rows=UNIT_ROWS,
    tol=replace(TOL, default=1e-9),
    solver=Choice(
        default="auto",
        home="maxmargin.solvers.registry:names_of",
        of=("separation",),
        label="Solver",
        help="Which algorithm finds it: the nearest points of the hulls, or one dual variable after the other.",
        labels={"auto": "chosen", "hulls": "nearest points of the hulls"},
        shown="maxmargin.solvers.registry:names_to_learn_by",
        shown_if=("norm", ("l2",)),
    ),
    on_inseparable=Choice(default="raise", home="maxmargin.estimators.hard_margin:OnInseparable"),
    memory=MEMORY,
    client=CLIENT,
)
SOFT_MARGIN = declared(
    COMMON,
    multi_class=MULTI_CLASS,
    loss=LOSS,
    huber_width=HUBER_WIDTH,
    fit_intercept=BIAS,
    tol=TOL,
    solver=Choice(
        default="auto",
        home="maxmargin.solvers.registry:names_of",
        of=("soft margin",),
        label="Solver",
        help="Which algorithm closes the gap.",
        labels={"auto": "chosen"},
        shown="maxmargin.solvers.registry:names_to_learn_by",
    ),
    class_weight=CLASS_WEIGHT,
    max_iter=LIMIT,
)
LINEAR_SVM = declared(SOFT_MARGIN, C=PRICE, warm_start=WARM_START, memory=MEMORY, client=CLIENT)
LINEAR_SVM_CV = declared(
    SOFT_MARGIN,
    Cs=Grid(default=10),
    cv=Integer(  # what it can be beside a number, scikit-learn decides
        default=None,
        says="a number of folds, a splitter",
        holds="a positive whole number or None",
        also={None: ""},
        takes=lambda cv: not is_boolean(cv),
    ),
    scoring=Text(default=None, also={None: ""}, takes=lambda scoring: True),  # so here
)
KERNEL_SVM = declared(
    COMMON,
    {"kernel": KERNEL, **NUMBERS_OF_A_KERNEL},
    multi_class=replace(MULTI_CLASS, default="ovo"),
    C=PRICE,
    loss=replace(LOSS, later=True),
    huber_width=HUBER_WIDTH,
    fit_intercept=replace(BIAS, later=True),
    tol=replace(TOL, default=1e-3),
    solver=Choice(
        default="auto",
        home="maxmargin.solvers.registry:names_of",
        of=("kernel margin",),
        later=True,
    ),
    class_weight=CLASS_WEIGHT,
    cache_size=Number(default=1000.0),
    approximation=LIMIT,
    max_iter=LIMIT,
)
KERNEL_PERCEPTRON = declared(
    COMMON,
    {"kernel": KERNEL, **NUMBERS_OF_A_KERNEL},
    multi_class=MULTI_CLASS,
    fit_intercept=BIAS,
    max_iter=replace(SWEEPS, help="After so many sweeps it gives up."),
    order=replace(ORDER, later=True),
    record=Record(default=False, later=True),
    random_state=SEED_OF_THE_ORDER,
)
STOCHASTIC_SVM = declared(
    COMMON,
    {"kernel": LINEAR_KERNEL, **NUMBERS_OF_A_KERNEL},
    multi_class=MULTI_CLASS,
    C=replace(PRICE, says="a positive number", why="; LinearSVM finds the hard margin, C = inf", also={}),
    step=Step(
        default="pegasos",
        says='"pegasos", "damped", a positive number, a text like "0.1/sqrt(t)" or "0.1/t^0.25", or a function of t',
        holds='"pegasos", "damped", a positive number or a text like "0.1/sqrt(t)"',
        also={
            "pegasos": "Pegasos: 1 / (lambda t)",
            "damped": "damped: 1 / (lambda t + |x|²)",
            "1/sqrt(t)": "1 / sqrt(t)",
            "1/t": "1 / t",
        },
        takes=callable,
        label="Step",
        help="eta_t, how far visit t moves: 1 / (lambda t), damped, 1 / sqrt(t), 1 / t, or always the same.",
        shown=(1e-4, 1.0),
        option="Of stochastic, at visit t: pegasos, damped, a number, or such as 0.1/sqrt(t) and 0.1/t^0.25.",
    ),
    project=Flag(
        default=False, label="Project", help="After each step move w back into the ball that holds the best w."
    ),
    average=AVERAGE,
    fit_intercept=replace(BIAS, shown_if=("kernel", ("linear",))),
    tol=replace(TOL, default=1e-2),
    max_iter=replace(SWEEPS, default=None, also={None: ""}, help="How often each row is visited at most."),
    shuffle=replace(SHUFFLE, default=True),
    record=Record(default=False, later=True),
    random_state=SEED,
    stream_rows=LIMIT,
    class_weight=CLASS_WEIGHT,
    warm_start=WARM_START,
)
