"""The picture of the kernel benchmark: every peer's time over ours, at equal true gap."""

from pathlib import Path

from kernel_peers import peers_with
from kernel_race import Race
from kernel_table import gap
from race_picture import LINE_HEIGHT, dots, draw_panel, hardest


def draw(races: list[Race], path: Path, caption: str) -> None:
    """One line for each set and C, the easiest race on top."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    races = sorted((r for r in races if r.rungs and r.finishers), key=hardest)
    if not races:
        return
    height = LINE_HEIGHT * (len(races) + 1) + 1.8
    figure = plt.figure(figsize=(8.5, height))
    axes = figure.add_axes((0.22, 1.1 / height, 0.74, LINE_HEIGHT * (len(races) + 1) / height))
    colours = dict(zip(peers_with(races[0].terms.threads), plt.get_cmap("tab10").colors, strict=False))
    draw_panel(axes, races, colours, gap)
    axes.tick_params(axis="x", labelsize=7)
    axes.set_xlabel("peer's time / our time at the true gap that the peer reached", fontsize=8)
    axes.set_title("the rbf kernel: right of 1, ours is faster", fontsize=9)
    handles = dots(races, colours, "gap")
    figure.legend(handles=handles, loc="upper center", ncols=len(handles), frameon=False, fontsize=7)
    figure.text(0.5, 0.12 / height, caption, ha="center", fontsize=6, color="grey", wrap=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
