"""The table of patched and unpatched fits, on one small data set."""

import importlib
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("a source distribution has no benchmarks", allow_module_level=True)
sys.path.append(str(BENCHMARKS))
dropin = importlib.import_module("dropin")


@pytest.mark.parametrize("kind", dropin.KINDS)
def test_a_line_of_the_table(kind):
    X, y = load_iris(return_X_y=True)
    ratio, line = dropin.line_of("iris", "raw, float64", X, y, kind, rounds=1)
    assert ratio > 0.0
    text = dropin.page([line], {kind: [ratio]}, 1)
    heading = next(one for one in text.splitlines() if one.startswith("| data"))
    assert line.count("|") == heading.count("|")
    cells = [cell.strip() for cell in line.split("|")]
    assert cells[1:3] == ["iris", "150 x 4"]
    assert cells[10] == "yes"
    assert 0.0 <= float(cells[9]) <= 1e-6 <= float(cells[8]) < 0.1


def test_there_are_ten_sets():
    assert len(dropin.SETS) == 10
