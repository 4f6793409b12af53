"""The form of a certificate by blocks (`block_margin`): whether it is a claim at all, before any row is read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from maxmargin.certificates.block_duality import WIDEST
from maxmargin.certificates.form import no_numbers, no_question, of_another_kind
from maxmargin.data.labelled import ROW_BITS, block_and_row
from maxmargin.problems.losses import loss_named, width_refused


def no_claim(c: Any) -> Iterator[str]:
    """What is not even a claim, before any row is read: at least one clause, if it is none."""
    wrong = of_another_kind(c)
    if wrong is not None:
        yield wrong
        return
    yield from no_question(c)
    yield from no_numbers(c)
    yield from no_problem(c)
    yield from no_rule(c)
    yield from no_list(c)


def no_problem(c: Any) -> Iterator[str]:
    if (refused := width_refused(c.loss, c.huber_width)) is not None:
        yield refused
    try:
        loss_named(c.loss, c.huber_width)
    except ValueError as error:
        yield str(error)
    if not 0.0 < c.C < math.inf:
        yield f"C must be positive and finite, not {c.C}"
    if not c.fit_intercept and c.b != 0.0:
        yield f"the plane should pass through the origin but has b = {c.b}"
    heights = c.heights
    if heights.ndim != 1 or not np.all((heights >= 0) & (heights < 2**ROW_BITS)):
        yield "heights must be the numbers of rows of the blocks, none negative"
    elif not c.n_rows <= int(heights.sum()):
        yield f"the blocks have {int(heights.sum())} rows, and the problem has {c.n_rows}"
    if len(c.fingerprint) != 16 or set(c.fingerprint) - set("0123456789abcdef"):
        yield f"the fingerprint must be 16 hexadecimal digits, not {c.fingerprint[:40]!r}"


def no_rule(c: Any) -> Iterator[str]:
    """A number of the rule that is none, or that nobody reads."""
    if c.rule_w.shape != (c.n_columns,) or not np.all(np.isfinite(c.rule_w)) or not math.isfinite(c.rule_b):
        yield "the plane of the rule is not finite or has the wrong length"
    if not 0.0 <= c.rule_width <= WIDEST:
        yield f"the width of the rule must be from 0 to {WIDEST:g}, not {c.rule_width}"
    if c.rule_width != 0.0 and loss_named(c.loss, c.huber_width).is_smooth:
        yield f"the rule has the width {c.rule_width}, which the slope of this loss does not need"
    if not c.rule_used and (np.any(c.rule_w != 0.0) or c.rule_b != 0.0 or c.rule_width != 0.0):
        yield "there is a rule, and it is said not to be used"


def no_list(c: Any) -> Iterator[str]:
    """Rows that do not exist, or come twice, or are not in their box."""
    if c.rows.ndim != 1 or c.rows.shape != c.shares.shape or np.any(np.diff(c.rows) <= 0) or np.any(c.rows < 0):
        yield "rows and shares do not match, or the rows are not in increasing order, each once"
        return
    blocks, rows = block_and_row(c.rows.astype(np.uint64))
    beyond = (blocks >= len(c.heights)) | (rows >= c.heights[np.minimum(blocks, len(c.heights) - 1)])
    if np.any(beyond):
        first = int(np.argmax(beyond))
        yield f"row {rows[first]} of block {blocks[first]} is listed, which the blocks of these heights do not have"
    outside = ~((c.shares >= 0.0) & (c.shares <= 1.0))
    if np.any(outside):
        first = int(np.argmax(outside))
        yield (
            f"row {rows[first]} of block {blocks[first]} has the share {c.shares[first]:.9g} of its largest weight: "
            "not between 0 and 1"
        )
    if len(c.rows) and not loss_named(c.loss, c.huber_width).is_bounded:
        yield "rows are listed, and this loss has no largest weight that they could have a share of"
