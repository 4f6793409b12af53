"""What differs between the releases of scikit-learn for these classes: since 1.9 a setting says which sparse matrices
it makes."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sparse

__all__ = ["sparse_like_theirs"]

try:
    from sklearn.utils._sparse import _align_api_if_sparse as sparse_like_theirs
except ImportError:

    def sparse_like_theirs(X: Any) -> Any:
        """A matrix, not an array."""
        return sparse.csr_matrix(X)
