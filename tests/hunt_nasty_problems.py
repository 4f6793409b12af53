"""Thousands of small problems that are odd but legal: does every one end with a proof or with a sentence, and soon?

    PYTHONPATH=src python tests/hunt_nasty_problems.py [PROBLEMS] [--seed SEED] [--only NUMBER]     5000 of seed 0

`nasty_problems.py` makes them, one from each number: every estimator, solver, loss and kernel; contradictions, one row
of a class, zero rows, constant columns, scales from 1e-150 to 1e150, C from 1e-12 to 1e12, weights that are zero or
huge, touching hulls. A worker fits them, one after the other. Each may end with

    a fit      whose certificate holds (exactly, where that can be asked), whose mistakes and margins are within the
               bounds of their theorems, whose numbers are finite, whose predictions are labels, and which is the same
               after it was saved and loaded; where rows can also come by partial_fit, its numbers are finite, too
    an error   a ValueError that this package raises, with a sentence

and with nothing else: no other exception, no warning but that it ended early, no crash, no more than 20 s of CPU. It
prints how the problems ended, and every one that did not end well, with the options that run it alone.
"""

import argparse
import collections
import faulthandler
import json
import linecache
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

CPU_SECONDS = 20
WALL_SECONDS = 600  # of a worker that sleeps
FEW_ROWS = 70  # and no more columns: exact arithmetic takes a moment
GOOD = ("proven", "early", "not separable", "undecided", "refused")


class BadEnd(Exception):
    """A kind of bad end, and a sentence."""


# ------------------------------------------------------------------------------------------------------ the worker


def work(seed, numbers):
    """Solve these problems; a line for each when it begins, and one when it has ended."""
    import nasty_problems

    faulthandler.enable()
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    faulthandler.register(signal.SIGPROF, chain=True)  # says where it hangs, and then dies of the signal
    for number in numbers:
        problem = nasty_problems.nasty_problem(seed, number)
        told = {"number": number, "name": problem.name, "problem": " ".join(str(problem).split())}
        print(json.dumps(told), flush=True)
        begun = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        outcome, detail = outcome_of(problem)
        signal.setitimer(signal.ITIMER_PROF, 0)
        seconds = time.process_time() - begun
        print(json.dumps({**told, "outcome": outcome, "detail": detail, "seconds": seconds}), flush=True)


