"""What the page and the server say to each other.

Over HTTP
---------
`GET /` is the page, `/style.css`, `/main.js` ... are the files beside it. The address that is printed ends in
`/?token=...`. Nothing comes from anywhere else and nothing is inline: scripts and styles are files (the policy is
`default-src 'none'`, and 'self' for scripts, styles, fonts, images and connections; images may be data: and blob:).

Over a websocket
----------------
`new WebSocket("ws://" + location.host + "/ws", ["maxmargin", token])`: the token is the second subprotocol. Without it,
or from another origin, the handshake is refused (403). Messages are JSON texts, one object each, of at most 256 KiB.

    page    {"id": 7, "panel": "a", "ask": "answer", "state": {...}, "view": {...}, ...}
    server  {"id": 7, "panel": "a", "ask": "answer", "answer": {...}}
    server  {"id": 7, "panel": "a", "ask": "answer", "error": {"sentence": "...", "field": "points"}}

`id` is any whole number of the page's choice; `panel` is "a" or "b". A newer ask of the same kind in the same panel
takes the place of the older one, which is stopped and never answered. Every other ask gets exactly one answer or error.
The server never speaks first. A number that is not finite (a bound that is infinite, a gap that is unknown) is null.
Where something is printed it comes as words, with bounds rounded outwards; where it is drawn it comes as numbers.
`field` of an error is "message", "id", "panel", "ask", "state", "points", "algorithm", "view", "line", "text", or the
name of a parameter. `id`, `panel` and `ask` are null in an error where the message had none that could be read.

    state   {"points": [[x, y, label], ...], "algorithm": "linear_svm", "parameters": {"C": 1.0}}
            label is 1 or -1; at most 500 points, |x|, |y| <= 1e6; parameters that are left out have their defaults
    view    {"left": , "right": , "bottom": , "top": }, the part of the plane that is seen; without it: a square around
            the points

"answer" (state, view): the algorithm on the points
---------------------------------------------------
    plane        {"w": [w1, w2], "b": b}, or null: with a kernel, or where no plane separates and one must
    reach        the street's edges are where f(x) = w.x + b is plus and minus this; null where there is no street
    lines        {"minus": [...], "zero": [...], "plus": [...]}: where f is -reach, 0 and reach within the view. Each is
                 a list of polylines, each a list of [x, y]; of a plane there is one of two points, or none
    street_area  the corners of the street within the view, of a plane; [] otherwise
    field        with a kernel: {"columns": n, "rows": m, "values": [...]}: f on a grid over the view, row by row from
                 the bottom, each from left to right, its corners being those of the view; else null
    margin       the distance from the plane to an edge of its street; null where there is none
    street       twice that, the width of the street
    space        "l2" or "l1": how distance is measured; "kernel": in the space of the kernel, which cannot be drawn
    support      [{"row": i, "a": a, "bounded": false}, ...]: the points with a dual variable; bounded: it is C
    slack        [{"row": i, "xi": 0.3, "from": [x, y], "to": [x, y]}, ...] of the soft margins: from the point to
                 its edge of the street; with a kernel, to the nearest part of the edge that is seen, if there is one
    mistakes     the rows that get the other label, [] where there is no plane
    hulls        null with a kernel; else {"positive": corners, "negative": corners, "mirrored": null,
                 "nearest": [p, q], "distance": d, "witness": null}. p and q are points of the two hulls, as the
                 certificate's weights make them: no street is wider than their distance. They are the nearest ones when
                 the widest street is found, null for a soft margin. Through the origin: mirrored is the hull of all
                 y x, positive and negative are null, and q is the origin: no margin is larger than their distance.
                 witness: {"rows": [...], "weights": [...], "at": [x, y], "positive": corners, "negative": corners,
                 "mirrored": corners or null} where the hulls meet at this point, and no plane separates
    certificate  {"verdict": "OPTIMAL", "proven": true, "words": [sentences], "quantity": "margin" or "objective",
                 "lower": , "upper": , "lower_words": "0.749999", "upper_words": "0.750001", "gap": , "gap_words": ,
                 "tol": }. The first sentence is the verdict; the gap is relative
    rounds       [{"round": 1, "primal": , "dual": }, ...]: both values after each round of the solver; the last is what
                 the certificate proves. [] for the mistake-driven learners, which have none
    kkt          [{"condition": "stationarity", "words": "w = sum a_i y_i x_i", "value": 1e-16, "row": null}, ...],
                 or []: the largest violation of each condition of optimality, and the row where it occurs
    theorems     [{"name": , "count": , "bound": , "holds": true, "at_most": true, "words": sentence}, ...], or []
    status       {"name": "SETTLED", "words": "settled: the algorithm ended by its own rule"}
    updates, sweeps, milliseconds

"steps" (state, view): the run, step by step
--------------------------------------------
    kind     "updates" (perceptrons, Winnow, stochastic steps) or "rounds" (of the other solvers)
    total    how many there were; at most 400 come (120 with a kernel)
    words    a sentence where not all of them come, or where there are none; else null
    steps    [{"number": t, "row": i or null, "sign": 1, -1 or null,
               "before": {"w": , "b": } or null, "w": [w1, w2] or null, "b": b,       null with a kernel
               "lines": polylines of f = 0 after the step, "lines_before": the same before it ([] with a kernel),
               "rule": sentence that names the rule, "arithmetic": [lines with the numbers],
               "violation": y f(x) before the step (divided by |w| in a margin perceptron), or null,
               "count": updates so far, "bound": what the best margin (of the rows as the algorithm sees them, lifted
               and scaled) is at most by now, or null,
               "measured": {"verdict": sentence, "figures": [[name, text], ...], "mistakes": [rows]}: what holds of the
               plane after the step, and of no other,
               "primal": , "dual": the values by now, or null,
               "support": [{"row": i, "a": a}, ...] by now, where they are known, else []}, ...]

"challenge" (state, line, view): a line that the user drew, against the best one
---------------------------------------------------------------------------------
    line     {"w": [w1, w2], "b": b}, or {"points": [[x, y], [x, y]]}; which side is which is chosen in its favour
    answer   {"yours": {"plane": , "lines": , "reach": , "street_area": , "separates": true, "margin": , "nearest": row,
              "mistakes": [rows], "words": [sentences]},
              "best": {"plane": or null, "lines": , "reach": , "street_area": , "lower": , "upper": , "hulls": as above,
              "words": [sentences]},
              "share": yours / best, or null}
             margin is the distance of the nearest row, and negative (of the row farthest on the wrong side) where the
             line does not separate; the best margin is between lower and upper, which are null where no line separates

"code" (state): what reproduces what is seen
--------------------------------------------
    python   a program that prints the certificate
    command  what to type in a terminal beside the file
    file     "points.csv", and csv: its text

"read_csv" (text): the user's own table
---------------------------------------
    points, and words: a sentence that says which columns, rows and labels they are. An error names the line

"catalogue": what there is
--------------------------
    algorithms  [{"name": "linear_svm", "title": , "sentence": , "estimator": "LinearSVM",
                  "steps": "updates" or "rounds",
                  "parameters": [{"name": , "label": , "help": sentence, "kind": , "default": , ...}, ...]}, ...]
                kind  "log" or "linear": a number, with "low" and "high"
                      "integer": a whole number, with "low" and "high"
                      "choice": one of "choices", [{"value": , "label": }, ...]
                      "switch": true or false
                also  [{"value": "inf", "label": "infinite: the hard margin"}, ...]: values beside the numbers, or []
                shown_if  {"kernel": ["poly", "rbf"]}: it matters only where those parameters have one of these; or null
    presets     [{"name": , "title": , "sentence": , "points": [...]}, ...]
    lessons     [{"name": , "title": , "sentences": [three], "question": , "answer": sentence that answers it,
                  "state": {...}, "b": null or {"algorithm": , "parameters": } for the second panel,
                  "mode": "answer", "steps" or "challenge"}, ...]
    start       {"preset": name, "algorithm": name}: what is seen first
    limits      {"points": 500, "coordinate": 1e6, "bytes": 262144, "seconds": 2}
    version     of maxmargin
"""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from maxmargin.playground.catalogue import ALGORITHMS, Algorithm
from maxmargin.playground.refusals import Refused
from maxmargin.plots.shapes import Box, square_around

