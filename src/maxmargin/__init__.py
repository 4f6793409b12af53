"""Large-margin classification that proves its answers.

Every public name is loaded when it is first used, so that `import maxmargin` costs almost nothing
and the compiler is imported by the first `fit`, never before.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maxmargin.certificates.certificate import Certificate, Verdict
    from maxmargin.certificates.multiclass import MulticlassCertificate
    from maxmargin.certificates.verification import Verification
    from maxmargin.estimators.hard_margin import HardMarginSVM, NotSeparableError
    from maxmargin.estimators.perceptrons import MarginPerceptron, Perceptron
    from maxmargin.estimators.separability import separability
    from maxmargin.estimators.winnow import Winnow
    from maxmargin.problems.trace import Trace

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "HardMarginSVM",
    "MarginPerceptron",
    "MulticlassCertificate",
    "NotSeparableError",
    "Perceptron",
    "Trace",
    "Verdict",
    "Verification",
    "Winnow",
    "separability",
]

_HOMES = {
    "Certificate": "certificates.certificate",
    "HardMarginSVM": "estimators.hard_margin",
    "MarginPerceptron": "estimators.perceptrons",
    "MulticlassCertificate": "certificates.multiclass",
    "NotSeparableError": "estimators.hard_margin",
    "Perceptron": "estimators.perceptrons",
    "Trace": "problems.trace",
    "Verdict": "certificates.certificate",
    "Verification": "certificates.verification",
    "Winnow": "estimators.winnow",
    "separability": "estimators.separability",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'maxmargin' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"maxmargin.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
