"""Draw the pictures of the documentation, the same ones every time.

    python docs/make_pictures.py

street.png: on the left the widest street and the rows that hold it, on the right data that no plane separates, with
the rows that prove it.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot

from maxmargin import HardMarginSVM, separability
from maxmargin.data import synthetic
from maxmargin.plots import StreetDisplay

HERE = Path(__file__).parent


def draw_street(path):
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 6.65), dpi=150, layout="constrained")
    X, y, _ = synthetic.street(n=60, width=1.0, angle=35.0, seed=10)
    StreetDisplay.from_estimator(HardMarginSVM().fit(X, y), X, y, ax=left)
    X, y = synthetic.overlapping(n=44, distance=3.6, seed=1)
    StreetDisplay.from_certificate(separability(X, y), X, y, ax=right)
    figure.savefig(path)
    pyplot.close(figure)
    print(path)


if __name__ == "__main__":
    draw_street(HERE / "street.png")