MOST_POINTS = 500
LARGEST = 1e6  # of a coordinate
SMALLEST = 1e-6  # of the largest coordinate
FARTHEST = 1e2 * LARGEST  # that can be looked at: a window may be much wider than high
MOST_BYTES = 2**18
MOST_SECONDS = 2.0
NUMBERS = [list(kinds) for kinds in itertools.product((float, int), repeat=3)]  # what three numbers can be in JSON


class Question(StrEnum):
    """What can be asked."""

    ANSWER = "answer"
    STEPS = "steps"
    CHALLENGE = "challenge"
    CODE = "code"
    READ_CSV = "read_csv"
    CATALOGUE = "catalogue"


@dataclass(frozen=True, eq=False)
class State:
    """Points of two classes, an algorithm, and all of its parameters that have a meaning."""

    points: NDArray[np.float64]
    signs: NDArray[np.int64]
    algorithm: Algorithm
    parameters: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Line:
    """A line w.x + b = 0 that the user drew."""

    w: NDArray[np.float64]
    b: float


@dataclass(frozen=True, eq=False)
class Ask:
    """A message of the page, checked. What a question does not need is None."""

    id: int
    panel: str
    question: Question
    state: State | None = None
    view: Box | None = None
    line: Line | None = None
    text: str | None = None


