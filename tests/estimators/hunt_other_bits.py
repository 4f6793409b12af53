"""The same fit by one, two and five threads, twice each: are the bits ever others?

    PYTHONPATH=src:tests python tests/estimators/hunt_other_bits.py [PROBLEMS] [SEED]        200 and 0 by default

Problems are drawn from those of `nasty_problems`, all estimators, solvers, losses and kernels. Tables are cut into
blocks of a few numbers, so that also small ones are shared among threads.
"""

import os
import sys
import warnings
from unittest import mock

os.environ["MAXMARGIN_UNCOMPILED_ROWS"] = "0"  # plain Python may add in another order than compiled loops do

import nasty_problems
from sklearn.base import clone

from maxmargin.data import executor


def outcome(problem, cores):
    """The numbers of the fit, or its error's sentence."""
    weights = {} if problem.weights is None else {"sample_weight": problem.weights}
    with (
        mock.patch.object(executor, "WORTH_A_BLOCK", 50),
        mock.patch.object(executor, "cores", return_value=cores),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            model = clone(problem.estimator).fit(problem.X, problem.y, **weights)
        except ValueError as error:
            return str(error)
        parts = getattr(model.certificate_, "parts", [model.certificate_])
        return "\n".join(part.to_json() for part in parts)


def main(problems=200, seed=0):
    compared = wrong = 0
    for number in range(problems):
        problem = nasty_problems.nasty_problem(seed, number)
        if not hasattr(problem.estimator, "get_params") or getattr(problem.estimator, "max_time", None) is not None:
            continue  # what a clock ends has other bits each time
        outcomes = [outcome(problem, cores) for cores in (1, 2, 5, 1)]
        compared += 1
        if len(set(outcomes)) != 1:
            wrong += 1
            print(f"--seed {seed} --only {number}: {problem.estimator}")
    print(f"{compared:,} problems, each fitted by 1, 2, 5 and again 1 thread: {wrong:,} with other bits")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
