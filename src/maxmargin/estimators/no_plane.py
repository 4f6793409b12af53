"""Why there is no hard margin to show: no plane separates the classes, or nobody can tell.

These are two answers. The first is a theorem about the rows, and carries its witness. The second is a statement about
float64: the best margin lies in an interval around zero, and a plane may exist. So neither is a kind of the other.
"""

from __future__ import annotations

from typing import Any

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.kernel_margin import KernelCertificate

AnyCertificate = Certificate | KernelCertificate


class NoPlaneError(ValueError):
    """The hard margin of one two-class problem was not found; `certificate` says what is proven about it."""

    def __init__(self, certificate: AnyCertificate, advice: str) -> None:
        self.certificate = certificate
        super().__init__(f"{certificate.report()}\n{advice}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.certificate,)


class NotSeparableError(NoPlaneError):
    """No plane separates the classes, which is proven.

    Parameters
    ----------
    certificate : certificate
        It carries the witness.

    Examples
    --------
    >>> from maxmargin import HardMarginSVM, NotSeparableError
    >>> try:
    ...     HardMarginSVM().fit([[0], [1], [2]], [0, 1, 0])
    ... except NotSeparableError as error:
    ...     print(error.certificate.verdict.name, sorted(error.certificate.rows.tolist()))
    NOT_SEPARABLE [0, 1, 2]
    """

    def __init__(self, certificate: AnyCertificate) -> None:
        if certificate.is_separable is not False or certificate.n_support == 0:
            raise TypeError(f"a NotSeparableError carries a witness, and there is none in {certificate!r}")
        super().__init__(
            certificate,
            "To look at the witness: error.certificate.rows are rows of X. "
            'To have a plane all the same: a soft margin (a finite C), or HardMarginSVM(on_inseparable="return").',
        )


class UndecidedError(NoPlaneError):
    """Whether a plane separates the classes is undecided at this precision.

    Parameters
    ----------
    certificate : certificate
        It carries the bounds.

    Examples
    --------
    >>> from maxmargin import HardMarginSVM, UndecidedError
    >>> try:  # the plane between them would need more digits than float64 has
    ...     HardMarginSVM().fit([[1.0, 1.0], [4.0, 2.0], [2.5000000000000004, 1.5]], [0, 0, 1])
    ... except UndecidedError as error:
    ...     print(error.certificate.verdict.name, error.certificate.margin_upper < 1e-9)
    UNDECIDED True
    """

    def __init__(self, certificate: AnyCertificate) -> None:
        if certificate.is_separable is not None:
            raise TypeError(f"an UndecidedError is raised where nothing is proven, unlike in {certificate!r}")
        super().__init__(
            certificate,
            "Undecided: neither a plane that separates the classes nor a witness against it could be proven in "
            "float64. Columns that are centred and of one scale often decide it; otherwise take a soft margin (a "
            'finite C), or HardMarginSVM(on_inseparable="return").',
        )


def no_plane(certificate: AnyCertificate) -> NoPlaneError:
    """The error that says what the certificate says."""
    return UndecidedError(certificate) if certificate.is_separable is None else NotSeparableError(certificate)
