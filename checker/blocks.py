"""A soft margin by blocks, as one of all rows: what check.py needs beside its own proofs. The standard library alone.

A certificate by blocks (`heights`: the rows of each block) names few rows, as block * 2^32 + row in the block. With the
box and the bend of the loss (u = box C, q = bend / C), its weights are

    listed      a_i = box C_i s_i          s_i in `shares`, between 0 and 1; none where the box is infinite
    all others  a_i = C_i slope(t_i)       t_i = 1 - y_i (rule_w.x_i + rule_b); 0 if the rule is not used

    slope(t)    min(max(0, t) / bend, box) of a loss with a bend; of the hinge, with h = `rule_width` and
                p = h / (2h + |t|), p where t <= 0 and 1 - p where t > 0; h = 0: 0 and 1

C_i is C times the class weight, then times the weight of the row. Slopes are rounded down behind their 1400th bit. All
weights are in their box, whatever the rule is: it need not be true of anything, and proves what D is found to be.

`fingerprint` says which rows are meant, and proves nothing: the sum mod 2^64 over all blocks k of m(k) times the sum of
bits(x_ij) m(j) and of mix(bits(C_i) ^ mix(2 row + (y_i > 0))); bits(x) is the double as a whole number, and
m(j) = mix(j) | 1.
"""

import math
import struct
from fractions import Fraction
from typing import Any

Fields = dict[str, Any]
OWN = {"heights", "fingerprint", "rows", "shares", "rule_used", "rule_w", "rule_b", "rule_width"}
SCALE, WIDEST, WORD = 2**1400, 10**100, 2**64


def require(holds: Any, why: str) -> None:
    if not holds:
        raise ValueError(why)


def mix(x: int) -> int:
    """splitmix64"""
    x = (x + 0x9E3779B97F4A7C15) % WORD
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % WORD
    return x ^ (x >> 31)


def bits(number: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", number + 0.0))[0])


def ids_of(heights: list[int], n: int) -> list[int]:
    """The names of the rows of a table of n rows."""
    require(all(type(height) is int and 0 <= height < 2**32 for height in heights), "heights are numbers of rows")
    require(sum(heights) == n, f"the certificate is about a table of {sum(heights)} rows, and this one has {n}")
    return [2**32 * k + i for k, height in enumerate(heights) for i in range(height)]


def fingerprint(problem: Any, rows: list[dict[int, float]], ids: list[int]) -> str:
    found = 0
    for i, sign, cost in zip(problem.kept, problem.signs, problem.costs, strict=True):
        block, row = divmod(ids[i], 2**32)
        cells = sum(bits(cell) * (mix(j) | 1) for j, cell in rows[i].items())
        found += (mix(block) | 1) * (cells + mix(bits(cost) ^ mix(2 * row + (sign > 0))))
    return f"{found % WORD:016x}"


def slope(t: Fraction, box: Any, bend: Fraction, h: Fraction) -> Fraction:
    if bend:
        exact = max(Fraction(0), min(t / bend, box))
    else:
        less = h / (2 * h + abs(t)) if h else Fraction(0)
        exact = box * (1 - less if t > 0 else less)
    return Fraction(math.floor(SCALE * exact), SCALE)


def soft_margin(c: Fields, table: Fields, losses: Fields, same: Any, problem: Any) -> Fields:
    """The same claim with a weight for each row; a ValueError where it is none. `same` and `problem` are check.py's."""
    numbers = [c[name] for name in ("C", "rule_b", "rule_width")]
    require(all(type(own) in (int, float, Fraction) for own in numbers), "C, rule_b and rule_width must be numbers")
    require(set(c) >= OWN and c["kkt"] is None and not c.get("theorems"), "a certificate by blocks has its own fields")
    box, bend = losses.get(c["loss"], (1, 0))  # check.py knows no other
    bend, b, h = Fraction(c.get("huber_width") or bend or 0), Fraction(c["rule_b"]), Fraction(c["rule_width"])
    w, used = [Fraction(own) for own in c["rule_w"]], c["rule_used"]
    require(len(w) == c["n_columns"] and type(used) is bool, "the rule has no plane of these columns")
    require(0 <= h <= WIDEST and not (h and bend), "the width of the rule is none, or of a loss that needs none")
    require(used or not (any(w) or b or h), "there is a rule, and it is said not to be used")
    ids, listed = ids_of(c["heights"], len(table["labels"])), dict(zip(c["rows"], c["shares"], strict=True))
    texts = set(table["labels"])
    named = {text: float(own) for name, own in c["class_weight"] for text in texts if same(text, name)}
    require(len(named) == len(c["class_weight"]), "class_weight names no label, or one twice")
    prices = [[text, float(c["C"]) * named.get(text, 1.0)] for text in sorted(texts)]
    soft = {name: own for name, own in c.items() if name not in OWN} | {"C": 1, "class_weight": prices}
    rows = problem(soft | {"rows": [], "weights": []}, table)
    require(all(0 <= own <= 1 for own in listed.values()), "a share is not between 0 and 1")
    require(c["rows"] == sorted(listed), "the rows that are listed are not in increasing order, each once")
    require(set(listed) <= {ids[i] for i in rows.kept}, "a row is listed that is not part of this problem")
    require(box < math.inf or not listed, "a share of a weight that has no bound")
    require(fingerprint(rows, table["rows"], ids) == c["fingerprint"], "these are not the rows of the fingerprint")
    weights = []
    for i, row, sign, cost in zip(rows.kept, rows.rows, rows.signs, rows.costs, strict=True):
        t = 1 - sign * (sum(cell * w[j] for j, cell in row.items()) * rows.unit + b)
        by_rule = slope(t, box, bend, h) if used else Fraction(0)
        weights.append(Fraction(cost) * (box * Fraction(listed[ids[i]]) if ids[i] in listed else by_rule))
    return soft | {"rows": rows.kept, "weights": weights}
