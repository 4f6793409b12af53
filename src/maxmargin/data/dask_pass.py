"""The tasks of one pass on a Dask cluster: submitted, waited for, cancelled.

    a worker dies            the scheduler computes its tasks elsewhere
    ... too often            KilledWorker: `Lost`, whose sentence names the blocks
    a worker is frozen       it is missed after `distributed.scheduler.worker-ttl`, 5 minutes
    no task is finished      for `patience` seconds, which are more than that: TimeoutError
    the scheduler is lost    the client looks for it for `distributed.comm.timeouts.connect`, 30 s. If it is back, it
                             knows nothing of the pass: `Lost`; if it is not: ConnectionError
    Ctrl-C, the clock        are looked at ten times a second; the tasks are cancelled

A pass is pure. Where it is `Lost` it can be submitted again, under other keys.

What takes long is waited for by a thread of its own: it can be left where it is, whereas `future.result(timeout=...)`
can end with neither a result nor an error.
"""

from __future__ import annotations

import importlib
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pkgutil import resolve_name
from typing import Any, TypeVar

from maxmargin.data.dask_tasks import Sent, given
from maxmargin.data.executor import check_interrupt, tell_done

T = TypeVar("T")

SENT_ONCE = 2**16  # bytes: what is smaller travels with each task
LOOK = 0.1  # seconds
RETRIES = 1  # of a task that raises: a store may not have answered
GONE = ("error", "cancelled", "lost")  # of a future
VERSION = "maxmargin:__version__"
KEPT = "What was found in earlier passes is in the checkpoint, if the fit has one."


