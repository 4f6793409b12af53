"""The planes of linear estimators as a table for people and spreadsheets (CSV), or for programs (JSON)."""

from __future__ import annotations

import csv
import io
import json
import os
from typing import Any

from maxmargin.estimators.agreement import sides_of_planes
from maxmargin.persistence.container import write_atomically
from maxmargin.persistence.errors import ModelFileError, Refusal
from maxmargin.persistence.exchange.text_model import check_is_ours


def write_coefficients(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write coef_ and intercept_ with all their digits, as CSV or JSON by the end of the file's name.

    A line of the CSV is a plane: its positive label, its negative one (empty: all others), the intercept, and a
    coefficient for each column, by its name.
    """
    name = os.fspath(path)
    try:
        check_is_ours(estimator)
    except Refusal as problem:
        raise ModelFileError(name, str(problem)) from None
    if not hasattr(estimator, "coef_"):
        raise ModelFileError(name, f"a {type(estimator).__name__} with a kernel has no coefficients to write")
    if not name.endswith((".csv", ".json")):
        raise ModelFileError(name, "coefficients are written to a file that ends in .csv or .json")
    names = getattr(estimator, "feature_names_in_", None)
    columns = [f"x{index}" for index in range(estimator.coef_.shape[1])] if names is None else names.tolist()
    sides = sides_of_planes(estimator.classes_, estimator._strategy)
    planes = list(zip(sides, estimator.intercept_.tolist(), estimator.coef_.tolist(), strict=True))
    if name.endswith(".json"):
        described = [
            {"positive": positive, "negative": negative, "intercept": intercept, "coefficients": coefficients}
            for (positive, negative), intercept, coefficients in planes
        ]
        text = json.dumps({"columns": columns, "planes": described}, indent=1) + "\n"
    else:
        table = io.StringIO(newline="")
        writer = csv.writer(table)
        writer.writerow(["positive", "negative", "intercept", *columns])
        writer.writerows([*side, repr(intercept), *map(repr, own)] for side, intercept, own in planes)
        text = table.getvalue()
    write_atomically(path, text.encode())
