"""A server for a class: who is let in, by which names, and that everybody is served."""

import asyncio
import contextlib
import errno
import importlib.util
import inspect
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from websockets.sync.client import connect

from maxmargin.cli import main
from maxmargin.cli.play import play as command
from maxmargin.playground import seats, server, serving
from maxmargin.playground.presets import points_named
from maxmargin.playground.server import Session, make_app
from maxmargin.playground.serving import NoAddress, Playground, names_of, playground_in_background

TOKEN, PORT = "a-token-of-the-tests", 8765
NAMES = ["192.0.2.7", "lab.example", "[2001:db8::7]"]
CATALOGUE = json.dumps({"id": 1, "panel": "a", "ask": "catalogue"})
STATE = {"points": [list(point) for point in points_named("separable")], "algorithm": "hard_margin", "parameters": {}}
DISCONNECTED = "websocket.disconnect"
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "play.py"


@pytest.fixture
def client():
    with TestClient(make_app(TOKEN, PORT, names=NAMES, seats=3)) as client:
        yield client


def line_of(client, *seat, name=NAMES[0], origin=None, token=TOKEN):
    host = f"{name}:{PORT}"
    headers = {"host": host, "origin": origin or f"http://{host}"}
    return client.websocket_connect("/ws", ["maxmargin", token, *seat], headers=headers)


def is_served(line):
    line.send_text(CATALOGUE)
    return "answer" in line.receive_json()


def named(number):
    return f"a-browser-of-the-class-{number}"


# Names.


@pytest.mark.parametrize("name", NAMES)
def test_each_name_that_was_given_is_this_server(client, name):
    page = client.get("/", headers={"host": f"{name}:{PORT}"})
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "cross-origin-opener-policy" not in page.headers  # browsers take it from trusted names only
    with line_of(client, named(1), name=name) as line:
        assert is_served(line)


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1", "localhost", "192.0.2.8", "lab.example.evil.example"])
def test_a_name_that_was_not_given_is_refused_even_with_the_token(client, name):
    """A page of evil.example whose name was pointed at this address: all of its headers agree."""
    told = client.get("/", headers={"host": f"{name}:{PORT}"})
    assert told.status_code == 400
    assert "--allow-host" in told.text
    with pytest.raises(WebSocketDisconnect), line_of(client, name=name):
        pass


@pytest.mark.parametrize("origin", ["http://evil.example", "http://lab.example", f"https://lab.example:{PORT}", "null"])
def test_a_page_of_another_origin_is_refused(client, origin):
    with pytest.raises(WebSocketDisconnect), line_of(client, origin=origin):
        pass


@pytest.mark.parametrize("words", [("",), ("short",), ("x" * 65,), ("a seat with spaces in it",), (named(1), named(2))])
def test_a_seat_whose_name_no_page_gives_is_refused(client, words):
    with pytest.raises(WebSocketDisconnect), line_of(client, *words):
        pass


def test_without_the_token_nobody_has_a_seat(client):
    for token in ("another", named(1)):
        with pytest.raises(WebSocketDisconnect), line_of(client, named(1), token=token):
            pass


# Seats.


def closing_words(line):
    with line as refused:
        message = refused.receive()
    assert message["code"] == 1013
    return message["reason"]


def test_a_full_class_says_so_and_a_page_that_comes_back_finds_its_seat(client):
    with contextlib.ExitStack() as lines:
        for number in range(2):
            lines.enter_context(line_of(client, named(number)))
        with line_of(client, named(2)) as line:
            assert is_served(line)
        assert closing_words(line_of(client, named(3))).startswith("All 3 seats are taken.")
        with line_of(client, named(2)) as line:
            assert is_served(line)


def test_who_is_gone_makes_room(client, monkeypatch):
    monkeypatch.setattr(seats, "KEPT_SECONDS", 0.0)
    with contextlib.ExitStack() as lines:
        for number in range(2):
            lines.enter_context(line_of(client, named(number)))
        for number in range(2, 8):  # one after the other, in the third seat
            with line_of(client, named(number)) as line:
                assert is_served(line)


def test_an_idle_seat_is_given_away_with_a_sentence(client, monkeypatch):
    with contextlib.ExitStack() as lines:
        idle, *others = [lines.enter_context(line_of(client, named(number))) for number in range(3)]
        assert all(map(is_served, others))
        monkeypatch.setattr(seats, "IDLE_SECONDS", 0.0)
        newcomer = lines.enter_context(line_of(client, named(3)))
        monkeypatch.undo()
        message = idle.receive()
        assert (message["code"], message["reason"]) == (
            1013,
            "This seat was idle for 15 minutes, and somebody else needed it.",
        )
        assert all(map(is_served, [*others, newcomer]))


