"""`maxmargin play` as a newcomer starts it, and as Ctrl-C ends it."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from maxmargin.cli import main


def started(*options):
    return subprocess.Popen(
        [sys.executable, "-m", "maxmargin", "play", "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def test_it_prints_its_address_serves_and_ends_calmly():
    process = started("--port", "0")
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{20,}", process.stdout.readline())[0]
        with urllib.request.urlopen(address, timeout=60) as page:
            assert b"<html" in page.read()
        process.send_signal(signal.SIGINT)
        printed, complaints = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert printed.splitlines()[-1] == "The playground is closed."
    assert complaints == ""


def test_a_port_that_is_taken_is_replaced_with_a_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = started("--port", str(port))
        try:
            assert process.stdout.readline().startswith(f"Port {port} is taken; the playground is at port ")
            assert "http://127.0.0.1:" in process.stdout.readline()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0


def test_the_server_needs_no_matplotlib():
    script = "import sys, maxmargin.playground.server; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not {"matplotlib", "rich", "typer"} & (set(loaded) - loaded_by_scikit_learn())


def loaded_by_scikit_learn():
    script = "import sys, sklearn.svm; print(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_it_listens_on_the_loopback_only(playground):
    assert playground.socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("name", ["starlette", "uvicorn", "websockets"])
def test_a_missing_package_is_named_with_what_to_install(name, monkeypatch, capsys):
    found = __import__("importlib.util").util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda asked: None if asked == name else found(asked))
    assert main(["play", "--no-browser", "--port", "0"]) == 1
    assert 'pip install "maxmargin[play]"' in capsys.readouterr().err


def test_the_end_of_the_program_waits_for_no_answer():
    script = (
        "import asyncio, contextlib, threading\n"
        "from maxmargin.playground.server import in_a_thread\n"
        "with contextlib.suppress(TimeoutError):\n"
        "    asyncio.run(asyncio.wait_for(in_a_thread(threading.Event().wait), 0.1))\n"
        "print('over')\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert (ended.stdout, ended.stderr) == ("over\n", "")
