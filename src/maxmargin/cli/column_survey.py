"""What the columns of a table hold, in one pass over its blocks; and scikit-learn's steps, as they learn it.

    numbers      how many, mean, sum of squares about it, least and largest; of two blocks together (Chan et al., 1979)
                   n = n1 + n2,  m = m1 + (m2 - m1) n2 / n,  S = S1 + S2 + (m2 - m1)^2 n1 n2 / n
    words        how often each occurs, of columns that may be categories
    labels       how often each occurs

The joins follow the tree of the blocks, so that the same blocks give the same bits. A step is then made of these: none
of it has the length of the table. Cells that --impute fills in with the mean change neither the mean nor S.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.cli.tables import DataFile
from maxmargin.data.executor import pass_over
from maxmargin.data.table import Vector, blocks, is_sparse

MOST_WORDS = 100_000  # different ones in a column: each is kept, and would be a column


class Moments(NamedTuple):
    """Of each column of numbers."""

    counts: Vector
    missing: Vector
    means: Vector
    squares: Vector
    low: Vector
    high: Vector

    @classmethod
    def of(cls, X: Any) -> Moments:
        if is_sparse(X):
            return cls.of_sparse(X)
        width = X.shape[1]
        found = cls(np.zeros(width), np.zeros(width), np.zeros(width), np.zeros(width), *infinities(width))
        for some in blocks(X):
            found = found.and_of(cls.of_some(X[some].astype(np.float64)))
        return found

    @classmethod
    def of_some(cls, X: NDArray[np.float64]) -> Moments:
        lacking = np.isnan(X)
        counts = (len(X) - lacking.sum(axis=0)).astype(np.float64)
        least = np.maximum(counts, 1.0)
        means = np.where(lacking, 0.0, X).sum(axis=0) / least
        deviations = np.where(lacking, 0.0, X - means)
        squares = np.maximum(0.0, (deviations**2).sum(axis=0) - deviations.sum(axis=0) ** 2 / least)
        low, high = np.where(lacking, np.inf, X).min(axis=0), np.where(lacking, -np.inf, X).max(axis=0)
        return cls(counts, len(X) - counts, means, squares, low, high)

    @classmethod
    def of_sparse(cls, X: Any) -> Moments:
        from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

        rows, width = X.shape
        if not rows:
            zeros = np.zeros(width)
            return cls(zeros, zeros, zeros, zeros, *infinities(width))
        means, variances = mean_variance_axis(X, axis=0)
        low, high = (np.asarray(ends, dtype=np.float64) for ends in min_max_axis(X, axis=0))
        return cls(np.full(width, float(rows)), np.zeros(width), means, variances * rows, low, high)

    def and_of(self, other: Moments) -> Moments:
        counts = self.counts + other.counts
        n, between = np.maximum(counts, 1.0), other.means - self.means
        return Moments(
            counts,
            self.missing + other.missing,
            np.where(self.counts == 0.0, other.means, self.means + between * (other.counts / n)),
            self.squares + other.squares + between**2 * (self.counts * (other.counts / n)),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @property
    def variances(self) -> Vector:
        """About the mean, of all rows: a missing cell counts as the mean."""
        return self.squares / np.maximum(self.counts + self.missing, 1.0)


def infinities(width: int) -> tuple[Vector, Vector]:
    return np.full(width, np.inf), np.full(width, -np.inf)


class ColumnSurvey(NamedTuple):
    """What one look at a block tells, and at several together."""

    rows: int
    weightless: int  # rows of weight 0
    numbers: Moments
    words: dict[str, Counter[Any]]
    labels: Counter[Any]
    counting: Counter[Any]  # labels of rows that weigh something

    def and_of(self, other: ColumnSurvey) -> ColumnSurvey:
        words = {name: both + other.words[name] for name, both in self.words.items()}
        for name, known in words.items():
            if len(known) > MOST_WORDS:
                raise ValueError(
                    f"column {name!r} holds more than {MOST_WORDS:,} different words; --text {name} reads it word by "
                    f"word, --ignore {name} passes it over"
                )
        return ColumnSurvey(
            self.rows + other.rows,
            self.weightless + other.weightless,
            self.numbers.and_of(other.numbers),
            words,
            self.labels + other.labels,
            self.counting + other.counting,
        )


def survey_of(block: DataFile) -> ColumnSurvey:
    labels: Any = [] if block.y is None else block.y.tolist()
    counting = labels
    if block.weights is not None:
        counting = [label for label, weight in zip(labels, block.weights.tolist(), strict=False) if weight > 0.0]
    return ColumnSurvey(
        len(block.lines),
        0 if block.weights is None else int(np.sum(block.weights == 0.0)),
        Moments.of(block.X),
        {
            name: Counter(None if word != word else word for word in words.tolist())
            for name, words in block.texts.items()
            if block.asked.get(name) != "text"
        },
        Counter(labels),
        Counter(counting),
    )


def surveyed(table: Any) -> ColumnSurvey:
    """One pass."""
    found: ColumnSurvey = pass_over(survey_of, table)
    return found


# The steps.


def fitted(preparation: Any, seen: ColumnSurvey, names: tuple[str, ...]) -> Any:
    """The Pipeline of `preparation_of`, fitted: what it learns is in the survey. `names` are those of its columns."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    if preparation is None:
        return None
    first = preparation.steps[0][1]
    if not isinstance(first, ColumnTransformer):
        return Pipeline(steps_for_numbers(preparation.steps, seen))
    from maxmargin.persistence.column_blocks import assembled

    parts = [
        (title, fitted_part(title, step, chosen, seen, names), chosen) for title, step, chosen in first.transformers
    ]
    columns = assembled(parts, len(names), first.sparse_threshold, first.verbose_feature_names_out, "the preparation")
    columns.sparse_output_ = is_thin(columns, parts, first.sparse_threshold)
    return Pipeline([(preparation.steps[0][0], columns)])


