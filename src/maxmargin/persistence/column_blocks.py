"""A ColumnTransformer in a model file: blocks of columns, each with the steps that it goes through.

    kind, name                  "columns", the name of the step
    n_columns, column_names     of the table that comes in
    blocks                      name, columns (a list of indices, or one index for a step that takes texts), steps, and
                                whether the steps are a Pipeline; no steps: the columns pass as they are
    is_sparse, sparse_threshold, verbose_feature_names_out

A column goes to one block at most; the others are dropped. The transformer is made again by its own `fit`, to one row,
where others stand in for its steps: it learns where its columns are, and the steps forget nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from maxmargin.persistence.container import Arrays
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.fields import Fields, Shelf, is_number, is_whole, shown
from maxmargin.persistence.steps import are_names, n_columns_of, read_step, width_of, write_step

KIND = "columns"
MOST_BLOCKS = 64
MOST_STEPS = 4
MOST_COLUMNS = 2**20
PASSED = "passthrough"


def write_blocks(name: str, columns: ColumnTransformer, place: str, arrays: Arrays) -> dict[str, Any]:
    """What the document says of a ColumnTransformer."""
    check_is_fitted(columns)
    names = getattr(columns, "feature_names_in_", None)
    if columns.transformer_weights or columns.remainder != "drop":
        raise Refusal(f"the step {name!r} has weights or a remainder; a file can hold one that drops what is left over")
    blocks: list[dict[str, Any]] = []
    for title, step, chosen in columns.transformers_:
        if not isinstance(step, str):
            block = write_block(title, step, f"{place}.{len(blocks)}", arrays)
            blocks.append(block | {"columns": indices_of(chosen, names, columns.n_features_in_, title)})
    return {
        "kind": KIND,
        "name": name,
        "n_columns": int(columns.n_features_in_),
        "column_names": None if names is None else names.tolist(),
        "blocks": blocks,
        "is_sparse": bool(columns.sparse_output_),
        "sparse_threshold": float(columns.sparse_threshold),
        "verbose_feature_names_out": bool(columns.verbose_feature_names_out),
    }


def write_block(title: str, step: Any, place: str, arrays: Arrays) -> dict[str, Any]:
    is_pipeline = isinstance(step, Pipeline)
    inner = step.steps if is_pipeline else [(title, step)]
    if isinstance(step, FunctionTransformer) and step.func is None:  # how a fit writes "passthrough"
        inner = []
    steps = [write_step(name, one, f"{place}.{index}", arrays) for index, (name, one) in enumerate(inner)]
    return {"name": title, "is_pipeline": is_pipeline, "steps": steps}


def indices_of(chosen: Any, names: Any, n_columns: int, title: str) -> Any:
    """The columns of a block by their indices."""
    places = {} if names is None else {name: index for index, name in enumerate(names)}
    if isinstance(chosen, str):
        return places[chosen]
    if isinstance(chosen, int | np.integer):
        return int(np.arange(n_columns)[chosen])
    if isinstance(chosen, slice) and any(isinstance(end, str) for end in (chosen.start, chosen.stop)):
        raise Refusal(f"the block {title!r} has its columns as a slice of names; give a list of them")
    if not isinstance(chosen, slice) and any(isinstance(one, str) for one in chosen):
        return [places[one] for one in chosen]
    return [int(index) for index in np.arange(n_columns)[chosen]]


def read_blocks(fields: Fields, place: str, shelf: Shelf) -> tuple[str, ColumnTransformer]:
    """The way back: the name of the step, and the step as its fit left it."""
    with fields:
        fields.take("kind")
        name, n_columns = fields.text("name"), fields.whole("n_columns", 1, MOST_COLUMNS)
        column_names, entries = fields.take("column_names"), fields.list("blocks")
        is_sparse, threshold = fields.flag("is_sparse"), fields.take("sparse_threshold")
        verbose = fields.flag("verbose_feature_names_out")
    if not is_number(threshold) or not 0 <= threshold <= 1:
        raise Refusal(f"'sparse_threshold' of {place} must be a number from 0 to 1, not {shown(threshold)}")
    if column_names is not None and not are_names(column_names, n_columns):
        raise Refusal(f"'column_names' of {place} must be {n_columns} short texts")
    if not 0 < len(entries) <= MOST_BLOCKS:
        raise Refusal(f"{place} must have 1 to {MOST_BLOCKS} blocks of columns")
    blocks = [
        read_block(Fields(entry, f"{place}.{index}"), f"{place}.{index}", shelf, n_columns)
        for index, entry in enumerate(entries)
    ]
    taken = [index for _, _, chosen in blocks for index in np.atleast_1d(chosen).tolist()]
    titles = [title for title, _, _ in blocks]
    if len(set(taken)) != len(taken) or len(set(titles)) != len(titles):
        raise Refusal(f"{place} has a column in two blocks, or two blocks of one name")
    step = assembled(blocks, n_columns, float(threshold), verbose, place)
    step.sparse_output_ = is_sparse
    if column_names is not None:
        step.feature_names_in_ = np.array(column_names, dtype=object)
    return name, step


def read_block(fields: Fields, place: str, shelf: Shelf, n_columns: int) -> tuple[str, Any, Any]:
    with fields:
        title, is_pipeline = fields.text("name"), fields.flag("is_pipeline")
        entries, chosen = fields.list("steps"), fields.take("columns")
    listed = chosen if isinstance(chosen, list) else [chosen]
    if not listed or not all(is_whole(index) and 0 <= index < n_columns for index in listed):
        raise Refusal(f"{place} must have columns from 0 to {n_columns - 1}")
    if len(entries) > MOST_STEPS or (len(entries) != 1 and is_pipeline != bool(entries)):
        raise Refusal(f"{place} must have at most {MOST_STEPS} steps, and be a Pipeline where they are more than one")
    if not entries:
        return title, PASSED, chosen
    steps, width = [], len(listed)
    for index, entry in enumerate(entries):
        inner = f"{place}.{index}"
        name, step = read_step(Fields(entry, inner), inner, shelf)
        if n_columns_of(step) != width or isinstance(step, HashingVectorizer) != (not isinstance(chosen, list)):
            raise Refusal(f"{inner} does not take the columns that come to it")
        steps.append((name, step))
        width = width_of(step)
    return title, Pipeline(steps) if is_pipeline else steps[0][1], chosen


def assembled(
    blocks: list[tuple[str, Any, Any]], n_columns: int, threshold: float, verbose: bool, place: str
) -> ColumnTransformer:
    """A ColumnTransformer of steps that are fitted."""
    stand_ins = [(title, stand_in(step), chosen) for title, step, chosen in blocks]
    columns = ColumnTransformer(stand_ins, sparse_threshold=threshold, verbose_feature_names_out=verbose)
    try:
        columns.fit(np.zeros((1, n_columns)))
    except ValueError as error:
        raise Refusal(f"{place} cannot be made: {str(error).splitlines()[0]}") from None
    fitted = {title: step for title, step, _ in blocks if step != PASSED}
    columns.transformers_ = [(title, fitted.get(title, step), chosen) for title, step, chosen in columns.transformers_]
    columns.transformers = [(title, step if step == PASSED else clone(step), chosen) for title, step, chosen in blocks]
    return columns


def stand_in(step: Any) -> Any:
    """What makes as many columns as a step, of zeros."""
    if step == PASSED:
        return step
    width = width_of(step[-1] if isinstance(step, Pipeline) else step)
    return FunctionTransformer(lambda rows: np.zeros((len(rows), width)))


def width_of_blocks(columns: ColumnTransformer) -> int:
    """How many columns come out."""
    return int(max(part.stop for part in columns.output_indices_.values()))


def kinds_of_columns(step: Any, n_columns: int) -> list[str]:
    """What the columns are that come to a step: "number", "category" or "text"."""
    first = step[0] if isinstance(step, Pipeline) else step
    if isinstance(first, ColumnTransformer):
        kinds, names = ["number"] * n_columns, getattr(first, "feature_names_in_", None)
        for title, inner, chosen in first.transformers_:
            places = (
                [] if isinstance(inner, str) else np.atleast_1d(indices_of(chosen, names, n_columns, title)).tolist()
            )
            for place, kind in zip(places, kinds_of_columns(inner, len(places)), strict=True):
                kinds[place] = kind
        return kinds
    if isinstance(first, HashingVectorizer):
        return ["text"] * n_columns
    cells: list[Any] = [0.0] * n_columns
    if isinstance(first, OneHotEncoder):
        cells = [values[0] for values in first.categories_]
    elif isinstance(first, SimpleImputer):
        cells = first.statistics_.tolist()
    return ["category" if isinstance(cell, str) else "number" for cell in cells]
