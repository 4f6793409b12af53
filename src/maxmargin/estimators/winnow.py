"""Winnow: learning by mistakes with multiplicative weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.certificates import theorems
from maxmargin.certificates.normalized import lengths_of
from maxmargin.certificates.passes import point_of, rounding
from maxmargin.certificates.proof import TheoremBound
from maxmargin.data.table import Vector, in_safe_range, largest_magnitude, matrix_of
from maxmargin.estimators.base import single
from maxmargin.estimators.declarations import WINNOW
from maxmargin.estimators.mistakes import MistakeDriven
from maxmargin.estimators.parameters import Declarations
from maxmargin.problems.choices import Norm, Order, Strategy
from maxmargin.problems.protocol import Iterate, Run
from maxmargin.problems.run_record import Phase
from maxmargin.problems.statement import Separation, TwoClasses
from maxmargin.problems.trace import Trace, UpdateObserver
from maxmargin.run.control import Clock
from maxmargin.solve.answer import Answer


@dataclass(frozen=True, eq=False)
class Game:
    """The last run of Winnow as a repeated game: a mixture of weights against a row that it gets wrong, round by round.

        payoff of a round   v.a / sum v, at most 0: the rows' player chooses a = y (x / s, 1) so that it is
        value               max over mixtures, min over rows = min over their mixtures, max over weights: the l1 margin
        regret              what the best single weight would have won in all rounds, less what the mixtures won

    strategy       the last mixture: the weights of the columns and of the bias, then of their opposites, 0 where there
                   are none
    choices        how often each row was chosen, over all rounds: a mixture too
    rounds         T, the mistakes of the last run
    value_lower    min over rows for the last mixture, opposites cancelled, rounded down (where it does not separate: 0,
                   which equal opposites win, or -1 where there are none), and
    value_upper    max over weights for the choices: the value lies between
    payoff         what the mixtures won in all T rounds
    regret         T value_upper - payoff, which is at most
    regret_bound   ln(m) / eta + T eta / 2, by Hoeffding's lemma (solvers/mistakes/winnow.py), for m weights
    """

    strategy: Vector
    choices: Vector
    rounds: int
    value_lower: float
    value_upper: float
    payoff: float
    regret: float
    regret_bound: float


class Winnow(MistakeDriven):
    """Balanced Winnow: few mistakes where few columns matter, because the weights are multiplied.

        on a mistake   v_j *= (1 - epsilon)^(-a_j)       a = y (x / s, 1), s = max |x_ij|, so that |a_j| <= 1

    Each column has two weights, one for either sign (balanced). The margin that counts is the l1 margin,
    min y (w.x + b) / |w|_1, and the certificate bounds it from both sides, in the units of X.

    Parameters
    ----------
    epsilon : float, default=None
        The step, in (0, 1/2]. None searches: it starts from 1/2 and halves its logarithm whenever more mistakes were
        made than the theorem allows.
    balanced : bool, default=True
        False keeps all weights of columns positive: for data where larger values speak for the positive class.
    order : {"cyclic", "shuffled", "worst_first", "drawn"}, default="cyclic"
        How the rows are visited: in turn; in a new order for each sweep; all are looked at before each update; each is
        drawn from all.
    fit_intercept : bool, default=True
        A bias, learnt as one more coordinate that is 1 in every row.
    normalize_rows : bool, default=False
        Divide each lifted row (x, 1) by its own largest number, in place of the whole table by s.
    max_updates : int, default=None
        The budget; None means 2,000,000 + 10 n, for n samples.
    record : bool or Trace, default=False
        Keep every update in `trace_`, in bounded memory; a Trace says how much: `record=Trace(limit=500)`.
    random_state : int, RandomState or None, default=0
        The seed of the shuffled and the drawn order; None takes another one for each fit.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One versus rest or one versus one, when there are more than two classes.
    max_time : float, default=None
        Seconds. What has been found by then is kept, with what is proven of it.
    verbose : int, default=0
        1 shows progress on stderr once a second, 2 every step.

    Attributes
    ----------
    coef_ : ndarray of shape (n_planes, n_features)
        w of each plane.
    intercept_ : ndarray of shape (n_planes,)
        b of each plane.
    certificate_ : Certificate or MulticlassCertificate
        What is proven of the l1 margin.
    margin_, street_ : float
        The l1 margin of the plane, proven from below; and twice that.
    trace_ : Trace
        With record, the updates; a list for more than one plane.
    game_ : Game
        With record, the last run as a repeated game; a list for more than one plane.

    Examples
    --------
    >>> from maxmargin import Winnow
    >>> model = Winnow().fit([[1, 0, 1], [1, 1, 0], [0, 0, 1], [0, 1, 0]], [1, 1, 0, 0])
    >>> model.predict([[1, 1, 1], [0, 1, 1]]).tolist()
    [1, 0]
    """

    norm_ = Norm.L1
    parameters: ClassVar[Declarations] = WINNOW

    def __init__(
        self,
        epsilon: float | None = None,
        *,
        balanced: bool = True,
        order: str = "cyclic",
        fit_intercept: bool = True,
        normalize_rows: bool = False,
        max_updates: int | None = None,
        record: bool | Trace = False,
        random_state: int | np.random.RandomState | None = 0,
        multi_class: str = "ovr",
        max_time: float | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.balanced = balanced
        self.order = order
        self.fit_intercept = fit_intercept
        self.normalize_rows = normalize_rows
        self.max_updates = max_updates
        self.record = record
        self.random_state = random_state
        self.multi_class = multi_class
        self.max_time = max_time
        self.verbose = verbose

    def _solver(self, problem: Separation, max_updates: int, trace: UpdateObserver | None, scale: float) -> Run:
        from maxmargin.solvers.mistakes.winnow import winnow

        return winnow(
            problem,
            epsilon=self.epsilon,
            balanced=self.balanced,
            order=Order(self.order),
            seed=self._seed(),
            max_updates=max_updates,
            trace=trace,
        )

    def _unit(self, answer: Answer) -> float:
        """Winnow sees the rows divided by their largest number."""
        if self.normalize_rows:
            return super()._unit(answer)
        return 1.0 / largest_magnitude(matrix_of(answer.two.X))

    def _store(self, X: Any, classes: Any, strategy: Strategy, answers: list[Answer]) -> None:
        super()._store(X, classes, strategy, answers)
        self.__dict__.pop("game_", None)
        traces = getattr(self, "trace_", [])
        traces = traces if isinstance(traces, list) else [traces]
        if traces:
            pairs = zip(traces, answers, strict=True)
            self.game_ = single([self._game(trace.phases[-1], answer) for trace, answer in pairs])

    def _game(self, phase: Phase, answer: Answer) -> Game:
        """Measured on the rows: of the run itself only the choices, and what it met in its rounds."""
        X, signs, d = matrix_of(answer.two.X), answer.two.signs, answer.two.X.shape[1]
        table, a, eta = in_safe_range(X), answer.iterate.a, -math.log1p(-phase.tried)
        s = 1.0 if self.normalize_rows else largest_magnitude(table.X) or 1.0
        p = np.append(point_of(table.X, signs * a) / s, math.fsum(signs * a) if self.fit_intercept else 0.0)
        below = np.append(np.full(d, self.balanced), self.fit_intercept)
        exponents = np.concatenate([p, np.where(below, -p, -np.inf)])
        exponents[d] = exponents[d] if self.fit_intercept else -np.inf
        v = np.exp(eta * (exponents - exponents.max()))
        T, weights = phase.updates, np.count_nonzero(exponents > -np.inf)
        certificate: Any = answer.certificate
        w, b = certificate.w, certificate.b
        value = 1.0 / theorems.winnow_ratio(X, signs, w, b, self.fit_intercept, self.normalize_rows)
        if value == 0.0 and not (self.balanced or self.fit_intercept):
            value = -1.0  # opposites would make a mixture that wins 0; without them all that is sure is |a| <= 1
        counts = a * lengths_of(table.X, "l1", self.fit_intercept) if self.normalize_rows else a
        return Game(
            strategy=v / v.sum(),
            choices=counts / max(1.0, float(counts.sum())),
            rounds=T,
            value_lower=value,
            value_upper=float(exponents.max()) / T + rounding(len(a) + 8) if T else math.inf,
            payoff=phase.payoff,
            regret=float(exponents.max()) - phase.payoff,
            regret_bound=math.log(weights) / eta + T * eta / 2.0,
        )

    def _best_plane(self, problem: Separation, clock: Clock) -> tuple[Vector, float] | None:
        """Where no weight of a column is negative, the theorem is about planes that have none."""
        return super()._best_plane(problem, clock) if self.balanced else None

    def _theorems(self, two: TwoClasses, w: Vector, b: float, iterate: Iterate) -> tuple[TheoremBound, ...]:
        weights = two.X.shape[1] * (2 if self.balanced else 1) + (2 if self.fit_intercept else 0)
        return theorems.winnow_mistakes(
            two.X, two.signs, w, b, self.fit_intercept, iterate.updates, weights, epsilon=self.epsilon,
            normalized=self.normalize_rows,
        )  # fmt: skip
