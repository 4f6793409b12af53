"""Pictures: the numbers of a picture first, then displays that draw them with Matplotlib.

Matplotlib is imported when something is drawn, never before: `pip install "maxmargin[plots]"` brings it.
"""

from __future__ import annotations

from maxmargin.plots.street import StreetDisplay

__all__ = ["StreetDisplay"]
