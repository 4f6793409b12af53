"""Large-margin classification that proves its answers.

Every public name is loaded when it is first used, so that `import maxmargin` costs almost nothing
and the compiler is imported by the first `fit`, never before.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from maxmargin._version import __version__ as __version__

if TYPE_CHECKING:
    from maxmargin.certificates.certificate import Certificate, Verdict
    from maxmargin.certificates.kernel_margin import KernelCertificate, KernelVerdict
    from maxmargin.certificates.kernel_separation import KernelSeparationCertificate
    from maxmargin.certificates.multiclass import MulticlassCertificate
    from maxmargin.certificates.soft_margin import SoftMarginCertificate, SoftVerdict
    from maxmargin.certificates.verify import Verification
    from maxmargin.estimators.audit import audit
    from maxmargin.estimators.audit_result import Audit
    from maxmargin.estimators.coming_from import from_scikit_learn
    from maxmargin.estimators.hard_margin import HardMarginSVM
    from maxmargin.estimators.kernel import KernelSVM
    from maxmargin.estimators.kernel_perceptron import KernelPerceptron
    from maxmargin.estimators.linear import LinearSVM
    from maxmargin.estimators.linear_cv import LinearSVMCV
    from maxmargin.estimators.no_plane import NotSeparableError, UndecidedError
    from maxmargin.estimators.path import MarginPath, path
    from maxmargin.estimators.perceptrons import MarginPerceptron, Perceptron
    from maxmargin.estimators.probability import logistic, symmetric_logistic
    from maxmargin.estimators.separability import separability
    from maxmargin.estimators.stochastic import StochasticSVM
    from maxmargin.estimators.winnow import Winnow
    from maxmargin.persistence.errors import ModelFileError
    from maxmargin.persistence.model_file import load, model_info, save
    from maxmargin.plots.conditions import KKTDisplay
    from maxmargin.plots.convergence import ConvergenceDisplay
    from maxmargin.plots.hull import HullDisplay
    from maxmargin.plots.lagrangian import LagrangianDisplay
    from maxmargin.plots.loss import LossDisplay
    from maxmargin.plots.regularization_path import PathDisplay
    from maxmargin.plots.run import TraceDisplay
    from maxmargin.plots.street import StreetDisplay
    from maxmargin.problems.scalings import C_from, loss_factor_from, norm_factor_from
    from maxmargin.problems.trace import Trace
    from maxmargin.reading.read import read_table
    from maxmargin.reading.svmlight_writer import write_svmlight
    from maxmargin.teaching.catalogue import exercise, exercises
    from maxmargin.teaching.dual_answer import DualAnswer, from_dual
    from maxmargin.teaching.exercise import Exercise
    from maxmargin.teaching.grade import Grade
    from maxmargin.teaching.lagrange import ConstrainedParabola
    from maxmargin.teaching.program import program

__all__ = [
    "Audit",
    "C_from",
    "Certificate",
    "ConstrainedParabola",
    "ConvergenceDisplay",
    "DualAnswer",
    "Exercise",
    "Grade",
    "HardMarginSVM",
    "HullDisplay",
    "KKTDisplay",
    "KernelCertificate",
    "KernelPerceptron",
    "KernelSVM",
    "KernelSeparationCertificate",
    "KernelVerdict",
    "LagrangianDisplay",
    "LinearSVM",
    "LinearSVMCV",
    "LossDisplay",
    "MarginPath",
    "MarginPerceptron",
    "ModelFileError",
    "MulticlassCertificate",
    "NotSeparableError",
    "PathDisplay",
    "Perceptron",
    "SoftMarginCertificate",
    "SoftVerdict",
    "StochasticSVM",
    "StreetDisplay",
    "Trace",
    "TraceDisplay",
    "UndecidedError",
    "Verdict",
    "Verification",
    "Winnow",
    "audit",
    "exercise",
    "exercises",
    "from_dual",
    "from_scikit_learn",
    "load",
    "logistic",
    "loss_factor_from",
    "model_info",
    "norm_factor_from",
    "path",
    "program",
    "read_table",
    "save",
    "separability",
    "symmetric_logistic",
    "write_svmlight",
]

_HOMES = {
    "Audit": "estimators.audit_result",
    "C_from": "problems.scalings",
    "Certificate": "certificates.certificate",
    "ConstrainedParabola": "teaching.lagrange",
    "ConvergenceDisplay": "plots.convergence",
    "DualAnswer": "teaching.dual_answer",
    "Exercise": "teaching.exercise",
    "Grade": "teaching.grade",
    "HardMarginSVM": "estimators.hard_margin",
    "HullDisplay": "plots.hull",
    "KKTDisplay": "plots.conditions",
    "KernelCertificate": "certificates.kernel_margin",
    "KernelPerceptron": "estimators.kernel_perceptron",
    "KernelSVM": "estimators.kernel",
    "KernelSeparationCertificate": "certificates.kernel_separation",
    "KernelVerdict": "certificates.kernel_margin",
    "LagrangianDisplay": "plots.lagrangian",
    "LinearSVM": "estimators.linear",
    "LinearSVMCV": "estimators.linear_cv",
    "LossDisplay": "plots.loss",
    "MarginPath": "estimators.path",
    "MarginPerceptron": "estimators.perceptrons",
    "ModelFileError": "persistence.errors",
    "MulticlassCertificate": "certificates.multiclass",
    "NotSeparableError": "estimators.no_plane",
    "PathDisplay": "plots.regularization_path",
    "Perceptron": "estimators.perceptrons",
    "SoftMarginCertificate": "certificates.soft_margin",
    "SoftVerdict": "certificates.soft_margin",
    "StochasticSVM": "estimators.stochastic",
    "StreetDisplay": "plots.street",
    "Trace": "problems.trace",
    "TraceDisplay": "plots.run",
    "UndecidedError": "estimators.no_plane",
    "Verdict": "certificates.certificate",
    "Verification": "certificates.verify",
    "Winnow": "estimators.winnow",
    "audit": "estimators.audit",
    "exercise": "teaching.catalogue",
    "exercises": "teaching.catalogue",
    "from_dual": "teaching.dual_answer",
    "from_scikit_learn": "estimators.coming_from",
    "load": "persistence.model_file",
    "logistic": "estimators.probability",
    "loss_factor_from": "problems.scalings",
    "model_info": "persistence.model_file",
    "norm_factor_from": "problems.scalings",
    "path": "estimators.path",
    "program": "teaching.program",
    "read_table": "reading.read",
    "save": "persistence.model_file",
    "separability": "estimators.separability",
    "symmetric_logistic": "estimators.probability",
    "write_svmlight": "reading.svmlight_writer",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'maxmargin' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"maxmargin.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
