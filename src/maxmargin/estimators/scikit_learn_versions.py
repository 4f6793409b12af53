"""Where scikit-learn wants more than its words: what differs between its releases, and what it must not copy.

Callbacks came with 1.9: before, an estimator is one without them. Balanced class weights that count sample weights
came with 1.7: before, scikit-learn's own estimators counted rows. A client of a cluster (`data/cluster.py`) belongs to
this process: whoever clones, copies or pickles an estimator must not do so with its client.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import estimator_html_repr
from sklearn.utils.class_weight import compute_class_weight

__all__ = ["CallbackSupportMixin", "SharesClient", "ShowsProof", "class_weights_like_theirs", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands for scikit-learn's, which the installed release does not have."""

    def with_callbacks(fit: Any) -> Any:
        """The method as it is."""
        return fit


_COUNTS_SAMPLE_WEIGHT = "sample_weight" in inspect.signature(compute_class_weight).parameters


def class_weights_like_theirs(
    class_weight: Any, classes: NDArray[Any], y: NDArray[Any], sample_weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """The weight of each class as the installed scikit-learn gives it to its own estimators."""
    if class_weight is None:
        return np.ones(len(classes))
    counted = {"sample_weight": sample_weight} if _COUNTS_SAMPLE_WEIGHT else {}
    return np.asarray(compute_class_weight(class_weight, classes=classes, y=y, **counted), dtype=np.float64)


class ShowsProof:
    """A notebook shows the certificate below scikit-learn's diagram, whatever that release asks for."""

    def _html_repr(self) -> str:
        """What a notebook shows: scikit-learn's diagram and, once it is fitted, what is proven."""
        certificate = getattr(self, "certificate_", None)
        proof = "" if certificate is None else certificate._repr_html_()
        return str(estimator_html_repr(self)) + proof

    def _repr_html_inner(self) -> str:
        return self._html_repr()  # which scikit-learn 1.6 does not ask for, neither here nor below

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        shown = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        return {form: self._html_repr() if form == "text/html" else content for form, content in shown.items()}


class SharesClient:
    """Its clones and copies have the same client, its pickles none; what is read from an older one has none either."""

    client: Any = None

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {name: None if name == "client" else value for name, value in state.items()}

    def __copy__(self) -> Self:
        twin = self.__new__(type(self))
        twin.__dict__.update(vars(self))
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo |= {id(self.client): self.client}  # as if it had been copied already
        twin = self.__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy(vars(self), memo))
        return twin

    def __sklearn_clone__(self) -> Self:
        if self.client is None:
            return super().__sklearn_clone__()  # type: ignore[misc, no-any-return]
        alone = copy.copy(self)
        alone.client = None
        twin = alone.__sklearn_clone__()
        twin.client = self.client
        return twin
