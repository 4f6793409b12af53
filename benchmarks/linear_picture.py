"""The picture of the linear benchmark: every peer's time over ours, at equal excess."""

from pathlib import Path

from linear_peers import PEERS
from linear_race import Race
from linear_table import excess
from race_picture import LINE_HEIGHT, dots, draw_panel, hardest


def draw(races: list[Race], path: Path, caption: str) -> None:
    """Two panels, dense and sparse; one line for each set and C, the easiest race on top."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    races = [race for race in races if race.rungs and race.finishers]
    panels = {kind: sorted((r for r in races if r.kind == kind), key=hardest) for kind in ("dense", "sparse")}
    panels = {kind: lines for kind, lines in panels.items() if lines}
    if not panels:
        return
    tallest = max(map(len, panels.values()))
    height = LINE_HEIGHT * (tallest + 1) + 1.9
    figure = plt.figure(figsize=(7.2 * len(panels), height))
    colours = dict(zip(PEERS[races[0].terms.loss], plt.get_cmap("tab10").colors, strict=False))
    for column, (kind, lines) in enumerate(panels.items()):
        panel_height = LINE_HEIGHT * (len(lines) + 1) / height
        left, width = (column + 0.26) / len(panels), 0.70 / len(panels)
        axes = figure.add_axes((left, 1 - 1.0 / height - panel_height, width, panel_height))
        draw_panel(axes, lines, colours, excess)
        axes.tick_params(axis="x", labelsize=7, top=True, labeltop=True)
        axes.set_xlabel("peer's time / our time at the excess that the peer reached", fontsize=8)
        axes.set_title(f"{kind} sets: right of 1, ours is faster", fontsize=9)
    handles = dots(races, colours, "excess")
    figure.legend(
        handles=handles, loc="upper center", ncols=min(5 * len(panels), len(handles)), frameon=False, fontsize=8
    )
    figure.text(0.5, 0.12 / height, caption, ha="center", fontsize=6.5, color="grey", wrap=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
