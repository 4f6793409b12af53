"""How the memory of a fit by passes is divided.

    memory      what it may take beyond what the process had after its imports
    blocks      a block as it is read, as it is checked and cut to the rows of two sides, and one ahead; of each of its
                rows a label, a code, a sign, a price, and what a pass computes; and the judge's own numbers
    the rest    the solvers' numbers and working sets, of all problems that advance together

Where not all problems fit side by side, they go in groups, each with passes of its own.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from maxmargin.problems.block_margin import Facts

READING = 4  # blocks
A_ROW = 80  # bytes, beside its numbers
CHUNKS = 2**20  # bytes: of the rows that are in the cache, in float64, and of Python's own
LEVELS_OF_A_TREE = 8  # neighbours that are joined: a sum for each level is held


class Share(NamedTuple):
    """How many problems advance together, and the bytes that each of them has."""

    at_once: int
    bytes_each: float


def bytes_to_read(facts: Facts) -> float:
    """Bytes to read and measure them."""
    height = facts.block_bytes / max(1.0, facts.row_bytes)
    return READING * facts.block_bytes + A_ROW * height + CHUNKS


def divided(memory: float, facts: Facts, floors: list[float]) -> Share:
    """A ValueError with the least memory where not even one problem fits."""
    blocks = bytes_to_read(facts)
    least = max(floors)
    left = memory - blocks
    if left < least:
        raise ValueError(
            f"memory={in_words(memory)} is too little for {facts.n_columns:,} columns and blocks of "
            f"{in_words(facts.block_bytes)}: give at least {in_words(blocks + least, up=True)}, of which "
            f"{in_words(blocks)} are to read and measure blocks, and {in_words(least)} for the solver"
        )
    at_once = min(len(floors), int(left // least))
    return Share(at_once, left / at_once)


def in_words(size: float, up: bool = False) -> str:
    """Bytes as people write them.

    >>> in_words(512e6), in_words(1_234_567, up=True)
    ('512MB', '1.24MB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            places = 10.0 ** (math.floor(math.log10(size / factor)) - 2)
            number = size / factor
            number = math.ceil(number / places) * places if up else number
            return f"{number:.3g}{unit}"
    return f"{size:.0f} bytes"
