"""What a two-class problem is asked and was answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.certificates.normalized import NormalizedMargin
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.data.table import Vector
from maxmargin.problems.descent import Descent
from maxmargin.problems.kernels import Kernel
from maxmargin.problems.losses import Loss
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import ClassWeight, TwoClasses
from maxmargin.run.control import Status


class SoftQuestion(NamedTuple):
    """A soft margin that is asked for, and how."""

    C: float
    loss: Loss
    fit_intercept: bool
    tol: float
    solver: str = "auto"
    max_iter: int | None = None
    class_weight: ClassWeight = ()


@dataclass(frozen=True, eq=False)
class Answer:
    """The last iterate of a two-class problem, what is proven about it, and why it was the last.

    a                are the feasible dual variables of the certificate's rows, where its weights are not feasible
    kernel           the kernel, of a plane in its space
    length, nearest  |w|, and y (w.phi(x) + b) at the edge of the street, of such a plane
    normalized       what is proven of the rows at length 1, where it was asked for
    run              the run of stochastic steps, which can go on
    """

    two: TwoClasses
    iterate: Iterate
    certificate: Certificate | SoftMarginCertificate | KernelCertificate
    status: Status
    a: Vector | None = None
    kernel: Kernel | None = None
    length: float = 0.0
    nearest: float = 1.0
    run: Descent | None = None
    normalized: NormalizedMargin | None = None
