"""`maxmargin fit --checkpoint FILE`: a run that may be stopped or killed at any moment, and gone on with."""

from __future__ import annotations

import math
import os
from typing import Any, NamedTuple

from maxmargin.cli.console import UserError, messages


class Checkpoint(NamedTuple):
    """Where a run is kept, how often, and whether to go on with the one that is there."""

    path: str
    every: float
    resume: bool


def check_checkpoint(kept: Checkpoint | None, every: float | None, resume: bool, output: str | None = None) -> None:
    """One sentence where the options make no sense together, before any work is done."""
    if kept is None:
        if every is not None or resume:
            raise UserError(f"{'--resume' if resume else '--every'} needs --checkpoint FILE, where the run is kept")
        return
    if not 0.0 <= kept.every < math.inf:
        raise UserError(f"--every must be a number of seconds, not {kept.every:g}")
    if output is not None and os.path.realpath(output) == os.path.realpath(kept.path):
        raise UserError(f"{output} cannot be both the model and the checkpoint: give each a file of its own")
    if os.path.exists(kept.path) and not kept.resume:
        raise UserError(f"{kept.path} exists: --resume goes on with the run in it; remove it to begin anew")


def fit_or_go_on(classifier: Any, X: Any, y: Any, weights: dict[str, Any], kept: Checkpoint | None) -> None:
    """Fit, and keep the run where that is asked for."""
    from maxmargin.persistence import ModelFileError, fit_with_checkpoints

    if kept is None:
        classifier.fit(X, y, **weights)
        return
    if (limit := what_is_not_kept(classifier)) is not None:
        messages.print(f"maxmargin: {limit}")
    goes_on = kept.resume and os.path.exists(kept.path)
    try:
        fit_with_checkpoints(classifier, X, y, **weights, path=kept.path, every=kept.every, resume=goes_on)
    except ModelFileError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"{kept.path} cannot be written: {(error.strerror or str(error)).lower()}") from None


def what_is_not_kept(classifier: Any) -> str | None:
    """A sentence for algorithms that write nothing down while they work."""
    from maxmargin.problems.losses import LOSSES

    values = classifier.get_params()
    is_hard = values.get("C") == math.inf
    if is_hard and "kernel" in values:
        return "the hard margin of a kernel is not kept in a checkpoint: --resume begins it anew"
    by_newton = values.get("solver") == "newton" or ("loss" in values and LOSSES[values["loss"]].is_smooth)
    if is_hard or type(classifier).__name__ == "HardMarginSVM" or by_newton:
        return (
            "this algorithm may be kept between planes only: then --resume begins the plane anew that was being sought"
        )
    return None
