"""Certificates of many classes: one for each two-class problem, asked and checked together."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.certificates import certificate, kernel_margin, kernel_separation, soft_margin
from maxmargin.certificates.block_margin import BlockMarginCertificate
from maxmargin.certificates.html import certificate_html
from maxmargin.certificates.record import KINDS, Record
from maxmargin.certificates.report import Verification, name_of, report_of_many
from maxmargin.certificates.verify import strange_label
from maxmargin.data.table import column_at_hand

OURS = (certificate, kernel_margin, kernel_separation, soft_margin)  # to import them is to know their kinds


@dataclass(frozen=True, eq=False)
class MulticlassCertificate:
    """The certificates of the two-class problems, in the order of the rows of `coef_`.

    Parameters
    ----------
    parts : tuple of certificates
        One certificate for each, all of one kind.

    Examples
    --------
    >>> from maxmargin import LinearSVM
    >>> X, y = [[0], [1], [4], [5], [9], [10]], ["a", "a", "b", "b", "c", "c"]
    >>> certificate = LinearSVM().fit(X, y).certificate_
    >>> [part.positive for part in certificate.parts], bool(certificate.verify(X, y))
    (['a', 'b', 'c'], True)
    """

    parts: tuple[Record, ...]

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.parts)

    def __getitem__(self, index: int) -> Record:
        return self.parts[index]

    def __bool__(self) -> bool:
        raise TypeError("certificates are neither true nor false: ask .is_separable, or .verify(X, y)")

    @property
    def is_separable(self) -> bool | None:
        """True if every part is, False if one is proven not to be, None otherwise."""
        answers = [part.is_separable for part in self.parts]
        return False if False in answers else None if None in answers else True

    @property
    def is_optimal(self) -> bool:
        """Whether every part is proven to its tol."""
        return all(part.verdict.name == "OPTIMAL" for part in self.parts)

    @property
    def relative_gap(self) -> float:
        """The largest of the parts; NaN if a part has none."""
        gaps = [part.relative_gap for part in self.parts]
        return math.nan if any(map(math.isnan, gaps)) else max(gaps)

    def verify(
        self, X: Any, y: Any, *, exact: bool = False, sample_weight: Any = None, kernel: Any = None
    ) -> Verification:
        """Check that every class, or every pair of classes, has its part, and every part; the reasons name the part.

        A kernel that is a function must be given again.

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
        kernel : callable, default=None
            The kernel, where it is a function of yours.

        Returns
        -------
        Verification
            True or False in an `if`; the reasons when it is printed.
        """
        claims = [part for part in self.parts if isinstance(part, BlockMarginCertificate)]
        wrong = next(self._refusals(), None)
        if wrong is None and claims:
            from maxmargin.certificates.block_verification import verify_together

            answers, seen = verify_together(claims, X, y, sample_weight, exact)
            strange = [label for label in seen if label not in self._labels()]
            wrong = f"there are rows with the label {strange[0]!r}, and no part is about it" if strange else None
        elif wrong is None:
            wrong = strange_label(np.asarray(column_at_hand(y)), self._labels(), column_at_hand(sample_weight))
        if wrong is not None:
            return Verification(False, exact, (wrong,))
        if not claims:
            how = {"exact": exact, "sample_weight": sample_weight}
            answers = [
                part.verify(X, y, **how, kernel=kernel if hasattr(part, "kernel") else None) for part in self.parts
            ]
        holds = all(answers)
        reasons = tuple(
            f"{name_of(part)}: {reason}"
            for part, answer in zip(self.parts, answers, strict=True)
            if answer.holds == holds
            for reason in answer.reasons
        )
        return Verification(holds, exact, reasons)

    def slim(self) -> MulticlassCertificate:
        """What the parts say, without the rows and weights that prove them.

        Returns
        -------
        MulticlassCertificate
            It shows the same verdicts and bounds, and `verify` refuses it.
        """
        return MulticlassCertificate(tuple(part.slim() for part in self.parts))

    def _labels(self) -> tuple[Any, ...]:
        """Of all parts, each once."""
        labels: list[Any] = []
        for label in (label for part in self.parts for label in (part.positive, part.negative) if label is not None):
            if label not in labels:
                labels.append(label)
        return tuple(labels)

    def _refusals(self) -> Iterator[str]:
        """Why the parts are not the problems that their labels make."""
        if not self.parts or len({type(part) for part in self.parts}) != 1:
            yield "the parts of a certificate must be of one kind, and there must be some"
            return
        sides = [(part.positive, part.negative) for part in self.parts]
        against_the_rest = {negative is None for _, negative in sides}
        if len(against_the_rest) != 1:
            yield "some parts are about a class against the rest, and others about a pair of classes"
            return
        labels = self._labels()
        size = 1 if against_the_rest == {True} else 2
        expected = [set(group) for group in itertools.combinations(range(len(labels)), size)]
        found = [{labels.index(label) for label in pair if label is not None} for pair in sides]
        for one in expected:
            if found.count(one) != 1:
                names = " against ".join(repr(labels[k]) for k in sorted(one))
                yield f"there must be one part about {names}, and there are {found.count(one)}"
        if len(found) != len(expected):
            yield f"{len(labels)} labels make {len(expected)} problems, and there are {len(found)} parts"

    def __repr__(self) -> str:
        verdicts = [part.verdict.name for part in self.parts]
        counts = ", ".join(f"{verdicts.count(name)} {name}" for name in sorted(set(verdicts)))
        return f"MulticlassCertificate({len(self.parts)} problems: {counts})"

    def __str__(self) -> str:
        return self.report()

    def report(self) -> str:
        """For a person, part by part; of very many parts, what holds for all, and those of which least is proven.

        Returns
        -------
        str
            What `print` shows.
        """
        return report_of_many(self.parts)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return certificate_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values only; `from_dict` is the way back.

        Returns
        -------
        dict
            `parts`, one for each problem.
        """
        return {"parts": [part.to_dict() for part in self.parts]}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> MulticlassCertificate:
        """What `to_dict` wrote.

        Parameters
        ----------
        fields : dict
            What `to_dict` wrote.

        Returns
        -------
        MulticlassCertificate
            Not verified: ask `verify`.
        """
        return cls(tuple(kind_of(part).from_dict(part) for part in fields["parts"]))

    def to_json(self) -> str:
        """One line of JSON.

        Returns
        -------
        str
            For `from_json`.
        """
        return json.dumps({"parts": [json.loads(part.to_json()) for part in self.parts]}, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> MulticlassCertificate:
        """What `to_json` wrote.

        Parameters
        ----------
        text : str
            What `to_json` wrote.

        Returns
        -------
        MulticlassCertificate
            Not verified: ask `verify`.
        """
        return cls(tuple(kind_of(part).from_json(json.dumps(part)) for part in json.loads(text)["parts"]))


def kind_of(fields: dict[str, Any]) -> type[Record]:
    """Which certificate these fields are: of the kinds that they are enough for, the one that asks for most of them."""
    kinds = [kind for kind in KINDS.values() if kind.recognised_by <= set(fields)]
    return max(kinds, key=lambda kind: len(kind.recognised_by), default=certificate.Certificate)
