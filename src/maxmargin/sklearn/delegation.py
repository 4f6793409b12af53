"""What goes to scikit-learn's own solver, and is said once in a process, by the logger "maxmargin.sklearn".

    SVC(kernel="sigmoid")                      it is not positive semidefinite: there is no margin to measure
    SVC(probability=True)                      probabilities are fitted to folds, within libsvm
    LinearSVC(penalty="l1")                    another problem than the margin's
    LinearSVC(multi_class="crammer_singer")    one problem over all classes
    SGDClassifier(loss=..., penalty=...)       that are not those of a margin; alpha=0, which has no penalty
    SGDClassifier, its steps as such           warm_start, average, early_stopping, coef_init and intercept_init
    Perceptron(penalty=...), early_stopping    nothing is promised about the rows
    a negative sample_weight of these two      such a row pushes the plane to the wrong side: there is no optimum
    Perceptron with a class without weight     there is nothing to separate from it
    partial_fit                                steps on rows that are gone afterwards

Such a fit has no `certificate_`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np

LOGGER = logging.getLogger("maxmargin.sklearn")
TOLD: set[str] = set()


def reasons_for_svc(svc: Any) -> Iterator[str]:
    if svc.kernel == "sigmoid":
        yield 'SVC(kernel="sigmoid")'
    if svc.probability not in (False, "deprecated"):  # the second is the default since 1.9
        yield "SVC(probability=True)"


def reasons_for_linear_svc(svc: Any) -> Iterator[str]:
    if svc.penalty == "l1":
        yield 'LinearSVC(penalty="l1")'
    if svc.multi_class == "crammer_singer":
        yield 'LinearSVC(multi_class="crammer_singer")'


MARGIN_LOSSES = ("hinge", "squared_hinge", "modified_huber")


def reasons_for_sgd(sgd: Any, has_start: bool, sample_weight: Any) -> Iterator[str]:
    if sgd.loss not in MARGIN_LOSSES:
        yield f'SGDClassifier(loss="{sgd.loss}")'
    if sgd.penalty != "l2":
        yield f"SGDClassifier(penalty={sgd.penalty!r})"
    if sgd.alpha == 0.0:
        yield "SGDClassifier(alpha=0)"
    for name in ("average", "early_stopping", "warm_start"):
        if getattr(sgd, name):
            yield f"SGDClassifier({name}={getattr(sgd, name)!r})"
    if has_start:
        yield "SGDClassifier with coef_init or intercept_init"
    if has_negative(sample_weight):
        yield "SGDClassifier with a negative sample_weight"


def reasons_for_perceptron(perceptron: Any, y: Any, sample_weight: Any) -> Iterator[str]:
    if perceptron.penalty is not None:
        yield f"Perceptron(penalty={perceptron.penalty!r})"
    if perceptron.early_stopping:
        yield "Perceptron(early_stopping=True)"
    if has_negative(sample_weight):
        yield "Perceptron with a negative sample_weight"
    elif sample_weight is not None and len(np.unique(np.asarray(y)[sample_weight > 0.0])) < len(perceptron.classes_):
        yield "Perceptron with a class without weight"


def has_negative(sample_weight: Any) -> bool:
    return sample_weight is not None and bool(np.any(np.asarray(sample_weight) < 0.0))


def reasons_for_partial_fit(estimator: Any) -> Iterator[str]:
    yield f"{type(estimator).__name__}.partial_fit"


def is_delegated(reasons: Iterator[str]) -> bool:
    """Whether there is a reason; it is told if it was not before."""
    reason = next(reasons, None)
    if reason is not None:
        tell(reason)
    return reason is not None


def tell(reason: str) -> None:
    if reason not in TOLD:
        TOLD.add(reason)
        LOGGER.info("%s is fitted by scikit-learn's own solver, and without a certificate", reason)
