"""What a file keeps so that a model can be told from one that was changed, and the check of it.

The record of the fit (`estimators/seen.py`) goes into the file beside what it is about: the class of each support row,
digests of the support vectors and of some rows of the table. It is null in a model that never had one: from a file
before version 3, or after `partial_fit`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.certificates.kernel_margin import KernelCertificate
from maxmargin.estimators.agreement import disagreements, parts_of
from maxmargin.estimators.base import single
from maxmargin.estimators.model_verification import OTHER_TABLE
from maxmargin.persistence.container import Arrays
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.fields import Fields, Shelf

DIGITS = 64  # of a SHA-256, in hexadecimal


def refuse_another_plane(estimator: Any) -> None:
    """A `Refusal` where an estimator predicts by other planes than those of its certificate."""
    found = disagreements(estimator)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise Refusal(f"it does not predict by the planes that are proven: {found[0]}{more}")


def refuse_another_table(estimator: Any, sample: str | None) -> None:
    """A `Refusal` where the table, behind the steps before the estimator, is not the one that the fit has seen."""
    seen = getattr(estimator, "_seen", None)
    if sample is not None and seen is not None and sample != seen["sample"]:
        raise Refusal(OTHER_TABLE)


def write_seen(estimator: Any, parts: tuple[str, ...], arrays: Arrays) -> dict[str, Any] | None:
    """The record of the fit as the document holds it; the classes of the support rows are an array."""
    seen = getattr(estimator, "_seen", None)
    if seen is None:
        return None
    if "support" in parts and seen["codes"] is not None:
        arrays["support_codes"] = np.asarray(seen["codes"]).astype(np.int64)
    return {
        "n_rows": int(seen["n_rows"]),
        "sample": seen["sample"],
        "vectors": seen["vectors"] if "support_vectors" in parts else None,
    }


def read_seen(estimator: Any, entry: Any, parts: tuple[str, ...], shelf: Shelf) -> None:
    """The way back."""
    if entry is None:
        return
    with Fields(entry, "'seen' of 'fitted' of the document") as fields:
        n_rows, sample = fields.whole("n_rows", 1), digest_in(fields, "sample")
        vectors = digest_in(fields, "vectors", optional=True)
    codes = None
    if "support" in parts:
        codes = shelf.take_rows("support_codes", len(estimator.support_))
        if np.any(codes >= len(estimator.classes_)):
            raise Refusal("the array 'support_codes' speaks of classes that the model does not have")
        if np.any(estimator.support_ >= n_rows):
            raise Refusal(f"the array 'support' speaks of rows beyond the {n_rows} of the table")
    if (vectors is None) == ("support_vectors" in parts):
        raise Refusal("'vectors' of the record must be there with the support vectors, and only then")
    estimator._seen = {"n_rows": n_rows, "sample": sample, "codes": codes, "vectors": vectors}


def digest_in(fields: Fields, name: str, *, optional: bool = False) -> str | None:
    """64 hexadecimal digits."""
    value = fields.take(name)
    if optional and value is None:
        return None
    if not isinstance(value, str) or len(value) != DIGITS or set(value) - set("0123456789abcdef"):
        raise Refusal(f"{name!r} of {fields.place} must be {DIGITS} hexadecimal digits")
    return value


def bring_to_canonical_form(estimator: Any) -> None:
    """A hard margin in the space of a kernel from a file before version 3, scaled until its nearest row has
    y (w.phi(x) + b) = 1.

    Those files hold the plane of the weights as the solver left them, and 1 / |w| of it as the margin. The certificate
    knows the margin m of the plane, and y (w.phi(x) + b) / |w| = m at its nearest row: so the factor is 1 / (m |w|).
    """
    parts = parts_of(estimator.certificate_)
    margins = estimator.margin_ if len(parts) > 1 else [estimator.margin_]
    made = []
    for line, (part, margin) in enumerate(zip(parts, margins, strict=True)):
        is_hard = isinstance(part, KernelCertificate) and part.is_hard and part.is_separable is True
        nearest = part.margin_lower / margin if is_hard and 0.0 < margin < math.inf else math.nan
        if 0.0 < nearest < math.inf:
            estimator.dual_coef_[line] /= nearest
            estimator.intercept_[line] /= nearest
            margin = part.margin_lower
        made.append(float(margin))
    estimator.margin_, estimator.street_ = single(made), single([2.0 * margin for margin in made])
