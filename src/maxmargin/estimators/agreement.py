"""Whether a fitted estimator predicts by the planes that its certificate is about.

A certificate is checked against data, and says nothing about the arrays that predict. Here they are compared:

    linear      (coef_, intercept_) = t (w, b) of the certificate
    kernel      (dual_coef_, intercept_) = t (y_i a'_i, b), on the rows that the certificate names. a' are its weights,
                with the heavier class scaled down to the other; the mistake counts of a perceptron as they are. A
                witness that no plane separates is of the data: there is no plane to compare with
    stream      (coef_, intercept_) is the plane at which its run stands, or the mean over it: there is no certificate

t > 0 is one factor for all planes of a model: many classes are told apart by the values of their planes. Both sides
were computed from the same numbers, by a few multiplications and divisions of each, so that they agree, entry by entry,
to a few roundings; `roundings` counts them. The planes of a hard margin in the space of a kernel are scaled by their
own margins, which the certificate knows to its gap: so far their factors are compared.

The sides of the rows, and the support vectors, are those of the record of the fit (`base`), and with the data at hand
those of the data. A dual_coef_ that predicts nothing (of linear estimators) has a factor of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.duality import LIGHTEST
from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.certificates.record import is_witness_of_kernel
from maxmargin.certificates.report import name_of
from maxmargin.data.table import Vector
from maxmargin.estimators.base import vectors_of
from maxmargin.problems.choices import Strategy
from maxmargin.problems.statement import plain

UNIT = 2.0**-53
LEAST = math.ulp(0.0)
TINY = 2.0**-1022  # planes of smaller numbers are compared as they are: a factor would hide what underflow took
ALMOST = 1e-9  # in sentences only: a plane that is so near to its opposite is called that
FEW = 16  # roundings of a product or a quotient on either side, and of their comparison


class Factor(NamedTuple):
    """found = t expected, with low <= t <= high; or the entry where that is not so, of a plane scaled by `high`."""

    low: float
    high: float
    entry: int = -1


def sides_of_planes(classes: NDArray[Any], strategy: Strategy) -> list[tuple[Any, Any]]:
    """The labels on the positive and on the negative side of each plane; None: all others."""
    labels = [plain(label) for label in classes]
    if len(labels) == 2:
        return [(labels[1], labels[0])]
    if strategy is Strategy.ONE_VERSUS_REST:
        return [(label, None) for label in labels]
    return list(itertools.combinations(labels, 2))


def disagreements(estimator: Any) -> list[str]:
    """What a fitted estimator shows that is not what its certificate says, as sentences; none if it agrees.

    An estimator that has neither a certificate nor a run of its own, such as one that was read from the file of another
    program, claims nothing.

    >>> from maxmargin import LinearSVM
    >>> svm = LinearSVM().fit([[0, 0], [0, 2], [3, 0], [5, 1]], ["left", "left", "right", "right"])
    >>> disagreements(svm)
    []
    >>> svm.coef_ = -svm.coef_
    >>> disagreements(svm)[0]
    "['right' against 'left']: coef_[0, 0] is -0.666..., and its certificate says 0.666...: it points the other way"
    """
    certificate = getattr(estimator, "certificate_", None)
    if certificate is None:
        return list(of_stream(estimator)) if getattr(estimator, "_runs", None) else []
    parts = certificate.parts
    found = list(of_shapes(estimator, parts)) or list(of_support(estimator, parts))
    if found:
        return found
    factors = []
    for line, part in enumerate(parts):
        reasons, factor = of_plane(estimator, line, part)
        found += [f"{name_of(part)}: {reason}" for reason in reasons]
        factors.append(factor)
    return found or list(of_factors(parts, factors))


def of_stream(estimator: Any) -> Iterator[str]:
    """The planes of a stream are those at which its runs stand."""
    for line, run in enumerate(estimator._runs):
        scale, mass, *_, weight = run.position
        is_mean = run.average and len(run.v_lag) > 0 and weight != 0.0
        terms = (np.abs(mass * run.v) + np.abs(run.v_lag)) / abs(weight) if is_mean else np.abs(scale * run.v)
        if estimator.coef_[line].shape != run.w.shape:
            yield f"coef_[{line}] has {estimator.coef_.shape[1]} entries, and its run {len(run.w)}"
        elif np.any(np.abs(estimator.coef_[line] - run.w) > FEW * UNIT * terms + 4.0 * LEAST):
            entry = int(np.argmax(np.abs(estimator.coef_[line] - run.w)))
            yield (
                f"coef_[{line}, {entry}] is {estimator.coef_[line, entry]:.9g}, and the run of the stream stands at "
                f"{run.w[entry]:.9g}"
            )
        if abs(estimator.intercept_[line] - run.b) > FEW * UNIT * (abs(run.position.b) + abs(run.b)) + 4.0 * LEAST:
            yield f"intercept_[{line}] is {estimator.intercept_[line]:.9g}, and the run stands at {run.b:.9g}"


def of_shapes(estimator: Any, parts: tuple[Any, ...]) -> Iterator[str]:
    """A part for each plane, about its labels and its columns, and a plane of that size."""
    sides = sides_of_planes(estimator.classes_, estimator._strategy)
    if len(parts) != len(sides):
        yield f"the certificate has {len(parts)} parts, and {len(estimator.classes_)} classes need {len(sides)} planes"
        return
    kernel = getattr(estimator, "_kernel", None)
    for (positive, negative), part in zip(sides, parts, strict=True):
        if (part.positive, part.negative) != (positive, negative):
            other = "the rest" if negative is None else repr(negative)
            yield f"the plane between {positive!r} and {other} has the certificate of {name_of(part)}"
        n_columns = 1 if getattr(kernel, "of_objects", False) else estimator.n_features_in_  # the places of objects
        if part.n_columns != n_columns:
            yield f"{name_of(part)}: {part.n_columns} columns, and the model takes {n_columns}"
        yield from of_kernel(kernel, part)
    planes = estimator.dual_coef_ if kernel is not None else estimator.coef_
    wanted = (len(sides), len(estimator.support_) if kernel is not None else estimator.n_features_in_)
    if np.shape(planes) != wanted or np.shape(estimator.intercept_) != (len(sides),):
        yield f"its planes have the shapes {np.shape(planes)} and {np.shape(estimator.intercept_)}, not {wanted}"


def of_kernel(kernel: Any, part: Any) -> Iterator[str]:
    """The kernel that predicts is the certificate's."""
    if kernel is None or not hasattr(part, "kernel"):
        if (kernel is None) == hasattr(part, "kernel"):
            yield f"{name_of(part)}: {'no' if kernel is None else 'a'} kernel, other than in its certificate"
        return
    for name in ("name", "gamma", "coef0", "degree"):
        own = getattr(kernel, name)
        said = part.kernel if name == "name" else getattr(part, name)
        if own != said:
            what = "its kernel" if name == "name" else f"{name} of its kernel"
            yield f"{name_of(part)}: {what} is {own}, and its certificate says {said}"
    if kernel.shift is not None and not kernel.is_shift_invariant:
        yield f"{name_of(part)}: its {kernel.name} kernel moves the rows, which changes it"


