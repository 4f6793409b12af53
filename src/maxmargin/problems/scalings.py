"""One problem, many spellings: where a factor stands in the objective, and the C that means the same.

A plane that is best for an objective is best for every positive multiple of it. So

    p |w|^2 + q sum_i loss_i        divided by 2 p is        1/2 |w|^2 + C sum_i loss_i,      C = q / (2 p)

and only the ratio of the two factors counts: p, as it stands before |w|^2, and q, as it stands before the sum. A mean
over n rows is a sum with q / n.

    written as                                  C              in code
    1/2 |w|^2 + C sum xi                        C              maxmargin, LinearSVC, SVC
    lambda |w|^2 + sum xi                       1/(2 lambda)   C_from(norm_factor=lambda)
    |w|^2 + C' sum xi                           C'/2           C_from(norm_factor=1, loss_factor=C')
    lambda/2 |w|^2 + C' sum xi                  C'/lambda      C_from(norm_factor=lambda / 2, loss_factor=C')
    alpha/2 |w|^2 + 1/n sum xi (SGD, Pegasos)   1/(alpha n)    C_from(norm_factor=alpha / 2, mean_over=n)

The squared hinge is C sum xi^2 here, as in LIBLINEAR: where a text writes C'/2 sum xi^2, loss_factor is C'/2.

Values are not the same, planes are: the other objective, and its dual variables, are 2 p times ours.
"""

from __future__ import annotations

import math

import numpy as np


def C_from(*, norm_factor: float = 0.5, loss_factor: float = 1.0, mean_over: float = 1.0) -> float:
    """The C of 1/2 |w|^2 + C sum loss that has the same planes as

        norm_factor |w|^2 + loss_factor / mean_over sum loss

    Parameters
    ----------
    norm_factor : float, default=0.5
        What stands before the square of the norm.
    loss_factor : float, default=1
        What stands before the sum, or the mean, of the losses.
    mean_over : float, default=1
        What the sum is divided by where the loss is a mean: the number of samples.

    Returns
    -------
    float
        C.

    Examples
    --------
    >>> from maxmargin import C_from
    >>> C_from(norm_factor=0.05)                                 # 0.05 |w|^2 + sum xi
    10.0
    >>> C_from(norm_factor=1, loss_factor=20)                    # |w|^2 + 20 sum xi
    10.0
    >>> C_from(norm_factor=0.5 / 2, loss_factor=5)               # 0.5/2 |w|^2 + 5 sum xi
    10.0
    >>> C_from(norm_factor=0.001 / 2, mean_over=100)             # SGDClassifier(alpha=0.001) on 100 rows
    10.0
    """
    check(norm_factor=norm_factor, loss_factor=loss_factor, mean_over=mean_over)
    return loss_factor / mean_over / (2.0 * norm_factor)


def norm_factor_from(C: float, *, loss_factor: float = 1.0, mean_over: float = 1.0) -> float:
    """The factor before |w|^2 that says the same as C, where the loss has these factors.

    Parameters
    ----------
    C : float
        Of 1/2 |w|^2 + C sum loss.
    loss_factor : float, default=1
        What stands before the sum, or the mean, of the losses.
    mean_over : float, default=1
        What the sum is divided by where the loss is a mean: the number of samples.

    Returns
    -------
    float
        The factor.

    Examples
    --------
    >>> from maxmargin import norm_factor_from
    >>> norm_factor_from(10)                                     # the lambda of lambda |w|^2 + sum xi
    0.05
    >>> 2 * norm_factor_from(10, mean_over=100)                  # the alpha of SGDClassifier for 100 rows
    0.001
    """
    check(C=C, loss_factor=loss_factor, mean_over=mean_over)
    return loss_factor / mean_over / (2.0 * C)


def loss_factor_from(C: float, *, norm_factor: float = 0.5, mean_over: float = 1.0) -> float:
    """The factor before the sum (or before the mean) that says the same as C, where |w|^2 has this factor.

    Parameters
    ----------
    C : float
        Of 1/2 |w|^2 + C sum loss.
    norm_factor : float, default=0.5
        What stands before the square of the norm.
    mean_over : float, default=1
        What the sum is divided by where the loss is a mean: the number of samples.

    Returns
    -------
    float
        The factor.

    Examples
    --------
    >>> from maxmargin import loss_factor_from
    >>> loss_factor_from(10, norm_factor=1)                      # the C' of |w|^2 + C' sum xi
    20.0
    """
    check(C=C, norm_factor=norm_factor, mean_over=mean_over)
    return C * mean_over * (2.0 * norm_factor)


def check(**factors: float) -> None:
    """Every factor is a positive number; True is none."""
    for name, factor in factors.items():
        if isinstance(factor, bool | np.bool_) or not 0.0 < factor < math.inf:
            raise ValueError(f"{name} must be positive and finite, not {factor!r}")
