"""What solver and judge say to each other, and the state of a run: all that is needed to go on with it.

A solver is a generator over its `State` that shows iterates. Their arrays are its own, still changing: whoever keeps
one copies it. An iterate that proposes nothing is a pause between two steps, in which the clock is read. One that
proposes asks to be evaluated. For a soft margin the judge answers with an `Evaluation`, and the solver goes on from
there until it is closed; where it gets None, it goes on as if it had not asked. For a separation a proposal is the end:
what it shows is certified. `yield None` shows nothing. It says that the solver is at rest: the run could go on from its
state as it is now, in this process or in another, for no local variable matters there. `snapshot` copies the state,
and `restore` brings another process to the same place.

A state is a dataclass. Its varying fields are what the steps change; the others follow from the problem, and whoever
starts the state again has them.

    @dataclass
    class Sweeps(State):
        squares: Vector                             of the problem
        a: Vector = varying()                       an array, a number, a flag, a text
        gaps: list[float] = varying(grows=True)     of any length
        plane: Plane = varying(parts=("w", "b"))    a named tuple, or these of its fields: the others are derived
        inner: State | None = varying(None)         the state of whoever is at work for this one

What was kept of an inner state waits, as `Kept`, until `state.inner = fresh` begins it, which takes it over. A
varying array of int64 holds numbers of rows, -1 to n - 1, and is refused otherwise: keep counts as float64. A field
keeps its type: an int that becomes a float is refused. What an earlier process wrote is compared with what this one
would write: other names, types or shapes are refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.data.table import Vector, is_sparse

Record = dict[str, Any]
Shown = TypeVar("Shown")

GENERATOR = ("random", "stream", "has_half", "half")


class StateError(ValueError):
    """What an earlier process kept does not fit this run."""


class Kept(dict[str, Any]):
    """What an earlier process kept of something that has not begun here; of a run on so many rows."""

    def __init__(self, record: Record, n_rows: int) -> None:
        super().__init__(record)
        self.n_rows = n_rows


@dataclass(eq=False)
class State:
    """The base of all states."""

    def before_snapshot(self) -> None:
        """Bring varying fields up to date that are only there to be kept."""

    def after_restore(self) -> None:
        """Whatever is derived from the varying fields, anew; a `StateError` where they cannot be of this run."""

    def own_rows(self, n_rows: int) -> int:
        """How many rows its numbers of rows are of, where whoever holds it has so many."""
        return n_rows


class Waiting(State):
    """A state of which something has not begun here: what begins takes over what was kept of it.

    A class of its own, which a restored state is made: in other runs nobody asks at each field that is set.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        kept = vars(self).get(name)
        if isinstance(kept, Kept) and isinstance(value, State):
            restore(value, kept, kept.n_rows, place=f"the state {type(value).__name__!r}")
        super().__setattr__(name, value)


