"""All exercises, in the order in which they build on each other."""

from __future__ import annotations

import operator
from typing import Any

from maxmargin.teaching.exercise import ENTRIES, Entry, Exercise, made

# Each of these files registers its exercises: their order here is that of the numbers.
# isort: off
from maxmargin.teaching import planes as planes
from maxmargin.teaching import runs_by_hand as runs_by_hand
from maxmargin.teaching import mistake_bounds as mistake_bounds
from maxmargin.teaching import streets as streets
from maxmargin.teaching import prices as prices
from maxmargin.teaching import kernel_expansion as kernel_expansion
from maxmargin.teaching import proofs as proofs
# isort: on


def exercises() -> tuple[Entry, ...]:
    """The exercises that there are: number, name and title of each.

    Returns
    -------
    tuple of Entry
        In the order of their numbers.

    Examples
    --------
    >>> from maxmargin import exercises
    >>> for entry in exercises():
    ...     print(f"{entry.number:2} {entry.name:18} {entry.title}")
     1 separate           A plane between two classes
     2 distance           Distances, and the canonical form
     3 lifting            Lifted rows, and two margins
     4 perceptron         A run of the perceptron by hand
     5 winnow             A run of Winnow by hand
     6 mistake bound      A bound for the mistakes of the perceptron
     7 margin perceptron  Violations of a guessed margin
     8 halving            Guesses of the margin, halved
     9 widest street      The widest street
    10 multipliers        The multipliers of the widest street
    11 one column         The widest street in the largest-coordinate distance
    12 slack              Slack, margin violations and mistakes
    13 spellings          One problem, three spellings
    14 soft margin        Multipliers of a soft margin
    15 xor                A kernel expansion of XOR
    16 one variable       A multiplier on one variable
    17 no plane           A witness that no plane exists
    """
    return tuple(ENTRIES.values())


def exercise(which: Any, seed: int = 0) -> Exercise:
    """An exercise by its name or number: data, a question, and `check`, which grades an answer by what it proves.

    The data are small and always the same for the same seed; another seed gives other numbers. An answer is measured
    by the code that judges certificates, in exact arithmetic where rounding could decide; it is never compared with an
    answer that was stored. What is right to three digits is right, and so is a street of 99 % of the best width.

    Parameters
    ----------
    which : str or int
        One of `exercises()`.
    seed : int, default=0
        Which of its variants.

    Returns
    -------
    Exercise
        `print` it; `check` grades an answer.

    Examples
    --------
    >>> from maxmargin import exercise
    >>> task = exercise("no plane")
    >>> task.X.tolist()
    [[-1.0, 1.0], [-1.0, 0.0], [-6.0, -4.0], [1.0, 0.0], [-3.0, 1.0], [-3.0, 4.0]]
    >>> print(task.check([1, 1, 0, 0, 0, 1]))
    Not yet.
      balance: sum l y = 1, not 0: both points of the hulls need the same weight.
      common point: sum l y x = (-3, 3), not 0: column 0 is -3 off.
      rows: no weights of the rows 0, 1, 5 alone can do it: a plane separates these.
      proven: no plane has a margin above 0.707107.
    >>> task.check([3, 3, 0, 0, 1, 1]).right
    True
    """
    known = exercises()
    try:
        entry = ENTRIES[which] if isinstance(which, str) else known[operator.index(which) - 1]
        if not isinstance(which, str) and (isinstance(which, bool) or operator.index(which) < 1):
            raise IndexError
    except (KeyError, IndexError, TypeError):
        names = ", ".join(repr(entry.name) for entry in known)
        raise ValueError(f"there is no exercise {which!r}; there are 1 to {len(known)}: {names}") from None
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"seed must be a whole number from 0 on, not {seed!r}")
    return made(entry, seed)
