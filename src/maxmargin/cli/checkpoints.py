"""`maxmargin fit --checkpoint FILE`: the run is kept while it goes on, and --resume goes on with it."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from maxmargin.cli.console import UserError, messages

USUALLY = 60.0  # seconds between two checkpoints


@dataclass(frozen=True)
class CheckpointOptions:
    """Where a run is kept, so that it may be stopped or killed at any moment and gone on with; and how often."""

    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Where to keep the run, so that another process can go on with it."),
    ] = None
    every: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="How often the run is kept; 60 unless you say otherwise.")
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the checkpoint, if there is one.")] = (
        False
    )


def check_checkpoint(kept: CheckpointOptions, output: str | None) -> None:
    """One sentence where the options make no sense together, before any work is done."""
    if kept.checkpoint is None:
        if kept.every is not None or kept.resume:
            option = "--resume" if kept.resume else "--every"
            raise UserError(f"{option} needs --checkpoint FILE, where the run is kept")
        return
    if kept.every is not None and not 0.0 <= kept.every < math.inf:
        raise UserError(f"--every must be a number of seconds, not {kept.every:g}")
    if output is not None and os.path.realpath(output) == os.path.realpath(kept.checkpoint):
        raise UserError(f"{output} cannot be both the model and the checkpoint: give each a file of its own")
    if os.path.exists(kept.checkpoint) and not kept.resume:
        raise UserError(f"{kept.checkpoint} exists: --resume goes on with the run in it; remove it to begin anew")


def fit_and_keep(classifier: Any, X: Any, y: Any, weights: dict[str, Any], kept: CheckpointOptions) -> None:
    """Fit, or go on with the fit in the checkpoint, and keep the run."""
    from maxmargin.persistence import ModelFileError, fit_with_checkpoints

    assert kept.checkpoint is not None
    if (limit := what_is_not_kept(classifier)) is not None:
        messages.print(f"maxmargin: {limit}")
    path, every = kept.checkpoint, USUALLY if kept.every is None else kept.every
    goes_on = kept.resume and os.path.exists(path)
    try:
        fit_with_checkpoints(classifier, X, y, **weights, path=path, every=every, resume=goes_on)
    except ModelFileError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from None


def what_is_not_kept(classifier: Any) -> str | None:
    """A sentence for algorithms that write nothing down while they work."""
    from maxmargin.estimators.hard_margin import HardMarginSVM
    from maxmargin.problems.losses import LOSSES
    from maxmargin.problems.statement import Norm
    from maxmargin.solvers.registry import AUTO, SEPARATION, SOFT_MARGIN, may_begin_anew

    values = classifier.get_params()
    is_hard = values.get("C") == math.inf
    if is_hard and "kernel" in values:
        return "the hard margin of a kernel is not kept in a checkpoint: --resume begins it anew"
    solver = values.get("solver", AUTO)
    if is_hard or isinstance(classifier, HardMarginSVM):
        begins_anew = may_begin_anew(SEPARATION, solver, Norm(values.get("norm", "l2")))
    else:
        begins_anew = "loss" in values and may_begin_anew(SOFT_MARGIN, solver, LOSSES[values["loss"]])
    if begins_anew:
        return (
            "this algorithm may be kept between planes only: then --resume begins the plane anew that was being sought"
        )
    return None
