"""What is written is what was asked for, where it was asked for; nothing else is lost or changed."""

import csv
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from maxmargin import load
from maxmargin.cli import main

GOOD = "a,b,y\n0,0,u\n0,2,u\n1,1,u\n4,0,v\n5,1,v\n5,3,v\n"
IDS = ["007", "01234", "1e3", "9007199254740993.0", " x ", "a,b"]
NAMED = "zip,a,b,y\n" + "".join(f'"{name}",{row}\n' for name, row in zip(IDS, GOOD.split()[1:], strict=True))


@pytest.fixture
def model(write, tmp_path, capsys):
    path = str(tmp_path / "good.model")
    assert main(["fit", write(GOOD, "good.csv"), "-o", path]) == 0
    capsys.readouterr()
    return path


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such files")
@pytest.mark.parametrize("command", ["fit", "predict", "scale", "convert", "onnx", "plot"])
def test_a_pipe_is_written_to_and_not_replaced(command, model, write, tmp_path, capsys):
    data = write(GOOD, "good.csv")
    pipe = tmp_path / {"onnx": "pipe.onnx", "plot": "pipe.svg"}.get(command, "pipe.csv")
    os.mkfifo(pipe)
    lines = {
        "fit": ["fit", data, "-o", str(pipe)],
        "predict": ["predict", model, data, "-o", str(pipe)],
        "scale": ["scale", data, "-o", str(pipe)],
        "convert": ["convert", data, str(pipe)],
        "onnx": ["convert", model, str(pipe)],
        "plot": ["plot", model, data, "--label", "y", "-o", str(pipe)],
    }
    if command == "onnx":
        pytest.importorskip("onnx")
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert main(lines[command]) == 0
    reader.join(timeout=60)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)
    assert len(received[0]) > 5
    if command == "fit":
        kept = tmp_path / "kept.model"
        kept.write_bytes(received[0])
        assert load(kept).classes_.tolist() == ["u", "v"]


def test_a_device_stays_one(write, tmp_path):
    null = tmp_path / "null"
    try:
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        null.open("wb").close()
    except (AttributeError, OSError):
        pytest.skip("devices cannot be made here")
    assert main(["fit", write(GOOD), "-o", str(null)]) == 0
    assert stat.S_ISCHR(os.stat(null).st_mode)


def test_an_output_that_is_an_input_is_refused(model, write, tmp_path, fail, monkeypatch):
    data, link, twin = write(GOOD, "good.csv"), tmp_path / "link.csv", tmp_path / "twin.csv"
    link.symlink_to(data)
    os.link(data, twin)
    copy = tmp_path / "copy.svg"
    copy.write_bytes(Path(data).read_bytes())
    contents = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for output in (data, str(link), str(twin)):
        for line in (
            ["fit", data, "-o", output],
            ["predict", model, data, "-o", output],
            ["predict", model, data, "-o", output, "--json"][:-1],
            ["scale", data, "-o", output],
            ["convert", data, output],
        ):
            assert "is what is read" in fail(*line)
    assert f"{model} is what is read" in fail("predict", model, data, "-o", model)
    assert f"{model} is what is read" in fail("scale", data, "--like", model, "-o", model)
    assert f"{model} is what is read" in fail("convert", model, model)
    assert "is what is read" in fail("plot", model, str(copy), "--label", "y", "--format", "csv", "-o", str(copy))
    with open(data) as file:
        monkeypatch.setattr("sys.stdin", file)
        assert "is what is read (standard input)" in fail("fit", "-", "-o", data)
    both = str(tmp_path / "both")
    assert "both the model and the checkpoint" in fail("fit", data, "-o", both, "--checkpoint", both)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == contents


def test_a_database_is_an_input_too(tmp_path, fail):
    sqlite3 = pytest.importorskip("sqlite3")
    file = tmp_path / "t.db"
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE t AS SELECT 1.0 AS a, 'u' AS y UNION SELECT 2.0, 'v'")
    database.commit()
    database.close()
    query = ["SELECT * FROM t", "--sql", f"sqlite:{file}", "--label", "y"]
    assert "is what is read" in fail("fit", *query, "-o", str(file))