def of_support(estimator: Any, parts: tuple[Any, ...]) -> Iterator[str]:
    """The rows of the certificate are those of the estimator, and as the fit has seen them."""
    if "support_" not in vars(estimator):
        return
    has_plane = np.array([not is_witness_of_kernel(part) for part in parts])
    carrying = [part.rows[part.weights > 0.0] for part in parts]
    named = np.unique(np.concatenate([np.zeros(0, np.intp), *itertools.compress(carrying, has_plane)]))
    if not np.array_equal(
        named, estimator.support_ if np.all(has_plane) else np.intersect1d(named, estimator.support_)
    ):
        yield "support_ are not the rows that carry weight in its certificate"
        return
    if np.shape(estimator.n_support_) != has_plane.shape or any(
        len(rows) != said for rows, said, known in zip(carrying, estimator.n_support_, has_plane, strict=True) if known
    ):
        yield "n_support_ does not count the rows that carry weight in its certificate"
    if np.shape(estimator.dual_coef_) != (len(parts), len(estimator.support_)):
        yield f"dual_coef_ has the shape {np.shape(estimator.dual_coef_)}, not one line of support_ for each plane"
        return
    seen = getattr(estimator, "_seen", None)
    if seen is None:
        return
    if seen["codes"] is not None and np.shape(seen["codes"]) != estimator.support_.shape:
        yield "the record of its fit has another number of rows than support_"
    if seen["vectors"] not in (None, vectors_of(estimator)):
        yield "support_vectors_, or what its kernel subtracts from them, are not those of its fit"


