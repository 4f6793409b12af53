"""The checker as a program: its size, what it imports, the files that it reads, what it answers and with which exit
code."""

import ast
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from checker.two_judges import CANNOT, CHECKER, REFUSED, VERIFIED, check

from maxmargin import LinearSVM, separability
from maxmargin.persistence import write_proof

X, Y = np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 0.0], [5.0, 1.0]]), np.array([-1, -1, 1, 1])
CSV = "a,b,label\n0,0,-1\n0,2,-1\n3,0,1\n5,1,1\n"
CODES = {VERIFIED: 0, REFUSED: 1, CANNOT: 2}


def test_a_person_can_read_it():
    assert len((CHECKER / "check.py").read_text().splitlines()) <= 300
    assert len((CHECKER / "blocks.py").read_text().splitlines()) <= 100


@pytest.mark.parametrize("name", ["check.py", "blocks.py", "figures.py"])
def test_it_needs_the_standard_library_alone(name):
    tree = ast.parse((CHECKER / name).read_text())
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules
    assert {module.partition(".")[0] for module in modules} <= sys.stdlib_module_names


@pytest.fixture
def written(tmp_path):
    """A certificate of the four rows in a file; and a function that writes another file beside it."""

    def write(text, name):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write(separability(X, Y).to_json(), "certificate.json"), write


def run(*arguments, program="check.py"):
    """As a program that sees neither this library nor any other."""
    command = [sys.executable, "-I", "-S", str(CHECKER / program), *arguments]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.stderr == ""
    answer, _, why = finished.stdout.strip().partition(": ")
    assert why
    assert finished.returncode == CODES[answer]
    return answer, why


@pytest.mark.parametrize("program", ["check.py", "figures.py"])
def test_as_a_program(written, program):
    certificate, write = written
    table = write(CSV, "table.csv")
    assert run(certificate, table, program=program)[0] == VERIFIED
    assert run(certificate, write(CSV.replace("3,0,1", "2,0,1"), "moved.csv"), program=program)[0] == REFUSED
    assert run(certificate, str(table) + ".missing", program=program)[0] == CANNOT
    assert run(certificate, program=program)[0] == CANNOT
    assert run(table, table, program=program)[0] == CANNOT


def test_nested_without_end(written):
    _, write = written
    table = write(CSV, "table.csv")
    assert run(write("[" * 100_000, "deep.json"), table)[0] == CANNOT
    assert run(write('{"verdict": ' + "[" * 900 + "]" * 900 + "}", "deeper.json"), table)[0] == REFUSED


def test_blocks_py_is_named_where_it_is_not_there(written, tmp_path):
    """Only a certificate of a table that was read by blocks needs it."""
    certificate, write = written
    alone = shutil.copy(CHECKER / "check.py", tmp_path)
    table = write(CSV, "table.csv")
    assert run(certificate, table, program=alone)[0] == VERIFIED
    answer, why = run(
        write(about(certificate, {}).replace('"verdict"', '"heights": [4], "verdict"'), "c.json"), table, program=alone
    )
    assert answer == CANNOT
    assert "blocks.py" in why


def answer(certificate, path):
    with open(certificate) as file:
        return check.judge(file.read(), path)


