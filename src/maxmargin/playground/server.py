"""The playground's server: the page, and a websocket for its questions, for whoever has the token.

Every request must name this server in its Host header, so that no other name can be pointed at it; a websocket must
come from the page of this server (Origin) and bring the token, which is compared in constant time. The page may load
and reach nothing but this server (Content-Security-Policy).

Each websocket is a session, and sits in the seat of its browser (`seats.py`). Its questions are answered by threads, in
turns of the seats: a seat has at most four in hand, and of each kind and panel of a page only the newest.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hmac
import logging
import re
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from maxmargin.persistence.errors import Refusal
from maxmargin.playground.answers import ANSWERS, FOR_MANY_CLASSES
from maxmargin.playground.fits import Stopped, warm_up
from maxmargin.playground.messages import Ask, field_of, read_ask, read_message, return_address, text_of
from maxmargin.playground.seats import IDLE_SECONDS, SEATS, NoSeat, Seat, Seats, Turns

PAGE = Path(__file__).parent / "page"
THIS_MACHINE = ("127.0.0.1", "localhost")
SUBPROTOCOL = "maxmargin"
SEAT_NAME = re.compile(r"[\w-]{16,64}", re.ASCII)
TRY_AGAIN = 1013  # why a websocket is closed
OTHER_NAME = (
    "This server does not go by that name. Open the address that maxmargin play has printed; "
    "whoever starts it can allow another name with --allow-host.\n"
)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
# Browsers take this from their own machine or over an encrypted line, and else complain of it in the console.
OPENER = {"Cross-Origin-Opener-Policy": "same-origin"}
TRUSTED = ("127.0.0.1", "localhost", "[::1]")
log = logging.getLogger("maxmargin.playground")

Reply = Callable[[Ask, Callable[[], bool]], dict[str, Any]]


def reply(ask: Ask, is_stopped: Callable[[], bool]) -> dict[str, Any]:
    """The answer to a question; `Stopped` where nobody waits for it, `Refusal` where it cannot be answered."""
    if ask.state is None:
        return ANSWERS[ask.question](*ask.given)
    answering = FOR_MANY_CLASSES if ask.state.has_many else ANSWERS
    return answering[ask.question](*ask.given, is_stopped)


def make_app(
    token: str, port: int, *, names: Sequence[str] = THIS_MACHINE, seats: int = SEATS, reply: Reply = reply
) -> ASGIApp:
    """The application, for a server at this port that goes by these names."""
    hosts = {f"{name}:{port}" for name in names} | (set(names) if port == 80 else set())
    desk = Desk(token, hosts, Seats(seats), reply)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            desk.close()

    routes = [WebSocketRoute("/ws", desk.serve), Mount("/", StaticFiles(directory=PAGE, html=True))]
    return Guard(Starlette(routes=routes, lifespan=lifespan), hosts)


class Guard:
    """Lets nobody in who calls this server by another name, and puts the headers on what goes out."""

    def __init__(self, app: ASGIApp, hosts: set[str]) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        host = (header(scope, b"host") or "").lower()
        if host not in self.hosts:
            if scope["type"] == "websocket":
                await WebSocket(scope, receive, send).close(1008)
            else:
                await PlainTextResponse(OTHER_NAME, 400, HEADERS)(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = HEADERS | OPENER if re.sub(r":\d+$", "", host) in TRUSTED else HEADERS
                more = [(name.lower().encode(), value.encode()) for name, value in ours.items()]
                message = {**message, "headers": [*message.get("headers", ()), *more]}
            await send(message)

        await self.app(scope, receive, with_headers)


def header(scope: Scope, name: bytes) -> str | None:
    """The header, if the request has exactly one of this name."""
    values = [value for key, value in scope["headers"] if key == name]
    return values[0].decode("latin-1") if len(values) == 1 else None


class Desk:
    """Who is being served."""

    def __init__(self, token: str, hosts: set[str], seats: Seats[Session], reply: Reply) -> None:
        self.token, self.seats, self.reply = token, seats, reply
        self.origins = {f"http://{host}" for host in hosts}
        self.turns = Turns()
        self.sessions: set[Session] = set()

    def close(self) -> None:
        for session in self.sessions:
            session.close()

    def may_enter(self, websocket: WebSocket) -> bool:
        """Whether the page is this server's, and has its token."""
        given = [*words_of(websocket), "", ""]
        knows_token = hmac.compare_digest(given[1].encode(), self.token.encode())
        return header(websocket.scope, b"origin") in self.origins and given[0] == SUBPROTOCOL and knows_token

    async def serve(self, websocket: WebSocket) -> None:
        """One websocket, from its handshake to its end."""
        named = words_of(websocket)[2:]
        if not self.may_enter(websocket) or len(named) > 1 or not all(map(SEAT_NAME.fullmatch, named)):
            await websocket.close(1008)
            return
        session = Session(websocket, self.turns, self.reply)
        try:
            session.seat, sent_away = self.seats.enter(named[0] if named else None, session)
        except NoSeat as refusal:
            await websocket.accept(SUBPROTOCOL)
            await websocket.close(TRY_AGAIN, str(refusal))
            return
        self.sessions.add(session)
        try:
            for other in sent_away:
                other.send_away(f"This seat was idle for {IDLE_SECONDS / 60:.0f} minutes, and somebody else needed it.")
            await websocket.accept(SUBPROTOCOL)
            await session.listen()
        finally:
            session.close()
            self.sessions.discard(session)
            self.seats.leave(session.seat, session)


