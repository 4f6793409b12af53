"""Planes in the space of a kernel as LIBSVM's text models.

    svm_type, kernel_type, degree, gamma, coef0
    nr_class, label, nr_sv       the support vectors come class by class, in the order of the labels
    rho                          of each pair of classes, in that order: the value is sum - rho, positive for the first
    SV                           a line for each: its coefficients against the other classes, then index:value

Of a vector of class i, the coefficient in the pair with class j is the (j - 1)-th if i < j, and else the j-th.
"""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from maxmargin.data.table import Matrix
from maxmargin.estimators.kernel import KernelSVM
from maxmargin.persistence.errors import ModelFileError, Refusal
from maxmargin.persistence.exchange.text_model import (
    LARGEST_LABEL,
    TextModel,
    check_is_ours,
    digits,
    whole_labels,
    write_lines,
)
from maxmargin.problems.choices import Strategy
from maxmargin.problems.kernels import Kernel, Linear, Polynomial, Rbf

NAMES: dict[str, type[Kernel]] = {"linear": Linear, "polynomial": Polynomial, "rbf": Rbf}
NUMBERS = ("degree", "gamma", "coef0")  # in its order
FIELDS = ("svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label", "nr_sv")
PROBABILITIES = ("probA", "probB", "prob_density_marks")  # which do not change the planes
FULL = 0.25  # of the numbers: with more of them, the vectors are an array


