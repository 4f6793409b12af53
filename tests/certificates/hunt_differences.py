"""The one verification beside the verifiers of each kind that it replaced: is anything believed that they refused?

    PYTHONPATH=src:tests python tests/certificates/hunt_differences.py [FORGERIES] [SEED]      50000 and 0 by default

Honest certificates of every kind and verdict, and of random fits with nasty numbers, are forged in one to three places
at a time: bounds moved by one unit in the last place up to a half, any field of any depth replaced, also by values of
another type, the data changed under the certificate. Both sides judge each of them, in float64 or in fractions. What
the old ones refuse must be refused, what they accept must be accepted, and where they raise an error, nothing may be
accepted. A figure that proves nothing, such as which row is the nearest, may be known to be false where the old ones
take it for a rounding error: that is counted. The old ones do not know the theorems that were stated later (`NEWER`),
nor witnesses of a separation in the space of a kernel, and nothing is compared about them: `hunt_false_verdicts` and
`test_every_field` forge these.
"""

import collections
import copy
import dataclasses
import functools
import itertools
import math
import sys
import time
import warnings

import numpy as np
from certificate_truth import truth_of
from certificates import hunt_false_verdicts, test_every_field
from certificates.old_verifiers.verify import old_verify
from falsehoods import honest
from small_certificates import MAKERS, MIXED, Case, fitted

from maxmargin import KernelSeparationCertificate, LinearSVM, Verdict
from maxmargin.certificates.theorems import OTHER_SHARE, UNIT_ROWS

STRANGE = (math.nan, math.inf, -math.inf, -1, 0, 1, 0.5, True, "nonsense", None, (), [], np.zeros(2), np.zeros((2, 1)))
BENT = {"huber_hinge": {"huber_width": 0.5}, "modified_huber": {}}
NEWER = (UNIT_ROWS, OTHER_SHARE, "to the share")
UNMEASURED = ("float64 cannot measure the conditions of optimality that are reported",)  # in integers it can be
FALSEHOODS = (
    *("test_false_numbers", "test_false_problems", "test_soft_false_numbers", "test_soft_false_problems"),
    *("test_kernel_false_numbers", "test_kernel_false_problems"),
)


def random_case(random):
    """The certificate of a random fit; None where the fit refuses its table."""
    name = str(random.choice(list(hunt_false_verdicts.EXACT_KINDS)))
    X, y = hunt_false_verdicts.rows(random, name)
    try:
        return Case(hunt_false_verdicts.issued(name, X, y, bool(random.random() < 0.7)), X, y)
    except ValueError:
        return None


@functools.cache
def every_field(name):
    """One forgery for each field of an honest certificate and each way to forge it."""
    return [case for _, _, case in test_every_field.forgeries(test_every_field.honest(name)) if case is not None]


def with_bounds_moved(case, random):
    """One of the forgeries of a liar who keeps the books."""
    choices = list(hunt_false_verdicts.forgeries(case.certificate, random))
    return case._replace(certificate=choices[random.integers(len(choices))][1])


def with_a_strange_field(case, random):
    """Any field, of whatever type."""
    names = [field.name for field in dataclasses.fields(case.certificate)]
    name, value = str(random.choice(names)), STRANGE[random.integers(len(STRANGE))]
    return case._replace(certificate=dataclasses.replace(case.certificate, **{name: copy.copy(value)}))


def with_a_figure_moved(case, random):
    """A condition of optimality or a theorem by a little or a lot, or about another row."""
    c, factor = case.certificate, 1.0 + float(random.choice([1e-15, 1e-9, 1e-6, 1e-3, 1.0])) * random.normal()
    if c.theorems and random.random() < 0.5:
        first = c.theorems[0]
        changes = [{"bound": first.bound * factor}, {"measured": first.measured * factor}, {"at_most": False}]
        forged = dataclasses.replace(first, **changes[random.integers(3)])
        return case._replace(certificate=dataclasses.replace(c, theorems=(forged, *c.theorems[1:])))
    if c.kkt is None:
        return with_bounds_moved(case, random)
    name = str(random.choice(["stationarity", "primal", "dual", "slackness", "bias"]))
    own = getattr(c.kkt, name)
    moved = dataclasses.replace(own, value=own.value * factor)
    other = dataclasses.replace(own, row=int(random.integers(-1, c.n_rows)))
    kkt = dataclasses.replace(c.kkt, **{name: moved if random.random() < 0.5 else other})
    return case._replace(certificate=dataclasses.replace(c, kkt=kkt))


def with_other_data(case, random):
    """A row, a label or a weight of the table is another one."""
    X, y = np.array(case.X, dtype=float), np.array(case.y)
    row = int(random.integers(len(y)))
    where = random.integers(4)
    if where == 0:
        X[row] *= 1.0 + float(random.choice([1e-15, 1e-6, 1.0]))
    elif where == 1:
        y[row] = y[random.integers(len(y))]
    elif where == 2:
        return case._replace(sample_weight=random.choice([0.0, 1.0, 2.0], size=len(y)))
    else:
        order = random.permutation(len(y))
        return case._replace(X=X[order], y=y[order])
    return case._replace(X=X, y=y)


