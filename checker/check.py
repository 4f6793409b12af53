"""Check a certificate of maxmargin against its table: exact arithmetic, the standard library, no code of maxmargin.

`python check.py CERTIFICATE.json TABLE.csv|TABLE.svm` says VERIFIED (exit code 0), REFUSED and why (1), or CANNOT CHECK
and why (2). docs/certificate_format.md explains the fields. Row i of the table is x_i; y_i is +1 where its label is
`positive`, -1 where it is `negative` (null: any other). All numbers are doubles, hence rational; roots are compared by
squares. f_i = y_i (w.x_i + b); |.|_* is the dual norm: l2 for l2, the largest coordinate for l1. The proofs:
Separation: the margin of a plane (w, b) is min_i f_i / |w|, the best is g*. That of the given plane is >= margin_lower.
    margin_upper   Weights l >= 0 give p = sum_+ l_i x_i / sum_+ l_i - sum_- l_i x_i / sum_- l_i, and for every plane
                   2 min_i f_i <= w.p <= |w| |p|_*: g* <= |p|_* / 2. If b = 0: p = sum l_i y_i x_i / sum l_i and no / 2.
    not separable  Some l >= 0, l != 0, near the weights given, have sum l_i y_i x_i = 0 (and sum l_i y_i = 0, unless
                   b = 0). Then sum l_i f_i = 0 for every plane, and none has all f_i > 0. Weakly separable: moreover
                   some plane near the one given has all f_i >= 0 and some f_i > 0.
Soft margin: P(w, b) = 1/2 |w|^2 + sum C_i loss(1 - f_i) is to be least; C_i = C times class weight times row weight.
    primal         >= P of the plane that is given >= min P.
    dual           C loss(t) = max { a t - q a^2 / 2: 0 <= a <= u }; hinge max(0, t): u = C, q = 0; its square: u = inf,
                   q = 1 / (2 C). Summed up, with sum a_i y_i = 0 unless b = 0: for every plane P >= D(a), which is
                   sum a_i - 1/2 |sum a_i y_i x_i|^2 - 1/2 sum q_i a_i^2. The weights given, in [0, u], become such a:
                   the heavier class is scaled down to the other, then all by the best factor. By blocks: see blocks.py.
Kernel margin: the same with phi(x) for x, phi(x).phi(x') = k(x, x'); the plane is w = sum a_i y_i phi(x_i), a as above.
    C = inf, the hard margin: all f_i >= 1, which the plane divided by its least f_i has. Not separable, as above:
    sum_j k(x_i, x_j) y_j l_j = 0 for the rows i with l_i > 0, which says that |sum l_j y_j phi(x_j)|^2 = 0.
Kernel separation: w = sum a_i y_i phi(x_i) is the plane, or the witness; w / sum a_i is p; k + 1 for k, if lifted.
OPTIMAL is (primal - dual) / primal <= tol, of margins (upper - lower) / upper <= tol; BOUNDED is not that.
What proves nothing is not looked at: tol and further_look; kkt and theorems, of which figures.py takes care.
"""

import csv
import hashlib
import json
import math
import runpy
import sys
from collections import Counter
from fractions import Fraction
from operator import mul
from pathlib import Path
from typing import Any

