"""Kernel functions of words, sequences, images, objects and data frames: fitted, predicted, searched, verified."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from maxmargin import KernelPerceptron, KernelSVM
from maxmargin.data.objects import holds_objects
from maxmargin.persistence import verify_model

WORDS = ["ham", "jam", "spam", "clam", "eggs", "legs", "pegs", "keg", "sun", "run", "bun", "fun"]
KINDS = np.repeat(["am", "eg", "un"], 4)
TWO = np.repeat(["a", "other"], [4, 8])


def letters(words):
    return np.array([[word.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for word in words], dtype=float)


def of_words(A, B):
    return letters(A) @ letters(B).T + 1.0


def of_frames(A, B):
    return of_words(list(A["word"]), list(B["word"])) + np.outer(A["length"], B["length"])


def of_sequences(A, B):
    return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])


def of_images(A, B):
    return A.reshape(len(A), -1) @ B.reshape(len(B), -1).T


class Word:
    def __init__(self, text):
        self.text = text


def frame(library):
    kind = pytest.importorskip(library)
    return kind.DataFrame({"word": WORDS, "length": [float(len(word)) for word in WORDS]})


def first(rows):
    return rows.iloc[:1] if hasattr(rows, "iloc") else rows[:1]


ROWS = {
    "list": (lambda: WORDS, of_words),
    "array of words": (lambda: np.array(WORDS), of_words),
    "array of objects": (lambda: np.array(WORDS, dtype=object), of_words),
    "series": (lambda: pytest.importorskip("pandas").Series(WORDS, index=range(5, 17)), of_words),
    "words that say numbers": (lambda: [str(len(word)) * 3 for word in WORDS], lambda A, B: of_sequences(A, B)),
    "sparse values": (lambda: WORDS, lambda A, B: sparse.csr_array(of_words(A, B))),
    "objects": (lambda: [Word(word) for word in WORDS], lambda A, B: of_words(*([o.text for o in C] for C in (A, B)))),
    "sequences": (lambda: [list(map(ord, word)) for word in WORDS], of_sequences),
    "images": (lambda: letters(WORDS).reshape(-1, 2, 13), of_images),
    "cells": (lambda: np.array([[word, 1.0] for word in WORDS], dtype=object), lambda A, B: of_words(A[:, 0], B[:, 0])),
    "pandas": (lambda: frame("pandas"), of_frames),
    "polars": (lambda: frame("polars"), of_frames),
}


@pytest.mark.parametrize("kind", ROWS)
def test_rows_of_any_kind(kind):
    make, kernel = ROWS[kind]
    rows = make()
    svm = KernelSVM(C=10.0, kernel=kernel).fit(rows, KINDS)
    assert svm.certificate_.is_optimal
    assert svm.certificate_.verify(rows, KINDS, kernel=kernel)
    assert not svm.certificate_.verify(rows, np.roll(KINDS, 1), kernel=kernel)
    assert type(svm.support_vectors_) is type(rows)
    values = kernel(rows, rows)
    table = values.toarray() if sparse.issparse(values) else values
    precomputed = KernelSVM(C=10.0, kernel="precomputed").fit(table, KINDS)
    np.testing.assert_allclose(svm.decision_function(rows), precomputed.decision_function(table), rtol=1e-9, atol=1e-9)
    assert svm.predict(first(rows)).tolist() == precomputed.predict(table[:1]).tolist()
    assert verify_model(svm, rows, KINDS)


def test_copies_searches_and_other_estimators():
    svm = KernelSVM(C=10.0, kernel=of_words)
    assert pickle.loads(pickle.dumps(clone(svm).fit(WORDS, KINDS))).predict(["slam", "gun"]).tolist() == ["am", "un"]
    search = GridSearchCV(svm, {"C": [0.1, 10.0]}, cv=2).fit(WORDS, KINDS)
    assert search.best_estimator_.score(WORDS, KINDS) == 1.0
    assert make_pipeline(svm).fit(WORDS, KINDS).predict(["yam"]).tolist() == ["am"]
    hard = KernelSVM(C=math.inf, kernel=of_words).fit(WORDS, TWO)
    assert hard.certificate_.verify(WORDS, TWO, kernel=of_words)
    perceptron = KernelPerceptron(kernel=of_words).fit(WORDS, TWO)
    assert perceptron.score(WORDS, TWO) == 1.0
    weighted = clone(svm).fit(WORDS, KINDS, sample_weight=np.arange(12) % 3)
    assert weighted.certificate_.verify(WORDS, KINDS, sample_weight=np.arange(12) % 3, kernel=of_words)


def test_what_is_wrong_is_said():
    svm = KernelSVM(kernel=of_words).fit(WORDS, KINDS)
    svm.support_vectors_ = ["ham", *svm.support_vectors_[1:-1], "other"]
    assert "the kernel tells them apart" in str(verify_model(svm, WORDS, KINDS))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        KernelSVM(kernel=of_words).fit(WORDS, KINDS[:5])
    with pytest.raises(ValueError, match="could not convert"):
        KernelSVM().fit(WORDS, KINDS)
    with pytest.raises(ValueError, match="must return a table of shape"):
        KernelSVM(kernel=lambda A, B: 1.0).fit(WORDS, KINDS)
    words = frame("pandas")
    named = KernelSVM(kernel=of_frames).fit(words, KINDS)
    assert named.feature_names_in_.tolist() == ["word", "length"]
    with pytest.raises(ValueError, match="feature names"):
        named.predict(words.rename(columns={"word": "name"}))
    refused = svm.certificate_.verify(WORDS[:5], KINDS[:5], kernel=of_words)
    assert "12 rows" in str(refused) or "rows" in str(refused)


def test_tables_of_numbers_stay_tables():
    """Also as a data frame: functions that were written for SVC are given arrays."""
    numbers = frame("pandas")[["length"]]
    for rows in (
        numbers,
        [[1.0, 2.0]],
        np.eye(2),
        sparse.csr_array(np.eye(2)),
        [["1", "2"]],
        np.array([[1, 2.5]], object),
    ):
        assert not holds_objects(rows)
    assert not holds_objects([1.0, 2.0])
    seen = []
    KernelSVM(kernel=lambda A, B: seen.append(type(A)) or A @ B.T).fit(numbers, TWO)
    assert set(seen) == {np.ndarray}
