"""Certificates of many classes: one for each two-class problem, asked and checked together."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates import certificate, kernel_margin, kernel_separation, soft_margin
from maxmargin.certificates.html import certificate_html
from maxmargin.certificates.record import KINDS, Record
from maxmargin.certificates.report import sides
from maxmargin.certificates.verify import Verification, strange_label

OURS = (certificate, kernel_margin, kernel_separation, soft_margin)  # to import them is to know their kinds


@dataclass(frozen=True, eq=False)
class MulticlassCertificate:
    """The certificates of the two-class problems, in the order of the rows of `coef_`."""

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
        """
        wrong = next(self._refusals(np.asarray(y), sample_weight), None)
        if wrong is not None:
            return Verification(False, exact, (wrong,))
        how = {"exact": exact, "sample_weight": sample_weight}
        answers = [part.verify(X, y, **how, kernel=kernel if hasattr(part, "kernel") else None) for part in self.parts]
        holds = all(answers)
        reasons = tuple(
            f"{name_of(part)}: {reason}"
            for part, answer in zip(self.parts, answers, strict=True)
            if answer.holds == holds
            for reason in answer.reasons
        )
        return Verification(holds, exact, reasons)

    def _refusals(self, y: NDArray[Any], sample_weight: Any) -> Iterator[str]:
        """Why the parts are not the problems that these labels make."""
        if not self.parts or len({type(part) for part in self.parts}) != 1:
            yield "the parts of a certificate must be of one kind, and there must be some"
            return
        sides = [(part.positive, part.negative) for part in self.parts]
        against_the_rest = {negative is None for _, negative in sides}
        if len(against_the_rest) != 1:
            yield "some parts are about a class against the rest, and others about a pair of classes"
            return
        labels: list[Any] = []
        for label in (label for pair in sides for label in pair if label is not None):
            if label not in labels:
                labels.append(label)
        size = 1 if against_the_rest == {True} else 2
        expected = [set(group) for group in itertools.combinations(range(len(labels)), size)]
        found = [{labels.index(label) for label in pair if label is not None} for pair in sides]
        for one in expected:
            if found.count(one) != 1:
                names = " against ".join(repr(labels[k]) for k in sorted(one))
                yield f"there must be one part about {names}, and there are {found.count(one)}"
        if len(found) != len(expected):
            yield f"{len(labels)} labels make {len(expected)} problems, and there are {len(found)} parts"
        stranger = strange_label(y, tuple(labels), sample_weight)
        if stranger is not None:
            yield stranger

    def __repr__(self) -> str:
        verdicts = [part.verdict.name for part in self.parts]
        counts = ", ".join(f"{verdicts.count(name)} {name}" for name in sorted(set(verdicts)))
        return f"MulticlassCertificate({len(self.parts)} problems: {counts})"

    def __str__(self) -> str:
        return self.report()

    def report(self) -> str:
        return "\n".join(f"{name_of(part)}\n{part.report()}" for part in self.parts)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return certificate_html(self)

    def to_dict(self) -> dict[str, Any]:
        return {"parts": [part.to_dict() for part in self.parts]}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> MulticlassCertificate:
        return cls(tuple(kind_of(part).from_dict(part) for part in fields["parts"]))

    def to_json(self) -> str:
        return json.dumps({"parts": [json.loads(part.to_json()) for part in self.parts]}, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> MulticlassCertificate:
        return cls(tuple(kind_of(part).from_json(json.dumps(part)) for part in json.loads(text)["parts"]))


def kind_of(fields: dict[str, Any]) -> type[Record]:
    """Which certificate these fields are: of the kinds that are told by some of them, the one that is told by most."""
    kinds = [kind for kind in KINDS.values() if kind.told_by <= set(fields)]
    return max(kinds, key=lambda kind: len(kind.told_by), default=certificate.Certificate)


def name_of(part: Record) -> str:
    return f"[{sides(part)}]"
