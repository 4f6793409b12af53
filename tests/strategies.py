"""Hypothesis strategies: small tables with a known answer, and tables that break careless arithmetic.

    separable            a plane with integer coefficients and its margin, known exactly
    weakly_separable     rows of both classes meet on a plane, no row is beyond it, some row is off it
    inseparable          every row comes with both labels
    tables               any labels on any rows: grids, duplicates, collinear rows, more columns than rows, one column,
                         constant columns, numbers of any size; `oracles.truth` knows the answer
    nearly_touching      far from the origin, the classes a few units in the last place apart, or touching

Rows are built from small integers and powers of two, so that what is meant is what the doubles say.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


class Data(NamedTuple):
    """Rows and labels -1, +1; `margin` is the best l2 margin and `axis` says that the l1 margin is the same."""

    X: Any
    y: np.ndarray
    margin: float = float("nan")
    axis: bool = False


# Integer vectors of integer length, by dimension.
DIRECTIONS = {
    1: [((1,), 1)],
    2: [((1, 0), 1), ((3, 4), 5), ((5, -12), 13)],
    3: [((0, 0, 1), 1), ((1, 2, 2), 3), ((2, -3, 6), 7)],
    4: [((0, 1, 0, 0), 1), ((1, 1, -1, 1), 2), ((2, 4, 5, 6), 9)],
}
small, few_columns = st.integers(-4, 4), st.integers(1, 4)
# Powers of two: scaling by one is exact. `moderate` is about 1e-45 to 1e45, `extreme` about 1e-150 to 1e150.
moderate = st.sampled_from([0, 0, 0, 1, -3, 20, -40, 100, -100, 150, -150])
extreme = st.sampled_from([0, 20, -40, 200, -200, 330, -330, 498, -498])


@st.composite
def labels(draw, n):
    """n labels, both of them present."""
    y = draw(hnp.arrays(np.int64, n, elements=st.sampled_from([-1, 1])))
    y[draw(st.integers(0, n - 1))] = 1
    if (y == 1).all():
        y[draw(st.integers(0, n - 1))] = -1
    return y


def orthogonal_to(u):
    """Integer vectors that span all that is orthogonal to u."""
    d = len(u)
    pairs = [(i, j) for i in range(d) for j in range(i)]
    return np.array([[u[j] * (k == i) - u[i] * (k == j) for k in range(d)] for i, j in pairs]).reshape(-1, d)


@st.composite
def sideways(draw, u, n):
    """n integer vectors orthogonal to u."""
    basis = orthogonal_to(u)
    return draw(hnp.arrays(np.int64, (n, len(basis)), elements=small)) @ basis


@st.composite
def separable(draw, fit_intercept=True, columns=few_columns, scales=moderate):
    """Rows 0 and 1 are nearest, opposite each other across the plane; all others are at least as far."""
    d = draw(columns)
    u, length = draw(st.sampled_from(DIRECTIONS[d]))
    half = draw(st.integers(1, 3))
    others = draw(st.integers(0, 6))
    y = np.append([1, -1], draw(hnp.arrays(np.int64, others, elements=st.sampled_from([-1, 1]))))
    away = np.append([half, half], draw(hnp.arrays(np.int64, others, elements=st.integers(half, half + 4))))
    beside = np.vstack([np.zeros((2, d), np.int64), draw(sideways(u, others))])
    centre = draw(hnp.arrays(np.int64, d, elements=small)) if fit_intercept else np.zeros(d, np.int64)
    rows = centre + (y * away)[:, None] * np.array(u) + beside
    exponent = draw(scales)
    order = draw(st.permutations(range(len(y))))
    axis = np.count_nonzero(u) == 1
    return Data(np.ldexp(rows[order].astype(float), exponent), y[order], float(np.ldexp(half * length, exponent)), axis)


@st.composite
def weakly_separable(draw, fit_intercept=True, columns=few_columns, scales=moderate):
    """A point of one class and two of the other around it on the plane (without a bias: two rows around the origin)."""
    d = draw(columns)
    u, _ = draw(st.sampled_from(DIRECTIONS[d]))
    others = draw(st.integers(1, 5))
    step = draw(sideways(u, 1))[0]
    centre = draw(hnp.arrays(np.int64, d, elements=small)) if fit_intercept else np.zeros(d, np.int64)
    on_plane = np.array([0 * step, step, -step])
    y = np.append([1, -1, -1], draw(hnp.arrays(np.int64, others, elements=st.sampled_from([-1, 1]))))
    away = draw(hnp.arrays(np.int64, others, elements=st.integers(0, 3)))
    away[0] += 1
    rows = np.vstack([on_plane, (y[3:] * away)[:, None] * np.array(u) + draw(sideways(u, others))]) + centre
    order = draw(st.permutations(range(len(y))))
    return Data(np.ldexp(rows[order].astype(float), draw(scales)), y[order], 0.0)


@st.composite
def inseparable(draw, columns=few_columns, scales=moderate):
    """Every row comes with both labels."""
    n, d = draw(st.integers(1, 4)), draw(columns)
    rows = draw(hnp.arrays(np.int64, (n, d), elements=small))
    order = draw(st.permutations(range(2 * n)))
    y = np.repeat([1, -1], n)[order]
    return Data(np.ldexp(np.vstack([rows, rows])[order].astype(float), draw(scales)), y, 0.0)


@st.composite
def grids(draw, max_rows=7, max_columns=3):
    """Few different numbers: duplicates, collinear rows and rows on a common plane are frequent."""
    n, d = draw(st.integers(2, max_rows)), draw(st.integers(1, max_columns))
    return draw(hnp.arrays(np.int64, (n, d), elements=st.integers(-2, 2))).astype(float)


@st.composite
def duplicated(draw):
    pool = draw(grids(max_rows=3))
    return pool[draw(st.lists(st.integers(0, len(pool) - 1), min_size=2, max_size=7))]


@st.composite
def collinear(draw):
    d = draw(st.integers(2, 4))
    along, offset = (draw(hnp.arrays(np.int64, d, elements=small)) for _ in range(2))
    places = draw(hnp.arrays(np.int64, st.integers(2, 7), elements=st.integers(-6, 6)))
    return (offset + places[:, None] * along).astype(float)


@st.composite
def wide(draw):
    """More columns than rows."""
    n = draw(st.integers(2, 4))
    return draw(hnp.arrays(np.int64, (n, draw(st.integers(n + 1, 7))), elements=small)).astype(float)


@st.composite
def with_constant_columns(draw):
    rows = draw(grids(max_columns=2))
    constants = draw(st.lists(st.sampled_from([0.0, 1.0, -3.0, 0.1]), min_size=1, max_size=2))
    return np.hstack([rows, np.tile(constants, (len(rows), 1))])


@st.composite
def uneven(draw, exponents=moderate):
    """Every column in a scale of its own."""
    rows = draw(grids())
    return np.ldexp(rows, [draw(exponents) for _ in range(rows.shape[1])])


@st.composite
def wild(draw, largest=1e40, denormals=False):
    """Any doubles: nothing is related to anything."""
    n, d = draw(st.integers(2, 5)), draw(st.integers(1, 2))
    numbers = st.floats(-largest, largest, allow_subnormal=denormals)
    if not denormals:
        numbers = numbers.map(lambda x: x if abs(x) > 1 / largest else 0.0)
    return draw(hnp.arrays(np.float64, (n, d), elements=numbers))


def any_rows(exponents=moderate):
    """Rows of every degenerate kind."""
    return st.one_of(
        grids(),
        grids(max_columns=1),
        duplicated(),
        collinear(),
        wide(),
        with_constant_columns(),
        uneven(exponents),
        wild(),
    )


@st.composite
def tables(draw, rows=None, scales=moderate):
    """Any rows with any labels, scaled by a power of two."""
    X = draw(any_rows() if rows is None else rows)
    return Data(np.ldexp(X, draw(scales)), draw(labels(len(X))))


@st.composite
def nearly_touching(draw, max_columns=2):
    """Rows around a point far from the origin, a few units in the last place apart in the first column.

    Every coordinate is a double; whether a plane separates them is for the oracle to say.
    """
    d = draw(st.integers(1, max_columns))
    centre = draw(st.sampled_from([1.0, 3.0, 1e6, 0.1, 1e15, 1e-7, 2.0**52]))
    n = draw(st.integers(2, 6))
    steps = draw(hnp.arrays(np.int64, (n, d), elements=st.integers(0, 3)))
    return Data(centre + steps * np.spacing(centre), draw(labels(n)))


# ------------------------------------------------------------------------------------------------ forms of a table


def as_float32(X):
    """In float32, where that changes no number."""
    with np.errstate(over="ignore"):
        narrow = X.astype(np.float32)
    return narrow if np.array_equal(narrow.astype(float), X) else X


def as_integers(X):
    """As int64, where that changes no number."""
    whole = np.all(np.round(X) == X) and np.all(np.abs(X) < 2.0**53)
    return X.astype(np.int64) if whole else X


FORMS = {
    "float64": np.asarray,
    "fortran": np.asfortranarray,
    "float32": as_float32,
    "int64": as_integers,
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csr_float32": lambda X: sparse.csr_array(as_float32(X)),
    "lists": lambda X: X.tolist(),
}
forms = st.sampled_from(sorted(FORMS)).map(FORMS.get)
LABELS = {
    "signs": lambda y: y,
    "integers": lambda y: np.where(y > 0, 7, 3),
    "floats": lambda y: y.astype(float),
    "booleans": lambda y: y > 0,
    "strings": lambda y: np.where(y > 0, "spam", "ham"),
    "objects": lambda y: np.where(y > 0, "nan", "inf").astype(object),
}
namings = st.sampled_from(sorted(LABELS)).map(LABELS.get)
