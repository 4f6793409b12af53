"""Certificates of random problems, honest and forged: is a true one ever refused, a false one ever accepted?

    PYTHONPATH=src:tests python tests/certificates/hunt_false_verdicts.py [FITS] [SEED]        5000 and 0 by default

Each fit is of a small table with nasty numbers: far from the origin, with streets of a few units in the last place, in
scales from 1e-150 to 1e150, with equal rows, on a grid. Its certificate must be verified in float64 and in fractions.
Then it is forged in many ways, by a liar who keeps the books: bounds moved by one unit in the last place up to a half,
planes moved, weights changed, rows exchanged. What is true of a forgery is decided by `certificate_truth`, in fractions
and with no code of the judge; every verdict of `verify`, in both arithmetics, is held against it.
"""

import collections
import dataclasses
import math
import sys
import time
import warnings

import numpy as np
from block_certificates import certified
from certificate_truth import truth_of

from maxmargin import (
    HardMarginSVM,
    KernelPerceptron,
    KernelSVM,
    LinearSVM,
    MarginPerceptron,
    NotSeparableError,
    Perceptron,
    UndecidedError,
    Winnow,
    separability,
)
from maxmargin.certificates.measure import objective

FACTORS = (2.0**-52, 2.0**-50, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3, 0.5)
EXACT_KINDS = {
    "hard l2": lambda bias: HardMarginSVM(fit_intercept=bias),
    "hard l1": lambda bias: HardMarginSVM("l1", fit_intercept=bias),
    "perceptron": lambda bias: Perceptron(fit_intercept=bias, max_updates=300),
    "margin perceptron": lambda bias: MarginPerceptron(fit_intercept=bias, max_updates=300),
    "winnow": lambda bias: Winnow(fit_intercept=bias, max_updates=300),
    "separability": None,
    "soft": lambda bias: LinearSVM(fit_intercept=bias),
    "soft squared": lambda bias: LinearSVM(loss="squared_hinge", fit_intercept=bias),
    "kernel linear": lambda bias: KernelSVM(kernel="linear", fit_intercept=bias, max_time=2.0),
    "kernel squared": lambda bias: KernelSVM(
        kernel="poly", gamma=0.5, coef0=1.0, degree=2, loss="squared_hinge", fit_intercept=bias, max_time=2.0
    ),
    "kernel huber": lambda bias: KernelSVM(kernel="linear", loss="huber_hinge", fit_intercept=bias, max_time=2.0),
    "kernel perceptron": lambda bias: KernelPerceptron("linear", fit_intercept=bias, max_iter=20),
    "kernel perceptron poly": lambda bias: KernelPerceptron(
        "poly", gamma=0.5, coef0=1.0, degree=2, fit_intercept=bias, max_iter=20
    ),
}
BLOCK_KINDS = {  # which the verifiers of before did not know
    "blocks": {},
    "blocks with a width": {"width": 1e-3},
    "blocks squared": {"loss": "squared_hinge"},
    "blocks huber": {"loss": "huber_hinge", "huber_width": 0.25},
}
NAMES = [*EXACT_KINDS, *BLOCK_KINDS]
SCALED = ("hard l2", "hard l1", "perceptron", "margin perceptron", "winnow", "separability", "soft", "soft squared")


def rows(random, name):
    """A small table and labels, two classes."""
    n, d = int(random.integers(2, 9)), int(random.integers(1, 4))
    y = np.where(np.arange(n) % 2, 1, -1)
    X = random.normal(size=(n, d))
    kind = random.choice(["plain", "apart", "far", "narrow", "grid", "touching", "long numbers", "equal"])
    if kind in ("apart", "far", "narrow"):
        width = 10.0 ** random.uniform(-10, 0) if kind == "narrow" else random.uniform(0.1, 3.0)
        X[:, 0] = y * (width + np.abs(X[:, 0]) * (width if kind == "narrow" else 1.0))
    if kind == "far":
        X += 10.0 ** random.uniform(2, 16)
    if kind == "narrow":
        X += random.choice([0.0, 1e3, 1e6])
    if kind == "grid":
        X = random.integers(-2, 3, size=(n, d)).astype(float)
    if kind == "touching":
        X[:, 0] = np.where(random.random(n) < 0.5, 0.0, y * np.abs(X[:, 0]))
    if kind == "long numbers":
        X = random.integers(1, 8, size=(n, d)) * 256.0 + 1.7e18
    if kind == "equal":
        X[-1] = X[0]
    if name in SCALED and random.random() < 0.25:
        X = X * 10.0 ** random.integers(-150, 130 if kind == "long numbers" else 150)
    return X.astype(np.float32).astype(float) if kind in ("plain", "apart") and np.all(np.abs(X) < 1e30) else X, y