FORGERS = (with_bounds_moved, with_bounds_moved, with_a_strange_field, with_a_figure_moved, with_other_data)


def forged(case, random):
    """In one to three places; a certificate of nonsense may have no further forgery."""
    for _ in range(int(random.choice([1, 1, 1, 2, 3]))):
        try:
            case = FORGERS[random.integers(len(FORGERS))](case, random)
        except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError):
            break
    return case


def told_falsehoods():
    """Every falsehood of the tests, told about the certificates that it is told about there."""
    for name in FALSEHOODS:
        module = __import__(f"certificates.{name}", fromlist=["falsehood"])
        for told, make in ((one, make) for one in module.falsehood.told for make in one.about):
            case = told.tell(honest(make))
            yield Case(case.certificate, case.X, case.y, case.sample_weight, getattr(case, "kernel", None))


def is_kernel_witness(certificate):
    return isinstance(certificate, KernelSeparationCertificate) and certificate.verdict is Verdict.NOT_SEPARABLE


def is_newer(case):
    """Whether an honest certificate states what the old verifiers do not know."""
    parts = getattr(case.certificate, "parts", None) or (case.certificate,)
    return any(map(is_kernel_witness, parts)) or any(
        mark in theorem.name for part in parts for theorem in part.theorems for mark in NEWER
    )


def outcome(judge, case, exact):
    """True or False, or the type of the error; and the reasons."""
    options = {"exact": exact, "sample_weight": case.sample_weight}
    if hasattr(case.certificate, "kernel"):
        options["kernel"] = case.kernel
    try:
        answer = judge(case.certificate, case.X, case.y, **options)
    except Exception as error:  # whatever it is, it is no acceptance
        return type(error).__name__, (str(error),)
    return answer.holds, answer.reasons


class Tally:
    """What both said, and where they differ."""

    def __init__(self):
        self.counts, self.wrong, self.wordings = collections.Counter(), [], collections.Counter()

    def hold(self, case, exact, is_honest=False):
        if is_kernel_witness(case.certificate):
            self.counts["newer than the old verifiers"] += 1
            return
        old, old_reasons = outcome(old_verify, case, exact)
        new, new_reasons = outcome(type(case.certificate).verify, case, exact)
        kind = "honest" if is_honest else "forged"
        self.counts[f"{kind}: {'accepted' if old is True else 'refused' if old is False else 'cannot be judged'}"] += 1
        if new is True and old_reasons == UNMEASURED and truth_of(case.certificate, case.X, case.y) is None:
            self.counts["true, and beyond what the old verifiers could measure"] += 1
        elif old is True and new is False and not is_honest and hunt_false_verdicts.are_about_figures(new_reasons):
            self.counts["figures that the old verifiers take for rounding errors"] += 1
        elif (old is True) != (new is True) or (old is False and new is not False):
            self.counts["DIFFERENT"] += 1
            self.wrong.append((old, new, exact, old_reasons, new_reasons, case))
        elif old_reasons != new_reasons:
            self.wordings[(old_reasons[0][:60], new_reasons[0][:60])] += 1


def hunt(forgeries, seed, fits=None, every=True):
    """So many forgeries, half of random fits, half of the small certificates; before them every falsehood."""
    tally, random = Tally(), np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = [name for name in MAKERS if not name.startswith("blocks")]  # a kind that did not exist before
        names = known if every else known[seed % 3 :: 3]
        names = [name for name in names if not is_newer(test_every_field.honest(name))]
        small = [test_every_field.honest(name) for name in names]
        small += [fitted(LinearSVM(loss=loss, **width), MIXED) for loss, width in BENT.items()]
        drawn = (random_case(random) for _ in range(max(8, forgeries // 100 if fits is None else fits)))
        pool = small + [case for case in drawn if case is not None and not is_newer(case)]
        for case in pool:
            for exact in case.ways:
                tally.hold(case, exact, is_honest=True)
        if every:
            for case in itertools.chain(told_falsehoods(), *(every_field(name) for name in names)):
                tally.hold(case, bool(random.random() < 0.3) and not getattr(case.certificate, "degree", 1) > 9)
        for number in range(forgeries):
            own = pool[random.integers(len(pool))]
            case = forged(own, random)
            tally.hold(case, bool(random.random() < 0.3) and own.ways == (False, True) and number % 2 == 0)
    return tally


def main(forgeries=50_000, seed=0):
    begun = time.process_time()
    tally = hunt(forgeries, seed)
    print(f"{forgeries:,} forgeries, seed {seed}, {time.process_time() - begun:.0f} CPU seconds")
    for what, count in sorted(tally.counts.items()):
        print(f"  {count:8,}  {what}")
    print(f"  {sum(tally.wordings.values()):8,}  refused by both, in other words")
    for (old, new), count in tally.wordings.most_common(20):
        print(f"           {count} x {old!r} -> {new!r}")
    for old, new, exact, old_reasons, new_reasons, case in tally.wrong[:5]:
        print(f"OLD {old} NEW {new} {'exact' if exact else 'float64'}", old_reasons, new_reasons)
        print("  ", vars(case.certificate), case.X, case.y, case.sample_weight)
    print(f"{forgeries:,} forgeries: {len(tally.wrong):,} with another verdict than that of the older verifiers")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
