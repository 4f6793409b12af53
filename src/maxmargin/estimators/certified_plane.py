"""What is proven of a plane that was given: its own certificate, and its distance from the best plane."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.certificates.report import Verification, name_of
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.estimators.audit_result import Audit, MarginPart, ObjectivePart
from maxmargin.estimators.base import single

NAME = "this plane"


@dataclass(frozen=True, eq=False)
class CertifiedPlane:
    """What is proven of a plane that was given. `print` it.

    Parameters
    ----------
    certificate : certificate
        Of exactly this plane: a `Certificate` of its margin, a `SoftMarginCertificate` of its objective, or a
        `MulticlassCertificate` of one for each plane.
    audit : Audit
        How far it is from the best plane: a part for each plane, which has the certificate of the best one.

    Examples
    --------
    >>> from maxmargin import certify
    >>> answer = certify([[0, 0], [0, 2], [3, 0], [5, 1]], [-1, -1, 1, 1], [1, 0], -1.5)
    >>> round(answer.certificate.margin_lower, 6), answer.certificate.is_separable
    (1.5, True)
    """

    certificate: Certificate | SoftMarginCertificate | MulticlassCertificate
    audit: Audit

    @property
    def is_separable(self) -> bool | None:
        """Whether any plane separates the classes, not only this one; None where that is not proven or not asked."""
        answers = [part.certificate.is_separable for part in self.audit.parts]
        return False if False in answers else None if None in answers else True

    @property
    def margin(self) -> Any:
        """Of the plane, surely not less: negative if a row is on its wrong side. Of many planes, a list.

        NaN where the objective was asked for.
        """
        return single([part.margin if isinstance(part, MarginPart) else math.nan for part in self.audit])

    @property
    def objective(self) -> Any:
        """Of the plane, surely not more; of many planes, a list. NaN where the margin was asked for."""
        return single([part.objective if isinstance(part, ObjectivePart) else math.nan for part in self.audit])

    @property
    def share(self) -> float:
        """The margin is at least this share of the best; the least of many planes."""
        return self.audit.share

    @property
    def least_excess(self) -> float:
        """The objective is at least so much above the optimum, as a share of it; the most of many planes."""
        return self.audit.least_excess

    @property
    def excess(self) -> float:
        """The objective is at most so much above the optimum, as a share of it; the most of many planes."""
        return self.audit.excess

    def verify(self, X: Any, y: Any, *, exact: bool = False, sample_weight: Any = None) -> Verification:
        """Check the certificate of this plane and those of the best ones against the raw data; see `Record.verify`.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        exact : bool, default=False
            Whether to decide in rational arithmetic.
        sample_weight : array-like of shape (n_samples,), default=None
            A sample of weight k counts as k equal ones.

        Returns
        -------
        Verification
            True or False in an `if`; the reasons when it is printed.
        """
        best = [part.certificate for part in self.audit]
        of_this = self.certificate.verify(X, y, exact=exact, sample_weight=sample_weight)
        of_best = [certificate.verify(X, y, exact=exact, sample_weight=sample_weight) for certificate in best]
        answers = [(NAME, of_this), *zip((f"the best plane {name_of(one)}" for one in best), of_best, strict=True)]
        holds = all(answer.holds for _, answer in answers)
        reasons = (
            f"{name}: {reason}" for name, answer in answers if answer.holds == holds for reason in answer.reasons
        )
        return Verification(holds, exact, tuple(reasons))

    @property
    def verdict(self) -> str:
        """The whole of it in a sentence."""
        part = self.audit.parts[0]
        if len(self.audit) > 1 or not isinstance(part, MarginPart) or (not part.mistakes and part.is_separable):
            return self.audit.verdict
        if part.is_separable is False:
            return "No plane separates the classes, this one neither, which is proven by a witness."
        wrong = f"{part.mistakes:,} of {part.certificate.n_rows:,} rows are not on their side"
        others = "Another one does, which is proven" if part.is_separable else "Whether another one does is not decided"
        return f"{NAME.capitalize()} does not separate the classes: {wrong}. {others}."

    def report(self) -> str:
        """The plane beside the best one, for a person; `certificate.report()` has the conditions of optimality.

        Returns
        -------
        str
            What `print` shows.
        """
        _, *rest = self.audit.report().splitlines()
        return "\n".join([self.verdict, *rest])

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        return f"CertifiedPlane({self.verdict})"
