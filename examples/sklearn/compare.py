"""Run these programs, which know nothing of maxmargin, as they are and patched: are the pictures the same?

    python examples/sklearn/compare.py                    all of them, about two minutes
    python examples/sklearn/compare.py margins ties --out pictures/

Each program is run twice in this process; a picture is the figure that it has drawn. Prints for each the share of the
pixels that differ visibly, how many fits were proven, and how many scikit-learn answered. `--out` keeps both pictures,
side by side. Ends with 1 if more than MOST of the pixels of a picture differ.
"""

import argparse
import runpy
import sys
import warnings
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")

from matplotlib import pyplot

import maxmargin
from maxmargin.sklearn import delegation, handing_over, linear_svc, sgd_classifier, svc

HERE = Path(__file__).parent
VISIBLE = 48  # of 255, in a colour
MOST = 0.005  # of the pixels: lines that moved by one


def programs():
    return sorted(path for path in HERE.glob("*.py") if path != Path(__file__))


def picture_of(program):
    """The pixels of what it draws."""
    pyplot.close("all")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(program), run_name="__main__")
    figure = pyplot.gcf()
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)
    pyplot.close("all")
    return pixels


def pictures_of(program):
    """As it is, patched, the fits of ours meanwhile, and those of scikit-learn."""
    before, proven, others = picture_of(program), [], []

    def fit_native(*arguments):
        proven.append(arguments)
        return handing_over.fit_native(*arguments)

    modules = (svc, linear_svc, sgd_classifier)
    tell = delegation.tell
    for module in modules:
        module.fit_native = fit_native
    delegation.tell = others.append
    maxmargin.patch_sklearn()
    try:
        return before, picture_of(program), len(proven), len(others)
    finally:
        maxmargin.unpatch_sklearn()
        delegation.tell = tell
        for module in modules:
            module.fit_native = handing_over.fit_native


def different(before, after):
    """The share of the pixels that differ visibly."""
    return 1.0 if before.shape != after.shape else float(np.mean(np.max(np.abs(before - after), axis=2) > VISIBLE))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="of programs; none: all")
    parser.add_argument("--out", type=Path, help="a folder for the pictures")
    asked = parser.parse_args()
    chosen = [path for path in programs() if not asked.names or path.stem in asked.names]
    print(f"{'program':24s} {'pixels that differ':>18s} {'our fits':>9s} {'theirs':>7s}")
    worst = 0.0
    for program in chosen:
        before, after, ours, theirs = pictures_of(program)
        share = different(before, after)
        worst = max(worst, share)
        print(f"{program.stem:24s} {100 * share:17.3f}% {ours:9d} {theirs:7d}", flush=True)
        if asked.out is not None:
            asked.out.mkdir(parents=True, exist_ok=True)
            pyplot.imsave(asked.out / f"{program.stem}.png", np.hstack([before, after]).astype(np.uint8))
    print(f"{len(chosen)} programs, at most {100 * worst:.3f}% of the pixels differ")
    return int(worst > MOST or not chosen)


if __name__ == "__main__":
    sys.exit(main())
