"""The server lets in who may come in, answers what can be answered, and goes on whatever it is sent."""

import json
import threading
import time

import pytest
from play_states import fitted, state_of
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from maxmargin.persistence.errors import Refusal
from maxmargin.playground.fits import Stopped
from maxmargin.playground.messages import Question
from maxmargin.playground.presets import points_named
from maxmargin.playground.seats import SEATS
from maxmargin.playground.server import PAGE, POLICY, make_app

TOKEN, PORT = "a-token-of-the-tests", 8765
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"
STATE = {"points": [list(point) for point in points_named("separable")], "algorithm": "hard_margin", "parameters": {}}
WITNESSED = {**STATE, "points": [list(point) for point in points_named("xor")]}


@pytest.fixture
def client():
    with TestClient(make_app(TOKEN, PORT), base_url=ORIGIN) as client:
        yield client


def connected(client, **headers):
    return client.websocket_connect("/ws", ["maxmargin", TOKEN], headers={"host": HOST, "origin": ORIGIN, **headers})


def ask(socket, question, number=1, panel="a", **more):
    socket.send_text(json.dumps({"id": number, "panel": panel, "ask": question, **more}))


def asked(socket, question, **more):
    ask(socket, question, **more)
    return socket.receive_json()


def test_every_question_is_answered_with_its_address(client):
    more = {
        "catalogue": {},
        "read_csv": {"text": "a,b,label\n1,2,x\n3,4,y\n"},
        "answer": {"state": STATE},
        "steps": {"state": STATE},
        "code": {"state": STATE},
        "verify": {"state": STATE},
        "loss": {"state": STATE},
        "path": {"state": STATE},
        "two_margins": {"state": STATE},
        "game": {"state": {**STATE, "algorithm": "winnow"}},
        "probability": {"state": STATE},
        "multiplier": {"given": {"c": 5, "x": 6.5, "a": 0.5}},
        "exercise": {"given": {"name": "xor", "seed": 0, "answer": None}},
        "challenge": {"state": STATE, "line": {"points": [[0, 3], [3, 0]]}},
    }
    assert set(more) == set(Question)
    with connected(client) as socket:
        for number, (question, fields) in enumerate(more.items()):
            told = asked(socket, question, number=number, panel="b", **fields)
            assert {key: told[key] for key in ("id", "panel", "ask")} == {"id": number, "panel": "b", "ask": question}
            assert "error" not in told
            assert told["answer"]


def test_an_answer_over_the_wire_is_the_library_s_to_the_last_digit(client):
    model = fitted(state_of(("hard_margin", {})))
    with connected(client) as socket:
        told = asked(socket, "answer", state=STATE)["answer"]
    assert told["plane"] == {"w": model.coef_[0].tolist(), "b": float(model.intercept_[0])}
    assert told["margin"] == model.margin_


def test_hostile_messages_get_a_sentence_and_the_session_goes_on(client):
    with connected(client) as socket:
        socket.send_bytes(b"\x00\xff")
        assert socket.receive_json()["error"]["field"] == "message"
        for text in ("", "{", "[]", '{"id": 1}', "[" * 50_000, json.dumps({"id": 1, "panel": "a", "ask": "answer"})):
            socket.send_text(text)
            told = socket.receive_json()
            assert told["error"]["sentence"]
        assert "answer" in asked(socket, "answer", state=STATE)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", f"https://{HOST}", "http://127.0.0.1:1", f"{ORIGIN}.evil.example"]
)
def test_a_page_of_another_origin_is_refused(client, origin):
    with pytest.raises(WebSocketDisconnect), connected(client, origin=origin):
        pass


def test_whoever_has_no_origin_is_refused(client):
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("/ws", ["maxmargin", TOKEN], headers={"host": HOST}),
    ):
        pass


@pytest.mark.parametrize(
    "protocols",
    [[], ["maxmargin"], ["maxmargin", ""], ["maxmargin", TOKEN[:-1]], [TOKEN, "maxmargin"], ["maxmargin", "x", TOKEN]],
)
def test_whoever_has_no_token_is_refused(client, protocols):
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("/ws", protocols, headers={"host": HOST, "origin": ORIGIN}),
    ):
        pass


def test_a_header_that_the_server_hands_over_as_one_word_is_read_as_two(client):
    """As releases of uvicorn do that are still supported."""
    unsplit = [f"maxmargin, {TOKEN}"]
    with client.websocket_connect("/ws", unsplit, headers={"host": HOST, "origin": ORIGIN}) as socket:
        assert socket.accepted_subprotocol == "maxmargin"


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:1", "127.0.0.1", "[::1]:8765", ""])
def test_another_name_for_this_server_is_refused(client, host):
    assert client.get("/", headers={"host": host}).status_code == 400
    with pytest.raises(WebSocketDisconnect), connected(client, host=host):
        pass


def test_localhost_is_this_server_too(client):
    assert client.get("/", headers={"host": f"localhost:{PORT}"}).status_code == 200
    with connected(client, host=f"localhost:{PORT}", origin=f"http://localhost:{PORT}") as socket:
        assert "answer" in asked(socket, "catalogue")


