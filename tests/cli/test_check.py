"""`maxmargin check`: the verdict, the rows that prove it, the exit code; and every error with its place."""

import gzip
import json

import pytest

import maxmargin
from maxmargin import Certificate, Perceptron
from maxmargin.cli import main
from maxmargin.data import bundled, synthetic
from maxmargin.reading.csv import read_csv
from maxmargin.run.control import collected

SEPARABLE = "x,y,label\n0,0,left\n0,2,left\n3,0,right\n5,1,right\n"
CROSSED = "x;y;label\n\n1;1;a\n-1;-1;a\n1;-1;b\n-1;1;b\n"
FLOWERS = str(bundled.path_of("flowers.csv"))


def check(*arguments):
    return main(["check", *arguments])


def test_separable(write, capsys):
    assert check(write(SEPARABLE), "--label", "label") == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "4 rows x 2 columns, 2 labels: 'left' (2), 'right' (2)" in captured.out
    assert "street (twice the margin): at least 2.99999999999" in captured.out
    assert "Verified in exact rational arithmetic" in captured.out


def test_not_separable_shows_the_lines_of_the_witness(write, capsys):
    assert check(write(CROSSED), "--label", "label") == 3
    captured = capsys.readouterr().out
    assert "Not separable" in captured
    rows = [row.split() for row in captured.splitlines()]
    for line, label in ((3, "a"), (4, "a"), (5, "b"), (6, "b")):
        assert any(row[:1] == [str(line)] and row[2:3] == [label] for row in rows)


def test_weakly_separable_is_not_separable(write, capsys):
    X, y, _ = synthetic.touching()
    rows = "".join(f"{a},{b},{label}\n" for (a, b), label in zip(X.tolist(), y, strict=True))
    assert check(write("a,b,label\n" + rows)) == 3
    assert "Weakly separable" in capsys.readouterr().out


def test_json_holds_certificates_that_can_be_verified(write, capsys):
    path = write(CROSSED)
    assert check(path, "--label", "2", "--json") == 3
    answer = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert answer["separable"] is False
    assert (answer["rows"], answer["columns"], answer["format"]) == (4, 2, "csv")
    assert answer["labels"] == [{"label": "a", "count": 2}, {"label": "b", "count": 2}]
    [problem] = answer["problems"]
    assert problem["verification"]["holds"] is True
    assert problem["verification"]["exact"] is True
    assert [row["line"] for row in problem["carrying_rows"]] == [3, 4, 5, 6]
    assert problem["carrying_rows"][0]["contents"] == [["x", 1.0], ["y", 1.0]]
    certificate = Certificate.from_json(json.dumps(problem["certificate"]))
    table = read_csv(path, label="label")
    assert certificate.verify(table.X, table.y, exact=True)


def test_three_labels_are_three_questions(capsys):
    assert check(FLOWERS, "--label", "species", "--json") == 3
    answer = json.loads(capsys.readouterr().out)
    assert [problem["certificate"]["positive"] for problem in answer["problems"]] == ["aster", "bellis", "crocus"]
    assert [problem["certificate"]["verdict"] for problem in answer["problems"]] == [
        "OPTIMAL", "NOT_SEPARABLE", "NOT_SEPARABLE",
    ]  # fmt: skip


@pytest.mark.parametrize(("label", "code"), [("aster", 0), ("bellis", 3)])
def test_one_label_against_the_rest(label, code, capsys):
    assert check(FLOWERS, "--label", "species", "--positive", label) == code
    assert f"'{label}' against the rest" in capsys.readouterr().out


@pytest.mark.parametrize("label", ["1", "+1", "1.0"])
def test_the_positive_one_of_two(label, write, capsys):
    path = write("x,label\n0,1\n1,0\n")
    assert check(path, "--positive", label, "--json") == 0
    certificate = json.loads(capsys.readouterr().out)["problems"][0]["certificate"]
    assert (certificate["positive"], certificate["negative"]) == (1, 0)
    assert certificate["w"][0] < 0.0


def test_the_l1_margin(write, capsys):
    assert check(write(SEPARABLE), "--label", "label", "--norm", "l1") == 0
    assert "best l1 margin: between 1.5" in capsys.readouterr().out.replace("1.49999999999", "1.5")


def test_without_a_bias(write, capsys):
    path = write("x,label\n1,0\n2,1\n")
    assert check(path) == 0
    assert check(path, "--no-bias") == 3
    assert "through the origin" in capsys.readouterr().out


def test_stopped_before_it_was_proven(write, monkeypatch, capsys):
    def stop_early(X, y, **options):
        with collected():
            return Perceptron(max_updates=1).fit(X, y).certificate_

    monkeypatch.setattr(maxmargin, "separability", stop_early)
    rows = "".join(f"{row[0]},{row[1]},{label}\n" for row, label in zip(*synthetic.street()[:2], strict=True))
    assert check(write("a,b,label\n" + rows)) == 2
    assert "Stopped before" in capsys.readouterr().out


def test_time_is_limited(write, capsys):
    assert check(write(CROSSED), "--label", "label", "--max-time", "60") == 3


