"""The soft margin of rows that are read block by block: what is asked of a block, and how its dual variables are told.

    P(w, b) = 1/2 |w|^2 + sum_i C_i loss(1 - y_i (w.x_i + b))

No vector has the length of the table. So the dual variables are told by a rule of few numbers, and row by row only for
the rows that are listed:

    listed        a_i = s_i u_i,                   s_i in [0, 1], u_i = box C_i
    all others    a_i = C_i slope(f_i),            f_i = 1 - y_i (w'.x_i + b')     at the plane (w', b') of the rule

The slope is that of the loss; of the hinge, whose slope jumps, that of a hinge that is rounded off at its edge, as wide
as h (h = 0: 1 if f > 0, else 0):

    p(f) = h / (2h + |f|)  where f <= 0,      1 - h / (2h + |f|)  where f > 0

It is the slope of max(0, f) - h log(1 + |f| / 2h), bent everywhere: a row far from its edge still has a small weight,
or misses a little, as on the path of an interior point. And it is a fraction of the numbers in it: no root, no power.

Any such a is within its box, and any a in its box proves a lower bound once the class of the larger sum is scaled down
(without a bias: as it is). So a rule need not be true of anything: what it proves is measured.

A solver by passes, or a judge, is a generator (`PassRun`): it yields what it wants to know of the blocks, and is sent
what they answer together; whoever leads it (`solve/by_blocks.py`) may lead several over the same blocks. A solver is
started as a `SolverByPasses`: its state, and its run over it, of which nothing has been asked for. Whenever it yields
an `Ask`, the state is all that is needed to go on: a run that begins with such a state yields the same `Ask` first.

A loss with a bend and an infinite box (the squared hinge) has u_i = inf: its rows are never listed.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.labelled import LabelledBlock, LabelledTable, RowIds, block_and_row, row_ids
from maxmargin.data.table import Matrix, Vector
from maxmargin.problems.losses import Loss
from maxmargin.problems.protocol import State


class SignedBlock(NamedTuple):
    """The rows of a block that are on one of two sides: y_i = +1 or -1, C_i, and which rows of the block they are."""

    number: int
    X: Matrix
    signs: Vector
    costs: Vector
    rows: NDArray[np.intp]

    def ids(self, places: NDArray[Any]) -> RowIds:
        return row_ids(self.number, self.rows[places])


@dataclass(frozen=True, eq=False)
class BlockMargin:
    """One two-class problem of a labelled table: classes by their codes, `negative` None: all others.

    `prices` are C times the weight of each class, by code: C_i is that times the weight of the row.
    """

    positive: int
    negative: int | None
    prices: Vector
    loss: Loss
    fit_intercept: bool

    def of(self, block: LabelledBlock) -> SignedBlock:
        codes = block.codes
        on_a_side = codes >= 0 if self.negative is None else (codes == self.positive) | (codes == self.negative)
        rows = np.flatnonzero(on_a_side)
        X, codes, weights = block.X, codes[rows], block.weights
        X = X if len(rows) == X.shape[0] else X[rows]
        costs = self.prices[codes]
        if weights is not None:
            costs = costs * weights[rows]
            if not np.all((costs > 0.0) & (costs < np.inf)):
                row = int(np.argmin((costs > 0.0) & (costs < np.inf)))
                raise ValueError(
                    f"C times the weight of row {rows[row]} of block {block.number} is {self.prices[codes[row]]:g} * "
                    f"{weights[rows[row]]:g}, which float64 cannot hold"
                )
        return SignedBlock(block.number, X, np.where(codes == self.positive, 1.0, -1.0), costs, rows)


class Rule(NamedTuple):
    """a_i / C_i of the rows that are not listed, from f_i at this plane; not `used`: 0 for every row."""

    w: Vector
    b: float
    width: float
    used: bool = True

    @classmethod
    def nothing(cls, n_columns: int) -> Rule:
        return cls(np.zeros(n_columns), 0.0, 0.0, False)

    def slopes(self, f: Vector, loss: Loss) -> Vector:
        """Within [0, box], whatever f is."""
        if not self.used:
            return np.zeros(len(f))
        if loss.is_smooth:
            return np.asarray(loss.share(f))
        if self.width == 0.0:
            return np.where(f > 0.0, loss.box, 0.0)
        less = self.width / (2.0 * self.width + np.abs(f))
        return np.asarray(loss.box * np.where(f > 0.0, 1.0 - less, less))


class OwnRows(NamedTuple):
    """The listed rows of one block: which of it they are, in order, and their shares."""

    rows: NDArray[np.int64]
    shares: Vector

    def places_in(self, block: SignedBlock) -> NDArray[np.intp]:
        """Where they are among the rows of the two sides; a ValueError where one of them is not there."""
        places = np.searchsorted(block.rows, self.rows)
        if np.any(places >= len(block.rows)) or not np.array_equal(block.rows[places], self.rows):
            raise ValueError(f"block {block.number} has no such row on a side of this problem as one that is listed")
        return places


class ListedRows(NamedTuple):
    """Rows with dual variables of their own: ids in increasing order, each once, and a_i / u_i."""

    ids: RowIds
    shares: Vector

    @classmethod
    def nobody(cls) -> ListedRows:
        return cls(np.empty(0, dtype=np.uint64), np.empty(0))

    @classmethod
    def sorted(cls, ids: RowIds, shares: Vector) -> ListedRows:
        order = np.argsort(ids, kind="stable")
        return cls(ids[order], shares[order])

    def by_block(self) -> dict[int, OwnRows]:
        blocks, rows = block_and_row(self.ids)
        edges = np.flatnonzero(np.diff(blocks)) + 1
        parts = np.split(np.arange(len(blocks)), edges)
        return {int(blocks[part[0]]): OwnRows(rows[part], self.shares[part]) for part in parts if len(part)}


class Weights(NamedTuple):
    """The dual variables of all rows: a rule, and the rows that it does not speak of."""

    rule: Rule
    listed: ListedRows


class Ask(NamedTuple):
    """A pass: what each block is asked, and what only some of them need beside it (`ListedRows.by_block`)."""

    part: Any
    own: Mapping[int, OwnRows] = MappingProxyType({})


class Proposal(NamedTuple):
    """What a solver wants to have measured: a plane and dual variables, which need not belong together."""

    w: Vector
    b: float
    weights: Weights


class Proven(NamedTuple):
    """The judge's answer: the least objective of a plane and the best dual value so far, both surely."""

    primal: float
    dual: float
    gap: float


