"""A certificate in a notebook: the verdict, a bar that shows how much is proven, and the report to unfold.

The bar goes from zero to the upper bound. It is solid up to the lower bound: what is left hatched is the gap, in which
the best value must lie. Plain HTML and SVG in the colour of the notebook's text; every word of the user is escaped.
"""

from __future__ import annotations

import math
from html import escape
from typing import Any

from maxmargin.certificates.report import PARTS_SHOWN, from_the_worst
from maxmargin.certificates.words import between, bounds_of, rounded_up, sides

WIDTH, HEIGHT, STEP = 280.0, 12.0, 6.0  # of the bar, and from one stroke of the hatch to the next


def certificate_html(certificate: Any) -> str:
    """One certificate, or one for each plane."""
    parts = certificate.parts
    shown = range(len(parts)) if len(parts) <= PARTS_SHOWN else from_the_worst(parts)[:PARTS_SHOWN]
    blocks = [verdict_html(parts[k]) for k in shown]
    if len(parts) > PARTS_SHOWN:
        blocks.append(f"<p>and {len(parts) - PARTS_SHOWN:,} more planes, of which no less is proven</p>")
    report = f"<details><summary>certificate</summary><pre>{escape(certificate.report())}</pre></details>"
    style = "border-left: 3px solid; padding: 0.2em 0.8em; margin: 0.5em 0; max-width: 60em"
    return f'<div class="maxmargin-certificate" style="{style}">{"".join(blocks)}{report}</div>'


def verdict_html(part: Any) -> str:
    """The verdict on one plane in words, and its bounds as a bar."""
    words, low, high = bar_of(part)
    bar = "" if math.isnan(low) else f"<div>{bar_svg(low, high, words)} {escape(words)}</div>"
    return f"<p><b>{escape(sides(part))}</b>: {escape(part.verdict.value)}</p>{bar}"


def bar_of(part: Any) -> tuple[str, float, float]:
    """What is bounded, in words, and its two bounds; NaN where a bar would say nothing."""
    found = bounds_of(part)
    low, high = max(0.0, found.lower) if found.quantity == "margin" else found.lower, found.upper
    if not (math.isfinite(high) and high > 0.0 and 0.0 <= low <= high):
        return found.best, math.nan, math.nan
    return f"{found.best} {between(low, high)}, relative gap {rounded_up((high - low) / high, 2)}", low, high


def bar_svg(low: float, high: float, words: str) -> str:
    """Solid up to the lower bound, hatched from there to the upper one."""
    proven = WIDTH * low / high
    strokes = range(int((WIDTH - HEIGHT - proven) // STEP) + 1)
    hatch = " ".join(f"M{proven + STEP * k:.1f} {HEIGHT:g}l{HEIGHT:g} {-HEIGHT:g}" for k in strokes)
    return (
        f'<svg role="img" aria-label="{escape(words, quote=True)}" width="{WIDTH:g}" height="{HEIGHT:g}" '
        f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}" stroke="currentColor" fill="none" style="vertical-align: middle">'
        f'<rect x="0" y="0" width="{proven:.2f}" height="{HEIGHT:g}" fill="currentColor" fill-opacity="0.55" '
        f'stroke="none"/><path d="{hatch}" stroke-opacity="0.4"/>'
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1:g}" height="{HEIGHT - 1:g}" stroke-opacity="0.6"/></svg>'
    )
