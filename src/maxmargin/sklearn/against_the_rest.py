"""`LinearSVM` with the class weights of liblinear and of SGDClassifier.

Of many classes, each against the rest, these give a class its weight in its own problem alone: the rest has weight 1
there. `LinearSVM` gives each row the weight of its class, whichever class it stands against. With two classes both are
the same problem. The certificate of each part names the one weight that counts in it.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.estimators.linear import LinearSVM
from maxmargin.problems.losses import loss_named
from maxmargin.problems.statement import TrainingSet, TwoClasses, checked_class_weights
from maxmargin.run.control import Clock
from maxmargin.sklearn.handing_over import class_weight_of
from maxmargin.solve.answer import Answer, SoftQuestion
from maxmargin.solve.soft_margin import solve_soft_margin


class AgainstTheRest(LinearSVM):
    """A `LinearSVM` whose `weights`, one for each label, are those of a class in its own problem."""

    weights: dict[Any, float]

    def fit_checked(self, table: TrainingSet, *others: Any, **how: Any) -> Self:
        """As that of `LinearSVM`, but each problem by itself, with the weight of its own class."""
        loss = loss_named(self.loss, self.huber_width)
        asked = SoftQuestion(float(self.C), loss, self.fit_intercept, self.tol, self.solver, self.max_iter, ())

        def answer(two: TwoClasses, clock: Clock) -> Answer:
            weight = self.weights[two.positive]
            of_rows = np.where(two.signs > 0, weight, 1.0)
            weighted = dataclasses.replace(two, weights=of_rows if two.weights is None else of_rows * two.weights)
            return solve_soft_margin(weighted, asked._replace(class_weight=((two.positive, weight),)), clock)

        return self._solve(table, answer)


def linear_svm(classes: NDArray[Any], weights: NDArray[np.float64], **settings: Any) -> LinearSVM:
    """The native estimator for these classes and their weights."""
    if len(classes) == 2 or np.all(weights == 1.0):
        return LinearSVM(class_weight=class_weight_of(classes, weights), **settings)
    native = AgainstTheRest(**settings)
    native.weights = dict(checked_class_weights(classes, weights))
    return native
