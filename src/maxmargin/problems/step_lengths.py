"""The lengths of stochastic steps by name, as a file, a command or a page can say them.

"pegasos"                1 / (lambda t)
"damped"                 1 / (lambda t + s_i |x_i|^2): no step moves the value of its own row by more than 1
0.1                      the same at every visit
"0.1/sqrt(t)"            likewise with another number, or with t^0.25 in place of sqrt(t): inverse scaling
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

PEGASOS, DAMPED = "pegasos", "damped"

NUMBER = r"[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?"
INVERSE = re.compile(rf"({NUMBER})/(?:(sqrt\(t\))|t(?:(?:\^|\*\*)({NUMBER}))?)")


class InverseScaling(NamedTuple):
    """eta_t = first / t^power."""

    first: float
    power: float


def inverse_scaling(text: str) -> InverseScaling | None:
    """What a text such as "0.1/sqrt(t)", "2/t" or "0.1/t^0.25" says; None where it says nothing of the kind."""
    found = INVERSE.fullmatch(text.replace(" ", ""))
    if found is None:
        return None
    first, root, power = found.groups()
    scaling = InverseScaling(float(first), 0.5 if root else float(power or 1.0))
    return scaling if 0.0 < scaling.first < math.inf and 0.0 < scaling.power < math.inf else None
