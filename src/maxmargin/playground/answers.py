"""Which question is answered by whom, and what there is to choose from."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import maxmargin
from maxmargin.playground.catalogue import ALGORITHMS
from maxmargin.playground.challenge import challenge
from maxmargin.playground.code import code
from maxmargin.playground.curves import loss, path
from maxmargin.playground.exercises import graded, listed
from maxmargin.playground.lessons import lessons
from maxmargin.playground.messages import LARGEST, MOST_BYTES, MOST_POINTS, MOST_SECONDS, Ask, Question, State
from maxmargin.playground.multiplier import multiplier
from maxmargin.playground.presets import presets
from maxmargin.playground.shown import answer
from maxmargin.playground.steps import steps
from maxmargin.playground.tables import points_in
from maxmargin.playground.verification import verify


def reply(ask: Ask, is_stopped: Callable[[], bool]) -> dict[str, Any]:
    """The answer to a question; `Stopped` where nobody waits for it, `Refusal` where it cannot be answered."""
    if ask.question is Question.CATALOGUE:
        return catalogue()
    if ask.question is Question.READ_CSV:
        assert ask.text is not None
        return points_in(ask.text)
    if ask.question is Question.MULTIPLIER:
        return multiplier(ask.given)
    if ask.question is Question.EXERCISE:
        return graded(ask.given)
    assert ask.state is not None
    assert ask.view is not None
    if ask.question in OF_A_STATE:
        return OF_A_STATE[ask.question](ask.state, is_stopped)
    if ask.question is Question.CHALLENGE:
        assert ask.line is not None
        return challenge(ask.state, ask.line, ask.view, is_stopped)
    return (steps if ask.question is Question.STEPS else answer)(ask.state, ask.view, is_stopped)


OF_A_STATE: dict[Question, Callable[[State, Callable[[], bool]], dict[str, Any]]] = {
    Question.CODE: code,
    Question.VERIFY: verify,
    Question.LOSS: loss,
    Question.PATH: path,
}


def catalogue() -> dict[str, Any]:
    """All that the page can offer: the algorithms with what is registered by now."""
    return {
        "algorithms": [algorithm.to_json() for algorithm in ALGORITHMS.values()],
        **examples(),
        "start": {"preset": "separable", "algorithm": "hard_margin"},
        "limits": {"points": MOST_POINTS, "coordinate": LARGEST, "bytes": MOST_BYTES, "seconds": MOST_SECONDS},
        "version": maxmargin.__version__,
    }


@functools.cache
def examples() -> dict[str, Any]:
    return {"presets": presets(), "lessons": lessons(), "exercises": listed()}