def read_message(text: str) -> dict[str, Any]:
    """The JSON object in a text."""
    try:
        message = json.loads(text, parse_constant=refuse_constant)
    except Refused:
        raise
    except (ValueError, RecursionError):
        raise Refused("this message is no JSON", "message") from None
    if not isinstance(message, dict):
        raise Refused("a message is a JSON object", "message")
    return message


def refuse_constant(name: str) -> NoReturn:
    raise Refused(f"{name} is no number in JSON", "message")


def return_address(message: dict[str, Any]) -> dict[str, Any]:
    """The parts of a message that its answer repeats, as far as they can be read."""
    id, panel, ask = (message.get(name) for name in ("id", "panel", "ask"))
    return {
        "id": id if is_id(id) else None,
        "panel": panel if panel in ("a", "b") else None,
        "ask": ask if isinstance(ask, str) and ask in list(Question) else None,
    }


def is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53


def read_ask(message: dict[str, Any]) -> Ask:
    """The question in a message, or a refusal that says what is wrong with it."""
    if not is_id(message.get("id")):
        raise Refused("id must be a whole number", "id")
    if message.get("panel") not in ("a", "b"):
        raise Refused('panel must be "a" or "b"', "panel")
    asked = message.get("ask")
    if not isinstance(asked, str) or asked not in list(Question):
        raise Refused(f"ask must be one of {', '.join(Question)}", "ask")
    known = {"id": message["id"], "panel": message["panel"], "question": Question(asked)}
    if asked == Question.CATALOGUE:
        return Ask(**known)
    if asked == Question.READ_CSV:
        if not isinstance(message.get("text"), str):
            raise Refused("text must be the text of a table", "text")
        return Ask(**known, text=message["text"])
    state = read_state(message.get("state"))
    view = read_view(message.get("view"), state.points)
    line = read_line(message.get("line")) if asked == Question.CHALLENGE else None
    return Ask(**known, state=state, view=view, line=line)