def about(certificate, table):
    """The certificate with a word about its table."""
    with open(certificate) as file:
        return json.dumps({"table": table, "certificate": json.load(file)})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", CSV),
        ("a.csv", CSV.replace("\n", "\r\n")),
        ("a.csv", "a,b,label\n0.0,0,-1.0\n-0,2e0,-1\n+3,0,+1\n5,1,1\n"),
        ("a.tsv", CSV.replace(",", "\t")),
        ("a.svm", "-1\n-1 2:2\n+1 1:3\n1 1:5 2:1\n"),
        ("a.svm", "# four rows\n-1 1:0 # the first\n\n-1 qid:7 2:2\n1.0 1:3 2:0\n1 2:1 1:5\n"),
        ("a.svm", "-1 0:0\n-1 1:2\n+1 0:3\n1 0:5 1:1\n"),
    ],
)
def test_tables_that_are_the_same(name, text, written):
    certificate, write = written
    assert answer(certificate, write(text, name)) == (VERIFIED, "every claim follows from the table")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", CSV.replace("3,0,1", "nan,0,1"), REFUSED),
        ("a.csv", CSV.replace("3,0,1", "inf,0,1"), REFUSED),
        ("a.csv", CSV.replace("3,0,1", ",0,1"), CANNOT),
        ("a.csv", CSV.replace("3,0,1", "three,0,1"), CANNOT),
        ("a.csv", CSV.replace("3,0,1", "3,0"), CANNOT),
        ("a.csv", CSV.replace("3,0,1", "3,0,0,1"), CANNOT),
        ("a.csv", CSV.replace("3,0,1", "3,0,7"), REFUSED),
        ("a.csv", CSV.replace("a,b", "a,a"), REFUSED),
        ("a.csv", "", CANNOT),
        ("a.csv", "a,b,label\n", CANNOT),
        ("a.svm", "-1\n-1 2:2\n+1 1:3\n1 1:5 3:1\n", REFUSED),
        ("a.svm", "-1\n-1 2:2\n+1 1;3\n1 1:5 2:1\n", CANNOT),
        ("a.svm", "-1\n-1 2:2\n+1 1:nan\n1 1:5 2:1\n", REFUSED),
    ],
)
def test_tables_that_are_not(name, text, expected, written):
    certificate, write = written
    assert answer(certificate, write(text, name))[0] == expected


def test_a_word_about_the_table(written):
    certificate, write = written
    first = write("label,a,much,b\n-1,0,1,0\n-1,0,1,2\n1,3,1,0\n1,5,1,1\n1,0,0,1\n", "first.csv")
    assert answer(certificate, first)[0] != VERIFIED
    told = write(about(certificate, {"label": "label", "weight": "much"}), "told.json")
    assert answer(told, first)[0] == VERIFIED
    assert answer(write(about(certificate, {"label": "class"}), "told.json"), first)[0] == CANNOT
    assert answer(write(about(certificate, {"label": "label", "weight": "w"}), "told.json"), first)[0] == CANNOT
    negative = write(CSV.replace("b,label", "b,much,label").replace("0,0,-1", "0,0,-1,-1"), "negative.csv")
    assert answer(told, negative)[0] != VERIFIED


def test_labels_are_compared_as_they_are_written(tmp_path):
    words = np.array(["007", "007", "7", "7"])
    certificate, table = write_proof(separability(X, words), X, words, tmp_path)
    assert answer(certificate, str(table))[0] == VERIFIED
    table.write_text(table.read_text().replace("007", "07"))
    assert answer(certificate, str(table))[0] == REFUSED


def test_a_prepared_table_that_is_another(tmp_path, written):
    _, write = written
    certificate, table = write_proof(separability(X / 2, Y), X / 2, Y, tmp_path / "proof", prepared=["MaxAbsScaler"])
    assert answer(certificate, str(table))[0] == VERIFIED
    assert answer(certificate, write(CSV, "raw.csv"))[0] == CANNOT
    plain, _ = write_proof(separability(X / 2, Y), X / 2, Y, tmp_path / "plain")
    assert answer(plain, write(CSV, "raw.csv"))[0] == REFUSED
    forged = json.loads(certificate.read_text())
    forged["certificate"]["margin_lower"] *= 2
    certificate.write_text(json.dumps(forged))
    assert answer(certificate, str(table))[0] == REFUSED


@pytest.mark.parametrize(
    "text", ["", "[]", "7", "null", "{}", '{"parts": 3}', '{"verdict": "OPTIMAL"}', "{", '"words"']
)
def test_what_is_no_certificate(text, written):
    _, write = written
    assert check.judge(text, write(CSV, "a.csv"))[0] in (REFUSED, CANNOT)


def test_many_weights_of_many_rows_are_quick(tmp_path):
    """A sum of quotients with many denominators would grow without limit: it is rounded, against the claim."""
    random = np.random.default_rng(0)
    rows, labels, weights = random.normal(size=(400, 3)), np.repeat([0, 1], 200), random.uniform(0.5, 2.0, 400)
    svm = LinearSVM(loss="squared_hinge").fit(rows, labels, sample_weight=weights)
    files = write_proof(svm.certificate_, rows, labels, tmp_path, sample_weight=weights)
    assert answer(files[0], str(files[1]))[0] == VERIFIED
