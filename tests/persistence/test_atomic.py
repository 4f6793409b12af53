"""A save that is stopped, by whatever, leaves the old file."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from persistence.make_corpus import CORPUS

from maxmargin.persistence import ModelFileError, load, save

MODEL = CORPUS / "v1" / "linear.safetensors"
KILL_SAVES = Path(__file__).parent / "kill_saves.py"
posix = pytest.mark.skipif(os.name != "posix", reason="fork, pipes and links are of POSIX systems")


@posix
def test_fifteen_kills_leave_no_broken_file():
    finished = subprocess.run([sys.executable, KILL_SAVES, "15"], capture_output=True, text=True, timeout=120)
    assert finished.stderr == ""
    assert finished.stdout.startswith("15 kills, ")
    assert "0 files that cannot be loaded" in finished.stdout


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failing_disk_leaves_the_old_file_and_nothing_else(step, tmp_path, monkeypatch):
    path = tmp_path / "model"
    save(load(MODEL), path)

    changed = load(path).set_params(C=2)

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space"):
        save(changed, path)
    monkeypatch.undo()
    assert load(path).C == 10
    assert list(tmp_path.iterdir()) == [path]


@posix
def test_file_gets_the_usual_permissions_and_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "model")
    save(load(MODEL), tmp_path / "link")
    (tmp_path / "plain").touch()
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    assert (tmp_path / "link").is_symlink()


@posix
def test_pipe_and_folder_are_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(ModelFileError, match="not a file, but a folder, a pipe or a device"):
            load(path)


def test_missing_file_and_folder_are_the_errors_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError):
        save(load(MODEL), tmp_path / "nowhere" / "model")
