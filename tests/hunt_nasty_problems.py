"""Thousands of small problems that are odd but legal: does every one end with a proof or with a sentence, and soon?

    PYTHONPATH=src python tests/hunt_nasty_problems.py [PROBLEMS] [--seed SEED] [--only NUMBER]     5000 of seed 0

`nasty_problems.py` makes them, one from each number: every estimator, solver, loss and kernel; contradictions, one row
of a class, zero rows, constant columns, scales from 1e-150 to 1e150, C from 1e-12 to 1e12, weights that are zero or huge,
touching hulls. A worker fits them, one after the other. Each may end with

    a fit      whose certificate holds (exactly, where that can be asked), whose numbers are finite, which says why it
               ended, and which predicts what it has proven
    an error   a ValueError that this package raises, with a sentence

and with nothing else: no other exception, no warning but that it ended early, no crash, no more than 20 s of CPU. It
prints how the problems ended, and every one that did not end well, with the command that runs it alone.
"""

import argparse
import collections
import faulthandler
import json
import linecache
import math
import os
import select
import signal
import subprocess
import sys
import time
import traceback
import warnings

CPU_SECONDS = 20
WALL_SECONDS = 600  # of a worker that sleeps
FEW_ROWS = 70  # and no more columns: exact arithmetic takes a moment
GOOD = ("proven", "early", "not separable", "undecided", "refused")


# ------------------------------------------------------------------------------------------------------ the worker


class Wrong(Exception):
    """An answer that is not as it must be."""


def work(seed, numbers):
    """Solve these problems; a line for each before it begins, and one when it has ended."""
    import nasty_problems

    faulthandler.enable()
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    faulthandler.register(signal.SIGPROF, chain=True)  # says where it hangs, and then dies of the signal
    for number in numbers:
        print(json.dumps({"number": number, "begun": True}), flush=True)
        problem = nasty_problems.nasty_problem(seed, number)
        begun = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        outcome, detail = outcome_of(problem)
        signal.setitimer(signal.ITIMER_PROF, 0)
        seconds = time.process_time() - begun
        ended = {"number": number, "name": problem.name, "outcome": outcome, "detail": detail, "seconds": seconds}
        print(json.dumps({**ended, "problem": str(problem)}), flush=True)


