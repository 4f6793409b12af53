"""Programs that know nothing of this library, as they are and patched; all of them: examples/sklearn/compare.py."""

import runpy
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
COMMAND = Path(__file__).parents[2] / "examples" / "sklearn" / "compare.py"
if not COMMAND.exists():
    pytest.skip("a source distribution has no examples", allow_module_level=True)
COMPARE = runpy.run_path(str(COMMAND))


def program(name):
    return next(path for path in COMPARE["programs"]() if path.stem == name)


@pytest.mark.parametrize("name", ["margins", "support_of_linear_svc", "ties"])
def test_same_picture(name):
    before, after, ours, theirs = COMPARE["pictures_of"](program(name))
    assert before.shape[0] > 100
    assert before.std() > 10
    assert (ours, theirs) == (2, 0)
    assert COMPARE["different"](before, after) <= COMPARE["MOST"]


def test_pictures_that_differ_are_told():
    white, dotted = np.full((100, 100, 3), 255), np.full((100, 100, 3), 255)
    dotted[:10, :10] = 0
    assert COMPARE["different"](white, dotted) == pytest.approx(0.01)
    assert COMPARE["different"](white, white[:50]) == 1.0


def test_there_are_twenty():
    assert len(COMPARE["programs"]()) == 20
