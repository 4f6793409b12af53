"""One step before an estimator that a model file can hold: scikit-learn's scalers, imputers, encoder and hasher.

Each is kept as its numbers, its words and its parameters, and made again by calling its class: the file names no class,
only a kind out of a fixed table. `place` says where in the model a step stands, in messages and in the names of arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from maxmargin.persistence.container import Arrays
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.fields import Fields, Shelf, is_number, is_text, is_whole, shown, without_numpy


class Rule(NamedTuple):
    """Which values a parameter of a step can have, and how a sentence says so."""

    says: str
    fits: Callable[[Any], bool]

    def or_none(self) -> Rule:
        return Rule(f"{self.says} or None", lambda value: value is None or self.fits(value))


def one_of(*options: str) -> Rule:
    return Rule(f"one of {', '.join(map(repr, options))}", lambda value: isinstance(value, str) and value in options)


FLAG = Rule("True or False", lambda value: isinstance(value, bool))
RANGE = Rule("a pair of rising numbers", lambda value: is_range(value))
NONE = Rule("None", lambda value: value is None)
WORDS = Rule("a pair of rising whole numbers from 1 to 8", lambda value: is_range_of_words(value))
WIDTH = Rule("a whole number from 1 to 2^24", lambda value: is_whole(value) and 1 <= value <= 2**24)
FILLED = {  # of an imputer
    "copy": FLAG,
    "add_indicator": Rule("False", lambda value: value is False),
    "keep_empty_features": FLAG,
}


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
        FILLED
        | {
            "strategy": one_of("mean", "median", "most_frequent", "constant"),
            "fill_value": Rule("a number", is_number).or_none(),
        },
        ("statistics_",),
    ),
    "imputer of words": Kind(
        SimpleImputer,
        FILLED | {"strategy": one_of("most_frequent", "constant"), "fill_value": Rule("a text", is_text).or_none()},
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
    "hashing vectorizer": Kind(
        HashingVectorizer,
        {
            "n_features": WIDTH,
            "ngram_range": WORDS,
            "analyzer": one_of("word", "char", "char_wb"),
            "lowercase": FLAG,
            "strip_accents": one_of("ascii", "unicode").or_none(),
            "binary": FLAG,
            "norm": one_of("l1", "l2").or_none(),
            "alternate_sign": FLAG,
        },
    ),
}
NEW = {"clip": False}  # what older releases of scikit-learn do, who do not have the parameter
LISTS = {"imputer of words": "fill", "one-hot encoder": "categories"}  # what these have beside vectors


def is_range(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_number, value)) and value[0] < value[1]


def is_range_of_words(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_whole, value)) and 1 <= value[0] <= value[1] <= 8


def kind_of(name: str, step: Any) -> str:
    """The kind of a step, by its class and, of an imputer, by what it fills in."""
    kind = next((kind for kind, known in STEPS.items() if type(step) is known.made), None)
    if kind is None:
        known = ", ".join(sorted({one.made.__name__ for one in STEPS.values()}))
        raise Refusal(f"the step {name!r} is a {type(step).__name__}; a file can hold {known}, and ColumnTransformer")
    if not isinstance(step, HashingVectorizer):  # which learns nothing, though scikit-learn 1.6 asks for what it learnt
        check_is_fitted(step)
    return "imputer of words" if kind == "imputer" and step.statistics_.dtype.kind == "O" else kind


def n_columns_of(step: Any) -> int:
    """How many columns a step takes; a hasher takes one, of texts."""
    return int(getattr(step, "n_features_in_", 1))


def width_of(step: Any) -> int:
    """How many columns a step makes."""
    return step.n_features if isinstance(step, HashingVectorizer) else len(step.get_feature_names_out())


def write_step(name: str, step: Any, place: str, arrays: Arrays) -> dict[str, Any]:
    """What the document says of a step; its numbers go to the arrays."""
    kind = kind_of(name, step)
    names = getattr(step, "feature_names_in_", None)
    vectors = [vector for vector in STEPS[kind].vectors if getattr(step, vector) is not None]
    fields: dict[str, Any] = {
        "kind": kind,
        "name": name,
        "n_columns": n_columns_of(step),
        "column_names": None if names is None else names.tolist(),
        "parameters": write_step_parameters(name, step, STEPS[kind].parameters),
        "vectors": vectors,
    }
    for vector in vectors:
        arrays[f"{place}.{vector}"] = np.asarray(getattr(step, vector), dtype=np.float64)
    if hasattr(step, "n_samples_seen_"):
        arrays[f"{place}.n_samples_seen_"] = np.atleast_1d(np.asarray(step.n_samples_seen_, dtype=np.float64))
    if kind == "one-hot encoder":
        fields["categories"] = write_categories(name, step)
    if kind == "imputer of words":
        fields["fill"] = step.statistics_.tolist()
        if not all(map(is_text, fields["fill"])):
            raise Refusal(f"the step {name!r} fills in what is neither a number nor a short text in every column")
    return fields


def write_step_parameters(name: str, step: Any, rules: dict[str, Rule]) -> dict[str, Any]:
    given = NEW | {parameter: without_numpy(value) for parameter, value in step.get_params(deep=False).items()}
    for parameter, rule in rules.items():
        if not rule.fits(given[parameter]):
            problem = f"the parameter {parameter}={shown(given[parameter])} of the step {name!r} cannot be kept"
            raise Refusal(f"{problem}: a file can hold {rule.says}")
    missing = given.get("missing_values", math.nan)
    if not (isinstance(missing, float) and math.isnan(missing)):
        raise Refusal(f"the step {name!r} fills {shown(missing)}; a file can hold one that fills NaN")
    if given.get("dtype", np.float64) is not np.float64:
        raise Refusal(f"the step {name!r} has a dtype; a file can hold one that makes float64")
    usual = type(step)().get_params(deep=False)
    for parameter in given.keys() - NEW.keys() - rules.keys() - {"missing_values", "dtype", "categories"}:
        if given[parameter] != usual[parameter]:
            problem = f"the parameter {parameter}={shown(given[parameter])} of the step {name!r} cannot be kept"
            raise Refusal(f"{problem}: a file can hold {shown(usual[parameter])} alone")
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


def read_step(fields: Fields, place: str, shelf: Shelf) -> tuple[str, Any]:
    """The way back: the name of a step, and the step as its fit left it."""
    with fields:
        kind = fields.one_of("kind", STEPS)
        name, n_columns = fields.text("name"), fields.whole("n_columns", 1, 2**31)
        column_names = fields.take("column_names")
        parameters = read_step_parameters(kind, fields.fields("parameters"))
        present, known = fields.list("vectors"), STEPS[kind].vectors
        listed = fields.list(LISTS[kind]) if kind in LISTS else []
    if not all(vector in known for vector in present) or len(set(present)) != len(present):
        raise Refusal(f"{place} has vectors that a {kind} does not have")
    if column_names is not None and not are_names(column_names, n_columns):
        raise Refusal(f"'column_names' of {place} must be {n_columns} short texts")
    vectors = {vector: shelf.take(f"{place}.{vector}", (n_columns,)) for vector in present}
    if kind == "one-hot encoder":
        step = encoder_of(parameters, listed, n_columns, place)
    elif kind == "hashing vectorizer":
        step = hasher_of(parameters, n_columns, place)
    elif kind == "imputer of words":
        step = imputer_of_words(parameters, listed, n_columns, place)
    elif kind == "imputer":
        step = imputer_of(parameters, vectors, place)
    else:
        step = scaler_of(STEPS[kind], parameters, vectors, shelf, place, n_columns)
    if column_names is not None:
        step.feature_names_in_ = np.array(column_names, dtype=object)
    return name, step


def are_names(names: Any, n_columns: int) -> bool:
    return isinstance(names, list) and len(names) == n_columns and all(map(is_text, names))


def read_step_parameters(kind: str, fields: Fields) -> dict[str, Any]:
    values = {}
    with fields:
        for name, rule in STEPS[kind].parameters.items():
            values[name] = fields.take(name)
            if not rule.fits(values[name]):
                raise Refusal(f"the parameter {name} of a {kind} must be {rule.says}, not {shown(values[name])}")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def scaler_of(
    kind: Kind, parameters: dict[str, Any], vectors: dict[str, Any], shelf: Shelf, place: str, n_columns: int
) -> Any:
    """A scaler as its fit left it. Only StandardScaler can be without some of its vectors, as its parameters say."""
    usual = kind.made().get_params(deep=False)
    for name, value in NEW.items():
        if name in parameters and name not in usual and parameters.pop(name) != value:
            raise Refusal(f"{place} has {name}={not value}, which needs a newer scikit-learn")
    scaler = kind.made(**parameters)
    needed = set(kind.vectors)
    if kind.made is StandardScaler and not scaler.with_std:
        needed -= {"var_", "scale_"} | (set() if scaler.with_mean else {"mean_"})
    if set(vectors) != needed:
        raise Refusal(f"{place} must have the vectors {', '.join(sorted(needed))}")
    if "scale_" in vectors and np.any(vectors["scale_"] == 0.0):
        raise Refusal(f"{place} would divide by zero, or multiply by it")
    for vector in kind.vectors:
        setattr(scaler, vector, vectors.get(vector))
    seen = shelf.take(f"{place}.n_samples_seen_", (None,))
    if len(seen) not in (1, n_columns):
        raise Refusal(f"{place} must say how many rows it has seen, once or for each column")
    scaler.n_samples_seen_ = seen[0] if len(seen) == 1 else seen
    scaler.n_features_in_ = n_columns
    return scaler


def imputer_of(parameters: dict[str, Any], vectors: dict[str, Any], place: str) -> SimpleImputer:
    """An imputer that is fitted to one row, the values to fill in: they are its mean, median and most frequent ones."""
    if set(vectors) != {"statistics_"}:
        raise Refusal(f"{place} must have the vector statistics_")
    imputer = SimpleImputer(**parameters).fit(vectors["statistics_"][None, :])
    if not np.array_equal(imputer.statistics_, vectors["statistics_"]):
        raise Refusal(f"{place} fills in other values than its parameters say")
    return imputer


def imputer_of_words(parameters: dict[str, Any], fill: list[Any], n_columns: int, place: str) -> SimpleImputer:
    """The same with words."""
    if len(fill) != n_columns or not all(map(is_text, fill)):
        raise Refusal(f"{place} must have a short text to fill in for each of {n_columns} columns")
    imputer = SimpleImputer(**parameters).fit(np.array([fill], dtype=object))
    if imputer.statistics_.tolist() != fill:
        raise Refusal(f"{place} fills in other words than its parameters say")
    return imputer


def hasher_of(parameters: dict[str, Any], n_columns: int, place: str) -> HashingVectorizer:
    """A hasher learns nothing: its parameters are all of it."""
    if n_columns != 1:
        raise Refusal(f"{place} takes {n_columns} columns, and a hasher takes one")
    return HashingVectorizer(**parameters)


def encoder_of(parameters: dict[str, Any], categories: list[Any], n_columns: int, place: str) -> OneHotEncoder:
    """An encoder that is fitted to one row, of the categories given; a fit to come finds its own."""
    if len(categories) != n_columns or not all(map(are_categories, categories)):
        raise Refusal(f"{place} must have a list of strings or of numbers for each of {n_columns} columns")
    is_text_table = any(isinstance(column[0], str) for column in categories)
    kind = object if is_text_table else np.float64
    try:
        first = np.array([[column[0] for column in categories]], dtype=kind)
        encoder = OneHotEncoder(categories=[np.array(column, dtype=kind) for column in categories], **parameters)
        encoder.fit(first)
    except (TypeError, ValueError) as error:
        raise Refusal(f"{place} cannot be made: {error}") from None
    encoder.categories = "auto"
    return encoder