Fields = dict[str, Any]
INF, ONE, U = math.inf, Fraction(1), Fraction(1, 2**53)  # U: the largest relative error of one rounding
LOSSES: Any = {"hinge": (1, 0), "squared_hinge": (INF, 0.5), "huber_hinge": (1, None), "modified_huber": (4, 0.5)}
SHARED = "verdict positive negative n_rows n_columns rows weights primal dual kkt theorems "
KERNEL, KERNELS = "kernel gamma coef0 degree ", ("linear", "poly", "rbf", "laplacian", "function", "precomputed")
PRICED = "loss huber_width C class_weight fit_intercept b tol "
LINEAR, BOUNDS = "norm w b tol rows_off_plane further_look ", "fit_intercept margin_lower margin_upper"
KINDS = {  # the fields and the verdicts of each kind of certificate; what old ones lack
    "separation": (SHARED + LINEAR + BOUNDS, "OPTIMAL SEPARABLE WEAKLY_SEPARABLE NOT_SEPARABLE UNDECIDED STOPPED"),
    "soft margin": (SHARED + PRICED + "w", "OPTIMAL BOUNDED"),
    "kernel margin": (SHARED + KERNEL + PRICED, "OPTIMAL BOUNDED NOT_SEPARABLE", "loss fit_intercept"),
    "kernel separation": (SHARED + KERNEL + BOUNDS, "SEPARABLE NOT_SEPARABLE UNDECIDED STOPPED"),
}
NUMBERS_OF_JSON: Fields = {  # as fractions; what JSON has no number for is written {"number": "inf"}
    "parse_float": lambda text: Fraction(float(text)),
    "object_hook": lambda one: float(one["number"]) if "number" in one else one,
}
NUMBERS = {"b", "C", "gamma", "coef0", "margin_lower", "margin_upper", "primal", "dual", "tol"}
ADDED = {"theorems", "rows_off_plane", "further_look", "huber_width"}  # which old certificates do not have
KNOWN = {None, *LOSSES, *KERNELS, *(SHARED + KERNEL + PRICED + LINEAR + BOUNDS).split()}  # others are from elsewhere


def require(holds: Any, why: str, refusal: type[Exception] = ValueError) -> None:
    if not holds:
        raise refusal(why)  # ValueError: REFUSED; NotImplementedError: CANNOT CHECK


