"""The parameters of every estimator as a file holds them: which there are, and which values each can have.

The tables are version 1 of the schema. They list what an estimator's own checks allow and a file can hold: a function,
a random generator or a cross-validation object is code or state, and is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.proof import spell_out
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.fields import Fields, is_text, is_whole, shown
from maxmargin.problems.losses import LOSSES
from maxmargin.problems.trace import Trace


class Rule(NamedTuple):
    """Which values a parameter can have, and how a sentence says so."""

    says: str
    fits: Callable[[Any], bool]

    def or_none(self) -> Rule:
        return Rule(f"{self.says} or None", lambda value: value is None or self.fits(value))


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_positive(value: Any) -> bool:
    return is_number(value) and 0.0 < value < math.inf


def is_class_weight(value: Any) -> bool:
    if not isinstance(value, dict):
        return bool(value is None or value == "balanced")
    return all(isinstance(label, str | int | float) and is_number(weight) for label, weight in value.items())


def is_grid(value: Any) -> bool:
    return is_whole(value) if not isinstance(value, list) else all(map(is_positive, value))


def one_of(*options: str) -> Rule:
    return Rule(f"one of {', '.join(map(repr, options))}", lambda value: isinstance(value, str) and value in options)


FLAG = Rule("True or False", lambda value: isinstance(value, bool))
POSITIVE = Rule("a positive number", is_positive)
GAP = Rule("a number above 0 and below 1", lambda value: is_positive(value) and value < 1.0)
PRICE = Rule("a positive number or infinity", lambda value: is_positive(value) or (is_number(value) and value > 0))
COUNT = Rule("a positive whole number", lambda value: is_whole(value) and 0 < value < 2**62)
SEED = Rule("a whole number from 0 to 2^32 - 1", lambda value: is_whole(value) and 0 <= value < 2**32).or_none()
VERBOSE = Rule("a whole number", lambda value: isinstance(value, int) and abs(value) < 2**31)
CLASS_WEIGHT = Rule('None, "balanced" or pairs of a label and a weight', is_class_weight)
RECORD = Rule("True, False or a Trace", lambda value: isinstance(value, bool | Trace))
TEXT = Rule("a text", is_text)

COMMON = {"multi_class": one_of("ovr", "ovo"), "max_time": POSITIVE.or_none(), "verbose": VERBOSE}
MISTAKE_DRIVEN = COMMON | {
    "order": one_of("cyclic", "shuffled", "worst_first"),
    "fit_intercept": FLAG,
    "max_updates": COUNT.or_none(),
    "record": RECORD,
    "random_state": SEED,
}
KERNEL = {
    "kernel": one_of("linear", "poly", "rbf", "precomputed"),
    "gamma": Rule(
        'a positive number, "scale" or "auto"',
        lambda value: value in ("scale", "auto") if isinstance(value, str) else is_positive(value),
    ),
    "coef0": Rule("a number that is 0 or more", lambda value: is_number(value) and 0.0 <= value < math.inf),
    "degree": COUNT,
}
LINEAR = COMMON | {
    "loss": Rule("the name of a loss that is known here", lambda value: isinstance(value, str) and value in LOSSES),
    "huber_width": POSITIVE.or_none(),
    "fit_intercept": FLAG,
    "tol": GAP,
    "solver": one_of("auto", "interior_point", "sieve", "coordinate_descent", "newton", "cvxpy"),
    "class_weight": CLASS_WEIGHT,
    "max_iter": COUNT.or_none(),
}

PARAMETERS: Mapping[str, Mapping[str, Rule]] = {
    "Perceptron": MISTAKE_DRIVEN | {"rate": POSITIVE, "average": FLAG},
    "MarginPerceptron": MISTAKE_DRIVEN | {"guess": POSITIVE.or_none()},
    "Winnow": MISTAKE_DRIVEN
    | {
        "epsilon": Rule("a number in (0, 1/2]", lambda value: is_positive(value) and value <= 0.5).or_none(),
        "balanced": FLAG,
    },
    "HardMarginSVM": COMMON
    | {
        "norm": one_of("l2", "l1"),
        "fit_intercept": FLAG,
        "tol": GAP,
        "solver": one_of("auto", "hulls", "coordinate_descent", "linear_program", "cvxpy"),
        "on_inseparable": one_of("raise", "return"),
    },
    "LinearSVM": LINEAR | {"C": PRICE, "warm_start": FLAG},
    "LinearSVMCV": LINEAR
    | {
        "Cs": Rule("a whole number or a list of positive numbers", is_grid),
        "cv": COUNT.or_none(),
        "scoring": TEXT.or_none(),
    },
    "KernelSVM": COMMON
    | KERNEL
    | {
        "C": PRICE,
        "tol": GAP,
        "class_weight": CLASS_WEIGHT,
        "cache_size": POSITIVE,
        "approximation": COUNT.or_none(),
        "max_iter": COUNT.or_none(),
    },
    "KernelPerceptron": COMMON
    | KERNEL
    | {"fit_intercept": FLAG, "max_iter": COUNT, "shuffle": FLAG, "random_state": SEED},
    "StochasticSVM": COMMON
    | KERNEL
    | {
        "C": POSITIVE,
        "step": Rule('"pegasos" or a positive number', lambda value: value == "pegasos" or is_positive(value)),
        "project": FLAG,
        "average": FLAG,
        "fit_intercept": FLAG,
        "tol": GAP,
        "max_iter": COUNT,
        "shuffle": FLAG,
        "random_state": SEED,
        "stream_rows": COUNT.or_none(),
        "class_weight": CLASS_WEIGHT,
        "warm_start": FLAG,
    },
}

LATER = {"huber_width": None}  # what older files lack: it is written only where it says something


def write_parameters(kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as a document holds them, if it can."""
    written = {}
    for name, rule in PARAMETERS[kind].items():
        value = without_numpy(values[name])
        if name in LATER and value == LATER[name]:
            continue
        if not rule.fits(value):
            code = "; a function is code, and a model file holds none" if callable(value) else ""
            raise Refusal(f"the parameter {name}={shown(value)} cannot be kept: a file can hold {rule.says}{code}")
        if isinstance(value, dict):
            value = {"pairs": [[label, weight] for label, weight in value.items()]}
        elif isinstance(value, Trace):
            value = {"limit": value.limit}
        written[name] = spell_out(value)
    return written


