"""scikit-learn's own tests of its classifiers with a margin, with ours in their place.

    python tests/sklearn_own_tests.py                    all of them, a few minutes
    python tests/sklearn_own_tests.py -k "bounds or tweak"

The tests are those of the installed scikit-learn. Nothing of them is in this repository but the names of those that
fail, each with its reason (REASONS). Ends with 1 if a test fails that is not listed, or fewer of a suite pass than
SUITES says.

The same file is the plugin of the process that runs them: it replaces the classes, and notes for each test whether our
solvers answered, scikit-learn's did and for which reason, or neither was asked.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SUITES = {"svm/tests": 290, "linear_model/tests/test_perceptron.py": 6, "linear_model/tests/test_sgd.py": 235}
ANSWERED = "MAXMARGIN_ANSWERED"  # the file in which the plugin writes
OURS, PROOF = "our solvers", "scikit-learn's perceptron and our proof"
ENOUGH = "expects that the few steps of max_iter do not suffice; ours, of another kind, prove the optimum"
STEPS = "compares numbers of steps, or the answer after a few of them, with one that is not the optimum; ours is"
REASONS = {
    "test_sgd.py::test_warm_start": STEPS,
    "test_sgd.py::test_adaptive_longer_than_constant": STEPS,
    "test_sgd.py::test_validation_set_not_used_for_training": STEPS,
    "test_sgd.py::test_partial_fit_equal_fit_classif": STEPS,
    "test_sgd.py::test_tol_parameter": STEPS,
    "test_sgd.py::test_l1_ratio": STEPS,
    "test_sgd.py::test_underflow_or_overflow": "expects that steps on unscaled rows overflow; the optimum is found",
    "test_sgd.py::test_sgd_random_state": "expects that other seeds lead elsewhere; the optimum is one",
    "test_sgd.py::test_sgd_proba": "asks for the order of two scores of a point that was chosen for their run",
    "test_sgd.py::test_large_regularization": "asks for 0 to six digits; w is of 1e-5 at the optimum, or near it",
    "test_sgd.py::test_sgd_dtype_match": "coef_ is of float64, for float32 rows too: what is proven is what predicts",
    "test_sparse.py::test_sparse_realdata": (
        "asks for the same bits from a dense and a sparse table; ours agree to 1e-11, with other orders of summation"
    ),
    "test_sparse.py::test_timeout": ENOUGH,
    "test_svm.py::test_libsvm_convergence_warnings": ENOUGH,
    "test_svm.py::test_linear_svm_convergence_warnings": ENOUGH,
    "test_svm.py::test_svc_ovr_tie_breaking": (
        "expects votes that contradict the sums; far from all rows they hang on the last bits of libsvm's biases"
    ),
}


# ---------------------------------------------------------------------------------------------- as a plugin of pytest


def pytest_configure(config):
    """Replace the classes, and count whom they ask."""
    if ANSWERED not in os.environ:
        return
    import maxmargin
    from maxmargin.sklearn import delegation, linear_svc, perceptron, sgd_classifier, svc

    asked = config.asked = set()
    for module in (svc, linear_svc, sgd_classifier):

        def fit_native(*arguments, fit=module.fit_native):
            asked.add(OURS)
            return fit(*arguments)

        module.fit_native = fit_native
    prove = perceptron.certify
    perceptron.certify = lambda *arguments, **options: (asked.add(PROOF), prove(*arguments, **options))[1]
    delegation.tell = asked.add
    maxmargin.patch_sklearn()
    config.answers = []


def pytest_runtest_setup(item):
    if hasattr(item.config, "asked"):
        item.config.asked.clear()


def pytest_runtest_teardown(item):
    if hasattr(item.config, "asked"):
        item.config.answers.append((item.nodeid, sorted(item.config.asked)))


def pytest_runtest_logreport(report):
    if ANSWERED in os.environ and (report.when == "call" or report.outcome != "passed"):
        with Path(os.environ[ANSWERED] + ".outcomes").open("a", encoding="utf-8") as file:
            file.write(json.dumps((report.nodeid, report.outcome)) + "\n")


def pytest_unconfigure(config):
    if hasattr(config, "answers"):
        Path(os.environ[ANSWERED]).write_text(json.dumps(config.answers), encoding="utf-8")


def name_of(node, file):
    """test_svm.py::test_unfitted; pytest leaves the file out where it was asked for one alone."""
    name = node[node.rindex("/") + 1 :] if "/" in node.partition("::")[0] else node
    return Path(file).name + name if name.startswith("::") else name


# ----------------------------------------------------------------------------------------------------- as a command


def own_tests(suite, arguments):
    """(name, outcome, who was asked) of each test, run in a process of its own."""
    import sklearn

    folder = Path(sklearn.__file__).parent / suite
    with tempfile.TemporaryDirectory() as place:
        answered = str(Path(place) / "answered.json")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "sklearn_own_tests", "-p", "no:cacheprovider"]
        command += ["--import-mode=importlib", "-c", os.devnull, "--rootdir", place, str(folder), *arguments]
        paths = [str(ROOT / "tests"), os.environ.get("PYTHONPATH") or str(ROOT / "src")]
        environment = os.environ | {ANSWERED: answered, "PYTHONPATH": os.pathsep.join(paths)}
        run = subprocess.run(command, env=environment, text=True, capture_output=True, check=False, cwd=place)
        if not Path(answered).exists():
            raise RuntimeError(run.stdout + run.stderr)
        asked = {name: set(who) for name, who in json.loads(Path(answered).read_text(encoding="utf-8"))}
        outcomes = Path(answered + ".outcomes")
        lines = outcomes.read_text(encoding="utf-8").splitlines() if outcomes.exists() else []  # -k may choose none
    return [(name_of(name, suite), outcome, asked[name]) for name, outcome in map(json.loads, lines)]


def reason_for(name):
    return next((reason for beginning, reason in REASONS.items() if name.startswith(beginning)), None)


def side(asked):
    """Who answered in a test: ours alone, scikit-learn's for this reason, or nobody that was replaced."""
    if not asked:
        return "nobody that was replaced was fitted (SVR, NuSVC, one class, checks of arguments)"
    return " and ".join([*([OURS] if OURS in asked else []), *sorted(asked - {OURS})])


def table_of(suite, arguments):
    """Print it; whether all is as it is said to be."""
    tests = own_tests(suite, arguments)
    counts = Counter((side(asked), outcome) for _, outcome, asked in tests)
    passed = sum(outcome == "passed" for _, outcome, _ in tests)
    print(f"{suite}: {passed} of {len(tests)} pass")
    for group in sorted({side(asked) for *_, asked in tests}):
        numbers = "".join(f"{n:5d} {one:7s}" for (of, one), n in sorted(counts.items()) if of == group)
        print(f"{numbers:26s} {group}")
    failed = [name for name, outcome, _ in tests if outcome == "failed"]
    for name in failed:
        print(f"  {name}\n      {reason_for(name) or 'NOT LISTED'}")
    return (bool(arguments) or passed >= SUITES[suite]) and all(map(reason_for, failed))


def main(arguments):
    answers = [table_of(suite, arguments) for suite in SUITES]
    return int(not all(answers))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
