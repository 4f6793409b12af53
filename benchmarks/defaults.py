"""How far from the optimum are the defaults that people use? Thirty tables, four classifiers of scikit-learn, audited.

    python benchmarks/defaults.py

Each is fitted with its default parameters (and `random_state=0`), and audited on the rows that it was fitted on: how
far its objective is above the proven optimum of its own problem. A Perceptron has no objective: it is to separate, and
is asked whether it does where that is possible. Writes `results/defaults.md`, `results/defaults.png`, and the table
between the marks in `docs/defaults.md`. Some minutes on one core.
"""

import argparse
import math
import re
import time
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from default_tables import tables
from race_cells import machine
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.svm import SVC, LinearSVC

from maxmargin import Audit, audit

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "defaults.md"
MODELS: dict[str, Callable[[], Any]] = {
    "LinearSVC": lambda: LinearSVC(random_state=0),
    "SVC": SVC,
    "SGDClassifier": lambda: SGDClassifier(random_state=0),
    "Perceptron": lambda: Perceptron(random_state=0),
}
STEPS = (1e-3, 1e-2, 0.1, 1.0)  # of the excess, in the summary
FOUND, MISSED, NONE = "separates", "misses it", "no plane"


class Answer(NamedTuple):
    """One classifier on one table."""

    seconds: float
    warned: bool
    least_excess: float
    excess: float
    separation: str

    @property
    def cell(self) -> str:
        if self.separation:
            return self.separation
        # Both bounds to two digits where they agree, as they should.
        low, high = (f"{value:.1e}" for value in (self.least_excess, self.excess))
        return (low if low == high else f"{low} to {high}") + (" w" if self.warned else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, help="only so many tables, and nothing is written")
    chosen = parser.parse_args()
    answers: dict[str, dict[str, Answer]] = {}
    for name, (X, y) in tables():
        if chosen.most is not None and len(answers) >= chosen.most:
            break
        answers[f"{name} ({X.shape[0]} x {X.shape[1]})"] = {
            model: judged(make(), X, y) for model, make in MODELS.items()
        }
        print(name, {model: answer.cell for model, answer in list(answers.values())[-1].items()}, flush=True)
    report = "\n".join([setting(), "", *summary(answers), "", *table(answers)])
    print(report)
    if chosen.most is None:
        (HERE / "results" / "defaults.md").write_text(f"# The defaults of scikit-learn, audited\n\n{report}\n")
        draw(answers, HERE / "results" / "defaults.png")
        PAGE.write_text(inserted(PAGE.read_text(encoding="utf-8"), report), encoding="utf-8")


def judged(model: Any, X: np.ndarray, y: np.ndarray) -> Answer:
    begun = time.process_time()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(X, y)
    seconds = time.process_time() - begun
    found = audit(model, X, y)
    return Answer(seconds, bool(told), found.least_excess, found.excess, separation_of(found))


def separation_of(found: Audit) -> str:
    """Of a classifier that is to separate: whether it does so wherever a plane exists."""
    if not math.isnan(found.excess):
        return ""
    possible = [part for part in found if part.is_separable]
    if not possible:
        return NONE
    missed = sum(part.share == 0.0 for part in possible)
    return FOUND if not missed else f"{MISSED}: {missed} of {len(possible)}"


def setting() -> str:
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("scikit-learn", "numpy", "maxmargin"))
    return f"{machine()}; {versions}. Printed by `python benchmarks/defaults.py`."


def summary(answers: dict[str, dict[str, Answer]]) -> list[str]:
    """How many tables are within each step of the optimum, of the classifiers that have an objective."""
    header = [
        f"of {len(answers)} tables",
        *(f"above {100 * step:g} %" for step in STEPS),
        "warned",
        "CPU s of all fits",
    ]
    lines = ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(STEPS) + 2)]
    for model in MODELS:
        of_model = [answer[model] for answer in answers.values()]
        above = [sum(answer.least_excess > step for answer in of_model) for step in STEPS]
        counts = [str(count) if model != "Perceptron" else "" for count in above]
        warned, seconds = sum(answer.warned for answer in of_model), sum(answer.seconds for answer in of_model)
        lines.append("| " + " | ".join([model, *counts, str(warned), f"{seconds:.1f}"]) + " |")
    words = [answer["Perceptron"].separation for answer in answers.values()]
    some = [word for word in words if word != NONE]
    missed = sum(word.startswith(MISSED) for word in some)
    lines += [
        "",
        f"Perceptron: {len(some)} tables have classes that a plane separates; in {missed} of them it misses one.",
    ]
    return lines


def table(answers: dict[str, dict[str, Answer]]) -> list[str]:
    lines = [f"| table | {' | '.join(MODELS)} |", "|---|" + "---|" * len(MODELS)]
    lines += [f"| {name} | {' | '.join(row[model].cell for model in MODELS)} |" for name, row in answers.items()]
    return lines


def inserted(page: str, report: str) -> str:
    """The page with this report between its marks."""
    begin, end = "<!-- printed by benchmarks/defaults.py -->", "<!-- end -->"
    return re.sub(f"{begin}.*{end}", lambda _: f"{begin}\n\n{report}\n\n{end}", page, count=1, flags=re.DOTALL)


def percent(value: float, _: int) -> str:
    """Large and small ones as powers of ten."""
    power = round(math.log10(100 * value))
    return f"{100 * value:g} %" if -2 <= power <= 4 else f"$10^{{{power}}}$ %"


def draw(answers: dict[str, dict[str, Answer]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter

    colours = {"LinearSVC": "#0072b2", "SVC": "#009e73", "SGDClassifier": "#d55e00"}
    figure, axes = plt.subplots(figsize=(9.0, 4.2), layout="constrained")
    for place, (model, colour) in enumerate(colours.items()):
        found = sorted((answer[model] for answer in answers.values()), key=lambda answer: answer.excess)
        across = place + np.linspace(-0.35, 0.35, len(found))
        for x, answer in zip(across, found, strict=True):
            face = "white" if answer.warned else colour
            axes.plot(x, max(answer.excess, 1e-9), "o", color=colour, markerfacecolor=face, markersize=6)
    for step, word in ((0.01, "1 %"), (1.0, "100 %")):
        axes.axhline(step, color="0.6", linewidth=0.8, linestyle="--")
        axes.text(2.48, step * 1.15, word, ha="right", color="0.35")
    axes.plot([], [], "o", color="0.4", markerfacecolor="white", label="it warned")
    axes.plot([], [], "o", color="0.4", label="it said nothing")
    axes.legend(loc="upper left", frameon=False)
    axes.set(yscale="log", ylabel="above the optimum, proven", xlim=(-0.5, 2.5))
    axes.set_xticks(range(len(colours)), [f"{model}()" for model in colours])
    axes.yaxis.set_major_formatter(FuncFormatter(percent))
    axes.grid(axis="y", color="0.93")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    main()