def read_parameters(kind: str, fields: Fields) -> dict[str, Any]:
    """The way back: all parameters of the estimator, and no others."""
    values: dict[str, Any] = {}
    with fields:
        for name, rule in PARAMETERS[kind].items():
            if name in LATER and name not in fields.left:
                values[name] = LATER[name]
                continue
            value = restored(fields.take(name), name)
            if not rule.fits(value):
                raise Refusal(f"the parameter {name} must be {rule.says}, not {shown(value)}")
            values[name] = value
    return values


def restored(value: Any, name: str) -> Any:
    """A class weight, a trace or a number that JSON cannot hold."""
    if not isinstance(value, dict):
        return value
    if set(value) == {"pairs"} and isinstance(value["pairs"], list):
        pairs = value["pairs"]
        if all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str | int | float) for pair in pairs):
            return dict(pairs)
    if set(value) == {"limit"} and is_whole(value["limit"]) and 2 <= value["limit"] < 2**31:
        return Trace(value["limit"])
    if set(value) == {"number"} and value["number"] == "inf":
        return math.inf
    raise Refusal(f"the parameter {name} has a value that this version does not know")


def without_numpy(value: Any) -> Any:
    """Python's own numbers, lists and dicts in place of NumPy's."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [without_numpy(entry) for entry in value]
    if isinstance(value, dict):
        return {without_numpy(label): without_numpy(weight) for label, weight in value.items()}
    return value
