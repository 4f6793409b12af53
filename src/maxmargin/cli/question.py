"""The question of separability, in the labels that the user wrote."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from maxmargin.cli.console import UserError
from maxmargin.cli.datafile import DataFile

if TYPE_CHECKING:
    from maxmargin import Certificate, MulticlassCertificate

MOST_LABELS = 100
LABELS_SHOWN = 8


def ask(
    data: DataFile, norm: str, fit_intercept: bool, positive: str | None, max_time: float | None
) -> Certificate | MulticlassCertificate:
    """The library's answer; one label against the rest where one is named, otherwise all of them."""
    import numpy as np

    from maxmargin import MulticlassCertificate, separability

    labels = np.unique(data.y)
    if len(labels) < 2:
        raise UserError(f"{data.name}: every row has the label {labels[0].item()!r}; a plane separates two or more")
    if len(labels) > MOST_LABELS and positive is None:
        where = "" if data.label_name is None else f", column {data.label_name!r}"
        raise UserError(
            f"{data.name}{where}: {len(labels):,} different labels. Is it a measure and not a class? "
            "Choose another column with --label, or ask about one of them with --positive."
        )
    label = None if positive is None else find(positive, labels, data)
    asked = data.y if positive is None else (data.y == label).astype(int)
    try:
        certificate = separability(data.X, asked, norm=norm, fit_intercept=fit_intercept, max_time=max_time)
    except ValueError as error:
        raise UserError(f"{data.name}: {str(error).splitlines()[0]}") from None
    if positive is None or isinstance(certificate, MulticlassCertificate):
        return certificate
    # The question was put in numbers; the certificate speaks of the user's labels, and can be verified with them.
    others = [other for other in labels.tolist() if other != label]
    return dataclasses.replace(certificate, positive=label, negative=others[0] if len(others) == 1 else None)


def find(wanted: str, labels: Any, data: DataFile) -> Any:
    """The label that the user wrote, as it is in the data: 1, +1 and 1.0 are the same number."""
    known = labels.tolist()
    for label in known:
        if str(label) == wanted:
            return label
    for label in known:
        try:
            if not isinstance(label, str) and float(wanted) == label:
                return label
        except ValueError:
            break
    shown = ", ".join(repr(label) for label in known[:LABELS_SHOWN]) + (" ..." if len(known) > LABELS_SHOWN else "")
    raise UserError(f"{data.name} has no label {wanted!r} for --positive; it has {shown}")
