"""Beside the proofs: the figures of a certificate, which prove nothing, computed anew and compared.

`python figures.py CERTIFICATE.json TABLE.csv|TABLE.svm` says what check.py says, and REFUSED too where a figure is not
what it is said to be. A mistake in here can hide no false bound: check.py, which stands beside it, decides these alone.

kkt: the conditions of Karush, Kuhn and Tucker at the plane and at the weights, the largest violation of each. f_i >= 1
is the street: the plane of a hard margin is divided by m = min f_i first; t_i = 1 - f_i. a are the feasible weights.
    stationarity   |w - w(a)| over the larger of the two lengths; separation: of the directions (l1: 1 - their cosine)
    primal         0, by the choice of m or of the losses; of a separation, the row is one with f_i = m
    dual           |sum a_i y_i| / sum a_i of the weights as they are given; of a separation, the row carries least
    slackness      the largest share of a row in the gap, C_i loss(t_i) + q_i a_i^2 / 2 - a_i t_i, over P (separation:
                   over sum a_i); its row
    bias           y_i (t_i - q_i a_i), highest minus lowest, over the rows that carry weight and are not at their limit
theorems: what each promises for the rows at hand, with g the margin of the plane, or of one that is recorded with the
theorem, (w_1, ..., w_d, b), and R the length of the longest row.
    Novikov, halving, guess   1, 64, 12 times R^2 / g^2, in l2, of the rows (x_i, 1), or x_i without a bias
    Winnow                    (32/3), (16/3) or at least 2 times ln(m) / g^2, in l1, rows divided by the largest number
    share of the best margin  at least the lifted g over |sum l_i y_i (x_i, 1)| / sum l_i, at most 1
    Pegasos                   above P, by at most what one sweep leaves open; nothing where a condition is broken
They were computed in float64, and are compared up to what rounding can have done.
"""

import importlib.util
import itertools
import math
import re
import sys
from fractions import Fraction
from operator import truediv
from pathlib import Path
from typing import Any

SPEC: Any = importlib.util.spec_from_file_location("check", Path(__file__).with_name("check.py"))
check: Any = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check)
require, INF, ONE, U, ZERO = check.require, check.INF, check.ONE, check.U, Fraction(0)

NEAR = Fraction(1e-6)  # how far a figure may be off, relatively, beside its own rounding
SLACK = Fraction(1e-9)  # likewise the bound of a theorem
LEAST_BEND, LIGHTEST = Fraction(1, 2**1000), 2**900  # sum q a^2, and the lighter class over the heavier one
INSIDE = Fraction(1e-3)  # weights nearer to their limits do not tell b
CONDITIONS = {"stationarity", "primal", "dual", "slackness", "bias"}
LOOKS = ("NOT_ASKED", "FOUND", "NONE_FOUND", "TOO_LARGE", "NO_TIME")
NOVIKOV = "Novikov: mistakes <= R^2/g^2"
SHARE, OTHER_SHARE = (
    f"{way}: share of the best lifted margin, promised and proven" for way in ("halving", "shrinking")
)
OF_LIFTED = {NOVIKOV: 1, "halving: updates <= 64 R^2/g^2": 64, "margin perceptron, G <= g: updates <= 12 R^2/g^2": 12}
TO_A_SHARE = (  # c = 2 (1 + e)/e^2, e = 1 - sqrt(s): the second takes c, the first c / (s (1 - s))
    "shrinking to the share {!r}: updates <= c/(s (1 - s)) R^2/g^2, c = 2 (1 + e)/e^2, e = 1 - sqrt(s)",
    "margin perceptron to the share {!r}, G <= g: updates <= c R^2/g^2, c = 2 (1 + e)/e^2, e = 1 - sqrt(s)",
)
OF_WINNOW = {
    "Winnow, halving: mistakes <= (32/3) ln(m)/g^2": Fraction(32, 3),
    "Winnow, to leading order: mistakes <= (16/3) ln(m)/g^2": Fraction(16, 3),
    "Winnow: mistakes <= ln(m)/(eta (g - eta/2))": 2,
}
UNIT_ROWS = ", rows at length 1"
IN_A_NAME = re.compile(r"to the share (0\.\d+|\d\.?\d*e-\d+)[:,]")
PEGASOS = "Pegasos: loss met per sweep <= P + {} (1 + ln T)/(2 lambda^2 T)"
BROKEN = (
    "the bias is not regularised",
    "the steps are not 1 / (lambda t)",
    "the run went on from an earlier fit",
    "the last sweep was cut short",
)