def write_libsvm(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator with a kernel for LIBSVM's `svm-predict`, with 17 digits.

    The kernel must be linear, poly or rbf, the labels whole numbers, and more than two classes one against one. The
    values of the planes are the same there. Where one is exactly 0, ours counts as positive and LIBSVM's as negative:
    of two classes `svm-predict` gives `classes_[0]` then, and a pair's vote goes to the later class.
    """
    try:
        check_is_ours(estimator)
        lines = lines_of(estimator)
    except Refusal as problem:
        raise ModelFileError(os.fspath(path), f"this model cannot be written for LIBSVM: {problem}") from None
    write_lines(path, lines)


def lines_of(estimator: Any) -> list[str]:
    kernel: Kernel | None = getattr(estimator, "_kernel", None)
    if kernel is None:
        raise Refusal(f"this {type(estimator).__name__} has no kernel: write_liblinear is for it")
    name = next((name for name, known in NAMES.items() if type(kernel) is known), None)
    if name is None:
        raise Refusal(f"its kernel is {kernel.name}; LIBSVM's models hold {', '.join(NAMES)}")
    labels = whole_labels(estimator.classes_, "LIBSVM")
    if len(labels) > 2 and estimator._strategy is not Strategy.ONE_VERSUS_ONE:
        raise Refusal('LIBSVM knows one plane for each pair of classes: fit with multi_class="ovo"')
    if len(labels) == 2:
        labels.reverse()  # ours is positive for the larger label
    owners, coefficients = by_class(estimator.dual_coef_, len(labels))
    numbers = [number for number in NUMBERS if number in kernel.parameters]
    order = [int(sv) for own in range(len(labels)) for sv in np.flatnonzero(owners == own)]
    vectors = sparse.csr_array(estimator.support_vectors_)
    return [
        "svm_type c_svc",
        f"kernel_type {name}",
        *(f"{number} {digits(getattr(kernel, number))}" for number in numbers),
        f"nr_class {len(labels)}",
        f"total_sv {len(order)}",
        f"rho {digits(-estimator.intercept_)}",
        f"label {' '.join(map(str, labels))}",
        f"nr_sv {' '.join(str(np.count_nonzero(owners == own)) for own in range(len(labels)))}",
        "SV",
        *(f"{digits(coefficients[:, sv])} {cells(vectors, sv)}" for sv in order),
    ]


def cells(vectors: Any, row: int) -> str:
    """index:value of a sparse row; a line ends with a space, as LIBSVM's own."""
    own = slice(vectors.indptr[row], vectors.indptr[row + 1])
    pairs = zip(vectors.indices[own], vectors.data[own], strict=True)
    return "".join(f"{column + 1}:{value:.17g} " for column, value in pairs)


def by_class(dual: NDArray[np.float64], n_classes: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The class of each support vector (-1: it carries nothing), and its coefficients against the others."""
    owners = np.full(dual.shape[1], -1, dtype=np.intp)
    coefficients = np.zeros((n_classes - 1, dual.shape[1]))
    for line, (i, j) in zip(dual, itertools.combinations(range(n_classes), 2), strict=True):
        owners[line > 0.0], owners[line < 0.0] = i, j
        coefficients[j - 1, line > 0.0] = line[line > 0.0]
        coefficients[i, line < 0.0] = line[line < 0.0]
    return owners, coefficients


def read_libsvm(path: str | os.PathLike[str], n_features: int | None = None) -> KernelSVM:
    """A LIBSVM classifier as a `KernelSVM` that predicts; `n_features` if the last columns are zero in all its vectors.

    It has no certificate: nobody has proven anything about these planes. Where a plane's value is exactly 0, this
    `KernelSVM` takes its positive side, and LIBSVM the second label of the pair, in the order of the file.
    """
    text = TextModel(path)
    fields = text.header((*FIELDS, *PROBABILITIES), "SV")
    text.needed(fields, "svm_type", "kernel_type", "nr_class", "total_sv", "rho", "label", "nr_sv")
    kind, name = " ".join(fields["svm_type"]), " ".join(fields["kernel_type"])
    if kind not in ("c_svc", "nu_svc") or name not in NAMES:
        raise text.error(f"{kind[:20]!r} with the kernel {name[:20]!r} is no classifier with one of {', '.join(NAMES)}")
    kernel = kernel_in(text, fields, NAMES[name])
    labels = text.labels(fields)
    rho = text.numbers(fields["rho"], len(labels) * (len(labels) - 1) // 2, "rho")
    (total,) = text.whole(fields["total_sv"], 1, "total_sv", least=1)
    counts = text.whole(fields["nr_sv"], len(labels), "nr_sv")
    if sum(counts) != total:
        raise text.error(f"nr_sv sums to {sum(counts)}, and total_sv is {total}")
    coefficients, vectors = vectors_in(text, total, len(labels) - 1, n_features)
    return assembled(labels, counts, kernel, coefficients, vectors, rho)


def kernel_in(text: TextModel, fields: dict[str, list[str]], kind: type[Kernel]) -> Kernel:
    text.needed(fields, *(number for number in NUMBERS if number in kind.parameters))
    found: dict[str, Any] = {}
    for number in kind.parameters:
        words = fields[number]
        read = text.whole(words, 1, number, 1) if number == "degree" else text.numbers(words, 1, number)
        found[number] = read[0]
    if not found.get("gamma", 1.0) > 0.0:
        raise text.error("gamma must be positive")
    if found.get("coef0", 0.0) < 0.0:
        raise text.error("coef0 must be 0 or more, or the kernel has no space")
    return kind(**found)


def vectors_in(
    text: TextModel, total: int, n_coefficients: int, n_features: int | None
) -> tuple[NDArray[np.float64], Matrix]:
    """The coefficients, one column for each vector, and the vectors."""
    coefficients, values, columns, ends = [], [], [], [0]
    for words in text.rows(total):
        coefficients.append(text.numbers(words[:n_coefficients], n_coefficients, "the coefficients"))
        pairs = [word.partition(":") for word in words[n_coefficients:]]
        own = text.whole([index for index, _, _ in pairs], len(pairs), "the indices", least=1)
        if any(low >= high for low, high in itertools.pairwise(own)):
            raise text.error("the indices must rise")
        columns += own
        values += text.numbers([value for _, _, value in pairs], len(pairs), "the values")
        ends.append(len(columns))
    width = max(columns, default=1) if n_features is None else n_features
    if width < max(columns, default=0):
        raise text.error(f"the vectors have {max(columns)} columns, and n_features={n_features} were asked for")
    shape = total, width
    vectors = sparse.csr_array((np.array(values), np.array(columns, dtype=np.int64) - 1, np.array(ends)), shape=shape)
    is_full = len(values) >= FULL * total * width and width < LARGEST_LABEL
    return np.array(coefficients).T, vectors.toarray() if is_full else vectors


def assembled(
    labels: list[int],
    counts: list[int],
    kernel: Kernel,
    coefficients: NDArray[np.float64],
    vectors: Matrix,
    rho: list[float],
) -> KernelSVM:
    """The planes of the sorted labels: pairs whose order is another there change their sign."""
    place = np.argsort(np.argsort(labels))  # of each label among the sorted ones
    own = np.repeat(np.arange(len(labels)), counts)
    pairs = {pair: line for line, pair in enumerate(itertools.combinations(range(len(labels)), 2))}
    dual, intercept = np.zeros((len(pairs), len(own))), np.zeros(len(pairs))
    for (i, j), line in pairs.items():
        values = np.where(own == i, coefficients[j - 1], np.where(own == j, coefficients[i], 0.0))
        is_positive_first = place[i] < place[j] if len(labels) > 2 else place[i] > place[j]
        sign = 1.0 if is_positive_first else -1.0
        low, high = sorted((int(place[i]), int(place[j])))
        target = pairs[low, high]
        dual[target], intercept[target] = sign * values, -sign * rho[line]
    model = KernelSVM(kernel=kernel.name, gamma=kernel.gamma, coef0=kernel.coef0, degree=kernel.degree)
    model.classes_ = np.array(sorted(labels), dtype=np.int64)
    model.dual_coef_, model.intercept_ = dual, intercept
    model.support_, model.support_vectors_ = np.arange(len(own)), vectors
    model.n_support_ = np.count_nonzero(dual, axis=1)
    model.n_features_in_, model._strategy, model._kernel = vectors.shape[1], Strategy.ONE_VERSUS_ONE, kernel
    return model
