"""Does a plane separate the classes, and by which margins? An answer with proof, either way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.certificates.normalized import NormalizedMargin, follows_from
from maxmargin.certificates.verify import problem_of
from maxmargin.certificates.words import between, rounded_down, rounded_up
from maxmargin.estimators.hard_margin import HardMarginSVM
from maxmargin.run.control import collected
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
    memory: str | int | None = None,
    client: Any = None,
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

    Of a table that is read by blocks (`scan_table`, or what Dask computes), `memory` is the most that may be taken,
    such as "512MB", and `client` the Dask cluster that reads it: a few passes over the table, the same certificates;
    nobody looks for a weakly separating plane then.

    `print` it, ask `.is_separable`, or check it with `.verify(X, y, exact=True)`. For more than two labels there is
    one certificate for each class against the rest (or for each pair, with multi_class="ovo").

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their labels.
    norm : {"l2", "l1"}, default="l2"
        By which w is measured.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    multi_class : {"ovr", "ovo"}, default="ovr"
        Of more than two labels: each class against the rest, or each pair.
    max_time : float, default=None
        Seconds. What is proven by then is true, and may be less.
    memory : str or int, default=None
        Of a table that is read by blocks: the most that may be taken, such as "512MB".
    client : distributed.Client or str, default=None
        Of such a table: the Dask cluster that reads it.

    Returns
    -------
    Certificate or MulticlassCertificate
        `print` it, ask `.is_separable`, or check it with `.verify(X, y, exact=True)`.

    Examples
    --------
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
        memory=memory,
        client=client,
    )
    with collected():  # the verdict says how it ended
        certificate: Certificate | MulticlassCertificate = decider.fit(X, y).certificate_
    return certificate


@dataclass(frozen=True, eq=False)
class TwoMargins:
    """The two margins of the rows at length 1, each proven from both sides, and how they are tied.

    Lifted rows are a = (x, 1), or x without a bias, in m coordinates; v is (w, b), or w.

    Parameters
    ----------
    l2 : NormalizedMargin
        g_P = max_v min y v.a / (|v|_2 |a|_2), the largest cosine, lies between .lower and .upper.
    l1 : NormalizedMargin
        g_W = max_v min y v.a / (|v|_1 |a|_inf), likewise.
    m : int
        Each is at most sqrt(m) times the other; one is positive exactly when the other is.
    certificates : pair of Certificate
        Of the planes and weights that prove them, on the rows as they are: .margin_lower is the margin of the
        plane in the space of X.

    Examples
    --------
    >>> from maxmargin import two_margins
    >>> answer = two_margins([[1, 0], [0, 1], [-1, -1]], [1, 1, 0])
    >>> answer.l2.lower <= answer.l2.upper, answer.m
    (True, 3)
    """

    l2: NormalizedMargin
    l1: NormalizedMargin
    m: int
    certificates: tuple[Certificate, Certificate]

    def verify(self, X: Any, y: Any, *, exact: bool = False) -> bool:
        """Whether all of it follows from the raw data, by code that imports no solver; exact: in fractions.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        exact : bool, default=False
            Whether to decide in rational arithmetic.

        Returns
        -------
        bool
            False where anything does not follow.
        """
        found = []
        for claimed, c in zip((self.l2, self.l1), self.certificates, strict=True):
            holds = bool(c.verify(X, y, exact=exact))
            found.append(holds and follows_from(c, claimed, problem_of(c, X, y, None), exact=exact))
        return all(found) and self.m == self.certificates[0].n_columns + int(self.certificates[0].fit_intercept)

    @property
    def is_tied(self) -> bool:
        """Whether the bounds agree with g_P / sqrt(m) <= g_W <= sqrt(m) g_P: they do, if they are true."""
        root = math.sqrt(self.m) * (1.0 + 1e-15)
        return self.l2.lower <= root * self.l1.upper and self.l1.lower <= root * self.l2.upper

    def to_dict(self) -> dict[str, Any]:
        """Plain values.

        Returns
        -------
        dict
            By the names of the margins.
        """
        own = [certificate.margin_lower for certificate in self.certificates]
        return {
            "m": self.m,
            **{
                name: {"lower": margin.lower, "upper": margin.upper, "margin_in_own_space": plane}
                for name, margin, plane in zip(("l2", "l1"), (self.l2, self.l1), own, strict=True)
            },
        }

    def __str__(self) -> str:
        bias = ", the 1 of a bias counted in" if self.certificates[0].fit_intercept else ""
        lines = [f"Two margins of the rows at length 1{bias}:"]
        if self.l2.upper == 0.0:
            return "\n".join([*lines, "  no plane separates the classes: both are 0"])
        for words, margin, c in zip(
            ("l2, g_P, a cosine", "l1, g_W"), (self.l2, self.l1), self.certificates, strict=True
        ):
            reached = f"an {c.norm} margin of at least {rounded_down(c.margin_lower, 6)}"
            own = f"its plane has {reached} on the rows as they are"
            lines.append(f"  {words}: {between(margin.lower, margin.upper, 9)}; {own}")
        low, high = rounded_down(self.l2.lower / math.sqrt(self.m), 6), rounded_up(math.sqrt(self.m) * self.l2.upper, 6)
        lines.append(f"  tied, m = {self.m} coordinates: g_P / sqrt(m) <= g_W <= sqrt(m) g_P, from {low} to {high}")
        return "\n".join(lines)


def two_margins(X: Any, y: Any, *, fit_intercept: bool = True, max_time: float | None = None) -> TwoMargins:
    """Both margins of two classes, of the rows at length 1: the largest cosine (l2) and its l1 relative.

    A perceptron makes at most 1 / g_P^2 mistakes on such rows, and Winnow at most about (16/3) ln(2 m) / g_W^2.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their labels.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_time : float, default=None
        Seconds. What is proven by then is true, and may be less.

    Returns
    -------
    TwoMargins
        `l2` and `l1`, each with `lower` and `upper`.

    Examples
    --------
    >>> from maxmargin import two_margins
    >>> print(two_margins([[1, 0], [0, 1], [-1, 0], [0, -1]], [1, 1, 0, 0], fit_intercept=False))
    Two margins of the rows at length 1:
      l2, g_P, a cosine: between 0.707106781 and 0.707106782; its plane has an l2 margin of at least 0.707106 on the ...
      l1, g_W: between 0.499999999 and 0.500000001; its plane has an l1 margin of at least 0.499999 on the rows as ...
      tied, m = 2 coordinates: g_P / sqrt(m) <= g_W <= sqrt(m) g_P, from 0.499999 to 1.00001
    """
    found = []
    for norm in ("l2", "l1"):
        best = HardMarginSVM(
            norm, fit_intercept=fit_intercept, normalize_rows=True, on_inseparable="return", max_time=max_time
        )
        with collected():  # the bounds say how it ended
            best.fit(X, y)
        if not isinstance(best.certificate_, Certificate):
            raise ValueError(
                f"two_margins compares two classes, and y has {len(best.classes_)}: ask about one of them, y == label"
            )
        found.append(best)
    l2, l1 = found
    m = l2.n_features_in_ + int(fit_intercept)
    return TwoMargins(l2.normalized_margin_, l1.normalized_margin_, m, (l2.certificate_, l1.certificate_))
