"""More than two classes: a plane for each class against the rest, or for each pair, each with its own proof.

The library fits all planes at once. Here each of them becomes a fit of two classes, with the rows, the dual variables
and the certificate that are its own, so that it is drawn and proven as any other; rows keep the numbers that they have
on the page. "answer" then has, beside what it has for two classes,

    classes   the labels, in the order of the planes
    planes    [{"title": "circles against the rest", and all that an answer of two classes has}, ...]
    field     {"columns": n, "rows": m, "labels": [...]}: the class that is predicted on a grid over the view

and of the whole: lines.zero are the boundaries of all planes, support the rows that carry weight in one of them, with
the largest; the certificate says what is proven of each plane, and is proven where all of them are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.playground.fits import Fit, Recording, Stopped, fit_state
from maxmargin.playground.messages import State
from maxmargin.playground.shown import NOTHING_DRAWN, certificate_of, shown_of
from maxmargin.plots.contours import even_nodes
from maxmargin.plots.geometry import signs_of
from maxmargin.plots.shapes import Box
from maxmargin.run.control import Status

NAMES = {1: "circles", -1: "squares", 2: "triangles"}
REGIONS = 96  # squares along each side of the grid on which classes are predicted
SEVERAL = "There are several planes: choose one to see what this row has to do with it."
NEITHER = "It is of neither class of this pair."

Rows = NDArray[np.intp]


class OnePlane:
    """One plane of a fitted estimator, as an estimator of two classes: of the rows that it is about, numbered anew."""

    def __init__(self, model: Any, k: int, rows: Rows, certificate: Any) -> None:
        self.classes_ = np.array([-1, 1])
        self.certificate_ = certificate
        self.intercept_ = model.intercept_[k : k + 1]
        self.margin_ = float(np.ravel(model.margin_)[k])
        if hasattr(model, "normalized_margin_"):
            self.normalized_margin_ = model.normalized_margin_[k]
        self.values_of_planes = lambda X: model.values_of_planes(X)[:, k : k + 1]
        self.n_updates_, self.n_iter_ = count_of(model, "n_updates_", k), count_of(model, "n_iter_", k)
        if hasattr(model, "coef_"):
            self.coef_ = model.coef_[k : k + 1]
        if getattr(model, "_kernel", None) is not None:
            self._kernel = model._kernel
        if hasattr(model, "dual_coef_"):
            carrying = model.dual_coef_[k] != 0.0
            self.support_ = np.searchsorted(rows, model.support_[carrying])
            self.dual_coef_ = model.dual_coef_[k][carrying][None]
            if hasattr(model, "support_vectors_"):
                self.support_vectors_ = model.support_vectors_[carrying]
        if hasattr(model, "bounded_"):
            self.bounded_ = [model.bounded_[k][carrying]]


def answer_for_many(state: State, view: Box, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """Fit all planes, and say of each and of all together what the page shows."""
    fit = fit_state(state, is_stopped)
    parts = fit.certificate.parts
    if len(parts) == 1 or not hasattr(fit.model, "classes_"):  # one plane must separate, and none is proven to
        return {**of_the_whole(fit, []), "certificate": certificate_of(fit.certificate), "planes": []}
    planes = []
    for k in range(len(parts)):
        if is_stopped():
            raise Stopped
        two, rows = fit_of_plane(fit, k)
        shown = in_rows_of_the_page(shown_of(two, view), rows, len(state.points))
        planes.append({"title": title_of(parts[k]), **shown, "certificate": certificate_of(parts[k])})
    return {
        **of_the_whole(fit, planes),
        "field": regions_of(fit, view),
        "mistakes": np.flatnonzero(fit.model.predict(state.points) != state.labels),
        "planes": planes,
    }


def fit_of_plane(fit: Fit, k: int) -> tuple[Fit, Rows]:
    """The k-th plane as a fit of its two classes, and the rows of the page that these are."""
    state, part = fit.state, fit.certificate.parts[k]
    signs = signs_of(part, state.labels, len(state.points)).astype(np.int64)
    rows = np.flatnonzero(signs)
    own = dataclasses.replace(part, rows=np.searchsorted(rows, part.rows), positive=1, negative=-1)
    two = State(state.points[rows], signs[rows], state.algorithm, state.parameters)
    recording = Recording(lambda: False)  # that of the fit mixes the planes
    return Fit(two, OnePlane(fit.model, k, rows, own), own, status_of(fit, k), recording, fit.milliseconds), rows


def status_of(fit: Fit, k: int) -> Status:
    """How the run of this plane ended."""
    return fit.status[k] if isinstance(fit.status, list) else fit.status


def count_of(model: Any, name: str, k: int) -> int:
    """Of one plane where they are counted one by one, else of all."""
    counts = np.ravel(getattr(model, name, 0))
    return int(counts[k] if len(counts) > 1 else counts[0])


def in_rows_of_the_page(shown: dict[str, Any], rows: Rows, n_rows: int) -> dict[str, Any]:
    """With rows numbered as on the page (those of the conditions are); of a row of neither class nothing is known."""
    for entry in (*shown["support"], *shown["slack"]):
        entry["row"] = int(rows[entry["row"]])
    shown["mistakes"] = rows[shown["mistakes"]]
    witness = (shown["hulls"] or {}).get("witness")
    if witness:
        witness["rows"] = rows[witness["rows"]]
    told = shown["rows"]
    for name in ("distances", "slack"):
        told[name] = None if told[name] is None else spread(told[name], rows, n_rows, None)
    told["why"] = spread(told["why"], rows, n_rows, len(told["reasons"]))
    told["reasons"] = [*told["reasons"], NEITHER]
    return shown


def spread(values: Any, rows: Rows, n_rows: int, missing: Any) -> list[Any]:
    """The values of some rows in a list of all."""
    everywhere = [missing] * n_rows
    for row, value in zip(rows.tolist(), np.asarray(values).tolist(), strict=True):
        everywhere[row] = value
    return everywhere


def of_the_whole(fit: Fit, planes: list[dict[str, Any]]) -> dict[str, Any]:
    """All planes together, in the form of an answer."""
    weights: dict[int, dict[str, Any]] = {}
    for entry in (one for plane in planes for one in plane["support"]):
        if entry["a"] > weights.get(entry["row"], {"a": -1.0})["a"]:
            weights[entry["row"]] = entry
    proofs = [plane["certificate"] for plane in planes]
    proven = bool(proofs) and all(proof["proven"] for proof in proofs)
    sentences = [f"{capital(plane['title'])}: {plane['certificate']['words'][0]}" for plane in planes]
    head = f"{len(planes)} planes, {'each' if proven else 'not each'} with its proof."
    statuses = [status_of(fit, k) for k in range(max(1, len(planes)))]
    unknown = dict.fromkeys(("lower", "upper", "lower_words", "upper_words", "gap", "tol"))
    return {
        **NOTHING_DRAWN,
        "lines": {"minus": [], "plus": [], "zero": [line for plane in planes for line in plane["lines"]["zero"]]},
        **dict.fromkeys(("margin", "margin_words", "street", "street_words", "normalized")),
        "rows": {"distances": None, "slack": None, "why": [0] * len(fit.state.points), "reasons": [SEVERAL]},
        "values": {"primal": None, "dual": None},
        "space": planes[0]["space"] if planes else "l2",
        "support": [weights[row] for row in sorted(weights)],
        "hulls": None,
        "certificate": {
            **unknown,
            "verdict": "PLANES",
            "proven": proven,
            "words": [head, *sentences],
            "quantity": "margin",
            "gap_words": "unknown",
        },
        "rounds": [],
        "kkt": [],
        "theorems": [],
        "status": {"name": statuses[0].name, "words": "; ".join(dict.fromkeys(one.value for one in statuses))},
        "updates": int(np.sum(getattr(fit.model, "n_updates_", 0))),
        "sweeps": int(np.sum(getattr(fit.model, "n_iter_", 0))),
        "milliseconds": fit.milliseconds,
        "classes": np.unique(fit.state.labels),
    }


def regions_of(fit: Fit, view: Box) -> dict[str, Any]:
    """Which class is predicted where."""
    labels = fit.model.predict(even_nodes(view, REGIONS))
    return {"columns": REGIONS + 1, "rows": REGIONS + 1, "labels": labels.astype(np.int64)}


def title_of(certificate: Any) -> str:
    negative = "the rest" if certificate.negative is None else NAMES[int(certificate.negative)]
    return f"{NAMES[int(certificate.positive)]} against {negative}"


def capital(words: str) -> str:
    return words[:1].upper() + words[1:]
