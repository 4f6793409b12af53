"""Which rows float32 may decide on, and in which cases they are looked at again in float64."""

import math

import numpy as np
import pytest

from maxmargin.certificates import kernel_duality
from maxmargin.certificates.kernel_duality import both_sides, combined, direction, least_gap, measure
from maxmargin.problems.kernels import KernelChoice, Linear, Rbf
from maxmargin.problems.losses import HINGE
from maxmargin.problems.statement import KernelMargin

U = 2.0**-53


def spread(C=1.0):
    """Two clouds far from each other, with weights on two of the rows only."""
    random = np.random.default_rng(0)
    signs = np.where(np.arange(200) % 2, 1.0, -1.0)
    X = 0.05 * random.normal(size=(200, 2)) + 2.0 * signs[:, None]
    kernel = KernelChoice("rbf", 0.5, 0.0, 1).on(X)
    problem = KernelMargin(X, signs, np.full(200, C), HINGE, True, kernel, kernel.points(X))
    a = np.zeros(200)
    a[:2] = 2.0
    return problem, a


def observed(monkeypatch, *names):
    """The rows that are looked at in float64 and in float32."""
    seen = {name: [] for name in names or ("combined", "mostly_in_float32")}
    for name in seen:
        plain = getattr(kernel_duality, name)

        def look(kernel, A, B, coefficients, threads, plain=plain, name=name):
            seen[name].append(sorted(A.places.tolist()))
            return plain(kernel, A, B, coefficients, threads)

        monkeypatch.setattr(kernel_duality, name, look)
    return seen


def test_rows_that_surely_pay_nothing_are_left_to_float32(monkeypatch):
    problem, a = spread(C=3.0)
    seen = observed(monkeypatch)
    found = measure(problem, a)
    assert seen == {"combined": [[0, 1]], "mostly_in_float32": [list(range(2, 200))]}
    assert found.off[:2].max() < 1e-12 < found.off[2:].min()
    assert not found.slack.any()


def test_rows_in_doubt_are_looked_at_in_float64(monkeypatch):
    problem, a = spread(C=3.0)
    values = measure(problem, a).values
    row = int(np.argsort(values)[-3])  # the third of its class from its inner side, and rows below pay
    row = row if row > 1 else int(np.argsort(values)[-4])
    seen = observed(monkeypatch)
    b = 1.0 - float(values[row])
    found = measure(problem, a, b=b)
    pays = [i for i in range(2, 200) if 1.0 - problem.signs[i] * (values[i] + b) > -1e-4]
    assert seen["combined"][0] == [0, 1]
    assert len(seen["combined"]) == 2
    assert row in seen["combined"][1]
    assert set(seen["combined"][1]) >= {i for i in pays if 1.0 - problem.signs[i] * (values[i] + b) > 0.0}
    assert len(seen["combined"][1]) < 190
    assert found.off[row] < 1e-12


@pytest.mark.parametrize(("nearer", "looks"), [(0.0, 1), (2.0**-40, 2)])
def test_a_screened_row_at_its_very_edge_is_in_doubt(nearer, looks, monkeypatch):
    """An error as large as the distance beyond the edge will do, a larger one will not."""
    problem, a = spread(C=3.0)
    four = 4 * U / (1.0 - 4 * U)

    def coarse(kernel, A, B, coefficients, threads):
        values = np.where(problem.signs[A.places] > 0, 3.0, -3.0)
        sums = np.column_stack([np.maximum(values, 0.0), np.maximum(-values, 0.0)])
        return sums, np.zeros(len(sums)), np.full(len(sums), 2.0 - four * 4.0 + nearer)

    monkeypatch.setattr(kernel_duality, "mostly_in_float32", coarse)
    monkeypatch.setattr(kernel_duality, "rounding", lambda terms: four if terms == 4 else 0.0)
    seen = observed(monkeypatch, "combined")
    measure(problem, a, b=0.0)
    assert len(seen["combined"]) == looks


