"""Which solver by passes for which problem: each is a module with `floor` and `start`.

floor(problem, facts)                 bytes that it needs beside the blocks
start(problem, facts, memory, tol)    a `SolverByPasses`

    a loss with a bend          Newton                                                       newton
    the hinge, few columns      a working set and matrices of columns times columns          working_set
    the hinge, more columns     rows near the street, the others pressed into one a class    pressed_rows
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from maxmargin.problems.block_margin import BlockMargin, Facts, SolverByPasses

FEW_COLUMNS = 3000  # of which a matrix is small beside most tables
MODULES = {
    "newton": "bent_newton",
    "working_set": "working_set",
    "pressed_rows": "pressed_rows",
}  # by what `solver_` is


def name_for(problem: BlockMargin, facts: Facts) -> str:
    if problem.loss.is_smooth:
        return "newton"
    return "working_set" if facts.n_columns <= FEW_COLUMNS else "pressed_rows"


def module_for(problem: BlockMargin, facts: Facts) -> ModuleType:
    return importlib.import_module(f"maxmargin.solvers.by_passes.{MODULES[name_for(problem, facts)]}")


def floor(problem: BlockMargin, facts: Facts) -> float:
    found: Any = module_for(problem, facts).floor(problem, facts)
    return float(found)


def start(problem: BlockMargin, facts: Facts, memory: float, tol: float) -> SolverByPasses:
    started: SolverByPasses = module_for(problem, facts).start(problem, facts, memory, tol)
    return started