def test_a_browser_with_too_many_pages_is_told_and_takes_nobody_s_seat(client):
    with contextlib.ExitStack() as lines:
        pages = [lines.enter_context(line_of(client, named(0))) for _ in range(seats.MOST_PAGES)]
        assert "pages of this browser are open already" in closing_words(line_of(client, named(0)))
        others = [lines.enter_context(line_of(client, named(number))) for number in (1, 2)]
        assert all(map(is_served, [*pages, *others]))


# Turns.


def ask(line, number, kind, panel="a"):
    line.send_text(json.dumps({"id": number, "panel": panel, "ask": kind, "state": STATE}))


def until(condition):
    deadline = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_a_seat_that_asks_much_has_four_questions_in_hand_and_is_served_in_turn_with_the_others(monkeypatch):
    turns, begun, go = seats.Turns(1), [], threading.Event()

    def reply(ask, is_stopped):
        begun.append(ask.id)
        assert go.wait(60.0)
        return {}

    def waiting():
        return sum(map(len, turns.lines.values()))

    monkeypatch.setattr(server, "Turns", lambda: turns)
    app = make_app(TOKEN, PORT, names=NAMES, reply=reply)
    with TestClient(app) as client, line_of(client, named(0)) as greedy, line_of(client, named(1)) as modest:
        ask(greedy, 1, "answer")
        until(lambda: begun == [1])
        for number, kind in enumerate(("steps", "code", "verify", "loss", "path"), start=2):
            ask(greedy, number, kind)
        until(lambda: waiting() == seats.AT_ONCE - 1)
        ask(modest, 7, "answer")
        until(lambda: waiting() == seats.AT_ONCE)
        go.set()
        assert {greedy.receive_json()["id"] for _ in range(6)} == {1, 2, 3, 4, 5, 6}
        assert modest.receive_json()["id"] == 7
    assert begun.index(7) == 2  # after the question that was at work, and one more


def test_whoever_asks_anew_keeps_the_place_in_the_line(monkeypatch):
    turns, begun = seats.Turns(1), []

    def reply(ask, is_stopped):
        begun.append(ask.id)
        return {}

    monkeypatch.setattr(server, "Turns", lambda: turns)
    turns.take("somebody")
    app = make_app(TOKEN, PORT, names=NAMES, reply=reply)
    with TestClient(app) as client, line_of(client, named(0)) as first, line_of(client, named(1)) as second:
        ask(first, 1, "answer")
        until(lambda: len(turns.lines) == 1)
        ask(second, 10, "answer")
        until(lambda: len(turns.lines) == 2)
        for number in (2, 3, 4):
            ask(first, number, "answer")
        ask(first, 0, "nothing")  # refused at once, and so the questions before it have been read
        assert "error" in first.receive_json()
        turns.give_back()
        assert (first.receive_json()["id"], second.receive_json()["id"]) == (4, 10)
    assert begun == [4, 10]


class Flood:
    """The server's end of a line on which so many messages have come in one piece."""

    def __init__(self, count):
        self.coming, self.told = ["{"] * count, 0

    async def receive(self):
        return {"type": "websocket.receive", "text": self.coming.pop()} if self.coming else {"type": DISCONNECTED}

    async def send_text(self, text):
        self.told += 1


def test_who_sends_much_in_one_piece_is_read_in_turn_with_the_others():
    flood, trickle = Flood(5000), Flood(5)

    async def listen():
        flooding, trickling = (
            asyncio.create_task(Session(line, seats.Turns(), None).listen()) for line in (flood, trickle)
        )
        await trickling
        told = flood.told
        await flooding
        return told

    assert asyncio.run(listen()) < 20
    assert (flood.told, trickle.told) == (5000, 5)


# The benchmark's class, in small: it counts, and measures no time.


@pytest.mark.skipif(not BENCHMARK.exists(), reason="a source distribution has no benchmarks")
def test_every_edit_of_every_student_is_answered_beside_long_questions():
    specification = importlib.util.spec_from_file_location("benchmark_of_play", BENCHMARK)
    benchmark = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(benchmark)
    with playground_in_background(seats=6) as playground:
        students = asyncio.run(benchmark.in_class(playground.address, 6, 2, 40, 12, 0.1))
    assert [len(student.waits) for student in students[2:]] == [12] * 4
    assert all(0 <= student.overtaken < 12 for student in students[2:])
    assert [student.refused for student in students] == [0] * 6


# Addresses.


