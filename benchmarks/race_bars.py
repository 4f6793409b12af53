"""The bars of a race: what is asked of all races together, what came out, and where it was missed."""

from typing import NamedTuple, Protocol

import numpy as np


class Judged(Protocol):
    """A race that knows the letters of the bars that it misses, and why."""

    @property
    def name(self) -> str: ...
    @property
    def missed(self) -> str: ...
    def why(self, letter: str) -> str: ...


class Bar(NamedTuple):
    """One line of the summary: what was asked, what came out, and where it was missed; no letter, no bar."""

    letter: str
    asks: str
    found: str
    holds: bool
    where: list[str]


def everywhere(letter: str, asks: str, races: list[Judged]) -> Bar | None:
    missed = [race for race in races if letter in race.missed]
    found = f"{len(races) - len(missed)} of {len(races)}"
    return Bar(letter, asks, found, not missed, [race.why(letter) for race in missed]) if races else None


def on_average(letter: str, asks: str, ratios: list[tuple[Judged, float]], factor: float = 0.0) -> Bar | None:
    """The mean, and the races that are lost, the worst first."""
    if not ratios:
        return None
    mean = geometric_mean([ratio for _, ratio in ratios])
    lost = sorted((ratio, race.name) for race, ratio in ratios if ratio < 1)
    return Bar(letter, asks, f"{mean:.2f} times", mean >= factor, [f"{name} ({ratio:.2g})" for ratio, name in lost])


def geometric_mean(ratios: list[float]) -> float:
    """A ratio of 0, a race that we did not finish, counts as 1e-3."""
    return float(np.exp(np.mean(np.log(np.maximum(ratios, 1e-3)))))


def summary(bars: list[Bar]) -> list[str]:
    """The bars as a table."""
    lines = ["| bar | asks | found | holds | missed at; for a mean, the races that are lost |", "|---|---|--:|---|---|"]
    for bar in bars:
        letter, held = (f"({bar.letter})", "yes" if bar.holds else "NO") if bar.letter else ("", "")
        lines.append(f"| {letter} | {bar.asks} | {bar.found} | {held} | {'; '.join(bar.where)} |")
    return lines
