"""Verifying a model: its certificate holds on the data, and its predictions are by the planes of that certificate.

`certificate.verify` speaks of the certificate alone. A model is more: the arrays that predict, and the steps before
them. The data go through these steps as they do when it predicts; so what is proven is proven of its predictions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from maxmargin.certificates.certificate import Certificate
from maxmargin.certificates.normalized import follows_from
from maxmargin.certificates.record import is_witness_of_kernel
from maxmargin.certificates.report import Verification
from maxmargin.certificates.verify import problem_of
from maxmargin.certificates.words import between
from maxmargin.data.checking import checked_table
from maxmargin.data.objects import Places
from maxmargin.data.table import column_at_hand, is_sparse
from maxmargin.estimators.agreement import disagreements
from maxmargin.estimators.base import behind_the_steps, digest_of, sample_of
from maxmargin.problems.choices import Strategy
from maxmargin.problems.kernels import Function
from maxmargin.problems.statement import plain

OTHER_TABLE = (
    "the rows, behind the steps before the estimator, are not those that it was fitted on: these are other data, or a "
    "step was changed after the fit"
)


def verify_model(model: Any, X: Any, y: Any, *, exact: bool = False, sample_weight: Any = None) -> Verification:
    """Whether the certificate of a fitted estimator (or Pipeline) is true of X and y, and its planes are those that
    predict.

    exact=True decides in rational arithmetic, as in `certificate_.verify`. Give the same `sample_weight` as to `fit`.
    The answer can stand in an `if`, and says why when it is printed.

    >>> from maxmargin import HardMarginSVM
    >>> from maxmargin.persistence import verify_model
    >>> X, y = [[0, 0], [0, 2], [3, 0], [5, 1]], ["left", "left", "right", "right"]
    >>> svm = HardMarginSVM().fit(X, y)
    >>> bool(verify_model(svm, X, y))
    True
    >>> svm.intercept_ += 1
    >>> bool(svm.certificate_.verify(X, y)), bool(verify_model(svm, X, y))
    (True, False)
    """
    if isinstance(model, Pipeline):
        X, model = behind_the_steps(model, X), model.steps[-1][1]
    certificate = getattr(model, "certificate_", None)
    if certificate is None:
        raise ValueError("this model has no certificate: it was learnt from a stream, or comes from another program")
    how: dict[str, Any] = {"exact": exact, "sample_weight": sample_weight}
    if getattr(certificate.parts[0], "kernel", None) == Function.name:
        how["kernel"] = model.kernel
    proven: Verification = certificate.verify(X, y, **how)
    apart = [f"the model does not predict by the planes of its certificate: {one}" for one in disagreements(model)]
    if proven and not apart:
        apart = [*differences_from(model, X, y), *false_normalized_margins(model, X, y, exact, sample_weight)]
    elif not proven:
        apart += [*proven.reasons, *other_table(model, X)]
    return Verification(False, exact, tuple(apart)) if apart else proven


def normalized_margins(estimator: Any) -> list[Any]:
    """What is proven of the rows at length 1, one for each plane, where that was asked for."""
    found = getattr(estimator, "normalized_margin_", [])
    return found if isinstance(found, list) else [found]


def false_normalized_margins(estimator: Any, X: Any, y: Any, exact: bool, sample_weight: Any) -> Iterator[str]:
    """Bounds of rows at length 1 that do not follow from the certificate, which holds."""
    parts, claims = estimator.certificate_.parts, normalized_margins(estimator)
    if claims and len(claims) != len(parts):
        yield f"normalized_margin_ has bounds for {len(claims)} planes, and there are {len(parts)}"
        return
    for part, claimed in zip(parts, claims, strict=bool(claims)):
        if not follows_from(part, claimed, problem_of(part, X, y, sample_weight), exact=exact):
            best = between(claimed.lower, claimed.upper, 9)
            yield f"the best margin of the rows at length 1 is not proven to be {best}, as normalized_margin_ says"


def other_table(estimator: Any, X: Any) -> Iterator[str]:
    """Where the rows are not those that the fit has seen."""
    seen = getattr(estimator, "_seen", None)
    try:
        if seen is not None and digest_of(seen["sample"]) != digest_of(
            sample_of(checked_table(estimator, X, reset=False).X)
        ):
            yield OTHER_TABLE
    except ValueError:  # of another width: they have been refused for that
        return


def differences_from(estimator: Any, X: Any, y: Any) -> Iterator[str]:
    """Where the rows of the estimator are not those of the data, on which its certificate holds."""
    yield from other_table(estimator, X)
    if "support_" not in vars(estimator):
        return
    X, y = checked_table(estimator, X, reset=False).X, np.asarray(column_at_hand(y))
    support, seen = estimator.support_, getattr(estimator, "_seen", None)
    vectors = getattr(estimator, "support_vectors_", None)
    if isinstance(X, Places):
        yield from objects_apart(estimator, X)
    elif vectors is not None and vectors.shape[1] == X.shape[1]:
        apart = X[support] - vectors
        apart = abs(apart).max(axis=1).toarray().ravel() if is_sparse(apart) else np.abs(apart).max(axis=1, initial=0.0)
        if np.any(apart):
            row = int(np.argmax(apart))
            yield f"support_vectors_[{row}] is not row {support[row]} of the data: they differ by {apart[row]:.6g}"
    labels = y[support]
    if seen is not None and seen["codes"] is not None:
        other = np.array([plain(a) != plain(b) for a, b in zip(estimator.classes_[seen["codes"]], labels, strict=True)])
        if np.any(other):
            row = int(support[np.argmax(other)])
            yield f"row {row} is of the class {plain(y[row])!r}, and the record of the fit says another one"
    for line, part in enumerate(estimator.certificate_.parts):
        if is_witness_of_kernel(part):
            continue
        own = np.searchsorted(support, part.rows[part.weights > 0.0])
        positive = np.array([plain(label) == part.positive for label in labels[own]], dtype=bool)
        turned = np.where(positive, 1.0, -1.0) * estimator.dual_coef_[line, own] < 0.0
        if np.any(turned):
            place = int(own[np.argmax(turned)])
            yield (
                f"dual_coef_[{line}, {place}] has the sign of another class than {plain(labels[place])!r}, that of row "
                f"{support[place]}"
            )


def objects_apart(estimator: Any, X: Any) -> Iterator[str]:
    """Support vectors that only the kernel can compare with the rows of the data, and tells apart."""
    kernel, support = estimator._kernel, estimator.support_
    own, rows = (kernel.points(one, support) for one in (estimator.support_vectors_, X[support]))
    if own.X.shape != rows.X.shape or np.any(kernel.values(own, rows) != kernel.values(rows, rows)):
        yield "support_vectors_ are not the rows support_ of the data: the kernel tells them apart"


def predictions_of(estimator: Any) -> str:
    """The sentence that says of which predictions a certificate speaks."""
    value = "w.x + b" if getattr(estimator, "_kernel", None) is None else "w.phi(x) + b"
    parts = estimator.certificate_.parts
    classes = [plain(label) for label in estimator.classes_]
    if len(parts) == 1:
        rule = f"{classes[1]!r} where {value} is 0 or more, {classes[0]!r} where it is negative"
    elif estimator._strategy is Strategy.ONE_VERSUS_REST:
        rule = f"the class whose plane has the largest {value}; each plane is proven by itself, the comparison is not"
    else:
        rule = f"the class that wins most of the pairs, each by the sign of {value}"
    if any(is_without_plane(part) for part in parts):
        return f"It predicts {rule}. Where no plane separates, the proof is about the data, and not about that plane."
    return f"It predicts by the {'plane' if len(parts) == 1 else 'planes'} of this certificate: {rule}."


def is_without_plane(part: Any) -> bool:
    """Whether it is proven that no plane separates, or nothing: then the plane shown is another one."""
    if isinstance(part, Certificate):
        return not part.is_separable
    return bool(part.verdict.name == "NOT_SEPARABLE")
