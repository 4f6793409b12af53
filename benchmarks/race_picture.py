"""What the pictures of the races share: a panel with one line for each race, and the legend."""

from collections.abc import Callable
from typing import Any

LOOSE = 1e-2  # from which on a peer's dot is hollow
LINE_HEIGHT = 0.155  # inches
NEVER = 10**-2.5  # where a race is drawn that ours did not finish


def hardest(race: Any) -> float:
    return race.speed_up(race.closest)


def draw_panel(axes, races: list[Any], colours: dict[str, tuple], reached: Callable[[Any, Any], float]) -> None:
    """Every peer's time over ours, where ours is at what the peer reached."""
    for height, race in enumerate(races):
        ratios = {name: max(race.speed_up(name), NEVER) for name in race.finishers}
        axes.plot([min(ratios.values()), max(ratios.values())], [height, height], color="0.8", linewidth=0.8, zorder=1)
        for name, ratio in ratios.items():
            face = "none" if reached(race, race.peers[name]) > LOOSE else colours[name]
            axes.plot(ratio, height, "o", color=colours[name], mfc=face, markersize=4, markeredgewidth=0.9)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(races)), [race.name for race in races], fontsize=6.5)
    axes.set_ylim(-0.7, len(races) - 0.3)
    axes.grid(axis="both", color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)


def dots(races: list[Any], colours: dict[str, tuple], measure: str) -> list[Any]:
    """What the legend shows: the peers that finished a race, and a hollow dot."""
    from matplotlib.lines import Line2D

    there = [name for name in colours if any(name in race.finishers for race in races)]
    hollow = Line2D([], [], marker="o", linestyle="", color="grey", mfc="none", label=f"{measure} above {LOOSE:g}")
    return [*(Line2D([], [], marker="o", linestyle="", color=colours[name], label=name) for name in there), hollow]
