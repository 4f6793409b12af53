"""What the page and the server say to each other.

Over HTTP
---------
`GET /` is the page, `/style.css`, `/main.js` ... are the files beside it. The address that is printed ends in
`/?token=...`. Nothing comes from anywhere else and nothing is inline: scripts and styles are files (the policy is
`default-src 'none'`, and 'self' for scripts, styles, fonts, images and connections; images may be data: and blob:).

Over a websocket
----------------
`new WebSocket("ws://" + location.host + "/ws", ["maxmargin", token, seat])`: the token is the second subprotocol.
Without it, or from another origin, the handshake is refused (403). The third is a name that the browser has made up, 16
to 64 letters and digits; without one a page has a seat of its own. Where there is no place, the line is opened and
closed at once: 1013, with a sentence. Messages are JSON texts, one object each, of at most 256 KiB.

    page    {"id": 7, "panel": "a", "ask": "answer", "state": {...}, "view": {...}, ...}
    server  {"id": 7, "panel": "a", "ask": "answer", "answer": {...}}
    server  {"id": 7, "panel": "a", "ask": "answer", "error": {"sentence": "...", "field": "points"}}

`id` is any whole number of the page's choice; `panel` is "a" or "b". A message has no other fields than those that are
named here, and no name twice. A newer ask of the same kind in the same panel takes the place of the older one, which is
stopped and never answered. Every other ask gets exactly one answer or error. The server never speaks first. A number
that is not finite (a bound that is infinite, a gap that is unknown) is null. Where something is printed it comes as
words, with bounds rounded outwards; where it is drawn it comes as numbers. `field` of an error is "message", "id",
"panel", "ask", "state", "points", "algorithm", "view", "line", "text", "given", or the name of a parameter. `id`,
`panel` and `ask` are null in an error where the message had none that could be read.

    state   {"points": [[x, y, label], ...], "algorithm": "linear_svm", "parameters": {"C": 1.0}}
            label is 1 (circles), -1 (squares) or 2 (triangles, a third class); at most 500 points, |x|, |y| <= 1e6;
            parameters that are left out have their defaults
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
    street       twice that, the width of the street; margin_words and street_words: both as they are printed, within
                 the bounds of the certificate as those are printed
    normalized   {"norm": "l2" or "l1", "lower": , "upper": , "words": }: the best margin of the rows at length 1, where
                 the algorithm has normalize_rows (l2: a cosine); else null
    values       {"primal": "1.3888", "dual": "1.38879"}: rounded outwards, or null
    space        "l2" or "l1": how distance is measured; "kernel": in the space of the kernel, which cannot be drawn
    support      [{"row": i, "a": a, "bounded": false}, ...]: the points with a dual variable; bounded: it is C
    slack        [{"row": i, "xi": 0.3, "from": [x, y], "to": [x, y]}, ...] of the soft margins: from the point to
                 its edge of the street; with a kernel, to the nearest part of the edge that is seen, if there is one
    rows         {"distances": [of each row from the plane, positive on its own side], "slack": [xi of each],
                 "why": [which of the reasons], "reasons": [sentences: why a row is a support vector, or is not]};
                 distances are null without a plane, slack without a price
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

of three classes: see `many_classes`

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
               "nearest": [p, q], the nearest points of the hulls of the rows so far (hard margin by hulls), or null,
               "support": [{"row": i, "a": a}, ...] by now, where they are known, else []}, ...]

"challenge" (state, line, view): a line that the user drew, against the best one
---------------------------------------------------------------------------------
    line     {"w": [w1, w2], "b": b}, or {"points": [[x, y], [x, y]]}; which side is which is chosen in its favour
    answer   {"yours": {"plane": , "lines": , "reach": , "street_area": , "separates": true, "margin": , "nearest": row,
              "mistakes": [rows], "words": [sentences]},
              "best": {"plane": or null, "lines": , "reach": , "street_area": , "lower": , "upper": , "hulls": as above,
              "words": [sentences]},
              "share": yours / best, or null,
              "objective": null where the algorithm has no price C, else {"C": , "loss": , "scale": of the plane, the
              best for this line, "value": , "lower": , "upper": bounds of the least one, "excess": , "words": }}
             margin is the distance of the nearest row, and negative (of the row farthest on the wrong side) where the
             line does not separate; the best margin is between lower and upper, which are null where no line separates

"code" (state): what reproduces what is seen
--------------------------------------------
    python    a program that prints the certificate
    command   what to type in a terminal beside the file
    file      "points.csv", and csv: its text
    programs  [{"title": , "text": }, ...]: the problem as a program for CVXPY, primal and dual, with these points; []
              where the algorithm solves none

"verify", "loss", "path", "two_margins", "game" (state), "probability" (state, view), "multiplier", "exercise" (given)
----------------------------------------------------------------------------------------------------------------------
    what is computed when it is asked for: `verification`, `curves`, `two_margins`, `game`, `probability`, `multiplier`
    and `exercises` say how

"read_csv" (text, given): the user's own table; see `tables`

"catalogue": what there is; see `answers`
"""

