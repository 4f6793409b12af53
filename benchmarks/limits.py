"""Are limits heard? What comes after max_time, and after Ctrl-C, in seconds of one core.

    python benchmarks/limits.py --data DIR [--sets mnist census_income_full ...] [--cases LinearSVM ...]
                                [--limit 1] [--ctrl-c | --no-ctrl-c]

Every case runs in a process of its own, after the loops were compiled, on one core. Its limit is read from the clock of
the process, not from that on the wall: so a busy machine measures what a free one would. A second run of the case has
no limit but gets a SIGINT when it has used as many seconds, and is timed until it is back.

The bar: the limit, half a second, and one pass over the data; Ctrl-C within a second.
"""

import argparse
import multiprocessing
import os
import resource
import signal
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from cold_start import describe_machine
from datasets import LabelledSet, load
from threadpoolctl import threadpool_limits

import maxmargin
from maxmargin.run import control as clock_module

SETS = ("mnist", "census_income_full", "kddcup99_10pct", "w8a", "news20_bydate", "news20_contradicted")
MOST_WARM_UPS, ABOVE = 6, 0.3
HOPELESS = 60  # seconds of a process after which it is ended
BAR, BAR_OF_CTRL_C = 0.5, 1.0
TICKS = os.sysconf("SC_CLK_TCK")


def audit_of_a_rough_plane(X: Any, y: Any, **limits: Any) -> Any:
    """A model that somebody else fitted, a little: one that takes no time before the clock runs."""
    from sklearn.svm import LinearSVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVC(loss="hinge", max_iter=1).fit(X[:2000], y[:2000])
    return lambda: maxmargin.audit(model, X, y, **limits)


def fitted(estimator: Any, **parameters: Any) -> Callable[..., Callable[[], Any]]:
    return lambda X, y, **limits: lambda: estimator(**parameters, **limits).fit(X, y)


def called(function: Callable[..., Any], **parameters: Any) -> Callable[..., Callable[[], Any]]:
    return lambda X, y, **limits: lambda: function(X, y, **parameters, **limits)


CASES: dict[str, Callable[..., Callable[[], Any]]] = {
    "separability": called(maxmargin.separability),
    "HardMarginSVM": fitted(maxmargin.HardMarginSVM, on_inseparable="return"),
    "HardMarginSVM l1": fitted(maxmargin.HardMarginSVM, norm="l1", on_inseparable="return"),
    "LinearSVM C=100": fitted(maxmargin.LinearSVM, C=100),
    "LinearSVM interior point": fitted(maxmargin.LinearSVM, solver="interior_point"),
    "LinearSVM squared hinge": fitted(maxmargin.LinearSVM, loss="squared_hinge"),
    "StochasticSVM": fitted(maxmargin.StochasticSVM),
    "StochasticSVM rbf": fitted(maxmargin.StochasticSVM, kernel="rbf"),
    "KernelSVM": fitted(maxmargin.KernelSVM),
    "KernelSVM approximation": fitted(maxmargin.KernelSVM, approximation=1000),
    "KernelPerceptron": fitted(maxmargin.KernelPerceptron),
    "Perceptron": fitted(maxmargin.Perceptron),
    "MarginPerceptron": fitted(maxmargin.MarginPerceptron),
    "Winnow": fitted(maxmargin.Winnow),
    "audit": audit_of_a_rough_plane,
    "path": called(maxmargin.path),
}


class Measured(NamedTuple):
    """Seconds until it was back, counted from the limit (or from Ctrl-C), and what it said."""

    seconds: float
    end: str


def data_of(name: str, folder: Path | None) -> LabelledSet:
    """A set; or one of which fifty rows come again, with the other label."""
    if not name.endswith("_contradicted"):
        return load(name, folder)
    whole = next(one for one in SETS if one.startswith(name.removesuffix("_contradicted")))
    X, y = load(whole, folder)
    stack = sp.vstack if sp.issparse(X) else np.vstack
    return LabelledSet(sp.csr_matrix(stack([X, X[:50]])), np.concatenate([y, -y[:50]]))


