"""What an audit found: the planes of a model, each beside the proven optimum of its question."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.duality import OUTWARDS, PrimalValue
from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.certificates.record import plain, spell_out
from maxmargin.certificates.report import PARTS_SHOWN
from maxmargin.certificates.soft_margin import SoftMarginCertificate
from maxmargin.certificates.words import between, rounded_down, rounded_up
from maxmargin.problems.statement import TwoClasses


def down(share: float) -> str:
    """Three digits that are not more than the share, as a power of ten."""
    return f"{float(rounded_down(share, 3)):.2e}"


def up(share: float) -> str:
    """Three digits that are not less than the share, as a power of ten."""
    return f"{float(rounded_up(share, 3)):.2e}"


@dataclass(frozen=True, eq=False)
class ObjectivePart:
    """One plane of a model, by its objective.

    positive, negative      the labels on the two sides; negative None: all others
    objective               of the plane as it is, rounding included: surely not more
    objective_best_bias     with the bias that is best for its w
    optimum_lower           no plane has an objective below this; `certificate` proves it
    optimum_upper           the lowest objective that is known
    least_excess, excess    the objective is at least and at most this much above the optimum, as a share of it
    certificate             of the optimum
    """

    positive: Any
    negative: Any
    objective: float
    objective_best_bias: float
    optimum_lower: float
    optimum_upper: float
    least_excess: float
    excess: float
    certificate: SoftMarginCertificate | KernelCertificate

    @property
    def fares(self) -> tuple[float, ...]:
        """How well: the smaller, the worse."""
        return (-self.excess, -self.least_excess)

    def lines(self) -> list[str]:
        """For a person."""
        return [
            f"objective {self.objective:.9g}; with the best bias for its plane {self.objective_best_bias:.9g}",
            f"optimum: {between(self.optimum_lower, self.optimum_upper, 9)}",
            f"above the optimum: at least {down(self.least_excess)}{self.at_most}",
        ]

    @property
    def at_most(self) -> str:
        return (
            f", at most {up(self.excess)} of it" if math.isfinite(self.excess) else " of it; no upper bound is proven"
        )


@dataclass(frozen=True, eq=False)
class MarginPart:
    """One plane of a model that promises to separate, by its margin.

    margin                  of the plane as it is, surely not less: negative if a row is on the wrong side
    margin_best_bias        with the bias in the middle
    mistakes                how many rows are not on their side of the plane
    best_lower, best_upper  the best margin of any plane lies between them; `certificate` proves it
    share                   the margin as a share of the best: surely not less; 0 if the plane does not separate
    is_separable            whether a plane exists; None where that is not decided
    """

    positive: Any
    negative: Any
    margin: float
    margin_best_bias: float
    mistakes: int
    best_lower: float
    best_upper: float
    share: float
    is_separable: bool | None
    certificate: Certificate

    @property
    def fares(self) -> tuple[float, ...]:
        """How well: the smaller, the worse."""
        return (self.is_separable is not False, -self.mistakes, self.share)

    def lines(self) -> list[str]:
        """For a person."""
        here, moved = rounded_down(self.margin, 9), rounded_down(self.margin_best_bias, 9)
        found = f"margin at least {here}; with the best bias for its plane at least {moved}"
        if self.mistakes:
            found = f"does not separate: {self.mistakes:,} of {self.certificate.n_rows:,} rows are not on their side"
        if self.is_separable is False:
            return [found, "no plane separates them, which is proven by a witness"]
        best = f"best margin: {between(self.best_lower, self.best_upper, 9)}"
        return [found, best, f"at least {rounded_down(self.share, 4)} of the best margin"]


@dataclass(frozen=True, eq=False)
class Audit:
    """What is proven about a model: one part for each of its planes. `print` it.

    Parameters
    ----------
    model : str
        Which one.
    problem : str
        Which question it was to answer.
    notes : tuple of str
        Where its question is not ours.
    parts : tuple
        An `ObjectivePart` for each plane; or a `MarginPart`, where it promises to separate.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from maxmargin import audit
    >>> X, y = [[0, 0], [1, 1], [2, 0], [3, 1], [1, 0]], [0, 0, 1, 1, 1]
    >>> answer = audit(LinearSVC(max_iter=100_000).fit(X, y), X, y)
    >>> len(answer), 0.0 <= answer.least_excess <= answer.excess < 0.01
    (1, True)
    """

    model: str
    problem: str
    notes: tuple[str, ...]
    parts: tuple[ObjectivePart, ...] | tuple[MarginPart, ...]

    def __iter__(self) -> Iterator[ObjectivePart | MarginPart]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def excess(self) -> float:
        """How far the worst plane is above its optimum at most, as a share of it; NaN where the margin is measured."""
        return max((part.excess for part in self.parts if isinstance(part, ObjectivePart)), default=math.nan)

    @property
    def least_excess(self) -> float:
        """How far the worst plane is above its optimum at least; NaN where the margin is measured."""
        return max((part.least_excess for part in self.parts if isinstance(part, ObjectivePart)), default=math.nan)

    @property
    def share(self) -> float:
        """The least share of the best margin that a plane has; NaN where objectives are measured."""
        return min((part.share for part in self.parts if isinstance(part, MarginPart)), default=math.nan)

    @property
    def verdict(self) -> str:
        """The whole of it in a sentence."""
        if isinstance(self.parts[0], ObjectivePart):
            return f"{self.model} {self._distance}"
        parts = [part for part in self.parts if isinstance(part, MarginPart)]
        impossible = sum(part.is_separable is False for part in parts)
        if impossible:
            asked = f"{impossible} of {len(parts)} questions"
            return f"{self.model}: {asked} have no plane that separates the classes, which is proven."
        missed = sum(part.mistakes > 0 and part.is_separable is True for part in parts)
        if missed:
            return f"{self.model} misses {missed} of {len(parts)} planes that separate the classes, and which exist."
        undecided = sum(part.mistakes > 0 and part.is_separable is None for part in parts)
        if undecided:
            asked = f"{undecided} of {len(parts)} questions"
            return f"{self.model}: of {asked} it is undecided whether a plane separates the classes; its own do not."
        return f"{self.model} has at least {rounded_down(self.share, 4)} of the best margin, which is proven."

    @property
    def _distance(self) -> str:
        """Of the worst plane from its optimum, as far as that is known."""
        unknown = sum(part.certificate.verdict.name != "OPTIMAL" for part in self.parts)
        of_them = f" of {unknown} of {len(self.parts)} planes" if len(self.parts) > 1 else ""
        if not math.isfinite(self.excess):
            return (
                f"is at an unknown distance from the optimum: no bound{of_them} was proven in the time that there was."
            )
        if unknown:
            said = f"is between {down(self.least_excess)} and {up(self.excess)} (relative) above the optimum"
            return f"{said}, which is proven; nearer the optimum{of_them} is not known. More time may tell."
        return f"is at most {up(self.excess)} (relative) above the optimum, which is proven."

    def report(self) -> str:
        """For a person: all planes, or of very many those that fare worst.

        Returns
        -------
        str
            What `print` shows.
        """
        lines = [self.verdict, f"  {self.problem}"]
        parts: list[ObjectivePart | MarginPart] = list(self.parts)
        if len(parts) > PARTS_SHOWN:
            parts = sorted(parts, key=lambda part: part.fares)[:PARTS_SHOWN]
            lines.append(f"  the {PARTS_SHOWN} of {len(self.parts):,} planes that fare worst; `parts` has all")
        for part in parts:
            other = "the rest" if part.negative is None else repr(part.negative)
            lines.append(f"  {part.positive!r} against {other}")
            lines += [f"    {line}" for line in part.lines()]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        return f"Audit({self.verdict})"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values only.

        Returns
        -------
        dict
            By the names of the fields.
        """
        parts = [
            {field.name: plain(getattr(part, field.name)) for field in dataclasses.fields(part)}
            | {"certificate": part.certificate.to_dict()}
            for part in self.parts
        ]
        return {
            "model": self.model,
            "problem": self.problem,
            "verdict": self.verdict,
            "excess": self.excess,
            "least_excess": self.least_excess,
            "share": self.share,
            "notes": list(self.notes),
            "parts": parts,
        }

    def to_json(self) -> str:
        """One line of JSON; what JSON cannot hold is written as {"number": "inf"}.

        Returns
        -------
        str
            One line.
        """
        return json.dumps(spell_out(self.to_dict()), allow_nan=False)


def against(
    two: TwoClasses, own: PrimalValue, best: PrimalValue, certificate: SoftMarginCertificate | KernelCertificate
) -> ObjectivePart:
    """What the numbers prove."""
    lower, upper = certificate.dual, min(certificate.primal, own.upper, best.upper)
    surely = own.value - OUTWARDS * own.error if math.isfinite(own.error) else 0.0
    return ObjectivePart(
        positive=two.positive,
        negative=two.negative,
        objective=own.upper,
        objective_best_bias=min(own.upper, best.upper),
        optimum_lower=lower,
        optimum_upper=upper,
        least_excess=min(max(0.0, surely / upper - 1.0), sys.float_info.max) if upper > 0.0 else 0.0,
        excess=own.upper / lower - 1.0 if lower > 0.0 else math.inf if own.upper > 0.0 else 0.0,
        certificate=certificate,
    )
