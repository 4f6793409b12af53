"""The rows as they reach the last step of a Pipeline."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline


def behind_the_steps(pipeline: Pipeline, X: Any) -> Any:
    """X after all steps but the last. One by one: a shorter Pipeline of steps that learn nothing is one that
    scikit-learn 1.6 and 1.7 take for not fitted."""
    for _, step in pipeline.steps[:-1]:
        X = X if step in (None, "passthrough") else step.transform(X)
    return X