def outcome_of(problem):
    """How a problem ended, and what is wrong with that, if anything is."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            outcome, detail = how_it_ended(problem), ""
        except Wrong as wrong:
            outcome, detail = "wrong", str(wrong)
        except Exception as error:
            outcome, detail = outcome_of_error(error, problem)
    leaked = [one for one in heard if not issubclass(one.category, ConvergenceWarning)]
    if leaked and outcome in GOOD:
        one = leaked[0]
        return "warning", f"{one.category.__name__}: {one.message} ({place(one.filename, one.lineno)})"
    return outcome, detail


def place(file, line):
    return f"{os.path.join(*file.split(os.sep)[-2:])}:{line}"


def outcome_of_error(error, problem):
    import numpy as np

    from maxmargin import NotSeparableError, UndecidedError

    last = traceback.extract_tb(error.__traceback__)[-1]
    sentence = str(error).splitlines()[0] if str(error) else ""
    if isinstance(error, NotSeparableError | UndecidedError):
        separable = False if isinstance(error, NotSeparableError) else None
        if error.certificate.is_separable is not separable:
            return "wrong", f"{type(error).__name__} with {error.certificate!r}"
        refusal = refusal_of(error.certificate, problem)
        if refusal is not None:
            return "unverified", f"{type(error).__name__}: {refusal}"
        return ("undecided" if separable is None else "not separable"), ""
    ours = os.sep + "maxmargin" + os.sep in last.filename and "raise" in linecache.getline(last.filename, last.lineno)
    if isinstance(error, ValueError) and not isinstance(error, np.linalg.LinAlgError) and ours and " " in sentence:
        return "refused", sentence
    return "exception", f"{type(error).__name__}: {sentence[:150]} ({place(last.filename, last.lineno)})"


def how_it_ended(problem):
    """What is proven of a fit; or `Wrong`."""
    import numpy as np

    weights = {} if problem.weights is None else {"sample_weight": problem.weights}
    model = problem.estimator.fit(problem.X, problem.y, **weights)
    certificate = model.certificate_
    parts = list(getattr(certificate, "parts", [certificate]))
    refusal = refusal_of(certificate, problem)
    if refusal is not None:
        return_wrong("unverified: " + refusal)
    for part in parts:
        names = part.verdict.name
        if names == "OPTIMAL" and not part.relative_gap <= part.tol:
            return_wrong(f"OPTIMAL with a gap of {part.relative_gap}")
        if names == "BOUNDED" and math.isfinite(part.relative_gap) and part.relative_gap < 0.0:
            return_wrong(f"a gap of {part.relative_gap}")
    for name in ("coef_", "intercept_", "dual_coef_"):
        if hasattr(model, name) and not np.all(np.isfinite(getattr(model, name))):
            return_wrong(f"{name} is not finite")
    if hasattr(model, "margin_") and np.any(np.isnan(model.margin_)):
        return_wrong("margin_ is NaN")
    if hasattr(model, "predict"):
        labels, scores = model.predict(problem.X), model.decision_function(problem.X)
        if not np.all(np.isin(labels, model.classes_)):
            return_wrong("it predicts labels that are none")
        if not np.all(np.isfinite(scores)):
            return_wrong("decision_function is not finite on its own rows")
    if all(part.verdict.name in ("OPTIMAL", "SEPARABLE") for part in parts):
        return "proven"
    if any(part.verdict.name in ("NOT_SEPARABLE", "WEAKLY_SEPARABLE") for part in parts):
        return "not separable"
    return "undecided" if any(part.verdict.name == "UNDECIDED" for part in parts) else "early"


def return_wrong(sentence):
    raise Wrong(sentence)


def refusal_of(certificate, problem):
    """Why the certificate does not hold; None if it does, also exactly where that can be asked."""
    options = {} if problem.weights is None else {"sample_weight": problem.weights}
    kernel = getattr(problem.estimator, "kernel", None)
    parts = getattr(certificate, "parts", [certificate])
    if callable(kernel):
        options["kernel"] = kernel
    found = certificate.verify(problem.X, problem.y, **options)
    if not found:
        return str(found)
    rational = all(getattr(part, "kernel", "linear") in ("linear", "poly", "precomputed") for part in parts)
    if rational and max(problem.X.shape) <= FEW_ROWS:
        found = certificate.verify(problem.X, problem.y, exact=True, **options)
        if not found:
            return "exactly: " + str(found)
    return None


# ------------------------------------------------------------------------------------------------------ the parent


def hunt(seed, numbers):
    """The lines of workers; one that dies of a problem is counted, and the next takes up the rest."""
    numbers = list(numbers)
    while numbers:
        worker = start_worker(seed, numbers)
        for line in lines_of(worker):
            if "begun" in line:
                at = line["number"]
            else:
                yield line
                numbers.remove(at)
                at = None
        worker.stdout.close()
        said = worker.stderr.read() if worker.stderr else ""
        worker.stderr.close()
        code = worker.wait()
        if code == 0:
            return
        if at is None:
            raise RuntimeError(f"the worker ended with {code} between two problems:\n{said}")
        hung = code == -signal.SIGPROF
        where = next(
            (text.strip() for text in said.splitlines() if "maxmargin" in text and "File" in text), said[-300:]
        )
        outcome = "hang" if hung else "crash"
        detail = f"{where}" if hung else f"{signal.Signals(-code).name if code < 0 else code}: {where}"
        yield {"number": at, "name": "?", "outcome": outcome, "detail": detail, "seconds": CPU_SECONDS, "problem": "?"}
        numbers.remove(at)


def start_worker(seed, numbers):
    here = os.path.dirname(os.path.abspath(__file__))
    search = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    listed = ",".join(map(str, numbers))
    command = [sys.executable, os.path.abspath(__file__), "--seed", str(seed), "--work", listed]
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
    for name in names:
        lines.append(f"{name:<{width}}" + "".join(f"{counts[name, outcome]:>15,}" for outcome in outcomes))
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
    if given.only is not None:
        import nasty_problems

        problem = nasty_problems.nasty_problem(given.seed, given.only)
        print(f"{problem}\nX = {problem.X!r}\ny = {problem.y!r}\nsample_weight = {problem.weights!r}")
        problem.estimator.fit(
            problem.X, problem.y, **({} if problem.weights is None else {"sample_weight": problem.weights})
        )
    counts, slowest, begun = collections.Counter(), (0.0, -1), time.perf_counter()
    bad = 0
    for line in hunt(given.seed, range(given.problems) if given.only is None else [given.only]):
        counts[line["name"], line["outcome"]] += 1
        slowest = max(slowest, (line["seconds"], line["number"]))
        if line["outcome"] not in GOOD:
            bad += 1
            print(
                f"{line['outcome']}: {line['detail']}\n    {line['problem']}\n    --seed {given.seed} --only {line['number']}",
                flush=True,
            )
        elif given.only is not None:
            print(f"{line['outcome']}: {line['detail']}")
    print(table_of(counts))
    total = sum(counts.values())
    print(
        f"{total:,} problems, {bad:,} that did not end well; the slowest took {slowest[0]:.1f} s (number {slowest[1]}); "
        f"{time.perf_counter() - begun:.0f} s"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
