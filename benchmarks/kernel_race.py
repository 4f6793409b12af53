"""One set at one C, ours against the peers at equal true gap; and the bars.

(a) every fit of ours that was asked for 1e-3 or less ends with a proof of 1e-3
(b) from 5000 rows on, ours is at least twice as fast as the fastest peer, at the gap that the peer reached
(c) the geometric mean of that speed-up over all sets is 3 or more
(d) on smaller sets ours is never slower than a peer by more than 20 ms, at the gap that the peer reached
(e) the made set of 100,000 rows is solved to a proven 1e-3 in 2 GB besides the data
(f) nobody's primal value is below a dual value of ours, and nobody's dual value above a primal value of ours: a proof
    would be wrong

Ours at a gap is the fit with the largest `tol` that the judge finds at that gap or below: what one has to ask for.
"""

import math
from typing import Any, NamedTuple

from kernel_cache import KernelRun
from kernel_ours import TOLS, Rung
from kernel_sets import LARGE_MADE
from race_bars import Bar, everywhere, on_average

ENOUGH = 1e-3
SLACK = 0.020  # seconds
MANY_ROWS = 5000
TIMES_FASTEST = 2.0
TIMES_ON_AVERAGE = 3.0
MOST_GROWTH = 2 * 2**30  # bytes
ROUNDING = 1e-9  # relative, of a primal value
SAME = TOLS[-1]  # gaps below it are not told apart: ours are not asked for less


class Terms(NamedTuple):
    """What holds for all races of a run; limits in seconds, the cache of ours in MB.

    Peers below `again` seconds were not taken from a cache.
    """

    threads: int
    time_limit: float
    peer_limit: float
    cache_size: float
    again: float


class Race(NamedTuple):
    """Who did what. `peers` holds everybody who was asked, and `rungs` is empty where ours did not run."""

    set_name: str
    C: float
    n: int
    d: int
    kind: str
    terms: Terms
    peers: dict[str, KernelRun]
    rungs: list[Rung]

    @property
    def name(self) -> str:
        return f"{self.set_name} C={self.C:g}"

    @property
    def best_primal(self) -> float:
        """The best value of the objective, whoever found it."""
        return min((answer.primal for answer in (*self.peers.values(), *self.rungs)), default=math.inf)

    @property
    def best_gap(self) -> float:
        """How well the optimum is known: from the best primal value of anybody to the best proven dual value."""
        return (self.best_primal - max((rung.lower for rung in self.rungs), default=-math.inf)) / self.best_primal

    @property
    def is_refuted(self) -> bool:
        best_dual = max((answer.dual for answer in (*self.peers.values(), *self.rungs)), default=-math.inf)
        upper = min((rung.upper for rung in self.rungs), default=math.inf)
        return self.best_gap < -ROUNDING or best_dual > upper * (1.0 + ROUNDING)

    @property
    def answers(self) -> list[Rung]:
        return [rung for rung in self.rungs if rung.seconds is not None]

    @property
    def finishers(self) -> dict[str, KernelRun]:
        return {name: run for name, run in self.peers.items() if run.seconds is not None and run.primal < math.inf}

    def ours_at(self, gap: float) -> float:
        """Seconds to that true gap; infinite where no run of ours got there."""
        return self._loosest([rung for rung in self.answers if rung.gap <= max(gap, SAME)])

    def ours_proven(self, gap: float) -> float:
        return self._loosest([rung for rung in self.answers if rung.proven <= gap])

    @staticmethod
    def _loosest(rungs: list[Rung]) -> float:
        return max(rungs, key=lambda rung: rung.tol).seconds if rungs else math.inf

    def speed_up(self, peer: str) -> float:
        """The time of a peer over ours at its gap; 0 where ours never got there."""
        run = self.peers[peer]
        return run.seconds / self.ours_at(run.gap)

    @property
    def fastest(self) -> str | None:
        """The peer with the shortest time, whatever it reached."""
        return min(self.finishers, key=lambda name: self.peers[name].seconds, default=None)

    @property
    def closest(self) -> str | None:
        """The peer that gives us the hardest race."""
        return min(self.finishers, key=self.speed_up, default=None)

    @property
    def losses(self) -> list[str]:
        """The peers that were faster, beyond the slack."""
        return [name for name, run in self.finishers.items() if self.ours_at(run.gap) > run.seconds + SLACK]

    @property
    def growth(self) -> int:
        """The largest growth of the process over a fit, in bytes."""
        return max((rung.growth for rung in self.answers), default=0)

    @property
    def is_proven(self) -> bool:
        asked = [rung for rung in self.rungs if rung.tol <= ENOUGH]
        return bool(asked) and all(rung.proven <= ENOUGH for rung in asked)

    @property
    def is_large(self) -> bool:
        return self.n >= MANY_ROWS

    @property
    def missed(self) -> str:
        """The letters of the bars that are missed here."""
        if not self.rungs:
            return ""
        missed = {
            "a": not self.is_proven,
            "b": self.is_large and self.fastest is not None and self.speed_up(self.fastest) < TIMES_FASTEST,
            "d": not self.is_large and self.losses,
            "e": self.set_name == LARGE_MADE
            and (self.ours_proven(ENOUGH) > self.terms.time_limit or self.growth > MOST_GROWTH),
            "f": self.is_refuted,
        }
        return "".join(letter for letter, is_missed in missed.items() if is_missed)

    def why(self, letter: str) -> str:
        """The race, and who or what missed that bar here."""
        if letter == "b":
            return f"{self.name} ({self.speed_up(self.fastest):.2g} times {self.fastest})"
        if letter == "d":
            return f"{self.name} ({', '.join(self.losses)})"
        if letter == "e":
            return f"{self.name} ({self.growth / 2**30:.1f} GB)"
        return self.name