def issued(name, X, y, bias):
    """The certificate of a fit, or of its refusal."""
    if name == "separability":
        return separability(X, y, fit_intercept=bias)
    if name in BLOCK_KINDS:
        return certified(X, y, [len(y) // 2, 0, len(y) - len(y) // 2], fit_intercept=bias, **BLOCK_KINDS[name])
    try:
        return EXACT_KINDS[name](bias).fit(X, y).certificate_
    except (NotSeparableError, UndecidedError) as error:
        return error.certificate


def told(c, **changes):
    """Whoever moves a margin moves the primal or the dual value with it, and the verdict."""
    c = dataclasses.replace(c, **changes)
    if "margin_lower" not in vars(c):
        return c
    norm = getattr(c, "norm", "l2")
    return dataclasses.replace(c, primal=objective(c.margin_lower, norm), dual=objective(c.margin_upper, norm))


def forgeries(c, random):
    """Certificates that say more, less or something else."""
    factor = float(random.choice(FACTORS))
    names = ("margin_lower", "margin_upper") if "margin_lower" in vars(c) else ("dual", "primal")
    for name, inwards in zip(names, (1.0, -1.0), strict=True):
        value = getattr(c, name)
        if math.isfinite(value):
            for direction in (inwards, -inwards):
                yield name, told(c, **{name: value + direction * factor * abs(value)})
            yield name, told(c, **{name: math.nextafter(value, inwards * math.inf)})
            yield name, told(c, **{name: value + inwards * 10.0 ** random.uniform(-3, 3) * math.ulp(value) * 1e3})
    low, high = (getattr(c, name) for name in names)
    if math.isfinite(high):
        yield "both", told(c, **dict(zip(names, (high, high), strict=True)))
    if math.isfinite(low) and low > 0.0:
        yield "both", told(c, **dict(zip(names, (low, low), strict=True)))
    if len(c.rows) and "shares" in vars(c):
        yield "weights", dataclasses.replace(c, shares=c.shares * (1.0 - factor * random.random(len(c.shares))))
        yield "rows", dataclasses.replace(c, rows=c.rows[1:], shares=c.shares[1:])
    elif len(c.rows):
        heavier = c.weights * (1.0 + factor * random.random(len(c.weights)))
        yield "weights", dataclasses.replace(c, weights=heavier)
        yield "rows", dataclasses.replace(c, rows=np.roll(c.rows, 1))
        yield "rows", dataclasses.replace(c, rows=c.rows[1:], weights=c.weights[1:])
    if "w" in vars(c) and np.any(c.w):
        yield "plane", dataclasses.replace(c, w=c.w * (1.0 + factor * random.normal(size=len(c.w))))
        yield "plane", dataclasses.replace(c, b=c.b + factor * random.normal() * (abs(c.b) or 1.0) * c.fit_intercept)
    if getattr(c, "rule_used", False):
        yield "rule", dataclasses.replace(c, rule_w=c.rule_w * (1.0 + factor * random.normal(size=len(c.w))))
        yield "rule", dataclasses.replace(c, rule_b=c.rule_b + factor * random.normal())
        yield "rule", dataclasses.replace(c, rule_width=c.rule_width * (1.0 + factor))
    if getattr(c, "rows_off_plane", None) is not None:
        for count in {0, c.rows_off_plane - 1, c.rows_off_plane + 1, c.n_rows}:
            yield "rows off", dataclasses.replace(c, rows_off_plane=count)
    for verdict in type(c).verdicts:
        if verdict is not c.verdict:
            yield "verdict", dataclasses.replace(c, verdict=verdict)


ONLY_FIGURES = (
    "the condition of",
    "the share of the best",
    "the report of the optimality",
    "is not the",
    "float64 cannot measure",
    "theorem",
)


def are_about_figures(reasons):
    """Whether they speak of conditions of optimality or theorems alone, which `truth_of` does not see."""
    return all(any(words in reason for words in ONLY_FIGURES) for reason in reasons)


class Tally:
    """What was counted, and what went wrong."""

    def __init__(self):
        self.counts, self.wrong = collections.Counter(), []

    def hold(self, kind, what, certificate, X, y):
        """Verify in both arithmetics, and compare with the truth; `what` is None for an honest certificate."""
        false = truth_of(certificate, X, y)
        for exact in (False, True):
            answer = certificate.verify(X, y, exact=exact)
            if what is None:
                outcome = "honest" if answer and false is None else "FALSE REFUSAL" if not answer else "ISSUED FALSE"
            elif answer:
                outcome = "true and accepted" if false is None and what != "rows off" else "FALSE ACCEPTANCE"
            elif false is not None or are_about_figures(answer.reasons) or what in ("verdict", "rows"):
                outcome = "refused"
            elif what == "weights" and certificate.is_about_margin and certificate.is_separable is False:
                outcome = "refused"  # the weights of a witness are to vanish, and not only its rows
            elif what in ("plane", "rows off") and certificate.verdict.name == "WEAKLY_SEPARABLE":
                outcome = "refused"  # such a plane exists, but it is not the one that is claimed
            else:
                outcome = "FALSE REFUSAL"
            self.counts[outcome] += 1
            if outcome.isupper():
                self.wrong.append((outcome, kind, what, false, exact, str(answer), certificate, X, y))


def hunt(fits, seed):
    """So many fits and their forgeries."""
    tally, random = Tally(), np.random.default_rng(seed)
    for number in range(fits):
        name = NAMES[number % len(NAMES)]
        X, y = rows(random, name)
        bias = bool(random.random() < 0.7)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                certificate = issued(name, X, y, bias)
            except ValueError:  # numbers that a kernel cannot take
                tally.counts["refused by fit"] += 1
                continue
        tally.hold(name, None, certificate, X, y)
        for what, forged in forgeries(certificate, random):
            tally.hold(name, what, forged, X, y)
    return tally


def main(fits=5000, seed=0):
    begun = time.process_time()
    tally = hunt(fits, seed)
    print(f"{fits:,} fits, seed {seed}, {time.process_time() - begun:.0f} CPU seconds")
    for outcome, count in sorted(tally.counts.items()):
        print(f"  {count:8,}  {outcome}")
    for outcome, kind, what, false, exact, answer, certificate, X, y in tally.wrong[:5]:
        print(outcome, kind, what, false, "exact" if exact else "float64", answer)
        print("  ", certificate.to_json(), X.tolist(), y.tolist())
    told = ", ".join(f"{tally.counts[outcome]:,} {outcome}" for outcome in ("honest", "refused", "true and accepted"))
    print(f"{fits:,} fits with their forgeries ({told}): {len(tally.wrong):,} false verdicts")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
