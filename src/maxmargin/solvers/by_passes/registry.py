"""Which solver by passes for which problem: each is a module with `floor` and `start`.

floor(problem, facts)                 bytes that it needs beside the blocks
start(problem, facts, memory, tol)    a `SolverByPasses`

    a loss with a bend          Newton                                                       newton
    the hinge, few columns      a working set and matrices of columns times columns          working_set
    the hinge, more columns     rows near the street, the others pressed into one a class    pressed_rows
    more columns, if less than half of the rows fit, and losses with a bend                  proximal_points
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from maxmargin.problems.block_margin import BlockMargin, Facts, SolverByPasses
from maxmargin.problems.losses import Loss
from maxmargin.solvers.by_passes import pressed_rows
from maxmargin.solvers.registry import AUTO

FEW_COLUMNS = 3000  # of which a matrix is small beside most tables
HALF = 0.5  # of the rows must fit for rows near the street to be all that count
MODULES = {
    "newton": "bent_newton",
    "working_set": "working_set",
    "pressed_rows": "pressed_rows",
    "proximal_points": "proximal_points",
}  # by what `solver_` is


def name_for(problem: BlockMargin, facts: Facts, memory: float) -> str:
    """`memory`: what solvers have, beside the blocks."""
    if facts.n_columns <= FEW_COLUMNS:
        return "newton" if problem.loss.is_smooth else "working_set"
    if problem.loss.is_smooth or pressed_rows.rows_in(memory, facts) < HALF * facts.n_rows:
        return "proximal_points"
    return "pressed_rows"


def answers(solver: str, loss: Loss) -> bool:
    """Whether an estimator with this `solver` can have its rows seen by passes."""
    return solver == AUTO or (solver == "newton" and loss.is_smooth)


def floor(name: str, problem: BlockMargin, facts: Facts) -> float:
    found: Any = module_of(name).floor(problem, facts)
    return float(found)


def start(name: str, problem: BlockMargin, facts: Facts, memory: float, tol: float) -> SolverByPasses:
    started: SolverByPasses = module_of(name).start(problem, facts, memory, tol)
    return started


def module_of(name: str) -> ModuleType:
    return importlib.import_module(f"maxmargin.solvers.by_passes.{MODULES[name]}")
