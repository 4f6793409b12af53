"""Perceptron: scikit-learn's run, and a proof what became of its promise.

A perceptron promises a plane that separates the classes, where there is one. scikit-learn's stops when its mistakes do
not become fewer, and does not say whether a plane exists. Here each of its planes is certified: it separates, by this
margin, beside a bound of the best; or no plane does, and rows are the witness. Where one exists that it has not found,
the widest street takes its place.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.linear_model._perceptron import Perceptron as TheirPerceptron
from sklearn.utils.validation import _check_sample_weight, validate_data

from maxmargin.certificates.multiclass import MulticlassCertificate
from maxmargin.estimators.certify import certify
from maxmargin.run.control import collected, now
from maxmargin.sklearn.delegation import is_delegated, reasons_for_partial_fit, reasons_for_perceptron

SECONDS, TIMES = 1.0, 10.0  # that the proof may take: so many, and so many times those of the run


class Perceptron(TheirPerceptron):
    """scikit-learn's Perceptron, and whether a plane separates the classes.

    Parameters, attributes and methods are those of `sklearn.linear_model.Perceptron`, and `certificate_` is added: its
    `is_separable` is True, False with a witness, or None where that was not proven within a second and ten times the
    seconds of the run. If classes are separable, the planes separate them. With a penalty or early stopping nothing of
    that kind is promised, and nothing is proven; nor of `partial_fit`.

    >>> from maxmargin.sklearn import Perceptron
    >>> X, y = [[0, 0], [1, 1], [2, 0], [3, 1]], ["a", "a", "b", "b"]
    >>> perceptron = Perceptron().fit(X, y)
    >>> perceptron.score(X, y), perceptron.certificate_.is_separable
    (1.0, True)
    >>> Perceptron().fit([[0], [1], [2]], ["a", "b", "a"]).certificate_.is_separable
    False
    """

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Find the planes; as scikit-learn's."""
        self.__dict__.pop("certificate_", None)
        begun = now()
        super().fit(X, y, coef_init, intercept_init, sample_weight)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        if not is_delegated(reasons_for_perceptron(self, y, weights)):
            self._prove(X, y, weights, SECONDS + TIMES * (now() - begun))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One epoch of scikit-learn's steps."""
        self.__dict__.pop("certificate_", None)
        is_delegated(reasons_for_partial_fit(self))
        super().partial_fit(X, y, classes, sample_weight)
        return self

    def _prove(self, X: Any, y: Any, sample_weight: Any, seconds: float) -> None:
        own = self.__dict__
        planes, biases = own["coef_"].astype(np.float64), own["intercept_"].astype(np.float64)
        planes[~np.any(planes != 0.0, axis=1), 0] = 1.0  # zero is no plane
        options = {"fit_intercept": bool(self.fit_intercept), "sample_weight": sample_weight, "max_time": seconds}
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])  # as theirs has it
        with collected():
            proof = certify(X, y, planes, biases, **options)
        parts: list[Any] = list(proof.certificate.parts)
        better: Any
        for k, better in enumerate(proof.audit.parts):
            if better.certificate.is_separable and not better.margin > 0.0:
                parts[k] = better.certificate
                planes[k], biases[k] = parts[k].w, parts[k].b
                own.update(coef_=planes, intercept_=biases)
        self.certificate_ = parts[0] if len(parts) == 1 else MulticlassCertificate(tuple(parts))