def race_of(entry: dict) -> Race:
    """A race as JSON holds it, where what is not finite is null."""
    terms = Terms(**{name: math.inf if value is None else value for name, value in entry["terms"].items()})
    peers = {name: restored(KernelRun, run, primal=math.inf, dual=-math.inf) for name, run in entry["peers"].items()}
    ends = {"primal": math.inf, "dual": -math.inf, "upper": math.inf, "lower": -math.inf}
    rungs = [restored(Rung, rung, **ends) for rung in entry["rungs"]]
    plain = {name: entry[name] for name in ("set_name", "C", "n", "d", "kind")}
    return Race(**plain, terms=terms, peers=peers, rungs=rungs)


def restored(kind: type, entry: dict, **where_null: float) -> Any:
    found = {name: entry[name] for name in kind._fields}
    return kind(**found | {name: value for name, value in where_null.items() if found[name] is None})


def bars(races: list[Race]) -> list[Bar]:
    """The bars over all races that ours took part in; a mean over no race at all is left out."""
    races = [race for race in races if race.rungs]
    raced = [race for race in races if race.fastest]
    large = [race for race in raced if race.is_large]
    against_fastest = [(race, race.speed_up(race.fastest)) for race in raced]
    noticeable = [pair for pair in against_fastest if pair[0].peers[pair[0].fastest].seconds > SLACK]
    closest = [(race, race.speed_up(race.closest)) for race in raced]
    lines = [
        everywhere("a", "every fit ends proven at 1e-3", races),
        everywhere("b", f"n >= {MANY_ROWS}: {TIMES_FASTEST:g} times the fastest peer at equal gap", large),
        on_average("c", "against the fastest peer: 3 times", against_fastest, TIMES_ON_AVERAGE),
        on_average("", f"the same, n >= {MANY_ROWS}", [pair for pair in against_fastest if pair[0].is_large]),
        on_average("", "the same, where the peer takes more than 20 ms", noticeable),
        on_average("", "against the peer that is hardest to beat", closest),
        everywhere("d", f"n < {MANY_ROWS}: never slower by more than 20 ms", [r for r in raced if not r.is_large]),
        everywhere("e", f"{LARGE_MADE}: a proven 1e-3 in 2 GB", [r for r in races if r.set_name == LARGE_MADE]),
        everywhere("f", "no proof is refuted", races),
    ]
    return [line for line in lines if line is not None]
