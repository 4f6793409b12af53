"""The steps before an estimator that a model file can hold: scikit-learn's scalers, imputer and one-hot encoder.

Each is kept as its numbers and its parameters, and made again by calling its class: the file names no class, only a
kind out of a fixed table. A Pipeline of other steps is refused.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from maxmargin.persistence.container import Arrays
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.fields import Fields, Shelf, is_text, shown
from maxmargin.persistence.parameters import FLAG, Rule, is_number, one_of, without_numpy

RANGE = Rule("a pair of rising numbers", lambda value: is_range(value))
NONE = Rule("None", lambda value: value is None)
MOST_STEPS = 8


class Kind(NamedTuple):
    """A step: its class, the parameters it may have, and the numbers that a fit has left in it."""

    made: Any
    parameters: dict[str, Rule]
    vectors: tuple[str, ...] = ()


STEPS: dict[str, Kind] = {
    "standard scaler": Kind(
        StandardScaler, {"copy": FLAG, "with_mean": FLAG, "with_std": FLAG}, ("mean_", "var_", "scale_")
    ),
    "min-max scaler": Kind(
        MinMaxScaler,
        {"copy": FLAG, "clip": FLAG, "feature_range": RANGE},
        ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
    ),
    "max-abs scaler": Kind(MaxAbsScaler, {"copy": FLAG, "clip": FLAG}, ("scale_", "max_abs_")),
    "imputer": Kind(
        SimpleImputer,
        {
            "copy": FLAG,
            "strategy": one_of("mean", "median", "most_frequent", "constant"),
            "fill_value": Rule("a number", is_number).or_none(),
            "add_indicator": Rule("False", lambda value: value is False),
            "keep_empty_features": FLAG,
        },
        ("statistics_",),
    ),
    "one-hot encoder": Kind(
        OneHotEncoder,
        {
            "drop": NONE,
            "handle_unknown": one_of("error", "ignore"),
            "sparse_output": FLAG,
            "min_frequency": NONE,
            "max_categories": NONE,
        },
    ),
}


def is_range(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_number, value)) and value[0] < value[1]


def write_steps(pipeline: Pipeline, arrays: Arrays) -> list[dict[str, Any]]:
    """What the document says of a Pipeline; the last entry is the name of the estimator's own step."""
    if len(pipeline.steps) > MOST_STEPS:
        raise Refusal(f"a Pipeline of more than {MOST_STEPS} steps cannot be kept")
    if any(getattr(step, "_sklearn_output_config", None) for _, step in pipeline.steps):
        raise Refusal("the steps of the Pipeline hand on data frames (set_output), which cannot be kept")
    entries = [write_step(name, step, index, arrays) for index, (name, step) in enumerate(pipeline.steps[:-1])]
    return [*entries, {"kind": "estimator", "name": pipeline.steps[-1][0]}]


def write_step(name: str, step: Any, index: int, arrays: Arrays) -> dict[str, Any]:
    kind = next((kind for kind, known in STEPS.items() if type(step) is known.made), None)
    if kind is None:
        known = ", ".join(sorted(one.made.__name__ for one in STEPS.values()))
        raise Refusal(f"the step {name!r} of the Pipeline is a {type(step).__name__}; a file can hold {known}")
    check_is_fitted(step)
    names = getattr(step, "feature_names_in_", None)
    vectors = [vector for vector in STEPS[kind].vectors if getattr(step, vector) is not None]
    fields: dict[str, Any] = {
        "kind": kind,
        "name": name,
        "n_columns": int(step.n_features_in_),
        "column_names": None if names is None else names.tolist(),
        "parameters": write_step_parameters(name, step, STEPS[kind].parameters),
        "vectors": vectors,
    }
    for vector in vectors:
        arrays[f"step {index}.{vector}"] = np.asarray(getattr(step, vector), dtype=np.float64)
    if hasattr(step, "n_samples_seen_"):
        arrays[f"step {index}.n_samples_seen_"] = np.atleast_1d(np.asarray(step.n_samples_seen_, dtype=np.float64))
    if kind == "one-hot encoder":
        fields["categories"] = write_categories(name, step)
    return fields


def write_step_parameters(name: str, step: Any, rules: dict[str, Rule]) -> dict[str, Any]:
    given = {parameter: without_numpy(value) for parameter, value in step.get_params(deep=False).items()}
    for parameter, rule in rules.items():
        if not rule.fits(given[parameter]):
            problem = f"the parameter {parameter}={shown(given[parameter])} of the step {name!r} cannot be kept"
            raise Refusal(f"{problem}: a file can hold {rule.says}")
    missing = given.get("missing_values", math.nan)
    if not (isinstance(missing, float) and math.isnan(missing)):
        raise Refusal(f"the step {name!r} fills {shown(missing)}; a file can hold one that fills NaN")
    if given.get("dtype", np.float64) is not np.float64:
        raise Refusal(f"the step {name!r} has a dtype; a file can hold one that makes float64")
    return {parameter: given[parameter] for parameter in rules}


def write_categories(name: str, encoder: OneHotEncoder) -> list[list[Any]]:
    if not isinstance(encoder.categories, str):
        raise Refusal(f"the step {name!r} has categories of its own; a file can hold those that a fit has found")
    columns = [column.tolist() for column in encoder.categories_]
    if not all(map(are_categories, columns)):
        raise Refusal(f"the step {name!r} has categories that are neither strings nor finite numbers")
    return columns


def are_categories(column: Any) -> bool:
    """Strings alone or finite numbers alone, at least one, none twice."""
    if not isinstance(column, list) or not column:
        return False
    numbers = all(is_number(value) and math.isfinite(value) for value in column)
    return (numbers or all(map(is_text, column))) and len(set(column)) == len(column)


