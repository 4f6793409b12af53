"""The three doors: Python is imported; a command is run with --json; the page is what its server answers."""

import json

import pytest
from starlette.testclient import TestClient

from maxmargin.cli import main
from maxmargin.playground.server import make_app

TOKEN, PORT = "a-token-of-the-mission", 8766
HOST = f"127.0.0.1:{PORT}"


@pytest.fixture
def four(tmp_path):
    """Four points whose widest street is 1 wide, along x2 = 1/2."""
    path = tmp_path / "four.csv"
    path.write_text("x1,x2,label\n0,0,low\n2,0,low\n1,1,high\n1,2,high\n")
    return str(path)


@pytest.fixture
def xor(tmp_path):
    """The corners of a square, labelled across."""
    path = tmp_path / "xor.csv"
    path.write_text("x1,x2,label\n0,0,same\n0,1,other\n1,0,other\n1,1,same\n")
    return str(path)


@pytest.fixture
def command(capsys):
    """A command with --json: its answer; it must end with the exit code that is expected."""

    def run(*arguments, ends_with=0):
        code = main([*map(str, arguments), "--json"])
        captured = capsys.readouterr()
        assert code == ends_with, captured.err
        return json.loads(captured.out)

    return run


@pytest.fixture
def page():
    """Ask the server as the page does: page("answer", points, "linear_svm", C=1.0)."""
    with TestClient(make_app(TOKEN, PORT), base_url=f"http://{HOST}") as client:
        headers = {"host": HOST, "origin": f"http://{HOST}"}
        with client.websocket_connect("/ws", ["maxmargin", TOKEN], headers=headers) as socket:

            def ask(question, points=None, algorithm=None, *, also=None, **parameters):
                message = {"id": 1, "panel": "a", "ask": question, **(also or {})}
                if points is not None:
                    message["state"] = {"points": points, "algorithm": algorithm, "parameters": parameters}
                socket.send_text(json.dumps(message))
                told = socket.receive_json()
                assert "error" not in told, told["error"]
                return told["answer"]

            yield ask
