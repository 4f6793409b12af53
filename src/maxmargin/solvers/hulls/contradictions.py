"""Equal rows with opposite labels: the shortest proof that no plane separates.

    x_i = x_j,  y_i = +1,  y_j = -1:    the hulls of the classes have this point in common, with l_i = l_j = 1

Rows are compared by a 64-bit hash, in one pass, and those of equal hashes number by number. Rows of which one says 0
where the other says -0, or keeps a zero that the other leaves out, are taken to be different: it is a first look.
Cost: one read of the table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Matrix, Vector, is_sparse
from maxmargin.problems.protocol import Iterate
from maxmargin.problems.statement import Separation
from maxmargin.solvers.copies import find_equal
from maxmargin.solvers.interior_point.merged_rows import DISTINCT, sample_columns

SMALL = 2_000_000  # numbers: so many are compared in no time


def contradictions(X: Matrix, signs: Vector) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of the one class, and beside each a row of the other that is equal to it: one for every row that has any."""
    none = np.zeros(0, dtype=np.intp)
    if is_sparse(X) and not X.has_sorted_indices:
        X = X.sorted_indices()
    first, owner = find_equal(X, np.ones(len(signs)))
    if len(first) == len(signs):
        return none, none
    partners = []
    for sign in (1.0, -1.0):
        members = np.flatnonzero(signs == sign)[::-1]
        partner = np.full(len(first), -1, dtype=np.intp)
        partner[owner[members]] = members  # the first of them stays
        partners.append(partner)
    plus, minus = partners
    other = np.where(signs > 0, minus[owner], plus[owner])
    rows = np.flatnonzero(other >= 0)
    rows = rows[equal_rows(X, rows, other[rows])]
    return rows, other[rows]


def are_likely(X: Matrix) -> bool:
    """Whether a look for equal rows is worth it: not in a large table with a column of numbers that were measured."""
    if is_sparse(X) or X.size <= SMALL:
        return True
    return sample_columns(X)[0] < DISTINCT


def equal_rows(X: Matrix, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether each of these rows is equal to the one beside it."""
    if not len(rows):
        return np.zeros(0, dtype=bool)
    if is_sparse(X):
        different = abs(X[rows] - X[others])
        return np.asarray(different.sum(axis=1) == 0.0).ravel()
    return np.asarray(np.all(X[rows] == X[others], axis=1))


def contradiction(problem: Separation) -> Iterate | None:
    """Two rows as a witness, if there are any."""
    rows, others = contradictions(problem.X, problem.signs)
    if not len(rows):
        return None
    a = np.zeros(problem.n_rows)
    a[[rows[0], others[0]]] = 1.0
    return Iterate(np.zeros(problem.n_columns), 0.0, a, True, 0, 1, meets=True)