def read_steps(entries: list[Any], shelf: Shelf, estimator: Any) -> Any:
    """The estimator itself, or the Pipeline that ends in it."""
    if not entries:
        return estimator
    if len(entries) > MOST_STEPS:
        raise Refusal(f"a model has at most {MOST_STEPS} steps")
    with Fields(entries[-1], "the last step") as fields:
        if fields.take("kind") != "estimator":
            raise Refusal("the last step must be the estimator")
        last = fields.text("name")
    steps, width = [], None
    for index, entry in enumerate(entries[:-1]):
        name, step = read_step(Fields(entry, f"step {index}"), index, shelf)
        if width not in (None, step.n_features_in_):
            raise Refusal(f"step {index} takes {step.n_features_in_} columns, and the one before makes {width}")
        steps.append((name, step))
        width = len(step.get_feature_names_out())
    if width not in (None, estimator.n_features_in_):
        raise Refusal(f"the estimator takes {estimator.n_features_in_} columns, and the step before makes {width}")
    names = [name for name, _ in steps] + [last]
    if len(set(names)) != len(names) or not all(name and "__" not in name for name in names):
        raise Refusal("the names of the steps must differ and have no '__' in them")
    return Pipeline([*steps, (last, estimator)])


def read_step(fields: Fields, index: int, shelf: Shelf) -> tuple[str, Any]:
    with fields:
        kind = fields.one_of("kind", STEPS)
        name, n_columns = fields.text("name"), fields.whole("n_columns", 1, 2**31)
        column_names = fields.take("column_names")
        parameters = read_step_parameters(kind, fields.fields("parameters"))
        present, known = fields.list("vectors"), STEPS[kind].vectors
        categories = fields.list("categories") if kind == "one-hot encoder" else []
    if not all(vector in known for vector in present) or len(set(present)) != len(present):
        raise Refusal(f"step {index} has vectors that a {kind} does not have")
    if column_names is not None and not (
        isinstance(column_names, list) and len(column_names) == n_columns and all(map(is_text, column_names))
    ):
        raise Refusal(f"'column_names' of step {index} must be {n_columns} short texts")
    vectors = {vector: shelf.take(f"step {index}.{vector}", (n_columns,)) for vector in present}
    if kind == "one-hot encoder":
        step = encoder_of(parameters, categories, n_columns, index)
    elif kind == "imputer":
        step = imputer_of(parameters, vectors, index)
    else:
        step = scaler_of(STEPS[kind], parameters, vectors, shelf, index, n_columns)
    if column_names is not None:
        step.feature_names_in_ = np.array(column_names, dtype=object)
    return name, step


def read_step_parameters(kind: str, fields: Fields) -> dict[str, Any]:
    values = {}
    with fields:
        for name, rule in STEPS[kind].parameters.items():
            values[name] = fields.take(name)
            if not rule.fits(values[name]):
                raise Refusal(f"the parameter {name} of a {kind} must be {rule.says}, not {shown(values[name])}")
    if "feature_range" in values:
        values["feature_range"] = tuple(values["feature_range"])
    return values


def scaler_of(
    kind: Kind, parameters: dict[str, Any], vectors: dict[str, Any], shelf: Shelf, index: int, n_columns: int
) -> Any:
    """A scaler as its fit left it. Only StandardScaler can be without some of its vectors, as its parameters say."""
    scaler = kind.made(**parameters)
    needed = set(kind.vectors)
    if kind.made is StandardScaler and not scaler.with_std:
        needed -= {"var_", "scale_"} | (set() if scaler.with_mean else {"mean_"})
    if set(vectors) != needed:
        raise Refusal(f"step {index} must have the vectors {', '.join(sorted(needed))}")
    if "scale_" in vectors and np.any(vectors["scale_"] == 0.0):
        raise Refusal(f"step {index} would divide by zero, or multiply by it")
    for vector in kind.vectors:
        setattr(scaler, vector, vectors.get(vector))
    seen = shelf.take(f"step {index}.n_samples_seen_", (None,))
    if len(seen) not in (1, n_columns):
        raise Refusal(f"step {index} must say how many rows it has seen, once or for each column")
    scaler.n_samples_seen_ = seen[0] if len(seen) == 1 else seen
    scaler.n_features_in_ = n_columns
    return scaler


def imputer_of(parameters: dict[str, Any], vectors: dict[str, Any], index: int) -> SimpleImputer:
    """An imputer that is fitted to one row, the values to fill in: they are its mean, median and most frequent ones."""
    if set(vectors) != {"statistics_"}:
        raise Refusal(f"step {index} must have the vector statistics_")
    imputer = SimpleImputer(**parameters).fit(vectors["statistics_"][None, :])
    if not np.array_equal(imputer.statistics_, vectors["statistics_"]):
        raise Refusal(f"step {index} fills in other values than its parameters say")
    return imputer


def encoder_of(parameters: dict[str, Any], categories: list[Any], n_columns: int, index: int) -> OneHotEncoder:
    """An encoder that is fitted to one row, of the categories given; a fit to come finds its own."""
    if len(categories) != n_columns or not all(map(are_categories, categories)):
        raise Refusal(f"step {index} must have a list of strings or of numbers for each of {n_columns} columns")
    is_text_table = any(isinstance(column[0], str) for column in categories)
    kind = object if is_text_table else np.float64
    try:
        first = np.array([[column[0] for column in categories]], dtype=kind)
        encoder = OneHotEncoder(categories=[np.array(column, dtype=kind) for column in categories], **parameters)
        encoder.fit(first)
    except (TypeError, ValueError) as error:
        raise Refusal(f"step {index} cannot be made: {error}") from None
    encoder.categories = "auto"
    return encoder