def words_of(websocket: WebSocket) -> list[str]:
    """The subprotocols that are offered: ours, the token, and the name of the seat, if the page has one."""
    # Older releases of uvicorn hand over the words of the header as one.
    return [word.strip() for words in websocket.scope.get("subprotocols", []) for word in words.split(",")]


async def in_a_thread(work: Callable[[], str | None]) -> str | None:
    """What the work returns or raises. The end of the program waits for no such thread, as it would for a pool's."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[str | None] = loop.create_future()

    def deliver(settle: Callable[[Any], None], outcome: Any) -> None:
        def unless_cancelled() -> None:
            if not done.done():
                settle(outcome)

        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(unless_cancelled)

    def run() -> None:
        try:
            deliver(done.set_result, work())
        except Exception as error:
            deliver(done.set_exception, error)

    threading.Thread(target=run, daemon=True, name="maxmargin-play").start()
    return await done


class Slot:
    """The questions of one kind and panel: the one that is worked on, and the newest that waits."""

    def __init__(self) -> None:
        self.waiting: Ask | None = None
        self.stop = threading.Event()
        self.worker: asyncio.Task[None] | None = None
        self.lock = threading.Lock()

    def put(self, ask: Ask) -> None:
        with self.lock:
            self.waiting = ask
            self.stop.set()

    def take(self) -> tuple[Ask | None, threading.Event]:
        """What waits by now, and what will stop it."""
        with self.lock:
            ask, self.waiting = self.waiting, None
            self.stop = threading.Event()
            return ask, self.stop


def refusal_text(address: dict[str, Any], refusal: Refusal) -> str:
    """As it goes out."""
    return text_of({**address, "error": {"sentence": str(refusal), "field": field_of(refusal)}})


class Session:
    """One page: its questions in, answers out."""

    def __init__(self, websocket: WebSocket, turns: Turns, reply: Reply) -> None:
        self.websocket, self.turns, self.reply = websocket, turns, reply
        self.seat: Seat[Session] = Seat(self)
        self.slots: dict[tuple[str, str], Slot] = {}
        self.sending = asyncio.Lock()
        self.closed = False

    async def listen(self) -> None:
        """Take messages until the page is gone."""
        while True:
            message = await self.websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            self.seat.was_heard()
            await self.receive(message.get("text"))
            await asyncio.sleep(0)  # whoever sends much in one piece is read in turn with the others

    async def receive(self, text: str | None) -> None:
        message: dict[str, Any] = {}
        try:
            if text is None:
                raise Refusal("a message is text, not bytes", "message")
            message = read_message(text)
            ask = read_ask(message)
        except Refusal as refusal:
            await self.send(refusal_text(return_address(message), refusal))
            return
        slot = self.slots.setdefault((ask.question.value, ask.panel), Slot())
        slot.put(ask)
        if slot.worker is None or slot.worker.done():
            slot.worker = asyncio.create_task(self.work(slot))

    async def work(self, slot: Slot) -> None:
        """Answer what waits in a slot until nothing does; what was overtaken is not answered."""
        while slot.waiting is not None and not self.closed:
            async with self.seat.at_once:
                text = await in_a_thread(functools.partial(self.answer, slot))
                if text is not None:
                    await self.send(text)  # still in hand: a page that does not listen is not worked for

    def answer(self, slot: Slot) -> str | None:
        """In a thread: the answer as it goes out, to what is the newest question when its turn has come: whoever asks
        anew keeps the place in the line."""
        newest = slot.waiting
        if newest is not None and newest.state is not None:
            warm_up(newest.state.algorithm, newest.state.parameters)  # in no turn: a compiler is not stopped
        with self.turns.at_work(self.seat.name) as others_first:
            ask, stop = slot.take()

            def is_stopped() -> bool:
                if not (stop.is_set() or self.closed):
                    others_first()
                return stop.is_set() or self.closed

            if ask is None or self.closed:
                return None
            address = {"id": ask.id, "panel": ask.panel, "ask": ask.question.value}
            try:
                text = text_of({**address, "answer": self.reply(ask, is_stopped)})
            except Stopped:
                return None
            except Refusal as refusal:
                text = refusal_text(address, refusal)
            except Exception as error:
                log.exception("a question of the page could not be answered")
                sentence = f"this should not happen ({type(error).__name__}: {error}); please report it"
                return refusal_text(address, Refusal(sentence, "message"))
            return None if stop.is_set() else text

    async def send(self, text: str) -> None:
        """To the page, if it is still there."""
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            async with self.sending:
                if not self.closed:
                    await self.websocket.send_text(text)

    def send_away(self, sentence: str) -> None:
        """Close the websocket; `listen` then ends."""
        self.close()
        self.leaving = asyncio.create_task(self.websocket.close(TRY_AGAIN, sentence))

    def close(self) -> None:
        self.closed = True
        for slot in self.slots.values():
            slot.stop.set()
            if slot.worker is not None:
                slot.worker.cancel()