def outcome_of(problem):
    """How a problem ended, and what is to be said of it."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            outcome, detail = outcome_of_fit(problem), ""
        except BadEnd as end:
            outcome, detail = end.args
        except Exception as error:
            outcome, detail = outcome_of_error(error, problem)
    leaked = [one for one in heard if not issubclass(one.category, ConvergenceWarning)]
    if leaked and outcome in GOOD:
        one = leaked[0]
        return "warning", f"{one.category.__name__}: {one.message} ({place(one.filename, one.lineno)})"
    return outcome, detail


def outcome_of_fit(problem):
    """What is proven of a fit whose numbers are what they should be."""
    import numpy as np

    weights = {} if problem.weights is None else {"sample_weight": problem.weights}
    model = problem.estimator.fit(problem.X, problem.y, **weights)
    refuse_false_proofs(model.certificate_, problem)
    refuse_broken_promises(model.certificate_)
    for name in ("coef_", "intercept_", "dual_coef_"):
        if not np.all(np.isfinite(getattr(model, name, 0.0))):
            raise BadEnd("wrong", f"{name} is not finite")
    if np.any(np.isnan(getattr(model, "margin_", 0.0))):
        raise BadEnd("wrong", "margin_ is NaN")
    if hasattr(model, "predict"):
        if not np.all(np.isin(model.predict(problem.X), model.classes_)):
            raise BadEnd("wrong", "it predicts labels that are none")
        values = model.decision_function(problem.X)
        counted = slice(None) if problem.weights is None else np.asarray(problem.weights) > 0.0
        if not np.all(np.isfinite(values[counted])):  # a row of weight 0 may be larger than all that was fitted
            raise BadEnd("wrong", "decision_function is not finite on its own rows")
    if hasattr(model, "predict") and not callable(getattr(model, "kernel", None)):  # a file holds no functions
        refuse_another_model(model, problem, weights)
    if hasattr(problem.estimator, "partial_fit"):
        refuse_endless_streams(problem)
    verdicts = {part.verdict.name for part in model.certificate_.parts}
    if verdicts <= {"OPTIMAL", "SEPARABLE"}:
        return "proven"
    if verdicts & {"NOT_SEPARABLE", "WEAKLY_SEPARABLE"}:
        return "not separable"
    return "undecided" if "UNDECIDED" in verdicts else "early"


def refuse_another_model(model, problem, weights):
    """Save and load it: the model must be that of its certificate, and predict the same."""
    import numpy as np

    from maxmargin.estimators.model_verification import verify_model
    from maxmargin.persistence import ModelFileError, load, save

    with tempfile.TemporaryDirectory() as folder:
        try:
            save(model, os.path.join(folder, "model"), problem.X, problem.y)
            again = load(os.path.join(folder, "model"))
        except ModelFileError as error:
            raise BadEnd("wrong", str(error).replace(folder, "")) from None
    if not np.array_equal(again.decision_function(problem.X), model.decision_function(problem.X)):
        raise BadEnd("wrong", "it predicts something else after it was saved and loaded")
    if not (found := verify_model(again, problem.X, problem.y, **weights)):
        raise BadEnd("unverified", f"saved and loaded: {found}")


def refuse_endless_streams(problem):
    """The rows come twice by partial_fit, if that is not refused in a sentence."""
    import numpy as np
    from sklearn.base import clone

    model = clone(problem.estimator)
    try:
        for _ in range(2):
            model.partial_fit(problem.X, problem.y, classes=np.unique(problem.y))
    except ValueError as error:
        outcome, detail = outcome_of_error(error, problem)
        if outcome != "refused":
            raise BadEnd(outcome, f"partial_fit: {detail}") from None
        return
    for numbers in (model.coef_, model.intercept_, model.decision_function(problem.X)):
        if not np.all(np.isfinite(numbers)):
            raise BadEnd("wrong", "after partial_fit it is not finite")


def outcome_of_error(error, problem):
    """Of our own errors, which carry proofs or sentences; and of others."""
    import numpy as np

    import maxmargin
    from maxmargin import NotSeparableError, UndecidedError

    package = os.path.dirname(maxmargin.__file__) + os.sep
    last = traceback.extract_tb(error.__traceback__)[-1]
    sentence = str(error).splitlines()[0] if str(error) else ""
    if isinstance(error, NotSeparableError | UndecidedError):
        is_open = isinstance(error, UndecidedError)
        if error.certificate.is_separable is not (None if is_open else False):
            return "wrong", f"{type(error).__name__} with {error.certificate!r}"
        try:
            refuse_false_proofs(error.certificate, problem)
        except BadEnd as end:
            return end.args
        return ("undecided" if is_open else "not separable"), ""
    ours = last.filename.startswith(package) and "raise" in linecache.getline(last.filename, last.lineno)
    if isinstance(error, ValueError) and not isinstance(error, np.linalg.LinAlgError) and ours and " " in sentence:
        return "refused", sentence
    return "exception", f"{type(error).__name__}: {sentence[:150]} ({place(last.filename, last.lineno)})"


def refuse_false_proofs(certificate, problem):
    """The certificate must hold; also exactly, where that can be asked."""
    options = {} if problem.weights is None else {"sample_weight": problem.weights}
    kernel = getattr(problem.estimator, "kernel", None)
    if callable(kernel):
        options["kernel"] = kernel
    parts = certificate.parts
    rational = all(getattr(part, "kernel", "linear") in ("linear", "poly", "precomputed") for part in parts)
    for exact in (False, True) if rational and max(problem.X.shape) <= FEW_ROWS else (False,):
        found = certificate.verify(problem.X, problem.y, exact=exact, **options)
        if not found:
            raise BadEnd("unverified", f"{parts[0].verdict.name}: {found}")
    for part in parts:
        if part.verdict.name == "OPTIMAL" and not part.relative_gap <= part.tol:
            raise BadEnd("wrong", f"OPTIMAL with a gap of {part.relative_gap}")


def refuse_broken_promises(certificate):
    """What was counted must be within what its theorem promises: Novikov's, that of the halving, Winnow's, Pegasos'."""
    for part in certificate.parts:
        for theorem in getattr(part, "theorems", ()):
            if not theorem.holds:
                raise BadEnd("wrong", f"a theorem is broken: {theorem}")