def of_plane(estimator: Any, line: int, part: Any) -> tuple[list[str], Factor]:
    """What of a plane is not its certificate's; and the factor between them."""
    reasons: list[str] = []
    any_factor = Factor(0.0, math.inf)
    if is_witness_of_kernel(part):
        return [], any_factor
    bias = float(estimator.intercept_[line])
    weights, roundings, array = np.zeros(0), float(FEW), "coef_"
    if "support_" in vars(estimator):
        signs = signs_of(estimator, line, part)
        if isinstance(signs, str):
            return [signs], any_factor
        weights, roundings = shown_weights(estimator, part, signs), FEW + float(len(part.rows))
        dual = estimator.dual_coef_[line]
    if getattr(estimator, "_kernel", None) is not None:
        array, expected, found = "dual_coef_", np.append(weights, part_bias(part, weights)), np.append(dual, bias)
    else:
        if len(weights) and np.any(dual):
            apart = factor_of(dual, weights, roundings, least=0.0)
            reasons = said_of(apart, dual, weights, "dual_coef_", line, len(dual))
        w, b = estimator.plane_of(part)
        expected, found, roundings = np.append(w, b), np.append(estimator.coef_[line], bias), float(FEW)
    factor = factor_of(found, expected, roundings)
    reasons = said_of(factor, found, expected, array, line, len(found) - 1) + reasons
    if isinstance(part, KernelCertificate) and part.is_hard:
        return reasons, factor_by_margin(estimator, line, part)
    spread = 2.0 * (FEW + len(expected) + roundings) * UNIT  # the length of w, or the sums of the weights, enter it
    return reasons, Factor(factor.low * (1.0 - spread), factor.high * (1.0 + spread))


def signs_of(estimator: Any, line: int, part: Any) -> Vector | str:
    """+1 and -1 for the rows that carry weight in a part: by the record of the fit, or a sentence why they are not."""
    rows = part.rows[part.weights > 0.0]
    places = np.searchsorted(estimator.support_, rows)
    codes = (getattr(estimator, "_seen", None) or {}).get("codes")
    if codes is None:  # of an older file: by its own signs, until the data are there
        return np.where(estimator.dual_coef_[line, places] < 0.0, -1.0, 1.0)
    labels = estimator.classes_[codes[places]]
    positive = np.array([label == part.positive for label in labels], dtype=bool)
    negative = ~positive if part.negative is None else np.array([label == part.negative for label in labels], bool)
    if not np.all(positive | negative):
        row = int(rows[np.flatnonzero(~(positive | negative))[0]])
        return f"row {row} carries weight in its certificate, and was of another class in the fit"
    return np.where(positive, 1.0, -1.0)


def shown_weights(estimator: Any, part: Any, signs: Vector) -> Vector:
    """y_i a_i of the certificate as `dual_coef_` shows them, up to a factor: zero for the other rows of support_."""
    carrying = part.weights > 0.0
    a = part.weights[carrying]
    is_lifted = part.is_lifted or getattr(estimator, "normalize_rows", False)
    if not is_lifted and getattr(part, "fit_intercept", True):
        sums = math.fsum(a[signs > 0]), math.fsum(a[signs < 0])
        lighter, heavier = min(sums), max(sums)
        if isinstance(part, Certificate):
            lighter = 1.0 if lighter == 0.0 else lighter
        elif not LIGHTEST * heavier < lighter:
            lighter = 0.0
        with np.errstate(over="ignore"):
            a = a * np.where(signs > 0, *(lighter / total if total > 0.0 else 0.0 for total in sums))
    line = np.zeros(len(estimator.support_))
    line[np.searchsorted(estimator.support_, part.rows[carrying])] = a * signs
    return line


