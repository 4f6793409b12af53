"""Does a plane separate the classes? An answer with proof, either way."""

from __future__ import annotations

from typing import Any

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.data.matrix import Vector
from maxmargin.estimators.convergence import collected
from maxmargin.estimators.hard_margin import HardMarginSVM
from maxmargin.problems.separation import Separation, Solution


class _Separability(HardMarginSVM):
    """The hard margin that, where no plane separates strictly, looks for one that separates weakly."""

    def _plane_where_none_separates(
        self, problem: Separation, witness: Solution, weights: Vector | None
    ) -> tuple[Vector, float] | None:
        from maxmargin.solvers.weak_plane import weak_plane

        return weak_plane(problem, witness)


def separability(
    X: Any,
    y: Any,
    *,
    norm: str = "l2",
    fit_intercept: bool = True,
    multi_class: str = "ovr",
    max_time: float | None = None,
) -> Certificate | MulticlassCertificate:
    """Whether a plane separates the labels, and how widely: a certificate that reads as a report.

    The verdict is one of

    - separable, with the best margin between two proven bounds;
    - weakly separable: a plane has no row on its wrong side, but no plane keeps all rows off itself;
    - not separable, with a witness: at most d + 2 rows whose hulls meet (`.rows`, `.weights`);
    - undecided at this precision, with the interval in which the best margin lies;
    - stopped, where `max_time` ended the search first.

    `print` it, ask `.is_separable`, or check it with `.verify(X, y, exact=True)`. For more than two labels there is
    one certificate for each class against the rest (or for each pair, with multi_class="ovo").

    >>> from maxmargin import separability
    >>> separability([[0.0], [1.0], [2.0]], ["a", "b", "a"]).verdict.name
    'NOT_SEPARABLE'
    """
    decider = _Separability(
        norm,
        fit_intercept=fit_intercept,
        multi_class=multi_class,
        on_inseparable="return",
        max_time=max_time,
    )
    with collected():  # the verdict says how it ended
        certificate: Certificate | MulticlassCertificate = decider.fit(X, y).certificate_
    return certificate
