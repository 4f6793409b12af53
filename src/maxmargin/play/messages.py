"""What the page and the server say to each other.

Over HTTP
---------
`GET /` is the page, `/style.css`, `/main.js` ... are the files beside it. The address that is printed ends in
`/?token=...`. Nothing comes from anywhere else and nothing is inline: scripts and styles are files (the policy is
`default-src 'none'`, and 'self' for scripts, styles, fonts, images and connections; images may be data: and blob:).

Over a websocket
----------------
`new WebSocket("ws://" + location.host + "/ws", ["maxmargin", token])`: the token is the second subprotocol. Without it, or
from another origin, the handshake is refused (403). Messages are JSON texts, one object each, of at most 256 KiB.

    page    {"id": 7, "panel": "a", "ask": "answer", "state": {...}, "view": {...}, ...}
    server  {"id": 7, "panel": "a", "ask": "answer", "answer": {...}}
    server  {"id": 7, "panel": "a", "ask": "answer", "error": {"sentence": "...", "field": "points"}}

`id` is any whole number of the page's choice; `panel` is "a" or "b". A newer ask of the same kind in the same panel takes
the place of the older one, which is stopped and never answered. Every other ask gets exactly one answer or error. The
server never speaks first. A number that is not finite (a bound that is infinite, a gap that is unknown) is null. Where
something is printed it comes as words, with bounds rounded outwards; where it is drawn it comes as numbers.
`field` of an error is "message", "id", "panel", "ask", "state", "points", "algorithm", "view", "line", "text", "busy", or
the name of a parameter. `id`, `panel` and `ask` are null in an error where the message had none that could be read.

    state   {"points": [[x, y, label], ...], "algorithm": "linear_svm", "parameters": {"C": 1.0}}
            label is 1 or -1; at most 500 points, |x|, |y| <= 1e6; parameters that are left out have their defaults
    view    {"left": , "right": , "bottom": , "top": }, the part of the plane that is seen; without it: a square around
            the points

"answer" (state, view): the algorithm on the points
---------------------------------------------------
    plane        {"w": [w1, w2], "b": b}, or null: with a kernel, or where no plane separates and one must
    reach        the street's edges are where f(x) = w.x + b is plus and minus this; null where there is no street
    lines        {"minus": [...], "zero": [...], "plus": [...]}: where f is -reach, 0 and reach within the view. Each is a
                 list of polylines, each a list of [x, y]; of a plane there is one of two points, or none
    street_area  the corners of the street within the view, of a plane; [] otherwise
    field        with a kernel: {"columns": n, "rows": m, "values": [...]}: f on a grid over the view, row by row from the
                 bottom, each from left to right, its corners being those of the view; else null
    margin       the distance from the plane to an edge of its street; null where there is none
    street       twice that, the width of the street
    space        "l2" or "l1": how distance is measured; "kernel": in the space of the kernel, which cannot be drawn
    support      [{"row": i, "a": a, "bounded": false}, ...]: the points with a dual variable; bounded: it is C
    slack        [{"row": i, "xi": 0.3, "from": [x, y], "to": [x, y]}, ...] of the soft margins: from the point to
                 its edge of the street; from and to are null with a kernel
    mistakes     the rows on the wrong side (or on the plane), [] where there is no plane
    hulls        null with a kernel; else {"positive": corners, "negative": corners, "mirrored": null, "nearest": [p, q],
                 "distance": d, "witness": null}. p and q are points of the two hulls, as the certificate's weights
                 make them: no street is wider than their distance. They are the nearest ones when the widest street
                 is found, null for a soft margin. Through the origin: mirrored is the hull of all y x, positive and
                 negative are null, and q is the origin.
                 witness: {"rows": [...], "weights": [...], "at": [x, y], "positive": corners, "negative": corners,
                 "mirrored": corners or null} where the hulls meet at this point, and no plane separates
    certificate  {"verdict": "OPTIMAL", "proven": true, "words": [sentences], "quantity": "margin" or "objective",
                 "lower": , "upper": , "lower_words": "0.749999", "upper_words": "0.750001", "gap": , "gap_words": ,
                 "tol": }. The first sentence is the verdict; the gap is relative
    rounds       [{"round": 1, "primal": , "dual": }, ...]: both values after each round of the solver; the last is what
                 the certificate proves. [] for the mistake-driven learners, which have none
    kkt          [{"condition": "stationarity", "words": "w = sum a_i y_i x_i", "value": 1e-16, "row": null}, ...], or []
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
               "count": updates so far, "bound": what the best margin is at most by now, or null,
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
             line does not separate; the best margin lies between lower and upper, which are null where no line separates

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
    algorithms  [{"name": "linear_svm", "title": , "sentence": , "estimator": "LinearSVM", "steps": "updates" or "rounds",
                  "parameters": [{"name": , "label": , "help": sentence, "kind": , "default": , ...}, ...]}, ...]
                kind  "log" or "linear": a number, with "low" and "high"
                      "integer": a whole number, with "low" and "high"
                      "choice": one of "choices", [{"value": , "label": }, ...]
                      "switch": true or false
                also  [{"value": "inf", "label": "infinite: the hard margin"}, ...]: values beside the numbers, or []
                shown_if  {"kernel": ["rbf", "poly"]}: it matters only where those parameters have one of these; or null
    presets     [{"name": , "title": , "sentence": , "points": [...]}, ...]
    lessons     [{"name": , "title": , "sentences": [three], "question": , "answer": sentence that answers it,
                  "state": {...}, "b": null or {"algorithm": , "parameters": } for the second panel,
                  "mode": "answer", "steps" or "challenge"}, ...]
    limits      {"points": 500, "coordinate": 1e6, "bytes": 262144, "seconds": 2}
    version     of maxmargin
"""

from __future__ import annotations
