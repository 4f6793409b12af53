"""What is proven of a fit, as the page prints it: bounds, conditions, theorems, in the words of the report."""

from __future__ import annotations

import math
from typing import Any

from maxmargin.certificates.certificate import Verdict
from maxmargin.certificates.kernel_margin import KernelVerdict
from maxmargin.certificates.report import CONDITIONS, HARD_CONDITIONS, bounds_of, promise, sentences
from maxmargin.certificates.rounding import rounded_down, rounded_up
from maxmargin.certificates.soft_margin import SoftVerdict

NOT_PROVEN = (Verdict.UNDECIDED, Verdict.STOPPED, SoftVerdict.BOUNDED, KernelVerdict.BOUNDED)


def certificate_of(certificate: Any) -> dict[str, Any]:
    """The verdict, the bounds and the gap."""
    _, lower, upper = bounds_of(certificate)
    about_margin = certificate.is_about_margin
    gap = certificate.relative_gap if lower > 0.0 or not about_margin else math.nan
    return {
        "verdict": certificate.verdict.name,
        "proven": certificate.verdict not in NOT_PROVEN,
        "words": [certificate.verdict.value, *sentences(certificate)],
        "quantity": "margin" if about_margin else "objective",
        "lower": lower,
        "upper": upper,
        "lower_words": rounded_down(lower),
        "upper_words": rounded_up(upper),
        "gap": gap if math.isfinite(gap) else None,
        "gap_words": rounded_up(gap, 2) if math.isfinite(gap) else "unknown",
        "tol": getattr(certificate, "tol", None),
    }


def conditions_of(certificate: Any) -> list[dict[str, Any]]:
    """The largest violation of each condition of Karush, Kuhn and Tucker."""
    if certificate.kkt is None:
        return []
    found = []
    for name, words in (HARD_CONDITIONS if certificate.is_about_margin else CONDITIONS).items():
        violation = getattr(certificate.kkt, name)
        row = violation.row if violation.row >= 0 and violation.value > 0.0 else None
        found.append({"condition": name, "words": words, "value": violation.value, "row": row})
    return found


def theorems_of(certificate: Any) -> list[dict[str, Any]]:
    """What each theorem promises beside what was counted."""
    return [
        {
            "name": theorem.name,
            "count": theorem.measured,
            "bound": theorem.bound if math.isfinite(theorem.bound) else None,
            "holds": theorem.holds,
            "at_most": theorem.at_most,
            "words": promise(theorem),
        }
        for theorem in getattr(certificate, "theorems", ())
    ]
