"""A server that runs: a port of this machine, a token, the address to open; until Ctrl-C.

The address is there before the library is loaded: whoever opens it early waits a moment, and is served.

It listens to this machine alone, unless it is told an address at which others reach it. A browser calls it by that
address, or by a name that was allowed; "every address of this machine" is no name, and needs one beside it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib.util
import ipaddress
import re
import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from maxmargin.playground.seats import SEATS

HOST = "127.0.0.1"  # this machine only, and nothing else
PARTING_SECONDS = 0.3  # in which pages may take their last answers
NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
COMPILED = "Everything is compiled: no answer waits for the compiler."
UNENCRYPTED = (
    "The traffic is not encrypted: whoever can listen in this network can read the link and what is drawn. "
    "Use it where you trust the network, and end it after the class."
)
NEEDED = ("starlette", "uvicorn", "websockets")
PIP_LINE = 'The playground needs Starlette, uvicorn and websockets: pip install "maxmargin[play]"'


class NoAddress(Exception):
    """A sentence: why the server cannot listen there."""


class Playground:
    """A bound port, its token and its address; `run` serves until it is stopped.

    `names` is what a browser may call it, `seats` how many browsers are served.
    """

    def __init__(self, port: int, host: str = HOST, *, allowed: Sequence[str] = (), seats: int = SEATS) -> None:
        for name in NEEDED:
            if importlib.util.find_spec(name) is None:
                raise ModuleNotFoundError(PIP_LINE, name=name)
        self.seats, self.names = seats, names_of(host, allowed)
        self.socket = listening_socket(port, host)
        self.port: int = self.socket.getsockname()[1]
        self.is_for_this_machine = ipaddress.ip_address(self.socket.getsockname()[0]).is_loopback
        self.token = secrets.token_urlsafe(24)
        self.addresses = [f"http://{name}:{self.port}/?token={self.token}" for name in self.names]
        self.address = self.addresses[0]
        self.ended = threading.Event()
        self.server: Any = None

    def run(self, *, warm: bool = True, when_warm: Callable[[], None] = lambda: None) -> None:
        """Serve; the compiled code is made meanwhile, unless it is not to be kept warm."""
        from maxmargin.playground.fits import warm_up_all

        def make_warm() -> None:
            warm_up_all(self.ended)
            if not self.ended.is_set():
                when_warm()

        self.server = make_server(self)
        self.server.should_exit = self.ended.is_set()
        if warm:
            threading.Thread(target=make_warm, daemon=True, name="warm-up").start()
        try:
            self.server.run(sockets=[self.socket])
        finally:
            self.ended.set()
            self.socket.close()

    def stop(self) -> None:
        """From another thread."""
        self.ended.set()
        if self.server is not None:
            self.server.should_exit = True


def names_of(host: str, allowed: Sequence[str]) -> list[str]:
    """What a browser may call a server at this address, as it writes it: that of the link first."""
    own: list[str] = []
    address = address_of(host)
    if address is None:
        own = [name_of(host, "--host")]
    elif not address.is_unspecified:
        own = [written(address), *(["localhost"] if address.is_loopback else [])]
    names = [*own, *(name_of(name, "--allow-host") for name in allowed)]
    if not names:
        raise NoAddress(
            f"{host} is every address of this machine, and none that a browser could open: say with --allow-host under "
            f"which address or name it is reached, or give that address to --host{suggestion()}."
        )
    return list(dict.fromkeys(names))


def name_of(text: str, option: str) -> str:
    """A name or an address as a browser writes it in its Host header."""
    address = address_of(text.removeprefix("[").removesuffix("]"))
    if address is not None and not address.is_unspecified:
        return written(address)
    try:
        name = text.encode("idna").decode().lower()
    except UnicodeError:
        name = ""
    if address is not None or not NAME.fullmatch(name):
        raise NoAddress(f"{option} {text}: give a name or an address alone, such as lab.example; no http://, no port.")
    return name


def address_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address, if the text is one and no name."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if address.is_multicast or getattr(address, "scope_id", None) is not None:
        raise NoAddress(f"{text} is not an address that a browser can open: give one without a zone, of one machine.")
    return address


def written(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    return f"[{address}]" if address.version == 6 else str(address)


def suggestion() -> str:
    """How this machine is reached from outside, where that is known; nothing is sent to find out."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward:
        outward.connect(("192.0.2.1", 9))
        return f", which may be {outward.getsockname()[0]}"
    return ""