def dask_module(name: str) -> Any:
    """A module of Dask, or an error that says where to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{name} is not installed: pip install 'maxmargin[dask]'") from error


class Lost(Exception):
    """A pass whose workers, or what they had, are gone; `suspects`: blocks at which workers were when they died."""

    def __init__(self, sentence: str, suspects: frozenset[tuple[int, int]] = frozenset()) -> None:
        super().__init__(sentence)
        self.suspects = suspects


class Pass:
    """Tasks that belong together, each with a place: two numbers, the first and the last block + 1 of most."""

    def __init__(self, client: Any, patience: float) -> None:
        self.client, self.patience, self.id = client, patience, uuid.uuid4().hex
        self.futures: list[Any] = []
        self.told = 0

    def submit(self, what: str, place: tuple[int, int], work: Callable[..., Sent], *arguments: Any) -> Any:
        """The future of work(*place, *arguments)."""
        key = (f"maxmargin-{what}-{self.id}", *place)
        with connected(self.client):
            future = self.client.submit(work, *place, *arguments, key=key, pure=False, retries=RETRIES)
        self.futures.append(future)
        return future

    def sent(self, content: Any) -> Any:
        """What tasks are given: a small thing with each of them, a large one once.

        As a task, and not scattered: what was scattered is gone with the workers that had it, and to send it to all of
        them is to wait for one that is frozen.
        """
        sent = Sent.sealed(content)
        if sent.n_bytes <= SENT_ONCE:
            return sent
        with dask_module("dask").config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
            return self.submit("sent", (len(self.futures), 0), given, sent)

    def results_of(self, futures: list[Any]) -> list[Any]:
        """What these found."""
        found = [one.content for one in self.gathered(futures)]
        self.finished()
        return found

    def gathered(self, futures: list[Any]) -> list[Any]:
        """What these are of; whatever ends the wait, the tasks end with it."""
        try:
            return waited_for(self.client, lambda: self.client.gather(futures), self.patience, self.finished)
        except BaseException as error:
            suspects = frozenset(
                future.key[1:] for future in self.futures if future.status == "error" and is_of_blocks(future.key)
            )
            self.cancel()
            if isinstance(error, dask_module("distributed").KilledWorker):
                raise Lost(f"the last worker that died was at {error.last_worker.address}", suspects) from error
            raise

    def versions(self) -> Iterator[tuple[str, str]]:
        """Of this library, at the scheduler and at a worker: asked by a function of Python, because a message that
        names what is not there ends whoever receives it, worker after worker."""
        key = (f"maxmargin-version-{self.id}", 0, 0)
        with connected(self.client):
            self.futures = [self.client.submit(resolve_name, VERSION, key=key, pure=False)]
        asked: dict[str, Callable[[], Any]] = {
            "the scheduler": lambda: waited_for(
                self.client, lambda: self.client.run_on_scheduler(resolve_name, VERSION), self.patience
            ),
            "a worker": lambda: self.gathered(self.futures)[0],
        }
        for who, version in asked.items():
            try:
                yield who, f"release {version()}"
            except ImportError as error:
                yield who, f"none ({error})"

    def finished(self) -> int:
        """How many tasks; whoever counts blocks is told of those that are new."""
        done = [future.key for future in self.futures if future.status == "finished"]
        blocks = sum(key[2] - key[1] for key in done if key[0].startswith("maxmargin-fold-"))
        if blocks > self.told:
            tell_done(blocks - self.told)
            self.told = blocks
        return len(done)

    def cancel(self) -> None:
        if self.client.status == "running":
            with suppress(Exception):
                self.client.cancel(self.futures, force=True)


def waited_for(client: Any, call: Callable[[], T], patience: float, finished: Callable[[], int] = lambda: 0) -> T:
    """What call() returns. Errors while there is no scheduler are about that."""
    done, found, errors = threading.Event(), [], []

    def work() -> None:
        try:
            found.append(call())
        except BaseException as error:  # a future that is cancelled raises no Exception
            errors.append(error)
        done.set()

    refuse_to_wait(client, patience, time.monotonic())
    threading.Thread(target=work, daemon=True, name="maxmargin-waits-for-dask").start()
    count, since = finished(), time.monotonic()
    while not done.wait(LOOK):
        check_interrupt()
        if (now := finished()) != count:
            count, since = now, time.monotonic()
        refuse_to_wait(client, patience, since)
    if found:
        return found[0]
    (error,) = errors
    while client.status == "connecting":
        check_interrupt()
        refuse_to_wait(client, patience, since)
        time.sleep(LOOK)
    if client.status != "running":
        raise no_scheduler(client) from error
    if is_cancelled(error):
        raise Lost("the cluster was restarted, or has lost what it was given.") from error
    raise error


def refuse_to_wait(client: Any, patience: float, since: float) -> None:
    if client.status in ("closing", "closed"):
        raise no_scheduler(client)
    if time.monotonic() - since > patience:
        raise TimeoutError(
            f"no task was finished within {patience:g} s by the cluster of {address_of(client)} (the client is "
            f"{client.status}): are there workers, and do they see the data? {KEPT}"
        )


@contextmanager
def connected(client: Any) -> Iterator[None]:
    """Errors of a client that has lost its scheduler are about that."""
    try:
        yield
    except Exception as error:
        if client.status in ("running", "connecting"):
            raise
        raise no_scheduler(client) from error


def no_scheduler(client: Any) -> ConnectionError:
    return ConnectionError(
        f"the client has lost its scheduler at {address_of(client)} (it is {client.status}): start the cluster again, "
        f"and give a new client. {KEPT}"
    )


def address_of(client: Any) -> str:
    return str(getattr(getattr(client, "scheduler", None), "address", None) or "an unknown address")


def is_cancelled(error: BaseException) -> bool:
    import asyncio
    from concurrent.futures import CancelledError

    return isinstance(error, CancelledError | asyncio.CancelledError)


def is_of_blocks(key: Any) -> bool:
    """Whether the task of this key computes with certain blocks."""
    return isinstance(key, tuple) and str(key[0]).startswith(("maxmargin-fold-", "maxmargin-hold-", "maxmargin-map-"))


def named(blocks: frozenset[tuple[int, int]]) -> str:
    """
    >>> named(frozenset({(8, 16), (3, 4)}))
    'block 3, or blocks 8 to 15,'
    """
    runs = [
        f"block {start}" if stop == start + 1 else f"blocks {start} to {stop - 1}" for start, stop in sorted(blocks)
    ]
    return ", or ".join(runs) + ("," if len(runs) > 1 else "") if runs else "a task"