def varying(
    default: Any = dataclasses.MISSING,
    *,
    factory: Callable[[], Any] | None = None,
    grows: bool = False,
    lasting: bool = False,
    parts: tuple[str, ...] = (),
    replaced: bool = False,
) -> Any:
    """A field that the run changes. `grows`: an array or list of any length. `lasting`: kept when the run has ended.
    `replaced`: by another, and never written to, so that a snapshot shares its arrays."""
    metadata = {"varying": True, "grows": grows, "lasting": lasting, "parts": parts, "replaced": replaced}
    if factory is not None:
        return dataclasses.field(default_factory=factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def varying_fields(state: State, ended: bool) -> list[dataclasses.Field[Any]]:
    fields = [field for field in dataclasses.fields(state) if field.metadata.get("varying")]
    return [field for field in fields if field.metadata["lasting"]] if ended else fields


def snapshot(state: State, *, ended: bool = False) -> Record:
    """A copy of all that varies; of a run that has ended, of what lasts."""
    state.before_snapshot()
    record = {}
    for field in varying_fields(state, ended):
        only, shares = field.metadata["parts"], field.metadata["replaced"]
        value = copied(getattr(state, field.name), ended, only, shares)
        if value is not None:
            record[field.name] = value
    return record


def copied(value: Any, ended: bool = False, only: tuple[str, ...] = (), shares: bool = False) -> Any:
    """A value that no longer changes, as Python's own number, as an array, or as a record of such."""
    if isinstance(value, State):
        return snapshot(value, ended=ended)
    if isinstance(value, np.ndarray):
        return value if shares else value.copy()
    if is_sparse(value):
        return {name: copied(getattr(value, name), shares=shares) for name in ("data", "indices", "indptr")}
    if isinstance(value, list):
        return np.array(value)
    if isinstance(value, np.random.Generator):
        return numbers_of(value)
    if (parts := parts_of(value, only)) is not None:
        return {name: copied(part, shares=shares) for name, part in parts.items() if part is not None}
    return value.item() if isinstance(value, np.generic) else value


def parts_of(value: Any, only: tuple[str, ...] = ()) -> dict[str, Any] | None:
    """The fields, or some of them, of a named tuple or of a dataclass; None of anything else."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        names: Iterable[str] = value._fields
    elif dataclasses.is_dataclass(value):
        names = (field.name for field in dataclasses.fields(value))
    else:
        return None
    return {name: getattr(value, name) for name in only or names}


def restore(state: State, kept: Record, n_rows: int, *, ended: bool = False, place: str = "the run") -> None:
    """Bring the state to where the record was made."""
    own, n_rows = {field.name: field for field in varying_fields(state, ended)}, state.own_rows(n_rows)
    for name in kept:
        if name not in own:
            raise StateError(f"{place} has {name[:40]!r}, which this run does not know")
    for name, field in own.items():
        now = getattr(state, name)
        if name not in kept:
            if isinstance(now, State) and snapshot(now, ended=ended) == {}:
                continue
            if now is not None:
                raise StateError(f"{place} says nothing of {name!r}")
            continue
        grows, only = field.metadata["grows"], field.metadata["parts"]
        found = brought_back(now, kept[name], n_rows, grows, ended, f"{name!r} of {place}", only)
        setattr(state, name, found)
        if isinstance(found, Kept) and not isinstance(state, Waiting):
            state.__class__ = type(type(state).__name__, (Waiting, type(state)), {})
    state.after_restore()


def brought_back(
    own: Any, value: Any, n_rows: int, grows: bool, ended: bool, place: str, only: tuple[str, ...] = ()
) -> Any:
    """The kept value in place of the state's own; arrays that keep their shape are written to where they are."""
    if own is None and isinstance(value, dict):
        return Kept(value, n_rows)
    if isinstance(own, State):
        if not isinstance(value, dict):
            raise StateError(f"{place} cannot be of this run")
        restore(own, value, n_rows, ended=ended, place=place)
        return own
    if isinstance(own, np.random.Generator):
        put_numbers(own, value, place)
        return own
    if (parts := parts_of(own, only)) is not None:
        if not isinstance(value, dict) or not set(value) <= set(parts):
            raise StateError(f"{place} cannot be of this run")
        missing = {name for name, part in parts.items() if part is not None} - set(value)
        if missing:
            raise StateError(f"{place} says nothing of {min(missing)!r}")
        found = {
            name: brought_back(part, value[name], n_rows, grows, ended, f"{name!r} of {place}")
            if name in value
            else None
            for name, part in parts.items()
        }
        return type(own)(**{**(parts_of(own) or {}), **found})
    if own is None:  # what need not be there: a vector
        own = np.zeros(0)
    if isinstance(own, list):
        if not fits(value, np.array(own), True, n_rows):
            raise StateError(f"{place} cannot be of this run")
        return [tuple(entry) if isinstance(entry, list) else entry for entry in value.tolist()]
    if not fits(value, own.item() if isinstance(own, np.generic) else own, grows, n_rows):
        raise StateError(f"{place} cannot be of this run")
    if isinstance(own, np.ndarray) and own.shape == value.shape and own.flags.writeable:
        own[...] = value
        return own
    return value


def fits(value: Any, own: Any, grows: bool, n_rows: int) -> bool:
    if not isinstance(own, np.ndarray):
        return type(value) is type(own)
    if not isinstance(value, np.ndarray) or value.dtype != own.dtype or value.ndim != own.ndim:
        return False
    if own.dtype == np.int64 and not are_rows(value, n_rows):
        return False
    skipped = 1 if grows else 0
    return bool(value.shape[skipped:] == own.shape[skipped:])


def are_rows(numbers: NDArray[Any], n_rows: int) -> bool:
    return bool(numbers.size == 0 or (numbers.min() >= -1 and numbers.max() < n_rows))


def numbers_of(random: np.random.Generator) -> Record:
    """The state of a generator of the usual kind, PCG64."""
    own: Any = random.bit_generator.state
    numbers = (own["state"]["state"], own["state"]["inc"], bool(own["has_uint32"]), own["uinteger"])
    return dict(zip(GENERATOR, numbers, strict=True))


def put_numbers(random: np.random.Generator, kept: Any, place: str) -> None:
    """The way back; `stream` is odd in every generator."""
    own = numbers_of(random)
    if not isinstance(kept, dict) or {name: type(value) for name, value in kept.items()} != {
        name: type(value) for name, value in own.items()
    }:
        raise StateError(f"{place} cannot be of this run")
    number, stream, has_half, half = (kept[name] for name in GENERATOR)
    words = {"state": number % 2**128, "inc": stream % 2**128 | 1}
    random.bit_generator.state = {
        "bit_generator": "PCG64", "state": words, "has_uint32": int(has_half), "uinteger": half % 2**32,
    }  # fmt: skip


@dataclass(eq=False, slots=True)
class Iterate:
    """What a solver shows between two steps; nothing in it is believed before it is certified.

    w, b      the plane w.x + b = 0
    a         weights of the rows, none negative. Separation: in any scale, as mistake counts are. Soft margin: dual
              variables, 0 <= a_i <= u_i; the judge clips them to that, scales the heavier class down until
              sum_i a_i y_i = 0, and takes the best D(t a), t <= 1 where the box is finite
    proposes  it asks to be evaluated: the algorithm has ended by its own rule, or believes that it is near enough
    updates   steps so far, in its own unit: changes of w or of the active set, sweeps, iterations; n_updates_
    sweeps    passes over the rows so far; n_iter_, and what `max_iter` ends a soft margin by

    What only some algorithms know; leave out what yours does not:

    gap       (P - D) / P as the solver believes it (nan: unknown). It is shown, and "auto" extrapolates it; where a
              solver hands over, its last point is kept if this is below 1/2
    primal    P of the plane, likewise, for the solver itself
    dual      D of the weights, likewise. At a proposal the judge does not measure the weights if this cannot reach tol:
              too large costs a pass, too small hides a proof. In doubt leave it nan: then they are always measured
    passes    rows read so far / rows of the table: "auto" compares it with what the next solver would need
    meets     the hulls of the classes meet in the combination of rows that `a` is: a witness
    averaged  the mean of the planes on the way, its bias as the last entry
    searched  the number that a search in phases is trying now: the guess of a margin, the eta of Winnow
    loss      the mean loss that the steps met
    active    how many rows are active, for whoever observes
    solver    the name of the algorithm; whoever runs it writes it
    """

    w: Vector
    b: float
    a: Vector
    proposes: bool = False
    updates: int = 0
    sweeps: int = 0
    gap: float = np.nan
    primal: float = np.nan
    dual: float = np.nan
    passes: float = 0.0
    meets: bool = False
    averaged: Vector | None = None
    searched: float = np.nan
    loss: float = 0.0
    active: int = 0
    solver: str = ""

    @property
    def gap_is_known(self) -> bool:
        return self.gap == self.gap


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What the judge answers to a proposal. What is proven is kept by the judge; this is for the solver to go on with.

    primal   the least objective of a plane so far (kernels: of this proposal, inf where it was not measured)
    dual     the best dual value so far. Where the solver's own `dual` cannot close the gap, the weights are not
             measured, and this is the larger of the two: believed, not proven (kernels: of this proposal)
    gap      (primal - dual) / primal of these two (kernels: where not all was measured, a bound from below)
    values   X w of the proposed plane; not to be written to (kernels: NaN for rows that were not measured)
    b        the best bias for the proposed w, 0 without one (kernels: NaN where it was not looked for)
    """

    primal: float
    dual: float
    gap: float
    values: Vector
    b: float


class Options(NamedTuple):
    """How a solver is asked.

    tol     the relative gap (P - D) / P that the judge must see; aim a little below it
    start   soft margin: dual variables within their box, of a warm start; a solver may ignore them. Separation: None
    seed    of the solver's own random numbers; 0 in every fit, so that a fit can be repeated
    stepwise  somebody looks at single steps: where many are made between two iterates, show one after each
    """

    tol: float = 1e-4
    start: Vector | None = None
    seed: int = 0
    stepwise: bool = False


Iterates = Generator[Iterate | None, "Evaluation | None", None]


@dataclass(eq=False)
class Run:
    """A solver that was started: its state, and its iterates, of which none has been asked for."""

    state: State
    iterates: Iterates


@dataclass(eq=False)
class Anew(State):
    """Of a solver that keeps nothing: whoever goes on with its run begins anew."""

    options: Options


def shown_as(run: Iterable[Iterate | None], change: Callable[[Iterate], Iterate | None]) -> Iterates:
    """The iterates of a run as others, which nobody answers, until one is None; at rest where the run is."""
    for iterate in run:
        if iterate is None:
            yield None
        elif (other := change(iterate)) is not None:
            yield other
        else:
            return


def shown(run: Generator[Shown | None, Any, Any]) -> Generator[Shown, Any, None]:
    """What a run shows, without its rests."""
    answer: Any = None
    try:
        while True:
            try:
                found = run.send(answer)
            except StopIteration:  # of the solver, and of nobody else
                return
            answer = None if found is None else (yield found)
    finally:
        run.close()