def listening_socket(port: int, host: str = HOST) -> socket.socket:
    """A socket at this port of the address; 0 takes a free one. OSError where it is taken."""
    try:
        family, kind, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise NoAddress(f"{host} is neither an address nor a name that this machine knows.") from None
    bound = socket.socket(family, kind)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if host == "::":
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        bound.bind(where)
        bound.listen()
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRNOTAVAIL:
            sentence = f"{host} is not an address of this machine: give one that is{suggestion()}."
            raise NoAddress(sentence) from None
        if error.errno == errno.EACCES:
            raise NoAddress(f"Port {port} needs rights that you do not have: take one from 1024 on.") from None
        raise
    return bound


def make_server(playground: Playground) -> Any:
    """uvicorn, with nothing said about requests and no more memory for a message than it needs."""
    import uvicorn

    from maxmargin.playground.messages import MOST_BYTES
    from maxmargin.playground.server import make_app

    app = make_app(playground.token, playground.port, names=playground.names, seats=playground.seats)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        ws="websockets-sansio",
        ws_max_size=MOST_BYTES,
        limit_concurrency=64 + 16 * playground.seats,  # a browser fetches the files of the page six at a time
        timeout_graceful_shutdown=1,
    )

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            asyncio.get_running_loop().call_later(PARTING_SECONDS, self.hang_up)
            await super().shutdown(sockets)

        def hang_up(self) -> None:
            """Whoever does not take what was sent is not waited for."""
            for connection in list(self.server_state.connections):
                connection.transport.abort()

    return Server(config)


def play(
    port: int,
    host: str = HOST,
    *,
    allowed: Sequence[str] = (),
    seats: int = SEATS,
    open_browser: bool,
    say: Callable[[str], None],
) -> None:
    """Serve until Ctrl-C. A port that is taken is replaced by a free one, with a sentence."""
    try:
        playground = Playground(port, host, allowed=allowed, seats=seats)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise NoAddress(f"{host} cannot be listened at: {error.strerror or error}.") from None
        playground = Playground(0, host, allowed=allowed, seats=seats)
        say(f"Port {port} is taken; the playground is at port {playground.port}.")
    with contextlib.suppress(KeyboardInterrupt):
        for address in playground.addresses[:1] if playground.is_for_this_machine else playground.addresses:
            say(f"The playground: {address}")
        if playground.is_for_this_machine:
            say("It is for this machine alone. Ctrl-C ends it.")
        else:
            say(f"Whoever has this link may come in, up to {seats} browsers at once. Ctrl-C ends it.")
            say(UNENCRYPTED)
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(playground.address,), daemon=True).start()
        playground.run(when_warm=lambda: say(COMPILED))
    say("The playground is closed.")


@contextlib.contextmanager
def playground_in_background(
    host: str = HOST, *, allowed: Sequence[str] = (), seats: int = SEATS
) -> Iterator[Playground]:
    """A playground at a free port, in a thread of its own, as long as the block lasts; cold, until it is asked."""
    playground = Playground(0, host, allowed=allowed, seats=seats)
    thread = threading.Thread(target=playground.run, kwargs={"warm": False}, daemon=True)
    thread.start()
    try:
        while thread.is_alive() and not (playground.server is not None and playground.server.started):
            time.sleep(0.01)
        yield playground
    finally:
        playground.stop()
        thread.join(10.0)
