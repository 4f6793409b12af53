"""Scores as probabilities, by Platt's method: estimates from the data, and no part of any proof.

    p(x) = 1 / (1 + exp(-(slope f(x) + offset)))

slope and offset are fitted to scores of rows that were held out, in folds, by scikit-learn; f is that of all rows.

"probability" (state, view)
    view     the part of the plane that it is about
    classes  the labels; of three, each has its curve, and the probabilities are scaled to sum to 1
    field    {"columns": n, "rows": m, "labels": [...], "values": [...]}: the likeliest class on a grid over the view,
             row by row from the bottom, and its probability
    lines    [{"level": 0.9, "lines": polylines}, ...] where the positive class has this probability; [] of three
    curve    {"slope": , "offset": } of two classes; else null
    rows     the probability that is given to the own class of each row
    words    sentences: that it is an estimate, and from what
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

from maxmargin.estimators.no_plane import NoPlaneError
from maxmargin.persistence.errors import Refusal
from maxmargin.playground.fits import Recording, Stopped, warm_up
from maxmargin.playground.messages import MOST_SECONDS, State, short, short_points
from maxmargin.plots.contours import Grid, even_nodes
from maxmargin.plots.shapes import Box
from maxmargin.run.control import collected
from maxmargin.run.observation import observing

FOLDS = 5
MESH = 40  # squares along each side of the grid
LEVELS = (0.1, 0.5, 0.9)
DIGITS = 4


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def probability(state: State, view: Box, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """Calibrate the algorithm of a state on its points."""
    classes, counts = np.unique(state.labels, return_counts=True)
    folds = int(min(FOLDS, counts.min()))
    if folds < 2:
        raise Refusal("A class has one point only: to hold a point out, each class needs two.", "points")
    warm_up(state.algorithm, state.parameters)
    estimator = state.algorithm.make(state.parameters, max_time=MOST_SECONDS / (folds + 1))  # each fit has its share
    splits = StratifiedKFold(folds, shuffle=True, random_state=0)
    model = CalibratedClassifierCV(estimator, cv=splits, ensemble=False)
    try:
        with observing(Recording(is_stopped)), collected():
            model.fit(state.points, state.labels)
    except NoPlaneError:
        words = "No plane separates the points, or those of a fold, so that there is no score to calibrate."
        raise Refusal(words, "algorithm") from None
    except ValueError as error:
        raise Refusal(str(error), "algorithm") from None
    finally:
        if is_stopped():
            raise Stopped
    return {
        "view": view._asdict(),
        "classes": classes,
        **drawn(model, view),
        "curve": curve_of(model) if len(classes) == 2 else None,
        "rows": model.predict_proba(state.points)[np.arange(len(state.points)), np.searchsorted(classes, state.labels)],
        "words": in_words(folds),
    }


def drawn(model: Any, view: Box) -> dict[str, Any]:
    """The likeliest class on a grid and its probability; of two classes, the lines of equal probability."""

    def of_last(points: Any) -> Any:
        return model.predict_proba(points)[:, -1]

    all_of_them = model.predict_proba(even_nodes(view, MESH))
    lines = []
    if len(model.classes_) == 2:
        grid = Grid(of_last, view, MESH)
        found = {level: grid.lines(level) for level in LEVELS}
        lines = [{"level": level, "lines": list(map(short_points, each))} for level, each in found.items()]
    field = {
        "columns": MESH + 1,
        "rows": MESH + 1,
        "labels": model.classes_[np.argmax(all_of_them, axis=1)],
        "values": short(np.max(all_of_them, axis=1), DIGITS),
    }
    return {"field": field, "lines": lines}


def curve_of(model: Any) -> dict[str, float]:
    """slope and offset, of the calibrated score f."""
    [calibrated] = model.calibrated_classifiers_
    [sigmoid] = calibrated.calibrators
    return {"slope": -float(sigmoid.a_), "offset": -float(sigmoid.b_)}


def in_words(folds: int) -> list[str]:
    return [
        "An estimate, not a proof: what is proven is the plane, not how probable a class is beside it.",
        f"Platt's curve, fitted to the scores of points that were held out, in {folds} folds.",
    ]
