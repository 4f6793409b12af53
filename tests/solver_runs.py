"""Solvers as generators of what they show, for tests that drive them themselves."""

from maxmargin.problems.protocol import Options, shown
from maxmargin.solvers.registry import SOFT_MARGIN, started


def iterates(run):
    """What a run shows; it takes evaluations, as the solver does."""
    return shown(run.iterates)


def soft_iterates(name, problem, tol=1e-4, start=None, seed=0):
    """Those of the named solver of soft margins."""
    return iterates(started(SOFT_MARGIN, name, problem, Options(tol, start, seed)))
