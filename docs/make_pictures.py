"""Draw the pictures of the documentation, the same ones every time but for the seconds of a fit.

    python docs/make_pictures.py

street.png is the one of the README: on the left the widest street and the rows that hold it, on the right data that no
plane separates, with the rows that prove it. Those in pictures/ are for pictures.md and extending.md.
"""

import io
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from PIL import Image

from maxmargin import (
    ConstrainedParabola,
    ConvergenceDisplay,
    HardMarginSVM,
    HullDisplay,
    KernelSVM,
    KKTDisplay,
    LagrangianDisplay,
    LinearSVM,
    LossDisplay,
    PathDisplay,
    Perceptron,
    RobustnessDisplay,
    StreetDisplay,
    TraceDisplay,
    separability,
)
from maxmargin.data import synthetic
from maxmargin.problems import losses

HERE = Path(__file__).parent
COLOURS = 96  # of a picture: enough for smooth lines, and a third of the bytes


def main():
    (HERE / "pictures").mkdir(exist_ok=True)
    draw_readme("street.png")
    draw_street("pictures/street.png")
    draw_style("pictures/style.png")
    draw_side_and_hulls("pictures/side_and_hulls.png")
    draw_loss_and_conditions("pictures/loss_and_conditions.png")
    draw_own_loss("pictures/own_loss.png")
    draw_path("pictures/path.png")
    draw_convergence("pictures/convergence.png")
    draw_robustness("pictures/robustness.png")
    draw_run("pictures/run.png", "pictures/bound.png")
    draw_lagrangian("pictures/lagrangian.png")


def draw_style(name):
    X, y = synthetic.overlapping(60, distance=3.0, seed=3)
    svm = LinearSVM(C=0.5, tol=1e-6).fit(X, y)
    with pyplot.rc_context({"figure.figsize": (3.3, 3.6), "font.size": 7, "figure.dpi": 250}):
        paper = StreetDisplay.from_estimator(svm, X, y, title="", legend={"ncols": 2}).figure_
    X, y = synthetic.overlapping(5000, distance=3.0, seed=3)
    with pyplot.rc_context({"figure.figsize": (6.6, 7.2), "figure.dpi": 125}):
        many = StreetDisplay.from_estimator(LinearSVM(C=0.5).fit(X, y), X, y).figure_
    left, right = (image_of(figure) for figure in (paper, many))
    both = Image.new("RGB", (left.width + right.width, max(left.height, right.height)), "white")
    both.paste(left, (0, 0))
    both.paste(right, (left.width, 0))
    both.quantize(COLOURS).save(HERE / name, optimize=True)


def image_of(figure):
    page = io.BytesIO()
    figure.savefig(page, format="png")
    pyplot.close(figure)
    return Image.open(page).convert("RGB")


def draw_readme(name):
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 6.2), layout="constrained")
    X, y, _ = synthetic.street(n=60, width=1.0, angle=35.0, seed=10)
    StreetDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y, ax=left)
    X, y = synthetic.overlapping(n=44, distance=3.6, seed=1)
    StreetDisplay.from_certificate(separability(X, y), X, y, ax=right)
    write(figure, name)


def draw_lagrangian(name):
    problem = ConstrainedParabola(0.2, -1, 1, c=5)
    write(LagrangianDisplay.from_problem(problem, x=6.5, a=0.5).figure_, name)


def draw_street(name):
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 6.2), layout="constrained")
    X, y = synthetic.overlapping(60, distance=3.0, seed=3)
    StreetDisplay.from_estimator(LinearSVM(C=0.5, tol=1e-6).fit(X, y), X, y, ax=left)
    X, y = synthetic.rings(80, seed=2)
    StreetDisplay.from_estimator(KernelSVM(C=1.0).fit(X, y), X, y, ax=right)
    write(figure, name)


def draw_side_and_hulls(name):
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 6.2), layout="constrained")
    X, y, _ = synthetic.separable_gaussians(100, 8, seed=2)
    StreetDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y, ax=left)
    X, y, _ = synthetic.street(40, seed=10)
    HullDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y, ax=right)
    write(figure, name)


def draw_loss_and_conditions(name):
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    X, y = synthetic.overlapping(60, distance=3.0, seed=3)
    svm = LinearSVM(C=0.5, tol=1e-6).fit(X, y)
    LossDisplay.from_estimator(svm, X, y, ax=left)
    KKTDisplay.from_estimator(svm, X, y, ax=right)
    write(figure, name)


def draw_own_loss(name):
    losses.register(losses.Loss("wide_huber", box=1.0, bend=1.0))
    X, y = synthetic.overlapping(200)
    write(LossDisplay.from_estimator(LinearSVM(loss="wide_huber").fit(X, y), X, y).figure_, name)


def draw_path(name):
    X, y, _ = synthetic.street(60, seed=10)
    write(PathDisplay.from_estimator(LinearSVM(tol=1e-6), X, y).figure_, name)


def draw_convergence(name):
    X, y = synthetic.overlapping(5000, distance=3.0, seed=3)
    write(ConvergenceDisplay.from_estimator(LinearSVM(tol=1e-8), X, y).figure_, name)


def draw_robustness(name):
    X, y, _ = synthetic.street(60, seed=10)
    models = {"the widest street": HardMarginSVM().fit(X, y), "a perceptron": Perceptron().fit(X, y)}
    write(RobustnessDisplay.from_estimator(models, X, y).figure_, name)


def draw_run(run_name, bound_name):
    X, y, _ = synthetic.separable_gaussians(40, 2, margin=0.15, seed=3)
    display = TraceDisplay.from_estimator(Perceptron(record=True).fit(X, y), X, y)
    write(display.figure_, run_name)
    write(display.plot(kind="bound").figure_, bound_name)


def write(figure, name):
    """In few colours and without a date."""
    stream = io.BytesIO()
    figure.savefig(stream, dpi=100, bbox_inches="tight", pad_inches=0.15)
    pyplot.close(figure)
    Image.open(stream).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(HERE / name, optimize=True)
    print(f"{HERE / name}: {(HERE / name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
