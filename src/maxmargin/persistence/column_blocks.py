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

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.schema import Arrays, Between, Reader
from maxmargin.persistence.steps import Step, n_columns_of, read_step, refuse_other_names, width_of, write_step

KIND: Literal["columns"] = "columns"
MOST_BLOCKS = 64
MOST_STEPS = 4
PASSED = "passthrough"


@dataclass
class Block:
    """Columns, and the steps that they go through."""

    name: str
    is_pipeline: bool
    steps: list[Step]
    columns: list[int] | int

    def __post_init__(self) -> None:
        n_steps = len(self.steps)
        if n_steps > MOST_STEPS or (n_steps != 1 and self.is_pipeline != bool(n_steps)):
            raise Refusal(f"it must have at most {MOST_STEPS} steps, and be a Pipeline where they are more than one")


@dataclass
class Blocks:
    """A ColumnTransformer as the document holds it."""

    kind: Literal["columns"]
    name: str
    n_columns: Annotated[int, Between(1, 2**20)]
    column_names: list[str] | None
    blocks: list[Block]
    is_sparse: bool
    sparse_threshold: Annotated[float, Between(0, 1)]
    verbose_feature_names_out: bool

    def __post_init__(self) -> None:
        refuse_other_names(self.column_names, self.n_columns)
        if not 0 < len(self.blocks) <= MOST_BLOCKS:
            raise Refusal(f"it must have 1 to {MOST_BLOCKS} blocks of columns")
        listed = [np.atleast_1d(block.columns).tolist() for block in self.blocks]
        if not all(columns and max(columns) < self.n_columns for columns in listed):
            raise Refusal(f"each block must have columns from 0 to {self.n_columns - 1}")
        taken, names = [column for columns in listed for column in columns], {block.name for block in self.blocks}
        if len(set(taken)) != len(taken) or len(names) != len(self.blocks):
            raise Refusal("it has a column in two blocks, or two blocks of one name")


def write_blocks(name: str, columns: ColumnTransformer, place: str, arrays: Arrays) -> Blocks:
    """What the document says of a ColumnTransformer."""
    check_is_fitted(columns)
    names = getattr(columns, "feature_names_in_", None)
    if columns.transformer_weights or columns.remainder != "drop":
        raise Refusal(f"the step {name!r} has weights or a remainder; a file can hold one that drops what is left over")
    blocks: list[Block] = []
    for title, step, chosen in columns.transformers_:
        if not isinstance(step, str):
            steps = write_inner_steps(title, step, f"{place}.{len(blocks)}", arrays)
            indices = indices_of(chosen, names, columns.n_features_in_, title)
            blocks.append(Block(title, isinstance(step, Pipeline), steps, indices))
    return Blocks(
        KIND,
        name,
        int(columns.n_features_in_),
        None if names is None else names.tolist(),
        blocks,
        is_sparse=bool(columns.sparse_output_),
        sparse_threshold=float(columns.sparse_threshold),
        verbose_feature_names_out=bool(columns.verbose_feature_names_out),
    )


def write_inner_steps(title: str, step: Any, place: str, arrays: Arrays) -> list[Step]:
    """The steps of a block; none where it passes as it is, which a fit writes as a function that is None."""
    if isinstance(step, FunctionTransformer) and step.func is None:
        return []
    inner = step.steps if isinstance(step, Pipeline) else [(title, step)]
    return [write_step(name, one, f"{place}.{index}", arrays) for index, (name, one) in enumerate(inner)]


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


def read_blocks(said: Blocks, place: str, reader: Reader) -> ColumnTransformer:
    """The way back: the step as its fit left it."""
    blocks = [
        (block.name, read_block(block, f"{place}.{index}", reader), block.columns)
        for index, block in enumerate(said.blocks)
    ]
    step = assembled(blocks, said.n_columns, said.sparse_threshold, said.verbose_feature_names_out, place)
    step.sparse_output_ = said.is_sparse
    if said.column_names is not None:
        step.feature_names_in_ = np.array(said.column_names, dtype=object)
    return step


def read_block(block: Block, place: str, reader: Reader) -> Any:
    """What a block goes through."""
    if not block.steps:
        return PASSED
    takes_texts = not isinstance(block.columns, list)
    steps, width = [], np.size(block.columns)
    for index, said in enumerate(block.steps):
        inner = f"{place}.{index}"
        step = read_step(said, inner, reader)
        if n_columns_of(step) != width or isinstance(step, HashingVectorizer) != takes_texts:
            raise Refusal(f"{inner} does not take the columns that come to it")
        steps.append((said.name, step))
        width = width_of(step)
    return Pipeline(steps) if block.is_pipeline else steps[0][1]


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