def read_state(state: Any) -> State:
    if not isinstance(state, dict):
        raise Refused("state must be an object with points, algorithm and parameters", "state")
    unknown = state.keys() - {"points", "algorithm", "parameters"}
    if unknown:
        raise Refused(f"state has points, algorithm and parameters, and no {min(unknown)[:40]!r}", "state")
    name, parameters = state.get("algorithm"), state.get("parameters", {})
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise Refused(f"algorithm must be one of {', '.join(ALGORITHMS)}", "algorithm")
    if not isinstance(parameters, dict):
        raise Refused("parameters must be an object", "state")
    points, signs = read_points(state.get("points"))
    return State(points, signs, ALGORITHMS[name], ALGORITHMS[name].read(parameters))


def read_points(points: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Positions and labels; a row is named by its place, from 0."""
    if not isinstance(points, list):
        raise Refused("points must be a list of [x, y, label]", "points")
    if len(points) > MOST_POINTS:
        raise Refused(f"{len(points):,} points are too many: the playground takes {MOST_POINTS}", "points")
    for row, point in enumerate(points):
        if type(point) is not list or list(map(type, point)) not in NUMBERS:
            raise Refused(f"row {row} must be [x, y, label], three numbers", "points")
        x, y, label = point
        if not (-LARGEST <= x <= LARGEST and -LARGEST <= y <= LARGEST):
            raise Refused(f"row {row} is too far away: coordinates are at most {LARGEST:g}", "points")
        if label not in (1, -1):
            raise Refused(f"row {row} has a label that is neither 1 nor -1", "points")
    table = np.array(points, dtype=np.float64).reshape(-1, 3)
    signs = table[:, 2].astype(np.int64)
    if len(np.unique(signs)) < 2:
        missing = "Add a point" if len(signs) == 0 else "Add a point of the other class"
        raise Refused(f"{missing}: a margin needs two classes.", "points")
    if not np.abs(table[:, :2]).max() >= SMALLEST:
        raise Refused(f"All points lie within {SMALLEST:g} of the origin: spread them out.", "points")
    return np.ascontiguousarray(table[:, :2]), signs


def read_view(view: Any, points: NDArray[np.float64]) -> Box:
    if view is None:
        return square_around(points)
    if not isinstance(view, dict) or not all(is_number(view.get(side)) for side in Box._fields):
        raise Refused("view must have left, right, bottom and top, four numbers", "view")
    box = Box(*(float(view[side]) for side in Box._fields))
    wide = min(box.right - box.left, box.top - box.bottom) >= SMALLEST
    if not wide or max(map(abs, box)) > FARTHEST:
        raise Refused(f"view must be wider and higher than {SMALLEST:g}, and within {FARTHEST:g} of the origin", "view")
    return box


def read_line(line: Any) -> Line:
    """A line by its equation, or by two points on it."""
    if isinstance(line, dict) and are_numbers(line.get("w"), 2) and is_number(line.get("b")):
        w, b = np.array(line["w"], dtype=np.float64), float(line["b"])
    elif isinstance(line, dict) and isinstance(line.get("points"), list) and len(line["points"]) == 2:
        if not all(are_numbers(point, 2) for point in line["points"]):
            raise Refused("the two points of a line must be [x, y]", "line")
        p, q = np.array(line["points"], dtype=np.float64)
        w = np.array([p[1] - q[1], q[0] - p[0]])
        b = -float(w @ p)
    else:
        raise Refused("line must have w and b, or two points", "line")
    size = float(np.hypot(*w))
    if not SMALLEST <= size <= 4.0 * LARGEST or not abs(b) <= 1e14:
        raise Refused("a line needs two different points, or a w that is neither zero nor huge", "line")
    return Line(w / size, b / size)


def are_numbers(values: Any, count: int) -> bool:
    return isinstance(values, list) and len(values) == count and all(map(is_number, values))


def is_number(value: Any) -> bool:
    """A finite number that a double can hold: JSON knows whole numbers of any length."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e300


def text_of(message: dict[str, Any]) -> str:
    """A message as it goes out."""
    try:
        return json.dumps(message, allow_nan=False, default=plain)
    except ValueError:  # something is not finite
        return json.dumps(plain(message), allow_nan=False)


def plain(value: Any) -> Any:
    """What JSON can hold: lists for arrays, null for what is not finite."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value
