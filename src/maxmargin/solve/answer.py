"""What a two-class problem was answered."""

from __future__ import annotations

from dataclasses import dataclass

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.data.matrix import Vector
from maxmargin.problems.multiclass import TwoClasses
from maxmargin.problems.protocol import Iterate
from maxmargin.run.control import Status


@dataclass(frozen=True, eq=False)
class Answer:
    """The last iterate of a two-class problem, what is proven about it, and why it was the last.

    `a` are the feasible dual variables of the certificate's rows, where its weights are not feasible themselves.
    """

    two: TwoClasses
    iterate: Iterate
    certificate: Certificate | SoftMarginCertificate | KernelCertificate
    status: Status
    a: Vector | None = None
