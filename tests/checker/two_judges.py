"""The library's `verify(exact=True)` and the checker on the same certificate and table, side by side.

What both are given is the JSON of a certificate and the table: the library reads the JSON back, the checker the dict.
"""

import importlib.util
import json
import math
from pathlib import Path

import numpy as np
import scipy.sparse as sparse

from maxmargin.certificates.multiclass import MulticlassCertificate, kind_of
from maxmargin.certificates.proof import read_back

CHECKER = Path(__file__).parents[2] / "checker"


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
        rows = [dict(zip(X.indices[start:end].tolist(), X.data[start:end].tolist(), strict=True)) for start, end in ends]
    else:
        X = np.asarray(X, dtype=float)
        rows = [dict(enumerate(row)) for row in X.tolist()]
    weights = [1.0] * len(rows) if sample_weight is None else np.asarray(sample_weight, dtype=float).tolist()
    return {
        "rows": rows, "labels": [str(label) for label in np.asarray(y).tolist()], "weights": weights,
        "width": X.shape[1], "more": False,
    }  # fmt: skip


def by_the_checker(text, table, with_figures=True):
    """VERIFIED, REFUSED or CANNOT CHECK; and why."""
    return check.judge(text, table, figures.Figures if with_figures else check.Problem)


def by_the_library(text, X, y, sample_weight=None, kernel=None):
    """The same words for what `verify(exact=True)` says of what the JSON holds."""
    fields = json.loads(text)
    kind = MulticlassCertificate if "parts" in fields else kind_of(fields)
    try:
        certificate = kind.from_json(text)
    except (ValueError, KeyError, TypeError) as error:
        return "REFUSED", str(error)
    options = {"exact": True, "sample_weight": sample_weight}
    if getattr(certificate, "kernel", None) is not None or kind is MulticlassCertificate:
        options["kernel"] = kernel
    try:
        answer = certificate.verify(X, y, **options)
    except ValueError as error:
        return "CANNOT CHECK", str(error)
    return ("VERIFIED" if answer else "REFUSED"), "; ".join(answer.reasons)
