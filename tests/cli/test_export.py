"""`maxmargin verify --export`: every linear fit of the command line can be checked without the library."""

import json

import pytest
from checker.two_judges import CANNOT, VERIFIED, by_the_checker, check, figures

from maxmargin.cli import main

STREET = "a,b,y\n0,0,left\n0,2,left\n0.1,1,left\n3,0,right\n5,1,right\n4,1,right\n"
MIXED = "a,b,y,w\n0,0,1,1\n0,2,1,2.5\n3,0,2,1\n5,1,2,0.1\n1,1,2,1\n4,4,1,0\n2,5,3,1\n3,6,3,1\n"
CARS = (
    "kg,doors,colour,y\n900,3,red,low\n1000,5,red,low\n,3,blue,low\n1800,5,blue,high\n2100,5,grey,high\n1900,3,,high\n"
)
WINES = "review,y\nlovely and deep,yes\nfresh and lovely,yes\nthin and sour,no\nsour,no\n"
SPARSE = "-1 1:0.5\n-1 2:2 5:0.25\n+1 1:3\n1 1:5 3:1\n"


def exported(write, run, tmp_path, text, fit=(), data=("--label", "y"), name="data.csv"):
    """What the checker says of the files, proofs and figures; and the files."""
    file, model, folder = write(text, name), str(tmp_path / "model"), str(tmp_path / "proof")
    assert run("fit", file, *data, *fit, "-o", model)[0] in (0, 2, 3)
    code, answer = run("verify", model, file, *data, "--export", folder)
    assert code in (0, 2, 3)
    certificate, table = answer["exported"]
    with open(certificate) as written:
        text = written.read()
    return check.judge(text, table), check.judge(text, table, figures.Figures), json.loads(text), table


@pytest.mark.parametrize(
    "fit",
    [
        [],
        ["-c", "inf"],
        ["--loss", "squared_hinge", "--no-bias"],
        ["--loss", "huber_hinge"],
        ["--loss", "modified_huber"],
        ["--scale", "none", "-w", "left=3"],
        ["--scale", "minmax"],
        ["--algorithm", "hard-margin", "--set", "norm=l1"],
        ["--algorithm", "perceptron"],
        ["--algorithm", "margin-perceptron"],
        ["--algorithm", "winnow"],
        ["--algorithm", "stochastic", "--set", "max_iter=5"],
        ["-t", "poly", "-d", "2", "-r", "1"],
        ["-t", "linear", "--algorithm", "kernel-svm"],
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_linear_fit_can_be_checked(fit, write, run, tmp_path):
    proofs, all_of_it, _, _ = exported(write, run, tmp_path, STREET, fit)
    assert (proofs[0], all_of_it[0]) == (VERIFIED, VERIFIED), (proofs, all_of_it)


@pytest.mark.parametrize("fit", [[], ["--multi-class", "ovo"], ["--loss", "squared_hinge"]])
def test_weights_and_many_classes(fit, write, run, tmp_path):
    proofs, all_of_it, document, table = exported(write, run, tmp_path, MIXED, fit, ("--label", "y", "--weight", "w"))
    assert (proofs[0], all_of_it[0]) == (VERIFIED, VERIFIED), (proofs, all_of_it)
    assert document["table"]["weight"] == "weight"
    with open(table) as file:
        assert file.readline() == "a,b,weight,label\n"
    del document["table"]["weight"]
    assert by_the_checker(json.dumps(document), table)[0] != VERIFIED


def test_a_rational_proof_that_no_plane_separates(write, run, tmp_path):
    fit = ["--algorithm", "hard-margin", "--set", "on_inseparable=return", "--scale", "none"]
    crossed = "a,b,y\n1,1,a\n-1,-1,a\n1,-1,b\n-1,1,b\n"
    proofs, all_of_it, document, _ = exported(write, run, tmp_path, crossed, fit)
    assert (proofs[0], all_of_it[0]) == (VERIFIED, VERIFIED)
    assert document["certificate"]["verdict"] == "NOT_SEPARABLE"


def test_what_prepares_the_columns_is_in_the_table(write, run, tmp_path):
    proofs, _, document, table = exported(write, run, tmp_path, CARS, ["--impute"])
    assert proofs[0] == VERIFIED
    assert "StandardScaler" in document["table"]["prepared"]
    raw = tmp_path / "data.csv"
    assert check.judge(json.dumps(document), str(raw))[0] == CANNOT
    with open(table) as file:
        assert "colour=blue" in file.readline()


def test_texts_become_a_sparse_table(write, run, tmp_path):
    proofs, all_of_it, document, table = exported(write, run, tmp_path, WINES, ["--text", "review"])
    assert (proofs[0], all_of_it[0]) == (VERIFIED, VERIFIED)
    assert table.endswith("table.svm")
    assert sorted(document["table"]["labels"].values()) == ["no", "yes"]


def test_a_sparse_file_stays_one(write, run, tmp_path):
    proofs, all_of_it, document, table = exported(write, run, tmp_path, SPARSE, data=(), name="data.svm")
    assert (proofs[0], all_of_it[0]) == (VERIFIED, VERIFIED)
    assert table.endswith("table.svm")
    assert "labels" not in document["table"]


def test_a_kernel_without_rational_values_says_so(write, run, tmp_path):
    proofs, _, _, _ = exported(write, run, tmp_path, STREET, ["-t", "rbf"])
    assert proofs[0] == CANNOT
    assert "rbf" in proofs[1]


def test_it_is_told_how_to_check(write, run, tmp_path, capsys):
    file, model = write(STREET), str(tmp_path / "model")
    assert run("fit", file, "--label", "y", "-o", model)[0] == 0
    assert main(["verify", model, file, "--label", "y", "--export", str(tmp_path / "my proof")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "python checker/check.py" in said
    assert f"'{tmp_path}/my proof/certificate.json'" in said


def test_nothing_that_is_read_is_written_over(write, run, fail, tmp_path):
    (tmp_path / "proof").mkdir()
    table = write(STREET, "proof/table.csv")
    model = str(tmp_path / "proof" / "certificate.json")
    assert run("fit", table, "--label", "y", "-o", str(tmp_path / "model"))[0] == 0
    said = fail("verify", str(tmp_path / "model"), table, "--label", "y", "--export", str(tmp_path / "proof"))
    assert "would be lost" in said
    assert run("fit", table, "--label", "y", "-o", model)[0] == 0
    other = write(STREET, "other.csv")
    assert "would be lost" in fail("verify", model, other, "--label", "y", "--export", str(tmp_path / "proof"))


def test_folders_that_cannot_be(write, run, fail, tmp_path):
    file, model = write(STREET), str(tmp_path / "model")
    assert run("fit", file, "--label", "y", "-o", model)[0] == 0
    said = fail("verify", model, file, "--label", "y", "--export", str(tmp_path / "no" / "such"))
    assert "make it first" in said
    assert "a folder is needed" in fail("verify", model, file, "--label", "y", "--export", file)