@pytest.mark.parametrize(
    ("host", "allowed", "names"),
    [
        ("127.0.0.1", [], ["127.0.0.1", "localhost"]),
        ("::1", [], ["[::1]", "localhost"]),
        ("192.0.2.7", [], ["192.0.2.7"]),
        ("2001:DB8:0::7", ["Lab.Example"], ["[2001:db8::7]", "lab.example"]),
        ("0.0.0.0", ["lab.example", "192.0.2.7"], ["lab.example", "192.0.2.7"]),
        ("::", ["[2001:db8::7]", "2001:db8::7"], ["[2001:db8::7]"]),
        ("lab.example", [], ["lab.example"]),
        ("192.0.2.7", ["bücher.example"], ["192.0.2.7", "xn--bcher-kva.example"]),
    ],
)
def test_names_are_as_a_browser_writes_them(host, allowed, names):
    assert names_of(host, allowed) == names


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_every_address_is_no_name(host):
    with pytest.raises(NoAddress, match=rf"{host} is every address of this machine.*--allow-host"):
        names_of(host, [])


@pytest.mark.parametrize("name", ["http://lab.example", "lab.example:80", "*", "", "a b", "0.0.0.0", "a/b", "é" * 80])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(NoAddress, match="give a name or an address alone"):
        names_of("192.0.2.7", [name])


@pytest.mark.parametrize("host", ["fe80::1%eth0", "224.0.0.1"])
def test_an_address_that_no_browser_opens_is_refused(host):
    with pytest.raises(NoAddress, match="not an address that a browser can open"):
        names_of(host, [])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--host", "198.51.100.77"], "198.51.100.77 is not an address of this machine: give one that is"),
        (["--host", "0.0.0.0"], "0.0.0.0 is every address of this machine"),
        (["--host", "no such name"], "--host no such name: give a name or an address alone"),
        (["--allow-host", "http://lab.example"], "--allow-host http://lab.example: give a name"),
    ],
)
def test_the_command_says_what_is_wrong_with_an_address(options, sentence, capsys):
    assert main(["play", "--no-browser", "--port", "0", *options]) == 1
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_a_name_that_nobody_knows_is_refused(monkeypatch):
    def unknown(*given, **more):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(NoAddress, match=r"lab\.example is neither an address nor a name that this machine knows"):
        Playground(0, "lab.example")


def test_a_port_that_needs_rights_is_not_called_taken(monkeypatch, capsys):
    class Guarded(socket.socket):
        def bind(self, where):
            raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(serving.socket, "socket", Guarded)
    assert main(["play", "--no-browser", "--port", "80"]) == 1
    assert "Port 80 needs rights that you do not have" in capsys.readouterr().err


def test_without_being_asked_it_is_for_this_machine_and_few():
    given = inspect.signature(command).parameters
    assert (given["host"].default, given["seats"].default) == (serving.HOST, seats.SEATS)
    assert serving.HOST == "127.0.0.1"


def has_ipv6():
    with contextlib.suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        return True
    return False


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_an_address_of_the_newer_kind_is_served():
    with playground_in_background("::1", seats=2) as playground:
        assert playground.address.startswith(f"http://[::1]:{playground.port}/?token=")
        with urllib.request.urlopen(playground.address, timeout=60) as page:
            assert b"<html" in page.read()
        origin, token = playground.address.split("/?token=")
        with connect(f"{origin.replace('http', 'ws')}/ws", origin=origin, subprotocols=["maxmargin", token]) as line:
            line.send(CATALOGUE)
            assert "answer" in json.loads(line.recv(timeout=60))


# The process.


def test_a_class_is_warned_and_ctrl_c_sends_everybody_home():
    start = [sys.executable, "-m", "maxmargin", "play", "--no-browser", "--port", "0", "--seats", "5"]
    process = subprocess.Popen(
        [*start, "--host", "0.0.0.0", "--allow-host", "127.0.0.1", "--allow-host", "lab.example"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "400"},
    )
    try:
        first, second, who, warning = (process.stdout.readline() for _ in range(4))
        origin, token = re.search(r"(http://127\.0\.0\.1:\d+)/\?token=([\w-]{20,})", first).groups()
        assert re.search(r"http://lab\.example:\d+/\?token=", second)
        assert who.startswith("Whoever has this link may come in, up to 5 browsers at once.")
        assert warning.startswith("The traffic is not encrypted")
        with contextlib.ExitStack() as lines:
            for number in range(5):
                words = ["maxmargin", token, named(number)]
                line = connect(f"{origin.replace('http', 'ws')}/ws", origin=origin, subprotocols=words, open_timeout=60)
                lines.enter_context(line).send(CATALOGUE)
            process.send_signal(signal.SIGINT)
            printed, complaints = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert printed.splitlines()[-1] == "The playground is closed."
    assert complaints == ""
