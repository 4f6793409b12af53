"""One set at one C, ours against the peers at equal excess; and the bars.

(a) ours ends at a proven 1e-6 within the limit of time
(b) at the excess that a peer reached, ours is never slower than the peer by more than 20 ms
(c) geometric means of the speed-up:
      against the fastest peer, ours at the same excess    3 or more, on dense sets 5 or more
      to a proven 1e-6                                     10 or more; who does not reach it counts the limit
(d) a fit needs at most half as much memory as the data, besides the data (asked from 50 MB on)
(e) nobody's primal value is below a dual value of ours: a proof would be wrong
(f) judging and certifying take less than 10 % of the time of any fit (asked from 50 ms on)
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from linear_cache import Run
from linear_ours import REFERENCE_TOL, Rung
from race_bars import Bar, everywhere, on_average

ENOUGH = 1e-6
SLACK = 0.020  # seconds
TIMES_FASTEST = {"all": 3.0, "dense": 5.0}
TIMES_PROVEN = 10.0
ROUNDING = 1e-10  # relative, of a primal value
MOST_GROWTH, WATCHED_BYTES = 0.5, 50e6
MOST_PROOF, WATCHED_SECONDS = 0.1, 0.050
SAME = REFERENCE_TOL  # excesses below it are not told apart: the optimum is proven no better


class Terms(NamedTuple):
    """What holds for all races of a run; limits in seconds. Peers below `again` seconds were not taken from a cache."""

    loss: str
    threads: int
    time_limit: float
    peer_limit: float
    again: float


class Race(NamedTuple):
    """Who did what. `peers` holds everybody who was asked, and `rungs` is empty where ours did not run."""

    set_name: str
    C: float
    n: int
    d: int
    kind: str
    n_bytes: int
    terms: Terms
    peers: dict[str, Run]
    rungs: list[Rung]

    @property
    def name(self) -> str:
        return f"{self.set_name} C={self.C:g}"

    @property
    def best_primal(self) -> float:
        """P*, whoever found it."""
        return min((answer.primal for answer in (*self.peers.values(), *self.rungs)), default=math.inf)

    @property
    def best_gap(self) -> float:
        """How well P* is known: (P* - D*) / P*."""
        best_dual = max((rung.dual for rung in self.rungs), default=-math.inf)
        return (self.best_primal - best_dual) / self.best_primal

    def excess(self, primal: float) -> float:
        return (primal - self.best_primal) / self.best_primal

    @property
    def finishers(self) -> dict[str, Run]:
        return {name: run for name, run in self.peers.items() if run.seconds is not None and run.primal < math.inf}

    def ours_at(self, excess: float) -> float:
        """Seconds to that excess; infinite where no run of ours got there."""
        return self._shortest(rung for rung in self.rungs if self.excess(rung.primal) <= max(excess, SAME))

    def ours_proven(self, gap: float) -> float:
        return self._shortest(rung for rung in self.rungs if rung.gap <= gap)

    @staticmethod
    def _shortest(rungs: Iterable[Rung]) -> float:
        return min((rung.seconds for rung in rungs if rung.seconds is not None), default=math.inf)

    def speed_up(self, peer: str) -> float:
        """The time of a peer over ours at its excess; 0 where ours never got there."""
        run = self.peers[peer]
        return run.seconds / self.ours_at(self.excess(run.primal))

    @property
    def fastest(self) -> str | None:
        """The peer with the shortest time, whatever it reached."""
        return min(self.finishers, key=lambda name: self.peers[name].seconds, default=None)

    @property
    def closest(self) -> str | None:
        """The peer that gives us the hardest race."""
        return min(self.finishers, key=self.speed_up, default=None)

    @property
    def fastest_to_enough(self) -> tuple[str | None, float]:
        """The fastest of the peers that reached 1e-6, and its time; nobody, and the limit."""
        times = {name: run.seconds for name, run in self.finishers.items() if self.excess(run.primal) <= ENOUGH}
        name = min(times, key=times.get, default=None)
        return name, times.get(name, self.terms.peer_limit)

    @property
    def proven_speed_up(self) -> float:
        return self.fastest_to_enough[1] / self.ours_proven(ENOUGH)

    @property
    def growth(self) -> float | None:
        """The largest growth of the process over a fit, as a share of the data; None for small data."""
        grown = [rung.growth for rung in self.rungs if rung.seconds is not None]
        return max(grown) / self.n_bytes if grown and self.n_bytes >= WATCHED_BYTES else None

    @property
    def dearest_proof(self) -> Rung | None:
        """The fit with the largest share of proof; None where all of them are short."""
        long = [rung for rung in self.rungs if rung.seconds is not None and rung.seconds >= WATCHED_SECONDS]
        return max(long, key=lambda rung: rung.proof, default=None)

    @property
    def solver(self) -> str:
        """Who of ours gave the last answer, or why there is none."""
        answers = [rung.solver for rung in self.rungs if rung.seconds is not None]
        return answers[-1] if answers else self.rungs[-1].failure

    @property
    def losses(self) -> list[str]:
        """The peers that were faster, beyond the slack."""
        return [
            name for name, run in self.finishers.items() if self.ours_at(self.excess(run.primal)) > run.seconds + SLACK
        ]

    @property
    def missed(self) -> str:
        """The letters of the bars that are missed here."""
        if not self.rungs:
            return ""
        a = self.ours_proven(ENOUGH) > self.terms.time_limit
        d = self.growth is not None and self.growth > MOST_GROWTH
        e = self.best_gap < -ROUNDING
        f = self.dearest_proof is not None and self.dearest_proof.proof >= MOST_PROOF
        missed = {"a": a, "b": self.losses, "d": d, "e": e, "f": f}
        return "".join(letter for letter, is_missed in missed.items() if is_missed)

    def why(self, letter: str) -> str:
        """The race, and who or what missed that bar here."""
        if letter == "b":
            return f"{self.name} ({', '.join(self.losses)})"
        if letter == "f":
            return f"{self.name} ({self.dearest_proof.proof:.0%} at {self.dearest_proof.tol:g})"
        return self.name


def bars(races: list[Race]) -> list[Bar]:
    """The bars over all races that ours took part in; a mean over no race at all is left out."""
    races = [race for race in races if race.rungs]
    against_fastest = [(race, race.speed_up(race.fastest)) for race in races if race.fastest]
    closest = [(race, race.speed_up(race.closest)) for race in races if race.closest]
    dense = [pair for pair in against_fastest if pair[0].kind == "dense"]
    sparse = [pair for pair in against_fastest if pair[0].kind == "sparse"]
    noticeable = [pair for pair in against_fastest if pair[0].peers[pair[0].fastest].seconds > SLACK]
    proven = [(race, race.proven_speed_up) for race in races if race.peers]
    lines = [
        everywhere("a", "a proven 1e-6 within the limit", races),
        everywhere("b", "never slower at a peer's excess", races),
        on_average("c", "against the fastest peer: 3 times", against_fastest, TIMES_FASTEST["all"]),
        on_average("c", "against the fastest peer on dense sets: 5 times", dense, TIMES_FASTEST["dense"]),
        on_average("", "against the fastest peer on sparse sets", sparse),
        on_average("", "against the fastest peer where it takes more than 20 ms", noticeable),
        on_average("", "against the peer that is hardest to beat", closest),
        on_average("c", "to a proven 1e-6: 10 times", proven, TIMES_PROVEN),
        everywhere("d", "memory: data + 50 %", [race for race in races if race.growth is not None]),
        everywhere("e", "no proof is refuted", races),
        everywhere("f", "certificates below 10 % of the time", [race for race in races if race.dearest_proof]),
    ]
    return [line for line in lines if line is not None]
