"""The picture of the linear benchmark: every peer's time over ours, at equal excess."""

from pathlib import Path

from linear_peers import PEERS
from linear_race import Race

LOOSE = 1e-2  # excess from which on a peer's dot is hollow
LINE_HEIGHT = 0.155  # inches
NEVER = 10**-2.5  # where a race is drawn that ours did not finish


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
        draw_panel(axes, kind, lines, colours)
    handles = [
        plt.Line2D([], [], marker="o", linestyle="", color=colours[name], label=name)
        for name in colours
        if any(name in race.finishers for race in races)
    ]
    handles.append(
        plt.Line2D([], [], marker="o", linestyle="", color="grey", mfc="none", label=f"excess above {LOOSE:g}")
    )
    figure.legend(
        handles=handles, loc="upper center", ncols=min(5 * len(panels), len(handles)), frameon=False, fontsize=8
    )
    figure.text(0.5, 0.12 / height, caption, ha="center", fontsize=6.5, color="grey", wrap=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def hardest(race: Race) -> float:
    return race.speed_up(race.closest)


def draw_panel(axes, kind: str, races: list[Race], colours: dict[str, tuple]) -> None:
    for height, race in enumerate(races):
        ratios = [max(race.speed_up(name), NEVER) for name in race.finishers]
        axes.plot([min(ratios), max(ratios)], [height, height], color="0.8", linewidth=0.8, zorder=1)
        for name, run in race.finishers.items():
            ratio = max(race.speed_up(name), NEVER)
            face = "none" if race.excess(run.primal) > LOOSE else colours[name]
            axes.plot(ratio, height, "o", color=colours[name], mfc=face, markersize=4, markeredgewidth=0.9)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(races)), [race.name for race in races], fontsize=6.5)
    axes.set_ylim(-0.7, len(races) - 0.3)
    axes.grid(axis="both", color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="x", labelsize=7, top=True, labeltop=True)
    axes.set_xlabel("peer's time / our time at the excess that the peer reached", fontsize=8)
    axes.set_title(f"{kind} sets: right of 1, ours is faster", fontsize=9)
