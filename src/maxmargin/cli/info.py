"""`maxmargin info MODEL`: what is in a model file."""

from __future__ import annotations

import dataclasses
from typing import Any

from rich.table import Table
from rich.text import Text

from maxmargin.cli.console import ExitCode, say, say_json, show
from maxmargin.cli.models import Model, load_model
from maxmargin.cli.options import AsJson, ModelFile
from maxmargin.cli.preparation import inner_steps

SHOWN = 12  # names of columns or labels


def info(model: ModelFile, as_json: AsJson = False) -> int:
    """Tell what is in a model: the estimator and its parameters, its classes, columns, data and certificate."""
    found = contents(load_model(model), model)
    if as_json:
        say_json(found)
        return ExitCode.FINE
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in found.items():
        if name != "certificates":
            table.add_row(Text(name.replace("_", " ")), Text(as_text(value)))
    show(table)
    for certificate in found["certificates"]:
        say(f"{certificate['plane']}: {certificate['verdict']} relative gap {certificate['relative_gap']:.1e}")
    return ExitCode.FINE


def contents(loaded: Model, path: str) -> dict[str, Any]:
    """All of it as plain values."""
    from maxmargin.certificates.words import sides

    classifier = loaded.classifier
    certificate = getattr(classifier, "certificate_", None)
    parts = () if certificate is None else certificate.parts
    return {
        "model": path,
        "written_by": loaded.written_by,
        "estimator": type(classifier).__name__,
        "parameters": {name: plain(value) for name, value in classifier.get_params().items() if value is not None},
        "preparation": [type(step).__name__ for step, _ in inner_steps(loaded.scaler)],
        "labels": classifier.classes_.tolist(),
        "columns": int(classifier.n_features_in_),
        "columns_by": loaded.columns_by,
        "columns_for": dict(loaded.roles),
        "calibration": None if loaded.calibration is None else dataclasses.asdict(loaded.calibration),
        "column_names": None if loaded.names is None else list(loaded.names),
        "column_kinds": None if loaded.expected is None else list(loaded.expected.values()),
        "data": None if loaded.fingerprint is None else loaded.fingerprint.to_dict(),
        "certificates": [
            {
                "plane": sides(part),
                "verdict": part.verdict.value,
                "relative_gap": part.relative_gap,
                "support": part.n_support,
            }
            for part in parts
        ],
    }


def plain(value: Any) -> Any:
    """As JSON can hold it."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value


def as_text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{name}={entry!r}" for name, entry in value.items())
    if isinstance(value, list):
        more = f" and {len(value) - SHOWN:,} more" if len(value) > SHOWN else ""
        return ", ".join(map(str, value[:SHOWN])) + more
    return str(value)
