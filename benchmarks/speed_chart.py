"""Draw the chart of the README from the tables of the races: every race against its fastest peer.

    python benchmarks/speed_chart.py

It measures nothing. It reads `results/linear.md` and `results/kernel.md`, which `linear.py` and `kernel.py` printed,
writes `results/speed.png`, and prints the figures of the sentence beside it. One dot is one race: to the right, how
long the fastest peer took; upwards, its time over ours at the accuracy that this peer reached.
"""

from pathlib import Path
from typing import NamedTuple

from race_bars import geometric_mean

RESULTS = Path(__file__).parent / "results"
PANELS = {"linear.md": "LinearSVM, hinge loss", "kernel.md": "KernelSVM, rbf kernel"}
NOTICED = 0.02  # seconds, from which on a person minds


class Dot(NamedTuple):
    """A race: the seconds of its fastest peer, and these over ours."""

    peer_seconds: float
    times: float


def main() -> None:
    panels = {title: dots_of((RESULTS / name).read_text(encoding="utf-8")) for name, title in PANELS.items()}
    for title, dots in panels.items():
        print(f"{title}: {sentence(dots)}")
    draw(panels, RESULTS / "speed.png")


def dots_of(report: str) -> list[Dot]:
    """The races of a report whose fastest peer ended in time."""
    lines = iter(report.splitlines())
    header = next(cells for cells in map(cells_of, lines) if cells[:3] == ["set", "n", "d"])
    seconds, ratio = header.index("its s"), header.index("times")
    next(lines)  # the rule below the header
    dots = []
    for line in lines:
        if not line.startswith("|"):
            break
        cells = cells_of(line)
        if cells[seconds]:
            dots.append(Dot(float(cells[seconds]), float(cells[ratio])))
    return dots


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def mean_where_noticed(dots: list[Dot]) -> float:
    return geometric_mean([dot.times for dot in dots if dot.peer_seconds > NOTICED])


def sentence(dots: list[Dot]) -> str:
    brief = [dot.times for dot in dots if dot.peer_seconds <= NOTICED]
    parts = [f"{len(dots)} races", f"{mean_where_noticed(dots):.1f} times where the fastest peer takes more than 20 ms"]
    if brief:
        parts.append(f"{geometric_mean(brief):.2f} times in the {len(brief)} below")
    return ", ".join([*parts, f"slower in {sum(dot.times < 1 for dot in dots)}"])


def draw(panels: dict[str, list[Dot]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter

    figure, axes = plt.subplots(1, len(panels), figsize=(9.6, 3.9), sharey=True, layout="constrained")
    for panel, (title, dots), colour in zip(axes, panels.items(), ("#0072b2", "#d55e00"), strict=True):
        panel.axhspan(1, 1e3, color="#009e73", alpha=0.07, linewidth=0)
        panel.axhline(1, color="0.25", linewidth=1)
        panel.scatter(*zip(*dots, strict=True), s=26, color=colour, alpha=0.75, edgecolor="white", linewidth=0.6)
        panel.set(xscale="log", yscale="log", ylim=(0.025, 120), xlim=(4e-5, 90), title=title)
        panel.set_xlabel("seconds of the fastest peer")
        panel.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        panel.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}x"))
        panel.grid(color="0.92", linewidth=0.6)
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("faster than it, at its accuracy")
    axes[0].text(5e-5, 80, "maxmargin is faster", color="#007a5a", va="top")
    axes[0].text(70, 0.03, "the peer is faster", color="0.35", va="bottom", ha="right")
    figure.savefig(path, dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    main()
