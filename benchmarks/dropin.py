"""What a user gains who changes one line: SVC and LinearSVC with their defaults, as they are and patched.

    python benchmarks/dropin.py [--rounds N] [--data DIR] [--out benchmarks/results/dropin.md]

Ten data sets of scikit-learn's own loaders and makers, which need no network, each raw and with standardised columns,
in float64 and in float32 (which scikit-learn's classes convert), by both classes. Both are fitted in this process, in
turn; a time is the least CPU time over the rounds, after one fit of each that is not counted. Excess is how far the
objective is above the optimum of the model's own problem at most: of scikit-learn's answers `audit` measures it from
the planes, of ours the certificate says it. "warned" says that scikit-learn's class ended by its `max_iter`. `--data`
adds files that `maxmargin.read_table` reads, with the label in the last column, or in front in SVMlight's format.
"""

import argparse
import os
import platform
import time
import warnings
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
import sklearn.svm._classes as theirs
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from maxmargin import audit
from maxmargin.sklearn import SVC, LinearSVC

UNCOUNTED = 12  # fits that warm up the process
KINDS = {"SVC": (theirs.SVC, SVC), "LinearSVC": (theirs.LinearSVC, LinearSVC)}


def made(n, d, **how):
    return datasets.make_classification(n, d, random_state=0, **how)


def gaussian_quantiles():
    return datasets.make_gaussian_quantiles(n_samples=3000, n_features=8, n_classes=3, random_state=0)


SETS = {
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "moons": lambda: datasets.make_moons(2000, noise=0.25, random_state=0),
    "blobs": lambda: datasets.make_blobs(2000, 10, centers=5, cluster_std=4.0, random_state=0),
    "quantiles": gaussian_quantiles,
    "hastie": lambda: datasets.make_hastie_10_2(6000, random_state=0),
    "noisy": lambda: made(8000, 20, flip_y=0.1, n_informative=8),
    "wide": lambda: made(600, 500, n_informative=30),
}


def tables(folder):
    yield from ((name, *make()) for name, make in SETS.items())
    if folder is not None:
        from maxmargin import read_table

        for path in sorted(Path(folder).iterdir()):
            table = read_table(path, label=None if path.suffix in (".svm", ".libsvm", ".svmlight") else -1)
            yield path.name, table.X, table.y


def fitted(kind, X, y):
    """The model, its CPU seconds, and whether it warned."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        begun = time.process_time()
        model = kind().fit(X, y)
        seconds = time.process_time() - begun
    return model, seconds, any(issubclass(one.category, ConvergenceWarning) for one in told)


def warm():
    """The first small fits of a process may be made without the compiler."""
    for _, ours in KINDS.values():
        for _ in range(UNCOUNTED):
            ours().fit(*SETS["iris"]())


def cell(kinds, X, y, rounds):
    """Both models, their least times, and the warnings of both."""
    models = [fitted(kind, X, y) for kind in kinds]
    times = [[], []]
    for _ in range(rounds):
        for own, kind in zip(times, kinds, strict=True):
            own.append(fitted(kind, X, y)[1])
    return [model for model, *_ in models], [min(own) for own in times], [warned for *_, warned in models]


def line_of(name, form, X, y, class_name, rounds):
    models, (before, after), (warned, ours_warned) = cell(KINDS[class_name], X, y, rounds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        excess = audit(models[0], np.asarray(X, dtype=np.float64), y, tol=1e-6).excess
    gap = models[1].certificate_.relative_gap
    scores = [100 * model.score(X, y) for model in models]
    notes = [*(["warned"] if warned else []), *(["ours warned"] if ours_warned else [])]
    proven = "yes" if models[1].certificate_.is_optimal else "no"
    ratio = before / after
    print(f"{name:14s} {form:16s} {class_name:10s} {before:9.4f} {after:9.4f} {ratio:7.2f}", *notes, flush=True)
    return ratio, (
        f"| {name} | {X.shape[0]:,} x {X.shape[1]} | {form} | {class_name} | {1e3 * before:.1f} | {1e3 * after:.1f} "
        f"| {ratio:.2f} | {excess:.1e} | {gap / (1.0 - gap):.1e} | {proven} | {scores[0]:.1f} | {scores[1]:.1f} "
        f"| {', '.join(notes)} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", help="a folder of further files")
    parser.add_argument("--only", nargs="*", help="names of data sets")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    warm()
    lines, ratios = [], {name: [] for name in KINDS}
    for name, raw, y in tables(asked.data):
        if asked.only and name not in asked.only:
            continue
        for scaling, X in (("raw", raw), ("scaled", StandardScaler().fit_transform(raw))):
            for dtype in (np.float64, np.float32):
                for class_name in KINDS:
                    form = f"{scaling}, {np.dtype(dtype).name}"
                    ratio, line = line_of(name, form, np.ascontiguousarray(X, dtype=dtype), y, class_name, asked.rounds)
                    lines.append(line)
                    ratios[class_name].append(ratio)
    text = page(lines, ratios, asked.rounds)
    if asked.out is not None:
        asked.out.write_text(text, encoding="utf-8")
    print(text)


def page(lines, ratios, rounds):
    packages = ", ".join(f"{name} {version(name)}" for name in ("scikit-learn", "numpy", "numba"))
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    summary = [
        f"- {name}: patched is faster in {sum(one > 1 for one in own)} of {len(own)} lines; "
        f"the ratio of the times is {np.exp(np.mean(np.log(own))):.2f} in the geometric mean, "
        f"between {min(own):.2f} and {max(own):.2f}"
        for name, own in ratios.items()
    ]
    return "\n".join(
        [
            "# SVC and LinearSVC with their defaults, as they are and patched",
            "",
            f"`python benchmarks/dropin.py --rounds {rounds}`, {date.today()}; {machine}; {packages}.",
            "",
            "Milliseconds of CPU time, the least of the rounds; ratio above 1: patched is faster. Excess: how far the "
            "objective is above the proven optimum of the model's own problem at most, by `audit` and by the "
            "certificate. Proven: the certificate of the patched fit. Score: percent of the rows of the fit.",
            "",
            *summary,
            "",
            "| data | size | form | class | before | patched | ratio | excess before | excess patched | proven "
            "| score before | score patched | |",
            "|---|---|---|---|---:|---:|---:|---:|---:|---|---:|---:|---|",
            *lines,
            "",
        ]
    )


if __name__ == "__main__":
    main()
