"""What is proven of a fit, as the page prints it: bounds, conditions, theorems, in words and numbers."""

from __future__ import annotations

import math
from typing import Any

from maxmargin.certificates.certificate import Certificate, Verdict
from maxmargin.certificates.kernel_margin import KernelVerdict
from maxmargin.certificates.rounding import rounded_down, rounded_up
from maxmargin.certificates.soft_margin import SoftVerdict

NOT_PROVEN = (Verdict.UNDECIDED, Verdict.STOPPED, SoftVerdict.BOUNDED, KernelVerdict.BOUNDED)
CONDITIONS = {
    "stationarity": "w = sum a_i y_i x_i",
    "primal": "y_i (w.x_i + b) >= 1 - xi_i",
    "dual": "a_i >= 0 and sum a_i y_i = 0",
    "slackness": "a_i > 0 only on its edge or inside, xi_i > 0 only where a_i = C",
    "bias": "every support vector on its edge gives the same b",
}
HARD_CONDITIONS = {
    "primal": "y_i (w.x_i + b) >= 1",
    "slackness": "a_i > 0 only on the edge: y_i (w.x_i + b) = 1",
    "bias": "every support vector gives the same b",
}


def certificate_of(certificate: Any) -> dict[str, Any]:
    """The verdict, the bounds and the gap."""
    in_kernel = hasattr(certificate, "kernel")
    about_margin = certificate.is_about_margin
    none = getattr(certificate, "is_separable", None) is False
    if none:
        lower, upper = 0.0, 0.0
    elif about_margin:
        lower, upper = certificate.margin_lower, certificate.margin_upper
    else:
        lower, upper = certificate.dual, certificate.primal
    gap = certificate.relative_gap if lower > 0.0 or not about_margin else math.nan
    lower_words, upper_words = rounded_down(lower), rounded_up(upper)
    words = [certificate.verdict.value]
    if not none:
        what = "plane in the space of the kernel" if in_kernel else "line"
        words += bounds_in_words(certificate, about_margin, what, lower_words, upper_words)
    words.append(weights_in_words(certificate, none))
    return {
        "verdict": certificate.verdict.name,
        "proven": certificate.verdict not in NOT_PROVEN,
        "words": words,
        "quantity": "margin" if about_margin else "objective",
        "lower": lower,
        "upper": upper,
        "lower_words": lower_words,
        "upper_words": upper_words,
        "gap": gap if math.isfinite(gap) else None,
        "gap_words": rounded_up(gap, 2) if math.isfinite(gap) else "unknown",
        "tol": getattr(certificate, "tol", None),
    }


def bounds_in_words(certificate: Any, about_margin: bool, what: str, lower: str, upper: str) -> list[str]:
    if not about_margin:
        words = [f"This {what} costs at most {upper}; no {what} costs less than {lower}."]
    elif certificate.margin_lower > 0.0:
        measure = "l1 " if isinstance(certificate, Certificate) and certificate.norm == "l1" else ""
        lifted = ", the bias counted in" if certificate.is_lifted else ""
        words = [f"This {what} has an {measure}margin of at least {lower}{lifted}; no {what} has more than {upper}."]
        words[0] = words[0].replace("an margin", "a margin")
    elif math.isfinite(certificate.margin_upper):
        words = [f"No {what} has a margin of more than {upper}."]
    else:
        words = []
    gap = certificate.relative_gap
    if math.isfinite(gap) and words and (not about_margin or certificate.margin_lower > 0.0):
        words.append(f"So at most {rounded_up(100.0 * gap, 2)} % of it could still be gained.")
    return words


def weights_in_words(certificate: Any, none: bool) -> str:
    rows = sorted(int(row) for row in certificate.rows[certificate.weights > 0.0])
    if none:
        return f"Rows {', '.join(map(str, rows))} prove it: their hulls meet."
    return f"{len(rows)} of {certificate.n_rows} rows carry weight."


def conditions_of(certificate: Any) -> list[dict[str, Any]]:
    """The largest violation of each condition of Karush, Kuhn and Tucker."""
    if certificate.kkt is None:
        return []
    sentences = CONDITIONS | (HARD_CONDITIONS if certificate.is_about_margin else {})
    found = []
    for name, words in sentences.items():
        violation = getattr(certificate.kkt, name)
        row = violation.row if violation.row >= 0 and violation.value > 0.0 else None
        found.append({"condition": name, "words": words, "value": violation.value, "row": row})
    return found


def theorems_of(certificate: Any) -> list[dict[str, Any]]:
    """What each theorem promises beside what was counted."""
    found = []
    for theorem in getattr(certificate, "theorems", ()):
        finite = math.isfinite(theorem.bound)
        if not theorem.at_most:
            words = f"{theorem.name}: {theorem.bound:g} is promised, {rounded_down(theorem.measured, 3)} is reached."
        elif finite:
            words = f"{theorem.name}: {theorem.measured:,.0f} of at most {math.floor(theorem.bound):,}."
        else:
            words = f"{theorem.name}: it promises nothing here; {theorem.measured:,.0f} were counted."
        found.append(
            {
                "name": theorem.name,
                "count": theorem.measured,
                "bound": theorem.bound if finite else None,
                "holds": theorem.holds,
                "at_most": theorem.at_most,
                "words": words,
            }
        )
    return found
