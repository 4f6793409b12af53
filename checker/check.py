"""Check a certificate of maxmargin against its table: exact arithmetic, the standard library, no code of maxmargin.

    python check.py CERTIFICATE.json TABLE.csv|TABLE.svm [--label NAME] [--weight NAME]

VERIFIED (exit code 0), REFUSED and why (1), or CANNOT CHECK and why (2). docs/certificate_format.md explains the fields.
Row i of the table is x_i, with y_i = +1 where its label is `positive` and -1 where it is `negative` (null: all others).
All numbers are doubles, hence rational; roots are compared by their squares. These inequalities are the proofs, where
f_i = y_i (w.x_i + b), and |.|_* is the dual norm: l2 for l2, the largest coordinate for l1.

Separation. The best margin g* is the largest min_i f_i / |w| of all planes (w, b).
    margin_lower      min_i f_i / |w| <= g*, for the plane that is given.
    margin_upper      Weights l >= 0 give p = sum_+ l_i x_i / sum_+ l_i - sum_- l_i x_i / sum_- l_i. For every plane
                      2 min_i f_i <= w.p <= |w| |p|_*, so that g* <= |p|_* / 2. For planes with b = 0 alike:
                      p = sum l_i y_i x_i / sum l_i and g* <= |p|_*.
    not separable     Some l >= 0, l != 0 have sum l_i y_i x_i = 0 (and sum l_i y_i = 0, unless b = 0). Then
                      sum l_i f_i = 0 for every plane, and no plane has all f_i > 0. The weights given are near such l.
    weakly separable  Moreover some plane, near the given one, has all f_i >= 0 and some f_i > 0.
Soft margin. P(w, b) = 1/2 |w|^2 + sum C_i loss(1 - f_i) is to be least; C_i = C times class weight times row weight.
    primal            min P <= P of the plane that is given.
    dual              C loss(t) >= a t - q a^2 / 2 for 0 <= a <= u: hinge max(0, t): u = C, q = 0; its square: u = inf,
                      q = 1 / (2 C). Summed up, with sum a_i y_i = 0 (unless b = 0): for every plane P >= D(a), where
                      D(a) = sum a_i - 1/2 |sum a_i y_i x_i|^2 - 1/2 sum q_i a_i^2. The weights given, in [0, u], become
                      such a: the class of the larger sum is scaled down to the other's, then all by the best factor.
Kernel margin. The same with phi(x) for x, phi(x).phi(x') = k(x, x'); the plane is w = sum a_i y_i phi(x_i), a balanced as
    above. C = inf, the hard margin: all f_i >= 1, and the plane is divided by its least f_i. Not separable: as above, by
    sum_j k(x_i, x_j) y_j l_j = 0 for the rows i with l_i > 0, which says |sum l_j y_j phi(x_j)|^2 = 0.
Kernel separation. w = sum a_i y_i phi(x_i) is the plane and w / sum a_i is p; with fit_intercept, k + 1 stands for k.
OPTIMAL is (primal - dual) / primal <= tol, of margins (upper - lower) / upper <= tol; BOUNDED is not that.
The figures of kkt and of theorems prove nothing: they are computed anew, and may differ as float64 rounds. What the run
alone knows (tol, further_look, what was counted) is taken as its report.
"""

import argparse
import csv
import hashlib
import itertools
import json
import math
import sys
from collections import Counter
from fractions import Fraction
from operator import mul
from typing import Any

U, INF = 2.0**-53, math.inf  # the largest relative error of one rounding
LOSSES = {"hinge": (Fraction(1), Fraction(0)), "squared_hinge": (INF, Fraction(1, 2))}  # u / C and q C
SHARED = "verdict positive negative n_rows n_columns rows weights primal dual kkt theorems "
KINDS = {  # of each kind of certificate: its fields, its verdicts
    "separation": (SHARED + "norm fit_intercept w b margin_lower margin_upper tol rows_off_plane further_look",
                   "OPTIMAL SEPARABLE WEAKLY_SEPARABLE NOT_SEPARABLE UNDECIDED STOPPED"),
    "soft margin": (SHARED + "loss C class_weight fit_intercept w b tol", "OPTIMAL BOUNDED"),
    "kernel margin": (SHARED + "kernel gamma coef0 degree C class_weight b tol", "OPTIMAL BOUNDED NOT_SEPARABLE"),
    "kernel separation": (SHARED + "kernel gamma coef0 degree fit_intercept margin_lower margin_upper",
                          "SEPARABLE UNDECIDED STOPPED"),
}  # fmt: skip
CONDITIONS = ("stationarity", "primal", "dual", "slackness", "bias")
FORMS = {  # of the fields that are one number, one truth value, a list
    "b C gamma coef0 margin_lower margin_upper primal dual tol": lambda value: is_number(value),
    "n_rows n_columns degree": lambda value: type(value) is int and value >= 0,
    "fit_intercept": lambda value: type(value) is bool,
    "w weights": lambda value: all(is_number(one) and abs(one) < INF for one in value),
    "rows": lambda value: all(type(one) is int for one in value) and len(set(value)) == len(value),
    "positive negative": lambda value: value is None or isinstance(value, str | int | float) and value == value,
    "class_weight": lambda value: all(is_number(own) and 0 < own < INF and not value[:i].count(label) for i, (label, own) in enumerate(value)),
    "rows_off_plane": lambda value: value is None or (type(value) is int and value >= 0),
    "further_look": lambda value: value in ("NOT_ASKED", "FOUND", "NONE_FOUND", "TOO_LARGE", "NO_TIME"),
    "kkt": lambda value: value is None or set(value) == set(CONDITIONS) and all(set(one) == {"value", "row"} and is_number(one["value"]) and type(one["row"]) is int for one in value.values()),
    "theorems": lambda value: all(set(one) == {"name", "bound", "measured", "at_most"} and is_number(one["bound"]) and is_number(one["measured"]) and type(one["at_most"]) is bool for one in value),
}
BROKEN = ("the bias is not regularised", "the steps are not 1 / (lambda t)", "the run went on from an earlier fit",
          "the last sweep was cut short")  # fmt: skip
