"""Do the library and the checker ever disagree? Every falsehood of the tests, every forged field, random problems.

    PYTHONPATH=src:tests python tests/checker/hunt_disagreements.py [FITS] [SEED]        1000 and 0 by default

FITS random problems with nasty numbers, and what a liar makes of their certificates: `certificates/hunt_false_verdicts`
tells which. Each is judged by `verify(exact=True)`, by check.py (the proofs) and by figures.py (all of it). About the
proofs they must agree. Figures of float64 are compared up to rounding, of which each judge has bounds of its own: where
a forgery is between them, it is counted, and no mistake. An honest certificate must be verified by both.
"""

import collections
import importlib
import sys
import time
import warnings

import numpy as np
from certificates.hunt_false_verdicts import NAMES, forgeries, issued, rows
from checker.two_judges import (
    HONEST,
    NO_PROOFS,
    VERIFIED,
    by_the_checker,
    by_the_library,
    disagreement,
    for_its_figures,
    forged_texts,
    table_of,
)
from falsehoods import honest

FALSEHOODS = (
    "test_false_numbers", "test_false_problems", "test_soft_false_numbers", "test_soft_false_problems",
    "test_kernel_false_numbers", "test_kernel_false_problems",
)  # fmt: skip


class Tally:
    """What was counted, and what went wrong."""

    def __init__(self):
        self.counts, self.wrong = collections.Counter(), []

    def hold(self, what, text, X, y, sample_weight=None, kernel=None, table=None, is_honest=False, proofs=True):
        """Three answers; they must agree."""
        library = by_the_library(text, X, y, sample_weight, kernel)
        table = table_of(X, y, sample_weight) if table is None else table
        own, proven = by_the_checker(text, table), by_the_checker(text, table, with_figures=False)
        self.counts[library[0]] += 1
        if proofs and (why := disagreement(for_its_figures(library), proven, text)) is not None:
            self.wrong.append((what, why, text, X, y))
        elif is_honest and own[0] != VERIFIED and disagreement(library, own, text) is not None:
            self.wrong.append((what, f"honest: {own}", text, X, y))
        elif disagreement(library, own, text) is not None:
            self.counts["figures between the limits of the two"] += 1


def falsehoods(tally):
    """Those of the tests, of which the JSON can be written and the table is one of numbers."""
    for name in FALSEHOODS:
        for told in importlib.import_module(f"certificates.{name}").falsehood.told:
            for make in told.about:
                case = told.tell(honest(make))
                kernel = getattr(case, "kernel", None)
                try:
                    if kernel is not None and case.certificate.kernel != "function":
                        raise ValueError("a function that is given beside the files")
                    text, table = case.certificate.to_json(), table_of(case.X, case.y, case.sample_weight)
                    library = by_the_library(text, case.X, case.y, case.sample_weight, kernel)
                except (TypeError, ValueError, AttributeError, IndexError):
                    tally.counts["falsehoods that no file can tell"] += 1
                    continue
                own = by_the_checker(text, table)
                tally.counts[f"falsehoods: {library[0]}"] += 1
                if disagreement(library, own, text) is not None:
                    tally.wrong.append((told.name, disagreement(library, own, text), text, case.X, case.y))


def fields(tally):
    """One field after the other."""
    for name, make in HONEST.items():
        case = make()
        table = table_of(case.X, case.y, case.sample_weight)
        for path, text in forged_texts(case):
            about_proofs = path[0] not in NO_PROOFS
            tally.hold((name, path), text, case.X, case.y, case.sample_weight, case.kernel, table, False, about_proofs)


def random_problems(tally, fits, seed):
    random, names = np.random.default_rng(seed), NAMES
    for number in range(fits):
        name = names[number % len(names)]
        X, y = rows(random, name)
        try:
            certificate = issued(name, X, y, bool(random.random() < 0.7))
        except ValueError:  # numbers that a kernel cannot take
            continue
        table = table_of(X, y)
        tally.hold(name, certificate.to_json(), X, y, table=table, is_honest=True)
        for what, forged in forgeries(certificate, random):
            tally.hold((name, what), forged.to_json(), X, y, table=table)


def main(fits=1000, seed=0):
    begun, tally = time.process_time(), Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        falsehoods(tally)
        fields(tally)
        random_problems(tally, fits, seed)
    print(f"{fits:,} fits, seed {seed}, {time.process_time() - begun:.0f} CPU seconds")
    for outcome, count in sorted(tally.counts.items()):
        print(f"  {count:8,}  {outcome}")
    for what, why, *_ in tally.wrong:
        print(f"{what}: {why}")
    if tally.wrong:
        _, _, text, X, y = tally.wrong[0]
        print(text, table_of(X, y)["rows"], np.asarray(y).tolist(), sep="\n")
    judged = sum(tally.counts.values())
    print(f"{judged:,} certificates and forgeries, {fits:,} of them of random fits: {len(tally.wrong):,} disagreements")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