def fitted_part(title: str, step: Any, chosen: Any, seen: ColumnSurvey, names: tuple[str, ...]) -> Any:
    from sklearn.pipeline import Pipeline

    if title == "numbers":
        return step if isinstance(step, str) else Pipeline(steps_for_numbers(step.steps, seen))
    if title == "categories":
        words = [seen.words[names[place]] for place in chosen]
        return Pipeline([(name, fitted_to_words(inner, words)) for name, inner in step.steps])
    return step.fit([""])  # text, of which nothing is learnt


def steps_for_numbers(steps: Any, seen: ColumnSurvey) -> list[tuple[str, Any]]:
    return [(name, fitted_to_numbers(step, seen.numbers, seen.rows)) for name, step in steps]


def fitted_to_numbers(step: Any, numbers: Moments, rows: int) -> Any:
    """An imputer, or a scaler: fitted to the least and the largest values, and given mean and variance."""
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import StandardScaler

    if isinstance(step, SimpleImputer):
        return step.fit(numbers.means[None, :])
    step.fit(np.vstack([numbers.low, numbers.high]))
    step.n_samples_seen_ = rows
    if isinstance(step, StandardScaler):
        step.mean_, step.var_ = numbers.means, numbers.variances
        # A variance that rounding alone can have made is none: scikit-learn's rule for constant columns.
        eps = np.finfo(np.float64).eps
        constant = step.var_ <= rows * eps * step.var_ + (rows * step.mean_ * eps) ** 2
        step.scale_ = np.where(constant, 1.0, np.sqrt(step.var_))
    return step


def fitted_to_words(step: Any, words: list[Counter[Any]]) -> Any:
    """An imputer, or an encoder: fitted to each word once, and given the most frequent."""
    from sklearn.impute import SimpleImputer

    different = [sorted(word for word in known if word is not None) for known in words]
    if isinstance(step, SimpleImputer):  # of those that are equally frequent, the first in the alphabet
        most = [max(one, key=lambda word: known[word]) for one, known in zip(different, words, strict=True)]
        return step.fit(np.array([most], dtype=object))
    rows = max(map(len, different))
    table = np.array([[one[min(row, len(one) - 1)] for one in different] for row in range(rows)], dtype=object)
    return step.fit(table)


def is_thin(columns: Any, parts: list[tuple[str, Any, Any]], threshold: float) -> bool:
    """Whether the columns together are sparse, by the rule of a ColumnTransformer: a category is one entry of a row."""
    made = {title: place.stop - place.start for title, place in columns.output_indices_.items()}
    if set(made) <= {"numbers", "remainder"}:
        return False
    entries = sum(np.size(chosen) for title, _, chosen in parts if title in ("numbers", "categories"))
    return bool(entries / sum(made.values()) < threshold)
