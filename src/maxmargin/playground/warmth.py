"""Compiled code is made when it is first called, which takes seconds: here it is called before anybody waits for it.

What is compiled depends on the algorithm and on the choices among its parameters, not on the points. A state whose
choices nobody has had yet is fitted once to a few points, without a time limit; then it counts as warm.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from maxmargin.data import synthetic
from maxmargin.estimators.convergence import collected
from maxmargin.estimators.widgets import Widget
from maxmargin.playground.catalogue import ALGORITHMS, Algorithm

KEY = tuple[Any, ...]
warm: set[KEY] = set()
guard = threading.Lock()


def key_of(algorithm: Algorithm, parameters: dict[str, Any]) -> KEY:
    """The algorithm and those of its parameters that choose among loops: words, switches, an infinite price."""
    chosen = [
        (name, value if isinstance(value, str | bool) else repr(value))
        for name, value in parameters.items()
        if isinstance(value, str | bool) or value is None or value == np.inf
    ]
    return (algorithm.name, *chosen)


def warm_up(algorithm: Algorithm, parameters: dict[str, Any]) -> None:
    """Have the loops of a state compiled, if they are not; whoever comes meanwhile waits."""
    key = key_of(algorithm, parameters)
    if key in warm:
        return
    with guard:
        if key in warm:
            return
        for X, y in (synthetic.street(12)[:2], synthetic.xor()):
            model = algorithm.make(parameters)
            with suppress(ValueError), collected():  # no plane, or steps that are too long: not of interest here
                model.fit(X, y)
        warm.add(key)


def all_choices() -> Iterator[tuple[Algorithm, dict[str, Any]]]:
    """Every algorithm with its defaults first, then with every other choice."""
    rest = []
    for algorithm in ALGORITHMS.values():
        choices = [
            [(parameter.name, value) for value in values_that_choose(parameter)] for parameter in algorithm.parameters
        ]
        found = [algorithm.read(dict(combination)) for combination in itertools.product(*choices)]
        yield algorithm, algorithm.read({})
        rest += [(algorithm, parameters) for parameters in found]
    yield from rest


def values_that_choose(parameter: Widget) -> list[Any]:
    """All words; a number, and infinity where it may be; of the others the default."""
    infinite = ["inf"] if any(value == "inf" for value, _ in parameter.also) else []
    return [value for value, _ in parameter.choices] or [parameter.default, *infinite]


def warm_up_all(stop: threading.Event) -> None:
    """One after the other, until all are warm; a state that somebody waits for goes first."""
    for algorithm, parameters in all_choices():
        if stop.wait(0.01):
            return
        warm_up(algorithm, parameters)
