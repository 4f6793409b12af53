"""The picture of the kernel benchmark: every peer's time over ours, at equal true gap."""

from pathlib import Path

from kernel_peers import peers_with
from kernel_race import Race

LOOSE = 1e-2  # gap from which on a peer's dot is hollow
LINE_HEIGHT = 0.155  # inches
NEVER = 10**-2.5  # where a race is drawn that ours did not finish


def draw(races: list[Race], path: Path, caption: str) -> None:
    """One line for each set and C, the easiest race on top."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    races = sorted((r for r in races if r.rungs and r.finishers), key=lambda race: race.speed_up(race.closest))
    if not races:
        return
    height = LINE_HEIGHT * (len(races) + 1) + 1.8
    figure = plt.figure(figsize=(8.5, height))
    axes = figure.add_axes((0.22, 1.1 / height, 0.74, LINE_HEIGHT * (len(races) + 1) / height))
    colours = dict(zip(peers_with(races[0].terms.threads), plt.get_cmap("tab10").colors, strict=False))
    for level, race in enumerate(races):
        ratios = {name: max(race.speed_up(name), NEVER) for name in race.finishers}
        axes.plot([min(ratios.values()), max(ratios.values())], [level, level], color="0.8", linewidth=0.8, zorder=1)
        for name, ratio in ratios.items():
            face = "none" if race.peers[name].gap > LOOSE else colours[name]
            axes.plot(ratio, level, "o", color=colours[name], mfc=face, markersize=4, markeredgewidth=0.9)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(races)), [race.name for race in races], fontsize=6.5)
    axes.set_ylim(-0.7, len(races) - 0.3)
    axes.grid(axis="both", color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="x", labelsize=7)
    axes.set_xlabel("peer's time / our time at the true gap that the peer reached", fontsize=8)
    axes.set_title("the rbf kernel: right of 1, ours is faster", fontsize=9)
    handles = [
        plt.Line2D([], [], marker="o", linestyle="", color=colour, label=name)
        for name, colour in colours.items()
        if any(name in race.finishers for race in races)
    ]
    handles.append(plt.Line2D([], [], marker="o", linestyle="", color="grey", mfc="none", label=f"gap above {LOOSE:g}"))
    figure.legend(handles=handles, loc="upper center", ncols=len(handles), frameon=False, fontsize=7)
    figure.text(0.5, 0.12 / height, caption, ha="center", fontsize=6, color="grey", wrap=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
