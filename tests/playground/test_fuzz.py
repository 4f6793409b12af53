"""Ten thousand messages that nobody would send: each is answered or refused, and the memory stays what it was."""

import asyncio
import json
import os
import random

import pytest
from websockets.sync.client import connect

from maxmargin.playground import fits
from maxmargin.playground.catalogue import ALGORITHMS
from maxmargin.playground.seats import Turns
from maxmargin.playground.server import Session, reply

MESSAGES, HALFWAY, OVER_A_NETWORK = 4_000, 1_500, 300
MOST_GROWTH = 60 * 2**20  # bytes: what allocators keep for later, and compiled loops that a late message loads first
QUESTIONS = [
    "answer",
    "steps",
    "code",
    "challenge",
    "verify",
    "loss",
    "path",
    "probability",
    "multiplier",
    "exercise",
    "catalogue",
]
QUESTIONS += ["read_csv", "magic", None, 7]
GIVEN = [
    None,
    {"c": 5, "x": 6.5, "a": 0.5},
    {"c": 1e308, "x": None, "a": []},
    {"name": "no plane", "seed": 3, "answer": {"weights": "1, 1/0, nan ; ["}},
    {"name": "widest street", "seed": -1, "answer": {"w": 7}},
    {"name": "xor", "seed": 0, "answer": {}},
]
SCALARS = [
    None,
    True,
    False,
    0,
    1,
    -1,
    0.5,
    1e308,
    -1e308,
    10**400,
    2**53,
    "",
    "a",
    "b",
    "inf",
    "\x00",
    "é" * 50,
    [],
    {},
]
TEXTS = [
    "",
    "a,b\n",
    "a,b,label\n1,2,x\n3,4,y\n",
    "\x00",
    "label\n" * 50,
    '"',
    "1,2,3\n" * 20,
    "a\tb\tc\n1\t2\t3\n4\t5\t6\n",
]


@pytest.fixture
def socket(playground):
    with connect(
        f"ws://127.0.0.1:{playground.port}/ws",
        origin=f"http://127.0.0.1:{playground.port}",
        subprotocols=["maxmargin", playground.token],
        max_size=None,
    ) as connection:
        yield connection


def resident_bytes():
    with open("/proc/self/statm") as memory:
        return int(memory.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def coordinate(rng):
    return rng.choice([0, 1, rng.gauss(0.0, 1.0), rng.uniform(-1e6, 1e6), 1e-300, -1e6, 5e-324])


def state(rng):
    """A few points, and parameters that are taken at the ends of their ranges: most of them can be answered."""
    algorithm = ALGORITHMS[rng.choice(["perceptron", "hard_margin", "linear_svm", "kernel_perceptron", "winnow"])]
    points = [[coordinate(rng), coordinate(rng), rng.choice([1, -1])] for _ in range(rng.randrange(6))]
    parameters = {}
    for parameter in algorithm.parameters:
        values = [value for value, _ in parameter.choices]
        if parameter.kind == "integer":
            values = [parameter.low, min(parameter.high, 50)]
        if rng.random() < 0.1 and values:
            parameters[parameter.name] = rng.choice(values)
    return {"points": points, "algorithm": algorithm.name, "parameters": parameters}


def whole(rng):
    message = {"id": rng.randrange(100), "panel": rng.choice("ab"), "ask": rng.choice(QUESTIONS[:10])}
    line = {"points": [[coordinate(rng), coordinate(rng)] for _ in range(2)]}
    return {**message, "state": state(rng), "line": line, "text": rng.choice(TEXTS), "given": rng.choice(GIVEN)}


def spoilt(rng):
    """A whole message with one part replaced, left out or put in the wrong place."""
    message = whole(rng)
    message["ask"] = rng.choice(QUESTIONS)
    target = rng.choice([message, message["state"], message["state"], message["state"]["parameters"], message["line"]])
    key = rng.choice(["id", "panel", "ask", "state"] if target is message else [*target, "more"])
    target[key] = rng.choice([*SCALARS, dict(message["line"]), [[[]]] * 5, [rng.choice(SCALARS)] * 3])
    if rng.random() < 0.3:
        target.pop(rng.choice(list(target)))
    points = message.get("state", {}).get("points") if isinstance(message.get("state"), dict) else None
    if isinstance(points, list) and points and isinstance(points[0], list) and rng.random() < 0.5:
        points[0] = [rng.choice(SCALARS) for _ in range(rng.randrange(5))]
    return message


def text(rng):
    kind = rng.random()
    if kind < 0.02:
        return json.dumps(whole(rng))
    written = json.dumps(spoilt(rng))
    if kind < 0.8:
        return written
    if kind < 0.9:  # a byte changed
        at = rng.randrange(len(written))
        return written[:at] + chr(rng.randrange(1, 0x3000)) + written[at + 1 :]
    if kind < 0.95:
        return written[: rng.randrange(len(written))]
    return rng.choice(["", "{", "[" * rng.randrange(2000), "NaN", '{"id":1e999}', "\x00", "0" * 5000, '{"a":' * 500])


class Page:
    """The page's end of a websocket without a network: what the session says to it can be taken up."""

    def __init__(self):
        self.told = asyncio.Queue()

    async def send_text(self, text):
        self.told.put_nowait(text)


async def told_by_a_session(messages):
    """What a session says to each message, one after the other."""
    page = Page()
    session = Session(page, Turns(), reply)
    for message in messages:
        async with asyncio.timeout(60):
            await session.receive(message if isinstance(message, str) else None)
            yield message, await page.told.get()
    session.close()


def messages(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        message = text(rng)
        yield message if rng.random() < 0.98 else message.encode()


def is_answered(message, told):
    """Whether it was answered; if it was refused, then with a sentence."""
    told = json.loads(told)
    if "answer" in told:
        return True
    assert told["error"]["sentence"]
    assert "should not happen" not in told["error"]["sentence"], (message, told)
    return False


def test_thousands_of_messages(monkeypatch):
    monkeypatch.setattr(fits, "MOST_SECONDS", 0.05)

    async def listen():
        answered, before = [], 0
        async for message, told in told_by_a_session(messages(0, MESSAGES)):
            if len(answered) == HALFWAY:
                before = resident_bytes()
            answered.append(is_answered(message, told))
        return answered, resident_bytes() - before

    answered, growth = asyncio.run(listen())
    assert len(answered) == MESSAGES
    assert sum(answered) > 100
    assert MESSAGES - sum(answered) > 1000
    assert growth < MOST_GROWTH


def test_more_of_them_over_a_network(socket, monkeypatch):
    monkeypatch.setattr(fits, "MOST_SECONDS", 0.05)
    answered = []
    for message in messages(1, OVER_A_NETWORK):
        socket.send(message)
        answered.append(is_answered(message, socket.recv(timeout=60)))
    assert 0 < sum(answered) < OVER_A_NETWORK


def test_the_server_goes_on_after_a_message_that_is_too_long(playground, socket):
    from websockets.exceptions import ConnectionClosedError

    socket.send("x" * 300_000)
    with pytest.raises(ConnectionClosedError, match="1009"):
        socket.recv(timeout=60)
    with connect(
        f"ws://127.0.0.1:{playground.port}/ws",
        origin=f"http://127.0.0.1:{playground.port}",
        subprotocols=["maxmargin", playground.token],
    ) as another:
        another.send('{"id": 1, "panel": "a", "ask": "catalogue"}')
        assert "answer" in json.loads(another.recv(timeout=60))
