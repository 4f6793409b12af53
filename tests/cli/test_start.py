"""What every command owes: nothing heavy before work begins, one sentence for an error, the right exit code."""

import os
import signal
import subprocess
import sys
import time

import pytest

import maxmargin
from maxmargin.cli import app as application
from maxmargin.cli import main


def run_process(*arguments, code=None, **options):
    """The command line in a process of its own; `code` is run before it."""
    script = f"{code or ''}\nimport sys\nfrom maxmargin.cli import main\nsys.exit(main())"
    return subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, **options)


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"maxmargin {maxmargin.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_names_the_commands(arguments, capsys):
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert all(command.__name__.replace("_", "-") in shown for command in application.COMMANDS)


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["--version"]])
def test_help_loads_neither_the_compiler_nor_scikit_learn(arguments):
    code = """
import atexit, sys
atexit.register(lambda: print("LOADED", *sys.modules, file=sys.stderr))
"""
    finished = run_process(*arguments, code=code)
    assert finished.returncode == 0
    loaded = set(finished.stderr.rpartition("LOADED")[2].split())
    assert "typer" in loaded
    assert not loaded & {"numba", "sklearn", "scipy", "numpy", "matplotlib"}


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_a_line_says_how_to_get_it(missing):
    finished = run_process("--help", code=f"import sys; sys.modules[{missing!r}] = None")
    assert finished.returncode == 1
    assert finished.stderr == 'The command line needs Typer and Rich: pip install "maxmargin[cli]"\n'


@pytest.mark.parametrize("arguments", [["check"], ["chek"], ["check", "a.csv", "--norm", "l3"], ["demo", "--quick"]])
def test_wrong_usage_is_code_1_on_stderr(arguments, capsys):
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Error:" in captured.err


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [(["fti", "a.csv"], "'fit'"), (["fit", "a.csv", "--lable", "y"], "--label"), (["audti"], "'audit'")],
    ids=["command", "option", "audit"],
)
def test_what_was_meant_is_suggested(arguments, meant, capsys):
    assert main(arguments) == 1
    assert meant in capsys.readouterr().err


def test_every_command_explains_itself(capsys):
    for command in application.COMMANDS:
        assert main([command.__name__.replace("_", "-"), "--help"]) == 0
        assert "Usage: maxmargin" in capsys.readouterr().out


def test_a_bug_is_one_sentence(monkeypatch, capsys):
    def broken(*arguments, **options):
        raise TypeError("unexpected")

    monkeypatch.delenv("MAXMARGIN_DEBUG", raising=False)
    monkeypatch.setattr(application.get_command(application.app).__class__, "main", broken)
    assert main(["doctor"]) == 1
    captured = capsys.readouterr()
    assert "TypeError: unexpected" in captured.err
    assert captured.err.count("\n") == 1
    monkeypatch.setenv("MAXMARGIN_DEBUG", "1")
    with pytest.raises(TypeError):
        main(["doctor"])


def test_the_module_is_the_script(tmp_path):
    command = [sys.executable, "-m", "maxmargin", "check", str(tmp_path / "nothing.csv")]
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.returncode == 1
    assert "no such file" in finished.stderr


def unread(pipe):
    """How many bytes nobody has taken out of it yet."""
    import fcntl
    import termios

    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_ctrl_c_is_code_130():
    command = [sys.executable, "-m", "maxmargin", "check", "-"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    process.stdin.write("x,label\n" * 10)
    process.stdin.flush()
    while unread(process.stdin):  # it has not started to read
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "Interrupted." in errors


def test_a_closed_pipe_is_silent(tmp_path):
    process = subprocess.run(
        f"{sys.executable} -m maxmargin --help | head -n 1", shell=True, capture_output=True, text=True
    )
    assert "Traceback" not in process.stderr