def unit_name(name: str) -> str:
    """The same theorem about rows at length 1, where R = 1."""
    return name.replace("<= R^2", "<= 1").replace(" R^2", "") + UNIT_ROWS


Bounds = dict[str, list[tuple[Any, Any]]]  # by the name of a theorem: from the least to the most that it can promise


def root(number: Fraction) -> Fraction:
    """The square root, to 200 binary digits."""
    number = Fraction(number)
    shift = 2 * max(0, 200 + number.denominator.bit_length() - number.numerator.bit_length())
    return Fraction(math.isqrt((number.numerator << shift) // number.denominator), 1 << shift // 2)


def double(number: Any) -> float:
    """An ArithmeticError where it is beyond doubles."""
    require(type(number) in (int, float, Fraction), "a figure is no number")
    return float(number)


def loss(t: Fraction, box: Any, bend: Fraction) -> Any:
    """loss(t), by its u / C and q C."""
    return ZERO if t <= 0 else t**2 / (2 * bend) if t <= box * bend else box * t - box**2 * bend / 2


class Figures(check.Problem):  # type: ignore[misc]
    """A problem whose figures are looked at, after its proofs."""

    def prepare(self) -> None:
        """What several figures need: w.p, max |x_ij|, max |phi(x)|^2, and how far float64 may be off in one f_i."""
        self.largest = max((abs(cell) * self.unit for row in self.rows for cell in row.values()), default=ZERO)
        self.radius = max(self.k(i, [i])[0] for i in range(len(self.rows)))
        self.inner = sum(own * self.values[i] for i, own in self.n.items())
        reach = sum(map(abs, self.w)) * self.largest if "w" in self.c else self.gain * self.radius
        self.error = Fraction(1.02) * U * (self.d * self.degree + 8) * (reach + abs(self.b))
        require(self.c["kkt"] is None or set(self.c["kkt"]) == CONDITIONS, "kkt has other conditions")

    def separation(self) -> None:
        super().separation()
        self.prepare()
        c, m, sides, lower = self.c, min(self.f), 1 + self.bias, self.c["margin_lower"]
        if "kernel" in c:
            require(c["kkt"] is None, "there are no conditions of optimality to be reported")
            bound = self.radius / lower**2 if lower > 0 else INF
            self.compare_theorems({NOVIKOV: [(bound, bound)]})
            return
        require(c.get("further_look", "NOT_ASKED") in LOOKS, "further_look is not known")
        l1, size, star = c["norm"] == "l1", self.w_square, self.square
        if l1:
            size, star = sum(map(abs, self.w)) ** 2, max(map(abs, self.p), default=0) ** 2
        require((c["kkt"] is not None) == (lower > 0 and star > 0), "kkt is missing, or out of place")
        if c["kkt"] is not None:
            share = {i: Fraction(abs(own), self.s * sides) for i, own in self.n.items()}
            cosine = self.inner / root(size * star)
            longest = sides * (self.largest if l1 else root(self.radius))
            blur = 4 * (self.error / m + Fraction(1.02) * U * (len(share) + self.d + 8) * longest * self.s / root(star))
            least = min(share.values()) + Fraction(1e-12)
            rows = {
                "primal": [self.kept[i] for i, own in enumerate(self.f) if own <= m + 4 * self.error],
                "dual": [self.kept[i] for i, own in share.items() if own <= least],
            }
            apart = max(ZERO, 1 - cosine) if l1 else root(max(ZERO, 2 - 2 * cosine))
            a, t = [share.get(i, ZERO) for i in range(len(self.f))], [1 - own / m for own in self.f]
            self.compare_conditions(a, t, value=ONE, apart=apart, blur=blur, rows=rows, carrying=list(share))
        if c.get("theorems"):
            self.compare_theorems(self.promised())

    def soft_margin(self) -> None:
        super().soft_margin()
        c, hard = self.c, self.c["C"] == INF
        if c["verdict"] == "NOT_SEPARABLE":
            return
        self.prepare()
        box, bend = (INF, ZERO) if hard else check.LOSSES[c.get("loss", "hinge")]
        bend = Fraction(c["huber_width"] if bend is None else bend)
        m = min(self.f) if hard else ONE
        if c["kkt"] is not None:
            require(m > 0, "no plane is known that could meet the conditions of optimality")
            costs = [ZERO if hard else Fraction(cost) for cost in self.costs]
            t = [1 - own / m for own in self.f]
            paid = [cost * loss(own, box, bend) for cost, own in zip(costs, t, strict=True)]
            q = [bend / cost if bend else ZERO for cost in costs]
            a = [abs(self.n.get(i, 0)) * self.factor for i in range(len(t))]
            square = self.square * self.factor**2
            bent = square + sum(bending * own**2 for bending, own in zip(q, a, strict=True))
            best = self.gain / bent if bent and (box == INF or self.gain < bent) else ONE
            lost = bend and bent - square < LEAST_BEND  # float64 loses such weights, and reports on none
            lost = lost or (self.bias and min(self.sums) * LIGHTEST <= max(self.sums))
            best = ZERO if lost or not self.gain else best
            value = self.w_square / m**2 / 2 + sum(paid) or ONE
            scale = max(root(self.w_square) / m, best * root(square)) or ONE
            apart = self.w_square / m**2 - 2 * best * self.inner * self.factor / m + best**2 * square
            paying = sum(cost for cost, own in zip(costs, t, strict=True) if own > -self.error)
            blur = 8 * (self.error / m + 16 * U) * (1 + (paying + best * self.gain) / value)
            blur += 64 * U * best * self.gain * root(self.radius) / scale
            self.compare_conditions(
                [best * own for own in a],
                t,
                q,
                paid,
                value=value,
                inside=INSIDE,
                box=box,
                blur=blur,
                apart=root(max(ZERO, apart)) / scale,
                rows={},
                carrying=range(len(t)),
                imbalance=Fraction(abs(self.sums[0] - self.sums[1]), sum(self.sums) or 1) * self.bias,
            )
        self.compare_theorems(self.pegasos(box) if c.get("theorems") else {})

    def compare_conditions(
        self,
        a: list[Fraction],
        t: list[Fraction],
        q: list[Fraction] | None = None,
        paid: list[Fraction] | None = None,
        *,
        value: Fraction,
        apart: Fraction,
        blur: Fraction,
        rows: dict[str, list[int]],
        carrying: Any,
        inside: Fraction = ZERO,
        box: Any = INF,
        imbalance: Fraction = ZERO,
    ) -> None:
        """Each figure is what it is said to be, and the row that is named has it."""
        zeros = [ZERO] * len(t)
        q, paid = q or zeros, paid or zeros
        shares = [(paid[i] + q[i] * a[i] ** 2 / 2 - a[i] * t[i]) / value for i in range(len(t))]
        worst, spreads = max(shares), []
        for edge in (inside * (1 + NEAR), inside * (1 - NEAR)):  # without rows that are at the edge, and with them
            tops = [INF if box == INF else box * Fraction(cost) for cost in self.costs]
            least = [edge * (max(a) if top == INF else top) for top in tops]
            telling = [i for i, top in enumerate(tops) if least[i] < a[i] < (1 - edge) * top]
            own = [self.signs[i] * (t[i] - q[i] * a[i]) for i in telling]
            spreads.append((max(own) - min(own)) * self.bias if own else ZERO)
        slack = [self.kept[i] for i in carrying if shares[i] >= worst - NEAR * (NEAR + worst) - blur]
        figures: dict[str, Any] = {
            "stationarity": (apart, apart, blur, [-1]),
            "primal": (ZERO, ZERO, blur, rows.get("primal", [-1])),
            "dual": (imbalance, imbalance, ZERO, rows.get("dual", [-1])),
            "slackness": (worst, worst, blur, slack),
            "bias": (*spreads, blur, [-1]),
        }
        for name, (low, high, off, named) in figures.items():
            said, allowed = self.c["kkt"][name], NEAR * (NEAR + high) + off
            figure = double(said["value"])
            most = min(high + allowed, 2 + NEAR if name == "stationarity" else INF)  # twice the longer of two lengths
            fits = figure >= 0 and low - allowed <= figure <= most
            require(fits and set(said) == {"value", "row"}, f"the condition of {name} is violated by {float(low):.3g}")
            require(type(said["row"]) is int and said["row"] in named, f"the condition of {name} has another row")

    def compare_theorems(self, own: Bounds) -> None:
        for one in self.c.get("theorems", []):
            name, bound, counted = one["name"], double(one["bound"]), double(one["measured"])
            other = one.get("plane")
            known = own if not other else self.promised(other) if "norm" in self.c else {}
            said = {"name", "bound", "measured", "at_most"} | ({"plane"} & set(one))
            require(name in known and set(one) == said, f"there is no theorem {name!r} about this problem")
            fits = any(bound == high or low * (1 - SLACK) <= bound <= high * (1 + SLACK) for low, high in known[name])
            is_share = name.removesuffix(UNIT_ROWS) in (SHARE, OTHER_SHARE)
            require(fits and one["at_most"] is (not is_share), f"the theorem promises something else ({name})")
            whole = is_share or "Pegasos" in name or counted == counted // 1
            require(0 <= counted < INF and whole, f"what was counted is no count ({name})")

    def promised(self, plane: list[Any] | None = None) -> Bounds:
        """What is promised to learners by mistakes, for the least and the largest g that rounding leaves possible. Rows
        out of the safe range are multiplied by a power of two first, as the solvers see them."""
        w, b, f, error = self.w, self.b, self.f, self.error
        if plane is not None:
            fits = len(plane) == self.d + 1 and all(abs(own) < INF for own in plane) and (self.bias or not plane[-1])
            require(fits, "the plane of a theorem is none")
            w, b = [Fraction(own) for own in plane[:-1]], Fraction(plane[-1])
            values = [sum(w[j] * cell for j, cell in row.items()) * self.unit for row in self.rows]
            f = [sign * (own + b) for sign, own in zip(self.signs, values, strict=True)]
            error = Fraction(1.02) * U * (self.d + 8) * (sum(map(abs, w)) * self.largest + abs(b))
        one, w_sum, exponent = int(self.bias), sum(map(abs, w)), math.frexp(self.largest)[1]
        far = self.largest and not 2**-100 <= self.largest <= 2**100
        scale = Fraction(2) ** (min(1000, -exponent) if far else 0)
        size = Fraction(sum(own**2 for own in w)) / scale**2 + one * b**2
        sides = [[own + off for own in f] if w_sum else [ZERO] for off in (2 * error, -error)]  # at least, at most f_i

        def over(squares: list[Any]) -> tuple[Any, Any]:
            """The most of s_i / f_i^2, for the least and the largest f_i that rounding leaves possible."""
            ends = [max(map(truediv, squares, (own**2 for own in side))) if min(side) > 0 else INF for side in sides]
            return ends[0], ends[1]

        n, longest = len(f), (self.radius * scale**2 + one) * size
        lifted, winnow = over([longest] * n), over([((self.largest or 1) * w_sum + one * abs(b)) ** 2] * n)
        known = self.theorems_from(lifted, winnow, w, plane is not None)
        shares = {False: lifted}
        if any(theorem["name"].endswith(UNIT_ROWS) for theorem in self.c["theorems"]):
            self.squares = [self.k(i, [i])[0] * scale**2 + one for i in range(n)]
            tops = [max([one, *(abs(cell) * self.unit * scale for cell in row.values())]) ** 2 for row in self.rows]
            v_sum = (w_sum / scale + one * abs(b)) ** 2
            shares[True] = over([own * size for own in self.squares])
            own_rows = self.theorems_from(shares[True], over([own * v_sum for own in tops]), w, plane is not None)
            known |= {unit_name(name): bounds for name, bounds in own_rows.items()}
        for theorem in self.c["theorems"] if plane is None else []:
            if "share of the best" in theorem["name"]:
                is_unit = theorem["name"].endswith(UNIT_ROWS)
                share = self.share_of_the_best(*shares[is_unit], scale, None if is_unit else longest)
                fits = share * (1 - SLACK) <= theorem["measured"] <= 1 + SLACK
                require(fits, f"the share of the best lifted margin is at least {float(share):.6g}, and at most 1")
        return known

    def theorems_from(self, lifted: tuple[Any, Any], winnow: tuple[Any, Any], w: Any, of_another_plane: bool) -> Bounds:
        """By R^2/g^2 in l2 and 1/g^2 in l1, each from the least to the most."""

        def times(ends: tuple[Any, Any], factor: Any) -> tuple[Any, Any]:
            return factor * ends[0], factor * ends[1]

        logs: list[Any] = [Fraction(math.log(self.d * signs + 2 * int(self.bias) or 1)) for signs in (1, 2)]
        logs = logs[1:] if of_another_plane and min(w, default=0) < 0 else logs  # no plane of positive weights
        known: Bounds = {name: [times(lifted, factor)] for name, factor in OF_LIFTED.items()}
        known.update({name: [times(winnow, factor * log) for log in logs] for name, factor in OF_WINNOW.items()})
        known["margin perceptron, G <= g: updates <= 12 R^2/g^2"] += [(INF, INF)]  # the guess was too large
        known["Winnow: mistakes <= ln(m)/(eta (g - eta/2))"] = [(times(winnow, 2 * min(logs))[0], INF)]  # any step
        promises = {SHARE: [(Fraction(1, 4), Fraction(1, 4))]}
        for s in {float(found[1]) for one in self.c["theorems"] if (found := IN_A_NAME.search(one["name"]))}:
            if 0 < s < 1:
                e = 1 - root(Fraction(s))
                c, (shrinking, guessed) = 2 * (1 + e) / e**2, (name.format(s) for name in TO_A_SHARE)
                known[shrinking] = [times(lifted, c / (s - Fraction(s) ** 2))]
                known[guessed] = [times(lifted, c), (INF, INF)]
                promises.setdefault(OTHER_SHARE, []).append((Fraction(s), Fraction(s)))
        return known if of_another_plane else known | promises

    def share_of_the_best(self, low: Any, high: Any, scale: Fraction, longest: Any) -> Fraction:
        """From the least and the most of R^2/g^2 (rows at length 1: 1/g^2), and the point that the weights make."""
        signed = {i: self.signs[i] * own for i, own in self.given.items()}
        columns: Any = check.Counter()
        for i, own in signed.items():
            columns.update({j: own * cell for j, cell in self.rows[i].items()})
        hull = sum(own**2 for own in columns.values()) * (self.unit * scale) ** 2
        hull += int(self.bias) * sum(signed.values()) ** 2
        if high == INF or not hull:
            return ZERO
        if longest is None:
            total, square = sum(own * root(self.squares[i]) for i, own in self.given.items()), ONE
        else:
            total, square = sum(self.given.values()), self.radius * scale**2 + int(self.bias)
        return Fraction(root(Fraction(square * total**2) / (high * hull)) * low / high)

    def pegasos(self, box: Any) -> Bounds:
        c, known = self.c, {}
        for chosen in itertools.product((False, True), repeat=len(BROKEN)):
            if any(chosen) and chosen[0] == self.bias:
                why = " and ".join(itertools.compress(BROKEN, chosen))
                known[f"Pegasos, no theorem because {why}: loss met per sweep"] = [(INF, INF)]
        if not self.bias and c["loss"] == "hinge" and "kernel" not in c:
            n, squares = len(self.f), [sum(cell**2 for cell in row.values()) * self.unit**2 for row in self.rows]
            reach = 4 * n**2 * max(Fraction(cost) ** 2 * own for cost, own in zip(self.costs, squares, strict=True))
            most = c["primal"] + reach * Fraction((1 + math.log(n)) / (2 * n))
            known.update({PEGASOS.format(radius): [(c["primal"], most)] for radius in ("4 R^2", "(R + lambda r)^2")})
        return known


if __name__ == "__main__":
    try:
        answer = check.judge(Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2], Figures)
    except (IndexError, OSError, ValueError) as error:
        answer = "CANNOT CHECK", f"two files are needed: {error!r}"
    print(*answer, sep=": ")
    sys.exit(["VERIFIED", "REFUSED", "CANNOT CHECK"].index(answer[0]))
