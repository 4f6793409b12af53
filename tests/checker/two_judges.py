"""The library's `verify(exact=True)` and the checker on the same certificate and table, side by side.

Both are given the JSON of a certificate. check.py looks at the proofs, figures.py also at what proves nothing.
"""

import copy
import importlib.util
import json
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from certificates.hunt_false_verdicts import ONLY_FIGURES
from certificates.test_every_field import at, forged_values, name_of, places
from small_certificates import MAKERS, MIXED, WEIGHTS, fitted

from maxmargin import LinearSVM
from maxmargin.certificates.multiclass import MulticlassCertificate, kind_of
from maxmargin.certificates.record import spell_out

CHECKER = Path(__file__).parents[2] / "checker"
VERIFIED, REFUSED, CANNOT = "VERIFIED", "REFUSED", "CANNOT CHECK"
HONEST = MAKERS | {
    "huber": lambda: fitted(LinearSVM(C=2.0, loss="huber_hinge", huber_width=0.25), MIXED),
    "huber with weights": lambda: fitted(LinearSVM(loss="huber_hinge"), MIXED, sample_weight=WEIGHTS),
    "modified huber": lambda: fitted(LinearSVM(loss="modified_huber", fit_intercept=False), MIXED),
}
NO_PROOFS = ("kkt", "theorems", "further_look")  # fields at which check.py does not look
WEIGHTS_OF_A_WITNESS = "the witness rows prove it, but their weights leave the hull points"
OUT_OF_REACH = (
    "rbf",
    "laplacian",
    "function",
    "precomputed",
)  # kernels: not rational, or taken on trust


def loaded(name):
    """A file of the checker as a module of its own."""
    spec = importlib.util.spec_from_file_location(f"checker_{name}", CHECKER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


figures = loaded("figures")
check = figures.check


def table_of(X, y, sample_weight=None):
    """The table as the checker reads it from a file; numbers are doubles, as in the library."""
    if sparse.issparse(X):
        X = sparse.csr_array(X).astype(float)
        X.sum_duplicates()
        X.eliminate_zeros()
        ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        rows = [dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)) for a, b in ends]
    else:
        X = np.asarray(X, dtype=float)
        rows = [dict(enumerate(row)) for row in X.tolist()]
    weights = [1.0] * len(rows) if sample_weight is None else np.asarray(sample_weight, dtype=float).tolist()
    labels = [str(label) for label in np.asarray(y).tolist()]
    return {"rows": rows, "labels": labels, "weights": weights, "width": X.shape[1], "more": False}


def by_the_checker(text, table, with_figures=True):
    """VERIFIED, REFUSED or CANNOT CHECK; and why."""
    return check.judge(text, table, figures.Figures if with_figures else check.Problem)


def by_the_library(text, X, y, sample_weight=None, kernel=None):
    """The same words for what `verify(exact=True)` says of what the JSON holds; and its reasons."""
    fields = json.loads(text)
    kind = MulticlassCertificate if "parts" in fields else kind_of(fields)
    try:
        certificate = kind.from_json(text)
    except (ValueError, KeyError, TypeError) as error:
        return REFUSED, [str(error)]
    options = {"exact": True, "sample_weight": sample_weight}
    if "parts" in fields or "kernel" in fields:
        options["kernel"] = kernel
    try:
        answer = certificate.verify(X, y, **options)
    except ValueError as error:
        return CANNOT, [str(error)]
    return (VERIFIED if answer else REFUSED), list(answer.reasons)


def disagreement(library, own, text):
    """Why two answers are not the same, or None. Where the library has no answer, a certificate that is none may be
    refused; what the checker cannot reach, or does not know, it says."""
    if library[0] == own[0] or (library[0] == CANNOT and own[0] == REFUSED):
        return None
    fields = json.loads(text)
    if "kernel" in fields and all(WEIGHTS_OF_A_WITNESS in reason for reason in library[1]) and own[0] == VERIFIED:
        return None  # its rows prove it: how near their weights must come is not the same bound in float64 and exactly
    if own[0] == CANNOT and (fields.get("kernel") in OUT_OF_REACH or fields.get("degree", 1) > 1000):
        return None
    if own[0] == CANNOT and speaks_of_what_is_elsewhere(fields):
        return None
    return f"the library: {library}; the checker: {own}"


def speaks_of_what_is_elsewhere(fields):
    """Whether a loss or a kernel is a word that the library has not without others."""
    known = {"loss": check.LOSSES, "kernel": check.KERNELS}
    words = [(part[name], own) for part in fields.get("parts", [fields]) for name, own in known.items() if name in part]
    return any(isinstance(word, str) and word not in own for word, own in words)


def for_its_figures(library):
    """What the library would say, if it looked at the proofs alone."""
    only = all(any(words in reason for words in ONLY_FIGURES) for reason in library[1])
    return (VERIFIED, []) if library[0] == REFUSED and only else library


def forged_texts(case):
    """JSON that differs from the honest one in one place; and which."""
    fields = case.certificate.to_dict()
    for path in places(fields):
        for value in forged_values(at(fields, path), name_of(path)):
            changed = copy.deepcopy(fields)
            at(changed, path[:-1])[path[-1]] = value
            yield path, json.dumps(spell_out(changed))
