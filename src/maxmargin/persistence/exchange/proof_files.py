"""A certificate and the table that it is about, as two files that a program without this library can check.

    certificate.json   {"format", "version", "written_by", "table": {...}, "certificate": {...}}
    table.csv          the rows as the planes saw them: prepared, every number in as few digits as tell it apart
    table.svm          the same of a sparse table, in the format of SVMlight, indices from 1

docs/certificate_format.md explains each field; checker/check.py in the source of this library reads both. "table" says
which column is the label and which the weight; of a sparse table, which label each number stands for, and the weights;
what was done to the columns before; and the SHA-256 of the table's file.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin._version import __version__
from maxmargin.data.checking import check_labels, check_rows, check_weights
from maxmargin.data.table import is_sparse
from maxmargin.persistence.container import write_atomically
from maxmargin.persistence.errors import ModelFileError
from maxmargin.reading.svmlight_writer import write_svmlight

FORMAT, VERSION = "maxmargin certificate", 1
CERTIFICATE = "certificate.json"
LABEL, WEIGHT = "label", "weight"


def table_name(X: Any) -> str:
    """What the table is called, by which of the two formats it takes."""
    return "table.svm" if is_sparse(X) else "table.csv"


def write_proof(
    certificate: Any,
    X: Any,
    y: Any,
    folder: str | os.PathLike[str],
    *,
    sample_weight: Any = None,
    names: Sequence[str] | None = None,
    prepared: Sequence[str] = (),
) -> tuple[Path, Path]:
    """Write a certificate and its table into a folder, which is made if it is not there; returns the two files.

    certificate   : of a fit, of `separability`, or of many classes
    X, y          : the table that it is about, as the planes saw it: what `certificate.verify` takes
    sample_weight : as given to `fit`
    names         : of the columns, if they have some
    prepared      : what was done to the columns before, for people to read
    """
    rows = check_rows(X)
    labels = [plain_label(label) for label in check_labels(y, rows.shape[0]).tolist()]
    weights = None if sample_weight is None else check_weights(sample_weight, rows.shape[0]).tolist()
    about: dict[str, Any] = {"file": table_name(rows), "prepared": list(prepared)}
    if is_sparse(rows):
        known = list(dict.fromkeys(labels))
        codes = {label: label for label in known}
        if any(type(label) is not int for label in known):
            codes = {label: place for place, label in enumerate(known)}
            about["labels"] = {str(place): str(label) for place, label in enumerate(known)}
        if weights is not None:
            about["weights"] = weights
        text = io.StringIO()
        write_svmlight(text, rows.astype(np.float64), [codes[label] for label in labels])
        table = text.getvalue().encode("ascii")
    else:
        columns = column_names(names, rows.shape[1])
        about["label"] = LABEL
        if weights is not None:
            about["weight"] = WEIGHT
        table = csv_of(columns, rows.astype(np.float64), weights, labels)
    about["sha256"] = hashlib.sha256(table).hexdigest()
    document = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"maxmargin {__version__}",
        "table": about,
        "certificate": json.loads(certificate.to_json()),
    }
    target = Path(folder)
    files = target / CERTIFICATE, target / about["file"]
    try:
        target.mkdir(exist_ok=True)
    except FileNotFoundError:
        raise ModelFileError(str(target), "the folder that it should be made in is not there: make it first") from None
    except FileExistsError:
        raise ModelFileError(str(target), "this is a file, and a folder is needed to write into") from None
    write_atomically(files[1], table)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(own, allow_nan=False)}" for name, own in document.items())
    write_atomically(files[0], f"{{\n{lines}\n}}\n".encode())
    return files


def plain_label(label: Any) -> Any:
    """A whole number as an integer: 1 and 1.0 are written alike."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def column_names(names: Sequence[str] | None, n_columns: int) -> list[str]:
    """Those of the columns, unless two are alike or one is what the label or the weight is called."""
    own = [f"x{place}" for place in range(n_columns)] if names is None else list(names)
    unique = len(set(own) | {LABEL, WEIGHT}) == len(own) + 2
    return own if unique else [f"x{place}" for place in range(n_columns)]


def csv_of(columns: list[str], X: Any, weights: list[float] | None, labels: list[Any]) -> bytes:
    """A line of names, then a line for each row; the label is last."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, *([] if weights is None else [WEIGHT]), LABEL])
    for place, cells in enumerate(X.tolist()):
        writer.writerow([*cells, *([] if weights is None else [weights[place]]), labels[place]])
    return text.getvalue().encode()
