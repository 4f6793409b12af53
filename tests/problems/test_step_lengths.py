"""The lengths of stochastic steps, as they are written."""

import pytest

from maxmargin.problems.step_lengths import InverseScaling, inverse_scaling


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1/sqrt(t)", (1.0, 0.5)),
        (" 0.1 / sqrt(t) ", (0.1, 0.5)),
        ("2/t", (2.0, 1.0)),
        ("1e-3/t^0.25", (0.001, 0.25)),
        (".5/t**2", (0.5, 2.0)),
    ],
)
def test_a_text_says_how_steps_fall(text, says):
    assert inverse_scaling(text) == InverseScaling(*says)


@pytest.mark.parametrize(
    "text", ["", "pegasos", "1", "1/", "1/x", "-1/t", "0/t", "1e999/t", "1/t^0", "1/sqrt(t)^2", "t"]
)
def test_another_text_says_nothing(text):
    assert inverse_scaling(text) is None
