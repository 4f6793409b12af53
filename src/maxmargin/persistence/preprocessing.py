"""The steps before an estimator: a Pipeline of those that a file can hold, one after the other.

A step is one of `steps`, or a ColumnTransformer of them (`column_blocks`). A Pipeline of others is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from maxmargin.persistence.column_blocks import KIND, Blocks, read_blocks, width_of_blocks, write_blocks
from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.kinds import Arrays
from maxmargin.persistence.schema import Reader
from maxmargin.persistence.steps import Step, n_columns_of, read_step, width_of, write_step

MOST_STEPS = 8


@dataclass
class Last:
    """The last step, the estimator itself."""

    kind: Literal["estimator"]
    name: str


def write_steps(pipeline: Pipeline, arrays: Arrays) -> list[Any]:
    """What the document says of a Pipeline; the last entry is the name of the estimator's own step."""
    if len(pipeline.steps) > MOST_STEPS:
        raise Refusal(f"a Pipeline of more than {MOST_STEPS} steps cannot be kept")
    if any(getattr(step, "_sklearn_output_config", None) for _, step in pipeline.steps):
        raise Refusal("the steps of the Pipeline hand on data frames (set_output), which cannot be kept")
    entries: list[Any] = []
    for index, (name, step) in enumerate(pipeline.steps[:-1]):
        write = write_blocks if isinstance(step, ColumnTransformer) else write_step
        entries.append(write(name, step, f"step {index}", arrays))
    return [*entries, Last("estimator", pipeline.steps[-1][0])]


def read_steps(entries: list[Any], reader: Reader, estimator: Any) -> Any:
    """The estimator itself, or the Pipeline that ends in it."""
    if not entries:
        return estimator
    if len(entries) > MOST_STEPS:
        raise Refusal(f"a model has at most {MOST_STEPS} steps")
    last: Last = reader.value(Last, entries[-1], f"preprocessing[{len(entries) - 1}]")
    steps: list[tuple[str, Any]] = []
    width = None
    for index, entry in enumerate(entries[:-1]):
        place = f"step {index}"
        has_blocks = isinstance(entry, dict) and entry.get("kind") == KIND
        said = reader.value(Blocks if has_blocks else Step, entry, f"preprocessing[{index}]")
        step = (read_blocks if has_blocks else read_step)(said, place, reader)
        if width not in (None, n_columns_of(step)):
            raise Refusal(f"{place} takes {n_columns_of(step)} columns, and the one before makes {width}")
        steps.append((said.name, step))
        width = width_of_blocks(step) if has_blocks else width_of(step)
    if width not in (None, estimator.n_features_in_):
        raise Refusal(f"the estimator takes {estimator.n_features_in_} columns, and the step before makes {width}")
    names = [name for name, _ in steps] + [last.name]
    if len(set(names)) != len(names) or not all(name and "__" not in name for name in names):
        raise Refusal("the names of the steps must differ and have no '__' in them")
    return Pipeline([*steps, (last.name, estimator)])
