"""What both sides of the soft margin are made of: values with their errors, and when an error is negligible."""

import math

import numpy as np
from error_analysis import LEAST

from maxmargin.certificates import duality, passes
from maxmargin.certificates.duality import DualValue, PrimalValue
from maxmargin.problems.losses import Loss
from maxmargin.problems.statement import SoftMargin


def test_long_doubles_are_used_where_they_are_longer():
    bits = np.finfo(np.longdouble).nmant
    assert duality.LONGER is (bits in (63, 112))


def test_bounds_are_four_errors_away():
    assert PrimalValue(1.0, 0.125, np.zeros(1), 0.0).upper == 1.5
    assert DualValue(1.0, 0.125, (1.0, 1.0), np.zeros(1), 0.0).lower == 0.5
    assert DualValue(1.0, 0.5, (1.0, 1.0), np.zeros(1), 0.0).lower == 0.0


def test_slack_is_what_a_row_misses_if_it_misses_something():
    assert PrimalValue(1.0, 0.0, np.array([-2.0, 0.0, 0.25]), 0.0).slack.tolist() == [0.0, 0.0, 0.25]


def test_the_edge_of_what_is_negligible():
    """Four errors against a hundredth of the gap that matters."""

    def found(error):
        return PrimalValue(100.0, error, np.zeros(1), 0.0)

    assert duality.negligible(found(0.25), 1.0)
    assert not duality.negligible(found(math.nextafter(0.25, 1.0)), 1.0)
    assert duality.negligible(found(0.125), 0.5)
    assert duality.negligible(found(0.0), 0.0)
    assert not duality.negligible(found(LEAST), 0.0)


def test_a_loss_without_a_bend_is_as_steep_as_its_box():
    steep = Loss("steep", box=2.0, bend=0.0)
    problem = SoftMargin(np.zeros((3, 1)), np.array([1.0, -1.0, 1.0]), np.array([1.0, 3.0, 5.0]), steep, True)
    paid, _ = passes.loss_total(problem, np.array([0.5, 2.0, -1.0]))
    assert paid == 2.0 * (1.0 * 0.5 + 3.0 * 2.0)
