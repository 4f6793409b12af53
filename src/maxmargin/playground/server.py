"""The playground's server: the page, and a websocket for its questions; on this machine, for whoever has the token.

Every request must name this server in its Host header, so that no other name can be pointed at it; a websocket must
come from the page of this server (Origin) and bring the token, which is compared in constant time. The page may load
and reach nothing but this server (Content-Security-Policy).

Each websocket is a session. Its questions are answered by threads, so that nobody waits for anybody else: a session
runs at most two at a time, and of each kind and panel only the newest.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hmac
import logging
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from maxmargin.persistence.errors import Refusal
from maxmargin.playground.answers import reply
from maxmargin.playground.fits import Stopped
from maxmargin.playground.messages import Ask, field_of, read_ask, read_message, return_address, text_of

PAGE = Path(__file__).parent / "page"
MOST_SOCKETS = 8
AT_ONCE = 2  # questions of one session that are worked on
SUBPROTOCOL = "maxmargin"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
log = logging.getLogger("maxmargin.playground")

Reply = Callable[[Ask, Callable[[], bool]], dict[str, Any]]


def make_app(token: str, port: int, *, reply: Reply = reply) -> ASGIApp:
    """The application, for a server on this port of this machine."""
    hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
    if port == 80:
        hosts |= {"127.0.0.1", "localhost"}
    desk = Desk(token, hosts, reply)

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
        if header(scope, b"host") not in self.hosts:
            if scope["type"] == "websocket":
                await WebSocket(scope, receive, send).close(1008)
            else:
                await PlainTextResponse("This server has another name.", 400, HEADERS)(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", ()), *more]}
            await send(message)

        await self.app(scope, receive, with_headers)


def header(scope: Scope, name: bytes) -> str | None:
    """The header, if the request has exactly one of this name."""
    values = [value for key, value in scope["headers"] if key == name]
    return values[0].decode("latin-1") if len(values) == 1 else None


class Desk:
    """Who is being served."""

    def __init__(self, token: str, hosts: set[str], reply: Reply) -> None:
        self.token, self.reply = token, reply
        self.origins = {f"http://{host}" for host in hosts}
        self.places = threading.BoundedSemaphore(AT_ONCE * MOST_SOCKETS)
        self.sessions: set[Session] = set()

    def close(self) -> None:
        for session in self.sessions:
            session.close()

    def may_enter(self, websocket: WebSocket) -> bool:
        # Older releases of uvicorn hand over the words of the header as one.
        protocols = [word.strip() for words in websocket.scope.get("subprotocols", []) for word in words.split(",")]
        given = protocols[1] if len(protocols) == 2 and protocols[0] == SUBPROTOCOL else ""
        knows_token = hmac.compare_digest(given.encode(), self.token.encode())
        return header(websocket.scope, b"origin") in self.origins and knows_token

    async def serve(self, websocket: WebSocket) -> None:
        """One websocket, from its handshake to its end."""
        if not self.may_enter(websocket):
            await websocket.close(1008)
            return
        if len(self.sessions) >= MOST_SOCKETS:
            await websocket.accept(SUBPROTOCOL)
            await websocket.close(1013, f"{MOST_SOCKETS} pages are open already: close one of them")
            return
        session = Session(websocket, self.places, self.reply)
        self.sessions.add(session)
        try:
            await websocket.accept(SUBPROTOCOL)
            await session.listen()
        finally:
            session.close()
            self.sessions.discard(session)


async def in_a_thread(work: Callable[[], str]) -> str:
    """What the work returns or raises. The end of the program waits for no such thread, as it would for a pool's."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[str] = loop.create_future()

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

    def put(self, ask: Ask) -> None:
        self.waiting = ask
        self.stop.set()


class Session:
    """One page: its questions in, answers out."""

    def __init__(self, websocket: WebSocket, places: threading.BoundedSemaphore, reply: Reply) -> None:
        self.websocket, self.places, self.reply = websocket, places, reply
        self.slots: dict[tuple[str, str], Slot] = {}
        self.turns = asyncio.Semaphore(AT_ONCE)
        self.sending = asyncio.Lock()
        self.closed = False

    async def listen(self) -> None:
        """Take messages until the page is gone."""
        while True:
            message = await self.websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            await self.receive(message.get("text"))

    async def receive(self, text: str | None) -> None:
        message: dict[str, Any] = {}
        try:
            if text is None:
                raise Refusal("a message is text, not bytes", "message")
            message = read_message(text)
            ask = read_ask(message)
        except Refusal as refusal:
            await self.refuse(return_address(message), refusal)
            return
        slot = self.slots.setdefault((ask.question.value, ask.panel), Slot())
        slot.put(ask)
        if slot.worker is None or slot.worker.done():
            slot.worker = asyncio.create_task(self.work(slot))

    async def work(self, slot: Slot) -> None:
        """Answer what waits in a slot until nothing does; what was overtaken is not answered."""
        while slot.waiting is not None and not self.closed:
            async with self.turns:
                ask, slot.waiting = slot.waiting, None
                slot.stop = stop = threading.Event()
                address = {"id": ask.id, "panel": ask.panel, "ask": ask.question.value}
                try:
                    text = await in_a_thread(functools.partial(self.answer, address, ask, stop))
                except Stopped:
                    continue
                except Refusal as refusal:
                    if not stop.is_set():
                        await self.refuse(address, refusal)
                    continue
                except Exception as error:
                    log.exception("a question of the page could not be answered")
                    sentence = f"this should not happen ({type(error).__name__}: {error}); please report it"
                    await self.refuse(address, Refusal(sentence, "message"))
                    continue
            if not stop.is_set():
                await self.send(text)

    def answer(self, address: dict[str, Any], ask: Ask, stop: threading.Event) -> str:
        """In a thread: the answer as it goes out."""
        with self.places:
            if stop.is_set():
                raise Stopped
            return text_of({**address, "answer": self.reply(ask, stop.is_set)})

    async def refuse(self, address: dict[str, Any], refusal: Refusal) -> None:
        await self.send(text_of({**address, "error": {"sentence": str(refusal), "field": field_of(refusal)}}))

    async def send(self, text: str) -> None:
        """To the page, if it is still there."""
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            async with self.sending:
                if not self.closed:
                    await self.websocket.send_text(text)

    def close(self) -> None:
        self.closed = True
        for slot in self.slots.values():
            slot.stop.set()
            if slot.worker is not None:
                slot.worker.cancel()