def run_case(case: Callable[..., Callable[[], Any]], data: LabelledSet, limit: float, ctrl_c: bool, pipe: Any) -> None:
    """In a process of its own."""
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rows = np.sort(np.random.default_rng(0).choice(len(data.y), 400, replace=False))
    case(data.X[rows], data.y[rows], max_time=60.0)()
    for _ in range(MOST_WARM_UPS):  # until nothing was compiled on the way
        begun = time.process_time()
        clock_module.time = ProcessTime(begun)
        case(data.X, data.y, max_time=limit)()
        if time.process_time() - begun < limit + ABOVE:
            break
    question = case(data.X, data.y, max_time=None if ctrl_c else limit)
    used = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(used + HOPELESS), int(used + HOPELESS) + 5))
    clock_module.time = ProcessTime(used)
    watcher = None
    if ctrl_c:
        watcher = multiprocessing.get_context("fork").Process(target=interrupt, args=(os.getpid(), used + limit))
        watcher.start()
    try:
        answer = question()
        end = said(answer)
    except KeyboardInterrupt:
        end = "KeyboardInterrupt"
    except ValueError as error:
        end = f"{type(error).__name__}: {error}"[:60]
    seconds = time.process_time() - used - limit
    if watcher is not None:
        watcher.kill()
        watcher.join()
    pipe.send(Measured(seconds, end))


class ProcessTime:
    """The clock of the process in place of that on the wall."""

    def __init__(self, begun: float) -> None:
        self.begun = begun

    def perf_counter(self) -> float:
        return time.process_time() - self.begun


def interrupt(process: int, at: float) -> None:
    """Ctrl-C, when the process has used that many seconds."""
    while True:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        if (int(fields[11]) + int(fields[12])) / TICKS >= at:
            os.kill(process, signal.SIGINT)
            return
        time.sleep(0.005)


def said(answer: Any) -> str:
    status = getattr(answer, "status_", None)
    certificate = getattr(answer, "certificate_", answer)
    verdict = getattr(certificate, "verdict", None)
    words = [getattr(status, "name", ""), getattr(verdict, "name", "")]
    if hasattr(certificate, "relative_gap"):
        words.append(f"gap {certificate.relative_gap:.1e}")
    return " ".join(word for word in words if word)


def one_pass(data: LabelledSet) -> float:
    """Seconds for X w."""
    w = np.ones(data.X.shape[1])
    times = []
    for _ in range(3):
        begun = time.process_time()
        _ = data.X @ w
        times.append(time.process_time() - begun)
    return min(times)


def measure(name: str, data: LabelledSet, limit: float, ctrl_c: bool) -> Measured:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=run_case, args=(CASES[name], data, limit, ctrl_c, theirs))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        return Measured(float("inf"), f"ended after {HOPELESS} s")
    finally:
        process.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", nargs="+", default=SETS[:3])
    parser.add_argument("--cases", nargs="+", default=list(CASES))
    parser.add_argument("--limit", type=float, default=1.0)
    parser.add_argument("--ctrl-c", action=argparse.BooleanOptionalAction, default=True)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})

    print(describe_machine())
    print(f"limit {arguments.limit:g} s; seconds of one core from there until the answer; * above the bar\n")
    print(f"{'set':24}{'case':28}{'max_time':>9}{'Ctrl-C':>9}  ended")
    for set_name in arguments.sets:
        data = data_of(set_name, arguments.data)
        bar = BAR + one_pass(data)
        for case in CASES:
            if case not in arguments.cases:
                continue
            timed = measure(case, data, arguments.limit, ctrl_c=False)
            line = f"{set_name:24}{case:28}{shown(timed.seconds, bar):>9}"
            if arguments.ctrl_c:
                line += f"{shown(measure(case, data, arguments.limit, ctrl_c=True).seconds, BAR_OF_CTRL_C):>9}"
            print(f"{line}  {timed.end}", flush=True)


def shown(seconds: float, bar: float) -> str:
    return f"{seconds:.2f}{'*' if seconds > bar else ' '}" if seconds > 0 else "before "


if __name__ == "__main__":
    main()
