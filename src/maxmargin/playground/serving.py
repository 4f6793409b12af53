"""A server that runs: a port of this machine, a token, the address to open; until Ctrl-C.

The address is there before the library is loaded: whoever opens it early waits a moment, and is served.
"""

from __future__ import annotations

import contextlib
import importlib.util
import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from typing import Any

HOST = "127.0.0.1"  # this machine only, and nothing else
NEEDED = ("starlette", "uvicorn", "websockets")
PIP_LINE = 'The playground needs Starlette, uvicorn and websockets: pip install "maxmargin[play]"'


class Playground:
    """A bound port, its token and its address; `run` serves until it is stopped."""

    def __init__(self, port: int) -> None:
        for name in NEEDED:
            if importlib.util.find_spec(name) is None:
                raise ModuleNotFoundError(PIP_LINE, name=name)
        self.socket = listening_socket(port)
        self.port: int = self.socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        self.address = f"http://{HOST}:{self.port}/?token={self.token}"
        self.ended = threading.Event()
        self.server: Any = None

    def run(self, *, warm: bool = True) -> None:
        """Serve; the compiled code is made meanwhile, unless it is not to be kept warm."""
        from maxmargin.playground.fits import warm_up_all

        self.server = make_server(self.token, self.port)
        self.server.should_exit = self.ended.is_set()
        if warm:
            threading.Thread(target=warm_up_all, args=(self.ended,), daemon=True, name="warm-up").start()
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


def listening_socket(port: int) -> socket.socket:
    """A socket at this port of the loopback; 0 takes a free one. OSError where it is taken."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, port))
        bound.listen()
    except OSError:
        bound.close()
        raise
    return bound


def make_server(token: str, port: int) -> Any:
    """uvicorn, with nothing said about requests and no more memory for a message than it needs."""
    import uvicorn

    from maxmargin.playground.messages import MOST_BYTES
    from maxmargin.playground.server import make_app

    config = uvicorn.Config(
        make_app(token, port),
        log_level="error",
        access_log=False,
        server_header=False,
        ws="websockets-sansio",
        ws_max_size=MOST_BYTES,
        limit_concurrency=64,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


def play(port: int, *, open_browser: bool, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C. A port that is taken is replaced by a free one, with a sentence."""
    try:
        playground = Playground(port)
    except OSError:
        playground = Playground(0)
        say(f"Port {port} is taken; the playground is at port {playground.port}.")
    with contextlib.suppress(KeyboardInterrupt):
        say(f"The playground: {playground.address}")
        say("It is for this machine alone. Ctrl-C ends it.")
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(playground.address,), daemon=True).start()
        playground.run()
    say("The playground is closed.")


@contextlib.contextmanager
def playground_in_background() -> Iterator[Playground]:
    """A playground at a free port, in a thread of its own, as long as the block lasts; cold, until it is asked."""
    playground = Playground(0)
    thread = threading.Thread(target=playground.run, kwargs={"warm": False}, daemon=True)
    thread.start()
    try:
        while thread.is_alive() and not (playground.server is not None and playground.server.started):
            time.sleep(0.01)
        yield playground
    finally:
        playground.stop()
        thread.join(10.0)