def place(file, line):
    return f"{os.path.join(*file.split(os.sep)[-2:])}:{line}"


# ------------------------------------------------------------------------------------------------------ the parent


def hunt(seed, numbers):
    """What workers say of these problems; one that dies of a problem is counted, and the next takes up the rest."""
    left = list(numbers)
    while left:
        worker, told = start_worker(seed, left), None
        for line in lines_of(worker):
            if "outcome" in line:
                yield line
                left.remove(line["number"])
            told = None if "outcome" in line else line
        said = worker.stderr.read()
        worker.stdout.close()
        worker.stderr.close()
        code = worker.wait()
        if told is None:
            if code != 0:
                raise RuntimeError(f"the worker ended with {code} between two problems:\n{said}")
            return
        stack = [text.strip() for text in said.splitlines() if "maxmargin" in text and "File" in text]
        ended = "" if code == -signal.SIGPROF else f"{signal.Signals(-code).name if code < 0 else code}: "
        detail = ended + (stack[0] if stack else said[-300:])
        outcome = "crash" if ended else "hang"
        yield {**told, "outcome": outcome, "detail": detail, "seconds": float(CPU_SECONDS)}
        left.remove(told["number"])


def start_worker(seed, numbers):
    here = os.path.abspath(__file__)
    search = os.pathsep.join(filter(None, [os.path.dirname(here), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, here, "--seed", str(seed), "--work", ",".join(map(str, numbers))]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": search}, **pipes)


def lines_of(worker):
    """What a worker says; one that says nothing for too long is killed."""
    while True:
        ready, _, _ = select.select([worker.stdout], [], [], WALL_SECONDS)
        if not ready:
            worker.kill()
            return
        line = worker.stdout.readline()
        if not line:
            return
        yield json.loads(line)


def table_of(counts):
    """How often each learner ended how."""
    names = sorted({name for name, _ in counts})
    outcomes = [*GOOD, *sorted({outcome for _, outcome in counts} - set(GOOD))]
    width = max(map(len, names), default=0) + 2
    lines = [" " * width + "".join(f"{outcome:>15}" for outcome in outcomes)]
    lines += [f"{name:<{width}}" + "".join(f"{counts[name, one]:>15,}" for one in outcomes) for name in names]
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="?", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="run the problem of this number alone, and show all of it")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.work is not None:
        work(given.seed, [int(number) for number in given.work.split(",")])
        return 0
    numbers = range(given.problems)
    if given.only is not None:
        import nasty_problems

        numbers = [given.only]
        problem = nasty_problems.nasty_problem(given.seed, given.only)
        print(f"{problem}\nX = {problem.X!r}\ny = {problem.y!r}\nsample_weight = {problem.weights!r}")
    counts, slowest, begun = collections.Counter(), (0.0, -1), time.perf_counter()
    for line in hunt(given.seed, numbers):
        counts[line["name"], line["outcome"]] += 1
        slowest = max(slowest, (line["seconds"], line["number"]))
        if line["outcome"] not in GOOD or given.only is not None:
            print(f"{line['outcome']}: {line['detail']}\n    {line['problem']}")
            print(f"    --seed {given.seed} --only {line['number']}", flush=True)
    bad = sum(count for (_, outcome), count in counts.items() if outcome not in GOOD)
    print(table_of(counts))
    print(
        f"{sum(counts.values()):,} problems in {time.perf_counter() - begun:.0f} s, {bad:,} of them did not end well; "
        f"the slowest took {slowest[0]:.1f} s of CPU (number {slowest[1]})"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
