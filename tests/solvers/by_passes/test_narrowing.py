"""A band that is narrowed by samples: the slope of all rows is kept, and what misleads is given up."""

import math

import numpy as np
import pytest
from block_margin_oracle import problem_of, table_of

from maxmargin import LinearSVM
from maxmargin.problems.losses import HINGE
from maxmargin.solvers.by_passes import narrowing
from maxmargin.solvers.by_passes.hinge_passes import Sample, SortOut
from maxmargin.solvers.by_passes.narrowing import Guess, band_around, few_of, narrowed, plane_of_sample

N = 8000


@pytest.fixture(autouse=True)
def as_the_leader_does():
    with np.errstate(all="ignore"):
        yield


def rows(seed=0, d=4):
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, d)) + 0.5
    return X, (X @ np.linspace(1.0, -0.5, d) + random.logistic(size=N) > 0.3).astype(int)


def block_of(X, y):
    return problem_of(HINGE).of(table_of(X, y, [len(y)]).block(0))


def sampled(block, share=0.1):
    return Sample(HINGE, (share, share), N)(block)


def sorted_out(block, plane, width=1e9, rate=1.0):
    return SortOut(HINGE, plane.w, plane.b, width, rate, 3, N)(block)


def objective(X, y, plane):
    f = 1.0 - np.where(y == 1, 1.0, -1.0) * (X @ plane.w + plane.b)
    return 0.5 * plane.w @ plane.w + np.maximum(0.0, f).sum()


@pytest.mark.parametrize("seed", range(4))
def test_a_pass_brings_the_plane_much_nearer_to_that_of_all_rows(seed):
    X, y = rows(seed)
    block = block_of(X, y)
    sample = sampled(block)
    first = plane_of_sample(sample, True)
    found = sorted_out(block, first, width=4.0 * first.deviation, rate=0.3)
    assert found.rows.n_rows < 0.4 * found.inside
    second = narrowed(first, found, few_of(sample.rows, sample.weights), True)
    best = LinearSVM(tol=1e-9).fit(X, y).certificate_.primal
    assert objective(X, y, second) - best < 0.1 * (objective(X, y, first) - best)
    assert second.deviation < narrowing.FALLEN * first.deviation


def test_the_deviation_of_a_sample_is_about_true():
    """Of eight samples, each against the plane of all rows."""
    X, y = rows(1)
    whole = LinearSVM(tol=1e-8).fit(X, y)
    ratios = []
    for part in range(8):
        own = block_of(X[part::8], y[part::8])
        guess = plane_of_sample(sampled(own, 2.0), True)
        moved = X @ (guess.w - whole.coef_[0]) + guess.b - whole.intercept_[0]
        ratios.append(guess.deviation / narrowing.rms(moved))
    assert 0.5 < np.exp(np.mean(np.log(ratios))) < 2.0


@pytest.mark.parametrize("start", [(0.0, 0.0), (0.7, -0.4)])
def test_from_any_plane_all_rows_give_the_plane_of_all_rows(start):
    X, y = rows()
    block = block_of(X, y)
    at = Guess(np.full(X.shape[1], start[0]), start[1], math.inf)
    found = narrowed(at, sorted_out(block, at), few_of(sampled(block).rows, sampled(block).weights), True)
    assert objective(X, y, found) == pytest.approx(LinearSVM(tol=1e-8).fit(X, y).certificate_.primal, rel=2e-4)


def test_what_the_rows_of_the_band_do_not_show_misleads():
    """A column that only rows far from the margin have: its slope is known, and nothing bounds the step along it."""
    X, y = rows()
    X = np.column_stack([X, np.zeros(N)])
    block = block_of(X, y)
    sample = sampled(block)
    at = plane_of_sample(sample, True)
    f = 1.0 - block.signs * (X @ at.w + at.b)
    far = np.flatnonzero(f > 1.5)
    X[far, -1] = 30.0 * block.signs[far]
    found = sorted_out(block_of(X, y), at, width=0.5, rate=0.5)
    look = sampled(block_of(X, y))
    assert narrowed(at, found, few_of(look.rows, look.weights), True) is None


def test_too_few_rows_or_a_deviation_that_stays_end_it():
    X, y = rows()
    block = block_of(X, y)
    sample = sampled(block)
    few = few_of(sample.rows, sample.weights)
    at = plane_of_sample(sample, True)
    assert narrowed(at, sorted_out(block, at, 0.5, rate=0.01), few, True) is None
    assert narrowed(at._replace(deviation=1e-9), sorted_out(block, at, 0.5), few, True) is None


def test_the_band_is_all_that_fits_or_a_sample_of_what_is_needed():
    X, y = rows()
    sample = sampled(block_of(X, y), 2.0).rows
    plane = plane_of_sample(sampled(block_of(X, y)), True)
    sizes, counts = np.sort(np.abs(sample.missing(plane.w, plane.b))), np.ones(N)

    def band(deviation, most):
        return band_around(plane._replace(deviation=deviation), sample, counts, most)

    assert band(0.05, N) == (0.2, 1.0)
    fits = sizes[900]
    assert band(0.5 * fits, 1000).width == pytest.approx(fits, rel=0.02)
    assert band(0.5 * fits, 1000).rate == 1.0
    wide = band(2.0 * fits, 1000)
    assert wide.width == 8.0 * fits
    assert wide.rate * np.count_nonzero(sizes < wide.width) == pytest.approx(900)