Row = tuple[Any, list[Any]]  # columns, and what stands there


class Answer(Exception):
    """REFUSED or CANNOT CHECK, and why."""


def require(holds: Any, why: str, answer: str = "REFUSED") -> None:
    if not holds:
        raise Answer(answer, why)


def is_number(value: Any) -> bool:
    return type(value) in (int, float) and value == value


def exact(numbers: list[float]) -> tuple[list[int], Fraction]:
    """Doubles as integers times one power of two."""
    ratios = [number.as_integer_ratio() for number in numbers]
    common = max((denominator for _, denominator in ratios), default=1)
    return [numerator * (common // denominator) for numerator, denominator in ratios], Fraction(1, common)


def real(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.copysign(INF, number)


def root(number: Fraction) -> Fraction:
    """The square root, to 200 binary digits."""
    shift = 2 * max(0, 200 + number.denominator.bit_length() - number.numerator.bit_length())
    return Fraction(math.isqrt((number.numerator << shift) // number.denominator), 1 << shift // 2)


def dot(row: Row, vector: Counter[int]) -> int:
    return sum(map(mul, row[1], map(vector.__getitem__, row[0])))


def null_point(lines: list[list[int]], point: list[Fraction]) -> list[Fraction]:
    """A solution of lines.z = 0 near the point: as many coordinates as the lines have rank are solved for, by Gauss and
    Jordan in integers with the largest pivots; the others stay."""
    lines, solved, divisor = [list(line) for line in lines], {}, 1
    while True:
        left, free = set(range(len(lines))) - set(solved), sorted(set(range(len(point))) - set(solved.values()))
        size, i, j = max(((abs(lines[i][j]), i, j) for i in left for j in free), default=(0, 0, 0))
        if size == 0:
            found = {at: -sum(lines[i][j] * point[j] for j in free) / divisor for i, at in solved.items()}
            return [found.get(j, own) for j, own in enumerate(point)]
        pivot, solved[i] = lines[i], j
        for k in set(range(len(lines))) - {i}:
            lines[k] = [(pivot[j] * a - lines[k][j] * b) // divisor for a, b in zip(lines[k], pivot, strict=True)]
        divisor = pivot[j]


def read(path: str, label: str | None, weight: str | None, about: dict[str, Any]) -> dict[str, Any]:
    """The rows of a file, their labels as text and their weights; the number of columns, and whether more may be 0."""
    with open(path, encoding="utf-8", newline="") as file:
        if path.endswith((".csv", ".tsv")):
            names, *lines = csv.reader(file, delimiter="\t" if path.endswith(".tsv") else ",")
            label, weight = label or about.get("label") or names[-1], weight or about.get("weight")
            for name in filter(None, (label, weight)):
                require(names.count(name) == 1, f"the table has no column {name!r}, or two", "CANNOT CHECK")
            short = next((i for i, cells in enumerate(lines) if len(cells) != len(names)), None)
            require(short is None, f"row {short} has not one cell for each column", "CANNOT CHECK")
            columns = [j for j, name in enumerate(names) if name not in (label, weight)]
            rows: list[Row] = [(range(len(columns)), [float(line[j]) for j in columns]) for line in lines]
            labels = [line[names.index(label)] for line in lines]
            weights = [1.0 if weight is None else float(line[names.index(weight)]) for line in lines]
            return {"rows": rows, "labels": labels, "weights": weights, "width": len(columns), "more": False}
        lines = [words for line in file if (words := line.partition("#")[0].split())]
    labels = [about.get("labels", {}).get(words[0], words[0]) for words in lines]
    pairs = [[word.split(":") for word in words[1:] if not word.startswith("qid:")] for words in lines]
    used = [int(index) for line in pairs for index, _ in line]
    first = min([1, *used])  # counted from 1, or from 0 where there is a 0
    rows = [([int(j) - first for j, v in line if float(v)], [float(v) for _, v in line if float(v)]) for line in pairs]
    weights = about.get("weights") or [1.0] * len(rows)
    return {"rows": rows, "labels": labels, "weights": weights, "width": max([0, *used]) + 1 - first, "more": True}


def same(text: str, label: Any) -> bool:
    """Whether the text of a table is this label: 1, +1 and 1.0 are the same number."""
    try:
        return text == str(label) or (not isinstance(label, str) and Fraction(text) == Fraction(label))
    except ValueError:
        return False


class Problem:
    """The rows that a certificate speaks of, in integers, and inner products in the space of its kernel."""

    def __init__(self, c: dict[str, Any], table: dict[str, Any]) -> None:
        labels, weights, prices = table["labels"], table["weights"], c.get("class_weight", [])
        side, price = {}, {}
        for text in set(labels):
            other = c["negative"] is None or same(text, c["negative"])
            side[text] = 1 if same(text, c["positive"]) else -1 if other else 0
            price[text] = next((own for name, own in prices if same(text, name)), 1.0)
        require(all(any(same(text, name) for text in side) for name, _ in prices), "class_weight names no label")
        self.kept = kept = [i for i, text in enumerate(labels) if side[text] and weights[i] > 0.0]
        self.signs = [side[labels[i]] for i in kept]
        fits = table["width"] == c["n_columns"] or (table["more"] and table["width"] < c["n_columns"])
        require(fits and len(kept) == c["n_rows"], "the certificate is about another number of rows or columns")
        self.costs = [c.get("C", INF) * (price[labels[i]] * weights[i]) for i in kept]
        finite = all(0.0 < cost < INF or cost == c.get("C", INF) == INF for cost in self.costs)
        require(finite, "C times the weights must be positive and finite")
        cells, self.unit = exact([cell for i in kept for cell in table["rows"][i][1]])
        taken, rows = iter(cells), [table["rows"][i] for i in kept]
        self.rows = [(columns, list(itertools.islice(taken, len(own)))) for columns, own in rows]
        self.largest = max(map(abs, cells), default=0) * self.unit
        place = {row: i for i, row in enumerate(kept)}
        require(set(c["rows"]) <= set(place), "a row with a weight is not part of this problem")
        weights, self.weight_unit = exact([float(weight) for weight in c["weights"]])
        self.weights = {place[row]: weight for row, weight in zip(c["rows"], weights, strict=True)}
        # k(x, x') is ((scale x.x' + offset)^degree + lift) times k_unit
        self.kernel, self.degree = c.get("kernel", "linear"), c.get("degree", 1)
        gamma, coef0 = Fraction(c.get("gamma", 1.0)) * self.unit**2, Fraction(c.get("coef0", 0.0))
        common = max(gamma.denominator, coef0.denominator)
        self.scale, self.offset, self.k_unit = int(gamma * common), int(coef0 * common), Fraction(1, common**self.degree)
        self.k_unit = {"precomputed": self.unit, "rbf": Fraction(1)}.get(self.kernel, self.k_unit)
        self.lift = int(1 / self.k_unit) if "kernel" in c and c.get("fit_intercept") else 0

    def k(self, i: int, others: list[int]) -> list[int]:
        """The kernel of row i and the others. That of rbf is not rational: in its place, whether the rows are equal, as
        it makes combinations of rows vanish in the same cases."""
        if self.kernel == "rbf":
            return [int(self.rows[i] == self.rows[j]) for j in others]
        x = Counter(dict(zip(*self.rows[i], strict=True)))
        if self.kernel == "precomputed":
            return [x[self.kept[j]] + self.lift for j in others]
        return [(self.scale * dot(self.rows[j], x) + self.offset) ** self.degree + self.lift for j in others]

    def radius(self) -> Fraction:
        """max k(x, x)."""
        return max(self.k(i, [i])[0] for i in range(len(self.rows))) * self.k_unit

    def combination(self, coefficients: dict[int, int]) -> Counter[int]:
        """sum_j c_j x_j in units of `unit`."""
        total: Counter[int] = Counter()
        for j, own in coefficients.items():
            for column, cell in zip(*self.rows[j], strict=True):
                total[column] += own * cell
        return total

    def span(self, coefficients: dict[int, int]) -> tuple[list[Fraction], Fraction]:
        """w = sum_j c_j phi(x_j): w.phi(x_i) of every row, and |w|^2."""
        if self.degree == 1 and self.kernel in ("linear", "poly"):
            w, constant = self.combination(coefficients), (self.offset + self.lift) * sum(coefficients.values())
            values = [self.scale * dot(row, w) + constant for row in self.rows]
        else:
            support, own = list(coefficients), list(coefficients.values())
            values = [sum(map(mul, own, self.k(i, support))) for i in range(len(self.rows))]
        square = sum(own * values[j] for j, own in coefficients.items())
        require(square >= 0, "the kernel is not positive semidefinite")
        return [value * self.k_unit for value in values], square * self.k_unit

    def values(self, w: list[float]) -> list[Fraction]:
        """w.x_i of every row."""
        integers, unit = exact([float(own) for own in w])
        vector = Counter(dict(enumerate(integers)))
        return [dot(row, vector) * (unit * self.unit) for row in self.rows]

    def balanced(self, bias: bool) -> tuple[dict[int, int], int, int]:
        """c and s: c_i / s are the weights times y_i, of sum 1 in each class (without a bias: in all). And t: c_i t / s
        are those with the class of the larger sum scaled down to the other's, in units of weight_unit."""
        plus, minus = (sum(a for i, a in self.weights.items() if self.signs[i] == sign) for sign in (1, -1))
        if not bias:
            return {i: self.signs[i] * a for i, a in self.weights.items()}, plus + minus, plus + minus
        both = {i: a * minus if self.signs[i] > 0 else -a * plus for i, a in self.weights.items()}
        return both, plus * minus, min(plus, minus)

    def meets(self, c: dict[int, int], bias: bool) -> bool:
        """Whether some z >= 0, near 1, make sum z_i c_i phi(x_i) = 0, and sum z_i c_i = 0 with a bias."""
        support = [i for i, own in c.items() if own]
        lines = [[k * c[j] for j, k in zip(support, self.k(i, support), strict=True)] for i in support]
        lines += [[c[j] for j in support]] if bias else []
        z = null_point(lines, [Fraction(1)] * len(support))
        return any(z) and min(z) >= 0 and not any(sum(map(mul, line, z)) for line in lines)

    def off_plane(self, w: list[Fraction], b: Fraction, f: list[Fraction], bias: bool) -> int:
        """Through the rows that are as good as on the plane goes one nearby: how many rows are off it, on their side;
        0 if one is on the wrong side."""
        face = [i for i, own in enumerate(f) if abs(own) * 10**9 <= max(map(abs, f))]
        lines = [[Counter(dict(zip(*self.rows[i], strict=True)))[j] for j in range(len(w))] + [int(1 / self.unit)] * bias for i in face]
        shifts = [max((abs(line[j]) for line in lines), default=0).bit_length() for j in range(len(w) + bias)]
        scaled = [[cell << max(shifts) - shift for cell, shift in zip(line, shifts, strict=True)] for line in lines]
        z = null_point(scaled, [own / 2 ** (max(shifts) - shift) for own, shift in zip([*w, b], shifts, strict=False)])
        plane = [own * 2 ** (max(shifts) - shift) for own, shift in zip(z, shifts, strict=True)]
        over = math.lcm(*(own.denominator for own in plane))
        vector, constant = Counter({j: int(own * over) for j, own in enumerate(plane[: len(w)])}), int(plane[-1] * over / self.unit) * bias
        moved = [sign * (dot(row, vector) + constant) for sign, row in zip(self.signs, self.rows, strict=True)]
        return sum(own > 0 for own in moved) if min(moved) >= 0 else 0


def figure(c: dict[str, Any], name: str, low: float, high: float, blur: float, rows: Any = (-1,)) -> None:
    """A condition is violated by what is said, up to rounding, and one of these rows is named."""
    said, allowed = c["kkt"][name], 1e-6 * (1e-6 + high) + blur
    within = low - allowed <= said["value"] <= high + allowed or said["value"] == low
    require(said["value"] >= 0.0 and within, f"the condition of {name} is violated by {low:.3g}, not {said['value']:.3g}")
    require(said["row"] in rows, f"the condition of {name} names row {said['row']}")


def gap(c: dict[str, Any], low: float, high: float) -> None:
    require(low <= high, "the lower bound is above the upper bound")
    proven = abs(low) < INF and high < INF and Fraction(high) - Fraction(low) <= Fraction(c["tol"]) * Fraction(high)
    require(c["verdict"] != "OPTIMAL" or proven, "the gap is above tol: not optimal")
    require(c["verdict"] != "BOUNDED" or not proven, "the gap is within tol: optimal, and not less")


def objective(margin: float, norm: str) -> float:
    return INF if not margin > 0.0 else 0.0 if margin == INF else 0.5 / margin / margin if norm == "l2" else 1.0 / margin


def separation(c: dict[str, Any], P: Problem) -> None:
    has_plane, verdict, lower, upper = "w" in c, c["verdict"], c["margin_lower"], c["margin_upper"]
    bias, norm, witnessed = c["fit_intercept"] and has_plane, c.get("norm", "l2"), verdict in ("NOT_SEPARABLE", "WEAKLY_SEPARABLE")
    n, s, _ = P.balanced(bias)
    if has_plane:
        require(bias or c["b"] == 0.0, "the plane should pass through the origin")
        w, b, p = [Fraction(own) for own in c["w"]], Fraction(c["b"]), P.combination(n)
        f = [sign * (value + b) for sign, value in zip(P.signs, P.values(c["w"]), strict=True)]
        p = [p[j] * P.unit / max(s, 1) for j in range(len(w))]
        size, star = sum(own * own for own in w), sum(own * own for own in p)
        if norm == "l1":
            size, star = sum(map(abs, w)) ** 2, max(map(abs, p), default=0) ** 2
    else:
        values, size = P.span(n)
        f, star = [sign * value for sign, value in zip(P.signs, values, strict=True)], size / max(s, 1) ** 2
    m, sides = min(f, default=Fraction(0)), 2 if bias else 1
    proven = lower == -INF or (lower < INF and f and size and m * abs(m) >= Fraction(lower) * abs(Fraction(lower)) * size)
    require(proven, f"the margin of the plane is not {lower!r}")
    if not witnessed:
        require(upper > 0.0 or not has_plane, "only a witness makes the upper bound 0")
        proven = upper == INF or (s and upper >= 0.0 and star <= (sides * Fraction(upper)) ** 2)
        require(proven, f"the weights do not prove an upper bound of {upper!r}")
    require(c["primal"] == objective(lower, norm) and c["dual"] == objective(upper, norm), "primal, dual: not of the margins")
    require((verdict in ("OPTIMAL", "SEPARABLE")) == (lower > 0.0), "the verdict does not follow from margin_lower")
    if not has_plane:
        require(lower <= upper, "the lower bound is above the upper bound")
        theorems(c, {NOVIKOV: [(real(P.radius()) / lower / lower,) * 2 if lower > 0.0 else (INF, INF)]})
        return
    off = None
    if witnessed:
        require(upper == 0.0, "a witness makes the upper bound 0")
        require(s and P.meets(n, bias), "the witness does not hold: no combination of its rows vanishes")
        spread = sides * (root(P.radius()) if norm == "l2" else P.largest)
        require(real(root(star)) <= 4.0 * 1.01 * U * (len(n) + 3) * real(spread), "the weights are not those of the witness")
        if verdict == "WEAKLY_SEPARABLE":
            off = P.off_plane(w, b, f, bias)
            require(off, "the plane has rows on its wrong side, or all rows on itself")
    else:
        gap(c, lower, upper)
    require(c["rows_off_plane"] in (None, off), f"{off} rows are off the plane")
    require(off or c["further_look"] != "FOUND", "no weakly separating plane was found")
    require((c["kkt"] is not None) == (lower > 0.0 and s > 0 and star > 0), "kkt is missing, or out of place")
    size, star = root(size), root(star)
    error = 1.02 * U * (len(w) + 8) * (sum(map(abs, w)) * P.largest + abs(b)) # of f_i
    if c["kkt"] is not None:
        missing = [real(1 - own / m) for own in f]
        share = {i: real(Fraction(abs(own), s * sides)) for i, own in n.items()}
        cosine = sum(map(mul, w, p)) / (size * star)
        station = real(1 - cosine) if norm == "l1" else real(root(max(Fraction(0), 2 - 2 * cosine)))
        spread = sides * (root(P.radius()) if norm == "l2" else P.largest)
        blur = 4.0 * real(error / m + 1.02 * U * (len(n) + len(w) + 8) * spread / star)
        slack = {i: -own * missing[i] for i, own in share.items()}
        own = [P.signs[i] * missing[i] for i, weight in share.items() if weight > 0.0]
        figure(c, "stationarity", max(0.0, station), max(0.0, station), blur)
        figure(c, "primal", 0.0, 0.0, blur, [P.kept[i] for i, one in enumerate(f) if one <= m + 2 * error])
        figure(c, "dual", 0.0, 0.0, 0.0, [P.kept[i] for i, one in share.items() if one <= min(share.values()) + 1e-12])
        worst = max(slack.values())
        named = [P.kept[i] for i, one in slack.items() if one >= worst - 1e-6 * (1e-6 + worst) - blur]
        figure(c, "slackness", max(0.0, worst), max(0.0, worst), blur, named)
        spread = max(own) - min(own) if bias else 0.0
        figure(c, "bias", spread, spread, blur)
    theorems(c, promised(c, P, m, error) if c["theorems"] else {})


NOVIKOV = "Novikov: mistakes <= R^2/g^2"
SHARE = "halving: share of the best lifted margin, promised and proven"


def promised(c: dict[str, Any], P: Problem, m: Fraction, error: Fraction) -> dict[str, list[tuple[float, float]]]:
    """What theorems about learning by mistakes promise of rows (x_i, 1), or x_i without a bias: the least and the most
    that rounding of the margin leaves possible. Out of the safe range rows are first multiplied by a power of two."""
    w, bias, largest = [Fraction(own) for own in c["w"]], int(c["fit_intercept"]), real(P.largest)
    far = largest and not 2.0**-100 <= largest <= 2.0**100
    scale = Fraction(2) ** (min(1000, -math.frexp(largest)[1]) if far else 0)
    size = sum(own * own for own in w) / scale**2 + bias * Fraction(c["b"]) ** 2

    def over(square: Fraction, factor: float = 1.0) -> tuple[float, float]:
        least, most = (m - error, m + 2 * error) if any(w) else (0, 0)
        return tuple(factor * real(square / g**2) if g > 0 else INF for g in (most, least))

    lifted = (P.radius() * scale**2 + bias) * size
    winnow = ((P.largest or 1) * sum(map(abs, w)) + bias * abs(Fraction(c["b"]))) ** 2
    logs = [math.log(len(w) * sides + 2 * bias or 1) for sides in (1, 2)]
    summed, total = P.combination({i: P.signs[i] * a for i, a in P.weights.items()}), sum(P.weights.values())
    hull = sum((own * P.unit * scale) ** 2 for own in summed.values()) + bias * sum(P.signs[i] * a for i, a in P.weights.items()) ** 2
    low, high = over(lifted)
    proven = math.sqrt(real(max(m - error, Fraction(0)) ** 2 * total**2 / (size * hull))) * low / high if hull and size and high < INF else 0.0
    for one in c["theorems"]:
        fits = one["name"] != SHARE or proven * (1.0 - 1e-9) <= one["measured"] <= 1.0 + 1e-9
        require(fits, f"the share of the best lifted margin is at least {proven:.6g} and at most 1")
    return {
        NOVIKOV: [over(lifted)],
        "halving: updates <= 64 R^2/g^2": [over(lifted, 64.0)],
        "margin perceptron, G <= g: updates <= 12 R^2/g^2": [over(lifted, 12.0), (INF, INF)],
        SHARE: [(0.25, 0.25)],
        "Winnow, halving: mistakes <= (32/3) ln(m)/g^2": [over(winnow, 32.0 / 3.0 * log) for log in logs],
        "Winnow: mistakes <= ln(m)/(eta (g - eta/2))": [(over(winnow, 2.0 * min(logs))[0], INF)],
        "Winnow, to leading order: mistakes <= (16/3) ln(m)/g^2": [over(winnow, 16.0 / 3.0 * log) for log in logs],
    }


def theorems(c: dict[str, Any], known: dict[str, list[tuple[float, float]]]) -> None:
    for one in c["theorems"]:
        name, bound, counted = one["name"], one["bound"], one["measured"]
        require(name in known, f"there is no theorem {name!r} about this problem")
        fits = any(bound == high or low * (1.0 - 1e-9) <= bound <= high * (1.0 + 1e-9) for low, high in known[name])
        require(fits and one["at_most"] is (name != SHARE), f"the theorem promises something else ({name})")
        require(0.0 <= counted < INF and (name == SHARE or "Pegasos" in name or counted == math.floor(counted)), f"{counted} is no count ({name})")


def soft_margin(c: dict[str, Any], P: Problem) -> None:
    """Of columns and of kernels."""
    hard, bias, b = c["C"] == INF, c.get("fit_intercept", True), Fraction(c["b"])
    box, bend = (INF, Fraction(0)) if hard else LOSSES[c.get("loss", "hinge")]
    require(bias or b == 0, "the plane should pass through the origin")
    for row, weight in zip(c["rows"], c["weights"], strict=True):
        require(weight <= box * P.costs[P.kept.index(row)], f"the weight of row {row} is above its cost")
    n, s, t = P.balanced(bias)
    factor = P.weight_unit * t / s if s else Fraction(0)  # a_i = |n_i| factor
    gain = sum(map(abs, n.values())) * factor
    values, square = P.span(n)
    values, square = [value * factor for value in values], square * factor**2  # of sum a_i y_i phi(x_i)
    if c["verdict"] == "NOT_SEPARABLE":
        require(hard, "only the hard margin can be impossible")
        empty = c["primal"] == c["dual"] == INF and c["b"] == 0.0 and c["kkt"] is None and not c["theorems"]
        require(empty, "where no plane separates, nothing is said of one")
        require(s and P.meets(n, bias), "the witness does not hold: no combination of its rows vanishes")
        a = [sum(own for i, own in P.weights.items() if P.signs[i] == sign) for sign in (1, -1)]
        require(abs(a[0] - a[1]) <= 1e-9 * sum(a), "the weights of the witness differ between the classes")
        require(real(square) <= 4.0 * 300 * U * real(gain**2 * P.radius()), "the weights are not those of the witness")
        return
    if "w" in c:
        w, p = [Fraction(own) for own in c["w"]], P.combination(n)
        inner = sum(own * p[j] for j, own in enumerate(w)) * P.unit * factor
        plane, values = sum(own * own for own in w), P.values(c["w"])
    else:
        plane = inner = square
    f = [sign * (value + b) for sign, value in zip(P.signs, values, strict=True)]
    m = min(f) if hard else Fraction(1)
    if m > 0:
        plane, inner, missing = plane / m**2, inner / m, [1 - own / m for own in f]
        paid = [Fraction(cost) * loss(own, box, bend) if own > 0 else 0 for cost, own in zip(P.costs, missing, strict=True)]
        primal = plane / 2 + sum(paid)
    require(c["primal"] == INF or (m > 0 and primal <= Fraction(c["primal"])), "the objective of the plane is above primal")
    curvature = square
    for cost in set(P.costs) if bend else ():
        squares = sum(own * own for i, own in n.items() if P.costs[i] == cost) * factor**2 * bend / Fraction(cost)
        curvature += squares
    best = gain / curvature if curvature else Fraction(1)
    best = best if box == INF else min(best, Fraction(1))
    endless = hard and gain and not curvature
    proven = c["dual"] <= 0.0 or endless or (c["dual"] < INF and best * gain - best**2 * curvature / 2 >= Fraction(c["dual"]))
    require(proven, f"the weights do not prove a lower bound of {c['dual']!r}")
    gap(c, c["dual"], c["primal"])
    if c["kkt"] is not None:
        require(m > 0, "no plane is known that could meet the conditions of optimality")
        a = [real(abs(n.get(i, 0)) * factor * best) for i in range(len(f))]
        t, P_value, reach = [real(own) for own in missing], real(primal) or 1.0, real(P.radius())
        R = math.sqrt(reach)
        G, T = real(gain), real(best)
        reach = (G * reach if "w" not in c else real(root(plane)) * R) / real(m) + abs(c["b"]) / real(m) + 1.0
        blur = 4.0 * U * (c["n_columns"] * P.degree + 64)
        active = sum(cost for cost, own in zip(P.costs, t, strict=True) if own > -blur * reach) if not hard else 0.0
        of_value = blur * (active * reach + T * G * (1.0 + reach) + (T * G * R) ** 2) / P_value
        bends = [0.0 if not bend else float(bend) / cost for cost in P.costs]
        q = [real(Fraction(own)) for own in paid]
        share = [(pays + bent * own * own / 2.0 - own * miss) / P_value for pays, bent, own, miss in zip(q, bends, a, t, strict=True)]
        worst = max(share)
        between = root(max(Fraction(0), plane - 2 * best * inner + best**2 * square))
        scale = max(root(plane), best * root(square))
        station = real(between / scale) if scale else 0.0
        figure(c, "stationarity", station, station, blur * (T * G * R / (real(scale) or 1.0)) + (blur * (reach + (G * R) ** 2 / (real(square) or 1.0)) if "w" not in c else 0.0))
        figure(c, "primal", 0.0, 0.0, 0.0)
        plus, minus = (sum(own for i, own in P.weights.items() if P.signs[i] == sign) for sign in (1, -1))
        imbalance = abs(plus - minus) / (plus + minus) if bias and plus + minus else 0.0
        figure(c, "dual", imbalance, imbalance, 0.0)
        figure(c, "slackness", worst, worst, of_value, [P.kept[i] for i, own in enumerate(share) if own >= worst - 1e-6 * (1e-6 + worst) - of_value])
        spreads = []
        for inside in (1e-3 * (1 + 1e-6), 1e-3 * (1 - 1e-6)):
            own = [sign * (miss - bent * weight) for sign, miss, bent, weight, cost in zip(P.signs, t, bends, a, P.costs, strict=True) if (inside * box * cost < weight < (1.0 - inside) * box * cost if box < INF else weight > inside * max(a))]
            spreads.append(max(own) - min(own) if own and bias else 0.0)
        figure(c, "bias", *spreads, blur * reach + of_value * max(0.0, *t))
    known = {}
    for chosen in itertools.product((False, True), repeat=4):
        if any(chosen) and chosen[0] == bias:
            why = " and ".join(itertools.compress(BROKEN, chosen))
            known[f"Pegasos, no theorem because {why}: loss met per sweep"] = [(INF, INF)]
    if c["theorems"] and not bias and c["loss"] == "hinge":
        lengths = [math.sqrt(real(sum(v * v for v in row[1]) * P.unit**2)) for row in P.rows]
        r = 2.0 * max(cost / c["C"] * own for cost, own in zip(P.costs, lengths, strict=True)) * len(f) * c["C"]
        most = c["primal"] + 0.5 * r * r * (1.0 + math.log(len(f))) / len(f)
        for radius in ("4 R^2", "(R + lambda r)^2"):
            known[f"Pegasos: loss met per sweep <= P + {radius} (1 + ln T)/(2 lambda^2 T)"] = [(c["primal"], most)]
    theorems(c, known)


def loss(t: Any, box: Any, bend: Any) -> Any:
    return t * t / (2 * bend) if t <= box * bend else box * t - box * box * bend / 2


def check(c: dict[str, Any], table: dict[str, Any]) -> None:
    """Of two classes."""
    kind = ("kernel " if "kernel" in c else "soft " if "C" in c else "") + ("margin" if "C" in c else "separation")
    fields, verdicts = (words.split() for words in KINDS[kind])
    c = {**{name: own for name, own in {"theorems": [], "rows_off_plane": None, "further_look": "NOT_ASKED"}.items() if name in fields}, **c}
    require(set(c) == set(fields), f"a certificate of a {kind} has the fields {sorted(fields)}")
    for names, fits in FORMS.items():
        for name in names.split():
            require(name not in c or fits(c[name]), f"{name} cannot be {c.get(name)!r}")
    require(c["verdict"] in verdicts, f"the verdict {c['verdict']!r} is not known")
    require(c["positive"] is not None and c["positive"] != c["negative"], "the two sides must have labels of their own")
    require(len(c["rows"]) == len(c["weights"]) and min(c["weights"], default=0) >= 0, "rows and weights do not match, or a weight is negative")
    if "tol" in c:
        require(0.0 < c["tol"] < 1.0 or (kind == "separation" and c["tol"] == 0.0), "tol must be above 0 and below 1")
    require(abs(c.get("b", 0.0)) < INF and len(c.get("w", range(c["n_columns"]))) == c["n_columns"], "the plane is not finite or has the wrong length")
    require(c.get("norm", "l2") in ("l1", "l2") and c.get("loss", "hinge") in LOSSES, "the norm or the loss is not known")
    require(c.get("C", 1.0) > 0.0 and (c.get("C", 1.0) < INF or "kernel" in c), "C must be positive, and finite unless a kernel has it")
    if "kernel" in c:
        name, gamma, coef0, degree = (c[name] for name in ("kernel", "gamma", "coef0", "degree"))
        witness = kind == "kernel margin" and c["verdict"] == "NOT_SEPARABLE"
        require(name != "function" and (name != "rbf" or witness), f"the kernel {name} has no rational values", "CANNOT CHECK")
        require(degree <= 1000, "the polynomial is too long to be written out", "CANNOT CHECK")
        require(name in ("linear", "poly", "rbf", "precomputed"), f"the kernel {name!r} is not known")
        require(name == "poly" or (coef0 == 0.0 and degree == 1 and gamma == (gamma if name == "rbf" else 1.0)), f"the kernel {name} has no such numbers")
        require(0.0 <= gamma < INF and 0.0 <= coef0 < INF, "gamma and coef0 must be at least 0 and finite")
    P = Problem(c, table)
    if P.kernel == "precomputed":
        require(all(row < c["n_columns"] for row in P.kept) and len(P.kept) <= c["n_columns"], "a precomputed kernel needs a column for each row")
        K = [P.k(i, list(range(len(P.kept)))) for i in range(len(P.kept))]
        skew = max((abs(K[i][j] - K[j][i]) for i in range(len(K)) for j in range(i)), default=0) * P.unit
        require(real(skew) <= 1e-9 * real(P.largest), "a precomputed kernel is symmetric")
    (soft_margin if "C" in c else separation)(c, P)


def check_all(c: Any, table: dict[str, Any]) -> None:
    parts = c["parts"] if "parts" in c else [c]
    if "parts" in c:
        require(parts and len({frozenset(part) for part in parts}) == 1, "the parts must be of one kind, and there must be some")
        sides = [[label for label in (part["positive"], part["negative"]) if label is not None] for part in parts]
        require(len({len(side) for side in sides}) == 1, "some parts are about a class against the rest, others about a pair")
        labels = []
        for label in itertools.chain(*sides):
            labels += [label] if label not in labels else []
        expected = [set(pair) for pair in itertools.combinations(range(len(labels)), len(sides[0]))]
        found = [{labels.index(label) for label in side} for side in sides]
        require(len(found) == len(expected) and all(found.count(pair) == 1 for pair in expected), "there must be one part for every class, or for every pair")
        strange = [text for text, weight in zip(table["labels"], table["weights"], strict=True) if weight > 0.0 and not any(same(text, label) for label in labels)]
        require(not strange, f"the table has labels that no part is about: {strange[:3]}")
    for part in parts:
        check(part, table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("certificate")
    parser.add_argument("table")
    parser.add_argument("--label")
    parser.add_argument("--weight")
    asked = parser.parse_args()
    answer = answer_of(asked.certificate, asked.table, asked.label, asked.weight)
    print(*answer, sep=": ")
    return ["VERIFIED", "REFUSED", "CANNOT CHECK"].index(answer[0])


def parsed(text: str) -> Any:
    return json.loads(text, object_hook=lambda one: float(one["number"]) if set(one) == {"number"} else one)


def judge(c: Any, table: dict[str, Any]) -> tuple[str, str]:
    try:
        require(all(abs(cell) < INF for _, own in table["rows"] for cell in own), "the table holds a number that is not finite")
        check_all(c, table)
    except Answer as answer:
        return answer.args
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        return "REFUSED", f"not a certificate: {error!r}"
    return "VERIFIED", "every claim follows from the table"


if __name__ == "__main__":
    sys.exit(main())
