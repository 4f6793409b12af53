"""What the tests of the commands share: files in a temporary folder, and standard input."""

import io
import json
import types

import pytest

from maxmargin.cli import main
from maxmargin.data import bundled


@pytest.fixture
def flowers():
    """150 rows of three species, of which one is apart."""
    return [str(bundled.path_of("flowers.csv")), "--label", "species"]


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)

    return write_file


@pytest.fixture
def type_in(monkeypatch):
    def as_standard_input(text):
        stream = types.SimpleNamespace(buffer=io.BytesIO(text.encode()))
        monkeypatch.setattr("sys.stdin", stream)

    return as_standard_input


@pytest.fixture
def run(capsys):
    """A command with --json: its exit code and its answer."""

    def run_for_machines(*arguments):
        code = main([*arguments, "--json"])
        return code, json.loads(capsys.readouterr().out, parse_constant=pytest.fail)

    return run_for_machines


@pytest.fixture
def fail(capsys):
    """A command that must be refused: its one sentence."""

    def run_and_fail(*arguments):
        assert main(list(arguments)) == 1
        captured = capsys.readouterr()
        assert captured.out == ""
        return captured.err

    return run_and_fail
