"""Pictures: the numbers of a picture first (`geometry`), then displays that draw them with Matplotlib.

Matplotlib is imported when something is drawn, never before: `pip install "maxmargin[plots]"` brings it.
"""

from __future__ import annotations

from maxmargin.plots.conditions import KKTDisplay
from maxmargin.plots.convergence import ConvergenceDisplay
from maxmargin.plots.hull import HullDisplay
from maxmargin.plots.loss import LossDisplay
from maxmargin.plots.regularization_path import PathDisplay
from maxmargin.plots.run import TraceDisplay
from maxmargin.plots.street import StreetDisplay

__all__ = [
    "ConvergenceDisplay",
    "HullDisplay",
    "KKTDisplay",
    "LossDisplay",
    "PathDisplay",
    "StreetDisplay",
    "TraceDisplay",
]