def test_a_proof_that_does_not_hold_proves_nothing(write, monkeypatch, capsys):
    right = maxmargin.separability
    monkeypatch.setattr(maxmargin, "separability", lambda X, y, **options: right(0.5 * X, y, **options))
    assert check(write(SEPARABLE), "--label", "label") == 2
    assert "Refused" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("data.svm", "1 1:1\n-1 1:-1\n", []),
        ("data.libsvm.gz", gzip.compress(b"1 1:1\n-1 1:-1\n", mtime=0), []),
        ("data.txt", "# a comment\n\n1 1:1 # more\n-1 1:-1\n", []),
        ("data", "+1 qid:2 1:1\n-1 1:-1\n", []),
        ("data.csv.gz", gzip.compress(b"x,label\n1,a\n2,b\n", mtime=0), []),
        ("data.tsv", "x\tlabel\n1\ta\n2\tb\n", []),
        ("data.txt", "1,a\n2,b\n", ["--no-header", "--label", "1"]),
        ("data.txt", "1,a\n2,b\n", ["--no-header", "--label", "-1"]),
        ("data.csv", "1 1:1\n-1 1:-1\n", ["--format", "svmlight"]),
        ("data.svm", "x,label\n1,a\n2,b\n", ["--format", "csv"]),
    ],
)
def test_formats(name, text, options, write, capsys):
    assert check(write(text, name), *options) == 0
    assert "2 rows x 1 columns" in capsys.readouterr().out


def test_sparse_witness_rows_are_shown_as_in_the_file(write, capsys):
    assert check(write("# made\n1 2:1\n2 2:2\n1 2:3\n", "data.svm")) == 3
    shown = capsys.readouterr().out
    assert all(entry in shown for entry in ("2:1", "2:2", "2:3"))


@pytest.mark.parametrize("text", ["x,label\n1,a\n2,b\n", "1 1:1\n-1 1:-1\n"])
def test_standard_input(text, type_in, capsys):
    type_in(text)
    assert check("-") == 0
    assert capsys.readouterr().out.startswith("standard input: 2 rows")


def test_errors_in_standard_input_are_named(type_in, capsys):
    type_in("x,label\n1,a\n?,b\n")
    assert check("-") == 1
    assert "standard input, line 3, column 'x': '?' is not a number" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "options", "part"),
    [
        ("", [], "the file is empty"),
        ("x\n1\n", [], "one column only"),
        ("a,b\n1,2\n", [], "0 'a', 1 'b'"),
        ("a,b\n1,2\n", ["--label", "c"], "no column is called 'c'"),
        ("a,b\n1,2\n", ["--label", "5"], "there is no column 5"),
        ("a,label\n1,x\nabc,y\n", [], "line 3, column 'a': 'abc' is not a number"),
        ("a,label\n1,x\n1\n", [], "line 3: 1 cell"),
        ("a,label\n1,x\nnan,y\n", [], "line 3, column 'a'"),
        ("a,label\n1,x\n2,x\n", [], "every row has the label 'x'"),
        ("a,label\n1,x\n2,y\n", ["--positive", "z"], "has no label 'z' for --positive; it has 'x', 'y'"),
        ("a,label\n1,x\n2,y\n", ["--max-time", "0"], "--max-time must be a positive"),
        ("a,label\n1,x\n2,y\n", ["--max-time", "nan"], "--max-time must be a positive"),
        ("a,label\n1,x\n2,y\n", ["--format", "svmlight"], "line 1"),
        ("a,y\n" + "".join(f"1,{i}.5\n" for i in range(101)), [], "101 different labels"),
        (b"a,label\n1,\xff\n", [], "line 2: byte 0xff"),
        (b"a,label\n1,\x00\n", [], "line 2: there is a NUL byte"),
        (b"PK\x03\x04", [], ".npz"),  # an archive that is cut: a handle left open would be a warning, and so an error
        (b"\x93NUMPY", [], ".npy"),
    ],
)
def test_errors_are_one_sentence_on_stderr(text, options, part, write, capsys):
    assert check(write(text), *options) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert part in captured.err
    assert captured.err.startswith("maxmargin: ")
    assert captured.err.count("\n") == 1


def test_options_of_csv_with_a_sparse_file(write, capsys):
    assert check(write("1 1:1\n", "data.svm"), "--label", "1") == 1
    assert "leave out label" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "part"), [("nothing.csv", "no such file"), ("", "there is no file in")])
def test_files_that_cannot_be_read(name, part, tmp_path, capsys):
    assert check(str(tmp_path / name)) == 1
    assert part in capsys.readouterr().err


def test_labels_with_brackets_are_shown_as_they_are(write, capsys):
    assert check(write("x,label\n1,[red]\n2,b\n3,[red]\n")) == 3
    assert "[red]" in capsys.readouterr().out


def test_both_margins_in_one_report(write, capsys):
    """Rows (1, +-1) against their negatives: the cosine is 1/sqrt(2), the l1 margin 1."""
    path = write("a,b,y\n1,1,p\n1,-1,p\n-1,1,n\n-1,-1,n\n")
    assert check(path, "--label", "y", "--no-bias", "--both-margins") == 0
    told = capsys.readouterr().out
    assert "l2, g_P, a cosine: between 0.707106781 and 0.707106782" in told
    assert "tied, m = 2 coordinates" in told
    assert check(path, "--label", "y", "--no-bias", "--both-margins", "--json") == 0
    [margins] = json.loads(capsys.readouterr().out)["both_margins"]
    assert margins["verified"] is True
    assert margins["l1"]["lower"] == pytest.approx(1.0)
    assert margins["l2"]["margin_in_own_space"] == pytest.approx(1.0)
    assert check(FLOWERS, "--label", "species", "--both-margins", "--json") == 3
    setosa, *others = json.loads(capsys.readouterr().out)["both_margins"]
    assert 0.0 < setosa["l2"]["lower"] / 5**0.5 <= setosa["l1"]["upper"]
    assert [one["l2"]["upper"] for one in others] == [0.0, 0.0]