@pytest.mark.parametrize("command", [["predict"], ["predict", "--json"], ["convert"], ["scale"]], ids=" ".join)
def test_ids_are_the_text_that_they_are(command, model, write, tmp_path, capsys):
    data, out = write(NAMED, "named.csv"), tmp_path / "out.csv"
    if command[0] == "predict":
        assert main(["predict", model, data, "--id", "zip", *command[1:], "-o", str(out)]) == 0
    else:
        assert main([command[0], data, "--id", "zip", "-o", str(out)]) == 0
    if "--json" in command:
        assert json.loads(out.read_text())["ids"] == IDS
        return
    rows = list(csv.reader(out.read_text().splitlines()))
    assert [row[0] for row in rows] == (IDS if command == ["predict"] else ["zip", *IDS])


def test_whole_numbers_that_name_rows_are_not_rounded(model, tmp_path, capsys, fail):
    sqlite3 = pytest.importorskip("sqlite3")
    file, large = tmp_path / "t.db", 2**53 + 1
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE t (id INTEGER, a REAL, b REAL)")
    database.executemany("INSERT INTO t VALUES (?, ?, ?)", [(large, 0, 0), (7, 5, 3)])
    database.commit()
    database.close()
    assert main(["predict", model, "SELECT * FROM t", "--sql", f"sqlite:{file}", "--id", "id"]) == 0
    assert capsys.readouterr().out == f"{large},u\n7,v\n"
    query = "SELECT id AS a, b FROM t"
    message = fail("predict", model, query, "--sql", f"sqlite:{file}")
    assert f"{large} is more than float64 can hold exactly" in message


def test_labels_with_zeros_in_front_and_with_line_breaks(write, tmp_path, capsys, run):
    zeros, breaks = str(tmp_path / "zeros"), str(tmp_path / "breaks")
    assert main(["fit", write(GOOD.replace("u", "007").replace("v", "010")), "-o", zeros]) == 0
    capsys.readouterr()
    assert main(["predict", zeros, write("a,b\n0,0\n5,3\n", "new.csv")]) == 0
    assert capsys.readouterr().out == "007\n010\n"
    assert main(["fit", write(GOOD.replace("u", '"u\nw"')), "-o", breaks]) == 0
    capsys.readouterr()
    new = write("a,b\n0,0\n5,3\n", "new.csv")
    assert main(["predict", breaks, new]) == 1
    assert r"the label 'u\nw' has a line break in it" in capsys.readouterr().err
    assert run("predict", breaks, new)[1]["labels"] == ["u\nw", "v"]
    assert main(["predict", breaks, new, "--id", "a"]) == 1  # it is a feature; the sentence says so
    capsys.readouterr()
    assert main(["predict", breaks, new, "--scores"]) == 0
    assert [row[0] for row in csv.reader(capsys.readouterr().out.splitlines(keepends=True))] == ["u\nw", "v"]


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.parquet", "x.csv.zip", "x.feather", "x.xlsx", "x.json"])
def test_a_table_is_written_as_its_name_says_or_not_at_all(name, write, tmp_path, fail):
    data, out = write(GOOD), tmp_path / name
    for line in (
        ["convert", data, str(out)],
        ["scale", data, "-o", str(out)],
        ["convert", data, str(out), "--to", "csv"],
    ):
        assert "tables are written as CSV (.csv, .tsv) or SVMlight" in fail(*line)
        assert not out.exists()
    assert "its name says .svm, and --to says csv" in fail("convert", data, str(tmp_path / "x.svm"), "--to", "csv")


