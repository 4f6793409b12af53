"""What happens to the columns before an estimator, as standard operators of ONNX.

scalers     Sub, Div, Mul, Add, and Clip where they clip
imputers    Where the cell IsNaN (a word that is missing is empty)
encoders    Equal to each category, as 0 and 1
columns     Gather, and Concat of what becomes of the blocks
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler

from maxmargin.persistence.column_blocks import indices_of, kinds_of_columns
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.steps import n_columns_of


class Graph:
    """Nodes and constants, one after the other; a value is known by its name."""

    def __init__(self) -> None:
        self.helper: Any = importlib.import_module("onnx.helper")
        self.numpy_helper: Any = importlib.import_module("onnx.numpy_helper")
        self.types: Any = importlib.import_module("onnx").TensorProto
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: Any) -> str:
        name = f"constant{len(self.constants)}"
        self.constants.append(self.numpy_helper.from_array(np.array(values, order="C"), name))
        return name

    def add(self, operator: str, *inputs: Any, name: str = "", **attributes: Any) -> str:
        """A node; inputs that are no names are constants."""
        names = [given if isinstance(given, str) else self.constant(given) for given in inputs]
        name = name or f"value{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, names, [name], **attributes))
        return name


def columns_of(first: Any) -> dict[str, list[Any]]:
    """The columns that each input of the graph has, by their names or else their numbers: numbers, and categories."""
    n_columns = n_columns_of(first)
    kinds = kinds_of_columns(first, n_columns)
    if "text" in kinds:
        raise Refusal("it hashes the words of a text, for which ONNX has no operator")
    names = getattr(first, "feature_names_in_", np.arange(n_columns)).tolist()
    chosen = {
        "X": [name for name, kind in zip(names, kinds, strict=True) if kind == "number"],
        "categories": [name for name, kind in zip(names, kinds, strict=True) if kind == "category"],
    }
    return {name: columns for name, columns in chosen.items() if columns}


def prepared(graph: Graph, steps: list[Any], inputs: dict[str, list[Any]]) -> str:
    """The rows as the estimator takes them."""
    if not steps:
        return "X"
    first, *others = steps
    if isinstance(first, ColumnTransformer):
        value = blocks(graph, first)
    elif len(inputs) == 2:
        raise Refusal("numbers and words go through one step together; separate them in a ColumnTransformer")
    else:
        value = applied(graph, first, next(iter(inputs)))
    for step in others:
        if isinstance(step, ColumnTransformer):
            raise Refusal("a ColumnTransformer can only be the first step of a graph")
        value = applied(graph, step, value)
    return value


def blocks(graph: Graph, columns: ColumnTransformer) -> str:
    """Each block taken from the input that has its columns, and what becomes of them side by side."""
    kinds = kinds_of_columns(columns, columns.n_features_in_)
    place = {index: kinds[:index].count(kind) for index, kind in enumerate(kinds)}  # in its own input
    names = getattr(columns, "feature_names_in_", None)
    made = []
    for title, step, chosen in columns.transformers_:
        taken = [] if isinstance(step, str) else indices_of(chosen, names, columns.n_features_in_, title)
        if not taken:
            continue
        if len({kinds[index] for index in taken}) > 1:
            raise Refusal(f"numbers and words go through the block {title!r} together; separate them")
        source = "X" if kinds[taken[0]] == "number" else "categories"
        value = graph.add("Gather", source, np.array([place[index] for index in taken]), axis=1)
        for inner in [one for _, one in step.steps] if isinstance(step, Pipeline) else [step]:
            value = applied(graph, inner, value)
        made.append(value)
    return made[0] if len(made) == 1 else graph.add("Concat", *made, axis=1)


def applied(graph: Graph, step: Any, value: str) -> str:
    """One step."""
    if isinstance(step, StandardScaler):
        value = value if not step.with_mean else graph.add("Sub", value, step.mean_)
        return value if not step.with_std else graph.add("Div", value, step.scale_)
    if isinstance(step, MinMaxScaler):
        value = graph.add("Add", graph.add("Mul", value, step.scale_), step.min_)
        return clipped(graph, value, *step.feature_range) if step.clip else value
    if isinstance(step, MaxAbsScaler):
        value = graph.add("Div", value, step.scale_)
        return clipped(graph, value, -1.0, 1.0) if getattr(step, "clip", False) else value  # older releases never clip
    if isinstance(step, SimpleImputer):
        fill = step.statistics_
        is_missing = graph.add("Equal", value, np.array("", dtype=object)) if fill.dtype.kind == "O" else None
        return graph.add("Where", is_missing or graph.add("IsNaN", value), fill[None, :], value)
    if isinstance(step, OneHotEncoder):
        return encoded(graph, step, value)
    if isinstance(step, FunctionTransformer) and step.func is None:
        return value
    what = "hashes words" if isinstance(step, HashingVectorizer) else f"has a step {type(step).__name__}"
    raise Refusal(f"it {what}, which a graph of standard operators cannot say")


def clipped(graph: Graph, value: str, low: float, high: float) -> str:
    return graph.add("Clip", value, np.array(float(low)), np.array(float(high)))


def encoded(graph: Graph, encoder: OneHotEncoder, value: str) -> str:
    """A column of 0 and 1 for each category of each column."""
    if any(given is not None for given in (encoder.drop, encoder.min_frequency, encoder.max_categories)):
        raise Refusal("its encoder drops or merges categories")
    columns = []
    for index, known in enumerate(encoder.categories_):
        column = graph.add("Gather", value, np.array([index]), axis=1)
        columns.append(graph.add("Equal", column, known[None, :]))
    side = columns[0] if len(columns) == 1 else graph.add("Concat", *columns, axis=1)
    return graph.add("Cast", side, to=graph.types.DOUBLE)