class Facts(NamedTuple):
    """What the survey of a table tells a solver of one problem.

    n_rows      on the two sides; `sides`: (positive, negative) rows
    row_bytes   of a row in memory, on average
    """

    n_rows: int
    n_columns: int
    n_blocks: int
    sides: tuple[int, int]
    largest: float
    terms: int
    is_sparse: bool
    row_bytes: float
    block_bytes: float

    @classmethod
    def of(cls, table: LabelledTable, problem: BlockMargin) -> Facts:
        seen, own = table.seen, table.seen.counts
        positive = int(own[problem.positive])
        negative = int(own.sum()) - positive if problem.negative is None else int(own[problem.negative])
        return cls(
            positive + negative,
            table.n_columns,
            table.n_blocks,
            (positive, negative),
            seen.largest,
            seen.terms,
            seen.is_sparse,
            table.row_bytes,
            table.row_bytes * float(seen.heights.max()),
        )


PassRun = Generator["Ask | Proposal", Any, Any]


@dataclass(eq=False)
class PassState(State):
    """The base of the states of solvers by passes. `gap` is (P - D) / P as the solver believes it: it is shown.

    note    a sentence for whoever waits, about what makes it slow; empty: there is none
    """

    note: str = field(default="", init=False)

    @property
    def gap(self) -> float:
        return math.inf

    def proposal(self) -> Proposal | None:
        """What is to be measured if the run must end now; None: nothing has been found yet."""
        return None


class SolverByPasses(NamedTuple):
    """A solver that was started."""

    state: PassState
    run: PassRun
