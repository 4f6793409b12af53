"""The rows that carry weight, of an estimator that predicts without them; and how they are pickled.

`support_`, `dual_coef_` and `bounded_` say once more what the certificate has: its rows, and y_i a_i, a_i being its
weight times a number for each class. So a pickle has them once:

    the certificate     rows, by the distance of each to the one before, and weights
    the class           of each row, in a byte where there are not more than 256
    the factors         of either side of each plane
    at the bound        a bit for each row of each plane

8 bytes for a weight, and 2 or 3 for the rest. What does not come back to the last bit so is pickled as it is. Of a
slim certificate nothing comes back: there a pickle has no rows at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificates.slim import SlimCertificate
from maxmargin.data.table import Vector
from maxmargin.estimators.base import MOST_NUMBERS

SHORT = "_short"  # in a pickle: what completes it
ABOUT_ROWS = ("support_", "dual_coef_", "bounded_", "_weights")


class SupportRows:
    """`support_vectors_` of an estimator that predicts without them: at hand after a fit, if they are not many."""

    support_: NDArray[np.intp]

    @property
    def support_vectors_(self) -> Any:
        """The rows with a dual variable above zero."""
        own = vars(self)
        kept = own.get("support_vectors_")
        kept = own.get("_support_rows") if kept is None else kept
        if kept is None:
            why = "is not fitted on a table in memory, or was kept without its proof"
            if "support_" in own:
                why = (
                    f"keeps {MOST_NUMBERS:,} numbers of them at most, none in pickles and files: take X[model.support_]"
                )
            raise AttributeError(f"there are no support_vectors_: a {type(self).__name__} {why}")
        return kept

    @support_vectors_.setter
    def support_vectors_(self, rows: Any) -> None:
        vars(self)["support_vectors_"] = rows

    def __getstate__(self) -> Any:
        """For a pickle or a copy: without these rows, which are the user's, and no number twice."""
        state: Any = super().__getstate__()
        state = {name: value for name, value in state.items() if name != "_support_rows"}
        if "support_" not in state or "certificate_" not in state or state.get("_kernel") is not None:
            return state
        parts = state["certificate_"].parts
        if any(isinstance(part, SlimCertificate) for part in parts):
            return without_rows(state)
        short = shortened(state, parts)
        return short if short is not None and is_same(completed(short), state) else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(completed(state) if SHORT in state else state)  # type: ignore[misc]


def without_rows(state: dict[str, Any]) -> dict[str, Any]:
    state = {name: value for name, value in state.items() if name not in ABOUT_ROWS}
    if state.get("_seen") is not None:
        state["_seen"] = state["_seen"] | {"codes": None}
    return state


def shortened(state: dict[str, Any], parts: tuple[Any, ...]) -> dict[str, Any] | None:
    """What `completed` makes the state of; None where it is another kind of fit."""
    codes = (state.get("_seen") or {}).get("codes")
    if codes is None or not all(hasattr(part, "weights") for part in parts):
        return None
    classes, support, factors = state["classes_"], state["support_"], []
    for part, line in zip(parts, state["dual_coef_"], strict=True):
        carrying, signs = carried(part, support, codes, classes)
        a, dual = part.weights[part.weights > 0.0], line[carrying]
        factors.append([factor_of(dual[side], sign * a[side]) for sign in (1.0, -1.0) for side in [signs == sign]])
    short = without_rows(state)
    short[SHORT] = {
        "codes": codes.astype(np.min_scalar_type(len(classes))),
        "factors": factors,
        "bounded": np.packbits(state["bounded_"]) if "bounded_" in state else None,
        "weights": state["_weights"][0] if "_weights" in state else None,
    }
    return short


def completed(short: dict[str, Any]) -> dict[str, Any]:
    state = {name: value for name, value in short.items() if name != SHORT}
    more, parts = short[SHORT], short["certificate_"].parts
    supports = [part.rows[part.weights > 0.0] for part in parts]
    state["support_"] = supports[0] if len(supports) == 1 else np.unique(np.concatenate(supports))
    codes = more["codes"].astype(np.intp)
    dual = state["dual_coef_"] = np.zeros((len(parts), len(codes)))
    for line, part, (plus, minus) in zip(dual, parts, more["factors"], strict=True):
        carrying, signs = carried(part, state["support_"], codes, state["classes_"])
        line[carrying] = signs * (part.weights[part.weights > 0.0] * np.where(signs > 0.0, plus, minus))
    if more["bounded"] is not None:
        state["bounded_"] = np.unpackbits(more["bounded"], count=dual.size).reshape(dual.shape).astype(bool)
    if more["weights"] is not None:
        state["_weights"] = more["weights"], [(part.rows, part.weights) for part in parts]
    state["_seen"] = state["_seen"] | {"codes": codes}
    return state


def carried(
    part: Any, support: NDArray[np.intp], codes: NDArray[np.intp], classes: NDArray[Any]
) -> tuple[NDArray[np.intp], Vector]:
    """Where the rows of a part are in `support_`, and on which side."""
    places = np.searchsorted(support, part.rows[part.weights > 0.0])
    is_positive = np.array([label == part.positive for label in classes.tolist()], dtype=bool)
    return places, np.where(is_positive[codes[places]], 1.0, -1.0)


def factor_of(found: Vector, weights: Vector) -> float:
    """f with found = weights * f, to the last bit if there is one near the quotient of the largest."""
    if not len(weights):
        return 1.0
    largest = int(np.argmax(np.abs(weights)))
    nearby = [float(found[largest] / weights[largest])]
    nearby += [float(np.nextafter(nearby[0], towards)) for towards in (-np.inf, np.inf)]
    return next((f for f in (1.0, *nearby) if np.array_equal(weights * f, found)), nearby[0])


def is_same(completed: dict[str, Any], state: dict[str, Any]) -> bool:
    """Whether all that is about rows came back, to the last bit."""
    alike = [name for name in ABOUT_ROWS[:3] if name in state]
    if not all(name in completed and identical(completed[name], state[name]) for name in alike):
        return False
    mine, his = completed.get("_weights", (0, [])), state.get("_weights", (0, []))
    rows = [pair for one, other in zip(mine[1], his[1], strict=True) for pair in zip(one, other, strict=True)]
    return mine[0] == his[0] and all(identical(*pair) for pair in rows)


def identical(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and bool(np.array_equal(a, b))