def test_rows_that_carry_weight_are_not_screened_even_if_float64_knows_nothing_of_them(monkeypatch):
    problem, a = spread(C=3.0)
    plain = kernel_duality.combined

    def blurred(*given):
        sums, sizes, error = plain(*given)
        return sums, sizes, np.full_like(error, math.inf)

    monkeypatch.setattr(kernel_duality, "combined", blurred)
    seen = observed(monkeypatch)
    assert measure(problem, a).primal == math.inf
    assert seen == {"combined": [[0, 1]], "mostly_in_float32": [list(range(2, 200))]}


def test_a_hard_margin_and_other_kernels_are_not_screened():
    problem, _ = spread()
    assert kernel_duality.can_be_screened(problem)
    hard, _ = spread(math.inf)
    assert not kernel_duality.can_be_screened(hard)
    kernel = Linear()
    linear = KernelMargin(problem.X, problem.signs, problem.costs, HINGE, True, kernel, kernel.points(problem.X))
    assert not kernel_duality.can_be_screened(linear)


def test_weights_that_make_float32_too_coarse_leave_all_to_float64(monkeypatch):
    problem, a = spread(C=1e9)
    seen = observed(monkeypatch)
    measure(problem, a * 1e7)
    assert seen["mostly_in_float32"] in ([], [[]])
    assert seen["combined"] == [[0, 1], list(range(2, 200))]


def test_without_a_direction_nothing_is_looked_at(monkeypatch):
    problem, a = spread()
    seen = observed(monkeypatch)
    found = measure(problem, 0.0 * a)
    assert seen == {"combined": [], "mostly_in_float32": []}
    assert found.primal == 200.0
    w = direction(problem, 0.0 * a, None)
    assert w.look_at(problem.kernel, np.arange(3), problem.points, combined, None).tolist() == []


def test_the_least_gap_from_the_rows_that_were_measured():
    """P of two rows with the best bias for them, against D."""
    problem, a = spread(C=3.0)
    w = direction(problem, a / 4.0, None)
    assert np.isfinite(w.values).sum() == 2
    k = float(problem.kernel.values(problem.points, problem.points)[0, 1])
    square = 0.5 * (1.0 - k)
    primal = 0.5 * square + 3.0 * 2.0 * (1.0 - 0.5 * (1.0 - k))
    dual = 1.0 - 0.5 * square
    assert least_gap(problem, w) == pytest.approx((primal - dual) / primal, rel=1e-12)
    a[3] = 1.0
    w = direction(problem, a / 4.0, None)
    rows = [0, 1, 3]
    signs, values = problem.signs[rows], w.values[rows]
    losses = [3.0 * np.maximum(0.0, 1.0 - signs * (values + b)).sum() for b in signs - values]  # the best is at a kink
    primal = 0.5 * w.square + min(losses)
    assert losses[0] != pytest.approx(min(losses), rel=1e-6)
    dual = w.gain - 0.5 * w.square
    assert least_gap(problem, w) == pytest.approx((primal - dual) / primal, rel=1e-12)
    hard, a = spread(math.inf)
    assert least_gap(hard, direction(hard, a, None)) == 0.0
    assert least_gap(problem, w._replace(values=np.full(200, math.nan))) == 0.0


def test_values_of_rows_far_away_are_measured_once(monkeypatch):
    """Rows beyond float32's reach are looked at in float64 from the start."""
    problem, a = spread(C=3.0)
    X = problem.X.copy()
    X[-3:] = 1e6
    kernel = Rbf(0.5)
    problem = KernelMargin(X, problem.signs, problem.costs, HINGE, True, kernel, kernel.points(X))
    seen = observed(monkeypatch)
    found = both_sides(problem, direction(problem, a, None), 0.0, None)
    assert seen["mostly_in_float32"] == [list(range(2, 197))]
    assert seen["combined"][:2] == [[0, 1], [197, 198, 199]]
    assert found.slack[-3:] == pytest.approx([1.0, 1.0, 1.0])