def exact(numbers: list[Any]) -> tuple[list[int], Fraction]:
    """Doubles as integers times one power of two; an ArithmeticError where a number is beyond them."""
    ratios = [(number + 0.0).as_integer_ratio() for number in numbers]
    common = max((denominator for _, denominator in ratios), default=1)
    return [numerator * (common // denominator) for numerator, denominator in ratios], Fraction(1, common)


def null_point(lines: list[list[Fraction]], point: list[int]) -> list[int]:
    """Solve lines.z = 0 near the point, up to a positive factor: Gauss and Jordan in integers, the largest pivots."""
    over, solved, divisor = math.lcm(*(cell.denominator for line in lines for cell in line)), dict[int, int](), 1
    table = [[int(cell * over) for cell in line] for line in lines]
    while True:
        left, free = set(range(len(table))) - set(solved), set(range(len(point))) - set(solved.values())
        size, i, j = max(((abs(table[i][j]), i, j) for i in left for j in free), default=(0, 0, 0))
        if size == 0:
            found = {at: -sum(table[i][j] * point[j] for j in free) for i, at in solved.items()}
            return [(1 if divisor > 0 else -1) * found.get(j, own * divisor) for j, own in enumerate(point)]
        pivot, solved[i] = table[i], j
        for k in set(range(len(table))) - {i}:
            table[k] = [(pivot[j] * a - table[k][j] * b) // divisor for a, b in zip(table[k], pivot, strict=True)]
        divisor = pivot[j]


def read(path: str, about: Fields) -> Fields:
    """The rows of a file, their labels as text, their weights, the number of columns, and whether more may be zero."""
    with open(path, encoding="utf-8", newline="") as file:
        if path.endswith((".csv", ".tsv")):
            names, *lines = csv.reader(file, delimiter="\t" if path.endswith(".tsv") else ",")
            columns: Any = dict(zip(names, zip(*lines, strict=True), strict=True))
            labels = columns.pop(about.get("label", names[-1]))
            weights = list(map(float, columns.pop(about["weight"]) if "weight" in about else ["1"] * len(lines)))
            rows = [dict(enumerate(map(float, line))) for line in zip(*columns.values(), strict=True)]
            return {"rows": rows, "labels": labels, "weights": weights, "width": len(columns), "more": False}
        words = [line for line in (line.partition("#")[0].split() for line in file) if line]
    pairs = [[word.split(":") for word in line[1:] if not word.startswith("qid:")] for line in words]
    first = min([1, *(int(j) for line in pairs for j, _ in line)])  # indices count from 1, or from 0 where one is 0
    rows = [{int(j) - first: float(cell) for j, cell in line if float(cell)} for line in pairs]
    labels, weights = [about.get("labels", {}).get(line[0], line[0]) for line in words], about.get("weights", [])
    width = 1 + max((column for row in rows for column in row), default=-1)
    return {"rows": rows, "labels": labels, "weights": weights or [1.0] * len(rows), "width": width, "more": True}


def same(text: str, label: Any) -> bool:
    """Whether the text of a table is this label: 1, +1 and 1.0 are the same number."""
    return text == str(label) or (not isinstance(label, str) and text.lstrip("+").removesuffix(".0") == str(label))


class Problem:
    """What a certificate speaks of: rows, as integers; inner products in the space of its kernel; plane and weights."""

    def __init__(self, c: Fields, table: Fields) -> None:
        self.c, self.d, labels, weights = c, c["n_columns"], table["labels"], table["weights"]
        texts, C, prices = set(labels), c.get("C", INF), c.get("class_weight", [])
        plus = {text for text in texts if same(text, c["positive"])}
        rest = {text for text in texts if c["negative"] is None or same(text, c["negative"])}
        kept = [i for i, (text, own) in enumerate(zip(labels, weights, strict=True)) if text in plus | rest and own]
        fits = table["width"] <= self.d if table["more"] else table["width"] == self.d
        require(fits and len(kept) == c["n_rows"], "the certificate is about another number of rows or columns")
        self.kept, self.signs = kept, [1 if labels[i] in plus else -1 for i in kept]
        price = {text: float(own) for name, own in prices for text in texts if same(text, name)}
        require(len(price) == len(prices), "class_weight names no label, or one twice")
        self.costs = [float(C) * (price.get(labels[i], 1.0) * weights[i]) for i in kept]  # rounded, as solvers see them
        require(all(0.0 < own < INF or (own == C and not {"w", "C"} <= set(c)) for own in self.costs), "a C_i is none")
        cells, self.unit = exact([cell for i in kept[::-1] for cell in reversed(table["rows"][i].values())])
        self.rows = [{column: cells.pop() for column in table["rows"][i]} for i in kept]
        self.gamma, self.coef0, self.degree = c.get("gamma", 1) * self.unit**2, c.get("coef0", 0), c.get("degree", 1)
        self.lift = int("kernel" in c and "C" not in c and c["fit_intercept"])
        # n_i / s: the weights times y_i, of sum 1 in each class (without a bias: in all); n_i factor: a_i y_i, balanced
        integers, self.weight_unit = exact(c["weights"])
        found = dict(zip(c["rows"], integers, strict=True))
        self.given = {i: found[row] for i, row in enumerate(kept) if row in found}
        require(len(self.given) == len(integers) and min(integers, default=0) >= 0, "rows and weights cannot be these")
        self.sums = up, down = [sum(own for i, own in self.given.items() if self.signs[i] == sign) for sign in (1, -1)]
        self.bias = ("w" in c or "C" in c) and bool(c.get("fit_intercept", True))
        self.s, times = (up * down, {1: down, -1: -up}) if self.bias else (up + down, {1: 1, -1: -1})
        self.n, self.b = {i: own * times[self.signs[i]] for i, own in self.given.items()}, Fraction(c.get("b", 0))
        self.factor = self.weight_unit * (min(up, down) if self.bias else self.s) / max(self.s, 1)
        self.gain = sum(map(abs, self.n.values())) * self.factor  # sum a_i
        self.longest: Any = max((self.k(i, [i])[0] for i in self.n), default=0)  # |phi(x)|^2 of rows with weight
        if "w" in c:
            w, unit = exact(c["w"])
            vector, p = Counter(dict(enumerate(w))), Counter[int]()
            self.values = [self.dot(row, vector) * unit * self.unit for row in self.rows]
            self.w, self.w_square = [own * unit for own in w], Fraction(sum(own * own for own in w) * unit**2)
            for i, own in self.n.items():
                p.update({j: own * cell for j, cell in self.rows[i].items()})
            self.p = [own * self.unit for own in p.values()]
            self.square: Any = sum(own * own for own in self.p)  # |p|^2
        else:
            values = [sum(map(mul, self.n.values(), self.k(i, list(self.n)))) for i in range(len(kept))]
            self.square = sum((own * values[i] for i, own in self.n.items()), Fraction(0))
            self.values, self.w_square = [value * self.factor for value in values], self.square * self.factor**2
        self.f = [sign * (value + self.b) for sign, value in zip(self.signs, self.values, strict=True)]

    def dot(self, row: dict[int, int], vector: Counter[int]) -> int:
        return sum(map(mul, row.values(), map(vector.__getitem__, row)))

    def k(self, i: int, others: list[int]) -> list[Fraction]:
        """The kernel of row i and others; of exponentials, whether rows are equal: sums of phi vanish alike."""
        if self.c.get("kernel") in KERNELS[2:4]:
            return [Fraction(self.rows[i] == self.rows[j]) for j in others]
        x = Counter(self.rows[i])
        return [(self.gamma * self.dot(self.rows[j], x) + self.coef0) ** self.degree + self.lift for j in others]

    def meet(self) -> bool:
        """Whether some z >= 0, near 1, make sum z_i n_i phi(x_i) = 0, and sum z_i n_i = 0 with a bias."""
        support = [i for i, own in self.n.items() if own]
        lines = [[k * self.n[j] for j, k in zip(support, self.k(i, support), strict=True)] for i in support]
        lines += [[Fraction(self.n[j]) for j in support]] if self.bias else []
        z = null_point(lines, [1] * len(support))
        return any(z) and min(z) >= 0 and not any(sum(map(mul, line, z)) for line in lines)

    def off_plane(self) -> int:
        """How many rows are off the plane that goes through all rows as good as on this one; 0 if one is beyond it."""
        face = [i for i, own in enumerate(self.f) if abs(own) * 10**9 <= max(map(abs, self.f))]
        cells, lines = [Counter({**self.rows[i], self.d: self.unit.denominator}) for i in face], list[list[Fraction]]()
        plane = exact([*self.w, self.b])[0][: self.d + self.bias]
        v = Counter(dict(enumerate(plane)))
        while missed := [x for x in cells if self.dot(x, v)][: len(plane)]:  # few rows tell where the others are
            lines += [[Fraction(x[j]) for j in range(len(plane))] for x in missed]
            v = Counter(dict(enumerate(null_point(lines, plane))))
        f = [y * (self.dot(x, v) + v[self.d] / self.unit) for y, x in zip(self.signs, self.rows, strict=True)]
        return sum(own > 0 for own in f) if min(f) >= 0 else 0

    def gap(self, low: Any, high: Any) -> None:
        proven = low > -INF and high < INF and high - low <= self.c.get("tol", 0) * high
        denied = {"OPTIMAL": not proven, "BOUNDED": proven}.get(self.c["verdict"], False)
        require(low <= high and not denied, "the two bounds contradict each other, or the verdict")

    def separation(self) -> None:
        c, m, sides, lower, upper = self.c, min(self.f), 1 + self.bias, self.c["margin_lower"], self.c["margin_upper"]
        l1, look, size, star = c.get("norm") == "l1", c.get("further_look"), self.w_square, self.square  # |w|^2, |sp|^2
        if l1:
            size, star = Fraction(sum(map(abs, self.w))) ** 2, max(map(abs, self.p), default=0) ** 2
            self.longest = max((abs(own) * self.unit for i in self.n for own in self.rows[i].values()), default=0) ** 2
        proven = lower == -INF or (size and lower < INF and m * abs(m) >= lower * abs(lower) * size)
        require(proven, "the plane does not prove margin_lower")
        for name, g in (("primal", float(lower)), ("dual", float(upper))):
            value = INF if not g > 0.0 else 0.0 if g == INF else 1.0 / g if l1 else 0.5 / g / g
            require(c[name] == value, f"{name} is not what follows from the margin")
        require((c["verdict"] in ("OPTIMAL", "SEPARABLE")) == (lower > 0), "the verdict denies margin_lower")
        off = self.off_plane() if c["verdict"] == "WEAKLY_SEPARABLE" else None
        if c["verdict"] in ("NOT_SEPARABLE", "WEAKLY_SEPARABLE"):
            require(upper == 0 and self.s and self.meet(), "no combination of the witness rows vanishes")
            most = ((Fraction(4.04) * U * (len(self.n) + 3) * sides) ** 2 if "w" in c else 1200 * U) * self.longest
            require(star <= most * self.s**2 and ("w" in c or lower == -INF), "the weights are not the witness's")
        else:
            proven = upper == INF or (self.s and upper >= 0 and star <= (sides * upper * self.s) ** 2)
            require(proven and (upper > 0 or "kernel" in c), "the weights do not prove margin_upper")
            self.gap(lower, upper)
        require(c.get("rows_off_plane") in (None, off) and (off or (off is None and look != "FOUND")), "no weak plane")

    def soft_margin(self) -> None:
        c, hard, m = self.c, self.c["C"] == INF, min(self.f) if self.c["C"] == INF else ONE
        (box, bend), width = ({"hinge": (INF, 0)} if hard else LOSSES)[c.get("loss", "hinge")], c.get("huber_width")
        require(width is None if bend is not None else width and 1e-9 <= width <= 1e9, "no such huber_width")
        bend = Fraction(bend if width is None else width)  # u = box C, q = bend / C
        if c["verdict"] == "NOT_SEPARABLE":
            empty = c["primal"] == c["dual"] == INF and c["b"] == 0 and c["kkt"] is None and not c.get("theorems")
            require(hard and empty and self.s and self.meet(), "no combination of the witness rows vanishes")
            even = abs(self.sums[0] - self.sums[1]) * 10**9 <= sum(self.sums) or not self.bias
            return require(even and self.w_square <= 1200 * U * self.gain**2 * self.longest, "these are other weights")
        require(all(own * self.weight_unit <= box * self.costs[i] for i, own in self.given.items()), "a_i is above u")
        missing = [(Fraction(cost), 1 - own / m) for cost, own in zip(self.costs, self.f, strict=True) if own < m]
        paid = [cost * (t**2 / (2 * bend) if t <= box * bend else box * t - box**2 * bend / 2) for cost, t in missing]
        require((self.w_square / m**2 / 2 + sum(paid) if m > 0 else INF) <= c["primal"], "the plane is above primal")
        up = [math.ceil(2**1400 * bend * own**2 / Fraction(self.costs[i])) for i, own in self.n.items() if bend]
        bent = (self.square + Fraction(sum(up), 2**1400)) * self.factor**2  # |sum a_i y_i x_i|^2 + sum q_i a_i^2
        best = self.gain / bent if bent and (box == INF or self.gain < bent) else ONE
        dual = INF if hard and self.gain and not bent else best * self.gain - best**2 * bent / 2
        require(c["dual"] <= max(dual, 0), "the weights do not prove dual")
        return self.gap(c["dual"], c["primal"])


def check(c: Fields, table: Fields, problem: type[Problem]) -> None:
    if "heights" in c:  # by blocks: the same claim with a weight for each row
        c = runpy.run_path(__file__[:-8] + "blocks.py")["soft_margin"](c, table, LOSSES, same, Problem)
    require(not (new := {*c, *map(c.get, ("loss", "kernel"))} - KNOWN), f"not known here: {new}", NotImplementedError)
    kind = ("kernel " if "kernel" in c else "soft " if "C" in c else "") + ("margin" if "C" in c else "separation")
    fields, verdicts, *lacked = (words.split() for words in KINDS[kind])
    require(set(fields) - ADDED - set(*lacked) <= set(c) <= set(fields), f"a {kind} has the fields {', '.join(fields)}")
    wrong = [name for name in NUMBERS & set(c) if type(v := c[name]) not in (int, float, Fraction) or v != float(v)]
    require(not wrong and c["verdict"] in verdicts, f"verdict {c['verdict']!r}, or no number: {wrong}")
    require(c["positive"] not in (None, c["negative"]), "the two sides must have labels of their own")
    require(c.get("fit_intercept", True) in ((True,) if c.get("b") else (True, False)), "the plane should have b = 0")
    require(0 < c.get("tol", 0.5) < 1 or (kind == "separation" and c["tol"] == 0), "tol must be above 0 and below 1")
    require(len(c.get("w", range(c["n_columns"]))) == c["n_columns"], "the plane has the wrong length")
    require(c.get("norm", "l2") in ("l1", "l2"), "an unknown norm")
    if "kernel" in c:
        name, *numbers = (c[name] for name in KERNEL.split())  # gamma, coef0, degree
        plain = (name in KERNELS and numbers[(skip := name in KERNELS[2:4]) :] == [1, 0, 1][skip:]) or name == "poly"
        require(plain and type(c["degree"]) is int and 0 <= min(numbers) <= max(numbers) < INF, "no such kernel")
        rational = c["degree"] <= 1000 if name in KERNELS[:2] else skip and c["verdict"] == "NOT_SEPARABLE"
        require(rational, f"the kernel {name} is not rational, too long, or taken on trust", NotImplementedError)
    problem(c, table).soft_margin() if "C" in c else problem(c, table).separation()


def check_parts(parts: list[Fields], table: Fields, problem: type[Problem]) -> None:
    require(parts and len({frozenset(part) for part in parts}) == 1, "the parts must be of one kind")
    sides = [frozenset({part["positive"], part["negative"]} - {None}) for part in parts]
    labels = frozenset.union(*sides)
    expected = {frozenset({a, b}) for a in labels for b in labels if (a != b) == (len(sides[0]) == 2)}
    require(set(sides) == expected and len(sides) == len(expected), "one part for each class or pair of classes")
    for text, weight in set(zip(table["labels"], table["weights"], strict=True)):
        require(weight == 0 or any(same(text, label) for label in labels), f"no part is about the label {text!r}")
    for part in parts:
        check(part, table, problem)


def judge(text: str, table: Any, problem: type[Problem] = Problem) -> tuple[str, str]:
    """The answer, and why. The table is a file, or what `read` makes of one."""
    try:
        c = json.loads(text, **NUMBERS_OF_JSON)
        about = c.get("table", {}) if "certificate" in c else {}
        c, rows = c.get("certificate", c), read(table, about) if isinstance(table, str) else table
    except (ArithmeticError, OSError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        return "CANNOT CHECK", f"the certificate, or {str(table)[:80]}, cannot be read: {error!r}"
    try:
        check_parts(c["parts"], rows, problem) if "parts" in c else check(c, rows, problem)
    except (NotImplementedError, OSError) as error:  # blocks.py is not beside this file
        return "CANNOT CHECK", str(error)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        if about.get("prepared") and hashlib.sha256(Path(table).read_bytes()).hexdigest() != about.get("sha256"):
            return "CANNOT CHECK", "the certificate is about a table that was prepared, and this is not that one"
        return "REFUSED", str(error) if type(error) is ValueError else f"no certificate of this table: {error!r}"
    return "VERIFIED", "every claim follows from the table"


if __name__ == "__main__":
    try:
        answer = judge(Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2])
    except (IndexError, OSError, ValueError) as error:
        answer = "CANNOT CHECK", f"two files are needed: {error!r}"
    print(*answer, sep=": ")
    sys.exit(["VERIFIED", "REFUSED", "CANNOT CHECK"].index(answer[0]))
