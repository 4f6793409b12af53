"""The share of a fit that goes into its proof.

The judge of `LinearSVM` measures what the solver proposes, and at the end makes the certificate. In runs of their own,
besides those that are raced, every method of the judge and the making of the certificate run under a stopwatch; calls
of one by another count once. What the judge passes on to the solver, X w and the bias, counts as proof all the same.
"""

import functools
import inspect
import time
from collections.abc import Callable
from contextlib import ExitStack
from unittest import mock

STEADY = 0.2  # seconds: short runs are repeated until they add up to this


class Stopwatch:
    """Adds up the seconds of the calls that it watches, the outermost alone."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.is_running = False

    def watch(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def observed(*arguments, **options):
            if self.is_running:
                return function(*arguments, **options)
            self.is_running, start = True, time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds += time.perf_counter() - start
                self.is_running = False

        return observed


def proof_share(fit: Callable[[], object]) -> float:
    """Run `fit` again; the share of its time that judging and certifying took."""
    from maxmargin.solve import soft_margin

    proof, whole = Stopwatch(), Stopwatch()
    with ExitStack() as patches:
        judging = [(soft_margin.Judge, name) for name, _ in inspect.getmembers(soft_margin.Judge, inspect.isfunction)]
        for owner, name in [*judging, (soft_margin, "soft_certificate")]:
            patches.enter_context(mock.patch.object(owner, name, proof.watch(getattr(owner, name))))
        while whole.seconds < STEADY:
            whole.watch(fit)()
    return proof.seconds / whole.seconds