from __future__ import annotations

import itertools
import json
import math
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from maxmargin.persistence.errors import Refusal
from maxmargin.persistence.schema import STRICT, Between, OneOf, Reader, Rule, later, members_of
from maxmargin.playground.catalogue import ALGORITHMS, Algorithm
from maxmargin.playground.exercises import GivenExercise
from maxmargin.playground.multiplier import GivenMultiplier
from maxmargin.playground.tables import TableChoice
from maxmargin.plots.shapes import Box, Points, square_around

MOST_POINTS = 500
THIRD = 2  # the label of a third class
LARGEST = 1e6  # of a coordinate
SMALLEST = 1e-6  # of the largest coordinate
FARTHEST = 1e2 * LARGEST  # that can be looked at: a window may be much wider than high
MOST_BYTES = 2**18
MOST_SECONDS = 2.0
DIGITS = 9  # of the coordinates of a bent line: far below a pixel
NUMBERS = [list(kinds) for kinds in itertools.product((float, int), repeat=3)]  # what three numbers can be in JSON


class Question(StrEnum):
    """What can be asked."""

    ANSWER = "answer"
    STEPS = "steps"
    CHALLENGE = "challenge"
    CODE = "code"
    VERIFY = "verify"
    LOSS = "loss"
    PROBABILITY = "probability"
    PATH = "path"
    TWO_MARGINS = "two_margins"
    GAME = "game"
    MULTIPLIER = "multiplier"
    EXERCISE = "exercise"
    READ_CSV = "read_csv"
    CATALOGUE = "catalogue"


@dataclass(frozen=True, eq=False)
class State:
    """Points of two or three classes, an algorithm, and all of its parameters that have a meaning."""

    points: NDArray[np.float64]
    labels: NDArray[np.int64]
    algorithm: Algorithm
    parameters: dict[str, Any]

    @cached_property
    def signs(self) -> NDArray[np.int64]:
        """The labels of two classes."""
        return self.labels

    @property
    def has_many(self) -> bool:
        """Whether there are more than two classes."""
        return bool(np.any(self.labels == THIRD))


@dataclass(frozen=True, eq=False)
class Line:
    """A line w.x + b = 0 that the user drew."""

    w: NDArray[np.float64]
    b: float


@dataclass(frozen=True, eq=False)
class Ask:
    """A message of the page, checked: `given` is what its question brings, in the order in which it is answered."""

    id: int
    panel: str
    question: Question
    given: tuple[Any, ...] = ()
    state: State | None = None


@dataclass(frozen=True)
class Message:
    """The fields of a message as they come. What its question does not need is not looked at."""

    id: Annotated[int, Between(-(2**53), 2**53)]  # as JavaScript counts
    panel: Literal["a", "b"]
    ask: Annotated[str, OneOf(tuple(Question))]
    state: Any = later(None)
    view: Any = later(None)
    line: Any = later(None)
    text: Any = later(None)
    given: Any = later(None)


@dataclass(frozen=True)
class GivenState:
    points: list[Any]  # `read_points` looks at them
    algorithm: Annotated[str, OneOf(ALGORITHMS)]
    parameters: dict[str, Any] = later(())


Number = Annotated[float, Between(-1e300, 1e300)]  # JSON knows whole numbers of any length
Pair = tuple[Number, Number]
Text = Annotated[Any, Rule("the text of a table", lambda value: isinstance(value, str))]
GIVEN = {Question.MULTIPLIER: GivenMultiplier, Question.EXERCISE: GivenExercise}  # questions without points
SEEN = (Question.ANSWER, Question.STEPS, Question.CHALLENGE, Question.PROBABILITY)  # questions about what a view shows
READER = Reader(root="the message", kinds=dict.fromkeys(Box._fields, Annotated[float, Between(-FARTHEST, FARTHEST)]))


@dataclass(frozen=True)
class GivenLine:
    """A line by its equation."""

    w: Pair
    b: Number

    def equation(self) -> tuple[NDArray[np.float64], float]:
        return np.array(self.w), self.b


@dataclass(frozen=True)
class LineThroughPoints:
    """A line by two points on it."""

    points: tuple[Pair, Pair]

    def equation(self) -> tuple[NDArray[np.float64], float]:
        p, q = np.array(self.points)
        w = np.array([p[1] - q[1], q[0] - p[0]])
        return w, -float(w @ p)


