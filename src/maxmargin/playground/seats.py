"""Who has a seat, and whose turn it is.

A seat is a browser: its pages bring a name that it has made up and kept. A browser that went away has its seat kept for
it for a few seconds, so that a page that is loaded anew, or comes back from a gap in the network, finds it again; then
it is free. Where all are taken, a seat that has asked nothing for a quarter of an hour is given to whoever comes.

Work is done in turns. There are a few places to work at. Whoever finds none free waits in the line of its seat; a
place that becomes free goes to the seat that has waited longest, and a seat that waits for more goes to the end. So a
seat with many questions has no more turns than one with a single question. A long answer gives its place to whoever
waits, after each slice of time, and goes on at the next turn of its seat: nobody waits for the end of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

SEATS = 8
MOST_PAGES = 8  # of one seat
AT_ONCE = 4  # questions of one seat that are worked on, or wait for their turn
KEPT_SECONDS = 10.0  # for a browser that went away
IDLE_SECONDS = 900.0  # after which a seat is given away, if somebody needs it
PLACES = 3  # to work at: most work holds Python's lock, and more threads would only wait for each other
SLICE = 0.02  # seconds of work, after which it is another seat's turn

Page = TypeVar("Page", bound=Hashable)


class NoSeat(Exception):
    """A sentence for the page, of at most 123 bytes: what a websocket can say when it closes."""


class Seat(Generic[Page]):
    """A browser that was let in, and its pages."""

    def __init__(self, name: Hashable, clock: Callable[[], float] = time.monotonic) -> None:
        self.name, self.clock = name, clock
        self.pages: set[Page] = set()
        self.at_once = asyncio.Semaphore(AT_ONCE)
        self.was_heard()

    def was_heard(self) -> None:
        """A page has come, asked or gone."""
        self.last_heard = self.clock()


class Seats(Generic[Page]):
    """The seats that are taken. `clock` gives seconds."""

    def __init__(self, most: int = SEATS, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.clock = most, clock
        self.taken: dict[Hashable, Seat[Page]] = {}

    def enter(self, name: str | None, page: Page) -> tuple[Seat[Page], set[Page]]:
        """The seat of a page, and the pages of an idle one that has lost it. Whoever has no name is somebody new."""
        sent_away: set[Page] = set()
        seat = self.taken.get(name) if name is not None else None
        if seat is None:
            if self.is_full():
                sent_away = self.take_an_idle_one()
            seat = Seat[Page](object() if name is None else name, self.clock)
            self.taken[seat.name] = seat
        if len(seat.pages) >= MOST_PAGES:
            raise NoSeat(f"{MOST_PAGES} pages of this browser are open already: close one of them.")
        seat.pages.add(page)
        seat.was_heard()
        return seat, sent_away

    def leave(self, seat: Seat[Page], page: Page) -> None:
        """A page is gone; with its last page the seat is kept for a while, if somebody can come back to it."""
        seat.pages.discard(page)
        seat.was_heard()
        if not seat.pages and not isinstance(seat.name, str) and self.taken.get(seat.name) is seat:
            del self.taken[seat.name]

    def is_full(self) -> bool:
        """Whether all seats are taken or kept; those that were kept long enough are not."""
        oldest = self.clock() - KEPT_SECONDS
        self.taken = {name: seat for name, seat in self.taken.items() if seat.pages or seat.last_heard > oldest}
        return len(self.taken) >= self.most

    def take_an_idle_one(self) -> set[Page]:
        idle = min(self.taken.values(), key=lambda seat: seat.last_heard)
        if not idle.pages or self.clock() - idle.last_heard < IDLE_SECONDS:
            one = "The seat is" if self.most == 1 else f"All {self.most} seats are"
            raise NoSeat(f"{one} taken. This page tries again by itself, and goes on when there is a place.")
        del self.taken[idle.name]
        return idle.pages


class Turns:
    """Places to work at, for threads, given to seats in turn."""

    def __init__(self, places: int = PLACES) -> None:
        self.free = places
        self.lines: dict[Hashable, deque[threading.Event]] = {}  # of seats, in the order of their turns
        self.lock = threading.Lock()

    def take(self, seat: Hashable) -> None:
        """Wait for a place."""
        with self.lock:
            if self.free:
                self.free -= 1
                return
            called = threading.Event()
            self.lines.setdefault(seat, deque()).append(called)
        called.wait()

    def give_back(self) -> None:
        with self.lock:
            if not self.lines:
                self.free += 1
                return
            seat = next(iter(self.lines))
            line = self.lines.pop(seat)
            line.popleft().set()
            if line:
                self.lines[seat] = line

    @contextlib.contextmanager
    def at_work(self, seat: Hashable) -> Iterator[Callable[[], None]]:
        """A place while the block lasts. What is yielded is called in between, and lets others go first when it is
        their turn."""
        self.take(seat)
        until = time.monotonic() + SLICE

        def others_first() -> None:
            nonlocal until
            if time.monotonic() >= until:
                if self.lines:
                    self.give_back()
                    self.take(seat)
                until = time.monotonic() + SLICE

        try:
            yield others_first
        finally:
            self.give_back()
