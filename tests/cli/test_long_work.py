"""Work that takes long: Ctrl-C to a real process, checkpoints by their options, and the gap on a terminal."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from maxmargin.cli import main
from maxmargin.persistence import load

# A shell may have told its children to ignore Ctrl-C; a command that a user starts hears it.
COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from maxmargin.cli import main
sys.exit(main(sys.argv[1:]))
"""
posix = pytest.mark.skipif(os.name != "posix", reason="signals and terminals are of POSIX systems")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Rows that keep 100 sweeps of stochastic steps busy for a while."""
    random = np.random.default_rng(0)
    X = random.normal(size=(100_000, 12))
    y = X[:, 0] + random.normal(size=len(X)) > 0.0
    path = tmp_path_factory.mktemp("data") / "table.npy"
    np.save(path, np.column_stack([X, y]))
    return [str(path), "--label", "-1", "--algorithm", "stochastic", "-e", "1e-9"]


@posix
def test_ctrl_c_keeps_the_run_and_the_model_and_says_how_far_it_got(table, tmp_path, capsys):
    model, checkpoint, calm = (str(tmp_path / name) for name in ("model", "checkpoint", "calm"))
    assert main(["fit", *table, "-o", calm]) == 2  # compiled from here on
    asked = ["fit", *table, "-o", model, "--checkpoint", checkpoint, "--every", "0"]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *asked, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_until(lambda: os.path.exists(checkpoint) and os.path.getsize(checkpoint) > 100_000, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err == f"The run is kept in {checkpoint}: the same command with --resume goes on with it.\nInterrupted.\n"
    found = json.loads(out)
    assert (found["status"], found["exit_code"], found["model"]) == (["INTERRUPTED"], 130, model)
    stopped = load(model)[-1]
    assert 0.0 < stopped.certificate_.relative_gap == found["relative_gap"]
    assert stopped.n_iter_ < 100
    capsys.readouterr()
    assert main([*asked, "--resume"]) == 2
    assert (tmp_path / "model").read_bytes() == (tmp_path / "calm").read_bytes()


def wait_until(happened, process):
    deadline = time.monotonic() + 120
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)


@posix
def test_on_a_terminal_the_gap_is_seen_falling_and_elsewhere_only_how_it_ended(table, tmp_path):
    import pty

    ours, theirs = pty.openpty()
    asked = [sys.executable, "-c", COMMAND, "fit", *table, "--json"]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    with open(tmp_path / "out", "wb") as out:
        process = subprocess.Popen(asked, stdout=out, stderr=theirs, env=environment)
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 4096):
            seen += part
    except OSError:  # so Linux says that the other side has closed
        pass
    os.close(ours)
    assert process.wait(timeout=120) == 2
    assert json.loads((tmp_path / "out").read_bytes())["exit_code"] == 2
    assert b"Fitting" in seen
    assert b"gap " in seen
    elsewhere = subprocess.run(asked, capture_output=True, text=True, timeout=120)
    [said] = elsewhere.stderr.splitlines()
    assert (elsewhere.returncode, said.startswith("maxmargin: StochasticSVM ended early: ")) == (2, True)


STREET = "a,b,label\n0,0,left\n0,2,left\n3,0,right\n5,1,right\n"


def test_the_options_belong_together(write, fail, tmp_path):
    data, path = write(STREET), str(tmp_path / "run")
    assert "--resume needs --checkpoint FILE" in fail("fit", data, "--resume")
    assert "--every needs --checkpoint FILE" in fail("fit", data, "--every", "3")
    assert "--every must be a number of seconds" in fail("fit", data, "--checkpoint", path, "--every", "-1")
    missing = str(tmp_path / "nowhere" / "run")
    assert f"{missing} cannot be written: there is no folder" in fail("fit", data, "--checkpoint", missing)


def test_a_run_is_not_written_over_and_not_mixed_with_another(write, fail, tmp_path, capsys):
    data, path = write(STREET), str(tmp_path / "run")
    assert main(["fit", data, "--checkpoint", path, "--resume"]) == 0  # there is none yet: from the beginning
    capsys.readouterr()
    assert "exists: --resume goes on with the run in it" in fail("fit", data, "--checkpoint", path)
    again = ["fit", data, "--checkpoint", path, "--resume"]
    assert main(again) == 0
    capsys.readouterr()
    assert "of a run with C=1.0, and here it is 5.0" in fail(*again, "-c", "5")
    assert "on other data" in fail("fit", write(STREET + "6,1,right\n"), "--checkpoint", path, "--resume")
    assert "not a model of maxmargin" in fail("fit", data, "--checkpoint", data, "--resume")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--algorithm", "hard-margin"], "may be kept between planes only"),
        (["-t", "rbf", "-c", "inf"], "is not kept in a checkpoint"),
    ],
)
def test_what_is_not_kept_is_said(options, sentence, write, tmp_path, capsys):
    assert main(["fit", write(STREET), *options, "--checkpoint", str(tmp_path / "run")]) == 0
    assert sentence in capsys.readouterr().err
