"""Which question is answered by whom, and what there is to choose from.

"catalogue"
    algorithms  [{"name": "linear_svm", "title": , "sentence": , "estimator": "LinearSVM",
                  "steps": "updates" or "rounds",
                  "parameters": [{"name": , "label": , "help": sentence, "kind": , "default": , ...}, ...]}, ...]
                kind  "log" or "linear": a number, with "low" and "high"
                      "integer": a whole number, with "low" and "high"
                      "choice": one of "choices", [{"value": , "label": }, ...]
                      "switch": true or false
                also  [{"value": "inf", "label": "infinite: the hard margin"}, ...]: values beside the numbers, or []
                shown_if  {"kernel": ["poly", "rbf"]}: it matters only where those parameters have one of these; or null
    presets     [{"name": , "title": , "sentence": , "points": [...]}, ...]
    lessons     [{"name": , "title": , "sentences": [three], "question": , "answer": sentence that answers it,
                  "state": {...}, "b": null or {"algorithm": , "parameters": } for the second panel,
                  "mode": "answer", "steps", "challenge" or "multiplier", "open": names of cards, "exercise": name of
                  an exercise or null}, ...]
    exercises   [{"number": 1, "name": "separate", "title": }, ...]: what "exercise" can be asked for
    start       {"preset": name, "algorithm": name}: what is seen first
    limits      {"points": 500, "coordinate": 1e6, "bytes": 262144, "seconds": 2}
    version     of maxmargin
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import maxmargin
from maxmargin.persistence.errors import Refusal
from maxmargin.playground.catalogue import ALGORITHMS
from maxmargin.playground.challenge import challenge
from maxmargin.playground.code import code
from maxmargin.playground.curves import loss, path
from maxmargin.playground.exercises import graded, listed
from maxmargin.playground.game import game
from maxmargin.playground.lessons import lessons
from maxmargin.playground.many_classes import answer_for_many
from maxmargin.playground.messages import LARGEST, MOST_BYTES, MOST_POINTS, MOST_SECONDS, Question, State
from maxmargin.playground.multiplier import multiplier
from maxmargin.playground.presets import presets
from maxmargin.playground.probability import probability
from maxmargin.playground.shown import answer
from maxmargin.playground.steps import steps
from maxmargin.playground.tables import points_in
from maxmargin.playground.two_margins import both_margins
from maxmargin.playground.verification import verify
from maxmargin.plots.shapes import Box

Answering = Callable[..., dict[str, Any]]  # of what the question brings, and of a state also of `is_stopped`


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


def no_steps(state: State, view: Box, is_stopped: Callable[[], bool]) -> dict[str, Any]:
    words = "Steps are shown for two classes: of three, each plane is a run of its own."
    return {"kind": state.algorithm.steps, "total": 0, "words": words, "steps": []}


def refused(sentence: str) -> Answering:
    """For a question about two classes."""

    def refuse(*given: Any) -> dict[str, Any]:
        raise Refusal(f"{sentence}: delete the triangles, and two classes are left.", "points")

    return refuse


ANSWERS: dict[Question, Answering] = {
    Question.CATALOGUE: catalogue,
    Question.READ_CSV: points_in,
    Question.MULTIPLIER: multiplier,
    Question.EXERCISE: graded,
    Question.ANSWER: answer,
    Question.STEPS: steps,
    Question.CHALLENGE: challenge,
    Question.PROBABILITY: probability,
    Question.CODE: code,
    Question.VERIFY: verify,
    Question.LOSS: loss,
    Question.PATH: path,
    Question.TWO_MARGINS: both_margins,
    Question.GAME: game,
}
FOR_MANY_CLASSES: dict[Question, Answering] = ANSWERS | {
    Question.ANSWER: answer_for_many,
    Question.STEPS: no_steps,
    Question.CHALLENGE: refused("Your own line is for two classes"),
    Question.LOSS: refused("The cost of a row is shown for two classes"),
    Question.PATH: refused("The path over C is for two classes"),
    Question.TWO_MARGINS: refused("The two margins are those of two classes"),
    Question.GAME: refused("The game is shown for two classes"),
}
