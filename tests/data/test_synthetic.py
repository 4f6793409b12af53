"""Made data have the answers that they promise, by certificate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import Verdict, separability
from maxmargin.data import bundled, synthetic
from maxmargin.reading.csv import read_csv


def margin_of(plane, X, y):
    assert np.linalg.norm(plane.w) == pytest.approx(1.0)
    return np.min(y * (X @ plane.w + plane.b))


@given(st.integers(2, 60), st.integers(1, 8), st.floats(0.01, 10.0), st.integers(0, 2**32))
def test_gaussians_are_pushed_away(n, d, margin, seed):
    X, y, plane = synthetic.separable_gaussians(n, d, margin, seed)
    assert X.shape == (n, d)
    assert set(y.tolist()) == {-1, 1}
    assert margin_of(plane, X, y) == pytest.approx(plane.margin, abs=1e-12)
    assert plane.margin >= margin * (1.0 - 1e-9)


def test_the_best_margin_of_gaussians_is_at_least_the_planted_one():
    X, y, plane = synthetic.separable_gaussians(80, 5, 0.3, seed=3)
    certificate = separability(X, y)
    assert certificate.verdict is Verdict.OPTIMAL
    assert certificate.margin_upper >= plane.margin >= 0.3 - 1e-12
    assert certificate.verify(X, y, exact=True)


@pytest.mark.parametrize("angle", [0.0, 35.0, 200.0])
@pytest.mark.parametrize("width", [0.125, 3.0])
def test_the_street_is_as_wide_as_promised(width, angle):
    X, y, plane = synthetic.street(50, width, angle, seed=1)
    certificate = separability(X, y)
    assert certificate.verdict is Verdict.OPTIMAL
    assert certificate.margin_lower == pytest.approx(width / 2, rel=1e-9)
    assert plane.margin == width / 2
    assert margin_of(plane, X, y) == pytest.approx(width / 2, rel=1e-9)
    assert sorted(certificate.rows[certificate.weights > 0].tolist()) == [0, 1, 2]
    direction = certificate.w / np.linalg.norm(certificate.w)
    assert direction == pytest.approx(plane.w, abs=1e-8)


def test_touching_hulls():
    X, y, plane = synthetic.touching()
    certificate = separability(X, y)
    assert certificate.verdict is Verdict.WEAKLY_SEPARABLE
    assert certificate.verify(X, y, exact=True)
    assert margin_of(plane, X, y) == plane.margin == 0.0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "make",
    [
        lambda seed: synthetic.xor(),
        lambda seed: synthetic.overlapping(4, seed=seed),
        lambda seed: synthetic.overlapping(50, distance=20.0, seed=seed),
        lambda seed: synthetic.rings(12, seed=seed),
        lambda seed: synthetic.rings(80, seed=seed),
    ],
    ids=["xor", "four", "overlapping", "few in rings", "rings"],
)
def test_not_separable_whatever_the_seed(make, seed):
    X, y = make(seed)
    certificate = separability(X, y)
    assert certificate.verdict is Verdict.NOT_SEPARABLE
    assert certificate.verify(X, y, exact=True)


def test_the_same_seed_makes_the_same_data():
    for make in (synthetic.separable_gaussians, synthetic.street, synthetic.overlapping, synthetic.rings):
        first, again, other = make(seed=5)[0], make(seed=5)[0], make(seed=6)[0]
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (synthetic.separable_gaussians, {"n": 1}),
        (synthetic.separable_gaussians, {"margin": 0.0}),
        (synthetic.street, {"n": 2}),
        (synthetic.street, {"width": -1.0}),
        (synthetic.overlapping, {"n": 3}),
        (synthetic.rings, {"n": 5}),
    ],
)
def test_what_cannot_be_made_is_refused(make, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        make(**options)


def test_the_bundled_flowers_are_the_made_ones():
    table = read_csv(bundled.path_of("flowers.csv"), label="species")
    X, y = synthetic.flowers()
    assert np.array_equal(table.X, X)
    assert np.array_equal(table.y, y)
    assert table.feature_names == synthetic.FLOWER_COLUMNS


def test_one_species_stands_apart_and_two_overlap():
    certificate = separability(*synthetic.flowers())
    assert [part.is_separable for part in certificate] == [True, False, False]


def test_an_unknown_bundled_table():
    with pytest.raises(ValueError, match=r"there is flowers\.csv"):
        bundled.path_of("roses.csv")
