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
    from maxmargin.estimators.certified_plane import CertifiedPlane
    from maxmargin.estimators.certify import certify
    from maxmargin.estimators.coming_from import from_scikit_learn
    from maxmargin.estimators.hard_margin import HardMarginSVM
    from maxmargin.estimators.kernel import KernelSVM
    from maxmargin.estimators.kernel_perceptron import KernelPerceptron
    from maxmargin.estimators.leave_one_out import LeaveOneOut, leave_one_out
    from maxmargin.estimators.linear import LinearSVM
    from maxmargin.estimators.linear_cv import LinearSVMCV
    from maxmargin.estimators.no_plane import NotSeparableError, UndecidedError
    from maxmargin.estimators.path import MarginPath, path
    from maxmargin.estimators.perceptrons import MarginPerceptron, Perceptron
    from maxmargin.estimators.probability import logistic, symmetric_logistic
    from maxmargin.estimators.robustness import Robustness, robustness
    from maxmargin.estimators.separability import separability
    from maxmargin.estimators.stochastic import StochasticSVM
    from maxmargin.estimators.winnow import Winnow
    from maxmargin.persistence.errors import ModelFileError
    from maxmargin.persistence.model_file import load, model_info, save
    from maxmargin.plots.conditions import KKTDisplay
    from maxmargin.plots.convergence import ConvergenceDisplay
    from maxmargin.plots.hull import HullDisplay
    from maxmargin.plots.loss import LossDisplay
    from maxmargin.plots.regularization_path import PathDisplay
    from maxmargin.plots.robustness import RobustnessDisplay
    from maxmargin.plots.run import TraceDisplay
    from maxmargin.plots.street import StreetDisplay
    from maxmargin.problems.scalings import C_from, loss_factor_from, norm_factor_from
    from maxmargin.problems.trace import Trace
    from maxmargin.reading.read import read_table
    from maxmargin.reading.svmlight_writer import write_svmlight

__all__ = [
    "Audit",
    "C_from",
    "Certificate",
    "CertifiedPlane",
    "ConvergenceDisplay",
    "HardMarginSVM",
    "HullDisplay",
    "KKTDisplay",
    "KernelCertificate",
    "KernelPerceptron",
    "KernelSVM",
    "KernelSeparationCertificate",
    "KernelVerdict",
    "LeaveOneOut",
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
    "Robustness",
    "RobustnessDisplay",
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
    "certify",
    "from_scikit_learn",
    "leave_one_out",
    "load",
    "logistic",
    "loss_factor_from",
    "model_info",
    "norm_factor_from",
    "path",
    "read_table",
    "robustness",
    "save",
    "separability",
    "symmetric_logistic",
    "write_svmlight",
]

_HOMES = {
    "Audit": "estimators.audit_result",
    "C_from": "problems.scalings",
    "Certificate": "certificates.certificate",
    "CertifiedPlane": "estimators.certified_plane",
    "ConvergenceDisplay": "plots.convergence",
    "HardMarginSVM": "estimators.hard_margin",
    "HullDisplay": "plots.hull",
    "KKTDisplay": "plots.conditions",
    "KernelCertificate": "certificates.kernel_margin",
    "KernelPerceptron": "estimators.kernel_perceptron",
    "KernelSVM": "estimators.kernel",
    "KernelSeparationCertificate": "certificates.kernel_separation",
    "KernelVerdict": "certificates.kernel_margin",
    "LeaveOneOut": "estimators.leave_one_out",
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
    "Robustness": "estimators.robustness",
    "RobustnessDisplay": "plots.robustness",
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
    "certify": "estimators.certify",
    "from_scikit_learn": "estimators.coming_from",
    "leave_one_out": "estimators.leave_one_out",
    "load": "persistence.model_file",
    "logistic": "estimators.probability",
    "loss_factor_from": "problems.scalings",
    "model_info": "persistence.model_file",
    "norm_factor_from": "problems.scalings",
    "path": "estimators.path",
    "read_table": "reading.read",
    "robustness": "estimators.robustness",
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
