"""Where the working set of the hinge is: what a run needs to go on, and its bookkeeping of the best on either side."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from maxmargin.data.table import Vector
from maxmargin.problems.block_margin import Facts, ListedRows, PassState, Proposal, Rule, Weights
from maxmargin.problems.protocol import StateError, varying
from maxmargin.solvers.by_passes.replayed_path import Path
from maxmargin.solvers.by_passes.taken_rows import Square, TakenRows

MOVEMENTS = 2.0  # of the plane in the next step: so wide must the band be that is taken from the path
AIM = 0.7  # of tol: rounding is the judge's, who adds it
GAIN = 1e-12  # of the objective: what counts as one

SAMPLE, BAND, LOOK, PATH = PHASES = "sample", "band", "look", "path"


@dataclass(eq=False)
class WorkingSet(PassState):
    """What is asked next is `phase`; `w`, `b`: the best plane; `rows`: W."""

    facts: Facts
    most: int
    w: Vector = varying()
    proven: Weights = varying(grows=True)
    rule: Rule = varying()
    settled: Square = varying()
    named: ListedRows = varying(grows=True)
    master_w: Vector = varying()
    phase: str = varying(SAMPLE)
    b: float = varying(0.0)
    primal: float = varying(math.inf)
    dual: float = varying(0.0)
    master_b: float = varying(0.0)
    shares: Vector = varying(factory=lambda: np.zeros(0), grows=True)
    width: float = varying(0.0)
    rate: float = varying(1.0)
    at: float = varying(1.0)
    deviation: float = varying(1.0)
    last_gap: float = varying(math.inf)
    slow_looks: int = varying(0)
    movements: float = varying(MOVEMENTS)
    aim: float = varying(AIM)
    path: Path | None = varying(None)
    passes: int = varying(0)
    fruitless: int = varying(0)
    sample: TakenRows | None = varying(None, replaced=True)
    rows: TakenRows | None = varying(None, replaced=True)

    @property
    def gap(self) -> float:
        return (self.primal - self.dual) / self.primal if 0.0 < self.primal < math.inf else math.inf

    def after_restore(self) -> None:
        d = self.facts.n_columns
        try:
            self.sample, self.rows = (
                None if kept is None else TakenRows.of_record(kept, d, self.most) for kept in (self.sample, self.rows)
            )
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise StateError("the rows of its working set do not fit this run") from error
        if self.path is not None:
            self.path = Path.at(np.zeros(d), 0.0, 1.0, np.zeros(d))
        if self.phase not in PHASES or (self.phase != SAMPLE and self.sample is None):
            raise StateError("it has no such phase")

    def proposal(self) -> Proposal | None:
        return None if self.primal == math.inf else Proposal(self.w, self.b, self.proven)

    def found_plane(self, w: Vector, b: float, primal: float) -> None:
        if primal < self.primal * (1.0 - GAIN) or self.primal == math.inf:
            self.fruitless = 0
        if primal < self.primal:
            self.w, self.b, self.primal = w, float(b), float(primal)

    def found_weights(self, dual: float, weights: Weights) -> None:
        if dual > self.dual + GAIN * abs(self.primal if self.primal < math.inf else dual):
            self.fruitless = 0
        if dual > self.dual:
            self.dual, self.proven = dual, weights
