"""Certificates of many classes: one for each two-class problem, asked and checked together."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.certificates.kernel_separation import KernelSeparationCertificate
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.certificates.verification import Verification, strange_label

Part = Certificate | SoftMarginCertificate | KernelCertificate | KernelSeparationCertificate


@dataclass(frozen=True, eq=False)
class MulticlassCertificate:
    """The certificates of the two-class problems, in the order of the rows of `coef_`."""

    parts: tuple[Part, ...]

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    def __getitem__(self, index: int) -> Part:
        return self.parts[index]

    def __bool__(self) -> bool:
        raise TypeError("certificates are neither true nor false: ask .is_separable, or .verify(X, y)")

    @property
    def is_separable(self) -> bool | None:
        """True if every part is, False if one is proven not to be, None otherwise."""
        answers = [None if isinstance(part, SoftMarginCertificate) else part.is_separable for part in self.parts]
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
        """Check every part; the reasons name the part. A kernel that is a function must be given again."""
        labels = dict.fromkeys(label for part in self.parts for label in (part.positive, part.negative))
        labels.pop(None, None)  # the rest
        stranger = strange_label(np.asarray(y), tuple(labels), sample_weight)
        if stranger is not None:
            return Verification(False, exact, (stranger,))
        how = {"exact": exact, "sample_weight": sample_weight}
        answers = [
            part.verify(X, y, **how, kernel=kernel)
            if isinstance(part, KernelCertificate | KernelSeparationCertificate)
            else part.verify(X, y, **how)
            for part in self.parts
        ]
        holds = all(answers)
        reasons = tuple(
            f"{name_of(part)}: {reason}"
            for part, answer in zip(self.parts, answers, strict=True)
            if answer.holds == holds
            for reason in answer.reasons
        )
        return Verification(holds, exact, reasons)

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
        from maxmargin.certificates.notebook import certificate_html

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


def kind_of(fields: dict[str, Any]) -> type[Part]:
    """Which certificate these fields are: only those in the space of a kernel have one, only a soft margin a loss."""
    if "kernel" in fields:
        return KernelCertificate if "C" in fields else KernelSeparationCertificate
    return SoftMarginCertificate if "loss" in fields else Certificate


def name_of(part: Part) -> str:
    return f"[{part.positive!r} against {'the rest' if part.negative is None else repr(part.negative)}]"
