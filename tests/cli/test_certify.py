"""`maxmargin certify`: a plane from anywhere, its margin or objective beside the best; by text, CSV and JSON."""

import json

import pytest

from maxmargin import Certificate, SoftMarginCertificate
from maxmargin.cli import main
from maxmargin.reading.csv import read_csv

STREET = "a,b,label\n0,0,left\n0,2,left\n3,0,right\n5,1,right\n"  # the widest street is 3 wide


@pytest.fixture
def fail_as_json(run):
    def run_and_fail(*arguments):
        code, found = run(*arguments)
        assert (code, found["exit_code"]) == (1, 1)
        return found["error"]

    return run_and_fail


@pytest.mark.parametrize("text", ["w=1,0,b=-2", "w=1 0 b=-2", "w=2,0;b=-4", "w=[1,0] b=-2"])
def test_the_margin_of_a_line_drawn_by_hand(text, write, run):
    code, found = run("certify", write(STREET), "--plane", text, "--exact")
    assert (code, found["exit_code"], found["verification"]["holds"]) == (0, 0, True)
    assert found["share"] == pytest.approx(2 / 3, rel=1e-6)
    assert found["certificate"]["margin_lower"] == pytest.approx(1.0, rel=1e-9)
    assert found["certificate"]["margin_upper"] == pytest.approx(1.5, rel=1e-6)
    assert found["certificate"]["b"] / found["certificate"]["w"][0] == -2.0  # of exactly this plane


def test_the_objective_of_the_same_line(write, run):
    code, found = run("certify", write(STREET), "--plane", "w=1,0,b=-2", "-c", "1")
    assert code == 0
    assert found["parts"][0]["objective"] == pytest.approx(0.5)  # 1/2 |w|^2, no slack; the best one has 2/9
    assert found["excess"] == pytest.approx(1.25, rel=1e-4)
    assert found["verdicts"] == ["BOUNDED"]


def test_the_certificate_is_written(write, run, tmp_path):
    path, data = tmp_path / "certificate.json", write(STREET)
    assert run("certify", data, "--plane", "w=1,0,b=-2", "-o", str(path))[0] == 0
    table = read_csv(data)
    assert Certificate.from_json(path.read_text()).verify(table.X, table.y, exact=True)
    assert run("certify", data, "--plane", "w=1,0,b=-2", "-c", "1", "-o", str(path))[0] == 0
    assert SoftMarginCertificate.from_json(path.read_text()).verify(table.X, table.y)


@pytest.mark.parametrize("suffix", [".csv", ".json"])
@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_what_convert_writes_comes_back(suffix, strategy, flowers, run, tmp_path):
    model, planes = str(tmp_path / "model"), str(tmp_path / f"planes{suffix}")
    options = ["--multi-class", strategy]
    assert run("fit", *flowers, "--scale", "none", "-e", "1e-6", *options, "-o", model)[0] == 0
    assert main(["convert", model, planes]) == 0
    code, found = run("certify", *flowers, "--plane", planes, "-c", "1", "-e", "1e-4", *options)
    assert (code, found["verdicts"]) == (0, ["OPTIMAL"] * 3)
    assert found["excess"] <= 1e-5


def test_a_file_says_its_sides_and_its_columns(write, run, tmp_path):
    turned = write("positive,negative,intercept,b,a\nleft,right,2,0,-1\n", "planes.csv")  # -a + 2, columns turned
    code, found = run("certify", write(STREET), "--plane", turned)
    assert (code, found["share"]) == (0, pytest.approx(2 / 3, rel=1e-6))
    said = {"columns": ["a", "b"], "planes": [{"positive": "right", "intercept": -2, "coefficients": [1, 0]}]}
    path = write(json.dumps(said), "planes.json")
    assert run("certify", write(STREET), "--plane", path)[1]["share"] == pytest.approx(2 / 3, rel=1e-6)


def test_one_result_on_standard_output(write, fail_as_json):
    data = write(STREET)
    for words in (["certify", data, "--plane", "w=1,0"], ["leave-one-out", data], ["program", "hard-margin"]):
        assert "both write to standard output" in fail_as_json(*words, "-o", "-")


def test_no_plane_exists(write, run):
    crossed = write("a,b,label\n1,1,a\n-1,-1,a\n1,-1,b\n-1,1,b\n")
    code, found = run("certify", crossed, "--plane", "w=1,0")
    assert (code, found["verdicts"]) == (3, ["NOT_SEPARABLE"])
    assert "No plane separates the classes" in found["verdict"]


@pytest.mark.parametrize(
    ("plane", "said"),
    [
        ("w=1,x,b=2", "'x' is no number; write it as --plane w=1,0,b=-2"),
        ("nonsense", "neither a file (.csv, .json) nor a plane as text"),
        ("w=1,0,3", "w has 3 numbers for a plane, and the rows have 2 columns"),
        ("w=0,0", "w is zero, which is no plane"),
        ("w=1,nan", "a plane is made of finite numbers"),
        ("missing.csv", "missing.csv cannot be read"),
    ],
)
def test_what_is_no_plane_is_a_sentence(plane, said, write, fail):
    assert said in fail("certify", write(STREET), "--plane", plane)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("p.csv", "a,b\n1,2\n", "the first line must be positive,negative,intercept"),
        ("p.csv", "positive,negative,intercept,a\nright,left,1,1\n", "the column 'b' is in the table alone"),
        ("p.csv", "positive,negative,intercept,a,b\nright,left,1,1\n", "line 2: there are 4 cells, and 5 names"),
        ("p.csv", "positive,negative,intercept,a,b\nright,left,1,1,q\n", "line 2: 'q' is no number"),
        ("p.csv", "positive,negative,intercept,a,b\nup,down,1,1,1\n", "has no plane for 'right' against 'left'"),
        ("p.json", "[1]", "must hold"),
        ("p.json", '{"columns": ["a"], "planes": [{"positive": 1}]}', "must hold"),
    ],
)
def test_a_file_that_is_wrong_is_a_sentence(name, text, said, write, fail):
    assert said in fail("certify", write(STREET), "--plane", write(text, name))
