"""One step before an estimator that a model file can hold: scikit-learn's scalers, imputers, encoder and hasher.

Each is kept as its numbers, its words and its parameters, and made again by calling its class: the file names no class,
only a kind out of a fixed table. `place` says where in the model a step stands, in messages and in the names of arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.schema import (
    NOTHING,
    Arrays,
    Between,
    OneOf,
    Reader,
    Rule,
    Stored,
    is_number,
    is_text,
    later,
    shown,
    without_numpy,
    words_for,
)


def one_of(*options: str) -> Any:
    return Annotated[str, OneOf(options)]


def is_rising(pair: Any) -> bool:
    return bool(pair[0] < pair[1])


def is_range_of_words(pair: Any) -> bool:
    return bool(1 <= pair[0] <= pair[1] <= 8)


Number = Annotated[Any, Rule("a number", is_number)]  # a whole one stays one
Range = Annotated[tuple[Number, Number], Rule("a pair of rising numbers", is_rising)]
Words = Annotated[tuple[int, int], Rule("a pair of rising whole numbers from 1 to 8", is_range_of_words)]
FILLED: dict[str, Any] = {"copy": bool, "add_indicator": Literal[False], "keep_empty_features": bool}  # of an imputer


class Kind(NamedTuple):
    """A step: its class, the kinds of its parameters, and the numbers that a fit has left in it."""

    made: Any
    parameters: dict[str, Any]
    vectors: tuple[str, ...] = ()


STEPS: dict[str, Kind] = {
    "standard scaler": Kind(
        StandardScaler, {"copy": bool, "with_mean": bool, "with_std": bool}, ("mean_", "var_", "scale_")
    ),
    "min-max scaler": Kind(
        MinMaxScaler,
        {"copy": bool, "clip": bool, "feature_range": Range},
        ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
    ),
    "max-abs scaler": Kind(MaxAbsScaler, {"copy": bool, "clip": bool}, ("scale_", "max_abs_")),
    "imputer": Kind(
        SimpleImputer,
        FILLED
        | {
            "strategy": one_of("mean", "median", "most_frequent", "constant"),
            "fill_value": Number | None,
        },
        ("statistics_",),
    ),
    "imputer of words": Kind(
        SimpleImputer,
        FILLED | {"strategy": one_of("most_frequent", "constant"), "fill_value": str | None},
    ),
    "one-hot encoder": Kind(
        OneHotEncoder,
        {
            "drop": NOTHING,
            "handle_unknown": one_of("error", "ignore"),
            "sparse_output": bool,
            "min_frequency": NOTHING,
            "max_categories": NOTHING,
        },
    ),
    "hashing vectorizer": Kind(
        HashingVectorizer,
        {
            "n_features": Annotated[int, Between(1, 2**24)],
            "ngram_range": Words,
            "analyzer": one_of("word", "char", "char_wb"),
            "lowercase": bool,
            "strip_accents": one_of("ascii", "unicode") | None,
            "binary": bool,
            "norm": one_of("l1", "l2") | None,
            "alternate_sign": bool,
        },
    ),
}
NEW = {"clip": False}  # what older releases of scikit-learn do, who do not have the parameter


@dataclass
class Step:
    """A step as the document holds it; `vectors` are the names of those that its fit has left, which are arrays."""

    kind: Annotated[str, OneOf(STEPS)]
    name: str
    n_columns: Annotated[int, Between(1, 2**31)]
    column_names: list[str] | None
    parameters: dict[str, Any]
    vectors: list[str]
    categories: list[Any] = later(())  # of an encoder, and of no other
    fill: list[Any] = later(())  # of an imputer of words

    def __post_init__(self) -> None:
        refuse_other_names(self.column_names, self.n_columns)
        known = STEPS[self.kind].vectors
        if not all(vector in known for vector in self.vectors) or len(set(self.vectors)) != len(self.vectors):
            raise Refusal(f"it has vectors that a {self.kind} does not have")
        with Reader().fields(self.parameters, "parameters") as fields:
            self.parameters = fields.take_all(STEPS[self.kind].parameters)
        for name, kind in (("categories", "one-hot encoder"), ("fill", "imputer of words")):
            if isinstance(getattr(self, name), list) != (self.kind == kind):
                raise Refusal(f"{name!r} must be there in the {kind}, and only there")


def refuse_other_names(names: list[str] | None, n_columns: int) -> None:
    if names is not None and len(names) != n_columns:
        raise Refusal(f"'column_names' must be {n_columns} short texts")


def kind_of(name: str, step: Any) -> str:
    """The kind of a step, by its class and, of an imputer, by what it fills in."""
    kind = next((kind for kind, known in STEPS.items() if type(step) is known.made), None)
    if kind is None:
        known = ", ".join(sorted({one.made.__name__ for one in STEPS.values()}))
        raise Refusal(f"the step {name!r} is a {type(step).__name__}; a file can hold {known}, and ColumnTransformer")
    if not isinstance(step, HashingVectorizer):  # which learns nothing, though scikit-learn 1.6 asks for what it learnt
        check_is_fitted(step)
    fills_words = kind == "imputer" and any(isinstance(value, str) for value in step.statistics_.tolist())
    return "imputer of words" if fills_words else kind


def n_columns_of(step: Any) -> int:
    """How many columns a step takes; a hasher takes one, of texts."""
    return int(getattr(step, "n_features_in_", 1))


def width_of(step: Any) -> int:
    """How many columns a step makes."""
    return step.n_features if isinstance(step, HashingVectorizer) else len(step.get_feature_names_out())


def write_step(name: str, step: Any, place: str, arrays: Arrays) -> Step:
    """What the document says of a step; its numbers go to the arrays."""
    kind = kind_of(name, step)
    names = getattr(step, "feature_names_in_", None)
    vectors = [vector for vector in STEPS[kind].vectors if getattr(step, vector) is not None]
    for vector in vectors:
        arrays[f"{place}.{vector}"] = np.asarray(getattr(step, vector), dtype=np.float64)
    if hasattr(step, "n_samples_seen_"):
        arrays[f"{place}.n_samples_seen_"] = np.atleast_1d(np.asarray(step.n_samples_seen_, dtype=np.float64))
    lists = {}
    if kind == "one-hot encoder":
        lists["categories"] = write_categories(name, step)
    if kind == "imputer of words":
        lists["fill"] = step.statistics_.tolist()
        if not all(map(is_text, lists["fill"])):
            raise Refusal(f"the step {name!r} fills in what is neither a number nor a short text in every column")
    column_names = None if names is None else names.tolist()
    parameters = write_step_parameters(name, step, STEPS[kind].parameters)
    return Step(kind, name, n_columns_of(step), column_names, parameters, vectors, **lists)


def write_step_parameters(name: str, step: Any, kinds: dict[str, Any]) -> dict[str, Any]:
    given = NEW | {parameter: without_numpy(value) for parameter, value in step.get_params(deep=False).items()}

    def refusal(parameter: str, can: str) -> Refusal:
        problem = f"the parameter {parameter}={shown(given[parameter])} of the step {name!r} cannot be kept"
        return Refusal(f"{problem}: a file can hold {can}")

    for parameter, kind in kinds.items():
        try:
            Reader().value(kind, given[parameter], parameter)
        except Refusal:
            raise refusal(parameter, words_for(kind, {})) from None
    missing = given.get("missing_values", math.nan)
    if not (isinstance(missing, float) and math.isnan(missing)):
        raise Refusal(f"the step {name!r} fills {shown(missing)}; a file can hold one that fills NaN")
    if given.get("dtype", np.float64) is not np.float64:
        raise Refusal(f"the step {name!r} has a dtype; a file can hold one that makes float64")
    usual = type(step)().get_params(deep=False)
    for parameter in given.keys() - NEW.keys() - kinds.keys() - {"missing_values", "dtype", "categories"}:
        if given[parameter] != usual[parameter]:
            raise refusal(parameter, f"{shown(usual[parameter])} alone")
    return {parameter: given[parameter] for parameter in kinds}


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


def read_step(step: Step, place: str, reader: Reader) -> Any:
    """The way back: the step as its fit left it. `place` is also how its arrays are called."""
    kind, parameters, n_columns = STEPS[step.kind], dict(step.parameters), step.n_columns
    vectors = {vector: reader.array(f"{place}.{vector}", Stored(n_columns)) for vector in step.vectors}
    made: Any
    if step.kind == "one-hot encoder":
        made = encoder_of(parameters, step.categories, n_columns, place)
    elif step.kind == "hashing vectorizer":
        made = hasher_of(parameters, n_columns, place)
    elif step.kind == "imputer of words":
        made = imputer_of_words(parameters, step.fill, n_columns, place)
    elif step.kind == "imputer":
        made = imputer_of(parameters, vectors, place)
    else:
        seen = reader.array(f"{place}.n_samples_seen_", Stored(f"{place} seen"))
        made = scaler_of(kind, parameters, vectors, seen, place, n_columns)
    if step.column_names is not None:
        made.feature_names_in_ = np.array(step.column_names, dtype=object)
    return made


def scaler_of(
    kind: Kind, parameters: dict[str, Any], vectors: dict[str, Any], seen: NDArray[Any], place: str, n_columns: int
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