def part_bias(part: Any, weights: Vector) -> float:
    """The bias of a certificate's plane; that of a perceptron is the sum of its mistakes."""
    if part.is_lifted:
        return float(math.fsum(weights)) if part.fit_intercept else 0.0
    return float(part.b)


def factor_of(found: Vector, expected: Vector, roundings: float, least: float = TINY) -> Factor:
    """The t > 0 with found = t expected, entry by entry, to so many roundings; 1 for numbers below `least`."""
    if np.array_equal(found, expected):
        return Factor(1.0, 1.0) if np.any(expected) else Factor(0.0, math.inf)
    largest = int(np.argmax(np.abs(expected)))
    top, wanted = float(found[largest]), float(expected[largest])
    if wanted == 0.0:
        return Factor(0.0, 0.0, int(np.flatnonzero(found)[0]))
    if min(abs(top), abs(wanted)) < least:
        off = np.abs(found - expected) > roundings * UNIT * np.abs(expected) + 4.0 * LEAST
        return Factor(1.0, 1.0, int(np.argmax(off)) if np.any(off) else -1)
    with np.errstate(over="ignore", under="ignore"):
        factor = abs(top / wanted)
        if top == 0.0 or (top > 0.0) != (wanted > 0.0):
            return Factor(factor, factor, largest)
        shares = expected / wanted
        slack = roundings * UNIT * np.abs(shares) + 4.0 * LEAST * (1.0 / abs(top) + 1.0 / abs(wanted))
        excess = np.abs(found / top - shares) - slack
    worst = int(np.argmax(excess))
    return Factor(factor, factor, worst if excess[worst] > 0.0 else -1)


def said_of(factor: Factor, found: Vector, expected: Vector, array: str, line: int, width: int) -> list[str]:
    """The sentence of a plane that differs; behind its `width` entries stands the bias."""
    at = factor.entry
    if at < 0:
        return []
    name = f"{array}[{line}, {at}]" if at < width else f"intercept_[{line}]"
    times = factor.high if 0.0 < factor.high < math.inf else 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = expected * times
        plane, other = scaled[:width], found[:width]
        turned = bool(np.all(np.abs(other + plane) <= ALMOST * np.abs(plane)) and np.any(plane))
    said = f"{name} is {found[at]:.9g}, and its certificate says {scaled[at]:.9g}"
    if abs(times - 1.0) > ALMOST:
        said += f" for a plane that is scaled by {times:.6g}"
    return [said + (": it points the other way" if turned else "")]


def factor_by_margin(estimator: Any, line: int, part: KernelCertificate) -> Factor:
    """The factor between a plane and the one whose nearest row has y (w.phi(x) + b) = 1, as far as it is known.

    That one has 1/2 |w|^2 between the bounds of the certificate, so that |w| margin_lower of the plane at hand is t, up
    to the gap, in which all rounding errors are contained too.
    """
    kernel, gap = estimator._kernel, part.relative_gap
    if part.is_separable is not True or not gap < 0.5 or kernel.is_table:
        return Factor(0.0, math.inf)
    vectors = kernel.points(estimator.support_vectors_, estimator.support_)
    own = estimator.dual_coef_[line]
    values = kernel.combine(vectors, vectors, np.ascontiguousarray(own[:, None]))[:, 0]
    factor = math.sqrt(max(0.0, float(own @ values))) * part.margin_lower
    return Factor(factor * (1.0 - gap), factor * (1.0 + 2.0 * gap))


def of_factors(parts: tuple[Any, ...], factors: list[Factor]) -> Iterator[str]:
    """One factor for all planes."""
    if len(factors) < 2:
        return
    low = max(range(len(factors)), key=lambda k: factors[k].low)
    high = min(range(len(factors)), key=lambda k: factors[k].high)
    if factors[low].low > factors[high].high:
        times = factors[low].low / factors[high].high if factors[high].high > 0.0 else math.inf
        yield (
            f"{name_of(parts[low])}: its plane is scaled by {times:.6g} against that of {name_of(parts[high])}, which "
            "changes the predictions of many classes"
        )
