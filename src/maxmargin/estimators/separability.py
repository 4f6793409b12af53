"""Does a plane separate the classes? An answer with proof, either way."""

from __future__ import annotations

from typing import Any

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.estimators.convergence import collected
from maxmargin.estimators.hard_margin import HardMarginSVM
from maxmargin.solve.separation import with_weak_plane


class _Separability(HardMarginSVM):
    """The hard margin that, where no plane separates strictly, looks for one that separates weakly."""

    _fallback = staticmethod(with_weak_plane)


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
    - not separable, with a witness: at most d + 2 rows whose hulls meet (`.rows`, `.weights`);
    - weakly separable, which is not separable, with the same witness, and more: a plane has no row on its wrong side,
      and `.rows_off_plane` rows off itself. Nobody else looks for it. Where it was not looked for, because the table
      has more than 50,000,000 numbers, or not found in time, the report of "not separable" says so (`.further_look`);
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
