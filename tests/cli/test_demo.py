"""`maxmargin demo`: all of it runs, and what it shows is verified."""

import json
import re
import subprocess
import sys

import pytest

from maxmargin import Certificate, SoftMarginCertificate
from maxmargin.cli import main
from maxmargin.data import synthetic


def test_the_demo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    for name in ("Perceptron, l2", "MarginPerceptron, l2", "Winnow, l1", "HardMarginSVM, l2", "HardMarginSVM, l1"):
        assert name in shown
    rows = re.findall(r"l[12] +([0-9.]+) +([0-9.]+) to ([0-9.]+)", shown)
    assert len(rows) == 5
    for margin, lower, upper in rows:  # five digits, within the bounds as they are printed
        assert float(lower) <= float(margin) <= float(upper)
        assert len(margin) <= len("0.12345")
    assert "All five proofs were verified" in shown
    assert shown.count("Verified in exact rational arithmetic") == 3
    assert "4. A soft margin, with proof: LinearSVM on 400 noisy points" in shown
    assert re.search(r"relative gap [0-9.]+e-[0-9]+ of 1\.0e-06, in [0-9.]+ ms", shown)
    assert "Not separable: a point lies in the hulls of both classes" in shown
    assert str(tmp_path / "maxmargin-demo.png") in shown
    assert (tmp_path / "maxmargin-demo.png").read_bytes().startswith(b"\x89PNG")


def test_for_machines(tmp_path, capsys):
    picture = tmp_path / "street.png"
    assert main(["demo", "--json", "--output", str(picture)]) == 0
    answer = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert answer["picture"] == str(picture)
    assert picture.exists()
    assert len(answer["algorithms"]) == 5
    for algorithm in answer["algorithms"]:
        assert algorithm["verified_exactly"] is True
        for theorem in algorithm["theorems"]:
            assert not theorem["at_most"] or theorem["measured"] <= theorem["bound"]
        if algorithm["norm"] == "l2":
            assert algorithm["margin_lower"] <= answer["known_margin"] * (1 + 1e-9)
            assert algorithm["margin_upper"] >= answer["known_margin"] * (1 - 1e-9)
    X, y = synthetic.flowers()
    for name, verdict in (("separable", "OPTIMAL"), ("not_separable", "NOT_SEPARABLE")):
        certificate = Certificate.from_json(json.dumps(answer[name]["certificate"]))
        assert certificate.verdict.name == verdict
        assert certificate.verify(X, y, exact=True)
    soft = answer["soft_margin"]
    certificate = SoftMarginCertificate.from_json(json.dumps(soft["certificate"]))
    assert soft["verified_exactly"] is True
    assert certificate.relative_gap == soft["relative_gap"] <= 1e-6
    assert certificate.verify(*synthetic.overlapping(400), exact=True)


@pytest.mark.parametrize("name", ["no/such/folder/street.png", "street.unknown"])
def test_a_picture_that_cannot_be_written(name, tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path / name)]) == 1
    assert "the picture cannot go to" in capsys.readouterr().err


def test_without_matplotlib_the_rest_is_shown(tmp_path):
    script = """
import sys
sys.modules["matplotlib"] = None
from maxmargin.cli import main
sys.exit(main(["demo"]))
"""
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert finished.returncode == 0
    assert 'pip install "maxmargin[plots]"' in finished.stderr
    assert "Winnow" in finished.stdout
    assert not list(tmp_path.iterdir())