def test_the_answer_for_machines_goes_to_the_file(model, write, tmp_path, capsys):
    out = tmp_path / "answer.json"
    out.write_text("what was here before")
    assert main(["predict", model, write(GOOD), "--label", "y", "--json", "-o", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert json.loads(out.read_text())["labels"] == ["u"] * 3 + ["v"] * 3


def test_queries_and_zeros_at_the_end_survive_or_are_told(write, tmp_path, capsys):
    rows, out = "1 qid:3 1:2\n-1 qid:4 2:1\n", tmp_path / "out.svm"
    assert main(["convert", write(rows, "rows.svm"), str(out)]) == 0
    assert out.read_text() == rows
    assert main(["convert", write(rows, "rows.svm"), str(tmp_path / "out.csv")]) == 0
    assert "no place for the qid of the rows" in capsys.readouterr().err
    assert main(["convert", write("a,b,y\n1,0,1\n2,0,-1\n"), str(out)]) == 0
    assert "read it with --n-features 2" in capsys.readouterr().err


def test_columns_that_would_get_one_name(write, tmp_path, fail):
    data = write("c=x,c,y\n1,x,u\n2,z,v\n")
    assert "two columns would be called 'c=x'" in fail("convert", data, str(tmp_path / "out.csv"))


def test_a_half_written_picture_is_not_left(model, write, tmp_path, monkeypatch, fail):
    from matplotlib.figure import Figure

    def full(self, path, **options):
        Path(path).write_bytes(b"<svg>")
        raise OSError(28, "No space left on device")

    data, out = write(GOOD), tmp_path / "out.svg"
    out.write_text("the old one")
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(Figure, "savefig", full)
    assert "no space left on device" in fail("plot", model, data, "--label", "y", "-o", str(out))
    assert sorted(tmp_path.iterdir()) == before
    assert out.read_text() == "the old one"


def test_a_file_keeps_its_rights(model, write, tmp_path):
    out = tmp_path / "out.txt"
    out.write_text("")
    out.chmod(0o600)
    assert main(["predict", model, write(GOOD), "-o", str(out)]) == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def process(*arguments, code="", **options):
    script = f"{code}\nimport sys\nfrom maxmargin.cli import main\nsys.exit(main())"
    return subprocess.run([sys.executable, "-c", script, *arguments], stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_a_full_standard_output_is_a_sentence(options, model, write):
    with open("/dev/full", "w") as full:
        finished = process("predict", model, write(GOOD), *options, stdout=full)
    assert finished.returncode == 1
    assert finished.stderr == "maxmargin: standard output cannot be written: no space left on device\n"


def test_letters_that_the_locale_does_not_have(write, tmp_path):
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    path, data = str(tmp_path / "model"), write(GOOD.replace("u", "caf\u00e9"))
    assert main(["fit", data, "-o", path]) == 0
    finished = subprocess.run(
        [sys.executable, "-m", "maxmargin", "predict", path, data], capture_output=True, env=environment, check=True
    )
    assert finished.stdout.decode().split() == ["caf\u00e9"] * 3 + ["v"] * 3


INTERRUPTING = """
import sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
"""


@pytest.mark.parametrize("module", ["typer", "rich.console", "sklearn"])
def test_ctrl_c_while_modules_are_loaded_is_code_130(module, write):
    finished = process("fit", write(GOOD), code=INTERRUPTING.format(module=module), stdout=subprocess.PIPE)
    assert (finished.returncode, finished.stderr, finished.stdout) == (130, "Interrupted.\n", "")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["fit", "nothing.csv"], "nothing.csv cannot be read: no such file"),
        (["predict", "nothing.model", "nothing.csv"], "nothing.model cannot be read"),
        (["fit", "nothing.csv", "--lable", "y"], "No such option"),
        (["check", "nothing.csv", "--max-time", "0"], "--max-time must be a positive number"),
    ],
)
def test_an_error_is_json_where_json_is_asked_for(arguments, part, capsys):
    assert main([*arguments, "--json"]) == 1
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert found["exit_code"] == 1
    assert part in found["error"]
    assert part in shown.err


def test_one_document_even_if_the_model_cannot_be_written(write, tmp_path, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    assert main(["fit", write(GOOD), "-o", str(tmp_path / "model"), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["exit_code"], found["model"], found["verdicts"]) == (1, None, ["OPTIMAL"])
    assert "no space left on device" in found["error"]


def test_too_little_memory_is_a_sentence(write, monkeypatch, fail):
    def none_left(*_, **__):
        raise MemoryError("Unable to allocate 30 GiB")

    monkeypatch.setattr("maxmargin.LinearSVM.fit", none_left)
    assert "there is not enough memory for this (Unable to allocate 30 GiB)" in fail("fit", write(GOOD))
