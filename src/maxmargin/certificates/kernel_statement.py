"""What a certificate says of its kernel: whether it is one, whether exact arithmetic knows it, and its values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from maxmargin.certificates import exact_kernel
from maxmargin.certificates.form import Rows, is_whole, is_word
from maxmargin.data.table import Matrix
from maxmargin.problems.kernels import KERNELS, Kernel, KernelChoice
from maxmargin.problems.kernels.base import NUMBERS
from maxmargin.problems.kernels.given import refuse_a_skew_table


def refuse_what_is_not_rational(c: Any) -> None:
    """A ValueError where exact arithmetic has no values; where no plane separates, a witness is of the rows alone."""
    kind = KERNELS.get(c.kernel) if is_word(c.kernel) else None
    if kind is not None and kind.irrational and getattr(c.verdict, "name", None) != "NOT_SEPARABLE":
        rational = [name for name, one in KERNELS.items() if not one.irrational]
        raise ValueError(
            f"exact arithmetic needs a kernel with rational values, {', '.join(rational[:-1])} or {rational[-1]}, and "
            f"this one is {'a function' if kind.is_code else c.kernel}: {kind.irrational}. Use exact=False, where "
            "every rounding error is accounted for."
        )
    if is_whole(c.degree) and c.degree > exact_kernel.MOST_DEGREE:
        raise ValueError(
            f"exact arithmetic takes polynomials of a degree of at most {exact_kernel.MOST_DEGREE}, and this one has "
            f"{c.degree}: its values would fill the memory. Use exact=False, where rounding errors are accounted for."
        )


def kernel_malformations(c: Any, X: Matrix, function: Any) -> Iterator[str]:
    kind = KERNELS[c.kernel]
    if kind.is_code and not callable(function):
        yield "the kernel is a function, which a certificate cannot hold: give it again, verify(X, y, kernel=...)"
    if not kind.is_code and function is not None and function != c.kernel:
        yield f"the certificate is about the {c.kernel} kernel, not about the one that was given"
    for number, value in NUMBERS.items():
        if number not in kind.parameters and getattr(c, number) != value:
            yield f"the {c.kernel} kernel has no {number}, and here it is {getattr(c, number)}"
    if not 0.0 <= c.gamma < math.inf:
        yield f"gamma must be at least 0 and finite, not {c.gamma}"
    if not 0.0 <= c.coef0 < math.inf:
        yield f"coef0 must be at least 0 and finite, not {c.coef0}: otherwise the kernel is not positive semidefinite"
    if not isinstance(c.degree, int) or isinstance(c.degree, bool) or c.degree < 0:
        yield f"degree must be a whole number of at least 0, not {c.degree!r}"
    if kind.is_table and X.shape[0] > X.shape[1]:
        yield f"a {c.kernel} kernel needs a value for every pair of rows, and X has {X.shape[1]} columns"


def kernel_on(c: Any, X: Matrix, kept: Rows, function: Any) -> Kernel:
    """The kernel that a certificate speaks of, on these rows of the table; a table that is none is refused."""
    kind = KERNELS[c.kernel]
    if kind.is_table:
        if len(kept) and int(kept[-1]) >= X.shape[1]:
            raise ValueError(f"a {c.kernel} kernel needs a column for row {kept[-1]}, and X has {X.shape[1]} columns")
        refuse_a_skew_table(X[:, kept], kept)
    return KernelChoice(function if kind.is_code else c.kernel, c.gamma, c.coef0, c.degree).on(X)