def read_message(text: str) -> dict[str, Any]:
    """The JSON object in a text. How deep it is and how large its numbers are is seen where it is looked at."""
    try:
        message = json.loads(text, **STRICT)
    except (ValueError, RecursionError) as error:
        raise Refusal(f"this message is no JSON: {str(error)[:200]}") from None
    if not isinstance(message, dict):
        raise Refusal("a message is a JSON object")
    return message


def return_address(message: dict[str, Any]) -> dict[str, Any]:
    """The parts of a message that its answer repeats, as far as they can be read."""
    address, members = {}, members_of(Message) or {}
    for name in ("id", "panel", "ask"):
        try:
            address[name] = READER.value(members[name].kind, message.get(name), name)
        except Refusal:
            address[name] = None
    return address


def field_of(refusal: Refusal) -> str:
    """The field that a refusal is about: the first of its place; of a state its points or algorithm, if it is these."""
    names: list[str] = re.findall(r"\w+", refusal.place) or ["message"]
    return names[1] if names[0] == "state" and names[1:2] in (["points"], ["algorithm"]) else names[0]


def read_ask(message: dict[str, Any]) -> Ask:
    """The question in a message, or a refusal that says what is wrong with it."""
    said: Message = READER.value(Message, message, "")
    question = Question(said.ask)
    if question is Question.CATALOGUE:
        return Ask(said.id, said.panel, question)
    if question in GIVEN:
        return Ask(said.id, said.panel, question, (READER.value(GIVEN[question], said.given, "given"),))
    if question is Question.READ_CSV:
        text = READER.value(Text, said.text, "text")
        choice = None if said.given is None else READER.value(TableChoice, said.given, "given")
        return Ask(said.id, said.panel, question, (text, choice))
    state = read_state(said.state)
    line = [read_line(said.line)] if question is Question.CHALLENGE else []
    view = read_view(said.view, state.points)
    given = (state, *line, view) if question in SEEN else (state,)
    return Ask(said.id, said.panel, question, given, state)


def read_state(state: Any) -> State:
    said: GivenState = READER.value(GivenState, state, "state")
    points, labels = read_points(said.points)
    algorithm = ALGORITHMS[said.algorithm]
    return State(points, labels, algorithm, algorithm.read(dict(said.parameters)))


def read_points(points: list[Any]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Positions and labels; a row is named by its place, from 0. While a point is dragged this is done for each frame:
    going by annotations, value by value, would take forty times as long."""
    if len(points) > MOST_POINTS:
        raise Refusal(f"{len(points):,} points are too many: the playground takes {MOST_POINTS}", "points")
    for row, point in enumerate(points):
        if type(point) is not list or list(map(type, point)) not in NUMBERS:
            raise Refusal(f"row {row} must be [x, y, label], three numbers", "points")
        x, y, label = point
        if not (-LARGEST <= x <= LARGEST and -LARGEST <= y <= LARGEST):
            raise Refusal(f"row {row} is too far away: coordinates are at most {LARGEST:g}", "points")
        if label not in (1, -1, THIRD):
            raise Refusal(f"row {row} has a label that is neither 1 nor -1 nor {THIRD}", "points")
    table = np.array(points, dtype=np.float64).reshape(-1, 3)
    labels = table[:, 2].astype(np.int64)
    classes = np.unique(labels)
    if THIRD in classes and len(classes) < 3:
        raise Refusal("Triangles are the third class: add circles and squares too.", "points")
    if len(classes) < 2:
        missing = "Add a point" if len(labels) == 0 else "Add a point of the other class"
        raise Refusal(f"{missing}: a margin needs two classes.", "points")
    if not np.abs(table[:, :2]).max() >= SMALLEST:
        raise Refusal(f"All points lie within {SMALLEST:g} of the origin: spread them out.", "points")
    return np.ascontiguousarray(table[:, :2]), labels


def read_view(view: Any, points: NDArray[np.float64]) -> Box:
    if view is None:
        return square_around(points)
    box: Box = READER.value(Box, view, "view")
    if min(box.right - box.left, box.top - box.bottom) < SMALLEST:
        raise Refusal(f"view must be wider and higher than {SMALLEST:g}", "view")
    return box


def read_line(line: Any) -> Line:
    has_points = isinstance(line, dict) and "points" in line
    w, b = READER.value(LineThroughPoints if has_points else GivenLine, line, "line").equation()
    size = float(np.hypot(*w))
    if not SMALLEST <= size <= 4.0 * LARGEST or not abs(b) <= 1e14:
        raise Refusal("a line needs two different points, or a w that is neither zero nor huge", "line")
    return Line(w / size, b / size)


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


def short_points(line: Points) -> list[list[float]]:
    return [short(point, DIGITS) for point in line]


def short(values: NDArray[np.float64], digits: int) -> list[float]:
    """So many digits of each, as a message holds them."""
    return [float(f"{value:.{digits}g}") for value in values.tolist()]