def test_the_page_and_its_files_come_with_the_headers(client):
    types = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
    files = [path for path in PAGE.rglob("*") if path.suffix in types]
    assert PAGE / "index.html" in files
    for path in files:
        found = client.get(f"/{path.relative_to(PAGE).as_posix()}")
        assert found.status_code == 200
        assert found.content == path.read_bytes()
        assert found.headers["content-type"].partition(";")[0] == types[path.suffix]
    front = client.get("/")
    assert front.content == (PAGE / "index.html").read_bytes()
    for name, value in {
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
    }.items():
        assert front.headers[name] == value
    assert front.headers["cross-origin-opener-policy"] == "same-origin"
    assert "access-control-allow-origin" not in front.headers


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/%2e%2e/server.py",
        "/..%2fserver.py",
        "/%2fetc/passwd",
        "/nothing.js",
        "/page/",
        "//etc/passwd",
    ],
)
def test_nothing_else_is_served(client, path):
    found = client.get(path)
    assert found.status_code in (400, 404)
    assert b"import" not in found.content


def test_only_reading_is_allowed(client):
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert client.request(method, "/").status_code == 405


def test_the_token_is_nowhere_in_the_page(client):
    assert TOKEN not in client.get(f"/?token={TOKEN}").text


def test_there_are_only_so_many_seats_and_who_leaves_makes_room(client):
    open_sockets = [connected(client) for _ in range(SEATS)]
    for socket in open_sockets:
        socket.__enter__()
    with connected(client) as refused:
        message = refused.receive()
    assert message["code"] == 1013
    assert message["reason"].startswith(f"All {SEATS} seats are taken.")
    open_sockets.pop().__exit__(None, None, None)
    deadline = time.monotonic() + 10.0
    while True:
        with connected(client) as socket:
            ask(socket, "catalogue")
            message = socket.receive()
        if message["type"] == "websocket.send":
            break
        assert time.monotonic() < deadline
    for socket in open_sockets:
        socket.__exit__(None, None, None)


class Patient:
    """Answers a state of the panel "a" only when it is stopped or let go; everything else at once."""

    def __init__(self):
        self.begun, self.stopped, self.go = threading.Semaphore(0), threading.Semaphore(0), threading.Event()

    def __call__(self, ask, is_stopped):
        if ask.panel == "a":
            self.begun.release()
            while not self.go.is_set():
                if is_stopped():
                    self.stopped.release()
                    raise Stopped
                time.sleep(0.001)
        return {"number": ask.id}


@pytest.fixture
def patient():
    return Patient()


@pytest.fixture
def slow_client(patient):
    with TestClient(make_app(TOKEN, PORT, reply=patient), base_url=ORIGIN) as client:
        yield client


def test_a_newer_question_stops_the_older_one(slow_client, patient):
    with connected(slow_client) as socket:
        ask(socket, "answer", number=1, state=STATE)
        assert patient.begun.acquire(timeout=10)
        for number in range(2, 30):
            ask(socket, "answer", number=number, state=STATE)
        assert patient.stopped.acquire(timeout=10)
        told = asked(socket, "answer", panel="b", number=100, state=STATE)  # the other panel is not stopped, nor waits
        assert told["id"] == 100
        patient.go.set()
        assert socket.receive_json()["answer"] == {"number": 29}


def test_another_kind_of_question_stops_nothing(slow_client, patient):
    with connected(slow_client) as socket:
        ask(socket, "answer", number=1, state=STATE)
        assert patient.begun.acquire(timeout=10)
        ask(socket, "steps", number=2, state=STATE)
        assert patient.begun.acquire(timeout=10)
        patient.go.set()
        assert {socket.receive_json()["id"] for _ in range(2)} == {1, 2}


def test_a_slow_page_does_not_hold_up_another(slow_client, patient):
    with connected(slow_client) as slow, connected(slow_client) as quick:
        for question in ("answer", "steps", "code"):
            ask(slow, question, state=STATE)
        assert patient.begun.acquire(timeout=10)
        assert asked(quick, "answer", panel="b", state=STATE)["answer"]
        patient.go.set()


def test_a_page_that_leaves_stops_its_questions(slow_client, patient):
    with connected(slow_client) as socket:
        ask(socket, "answer", state=STATE)
        assert patient.begun.acquire(timeout=10)
    assert patient.stopped.acquire(timeout=10)


def test_what_should_not_happen_is_said_and_logged(caplog):
    def broken(ask, is_stopped):
        if ask.panel == "a":
            raise ZeroDivisionError("a bug")
        raise Refusal("no", "points")

    with TestClient(make_app(TOKEN, PORT, reply=broken), base_url=ORIGIN) as client, connected(client) as socket:
        told = asked(socket, "answer", state=STATE)
        assert "ZeroDivisionError: a bug" in told["error"]["sentence"]
        assert "a bug" in caplog.text
        assert asked(socket, "answer", panel="b", state=STATE)["error"] == {"sentence": "no", "field": "points"}


def test_a_witness_goes_over_the_wire(client):
    with connected(client) as socket:
        told = asked(socket, "answer", state=WITNESSED)["answer"]
    assert told["hulls"]["witness"]["rows"]
    assert told["plane"] is None
